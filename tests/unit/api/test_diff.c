/* SPDX-License-Identifier: MIT */
/* rt_diff(): differences, rates, marks and refusals. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "suite.h"

/* Two samples, and their difference once it is taken. */
static struct {
	struct rt_metrics from, to;
	struct rt_delta delta;
} pair;

static void set_up(void)
{
	pair.from = (struct rt_metrics){
		.size = sizeof(pair.from),
		.kind = RT_KIND_PID,
		.tracker_id = 7,
		.valid = RT_HAS_CPU | RT_HAS_IO | RT_HAS_FAULTS,
		.monotonic_ns = 1000000000,
		.boottime_ns = 5000000000,
		.cpu_user_ns = 14000000,
		.cpu_system_ns = 9000000,
		.read_bytes = 512,
		.write_bytes = 100,
		.minor_faults = 3,
	};
	pair.to = pair.from;
	pair.to.monotonic_ns += 500000000;
	pair.to.boottime_ns += 500000000;
	pair.to.cpu_user_ns += 600000000;
	pair.to.cpu_system_ns += 150000000;
	pair.to.read_bytes += 1024;
	pair.to.minor_faults += 5;
	pair.to.rusage.ru_maxrss = 77;
}

static int take_diff(void)
{
	memset(&pair.delta, 0xff, sizeof(pair.delta));
	return rt_diff(&pair.from, &pair.to, &pair.delta, sizeof(pair.delta));
}

START_TEST(diff_of_two_samples_yields_differences_and_rates)
{
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.interval_ns, 500000000);
	ck_assert_uint_eq(pair.delta.suspended_ns, 0);
	ck_assert_uint_eq(pair.delta.cpu_user_ns, 600000000);
	ck_assert_uint_eq(pair.delta.cpu_user_ticks, 60);
	ck_assert_uint_eq(pair.delta.cpu_system_ticks, 15);
	ck_assert_double_eq_tol(pair.delta.cores_used, 1.5, 1e-12);
	ck_assert_uint_eq(pair.delta.read_bytes, 1024);
	ck_assert_uint_eq(pair.delta.write_bytes, 0);
	ck_assert_uint_eq(pair.delta.minor_faults, 5);
	ck_assert_uint_eq(pair.delta.valid, RT_HAS_CPU | RT_HAS_IO | RT_HAS_FAULTS | RT_HAS_RATE);
	ck_assert_uint_eq(pair.delta.partial, 0);
	ck_assert_int_eq((int)pair.delta.rusage.ru_inblock, 2);
	ck_assert_int_eq((int)pair.delta.rusage.ru_maxrss, 77);
	ck_assert_uint_eq(pair.delta.forks, 0);
}
END_TEST

/* Both samples lack what the tree used before, and nothing else. */
START_TEST(diff_of_totals_with_an_unknown_past_is_complete)
{
	pair.from.valid = pair.to.valid = RT_HAS_IO;
	pair.from.partial = pair.to.partial = RT_HAS_CPU | RT_HAS_FAULTS;
	pair.from.since_valid = pair.to.since_valid = RT_HAS_CPU;

	ck_assert_int_eq(take_diff(), 0);

	ck_assert_uint_eq(pair.delta.valid, RT_HAS_CPU | RT_HAS_IO | RT_HAS_RATE);
	ck_assert_uint_eq(pair.delta.estimated, RT_HAS_FAULTS);
}
END_TEST

/* The later sample lacks something more, which no sample will have. */
START_TEST(diff_that_lacks_what_never_comes_is_a_lower_bound)
{
	pair.from.valid = pair.to.valid = RT_HAS_IO;
	pair.from.partial = pair.to.partial = RT_HAS_CPU | RT_HAS_FAULTS;
	pair.from.since_valid = RT_HAS_CPU;
	pair.from.since_partial = RT_HAS_FAULTS;
	pair.to.since_partial = RT_HAS_CPU | RT_HAS_FAULTS;

	ck_assert_int_eq(take_diff(), 0);

	ck_assert_uint_eq(pair.delta.partial, RT_HAS_CPU | RT_HAS_FAULTS);
	ck_assert_uint_eq(pair.delta.estimated, 0);
}
END_TEST

