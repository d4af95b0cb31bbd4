/* SPDX-License-Identifier: MIT */
/* Commands: how they start and end, what they used, and that the host's own children are left
 * alone. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"

#define MS INT64_C(1000000)
#define FOR_EVER (-1)

static struct rt_command *command;
static struct rt_outcome outcome;

static int start_with(struct rt_command_opts opts, const char *const argv[])
{
	opts.size = sizeof(opts);
	opts.argv = argv;
	return rt_command_start(&command, &opts);
}

static int start_shell(const char *script)
{
	const char *argv[] = { "sh", "-c", script, NULL };

	return start_with((struct rt_command_opts){ 0 }, argv);
}

static int await(int64_t timeout_ns)
{
	return rt_command_wait(command, timeout_ns, &outcome, sizeof(outcome));
}

static void run_shell_at(uint32_t rung, const char *script)
{
	const char *argv[] = { "sh", "-c", script, NULL };

	ck_assert_int_eq(start_with((struct rt_command_opts){ .accounting = rung }, argv), 0);
	ck_assert_int_eq(await(FOR_EVER), 0);
	ck_assert_uint_eq(outcome.accounting, rung);
}

static void run_shell(const char *script)
{
	ck_assert_int_eq(start_shell(script), 0);
	ck_assert_int_eq(await(FOR_EVER), 0);
}

static uint64_t cpu_ns(void)
{
	return outcome.cpu_user_ns + outcome.cpu_system_ns;
}

START_TEST(exit_codes_and_signals_are_told_apart)
{
	run_shell("exit 3");
	ck_assert_int_eq(outcome.exit_code, 3);
	ck_assert_int_eq(outcome.signal, 0);
	rt_command_free(command);
	run_shell("kill -KILL $$");
	ck_assert_int_eq(outcome.exit_code, -1);
	ck_assert_int_eq(outcome.signal, SIGKILL);
	rt_command_free(command);
}
END_TEST

START_TEST(what_cannot_start_says_why)
{
	const char *missing[] = { "/nonexistent/program", NULL }, *directory[] = { "/", NULL },
		   *empty[] = { NULL };
	const char *nowhere[] = { "no-such-program-anywhere", NULL };
	struct rt_command_opts opts = { 0 };

	ck_assert_int_eq(start_with(opts, missing), -ENOENT);
	ck_assert_ptr_null(command);
	ck_assert_int_eq(start_with(opts, nowhere), -ENOENT);
	ck_assert_int_eq(start_with(opts, directory), -EACCES);
	ck_assert_int_eq(start_with(opts, empty), -EINVAL);
	ck_assert_int_eq(start_with(opts, NULL), -EFAULT);
	opts.cwd = "/nonexistent";
	ck_assert_int_eq(start_with(opts, (const char *[]){ "true", NULL }), -ENOENT);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* nothing was left behind */
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

START_TEST(its_environment_is_right)
{
	const char *argv[] = { "sh", "-c",
		               "test \"$(pwd)\" = / && test \"$A\" = b && test -z \"$HOME\"",
		               NULL };
	const char *envp[] = { "A=b", "PATH=/usr/bin:/bin", NULL };
	struct rt_command_opts opts = { .cwd = "/", .envp = envp };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(start_with(opts, argv), 0);
	ck_assert_int_eq(await(FOR_EVER), 0);
	ck_assert_int_eq(outcome.exit_code, 0);
	rt_command_free(command);
	run_shell("grep -q '^SigBlk:.*0000$' /proc/self/status && ! grep -q "
	          "'^SigIgn:.*1[0-9a-f][0-9a-f][0-9a-f]$' "
	          "/proc/self/status");
	ck_assert_int_eq(outcome.exit_code, 0);
	rt_command_free(command);
}
END_TEST

