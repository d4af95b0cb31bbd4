/* SPDX-License-Identifier: MIT */
/* The samples that a recorder keeps, when it is full, and the rows that belong to them. */
#include <stdbool.h>
#include <stdint.h>

#include "recorder/sample_ring.h"
#include "suite.h"

#define CAPACITY 4
#define ROWS 2

static struct rti_sample_ring ring;

static void teardown(void)
{
	rti_sample_ring_free(&ring);
}

static void make(bool keeps_newest)
{
	ck_assert_int_eq(rti_sample_ring_init(&ring, CAPACITY, ROWS, keeps_newest), 0);
}

/* Sample number i is of time 10 * i, and its rows have the pids 100 * i and up. */
static void put(uint32_t first, uint32_t last, size_t rows)
{
	for (uint32_t i = first; i <= last; i++) {
		const struct rt_metrics sample = { .monotonic_ns = 10 * i };
		struct rt_process list[3] = { { .pid = (int32_t)(100 * i) },
			                      { .pid = (int32_t)(100 * i + 1) },
			                      { .pid = (int32_t)(100 * i + 2) } };

		rti_sample_ring_put(&ring, &sample, list, rows);
	}
}

static void ck_take(uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++) {
		const struct rt_metrics *sample = rti_sample_ring_take(&ring);

		ck_assert_ptr_nonnull(sample);
		ck_assert_uint_eq(sample->monotonic_ns, 10 * i);
	}
}

/* Whether there are rows of sample i, which must then be its own. */
static bool has_rows(uint32_t i, size_t expected)
{
	size_t count = 99;
	const struct rt_process *rows = rti_sample_ring_rows(&ring, 10 * i, &count);

	if (!rows)
		return false;
	ck_assert_uint_eq(count, expected);
	for (size_t row = 0; row < count; row++)
		ck_assert_int_eq(rows[row].pid, (int32_t)(100 * i + row));
	return true;
}

START_TEST(samples_come_out_in_order_once)
{
	make(false);
	put(1, 3, 0);
	ck_assert_uint_eq(rti_sample_ring_waiting(&ring), 3);
	ck_take(1, 2);
	put(4, 6, 0);
	ck_take(3, 6);
	ck_assert_ptr_null(rti_sample_ring_take(&ring));
	ck_assert_uint_eq(ring.dropped, 0);
}
END_TEST

START_TEST(full_ring_drops_the_new_sample)
{
	make(false);
	put(1, 7, 0);
	ck_assert_uint_eq(ring.dropped, 3);
	ck_take(1, 4);
	ck_assert_ptr_null(rti_sample_ring_take(&ring));
	put(8, 8, 0);
	ck_take(8, 8);
}
END_TEST

START_TEST(full_ring_that_keeps_the_newest_drops_the_oldest)
{
	make(true);
	put(1, 7, 0);
	ck_assert_uint_eq(ring.dropped, 3);
	ck_assert_uint_eq(rti_sample_ring_waiting(&ring), CAPACITY);
	ck_take(4, 7);
	ck_assert_ptr_null(rti_sample_ring_take(&ring));
}
END_TEST

START_TEST(rows_stay_after_the_sample_is_read_until_it_is_overwritten)
{
	make(false);
	put(1, 3, 3);
	ck_take(1, 3);
	for (uint32_t i = 1; i <= 3; i++)
		ck_assert(has_rows(i, ROWS));
	put(4, 6, 1);
	ck_assert(!has_rows(1, 0));
	ck_assert(!has_rows(2, 0));
	ck_assert(has_rows(3, ROWS));
	ck_assert(has_rows(4, 1));
	ck_assert(has_rows(6, 1));
	ck_assert(!has_rows(7, 0));
}
END_TEST

START_TEST(rows_of_a_dropped_sample_are_not_there)
{
	make(false);
	put(1, 5, 2);
	ck_assert(has_rows(4, 2));
	ck_assert(!has_rows(5, 0));
}
END_TEST

START_TEST(sample_with_unknown_rows_has_none)
{
	const struct rt_metrics sample = { .monotonic_ns = 20 };

	make(false);
	put(1, 1, 2);
	rti_sample_ring_put(&ring, &sample, NULL, RTI_ROWS_UNKNOWN);
	put(3, 3, 0);
	ck_assert(has_rows(1, 2));
	ck_assert(!has_rows(2, 0));
	ck_assert(has_rows(3, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sample_ring");
	TCase *tc = suite_case(suite, "sample_ring");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, samples_come_out_in_order_once);
	tcase_add_test(tc, full_ring_drops_the_new_sample);
	tcase_add_test(tc, full_ring_that_keeps_the_newest_drops_the_oldest);
	tcase_add_test(tc, rows_stay_after_the_sample_is_read_until_it_is_overwritten);
	tcase_add_test(tc, rows_of_a_dropped_sample_are_not_there);
	tcase_add_test(tc, sample_with_unknown_rows_has_none);
	return suite_run(suite);
}
