/* SPDX-License-Identifier: MIT */
/* Differences of two samples. */
#include <errno.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "suite.h"

static struct rt_metrics from, to;
static struct rt_delta delta;

static void set_up(void)
{
	from = (struct rt_metrics){
		.size = sizeof(from),
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
	to = from;
	to.monotonic_ns += 500000000;
	to.boottime_ns += 500000000;
	to.cpu_user_ns += 600000000;
	to.cpu_system_ns += 150000000;
	to.read_bytes += 1024;
	to.minor_faults += 5;
	to.rusage.ru_maxrss = 77;
}

static int diff(void)
{
	memset(&delta, 0xff, sizeof(delta));
	return rt_diff(&from, &to, &delta, sizeof(delta));
}

START_TEST(differences_and_rates)
{
	ck_assert_int_eq(diff(), 0);
	ck_assert_uint_eq(delta.interval_ns, 500000000);
	ck_assert_uint_eq(delta.suspended_ns, 0);
	ck_assert_uint_eq(delta.cpu_user_ns, 600000000);
	ck_assert_uint_eq(delta.cpu_user_ticks, 60);
	ck_assert_uint_eq(delta.cpu_system_ticks, 15);
	ck_assert_double_eq_tol(delta.cores_used, 1.5, 1e-12);
	ck_assert_uint_eq(delta.read_bytes, 1024);
	ck_assert_uint_eq(delta.write_bytes, 0);
	ck_assert_uint_eq(delta.minor_faults, 5);
	ck_assert_uint_eq(delta.valid, RT_HAS_CPU | RT_HAS_IO | RT_HAS_FAULTS | RT_HAS_RATE);
	ck_assert_uint_eq(delta.partial, 0);
	ck_assert_int_eq((int)delta.rusage.ru_inblock, 2);
	ck_assert_int_eq((int)delta.rusage.ru_maxrss, 77);
	ck_assert_uint_eq(delta.forks, 0);
}
END_TEST

START_TEST(ticks_of_consecutive_differences_add_up)
{
	uint64_t sum = 0;
	struct rt_metrics step = from, first = from;

	for (int i = 0; i < 100; i++) {
		from = step;
		step.monotonic_ns += 1000000;
		step.cpu_user_ns += 3700000;
		to = step;
		ck_assert_int_eq(diff(), 0);
		sum += delta.cpu_user_ticks;
	}
	from = first;
	ck_assert_int_eq(diff(), 0);
	ck_assert_uint_eq(sum, delta.cpu_user_ticks);
}
END_TEST

START_TEST(the_same_instant_has_no_rate)
{
	to = from;
	ck_assert_int_eq(diff(), 0);
	ck_assert_uint_eq(delta.interval_ns, 0);
	ck_assert_uint_eq(delta.valid & RT_HAS_RATE, 0);
	ck_assert_double_eq(delta.cores_used, 0);
}
END_TEST

START_TEST(time_asleep_is_marked_and_not_counted)
{
	to.boottime_ns += UINT64_C(3600000000000);
	ck_assert_int_eq(diff(), 0);
	ck_assert_uint_eq(delta.interval_ns, 500000000);
	ck_assert_uint_eq(delta.suspended_ns, UINT64_C(3600000000000));
}
END_TEST

START_TEST(a_clock_step_changes_nothing)
{
	to.realtime_ns = 1;
	from.realtime_ns = UINT64_C(1700000000000000000);
	ck_assert_int_eq(diff(), 0);
	ck_assert_double_eq_tol(delta.cores_used, 1.5, 1e-12);
}
END_TEST

START_TEST(a_counter_that_went_backwards_takes_its_domain_out)
{
	to.write_bytes = 1;
	ck_assert_int_eq(diff(), 0);
	ck_assert_uint_eq(delta.valid & RT_HAS_IO, 0);
	ck_assert_uint_eq(delta.read_bytes, 0);
	ck_assert_uint_ne(delta.valid & RT_HAS_CPU, 0);
}
END_TEST

START_TEST(unknown_stays_unknown_and_partial_partial)
{
	to.valid &= ~(RT_HAS_IO | RT_HAS_CPU);
	to.partial |= RT_HAS_IO;
	ck_assert_int_eq(diff(), 0);
	ck_assert_uint_eq(delta.valid, RT_HAS_FAULTS);
	ck_assert_uint_eq(delta.partial, RT_HAS_IO);
	ck_assert_uint_eq(delta.read_bytes, 1024);
	ck_assert_uint_eq(delta.cpu_user_ns, 0);
	ck_assert_double_eq(delta.cores_used, 0);
}
END_TEST

START_TEST(strangers_are_refused)
{
	to.tracker_id = 8;
	ck_assert_int_eq(diff(), -ESTALE);
	to = from;
	to.kind = RT_KIND_SYSTEM;
	ck_assert_int_eq(diff(), -ESTALE);
}
END_TEST

START_TEST(the_wrong_order_is_refused)
{
	from.monotonic_ns = to.monotonic_ns + 1;
	ck_assert_int_eq(diff(), -EINVAL);
}
END_TEST

START_TEST(sizes_are_checked)
{
	from.size = 8;
	ck_assert_int_eq(diff(), -EINVAL);
	from.size = 5000;
	ck_assert_int_eq(diff(), -EINVAL);
	from.size = sizeof(from);
	ck_assert_int_eq(rt_diff(&from, &to, &delta, 16), -EINVAL);
	ck_assert_int_eq(rt_diff(NULL, &to, &delta, sizeof(delta)), -EFAULT);
}
END_TEST

/* Every counter of the field table comes out as the difference of its namesake in struct
 * rt_metrics. */
START_TEST(no_counter_is_forgotten)
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
		memset(&from, 0, sizeof(from));
		from.size = sizeof(from);
		from.valid = UINT64_MAX;
		to = from;
		memcpy((char *)&to + in_metrics.offset, &one, sizeof(one));
		ck_assert_int_eq(diff(), 0);
		memcpy(&got, (char *)&delta + in_delta.offset, sizeof(got));
		ck_assert_msg(got == one, "%s", in_delta.name);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diff");
	TCase *tcase = suite_case(suite, "diff");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, differences_and_rates);
	tcase_add_test(tcase, ticks_of_consecutive_differences_add_up);
	tcase_add_test(tcase, the_same_instant_has_no_rate);
	tcase_add_test(tcase, time_asleep_is_marked_and_not_counted);
	tcase_add_test(tcase, a_clock_step_changes_nothing);
	tcase_add_test(tcase, a_counter_that_went_backwards_takes_its_domain_out);
	tcase_add_test(tcase, unknown_stays_unknown_and_partial_partial);
	tcase_add_test(tcase, strangers_are_refused);
	tcase_add_test(tcase, the_wrong_order_is_refused);
	tcase_add_test(tcase, sizes_are_checked);
	tcase_add_test(tcase, no_counter_is_forgotten);
	return suite_run(suite);
}
