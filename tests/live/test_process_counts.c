/* SPDX-License-Identifier: MIT */
/* Commands count each process of their tree, however short its lifetime is; and the supervisor
 * that does it costs little. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "workload.h"

/* "mixed" has 21 processes at a time, and some more for which the exit event arrives late. */
#define MIXED_PEAK_MAX 50

static const uint32_t methods[] = { RT_ACCOUNTING_WAIT, RT_ACCOUNTING_CGROUP };
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

static int32_t read_ppid(int32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return (int32_t)read_proc_value(path, "PPid:");
}

/* The last totals of the tracker, after the end of the command. */
static struct rt_metrics last_totals(const struct workload *w)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(rt_command_tracker(w->command), &m, sizeof(m)), -ESRCH);
	return m;
}

START_TEST(count_with_short_lived_processes_has_each_fork)
{
	struct workload_opts opts = { .accounting = methods[_i] };
	struct rt_metrics m;
	struct workload w;
	unsigned forks;

	if (!run_workload(&w, "mixed", opts))
		return;

	forks = atomic_load(&w.record->forks);
	ck_assert_uint_eq(forks, atomic_load(&w.record->process_count) - 1);
	ck_assert_uint_eq(w.outcome.processes, forks + 1);
	ck_assert_uint_eq(w.outcome.partial & RT_HAS_PROCESSES, 0);
	ck_assert_uint_ne(w.outcome.valid & RT_HAS_PROCESSES_PEAK, 0);
	ck_assert_uint_ge(w.outcome.processes_peak, 2);
	ck_assert_uint_le(w.outcome.processes_peak, MIXED_PEAK_MAX);
	m = last_totals(&w);
	ck_assert_uint_eq(m.valid & RT_HAS_PROCESSES_SEEN, RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(m.processes_seen, forks + 1);
	free_workload(&w);
}
END_TEST

/* peak: 0 if it cannot be known. */
static void check_peak(uint32_t method, const char *name, uint64_t processes, uint64_t peak)
{
	struct workload_opts opts = { .accounting = method };
	struct workload w;

	if (!run_workload(&w, name, opts))
		return;

	ck_assert_uint_eq(w.outcome.processes, processes);
	ck_assert_uint_eq(w.outcome.valid & RT_HAS_PROCESSES_PEAK,
	                  peak ? RT_HAS_PROCESSES_PEAK : 0);
	ck_assert_uint_eq(w.outcome.processes_peak, peak);
	free_workload(&w);
}

START_TEST(peak_count_with_three_hundred_at_once_has_them_all)
{
	check_peak(methods[_i], "at_once", WORKLOAD_AT_ONCE + 1, WORKLOAD_AT_ONCE + 1);
}
END_TEST

/* The kernel reports the exit of the leader before that of a thread that waits for a CPU to exit,
 * too. No process runs on without its leader. */
START_TEST(peak_count_with_thread_that_exits_late_is_known)
{
	check_peak(methods[_i], "late_thread", 2, 2);
}
END_TEST

/* The count ends with the leader, so it cannot tell how many were there at one time. */
START_TEST(peak_count_with_process_that_runs_on_without_leader_is_unknown)
{
	check_peak(methods[_i], "leader_exits", 2, 0);
}
END_TEST

START_TEST(count_without_forks_is_one)
{
	struct workload_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct workload w;

	ck_assert(run_workload(&w, "nothing", opts));

	ck_assert_uint_eq(w.outcome.processes, 1);
	ck_assert_uint_eq(w.outcome.processes_peak, 1);
	free_workload(&w);
}
END_TEST

START_TEST(count_with_poll_accounting_is_partial)
{
	struct workload_opts opts = { .accounting = RT_ACCOUNTING_POLL };
	struct workload w;

	ck_assert(start_workload(&w, "mixed", opts));
	finish_workload(&w);

	ck_assert_uint_eq(w.outcome.valid & (RT_HAS_PROCESSES | RT_HAS_PROCESSES_PEAK), 0);
	ck_assert_uint_ne(w.outcome.partial & RT_HAS_PROCESSES, 0);
	ck_assert_uint_ge(w.outcome.processes, 1);
	ck_assert_uint_le(w.outcome.processes, atomic_load(&w.record->forks) + 1);
	ck_assert_uint_eq(w.outcome.processes_peak, 0);
	free_workload(&w);
}
END_TEST

START_TEST(count_with_poll_accounting_and_events_has_each_fork)
{
	struct workload_opts opts = { .accounting = RT_ACCOUNTING_POLL,
		                      .has_events = true,
		                      .is_early = _i };
	struct workload w;

	ck_assert(run_workload(&w, "mixed", opts));

	ck_assert_uint_eq(w.outcome.processes, atomic_load(&w.record->forks) + 1);
	free_workload(&w);
}
END_TEST

/* After the supervisor is killed, no process is left that knows the count. */
START_TEST(count_after_supervisor_was_killed_is_partial)
{
	struct workload_opts opts = { .accounting = RT_ACCOUNTING_WAIT, .is_waiting = true };
	struct rt_metrics m;
	struct workload w;

	if (flags_of_suite()) {
		suite_skip_test("the caller is its own supervisor");
		return;
	}
	ck_assert(start_workload(&w, "mixed", opts));
	ck_assert_int_eq(kill_process(read_ppid(rt_command_pid(w.command)), SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(w.command, 0, NULL, 0), -ETIMEDOUT);
	/* The count of a supervisor lags behind its events, and this one counts no more. */
	ck_assert_int_eq(rt_sample(rt_command_tracker(w.command), &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.partial & RT_HAS_PROCESSES_SEEN, RT_HAS_PROCESSES_SEEN);
	rt_command_signal(w.command, SIGKILL);

	rt_command_wait(w.command, WAIT_FOREVER, &w.outcome, sizeof(w.outcome));
	ck_assert_uint_eq(w.outcome.valid & (RT_HAS_PROCESSES | RT_HAS_PROCESSES_PEAK), 0);
	ck_assert_uint_ne(w.outcome.partial & RT_HAS_PROCESSES, 0);
	rt_sample(rt_command_tracker(w.command), &m, sizeof(m));
	ck_assert_uint_eq(m.valid & RT_HAS_PROCESSES_SEEN, 0);
	free_workload(&w);
}
END_TEST

START_TEST(supervisor_after_five_thousand_forks_has_used_two_mib_at_most)
{
	struct workload_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct workload w;

	if (flags_of_suite()) {
		suite_skip_test("the caller is its own supervisor");
		return;
	}
	ck_assert(run_workload(&w, "five_thousand", opts));

	ck_assert_uint_eq(w.outcome.processes, 5001);
	ck_assert_uint_gt(w.record->supervisor_kib, 0);
	ck_assert_uint_le(w.record->supervisor_kib, 2048);
	free_workload(&w);
}
END_TEST

/* The supervisor reads files of the processes that it reaps, and the kernel adds to its counters
 * what those processes have read. The figure must hold only the latter. */
START_TEST(read_chars_with_reads_by_supervisor_are_those_of_the_program)
{
	struct workload_opts opts = { .accounting = RT_ACCOUNTING_WAIT, .has_list = _i };
	struct rt_metrics m;
	struct workload w;

	ck_assert(start_workload(&w, "read", opts));
	finish_workload(&w);

	m = last_totals(&w);
	ck_assert_uint_gt(w.record->read_chars, WORKLOAD_ROUNDS * WORKLOAD_READ_BYTES);
	ck_assert_uint_eq(m.read_chars, w.record->read_chars);
	free_workload(&w);
}
END_TEST

static void add_tests_with_events(TCase *counts, TCase *supervisor)
{
	tcase_add_loop_test(counts, count_with_short_lived_processes_has_each_fork, 0, METHODS);
	tcase_add_loop_test(counts, peak_count_with_three_hundred_at_once_has_them_all, 0, METHODS);
	tcase_add_loop_test(counts, peak_count_with_thread_that_exits_late_is_known, 0, METHODS);
	tcase_add_loop_test(counts, peak_count_with_process_that_runs_on_without_leader_is_unknown,
	                    0, METHODS);
	tcase_add_test(counts, count_without_forks_is_one);
	tcase_add_loop_test(counts, count_with_poll_accounting_and_events_has_each_fork, 0, 2);
	tcase_add_test(supervisor, supervisor_after_five_thousand_forks_has_used_two_mib_at_most);
}

int main(int argc, char **argv)
{
	Suite *suite = suite_create("process_counts");
	TCase *counts = suite_case(suite, "counts"), *supervisor = suite_case(suite, "supervisor");

	if (is_workload(argc))
		return run_as_workload(argv);
	tcase_add_test(counts, count_with_poll_accounting_is_partial);
	tcase_add_test(counts, count_after_supervisor_was_killed_is_partial);
	tcase_add_loop_test(supervisor,
	                    read_chars_with_reads_by_supervisor_are_those_of_the_program, 0, 2);
	if (has_process_events())
		add_tests_with_events(counts, supervisor);
	else
		printf(
		    "# no process events for this user: the tests that need them are left out\n");
	return suite_run(suite);
}
