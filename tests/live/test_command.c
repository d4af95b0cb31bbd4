/* SPDX-License-Identifier: MIT */
/* Commands: how they start and end, and what they have used. */
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "tracking.h"

#define MS INT64_C(1000000)

static void check_no_child_is_left(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

START_TEST(command_that_exits_has_exit_code)
{
	struct rt_outcome outcome = run_shell("exit 3");

	ck_assert_int_eq(outcome.exit_code, 3);
	ck_assert_int_eq(outcome.signal, 0);
}
END_TEST

START_TEST(command_that_is_killed_has_signal)
{
	struct rt_outcome outcome = run_shell("kill -KILL $$");

	ck_assert_int_eq(outcome.exit_code, -1);
	ck_assert_int_eq(outcome.signal, SIGKILL);
}
END_TEST

START_TEST(start_of_what_cannot_run_returns_reason_and_leaves_no_child)
{
	const char *missing[] = { "/nonexistent/program", NULL };
	const char *not_in_path[] = { "no-such-program-anywhere", NULL };
	const char *directory[] = { "/", NULL }, *empty[] = { NULL };
	const char *program[] = { "true", NULL };
	const struct rt_command_opts plain = { 0 }, nowhere = { .cwd = "/nonexistent" };
	struct rt_command *command;

	ck_assert_int_eq(start_command(&command, plain, missing), -ENOENT);
	ck_assert_ptr_null(command);
	ck_assert_int_eq(start_command(&command, plain, not_in_path), -ENOENT);
	ck_assert_int_eq(start_command(&command, plain, directory), -EACCES);
	ck_assert_int_eq(start_command(&command, plain, empty), -EINVAL);
	ck_assert_int_eq(start_command(&command, plain, NULL), -EFAULT);
	ck_assert_int_eq(start_command(&command, nowhere, program), -ENOENT);
	check_no_child_is_left();
}
END_TEST

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static const uint32_t methods[] = { RT_ACCOUNTING_AUTO, RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT,
	                            RT_ACCOUNTING_CGROUP, RT_ACCOUNTING_BPF };

/* A method that cannot be had here is refused. */
START_TEST(accounting_of_each_method_is_known_from_start_to_outcome)
{
	const struct rt_command_opts opts = { .accounting = methods[_i] };
	const char *argv[] = { "true", NULL };
	struct rt_command *command;
	uint64_t before_ns = now_ns();
	int err = start_command(&command, opts, argv);
	uint64_t after_ns = now_ns();
	struct rt_command_info info = { 0 };
	int info_err = rt_command_get_info(command, &info, sizeof(info));

	if (err < 0) {
		ck_assert_int_eq(err, -EOPNOTSUPP);
		ck_assert_uint_gt(opts.accounting, RT_ACCOUNTING_POLL);
		ck_assert_int_eq(info_err, -EFAULT);
		suite_skip_test("this accounting method cannot be had here");
		return;
	}
	ck_assert_int_eq(info_err, 0);
	ck_assert_uint_ne(info.accounting, RT_ACCOUNTING_AUTO);
	if (opts.accounting != RT_ACCOUNTING_AUTO)
		ck_assert_uint_eq(info.accounting, opts.accounting);
	ck_assert_uint_ge(info.start_ns, before_ns);
	ck_assert_uint_le(info.start_ns, after_ns);
	ck_assert_uint_eq(finish_command(command).accounting, info.accounting);
	ck_assert_int_eq(rt_command_get_info(command, NULL, sizeof(info)), -EFAULT);
	ck_assert_int_eq(rt_command_get_info(command, &info, sizeof(info) - 8), -EINVAL);
	rt_command_free(command);
}
END_TEST

START_TEST(command_with_cwd_and_envp_has_just_those)
{
	const char *envp[] = { "A=b", "PATH=/usr/bin:/bin", NULL };
	const struct rt_command_opts opts = { .cwd = "/", .envp = envp };
	struct rt_outcome outcome;

	outcome =
	    run_shell_with(opts, "test \"$(pwd)\" = / && test \"$A\" = b && test -z \"$HOME\"");

	ck_assert_int_eq(outcome.exit_code, 0);
}
END_TEST

START_TEST(wait_with_timeout_returns_etimedout_and_can_be_repeated)
{
	struct rt_command *command = start_shell("exec sleep 1000");
	struct rt_outcome first, again;

	ck_assert_int_eq(wait_for(command, 0), -ETIMEDOUT);
	ck_assert_int_eq(wait_for(command, 20 * MS), -ETIMEDOUT);
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), 0);
	first = finish_command(command);
	ck_assert_int_eq(rt_command_wait(command, 0, &again, sizeof(again)), 0);

	ck_assert_int_eq(first.signal, SIGTERM);
	ck_assert_uint_ge(first.wall_ns, 20 * MS);
	ck_assert_mem_eq(&again, &first, sizeof(again));
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), -ESRCH);
	rt_command_free(command);
}
END_TEST