START_TEST(waiting_times_out_and_can_be_repeated)
{
	struct rt_outcome again;

	ck_assert_int_eq(start_shell("exec sleep 1000"), 0);
	ck_assert_int_eq(await(0), -ETIMEDOUT);
	ck_assert_int_eq(await(20 * MS), -ETIMEDOUT);
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), 0);
	ck_assert_int_eq(await(FOR_EVER), 0);
	ck_assert_int_eq(outcome.signal, SIGTERM);
	ck_assert_int_eq(rt_command_wait(command, 0, &again, sizeof(again)), 0);
	ck_assert_mem_eq(&again, &outcome, sizeof(again));
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), -ESRCH);
	ck_assert_uint_ge(outcome.wall_ns, 20 * MS);
	rt_command_free(command);
}
END_TEST

static void do_nothing(int signal)
{
	(void)signal;
}

START_TEST(a_signal_handler_interrupts_the_wait)
{
	struct sigaction action = { .sa_handler = do_nothing };
	timer_t timer;
	/* Again and again: the first may come before anything waits. */
	const struct itimerspec often = { .it_value = { 0, 30 * MS },
		                          .it_interval = { 0, 30 * MS } };

	sigaction(SIGALRM, &action, NULL);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
	ck_assert_int_eq(start_shell("exec sleep 1000"), 0);
	timer_settime(timer, 0, &often, NULL);
	ck_assert_int_eq(await(FOR_EVER), -EINTR);
	timer_delete(timer);
	rt_command_signal(command, SIGKILL);
	ck_assert_int_eq(await(FOR_EVER), 0);
	rt_command_free(command);
}
END_TEST

/* What a program says itself of its children, the shell's `times`, is the truth. */
START_TEST(cpu_time_is_what_the_kernel_says)
{
	char path[512], script[1024];
	int minutes[4];
	double seconds[4], truth = 0;
	FILE *file;

	ck_assert_ptr_nonnull(getenv("RTRACK_BUILD_ROOT"));
	snprintf(path, sizeof(path), "%s/rtrack-times-%d", getenv("RTRACK_BUILD_ROOT"), getpid());
	snprintf(script, sizeof(script),
	         "for i in 1 2 3 4 5 6 7 8; do (i=0; while [ $i -lt 100000 ]; do i=$((i+1)); "
	         "done); done; times >%s",
	         path);
	run_shell_at(RT_ACCOUNTING_WAIT, script);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(fscanf(file, "%dm%lfs", &minutes[i], &seconds[i]), 2);
		truth += minutes[i] * 60 + seconds[i];
	}
	fclose(file);
	unlink(path);
	/* It prints whole ticks, some shells less, and goes on for a moment. */
	ck_assert_double_le(truth - 0.04, (double)cpu_ns() / 1e9);
	ck_assert_double_ge(truth + 0.05, (double)cpu_ns() / 1e9);
	ck_assert_uint_ne(outcome.valid & RT_HAS_CTXSW, 0);
	ck_assert_uint_eq(outcome.cpu_low_ns, cpu_ns());
	rt_command_free(command);
}
END_TEST

