/* SPDX-License-Identifier: MIT */
/* Splitting CPU time into user and system time. */
#include "os/cpu_time.h"

#include "suite.h"

START_TEST(cpu_split_by_sampled_times_keeps_total_and_ratio)
{
	uint64_t user, system;

	rti_split_cpu(1000, 3, 4, &user, &system);
	ck_assert_uint_eq(user, 750);
	ck_assert_uint_eq(system, 250);

	rti_split_cpu(1000, 0, 0, &user, &system);
	ck_assert_uint_eq(user, 1000);

	rti_split_cpu(1000, 0, 5, &user, &system);
	ck_assert_uint_eq(system, 1000);

	rti_split_cpu(UINT64_C(1) << 60, 1, 3, &user, &system);
	ck_assert_uint_eq(user + system, UINT64_C(1) << 60);
}
END_TEST

/* As a double, the total is larger than it is. */
START_TEST(cpu_split_of_huge_total_stays_within_total)
{
	const uint64_t total = (UINT64_C(1) << 60) + 129;
	uint64_t user, system;

	rti_split_cpu(total, total - 1, total, &user, &system);
	ck_assert_uint_le(user, total);
	ck_assert_uint_le(system, total);

	rti_split_cpu(UINT64_MAX, UINT64_MAX - 1, UINT64_MAX, &user, &system);
	ck_assert_uint_eq(user, UINT64_MAX);
	ck_assert_uint_eq(system, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cpu_time");
	TCase *tests = suite_case(suite, "split");

	tcase_add_test(tests, cpu_split_by_sampled_times_keeps_total_and_ratio);
	tcase_add_test(tests, cpu_split_of_huge_total_stays_within_total);
	return suite_run(suite);
}
