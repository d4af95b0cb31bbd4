/* SPDX-License-Identifier: MIT */
/* The contract of collectors: on every path to a figure a collector is called, or its last value
 * still holds, or its bit is cleared. The paths: from files, of a member that does not run, from
 * batch rows, of our own supervisor. */
#include "family.h"

#include <errno.h>
#include <stdio.h>

#include "api/tracker.h"
#include "fake_collector.h"
#include "suite.h"
#include "tree/state/state.h"

#define TREE 12
#define SECOND UINT64_C(1000000000)
#define TENTH (SECOND / 10)

static struct family family;
static struct rt_tracker *tracker;
static struct rt_metrics m;
static uint64_t now_ns;

static void fake_now(struct rti_now *out)
{
	*out = (struct rti_now){ now_ns, now_ns, now_ns };
}

static uint64_t fake_monotonic_ns(void)
{
	return now_ns;
}

static void set_up(void)
{
	now_ns = 1000 * SECOND;
	fake_reset();
	family_start(&family, TREE);
}

static void tear_down(void)
{
	rt_tracker_free(tracker);
	family_end(&family);
}

static void track(uint64_t want)
{
	/* The fake domain is not among those of want 0. */
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .want = want ? want : rt_domains(RT_KIND_PID) };

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, family.member[0].pid, &opts), 0);
	tracker->platform.now = fake_now;
	tracker->platform.monotonic_ns = fake_monotonic_ns;
}

static void sample_after(uint64_t ns)
{
	now_ns += ns;
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
}

static void run_all(void)
{
	for (size_t i = 0; i < family.count; i++)
		ck_assert_int_eq(family_tell(&family, i, FAMILY_RUN, 1), 0);
}

/* For some ticks: stat counts in these. */
static void run_for_ticks(size_t member)
{
	ck_assert_int_eq(family_tell(&family, member, FAMILY_RUN, 100), 0);
}

/* The next sample reads by BPF. Returns false, and skips the test, if that cannot be
 * had here. */
static bool switch_to_batch(void)
{
	tracker->tree->batch_reader.text_reads = UINT32_MAX;
	run_all();
	sample_after(SECOND);
	if (m.source == RT_SOURCE_BPF)
		return true;
	suite_skip_test("BPF cannot be had here");
	return false;
}

static void check_all_have(uint64_t value)
{
	ck_assert_uint_ne(m.valid & FAKE_DOMAIN, 0);
	ck_assert_uint_eq(m.partial & FAKE_DOMAIN, 0);
	ck_assert_uint_eq(fake.sum, TREE * value);
}

static const uint64_t wants[] = { 0, FAKE_DOMAIN, FAKE_DOMAIN | RT_HAS_CPU };

START_TEST(collector_of_members_that_run_is_called_in_each_sample)
{
	track(wants[_i]);
	for (unsigned samples = 1; samples < 4; samples++) {
		run_all();
		fake.value = samples;
		sample_after(TENTH / 10);
		check_all_have(samples);
		for (size_t i = 0; i < TREE; i++)
			ck_assert_uint_eq(fake_calls(family.member[i].pid), samples);
	}
}
END_TEST

START_TEST(value_of_a_member_that_does_not_run_is_kept_without_a_call)
{
	track(wants[_i]);
	sample_after(SECOND);
	family_stop(&family);
	sample_after(SECOND);
	fake_reset();
	fake.value = 7;
	sample_after(TENTH);
	check_all_have(1);
	for (size_t i = 0; i < TREE; i++)
		ck_assert_uint_eq(fake_calls(family.member[i].pid), 0);
}
END_TEST

START_TEST(value_that_changes_while_idle_is_read_each_second)
{
	rti_pid_fake.changes_while_idle = true;
	track(wants[_i]);
	sample_after(SECOND);
	family_stop(&family);
	sample_after(SECOND);
	fake.value = 7;
	sample_after(TENTH);
	check_all_have(1);
	sample_after(SECOND);
	check_all_have(7);
}
END_TEST