START_TEST(ticks_of_consecutive_diffs_add_up_to_the_whole)
{
	uint64_t sum = 0;
	struct rt_metrics step = pair.from, first = pair.from;

	for (int i = 0; i < 100; i++) {
		pair.from = step;
		step.monotonic_ns += 1000000;
		step.cpu_user_ns += 3700000;
		pair.to = step;
		ck_assert_int_eq(take_diff(), 0);
		sum += pair.delta.cpu_user_ticks;
	}
	pair.from = first;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(sum, pair.delta.cpu_user_ticks);
}
END_TEST

START_TEST(blocks_of_consecutive_diffs_add_up_to_the_whole)
{
	int64_t in = 0, out = 0;
	struct rt_metrics step = pair.from, first = pair.from;

	for (int i = 0; i < 100; i++) {
		pair.from = step;
		step.monotonic_ns += 1000000;
		step.read_bytes += 300;
		step.write_bytes += 700;
		pair.to = step;
		ck_assert_int_eq(take_diff(), 0);
		in += pair.delta.rusage.ru_inblock;
		out += pair.delta.rusage.ru_oublock;
	}
	pair.from = first;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_int_eq(in, 30512 / 512 - 1); /* the first sample has 512 bytes */
	ck_assert_int_eq(in, pair.delta.rusage.ru_inblock);
	ck_assert_int_eq(out, pair.delta.rusage.ru_oublock);
}
END_TEST

START_TEST(diff_of_unknown_bytes_has_no_blocks)
{
	pair.to.write_bytes = 1;
	pair.to.read_bytes += 4096;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_int_eq(pair.delta.rusage.ru_inblock, 0);
	ck_assert_int_eq(pair.delta.rusage.ru_oublock, 0);
}
END_TEST

START_TEST(diff_of_one_instant_has_no_rate)
{
	pair.to = pair.from;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.interval_ns, 0);
	ck_assert_uint_eq(pair.delta.valid & RT_HAS_RATE, 0);
	ck_assert_double_eq(pair.delta.cores_used, 0);
}
END_TEST

START_TEST(diff_across_suspend_reports_it_apart_from_the_interval)
{
	pair.to.boottime_ns += UINT64_C(3600000000000);
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.interval_ns, 500000000);
	ck_assert_uint_eq(pair.delta.suspended_ns, UINT64_C(3600000000000));
}
END_TEST

START_TEST(diff_across_realtime_clock_step_is_unchanged)
{
	pair.to.realtime_ns = 1;
	pair.from.realtime_ns = UINT64_C(1700000000000000000);
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_double_eq_tol(pair.delta.cores_used, 1.5, 1e-12);
}
END_TEST

START_TEST(diff_with_falling_counter_drops_its_domain)
{
	pair.to.write_bytes = 1;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.valid & RT_HAS_IO, 0);
	ck_assert_uint_eq(pair.delta.read_bytes, 0);
	ck_assert_uint_ne(pair.delta.valid & RT_HAS_CPU, 0);
}
END_TEST

/* Ends of struct rt_metrics in the releases before 0.3. */
static const uint32_t old_sizes[] = {
	offsetof(struct rt_metrics, members_skipped), /* 0.1 */
	offsetof(struct rt_metrics, estimated),       /* 0.2 */
};

/* A program with an old header got the sample from this library, so that the bits of later figures
 * are set. */