static void do_nothing(int signal)
{
	(void)signal;
}

START_TEST(wait_with_signal_handler_returns_eintr)
{
	const struct sigaction action = { .sa_handler = do_nothing };
	/* Repeat: the first signal may arrive before the wait begins. */
	const struct itimerspec often = { .it_value = { 0, 30 * MS },
		                          .it_interval = { 0, 30 * MS } };
	struct rt_command *command;
	timer_t timer;

	sigaction(SIGALRM, &action, NULL);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
	command = start_shell("exec sleep 1000");

	timer_settime(timer, 0, &often, NULL);
	ck_assert_int_eq(wait_for(command, WAIT_FOREVER), -EINTR);

	timer_delete(timer);
	rt_command_signal(command, SIGKILL);
	finish_command(command);
	rt_command_free(command);
}
END_TEST

/* A path below the build folder, for a file that the command writes. */
static void make_path(char *path, size_t size, const char *name)
{
	ck_assert_ptr_nonnull(getenv("RTRACK_BUILD_ROOT"));
	snprintf(path, size, "%s/rtrack-%s-%d", getenv("RTRACK_BUILD_ROOT"), name, getpid());
}

/* Sum what the shell's `times` has written, which is what the kernel reports to the shell: the CPU
 * time of the shell and of its children. */
static double sum_times(const char *path)
{
	FILE *file = fopen(path, "r");
	double seconds, sum = 0;
	int minutes;

	ck_assert_ptr_nonnull(file);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(fscanf(file, "%dm%lfs", &minutes, &seconds), 2);
		sum += minutes * 60 + seconds;
	}
	fclose(file);
	unlink(path);
	return sum;
}

/* On a busy system process events may be lost. Then nothing proves that all processes were waited
 * for, and what the outcome says of them are lower bounds. */
static void require_valid(const struct rt_outcome *outcome, uint64_t domain)
{
	if (outcome->reasons & RT_REASON_UNVERIFIED)
		ck_assert_uint_eq(outcome->partial & domain, domain);
	else
		ck_assert_uint_eq(outcome->valid & domain, domain);
}

START_TEST(cpu_time_with_waited_for_children_is_that_of_the_shell)
{
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_outcome outcome;
	char path[512], script[1024];
	double expected_s;

	make_path(path, sizeof(path), "times");
	snprintf(script, sizeof(script),
	         "for i in 1 2 3 4 5 6 7 8; do (i=0; while [ $i -lt 100000 ]; do i=$((i+1)); "
	         "done); done; times >%s",
	         path);

	outcome = run_shell_with(opts, script);

	expected_s = sum_times(path);
	ck_assert_uint_eq(outcome.accounting, RT_ACCOUNTING_WAIT);
	/* The shell prints whole ticks, or even less, and then runs for a moment longer. */
	ck_assert_double_le(expected_s - 0.04, (double)get_outcome_ns(&outcome) / 1e9);
	ck_assert_double_ge(expected_s + 0.05, (double)get_outcome_ns(&outcome) / 1e9);
	require_valid(&outcome, RT_HAS_CTXSW);
	ck_assert_uint_eq(outcome.cpu_low_ns, get_outcome_ns(&outcome));
}
END_TEST

START_TEST(totals_of_samples_never_fall_and_end_in_the_outcome)
{
	struct rt_command *command = start_shell(
	    "for i in 1 2 3 4 5; do sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'; "
	    "done");
	struct rt_metrics m, last = { 0 };
	struct rt_outcome outcome;

	while (wait_for(command, 5 * MS) == -ETIMEDOUT) {
		int err = rt_sample(rt_command_tracker(command), &m, sizeof(m));

		ck_assert(err == 0 || err == -ESRCH); /* it may have exited by now */
		ck_assert_uint_ge(m.cpu_user_ns, last.cpu_user_ns);
		ck_assert_uint_ge(m.cpu_system_ns, last.cpu_system_ns);
		last = m;
	}
	outcome = finish_command(command);
	m = sample_ended(rt_command_tracker(command));

	ck_assert_uint_eq(m.cpu_user_ns, outcome.cpu_user_ns);
	ck_assert_uint_eq(m.cpu_system_ns, outcome.cpu_system_ns);
	ck_assert_uint_ge(m.cpu_user_ns, last.cpu_user_ns);
	ck_assert_uint_ge(m.cpu_system_ns, last.cpu_system_ns);
	ck_assert_uint_ge(outcome.processes, 2);
	ck_assert_uint_gt(outcome.overhead_cpu_ns, 0);
	ck_assert_uint_gt(outcome.peak_tree_bytes, 0);
	rt_command_free(command);
}
END_TEST