START_TEST(samples_lead_up_to_the_outcome)
{
	struct rt_metrics m, last = { 0 };

	ck_assert_int_eq(
	    start_shell(
		"for i in 1 2 3 4 5; do sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'; "
		"done"),
	    0);
	while (await(5 * MS) == -ETIMEDOUT) {
		int err = rt_sample(rt_command_tracker(command), &m, sizeof(m));

		ck_assert(err == 0 || err == -ESRCH); /* it may have ended since */
		ck_assert_uint_ge(m.cpu_user_ns, last.cpu_user_ns);
		ck_assert_uint_ge(m.cpu_system_ns, last.cpu_system_ns);
		last = m;
	}
	ck_assert_int_eq(rt_sample(rt_command_tracker(command), &m, sizeof(m)), -ESRCH);
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

START_TEST(polling_does_without_the_kernel_s_account)
{
	const char *argv[] = { "sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done",
		               NULL };

	ck_assert_int_eq(
	    start_with((struct rt_command_opts){ .accounting = RT_ACCOUNTING_POLL }, argv), 0);
	ck_assert_int_eq(await(FOR_EVER), 0);
	ck_assert_uint_eq(outcome.accounting, RT_ACCOUNTING_POLL);
	ck_assert_uint_gt(cpu_ns(), 0);
	ck_assert_uint_eq(outcome.complete, 0);
	ck_assert_uint_ne(outcome.reasons, 0);
	rt_command_free(command);
}
END_TEST

START_TEST(alone_means_without_what_it_started)
{
	const struct rt_opts alone = { .size = sizeof(alone), .flags = RT_OPT_NO_CHILDREN };
	const char *argv[] = { "sh", "-c",
		               "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); true", NULL };

	ck_assert_int_eq(start_with((struct rt_command_opts){ .tracker = &alone }, argv), 0);
	ck_assert_int_eq(await(FOR_EVER), 0);
	ck_assert_uint_eq(outcome.accounting, RT_ACCOUNTING_POLL);
	ck_assert_uint_gt(cpu_ns(), 0);
	ck_assert_uint_lt(cpu_ns(), 30000000); /* the child alone used some 150 */
	ck_assert_int_gt(outcome.rusage.ru_minflt, 0);
	ck_assert_uint_eq(outcome.reasons & ~(uint32_t)RT_REASON_UNVERIFIED, 0);
	rt_command_free(command);
	ck_assert_int_eq(start_with((struct rt_command_opts){ .tracker = &alone,
	                                                      .accounting = RT_ACCOUNTING_WAIT },
	                            argv),
	                 -EINVAL);
}
END_TEST

START_TEST(a_daemon_left_running_is_told)
{
	const char *script = "sleep 1000 & echo $! > \"$PIDFILE\"";
	char path[512];
	FILE *file;
	int pid;

	ck_assert_ptr_nonnull(getenv("RTRACK_BUILD_ROOT"));
	snprintf(path, sizeof(path), "%s/rtrack-daemon-%d", getenv("RTRACK_BUILD_ROOT"), getpid());
	setenv("PIDFILE", path, 1);
	run_shell(script);
	ck_assert_uint_eq(outcome.left_running, 1);
	ck_assert_uint_ne(outcome.reasons & RT_REASON_LEFT_RUNNING, 0);
	ck_assert_uint_eq(outcome.complete, 0);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%d", &pid), 1);
	fclose(file);
	unlink(path);
	kill(pid, SIGKILL);
	rt_command_free(command);
}
END_TEST

static volatile sig_atomic_t sigchlds;

static void count_sigchld(int signal)
{
	(void)signal;
	sigchlds++;
}

static void sleep_a_little(void *arg)
{
	(void)arg;
	usleep(20000);
}

START_TEST(the_host_s_own_children_are_its_own)
{
	struct sigaction action = { .sa_handler = count_sigchld, .sa_flags = SA_RESTART }, now;
	struct child other;

	sigaction(SIGCHLD, &action, NULL);
	child_start(&other, sleep_a_little, NULL);
	run_shell("true");
	child_let_die(&other);
	sigaction(SIGCHLD, NULL, &now);
	ck_assert_ptr_eq(now.sa_handler, count_sigchld);
	ck_assert_int_eq(child_end(&other), 0);
	rt_command_free(command);
}
END_TEST

START_TEST(a_stolen_exit_status_is_an_error_and_the_figures_stay)
{
	const char *argv[] = { "sh", "-c",
		               "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exec sleep 0.1",
		               NULL };

	ck_assert_int_eq(
	    start_with((struct rt_command_opts){ .accounting = RT_ACCOUNTING_POLL }, argv), 0);
	ck_assert_int_eq(waitpid(rt_command_pid(command), NULL, 0), rt_command_pid(command));
	ck_assert_int_eq(await(FOR_EVER), -ECHILD);
	ck_assert_int_eq(await(0), -ECHILD);
	ck_assert_int_eq(outcome.exit_code, -1);
	ck_assert_uint_ne(outcome.reasons & RT_REASON_UNWAITED, 0);
	rt_command_free(command);
}
END_TEST

START_TEST(a_host_that_reaps_everything_takes_nothing_away)
{
	ck_assert_int_eq(start_shell("exit 7"), 0);
	while (waitpid(-1, NULL, WNOHANG) == 0 && await(MS) == -ETIMEDOUT)
		;
	ck_assert_int_eq(await(FOR_EVER), 0);
	ck_assert_int_eq(outcome.exit_code, 7);
	rt_command_free(command);
	signal(SIGCHLD, SIG_IGN);
	run_shell("sh -c true; exit 8");
	ck_assert_int_eq(outcome.exit_code, 8);
	rt_command_free(command);
}
END_TEST

static int32_t supervisor_pid(void)
{
	struct rt_process row;
	struct rt_metrics m;
	size_t count = 1;

	ck_assert_int_eq(rt_sample(rt_command_tracker(command), &m, sizeof(m)), 0);
	ck_assert_int_eq(
	    rt_tracker_processes(rt_command_tracker(command), &row, sizeof(row), &count), 0);
	ck_assert_int_eq(row.pid, rt_command_pid(command));
	return row.ppid;
}

START_TEST(a_supervisor_that_is_killed_is_told_and_the_program_runs_on)
{
	ck_assert_int_eq(start_shell("exec sleep 1000"), 0);
	kill(supervisor_pid(), SIGKILL);
	ck_assert_int_eq(await(50 * MS), -ETIMEDOUT);
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), 0);
	ck_assert_int_eq(await(FOR_EVER), -ECHILD);
	ck_assert_uint_eq(outcome.complete, 0);
	ck_assert_int_eq(outcome.exit_code, -1);
	rt_command_free(command);
}
END_TEST