START_TEST(diff_of_sample_with_old_size_drops_domains_past_its_end)
{
	struct rt_metrics *older = _i % 2 ? &pair.from : &pair.to;

	pair.from.valid |= RT_HAS_IO_CALLS;
	pair.to.valid |= RT_HAS_IO_CALLS;
	pair.to.read_calls = pair.from.read_calls + 4;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.valid & RT_HAS_IO_CALLS, RT_HAS_IO_CALLS);
	ck_assert_uint_eq(pair.delta.read_calls, 4);

	older->size = old_sizes[_i / 2];
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.valid, RT_HAS_CPU | RT_HAS_IO | RT_HAS_FAULTS | RT_HAS_RATE);
	ck_assert_uint_eq(pair.delta.partial | pair.delta.estimated, 0);
	ck_assert_uint_eq(pair.delta.read_calls, 0);
	ck_assert_uint_eq(pair.delta.read_bytes, 1024);
}
END_TEST

START_TEST(diff_of_marked_domain_past_the_end_of_a_sample_has_no_mark)
{
	uint64_t *mark = _i ? &pair.to.estimated : &pair.to.partial;

	pair.from.valid |= RT_HAS_IO_CALLS;
	*mark = RT_HAS_IO_CALLS;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.partial | pair.delta.estimated, RT_HAS_IO_CALLS);

	pair.from.size = old_sizes[1];
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(
	    (pair.delta.valid | pair.delta.partial | pair.delta.estimated) & RT_HAS_IO_CALLS, 0);
}
END_TEST

/* Samples of an older library have no bit of their own for the count. */
START_TEST(diff_of_processes_seen_by_an_older_library_is_marked)
{
	struct rt_metrics *older = _i ? &pair.from : &pair.to;

	pair.from.valid |= RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN;
	pair.to.valid |= RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN;
	pair.to.processes_seen = pair.from.processes_seen + 3;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.valid & RT_HAS_PROCESSES_SEEN, RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(pair.delta.processes_seen, 3);

	older->valid &= ~RT_HAS_PROCESSES_SEEN;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.partial, _i ? 0 : RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(pair.delta.estimated, _i ? RT_HAS_PROCESSES_SEEN : 0);
	ck_assert_uint_eq(pair.delta.valid & RT_HAS_PROCESSES_SEEN, 0);
	ck_assert_uint_eq(pair.delta.valid & RT_HAS_PROCESSES, RT_HAS_PROCESSES);
	ck_assert_uint_eq(pair.delta.processes_seen, 3);
}
END_TEST

/* The kernel counts in ticks of 10 ms, and one that comes late counts in the next interval. */
START_TEST(diff_of_the_system_over_less_than_90_ticks_is_an_estimate)
{
	pair.from.kind = pair.to.kind = RT_KIND_SYSTEM;
	pair.to.cpu_resolution_ns = 10000000;
	pair.to.cpus_online = 1;
	for (int is_short = 0; is_short < 2; is_short++) {
		pair.to.monotonic_ns = pair.from.monotonic_ns + 900000000 - (uint64_t)is_short;
		ck_assert_int_eq(take_diff(), 0);
		ck_assert_uint_eq(pair.delta.valid & RT_HAS_CPU,
		                  is_short ? 0 : (uint64_t)RT_HAS_CPU);
		ck_assert_uint_eq(pair.delta.estimated & RT_HAS_CPU,
		                  is_short ? (uint64_t)RT_HAS_CPU : 0);
		ck_assert_uint_ne(pair.delta.valid & RT_HAS_IO, 0);
	}
	pair.to.monotonic_ns = pair.from.monotonic_ns + 20000000;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_double_eq(pair.delta.cores_used, 1.0);
	pair.to.cpus_online = 0; /* unknown */
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_double_gt(pair.delta.cores_used, 1.0);
}
END_TEST

START_TEST(diff_of_system_samples_has_no_processes_seen)
{
	pair.from.kind = pair.to.kind = RT_KIND_SYSTEM;
	pair.from.valid |= RT_HAS_PROCESSES;
	pair.to.valid |= RT_HAS_PROCESSES;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq((pair.delta.valid | pair.delta.partial) & RT_HAS_PROCESSES_SEEN, 0);
}
END_TEST