START_TEST(outcome_with_poll_accounting_is_not_complete)
{
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_POLL };
	struct rt_outcome outcome;

	outcome = run_shell_with(opts, "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done");

	ck_assert_uint_eq(outcome.accounting, RT_ACCOUNTING_POLL);
	ck_assert_uint_gt(get_outcome_ns(&outcome), 0);
	ck_assert_uint_eq(outcome.complete, 0);
	ck_assert_uint_ne(outcome.reasons, 0);
}
END_TEST

START_TEST(outcome_without_children_excludes_their_cpu_time)
{
	const struct rt_opts alone = { .size = sizeof(alone), .flags = RT_OPT_NO_CHILDREN };
	const struct rt_command_opts opts = { .tracker = &alone };
	struct rt_outcome outcome;

	outcome = run_shell_with(opts, "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); true");

	ck_assert_uint_eq(outcome.accounting, RT_ACCOUNTING_POLL);
	ck_assert_uint_gt(get_outcome_ns(&outcome), 0);
	ck_assert_uint_lt(get_outcome_ns(&outcome), 30 * MS); /* the child uses about 150 ms */
	ck_assert_int_gt(outcome.rusage.ru_minflt, 0);
	ck_assert_uint_eq(outcome.reasons, 0);
	ck_assert_uint_eq(outcome.complete, 1);
	ck_assert_uint_eq(outcome.cpu_high_ns, outcome.cpu_low_ns);
	ck_assert_uint_eq(outcome.processes, 1);
	ck_assert_uint_eq(outcome.valid & (RT_HAS_CPU | RT_HAS_PROCESSES),
	                  RT_HAS_CPU | RT_HAS_PROCESSES);
}
END_TEST

START_TEST(start_without_children_but_with_wait_accounting_returns_einval)
{
	const struct rt_opts alone = { .size = sizeof(alone), .flags = RT_OPT_NO_CHILDREN };
	const struct rt_command_opts opts = { .tracker = &alone, .accounting = RT_ACCOUNTING_WAIT };
	const char *argv[] = { "true", NULL };
	struct rt_command *command;

	ck_assert_int_eq(start_command(&command, opts, argv), -EINVAL);
}
END_TEST

static int read_pid_file(const char *path)
{
	FILE *file = fopen(path, "r");
	int pid;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%d", &pid), 1);
	fclose(file);
	unlink(path);
	return pid;
}

START_TEST(outcome_with_daemon_left_running_reports_it)
{
	struct rt_outcome outcome;
	char path[512];

	make_path(path, sizeof(path), "daemon");
	setenv("PIDFILE", path, 1);

	outcome = run_shell("sleep 1000 & echo $! > \"$PIDFILE\"");

	kill_process(read_pid_file(path), SIGKILL);
	ck_assert_uint_eq(outcome.left_running, 1);
	ck_assert_uint_ne(outcome.reasons & RT_REASON_LEFT_RUNNING, 0);
	ck_assert_uint_eq(outcome.complete, 0);
}
END_TEST

/* What it has reaped is known in ticks as long as it runs, and to the microsecond then. */
START_TEST(killed_daemon_leaves_no_time_in_ticks)
{
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_command *command =
	    start_shell_with(opts, "(while :; do /bin/true; done) & exec sleep 0.3");
	struct rt_outcome outcome = finish_command(command);

	ck_assert_uint_ge(outcome.left_running, 1); /* true may run, too */
	ck_assert_uint_ne(outcome.reasons & RT_REASON_CLOCK_TICKS, 0);

	ck_assert_int_eq(rt_command_kill(command), 0);
	outcome = finish_command(command);

	ck_assert_uint_eq(outcome.left_running, 0);
	ck_assert_uint_eq(outcome.reasons & RT_REASON_CLOCK_TICKS, 0);
	rt_command_free(command);
}
END_TEST

START_TEST(peak_of_program_excludes_the_caller)
{
	struct rt_outcome outcome = run_shell("exec python3 -c 'x = bytearray(64 << 20)'");

	require_valid(&outcome, RT_HAS_PEAK_RSS);
	ck_assert_uint_gt(outcome.peak_rss_bytes, 64 << 20);
	ck_assert_uint_lt(outcome.peak_rss_bytes, 90 << 20);
}
END_TEST

/* Each orphan uses CPU time after its parent has exited. The shell exits when all of them have
 * been reaped. */
