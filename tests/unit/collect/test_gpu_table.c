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

static struct rti_gpu_reading numbered(uint32_t device)
{
	struct rti_gpu_reading r = reading("GPU", 0, 0, SECOND_NS);

	r.pci = (struct rti_pci_address){ .bus = device };
	return r;
}

static void list(uint32_t first, uint32_t end)
{
	rti_gpu_table_begin(&table);
	for (uint32_t device = first; device < end; device++) {
		struct rti_gpu_reading r = numbered(device);

		add(&r);
	}
	rti_gpu_table_end(&table, false);
}

/* E.g.: a device is plugged in and out, each time at another address. */
START_TEST(device_beyond_the_limit_replaces_the_one_that_is_unlisted_longest)
{
	struct rti_gpu_reading first = numbered(0), second = numbered(1);
	uint32_t id_of_second;

	list(1, RTI_GPUS_MAX);
	id_of_second = table.gpu[0].id;
	list(0, 1);
	list(1, RTI_GPUS_MAX); /* the last one of the table is gone */
	list(RTI_GPUS_MAX, RTI_GPUS_MAX + 1);

	ck_assert_uint_eq(table.gpu_count, RTI_GPUS_MAX);
	ck_assert_uint_eq(table.gpu[RTI_GPUS_MAX - 1].last.pci.bus, RTI_GPUS_MAX);
	ck_assert_uint_eq(add(&second).id, id_of_second);
	ck_assert_uint_gt(add(&first).id, RTI_GPUS_MAX); /* as a new one */
	ck_assert_uint_eq(table.gpu_count, RTI_GPUS_MAX);
}
END_TEST

START_TEST(devices_beyond_the_limit_that_are_all_listed_are_kept)
{
	list(0, RTI_GPUS_MAX + 2);
	ck_assert_uint_eq(table.gpu_count, RTI_GPUS_MAX + 2);
}
END_TEST

static void use(const struct rt_gpu *gpu, int32_t first, int32_t end)
{
	struct rt_gpu_process row;

	rti_gpu_table_begin(&table);
	for (int32_t pid = first; pid < end; pid++) {
		const struct rti_gpu_use shown = { .pid = pid };

		ck_assert_int_eq(rti_gpu_table_add_use(&table, &shown, gpu, 7, SECOND_NS, &row), 0);
	}
	rti_gpu_table_end(&table, false);
}

START_TEST(process_beyond_the_limit_replaces_the_one_that_is_unlisted_longest)
{
	const struct rt_gpu gpu = { .id = 3 };

	use(&gpu, 1, RTI_GPU_PROCESSES_MAX + 1);
	use(&gpu, 1, RTI_GPU_PROCESSES_MAX); /* the last one is gone */
	use(&gpu, 100000, 100001);
	ck_assert_uint_eq(table.use_count, RTI_GPU_PROCESSES_MAX);
	ck_assert_int_eq(table.use[RTI_GPU_PROCESSES_MAX - 1].last.pid, 100000);
	ck_assert_int_eq(table.use[0].last.pid, 1);
}
END_TEST

START_TEST(processes_beyond_the_limit_that_are_all_listed_are_kept)
{
	const struct rt_gpu gpu = { .id = 3 };

	use(&gpu, 1, RTI_GPU_PROCESSES_MAX + 3);
	ck_assert_uint_eq(table.use_count, RTI_GPU_PROCESSES_MAX + 2);
	ck_assert_int_eq(table.use[0].last.pid, 1);
}
END_TEST

/* What the two files of DRM and the library of NVIDIA show of a device. */
static const struct {
	struct rti_gpu_reading a, b;
	bool is_same;
} pairs[] = {
	{ { .pci = { 0, 1, 2, 3 } }, { .pci = { 0, 1, 2, 3 } }, true },
	{ { .pci = { 0, 1, 2, 3 } }, { .pci = { 1, 1, 2, 3 } }, false },
	{ { .pci = { 0, 1, 2, 3 } }, { .pci = { 0, 9, 2, 3 } }, false },
	{ { .pci = { 0, 1, 2, 3 } }, { .pci = { 0, 1, 9, 3 } }, false },
	{ { .pci = { 0, 1, 2, 3 } }, { .pci = { 0, 1, 2, 9 } }, false },
	{ { .pci = { 0, 1, 2, 3 }, .uuid = "A" }, { .pci = { 0, 1, 2, 3 } }, true },
	{ { .pci = { 0, 1, 2, 3 } }, { .pci = { 0, 1, 2, 3 }, .uuid = "A" }, true },
	{ { .pci = { 0, 1, 2, 3 }, .uuid = "A" }, { .pci = { 0, 1, 2, 3 }, .uuid = "B" }, false },
	{ { .pci = { 0, 1, 2, 3 }, .uuid = "A", .is_partition = true },
	  { .pci = { 0, 1, 2, 3 }, .uuid = "A" },
	  false },
	/* without an address */
	{ { .pci = RTI_NO_PCI_ADDRESS, .name = "card0" },
	  { .pci = RTI_NO_PCI_ADDRESS, .name = "card0" },
	  true },
	{ { .pci = RTI_NO_PCI_ADDRESS, .name = "card0" },
	  { .pci = RTI_NO_PCI_ADDRESS, .name = "card1" },
	  false },
	{ { .pci = RTI_NO_PCI_ADDRESS, .is_nvml = true, .name = "GPU", .uuid = "A" },
	  { .pci = RTI_NO_PCI_ADDRESS, .is_nvml = true, .name = "GPU", .uuid = "A" },
	  true },
	{ { .pci = RTI_NO_PCI_ADDRESS, .is_nvml = true, .name = "GPU", .uuid = "A" },
	  { .pci = RTI_NO_PCI_ADDRESS, .is_nvml = true, .name = "GPU", .uuid = "B" },
	  false },
};

