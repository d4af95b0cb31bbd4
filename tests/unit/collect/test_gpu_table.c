/* SPDX-License-Identifier: MIT */
/* Counters of GPUs: which device is which, and counters that begin anew. */
#include "collect/gpu_table.h"

#include <string.h>

#include "suite.h"

#define SECOND_NS UINT64_C(1000000000)

static struct rti_gpu_table table;

static void set_up(void)
{
	table = (struct rti_gpu_table){ 0 };
}

static void tear_down(void)
{
	rti_gpu_table_free(&table);
}

static struct rti_gpu_reading reading(const char *name, uint32_t percent, uint64_t energy_uj,
                                      uint64_t at_ns)
{
	struct rti_gpu_reading r = { .pci = RTI_NO_PCI_ADDRESS,
		                     .is_nvml = true,
		                     .busy_percent = percent,
		                     .energy_uj = energy_uj,
		                     .at_ns = at_ns };

	strcpy(r.name, name);
	return r;
}

static struct rt_gpu add(const struct rti_gpu_reading *r)
{
	struct rt_gpu row;

	ck_assert_int_eq(rti_gpu_table_add(&table, r, &row), 0);
	return row;
}

/* Without address and UUID, the order in which they are listed tells them apart. */
START_TEST(devices_that_nothing_tells_apart_are_two)
{
	for (uint64_t look = 1; look <= 3; look++) {
		struct rti_gpu_reading a = reading("GPU", 100, 50000 * look, look * SECOND_NS);
		struct rti_gpu_reading b = reading("GPU", 50, 10 * look, look * SECOND_NS);
		struct rt_gpu row_a, row_b;

		rti_gpu_table_begin(&table);
		row_a = add(&a);
		row_b = add(&b);
		rti_gpu_table_end(&table, false);
		ck_assert_uint_ne(row_a.id, row_b.id);
		ck_assert_uint_eq(row_a.busy_ns, (look - 1) * SECOND_NS);
		ck_assert_uint_eq(row_b.busy_ns, (look - 1) * SECOND_NS / 2);
		ck_assert_uint_eq(row_a.energy_uj, 50000 * look);
		ck_assert_uint_eq(row_b.energy_uj, 10 * look);
	}
	ck_assert_uint_eq(table.gpu_count, 2);
	ck_assert_uint_eq(table.energy_total_uj, 3 * 50010);
}
END_TEST

/* E.g.: the driver is loaded again after 4000 J. Nothing is added that looks like a counter of 32
 * bits that has wrapped around. */
START_TEST(energy_that_falls_has_begun_anew_and_is_a_lower_bound)
{
	struct rti_gpu_reading before = reading("GPU", 0, UINT64_C(4000000000), SECOND_NS);
	struct rti_gpu_reading after = reading("GPU", 0, 1000, 2 * SECOND_NS);
	struct rt_gpu row;

	rti_gpu_table_begin(&table);
	row = add(&before);
	ck_assert_uint_eq(row.valid & RT_HAS_GPU_ENERGY, RT_HAS_GPU_ENERGY);
	rti_gpu_table_end(&table, false);
	ck_assert(!table.is_energy_low);

	rti_gpu_table_begin(&table);
	row = add(&after);
	rti_gpu_table_end(&table, false);
	ck_assert_uint_eq(row.energy_uj, UINT64_C(4000001000));
	ck_assert_uint_eq(row.valid & RT_HAS_GPU_ENERGY, 0);
	ck_assert_uint_eq(row.estimated & RT_HAS_GPU_ENERGY, RT_HAS_GPU_ENERGY);
	ck_assert_uint_eq(table.energy_total_uj, UINT64_C(4000001000));
	ck_assert(table.is_energy_low);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu_table");
	TCase *devices = suite_case(suite, "devices");

	tcase_add_checked_fixture(devices, set_up, tear_down);
	tcase_add_test(devices, devices_that_nothing_tells_apart_are_two);
	tcase_add_test(devices, energy_that_falls_has_begun_anew_and_is_a_lower_bound);
	return suite_run(suite);
}