START_TEST(collector_that_rows_lack_is_called_in_batch_mode_too)
{
	track(wants[_i]);
	sample_after(SECOND);
	if (!switch_to_batch())
		return;
	fake.value = 5;
	run_all();
	sample_after(TENTH / 10);
	ck_assert_uint_eq(m.source, RT_SOURCE_BPF);
	check_all_have(5);
	family_stop(&family);
	sample_after(TENTH / 10);
	fake.value = 6;
	sample_after(TENTH / 10);
	check_all_have(5);
}
END_TEST

START_TEST(collector_after_stat_sees_a_new_stat_in_batch_mode)
{
	uint64_t before;

	rti_pid_fake.after_stat = true;
	track(wants[_i]);
	sample_after(SECOND);
	if (!switch_to_batch())
		return;
	before = fake_utime(family.member[3].pid);
	run_all();
	run_for_ticks(3);
	sample_after(TENTH / 10);
	ck_assert_uint_eq(m.source, RT_SOURCE_BPF);
	check_all_have(1);
	ck_assert_uint_gt(fake_utime(family.member[3].pid), before);
}
END_TEST

START_TEST(seldom_collector_is_called_ten_times_a_second_at_most)
{
	rti_pid_fake.cadence = RTI_TEN_HZ;
	track(FAKE_DOMAIN);
	sample_after(SECOND);
	for (int i = 0; i < 8; i++) {
		run_all();
		fake.value = 9;
		sample_after(TENTH / 10);
		check_all_have(1);
	}
	family_stop(&family);
	sample_after(TENTH); /* what was put off is due, though nothing runs any more */
	check_all_have(9);
}
END_TEST

START_TEST(seldom_collector_in_batch_mode_keeps_its_cadence)
{
	rti_pid_fake.cadence = RTI_TEN_HZ;
	track(FAKE_DOMAIN | RT_HAS_CPU);
	sample_after(SECOND);
	if (!switch_to_batch())
		return;
	fake.value = 4;
	run_all();
	sample_after(TENTH / 10);
	check_all_have(1);
	run_all();
	sample_after(TENTH);
	check_all_have(4);
}
END_TEST

START_TEST(supervisor_is_not_asked_for_what_is_not_its_own_to_report)
{
	static struct rti_shared_stats shared;
	const struct rti_cgroup none = RTI_CGROUP_INIT;
	struct rti_fork_tracker no_events = RTI_FORK_TRACKER_INIT;
	const struct rti_tree_command command = { .supervisor_pid = family.member[0].pid,
		                                  .shared = &shared,
		                                  .cgroup = &none,
		                                  .fork_tracker = &no_events };

	track(0);
	rti_tree_attach_command(tracker->tree, &command);
	for (int i = 0; i < 2; i++) {
		run_all();
		sample_after(SECOND);
	}
	ck_assert_uint_eq(fake_calls(family.member[0].pid), 0);
	ck_assert_uint_eq(fake_calls(family.member[1].pid), 2);
	ck_assert_uint_ne(m.valid & FAKE_DOMAIN, 0);
	if (!switch_to_batch())
		return;
	ck_assert_uint_eq(fake_calls(family.member[0].pid), 0);
	ck_assert_uint_ne(m.valid & FAKE_DOMAIN, 0);
}
END_TEST

/* By files and by batch rows. */
START_TEST(collector_that_fails_for_a_member_clears_the_bit)
{
	track(0);
	sample_after(SECOND);
	if (_i && !switch_to_batch())
		return;
	fake.error = -EACCES;
	fake.failing_pid = family.member[2].pid;
	run_all();
	sample_after(SECOND);
	ck_assert_uint_eq(m.valid & FAKE_DOMAIN, 0);
	ck_assert_uint_ne(m.partial & FAKE_DOMAIN, 0);
	ck_assert_uint_eq(fake.sum, TREE - 1);
	ck_assert_uint_eq(m.members_unreadable, 1);
	ck_assert_int_eq(rt_tracker_status(tracker, FAKE_DOMAIN), -EACCES);
	fake.error = 0;
	sample_after(SECOND); /* looked for again, though the member has not run */
	check_all_have(1);
}
END_TEST