START_TEST(orphans_are_adopted_and_counted)
{
	/* Each burns CPU time after its parent has exited. The shell ends when all have been
	 * reaped. */
	run_shell_at(
	    RT_ACCOUNTING_WAIT,
	    "pids=$(for i in 1 2 3 4; do"
	    " ( (i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done) >/dev/null & echo $!); done);"
	    " for pid in $pids; do while kill -0 $pid 2>/dev/null; do sleep 0.01; done; done");
	ck_assert_uint_gt(cpu_ns(), 20 * MS);
	ck_assert_uint_eq(outcome.reasons & ~(uint32_t)RT_REASON_UNVERIFIED, 0);
	ck_assert_uint_eq(outcome.left_running, 0);
	rt_command_free(command);
}
END_TEST

/* Four children of 50 ms each that the kernel reaps itself: their account goes to nobody. */
static const char auto_reaped[] = "exec python3 -c 'import os, signal, time\n"
				  "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
				  "for i in range(4):\n"
				  "    if os.fork() == 0:\n"
				  "        while time.process_time() < 0.05: pass\n"
				  "        os._exit(0)\n"
				  "try:\n"
				  "    os.wait()\n"
				  "except ChildProcessError: pass'";

START_TEST(without_a_cgroup_lost_accounts_are_told)
{
	run_shell_at(RT_ACCOUNTING_WAIT, auto_reaped);
	ck_assert_uint_eq(outcome.complete, 0);
	ck_assert_uint_ne(outcome.reasons & RT_REASON_SIGCHLD_IGNORED, 0);
	ck_assert_uint_lt(cpu_ns(), outcome.cpu_high_ns);
	ck_assert_uint_ge(outcome.cpu_high_ns, 200 * MS); /* the truth is in the bracket */
	ck_assert_uint_eq(outcome.valid & RT_HAS_IO, 0);
	rt_command_free(command);
}
END_TEST

static int has_leaf(void)
{
	char pattern[128];
	glob_t found;
	int result;

	snprintf(pattern, sizeof(pattern), "/sys/fs/cgroup/{,*/,*/*/,*/*/*/}rtrack-%d-*", getpid());
	result = glob(pattern, GLOB_BRACE, NULL, &found);
	globfree(&found);
	return result == 0;
}

