/* SPDX-License-Identifier: MIT */
/* The documented errors of the calls on recorders and marks. */
#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "suite.h"

#define OPTS_SIZE ((uint32_t)sizeof(struct rt_recorder_opts))

static struct rt_tracker *tracker;

static void setup(void)
{
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), NULL), 0);
}

static void teardown(void)
{
	rt_tracker_free(tracker);
}

/* On failure rt_recorder_new() sets the out parameter to NULL, and the tracker stays usable. */
static void check_refused(struct rt_tracker *t, const struct rt_recorder_opts *opts, int expected)
{
	struct rt_recorder *r = (struct rt_recorder *)&r;
	struct rt_metrics m;

	ck_assert_int_eq(rt_recorder_new(&r, t, opts), expected);
	ck_assert_ptr_null(r);
	ck_assert_int_eq(t ? rt_sample(t, &m, sizeof(m)) : 0, 0);
}

START_TEST(recorder_with_bad_options_is_refused)
{
	const struct rt_recorder_opts bad[] = {
		{ .size = 0 },
		{ .size = OPTS_SIZE - 8 },
		{ .size = OPTS_SIZE, .flags = RT_RECORDER_PROCESSES << 1 },
		{ .size = OPTS_SIZE, .interval_ns = 1 },
		{ .size = OPTS_SIZE, .interval_ns = 999999 },
		{ .size = OPTS_SIZE, .peak_poll_ns = 999999 },
		{ .size = OPTS_SIZE, .capacity = 10, .wake_after = 11 },
		{ .size = OPTS_SIZE, .wake_after = UINT32_MAX },
		{ .size = OPTS_SIZE, .reserved = 1 },
	};
	struct {
		struct rt_recorder_opts opts;
		uint64_t more;
	} longer = { { .size = sizeof(longer) }, 1 };

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		check_refused(tracker, &bad[i], -EINVAL);
	check_refused(tracker, &longer.opts, -E2BIG);
}
END_TEST

START_TEST(recorder_without_descriptors_is_refused)
{
	struct rlimit before, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	struct rt_recorder *r;
	int err = rt_recorder_new(&r, tracker, NULL);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(err, -EMFILE);
	check_refused(NULL, NULL, -EFAULT);
}
END_TEST

START_TEST(recorder_of_a_system_lists_no_processes)
{
	const struct rt_recorder_opts opts = { .size = OPTS_SIZE, .flags = RT_RECORDER_PROCESSES };
	struct rt_tracker *machine;

	ck_assert_int_eq(rt_system_tracker_new(&machine, NULL), 0);
	check_refused(machine, &opts, -EOPNOTSUPP);
	rt_tracker_free(machine);
}
END_TEST

START_TEST(calls_without_recorder_or_arguments_return_efault)
{
	struct rt_recorder *r;
	size_t count = 1;

	ck_assert_int_eq(rt_recorder_new(NULL, tracker, NULL), -EFAULT);
	check_refused(NULL, NULL, -EFAULT);
	ck_assert_int_eq(rt_recorder_fd(NULL), -EFAULT);
	ck_assert_int_eq(rt_recorder_read(NULL, NULL, 0, &count), -EFAULT);
	ck_assert_int_eq(rt_recorder_latest(NULL, NULL, 0), -EFAULT);
	ck_assert_int_eq(rt_recorder_processes(NULL, 0, NULL, 0, &count), -EFAULT);
	ck_assert_int_eq(rt_recorder_get_totals(NULL, NULL, 0), -EFAULT);
	ck_assert_int_eq(rt_recorder_stop(NULL), -EFAULT);
	rt_recorder_free(NULL);
	ck_assert_int_eq(rt_recorder_new(&r, tracker, NULL), 0);
	ck_assert_int_eq(rt_recorder_read(r, NULL, sizeof(struct rt_metrics), &count), -EFAULT);
	ck_assert_int_eq(rt_recorder_read(r, NULL, sizeof(struct rt_metrics), NULL), -EFAULT);
	ck_assert_int_eq(rt_recorder_latest(r, NULL, sizeof(struct rt_metrics)), -EFAULT);
	ck_assert_int_eq(rt_recorder_get_totals(r, NULL, 64), -EFAULT);
	rt_recorder_free(r);
	setup();
}
END_TEST

