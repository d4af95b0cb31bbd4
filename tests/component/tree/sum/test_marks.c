/* SPDX-License-Identifier: MIT */
/* Which figures of a sample of a command are complete once its supervisor has been asked, and which
 * are lower bounds all the same. */
#include <errno.h>

#include "tree/tree_fixture.h"
#include "tree/tree_inside.h"

#define COUNTERS (RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_IO)

static struct rti_shared_stats shared;

/* The shell is the supervisor of its children. */
static void track_supervised(const struct fake_process *child)
{
	shared = (struct rti_shared_stats){ .events = RTI_EVENTS_INTACT };
	write_family();
	fake_process_write(&fix.root, child);
	track_process(100, 0);
	make_supervisor(fix.tracker, 100, &shared);
	take_sample();
}

/* All that its children have used, with a peak of 100 KiB. */
static struct rt_rusage both_reaped(void)
{
	struct fake_process both = first_child;

	both.utime += second_child.utime;
	both.stime += second_child.stime;
	both.minflt += second_child.minflt;
	both.majflt += second_child.majflt;
	return rusage_of(&both, 100);
}

/* The shell has reaped both, and others with so many faults and ticks. */
static void end_both(uint64_t more_faults, uint64_t more_ticks)
{
	struct fake_process reaper = shell;

	reaper.cutime = first_child.utime + second_child.utime + more_ticks;
	reaper.cstime = first_child.stime + second_child.stime;
	reaper.cminflt = first_child.minflt + second_child.minflt + more_faults;
	reaper.cmajflt = first_child.majflt + second_child.majflt;
	reaper.children = "";
	fake_process_write(&fix.root, &reaper);
	fake_process_remove(&fix.root, 101);
	fake_process_remove(&fix.root, 102);
}

static struct rt_metrics sample_ended(void)
{
	struct rt_metrics m = { 0 };

	ck_assert_int_eq(try_sample(&m), -ESRCH);
	ck_assert_uint_eq(m.processes, 0);
	return m;
}

static struct fake_process make_ignorer(void)
{
	struct fake_process child = first_child;

	child.ignores_sigchld = true;
	return child;
}

START_TEST(ended_command_is_complete_by_the_account_of_its_supervisor)
{
	const struct rt_rusage reaped = both_reaped();
	struct rt_metrics m;

	track_supervised(&first_child);
	end_both(0, 0);
	apply_final_account(fix.tracker, &reaped, 0);

	m = sample_ended();

	ck_assert_uint_eq(m.partial, RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED);
	ck_assert_uint_eq(m.reasons, 0);
}
END_TEST

/* It has reaped another process since it was asked, which may have had no page fault: it shared
 * the memory of its parent. */