static int has_no_leaf(void *arg)
{
	(void)arg;
	return !has_leaf();
}

START_TEST(a_cgroup_knows_what_nobody_waited_for)
{
	const char *argv[] = { "sh", "-c", auto_reaped, NULL };
	int err = start_with((struct rt_command_opts){ .accounting = RT_ACCOUNTING_CGROUP }, argv);

	if (err == -EOPNOTSUPP)
		/* no cgroup that we may use: the case before this one is what there is then */
		return;
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(await(FOR_EVER), 0);
	ck_assert_uint_eq(outcome.complete, 1);
	ck_assert_uint_ge(cpu_ns(), 200 * MS);
	ck_assert_uint_eq(outcome.cpu_high_ns, cpu_ns());
	rt_command_free(command);
	wait_until(has_no_leaf, NULL);
}
END_TEST

static int is_gone(void *arg)
{
	return kill(*(const int32_t *)arg, 0) < 0;
}

static int32_t last_listed_pid(void)
{
	struct rt_process rows[8];
	size_t count = 8;

	ck_assert_int_eq(
	    rt_tracker_processes(rt_command_tracker(command), rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_ge(count, 1);
	return rows[count - 1].pid;
}

START_TEST(the_supervisor_goes_with_the_command_whoever_runs_on)
{
	int32_t supervisor, left;

	ck_assert_int_eq(start_shell("sleep 1000 & sleep 0.1"), 0);
	supervisor = supervisor_pid();
	ck_assert_int_eq(await(FOR_EVER), 0);
	ck_assert_uint_eq(outcome.left_running, 1);
	left = last_listed_pid();
	rt_command_free(command);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no zombie of it is left */
	wait_until(is_gone, &supervisor);
	ck_assert_int_eq(kill(left, SIGKILL), 0);
}
END_TEST

START_TEST(the_peak_is_the_program_s_and_not_ours)
{
	run_shell("exec python3 -c 'x = bytearray(64 << 20)'");
	ck_assert_uint_eq(outcome.valid & RT_HAS_PEAK_RSS, RT_HAS_PEAK_RSS);
	ck_assert_uint_gt(outcome.peak_rss_bytes, 64 << 20);
	ck_assert_uint_lt(outcome.peak_rss_bytes, 90 << 20);
	rt_command_free(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command");
	TCase *life = suite_case(suite, "life"), *figures = suite_case(suite, "figures"),
	      *host = suite_case(suite, "host");

	tcase_add_test(life, exit_codes_and_signals_are_told_apart);
	tcase_add_test(life, what_cannot_start_says_why);
	tcase_add_test(life, its_environment_is_right);
	tcase_add_test(life, waiting_times_out_and_can_be_repeated);
	tcase_add_test(life, a_signal_handler_interrupts_the_wait);
	tcase_add_test(figures, cpu_time_is_what_the_kernel_says);
	tcase_add_test(figures, samples_lead_up_to_the_outcome);
	tcase_add_test(figures, polling_does_without_the_kernel_s_account);
	tcase_add_test(figures, alone_means_without_what_it_started);
	tcase_add_test(figures, a_daemon_left_running_is_told);
	tcase_add_test(figures, the_peak_is_the_program_s_and_not_ours);
	tcase_add_test(host, the_host_s_own_children_are_its_own);
	tcase_add_test(host, a_stolen_exit_status_is_an_error_and_the_figures_stay);
	tcase_add_test(host, a_host_that_reaps_everything_takes_nothing_away);
	tcase_add_test(host, a_supervisor_that_is_killed_is_told_and_the_program_runs_on);
	tcase_add_test(host, the_supervisor_goes_with_the_command_whoever_runs_on);
	tcase_add_test(figures, orphans_are_adopted_and_counted);
	tcase_add_test(figures, without_a_cgroup_lost_accounts_are_told);
	tcase_add_test(figures, a_cgroup_knows_what_nobody_waited_for);
	return suite_run(suite);
}