START_TEST(diff_with_missing_and_partial_domains_keeps_those_marks)
{
	pair.to.valid &= ~(RT_HAS_IO | RT_HAS_CPU);
	pair.to.partial |= RT_HAS_IO;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.valid, RT_HAS_FAULTS);
	ck_assert_uint_eq(pair.delta.partial, RT_HAS_IO);
	ck_assert_uint_eq(pair.delta.read_bytes, 1024);
	ck_assert_uint_eq(pair.delta.cpu_user_ns, 0);
	ck_assert_double_eq(pair.delta.cores_used, 0);
}
END_TEST

/* What the earlier sample lacked may be in the later one: no lower bound. */
START_TEST(diff_from_a_lower_bound_is_an_estimate)
{
	pair.from.valid &= ~(RT_HAS_IO | RT_HAS_FAULTS);
	pair.from.partial = RT_HAS_IO | RT_HAS_FAULTS;
	pair.to.valid &= ~RT_HAS_IO;
	pair.to.partial = RT_HAS_IO;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.valid, RT_HAS_CPU | RT_HAS_RATE);
	ck_assert_uint_eq(pair.delta.partial, 0);
	ck_assert_uint_eq(pair.delta.estimated, RT_HAS_IO | RT_HAS_FAULTS);
	ck_assert_uint_eq(pair.delta.read_bytes, 1024);
}
END_TEST

START_TEST(diff_of_gauges_keeps_lower_bounds)
{
	pair.from.partial = pair.to.partial = RT_HAS_PEAK_RSS;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.partial, RT_HAS_PEAK_RSS);
	ck_assert_uint_eq(pair.delta.estimated, 0);
}
END_TEST

/* 750 ms were used: a hundredth of that may be late. */
START_TEST(diff_with_late_cpu_is_valid_up_to_a_hundredth)
{
	static const struct {
		uint64_t from_ns, to_ns, valid, partial, estimated;
	} cases[] = {
		{ 7500000, 7500000, RT_HAS_CPU, 0, 0 },
		{ 7500001, 0, 0, 0, RT_HAS_CPU },
		{ 0, 7500001, 0, RT_HAS_CPU, 0 },
		{ 20000000, 20000000, 0, 0, RT_HAS_CPU },
	};

	pair.from.cpu_late_ns = cases[_i].from_ns;
	pair.to.cpu_late_ns = cases[_i].to_ns;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.valid & RT_HAS_CPU, cases[_i].valid);
	ck_assert_uint_eq(pair.delta.partial, cases[_i].partial);
	ck_assert_uint_eq(pair.delta.estimated, cases[_i].estimated);
	ck_assert_double_eq_tol(pair.delta.cores_used, 1.5, 1e-12);
}
END_TEST

START_TEST(diff_of_other_tracker_or_kind_fails_with_estale)
{
	pair.to.tracker_id = 8;
	ck_assert_int_eq(take_diff(), -ESTALE);
	pair.to = pair.from;
	pair.to.kind = RT_KIND_SYSTEM;
	ck_assert_int_eq(take_diff(), -ESTALE);
}
END_TEST

START_TEST(diff_in_wrong_order_fails_with_einval)
{
	pair.from.monotonic_ns = pair.to.monotonic_ns + 1;
	ck_assert_int_eq(take_diff(), -EINVAL);
}
END_TEST

START_TEST(diff_with_bad_size_or_null_is_refused)
{
	pair.from.size = 8;
	ck_assert_int_eq(take_diff(), -EINVAL);

	pair.from.size = 5000;
	ck_assert_int_eq(take_diff(), -EINVAL);

	pair.from.size = sizeof(pair.from);
	ck_assert_int_eq(rt_diff(&pair.from, &pair.to, &pair.delta, 16), -EINVAL);
	ck_assert_int_eq(rt_diff(NULL, &pair.to, &pair.delta, sizeof(pair.delta)), -EFAULT);
}
END_TEST

