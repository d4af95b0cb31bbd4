/* SPDX-License-Identifier: MIT */
/* The bounds of a tree's CPU time: hand-made cases, and all of many small ones. */
#include "command/cpu_bounds.h"

#include "os/cpu_time.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define UNKNOWN UINT64_MAX

START_TEST(growth_of_missing_or_falling_reads_is_unknown)
{
	ck_assert_uint_eq(rti_cpu_bounds_growth(3, 10), 7);
	ck_assert_uint_eq(rti_cpu_bounds_growth(3, 3), 0);
	ck_assert_uint_eq(rti_cpu_bounds_growth(UNKNOWN, 10), UNKNOWN);
	ck_assert_uint_eq(rti_cpu_bounds_growth(3, UNKNOWN), UNKNOWN);
	ck_assert_uint_eq(rti_cpu_bounds_growth(UNKNOWN, UNKNOWN), UNKNOWN);
	ck_assert_uint_eq(rti_cpu_bounds_growth(10, 3), UNKNOWN);
}
END_TEST

START_TEST(tree_in_its_own_cgroup_has_exact_bounds)
{
	const struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                                    .growth_ns = 9000 * MS,
		                                    .is_covered_by_cgroup = true };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.low_ns, 500 * MS);
	ck_assert_uint_eq(b.high_ns, 500 * MS);
	ck_assert(!b.is_unverified);
}
END_TEST

START_TEST(tree_still_running_in_its_own_cgroup_has_no_upper_bound)
{
	const struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                                    .is_covered_by_cgroup = true,
		                                    .is_running = true };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.low_ns, 500 * MS);
	ck_assert_uint_eq(b.high_ns, UNKNOWN);
	ck_assert(!b.is_unverified);
}
END_TEST

START_TEST(tree_without_cgroup_has_no_upper_bound)
{
	const struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                                    .growth_ns = UNKNOWN,
		                                    .lag_ns = 20 * MS };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.low_ns, 500 * MS);
	ck_assert_uint_eq(b.high_ns, UNKNOWN);
	ck_assert(b.is_unverified);
}
END_TEST

START_TEST(cgroup_growth_above_the_total_raises_the_upper_bound)
{
	const struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                                    .growth_ns = 800 * MS,
		                                    .lag_ns = 40 * MS };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.low_ns, 500 * MS);
	ck_assert_uint_eq(b.high_ns, (800 + 16 + 10 + 40) * MS);
	ck_assert(b.is_unverified);
}
END_TEST

START_TEST(cgroup_growth_by_our_overhead_is_not_unverified)
{
	struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                              .overhead_ns = 85 * MS,
		                              .lag_ns = 10 * MS };

	known.growth_ns = (500 + 85) * MS + 7 * MS / 2;
	ck_assert(!rti_cpu_bounds(&known).is_unverified);
	known.growth_ns++;
	ck_assert(rti_cpu_bounds(&known).is_unverified);
}
END_TEST

START_TEST(cgroup_account_that_lags_keeps_high_at_or_above_low)
{
	const struct rti_cpu_bounds_known known = { .low_ns = 500 * MS,
		                                    .growth_ns = 400 * MS,
		                                    .lag_ns = 10 * MS };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.low_ns, 500 * MS);
	ck_assert_uint_eq(b.high_ns, 500 * MS);
	ck_assert(!b.is_unverified);
}
END_TEST

START_TEST(bounds_of_the_largest_numbers_do_not_wrap)
{
	struct rti_cpu_bounds_known known = { .low_ns = UINT64_MAX - 3,
		                              .growth_ns = UINT64_MAX - 1,
		                              .lag_ns = UINT64_MAX };
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	ck_assert_uint_eq(b.high_ns, UINT64_MAX);
	ck_assert(!b.is_unverified);
	known.low_ns = 1000;
	known.overhead_ns = UINT64_MAX - 5;
	ck_assert(!rti_cpu_bounds(&known).is_unverified);
}
END_TEST

/* The true time is the known time plus the missed time. The account of the cgroup has that, plus
 * the time of unrelated processes and our own overhead, minus its lag. */
START_TEST(true_time_of_every_small_case_is_within_the_bounds)
{
	const uint64_t step = 7 * MS, lag = 20 * MS;

	for (uint64_t i = 0; i < 6 * 6 * 6 * 6 * 6; i++) {
		uint64_t low = i % 6 * 40 * MS, missed = i / 6 % 6 * step,
			 unrelated = i / 36 % 6 * step;
		uint64_t overhead = i / 216 % 6 * step, late = i / 1296 % 6 * 4 * MS,
			 all = low + missed + unrelated + overhead;
		const struct rti_cpu_bounds_known known = { .low_ns = low,
			                                    .growth_ns =
			                                        all > late ? all - late : 0,
			                                    .overhead_ns = overhead,
			                                    .lag_ns = lag };
		struct rti_cpu_bounds b = rti_cpu_bounds(&known);

		if (b.low_ns > low + missed || b.high_ns < low + missed)
			ck_abort_msg("%ju + %ju ns not in %ju to %ju", (uintmax_t)low,
			             (uintmax_t)missed, (uintmax_t)b.low_ns, (uintmax_t)b.high_ns);
		if (!b.is_unverified && missed > low / 100 + RTI_TICK_MAX_NS + late)
			ck_abort_msg("%ju of %ju ns are missing and not reported",
			             (uintmax_t)missed, (uintmax_t)low);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cpu_bounds");
	TCase *tests = suite_case(suite, "cpu_bounds");

	tcase_add_test(tests, growth_of_missing_or_falling_reads_is_unknown);
	tcase_add_test(tests, tree_in_its_own_cgroup_has_exact_bounds);
	tcase_add_test(tests, tree_still_running_in_its_own_cgroup_has_no_upper_bound);
	tcase_add_test(tests, tree_without_cgroup_has_no_upper_bound);
	tcase_add_test(tests, cgroup_growth_above_the_total_raises_the_upper_bound);
	tcase_add_test(tests, cgroup_growth_by_our_overhead_is_not_unverified);
	tcase_add_test(tests, cgroup_account_that_lags_keeps_high_at_or_above_low);
	tcase_add_test(tests, bounds_of_the_largest_numbers_do_not_wrap);
	tcase_add_test(tests, true_time_of_every_small_case_is_within_the_bounds);
	return suite_run(suite);
}