START_TEST(outcome_with_orphans_has_their_cpu_time)
{
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_outcome outcome;

	outcome = run_shell_with(
	    opts,
	    "pids=$(for i in 1 2 3 4; do"
	    " ( (i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done) >/dev/null & echo $!); done);"
	    " for pid in $pids; do while kill -0 $pid 2>/dev/null; do sleep 0.01; done; done");

	ck_assert_uint_eq(outcome.accounting, RT_ACCOUNTING_WAIT);
	ck_assert_uint_gt(get_outcome_ns(&outcome), 20 * MS);
	ck_assert_uint_eq(outcome.reasons & ~(uint32_t)RT_REASON_UNVERIFIED, 0);
	ck_assert_uint_eq(outcome.left_running, 0);
}
END_TEST

/* Four children of 50 ms each, which the kernel reaps itself. It adds their usage to no account. */
static const char auto_reaped[] = "exec python3 -c 'import os, signal, time\n"
				  "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
				  "for i in range(4):\n"
				  "    if os.fork() == 0:\n"
				  "        while time.process_time() < 0.05: pass\n"
				  "        os._exit(0)\n"
				  "try:\n"
				  "    os.wait()\n"
				  "except ChildProcessError: pass'";

START_TEST(outcome_with_auto_reaped_children_and_wait_accounting_has_bounds)
{
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_outcome outcome = run_shell_with(opts, auto_reaped);

	ck_assert_uint_eq(outcome.accounting, RT_ACCOUNTING_WAIT);
	ck_assert_uint_eq(outcome.complete, 0);
	ck_assert_uint_ne(outcome.reasons & RT_REASON_SIGCHLD_IGNORED, 0);
	ck_assert_uint_lt(get_outcome_ns(&outcome), outcome.cpu_high_ns);
	ck_assert_uint_ge(outcome.cpu_high_ns, 200 * MS); /* what the children have used */
	ck_assert_uint_eq(outcome.valid & RT_HAS_IO, 0);
}
END_TEST

/* True if no cgroup is left that the supervisor has made for a command of this process. */
static int has_no_cgroup(void *arg)
{
	char pattern[128];
	glob_t found;
	int result;

	(void)arg;
	snprintf(pattern, sizeof(pattern), "/sys/fs/cgroup/{,*/,*/*/,*/*/*/}rtrack-%d-*", getpid());
	result = glob(pattern, GLOB_BRACE, NULL, &found);
	globfree(&found);
	return result != 0;
}

START_TEST(outcome_with_auto_reaped_children_and_cgroup_accounting_is_complete)
{
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_CGROUP };
	const char *argv[] = { "sh", "-c", auto_reaped, NULL };
	struct rt_command *command;
	struct rt_outcome outcome;
	int err = start_command(&command, opts, argv);

	if (err == -EOPNOTSUPP) {
		suite_skip_test("this user may make no cgroup");
		return;
	}
	ck_assert_int_eq(err, 0);
	outcome = finish_command(command);

	ck_assert_uint_eq(outcome.complete, 1);
	ck_assert_uint_ge(get_outcome_ns(&outcome), 200 * MS);
	ck_assert_uint_eq(outcome.cpu_high_ns, get_outcome_ns(&outcome));
	rt_command_free(command);
	wait_until(has_no_cgroup, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command");
	TCase *starts = suite_case(suite, "starts"), *waits = suite_case(suite, "waits");
	TCase *figures = suite_case(suite, "figures");

	tcase_add_test(starts, start_of_what_cannot_run_returns_reason_and_leaves_no_child);
	tcase_add_test(starts, start_without_children_but_with_wait_accounting_returns_einval);
	tcase_add_loop_test(starts, accounting_of_each_method_is_known_from_start_to_outcome, 0,
	                    sizeof(methods) / sizeof(methods[0]));
	tcase_add_test(starts, command_with_cwd_and_envp_has_just_those);
	tcase_add_test(waits, command_that_exits_has_exit_code);
	tcase_add_test(waits, command_that_is_killed_has_signal);
	tcase_add_test(waits, wait_with_timeout_returns_etimedout_and_can_be_repeated);
	tcase_add_test(waits, wait_with_signal_handler_returns_eintr);
	tcase_add_test(figures, cpu_time_with_waited_for_children_is_that_of_the_shell);
	tcase_add_test(figures, totals_of_samples_never_fall_and_end_in_the_outcome);
	tcase_add_test(figures, outcome_with_poll_accounting_is_not_complete);
	tcase_add_test(figures, outcome_without_children_excludes_their_cpu_time);
	tcase_add_test(figures, outcome_with_daemon_left_running_reports_it);
	tcase_add_test(figures, killed_daemon_leaves_no_time_in_ticks);
	tcase_add_test(figures, outcome_with_orphans_has_their_cpu_time);
	tcase_add_test(figures, outcome_with_auto_reaped_children_and_wait_accounting_has_bounds);
	tcase_add_test(figures,
	               outcome_with_auto_reaped_children_and_cgroup_accounting_is_complete);
	tcase_add_test(figures, peak_of_program_excludes_the_caller);
	return suite_run(suite);
}