static void reap_third(int32_t pid)
{
	if (pid != family.member[3].pid)
		return;
	fake.on_collect = NULL;
	family_shrink(&family, 3);
}

/* By files and by batch rows. Its pid may be that of another process by then. */
START_TEST(value_of_a_process_that_was_reaped_meanwhile_is_dropped)
{
	track(0);
	sample_after(SECOND);
	if (_i && !switch_to_batch())
		return;
	run_all();
	fake.on_collect = reap_third;
	sample_after(SECOND);
	ck_assert_uint_eq(m.processes, TREE - 1);
	ck_assert_uint_eq(fake.sum, TREE - 1);
}
END_TEST

START_TEST(collector_with_a_lower_bound_makes_the_sum_one)
{
	fake.returns_partial = true;
	track(0);
	sample_after(SECOND);
	ck_assert_uint_eq(m.valid & FAKE_DOMAIN, 0);
	ck_assert_uint_ne(m.partial & FAKE_DOMAIN, 0);
	ck_assert_uint_eq(fake.sum, TREE);
}
END_TEST

START_TEST(process_with_nothing_to_measure_is_complete)
{
	fake.error = -ESRCH;
	track(0);
	sample_after(SECOND);
	ck_assert_uint_ne(m.valid & FAKE_DOMAIN, 0);
	ck_assert_uint_eq(fake.sum, 0);
}
END_TEST

START_TEST(collector_that_is_not_wanted_is_not_called)
{
	track(RT_HAS_CPU);
	sample_after(SECOND);
	run_all();
	sample_after(SECOND);
	ck_assert_uint_eq(fake_calls(family.member[1].pid), 0);
	ck_assert_uint_eq((m.valid | m.partial) & FAKE_DOMAIN, 0);
}
END_TEST

int main(void)
{
	const int want_count = sizeof(wants) / sizeof(wants[0]);
	Suite *suite = suite_create("collector");
	TCase *paths = suite_case(suite, "paths"), *answers = suite_case(suite, "answers");

	tcase_add_checked_fixture(paths, set_up, tear_down);
	tcase_add_checked_fixture(answers, set_up, tear_down);
	tcase_add_loop_test(paths, collector_of_members_that_run_is_called_in_each_sample, 0,
	                    want_count);
	tcase_add_loop_test(paths, value_of_a_member_that_does_not_run_is_kept_without_a_call, 0,
	                    want_count);
	tcase_add_loop_test(paths, value_that_changes_while_idle_is_read_each_second, 0,
	                    want_count);
	tcase_add_loop_test(paths, collector_that_rows_lack_is_called_in_batch_mode_too, 0,
	                    want_count);
	tcase_add_loop_test(paths, collector_after_stat_sees_a_new_stat_in_batch_mode, 0,
	                    want_count);
	tcase_add_test(paths, seldom_collector_is_called_ten_times_a_second_at_most);
	tcase_add_test(paths, seldom_collector_in_batch_mode_keeps_its_cadence);
	tcase_add_test(paths, supervisor_is_not_asked_for_what_is_not_its_own_to_report);
	tcase_add_loop_test(answers, collector_that_fails_for_a_member_clears_the_bit, 0, 2);
	tcase_add_loop_test(answers, value_of_a_process_that_was_reaped_meanwhile_is_dropped, 0, 2);
	tcase_add_test(answers, collector_with_a_lower_bound_makes_the_sum_one);
	tcase_add_test(answers, process_with_nothing_to_measure_is_complete);
	tcase_add_test(answers, collector_that_is_not_wanted_is_not_called);
	return suite_run(suite);
}