START_TEST(device_that_is_listed_twice_by_its_uuid_is_one)
{
	struct rti_gpu_reading r = reading("GPU", 0, 0, SECOND_NS);
	uint32_t id;

	strcpy(r.uuid, "GPU-1");
	rti_gpu_table_begin(&table);
	id = add(&r).id;
	ck_assert_uint_eq(add(&r).id, id);
	ck_assert_uint_eq(table.gpu_count, 1);
}
END_TEST

START_TEST(device_is_its_address_or_its_uuid_or_its_name)
{
	uint32_t id;

	rti_gpu_table_begin(&table);
	id = add(&pairs[_i].a).id;
	rti_gpu_table_end(&table, false);
	rti_gpu_table_begin(&table);
	ck_assert_int_eq(add(&pairs[_i].b).id == id, pairs[_i].is_same);
}
END_TEST

/* A process that is busy from 1 s to 9 s, as a driver with samples each so often shows it. A look
 * may come at any time. */
static const struct {
	uint64_t every_ns, look_ns;
} sampled[] = {
	{ SECOND_NS / 6, SECOND_NS / 10 }, { SECOND_NS / 5, SECOND_NS / 10 },
	{ SECOND_NS / 5, SECOND_NS },      { SECOND_NS / 6, SECOND_NS / 4 },
	{ SECOND_NS, SECOND_NS / 10 },     { SECOND_NS, SECOND_NS },
	{ SECOND_NS, SECOND_NS / 4 },      { SECOND_NS / 5, SECOND_NS / 50 },
	{ SECOND_NS / 5, SECOND_NS * 2 },
};

START_TEST(time_between_two_samples_of_the_driver_is_not_lost)
{
	uint64_t every_ns = sampled[_i].every_ns, look_ns = sampled[_i].look_ns;
	uint64_t before_ns = 0, seen_ns = 0, slack_ns = look_ns + 2 * every_ns;
	const struct rt_gpu gpu = { .id = 3 };
	struct rt_gpu_process row;

	for (uint64_t now_ns = 1000; now_ns < 14 * SECOND_NS; now_ns += look_ns) {
		uint64_t newest_ns = now_ns / every_ns * every_ns;
		bool is_sampled =
		    newest_ns > SECOND_NS && newest_ns <= 9 * SECOND_NS && newest_ns > seen_ns;
		const struct rti_gpu_use shown = { .pid = 7,
			                           .is_compute = true,
			                           .has_busy = true,
			                           .busy_percent = is_sampled ? 100 : 0,
			                           .sampled_at_us =
			                               is_sampled ? newest_ns / 1000 : 0 };

		seen_ns = is_sampled ? newest_ns : seen_ns;
		rti_gpu_table_begin(&table);
		ck_assert_int_eq(rti_gpu_table_add_use(&table, &shown, &gpu, 7, now_ns, &row), 0);
		rti_gpu_table_end(&table, false);
		ck_assert_uint_le(row.compute_ns - before_ns, look_ns);
		before_ns = row.compute_ns;
	}
	ck_assert_uint_ge(row.compute_ns + slack_ns, 8 * SECOND_NS);
	ck_assert_uint_le(row.compute_ns, 8 * SECOND_NS + slack_ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu_table");
	TCase *devices = suite_case(suite, "devices");

	tcase_add_checked_fixture(devices, set_up, tear_down);
	tcase_add_test(devices, devices_that_nothing_tells_apart_are_two);
	tcase_add_test(devices, energy_that_falls_has_begun_anew_and_is_a_lower_bound);
	tcase_add_test(devices, device_beyond_the_limit_replaces_the_one_that_is_unlisted_longest);
	tcase_add_test(devices, devices_beyond_the_limit_that_are_all_listed_are_kept);
	tcase_add_test(devices, process_beyond_the_limit_replaces_the_one_that_is_unlisted_longest);
	tcase_add_test(devices, processes_beyond_the_limit_that_are_all_listed_are_kept);
	tcase_add_test(devices, device_that_is_listed_twice_by_its_uuid_is_one);
	tcase_add_loop_test(devices, device_is_its_address_or_its_uuid_or_its_name, 0,
	                    sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_loop_test(devices, time_between_two_samples_of_the_driver_is_not_lost, 0,
	                    sizeof(sampled) / sizeof(sampled[0]));
	return suite_run(suite);
}