START_TEST(account_that_the_supervisor_has_outgrown_completes_nothing)
{
	const struct rt_rusage reaped = both_reaped();
	struct rt_metrics m;

	track_supervised(&first_child);
	end_both(_i == 0, _i == 1);
	apply_final_account(fix.tracker, &reaped, 0);

	m = sample_ended();

	ck_assert_uint_eq(m.partial & (RT_HAS_PEAK_RSS | RT_HAS_CTXSW | RT_HAS_PROCESSES_SEEN),
	                  RT_HAS_PEAK_RSS | RT_HAS_CTXSW | RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(m.cpu_resolution_ns, TICK_NS);
}
END_TEST

START_TEST(lost_supervisor_completes_nothing)
{
	const struct rt_rusage reaped = both_reaped();
	struct rt_metrics m;

	track_supervised(&first_child);
	apply_final_account(fix.tracker, &reaped, 0);
	take_sample();
	end_both(0, 0);
	lose_supervisor(fix.tracker);

	m = sample_ended();

	ck_assert_uint_eq(m.partial & (RT_HAS_PEAK_RSS | RT_HAS_CTXSW | RT_HAS_PROCESSES_SEEN),
	                  RT_HAS_PEAK_RSS | RT_HAS_CTXSW | RT_HAS_PROCESSES_SEEN);
}
END_TEST

/* No process waited for a member, so none has learned its peak. */
START_TEST(peak_is_a_lower_bound_if_a_member_was_not_waited_for)
{
	const struct rt_rusage reaped = { .ru_maxrss = 100 };
	struct fake_process childless = shell;
	struct rt_metrics m;

	track_supervised(&first_child);
	childless.children = "";
	fake_process_write(&fix.root, &childless);
	fake_process_remove(&fix.root, 101);
	fake_process_remove(&fix.root, 102);
	apply_final_account(fix.tracker, &reaped, 0);

	m = sample_ended();

	ck_assert_uint_eq(m.reasons & RT_REASON_UNWAITED, RT_REASON_UNWAITED);
	ck_assert_uint_eq(m.partial & RT_HAS_PEAK_RSS, RT_HAS_PEAK_RSS);
}
END_TEST

/* The second child runs on. It has waited for a process that no sample saw. */
START_TEST(peak_and_switches_lack_what_a_process_that_runs_on_has_reaped)
{
	const struct rt_rusage reaped = rusage_of(&first_child, 100);
	struct fake_process daemon = second_child, reaper = shell;
	uint64_t partial = _i ? RT_HAS_PEAK_RSS | RT_HAS_CTXSW : 0;

	track_supervised(&first_child);
	reaper.cutime = first_child.utime;
	reaper.cstime = first_child.stime;
	reaper.cminflt = first_child.minflt;
	reaper.cmajflt = first_child.majflt;
	reaper.children = "102 ";
	daemon.utime++; /* it has run */
	daemon.cminflt = _i ? 7 : 0;
	fake_process_write(&fix.root, &reaper);
	fake_process_write(&fix.root, &daemon);
	fake_process_remove(&fix.root, 101);
	apply_final_account(fix.tracker, &reaped, 0);

	ck_assert_uint_eq(take_sample().partial & (RT_HAS_PEAK_RSS | RT_HAS_CTXSW), partial);
}
END_TEST

/* Process events prove in the end that each process was waited for. */
START_TEST(ignored_sigchld_lowers_nothing_once_each_process_was_waited_for)
{
	const struct rt_rusage reaped = both_reaped();
	const struct fake_process ignorer = make_ignorer();
	struct rt_metrics m;

	track_supervised(&ignorer);
	end_both(0, 0);
	apply_final_account(fix.tracker, &reaped, 0);
	shared.unproven_ns = _i ? 1 : 0;

	m = sample_ended();

	ck_assert_uint_eq(m.partial & COUNTERS, _i ? COUNTERS : 0);
	ck_assert_uint_eq(m.partial & RT_HAS_PEAK_RSS, _i ? RT_HAS_PEAK_RSS : 0);
	ck_assert_uint_eq(m.reasons, _i ? RT_REASON_SIGCHLD_IGNORED : 0);
}
END_TEST

/* What it starts from now on is not in the proof. */
START_TEST(ignored_sigchld_counts_as_long_as_a_process_runs_on)
{
	const struct rt_rusage reaped = { 0 };
	const struct fake_process ignorer = make_ignorer();
	struct rt_metrics m;

	track_supervised(&ignorer);
	apply_final_account(fix.tracker, &reaped, 0);

	m = take_sample();

	ck_assert_uint_eq(m.partial & COUNTERS, COUNTERS);
	ck_assert_uint_eq(m.reasons & RT_REASON_SIGCHLD_IGNORED, RT_REASON_SIGCHLD_IGNORED);
}
END_TEST

/* Without CPU clocks, each member has two times in ticks, which lack 60 ms in all. Of 5.0 s that is
 * more than a hundredth, and what two members lack would be less. */
START_TEST(ticks_of_a_member_that_was_not_waited_for_are_not_forgotten)
{
	struct fake_process few = shell;

	few.utime -= 532;
	write_family();
	fake_process_write(&fix.root, &few);
	track_process(100, 0);
	ck_assert_uint_eq(take_sample().reasons, RT_REASON_CLOCK_TICKS);
	few.children = "102 ";
	fake_process_write(&fix.root, &few);
	fake_process_remove(&fix.root, 101);

	ck_assert_uint_eq(take_sample().reasons, RT_REASON_UNWAITED | RT_REASON_CLOCK_TICKS);
}
END_TEST

/* Without CPU clocks, each of three members has two times in ticks of its own, and the shell two of
 * the child that it has reaped once it has. */
START_TEST(late_cpu_is_a_tick_for_each_time_of_live_members)
{
	struct fake_process reaper = shell;

	write_family();
	track_process(100, 0);
	ck_assert_uint_eq(take_sample().cpu_late_ns, 6 * TICK_NS);

	reaper.children = "102 ";
	reaper.cutime = first_child.utime;
	reaper.cstime = first_child.stime;
	reaper.cminflt = first_child.minflt;
	fake_process_write(&fix.root, &reaper);
	fake_process_remove(&fix.root, 101);
	ck_assert_uint_eq(take_sample().cpu_late_ns, 6 * TICK_NS);
}
END_TEST

/* What is missing of it comes in no later sample. */
START_TEST(late_cpu_lacks_members_that_no_process_waited_for)
{
	struct fake_process parent = shell;

	write_family();
	track_process(100, 0);
	take_sample();
	parent.children = "102 ";
	fake_process_write(&fix.root, &parent);
	fake_process_remove(&fix.root, 101);
	ck_assert_uint_eq(take_sample().cpu_late_ns, 4 * TICK_NS);
}
END_TEST

/* Each of three members may have used 20 ms more at the first sample: 60 ms, in 10 ms. */
START_TEST(difference_of_ticks_is_an_estimate)
{
	struct fake_process running = shell;
	struct rt_metrics from, to;
	struct rt_delta delta;

	write_family();
	track_process(100, 0);
	from = take_sample();
	running.utime++;
	fake_process_write(&fix.root, &running);
	to = take_sample();
	ck_assert_uint_eq(from.valid & to.valid & RT_HAS_CPU, RT_HAS_CPU);
	ck_assert_int_eq(rt_diff(&from, &to, &delta, sizeof(delta)), 0);
	ck_assert_uint_eq(delta.cpu_user_ns, TICK_NS);
	ck_assert_uint_eq(delta.estimated & RT_HAS_CPU, RT_HAS_CPU);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree/sum/marks");
	TCase *end = add_tree_case(suite, "end of a command"),
	      *ticks = add_tree_case(suite, "clock ticks");

	tcase_add_test(end, ended_command_is_complete_by_the_account_of_its_supervisor);
	tcase_add_loop_test(end, account_that_the_supervisor_has_outgrown_completes_nothing, 0, 2);
	tcase_add_test(end, lost_supervisor_completes_nothing);
	tcase_add_test(end, peak_is_a_lower_bound_if_a_member_was_not_waited_for);
	tcase_add_loop_test(end, peak_and_switches_lack_what_a_process_that_runs_on_has_reaped, 0,
	                    2);
	tcase_add_loop_test(end, ignored_sigchld_lowers_nothing_once_each_process_was_waited_for, 0,
	                    2);
	tcase_add_test(end, ignored_sigchld_counts_as_long_as_a_process_runs_on);
	tcase_add_test(ticks, late_cpu_is_a_tick_for_each_time_of_live_members);
	tcase_add_test(ticks, late_cpu_lacks_members_that_no_process_waited_for);
	tcase_add_test(ticks, difference_of_ticks_is_an_estimate);
	tcase_add_test(ticks, ticks_of_a_member_that_was_not_waited_for_are_not_forgotten);
	return suite_run(suite);
}