/* Every counter of struct rt_delta in the field table is the difference of the field with the same
 * name in struct rt_metrics. */
START_TEST(diff_of_each_counter_field_yields_its_difference)
{
	for (uint32_t i = 0; i < rt_field_count(RT_STRUCT_DELTA); i++) {
		struct rt_field in_delta, in_metrics = { 0 };
		uint64_t one = 1000000000, got;

		ck_assert_int_eq(rt_field_get(RT_STRUCT_DELTA, i, &in_delta, sizeof(in_delta)), 0);
		if (in_delta.role != RT_FIELD_COUNTER || in_delta.type != RT_TYPE_U64)
			continue;
		if (strstr(in_delta.name, "_ticks"))
			continue;
		for (uint32_t k = 0; k < rt_field_count(RT_STRUCT_METRICS); k++) {
			ck_assert_int_eq(
			    rt_field_get(RT_STRUCT_METRICS, k, &in_metrics, sizeof(in_metrics)), 0);
			if (strcmp(in_metrics.name, in_delta.name) == 0)
				break;
		}
		ck_assert_str_eq(in_metrics.name, in_delta.name);
		ck_assert_uint_eq(in_metrics.has, in_delta.has);
		memset(&pair.from, 0, sizeof(pair.from));
		pair.from.size = sizeof(pair.from);
		pair.from.valid = UINT64_MAX;
		pair.to = pair.from;
		memcpy((char *)&pair.to + in_metrics.offset, &one, sizeof(one));
		ck_assert_int_eq(take_diff(), 0);
		memcpy(&got, (char *)&pair.delta + in_delta.offset, sizeof(got));
		ck_assert_msg(got == one, "%s", in_delta.name);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diff");
	TCase *tests = suite_case(suite, "diff");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, diff_of_two_samples_yields_differences_and_rates);
	tcase_add_test(tests, diff_of_totals_with_an_unknown_past_is_complete);
	tcase_add_test(tests, diff_that_lacks_what_never_comes_is_a_lower_bound);
	tcase_add_test(tests, ticks_of_consecutive_diffs_add_up_to_the_whole);
	tcase_add_test(tests, blocks_of_consecutive_diffs_add_up_to_the_whole);
	tcase_add_test(tests, diff_of_unknown_bytes_has_no_blocks);
	tcase_add_test(tests, diff_of_one_instant_has_no_rate);
	tcase_add_test(tests, diff_across_suspend_reports_it_apart_from_the_interval);
	tcase_add_test(tests, diff_across_realtime_clock_step_is_unchanged);
	tcase_add_test(tests, diff_with_falling_counter_drops_its_domain);
	tcase_add_loop_test(tests, diff_of_sample_with_old_size_drops_domains_past_its_end, 0, 4);
	tcase_add_loop_test(tests, diff_of_marked_domain_past_the_end_of_a_sample_has_no_mark, 0,
	                    2);
	tcase_add_loop_test(tests, diff_of_processes_seen_by_an_older_library_is_marked, 0, 2);
	tcase_add_test(tests, diff_of_the_system_over_less_than_90_ticks_is_an_estimate);
	tcase_add_test(tests, diff_of_system_samples_has_no_processes_seen);
	tcase_add_test(tests, diff_with_missing_and_partial_domains_keeps_those_marks);
	tcase_add_test(tests, diff_from_a_lower_bound_is_an_estimate);
	tcase_add_test(tests, diff_of_gauges_keeps_lower_bounds);
	tcase_add_loop_test(tests, diff_with_late_cpu_is_valid_up_to_a_hundredth, 0, 4);
	tcase_add_test(tests, diff_of_other_tracker_or_kind_fails_with_estale);
	tcase_add_test(tests, diff_in_wrong_order_fails_with_einval);
	tcase_add_test(tests, diff_with_bad_size_or_null_is_refused);
	tcase_add_test(tests, diff_of_each_counter_field_yields_its_difference);
	return suite_run(suite);
}