START_TEST(ill_sized_output_is_refused)
{
	struct rt_recorder_totals totals;
	struct rt_metrics m[1];
	struct rt_peaks peaks;
	struct rt_recorder *r;
	size_t count = 1;

	ck_assert_int_eq(rt_tracker_since(tracker, 1, &peaks, sizeof(peaks) - 1), -EINVAL);
	ck_assert_int_eq(rt_recorder_new(&r, tracker, NULL), 0);
	ck_assert_int_eq(rt_recorder_read(r, m, 8, &count), -EINVAL);
	ck_assert_int_eq(rt_recorder_read(r, m, 5000, &count), -EINVAL);
	ck_assert_int_eq(rt_recorder_latest(r, m, 8), -EINVAL);
	ck_assert_int_eq(rt_recorder_get_totals(r, &totals, 8), -EINVAL);
	ck_assert_int_eq(rt_recorder_processes(r, 0, (struct rt_process[1]){ { 0 } }, 8, &count),
	                 -EINVAL);
	ck_assert_int_eq(
	    rt_recorder_processes(r, 0, NULL, sizeof(struct rt_process), (size_t[1]){ 0 }),
	    -EOPNOTSUPP);
	rt_recorder_free(r);
	setup();
}
END_TEST

START_TEST(mark_of_a_tracker_without_peaks_is_not_supported)
{
	const struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CPU };
	struct rt_tracker *others[2];
	struct rt_peaks peaks;
	uint64_t id = 7;

	ck_assert_int_eq(rt_system_tracker_new(&others[0], NULL), 0);
	ck_assert_int_eq(rt_pid_tracker_new(&others[1], getpid(), &opts), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rt_tracker_mark(others[i], NULL, &id), -EOPNOTSUPP);
		ck_assert_int_eq(rt_tracker_since(others[i], 1, &peaks, sizeof(peaks)),
		                 -EOPNOTSUPP);
		ck_assert_int_eq(rt_tracker_unmark(others[i], 1), -EOPNOTSUPP);
		rt_tracker_free(others[i]);
	}
	ck_assert_uint_eq(id, 7);
}
END_TEST

START_TEST(mark_without_arguments_returns_efault)
{
	struct rt_peaks peaks;
	uint64_t id;

	ck_assert_int_eq(rt_tracker_mark(NULL, NULL, &id), -EFAULT);
	ck_assert_int_eq(rt_tracker_mark(tracker, NULL, NULL), -EFAULT);
	ck_assert_int_eq(rt_tracker_since(NULL, 1, &peaks, sizeof(peaks)), -EFAULT);
	ck_assert_int_eq(rt_tracker_since(tracker, 1, NULL, sizeof(peaks)), -EFAULT);
	ck_assert_int_eq(rt_tracker_unmark(NULL, 1), -EFAULT);
}
END_TEST

START_TEST(sixty_four_marks_may_be_set_each_with_a_number_of_its_own)
{
	uint64_t ids[65], again;
	struct rt_peaks peaks;

	for (int i = 0; i < 64; i++) {
		ck_assert_int_eq(rt_tracker_mark(tracker, NULL, &ids[i]), 0);
		for (int other = 0; other < i; other++)
			ck_assert_uint_ne(ids[i], ids[other]);
	}
	ck_assert_int_eq(rt_tracker_mark(tracker, "one too many", &ids[64]), -ENOSPC);
	ck_assert_int_eq(rt_tracker_unmark(tracker, ids[30]), 0);
	ck_assert_int_eq(rt_tracker_unmark(tracker, ids[30]), -ENOENT);
	ck_assert_int_eq(rt_tracker_since(tracker, ids[30], &peaks, sizeof(peaks)), -ENOENT);
	ck_assert_int_eq(rt_tracker_mark(tracker, NULL, &again), 0);
	for (int i = 0; i < 64; i++)
		ck_assert_uint_ne(again, ids[i]);
	ck_assert_int_eq(rt_tracker_unmark(tracker, 0), -ENOENT);
	ck_assert_int_eq(rt_tracker_unmark(tracker, UINT64_MAX), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recorder_errors");
	TCase *tc = suite_case(suite, "recorder_errors");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, recorder_with_bad_options_is_refused);
	tcase_add_test(tc, recorder_without_descriptors_is_refused);
	tcase_add_test(tc, recorder_of_a_system_lists_no_processes);
	tcase_add_test(tc, calls_without_recorder_or_arguments_return_efault);
	tcase_add_test(tc, ill_sized_output_is_refused);
	tcase_add_test(tc, mark_of_a_tracker_without_peaks_is_not_supported);
	tcase_add_test(tc, mark_without_arguments_returns_efault);
	tcase_add_test(tc, sixty_four_marks_may_be_set_each_with_a_number_of_its_own);
	return suite_run(suite);
}
