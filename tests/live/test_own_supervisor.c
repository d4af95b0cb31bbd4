/* SPDX-License-Identifier: MIT */
/* A caller that is its own supervisor (RT_COMMAND_SUBREAPER_SELF): when it is, and what it leaves
 * behind. The other suites of commands run with such a caller, too. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "tracking.h"
#include "workload.h"

#define FDS_MAX 64
#define THREAD_FILTERS 2 /* of the sockets of process events */

static const uint32_t methods[] = { RT_ACCOUNTING_WAIT, RT_ACCOUNTING_AUTO };

static struct rt_command *start_self(uint32_t accounting, const char *script)
{
	const struct rt_command_opts opts = { .flags = RT_COMMAND_SUBREAPER_SELF,
		                              .accounting = accounting };

	return start_shell_with(opts, script);
}

/* Start a script that stops itself until is_own() has looked at it. */
static struct rt_command *start_held(uint32_t accounting, const char *script)
{
	char held[256];

	snprintf(held, sizeof(held), "kill -STOP $$; %s", script);
	return start_self(accounting, held);
}

static int has_stopped(void *command)
{
	int32_t pid = rt_command_pid(command);

	return thread_state(pid, pid) == 'T';
}

static bool is_own(struct rt_command *command)
{
	bool is_own;

	wait_until(has_stopped, command);
	is_own = get_supervisor_pid(command) == getpid();
	ck_assert_int_eq(kill_process(rt_command_pid(command), SIGCONT), 0);
	return is_own;
}

static int is_subreaper(void)
{
	int value = -1;

	ck_assert_int_eq(prctl(PR_GET_CHILD_SUBREAPER, &value), 0);
	return value;
}

static void assert_no_children(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

START_TEST(program_is_child_of_caller_which_is_subreaper_meanwhile)
{
	struct rt_command *command = start_held(methods[_i], "sleep 0.05; exit 3");

	ck_assert(is_own(command));
	ck_assert_int_eq(is_subreaper(), 1);
	ck_assert_int_eq(finish_command(command).exit_code, 3);
	rt_command_free(command);
	ck_assert_int_eq(is_subreaper(), 0);
	assert_no_children();
}
END_TEST

START_TEST(caller_that_was_a_subreaper_stays_one)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	rt_command_free(start_self(RT_ACCOUNTING_WAIT, "exit 0"));
	ck_assert_int_eq(is_subreaper(), 1);
}
END_TEST

/* The shell in the background is orphaned, and ends before the command. */
START_TEST(orphan_is_reaped_and_counted)
{
	struct rt_command *command = start_self(
	    methods[_i],
	    "pid=$(sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done' "
	    ">/dev/null & echo $!); while kill -0 $pid 2>/dev/null; do sleep 0.01; done");
	struct rt_outcome outcome = finish_command(command);

	ck_assert_uint_eq(outcome.left_running, 0);
	ck_assert_uint_eq(outcome.reasons, 0);
	ck_assert_uint_eq(outcome.complete, 1);
	ck_assert_uint_ge(outcome.processes, 3);
	rt_command_free(command);
	assert_no_children();
}
END_TEST

/* What the caller itself reads and uses meanwhile, and has waited for before, is not the tree's. */
START_TEST(figures_of_the_caller_are_not_of_the_tree)
{
	struct rt_outcome outcome;
	struct rt_command *command;
	struct rt_metrics m;
	struct rusage before;
	char buffer[65536];
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	run_shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
	ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &before), 0);
	ck_assert_int_gt(before.ru_utime.tv_usec + before.ru_stime.tv_usec, 20000);
	command = start_held(RT_ACCOUNTING_WAIT, "exit 0");
	ck_assert(is_own(command));
	for (int i = 0; i < 200; i++)
		ck_assert_int_eq(read(zero, buffer, sizeof(buffer)), sizeof(buffer));
	outcome = finish_command(command);
	ck_assert_int_eq(rt_sample(rt_command_tracker(command), &m, sizeof(m)), -ESRCH);
	ck_assert_uint_lt(m.read_chars, 200 * sizeof(buffer));
	ck_assert_uint_ne((outcome.valid | outcome.partial) & RT_HAS_IO, 0);
	ck_assert_uint_lt(outcome.cpu_user_ns + outcome.cpu_system_ns, 20000000);
	rt_command_free(command);
	close(zero);
}
END_TEST

START_TEST(caller_with_a_child_gets_a_supervisor)
{
	pid_t child = fork();
	struct rt_command *command;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		pause();
		_exit(0);
	}
	command = start_held(RT_ACCOUNTING_WAIT, "sleep 0.05");
	ck_assert(!is_own(command));
	ck_assert_int_eq(finish_command(command).exit_code, 0);
	rt_command_free(command);
	ck_assert_int_eq(kill_process(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

START_TEST(caller_that_ignores_sigchld_gets_a_supervisor)
{
	struct rt_command *command;

	signal(SIGCHLD, SIG_IGN);
	command = start_held(RT_ACCOUNTING_WAIT, "sleep 0.05; exit 4");
	ck_assert(!is_own(command));
	ck_assert_int_eq(finish_command(command).exit_code, 4);
	rt_command_free(command);
}
END_TEST

START_TEST(second_command_at_a_time_gets_a_supervisor)
{
	struct rt_command *first = start_held(RT_ACCOUNTING_WAIT, "sleep 0.1; exit 1");
	struct rt_command *second = start_held(RT_ACCOUNTING_WAIT, "sleep 0.05; exit 2");

	ck_assert(is_own(first));
	ck_assert(!is_own(second));
	rt_command_free(second);
	ck_assert_int_eq(finish_command(first).exit_code, 1);
	rt_command_free(first);
}
END_TEST

START_TEST(commands_one_after_the_other_are_both_without_supervisor)
{
	for (int i = 0; i < 3; i++) {
		/* A single process, which we wait for: a busy machine delays the report of an exit,
		 * which proves nothing if another parent was faster. */
		struct rt_command *command = start_held(methods[_i], "exec sleep 0.02");

		ck_assert(is_own(command));
		ck_assert_uint_eq(finish_command(command).reasons, 0);
		rt_command_free(command);
	}
	assert_no_children();
}
END_TEST

START_TEST(program_that_is_missing_leaves_the_caller_as_it_was)
{
	const struct rt_command_opts opts = { .flags = RT_COMMAND_SUBREAPER_SELF,
		                              .accounting = methods[_i] };
	const char *argv[] = { "/nonexistent/program", NULL };
	struct rt_command *command;

	ck_assert_int_eq(start_command(&command, opts, argv), -ENOENT);
	ck_assert_int_eq(is_subreaper(), 0);
	assert_no_children();
	rt_command_free(start_self(methods[_i], "exit 0"));
}
END_TEST

/* The program must not inherit the handlers or the mask of the caller. */
START_TEST(program_has_default_signals)
{
	/* A shell and nohup ignore them, and the program would go on to. */
	const int inherited[] = { SIGINT, SIGQUIT, SIGHUP };
	struct rt_command *command;
	sigset_t set;

	for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++)
		signal(inherited[i], SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	command = start_self(RT_ACCOUNTING_WAIT,
	                     "grep -q '^SigBlk:.*0000000000000000' /proc/self/status && "
	                     "grep -q '^SigIgn:.*0000000000000000' /proc/self/status");
	ck_assert_int_eq(finish_command(command).exit_code, 0);
	rt_command_free(command);
}
END_TEST

START_TEST(program_that_runs_on_is_reaped_after_free)
{
	struct rt_command *command = start_held(RT_ACCOUNTING_WAIT, "sleep 60");
	int32_t pid = rt_command_pid(command);

	ck_assert(is_own(command));
	rt_command_free(command);
	ck_assert_int_eq(kill_process(pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	rt_command_free(start_self(RT_ACCOUNTING_WAIT, "exit 0"));
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* Returns how many sockets of this process drop some of what arrives. */
static int count_filters(void)
{
	int count = 0;

	for (int fd = 0; fd < FDS_MAX; fd++) {
		socklen_t instructions = 0;

		/* Without a buffer it returns the length. */
		if (getsockopt(fd, SOL_SOCKET, SO_GET_FILTER, NULL, &instructions) == 0)
			count += instructions > 0;
	}
	return count;
}

static int has_filters(void *command)
{
	ck_assert_int_eq(wait_for(command, 1000000), -ETIMEDOUT);
	return count_filters() == THREAD_FILTERS;
}

/* To make the filters takes 50 us. */
START_TEST(events_of_threads_are_filtered_if_the_program_runs_on)
{
	struct rt_command *command;

	if (!has_process_events()) {
		suite_skip_test("no process events");
		return;
	}
	command = start_held(methods[_i], "sleep 1000; true");
	ck_assert(is_own(command));
	ck_assert_int_eq(count_filters(), 0);
	wait_until(has_filters, command);
	wait_until(has_two_processes, rt_command_tracker(command));
	ck_assert_int_eq(rt_command_kill(command), 0);
	ck_assert_uint_eq(finish_command(command).processes, 2);
	rt_command_free(command);
	ck_assert_int_eq(count_filters(), 0);
}
END_TEST

START_TEST(caller_shares_no_memory_with_other_processes)
{
	struct rt_command *command = start_held(methods[_i], "sleep 0.05");
	char path[32], target[64];

	ck_assert(is_own(command));
	for (int fd = 0; fd < FDS_MAX; fd++) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		ck_assert_ptr_null(strstr(target, "memfd:rtrack"));
	}
	ck_assert_int_eq(finish_command(command).exit_code, 0);
	rt_command_free(command);
}
END_TEST

int main(void)
{
	const int count = sizeof(methods) / sizeof(methods[0]);
	Suite *suite = suite_create("own_supervisor");
	TCase *tests = suite_case(suite, "own_supervisor");

	tcase_add_loop_test(tests, program_is_child_of_caller_which_is_subreaper_meanwhile, 0,
	                    count);
	tcase_add_test(tests, caller_that_was_a_subreaper_stays_one);
	tcase_add_loop_test(tests, orphan_is_reaped_and_counted, 0, count);
	tcase_add_test(tests, figures_of_the_caller_are_not_of_the_tree);
	tcase_add_test(tests, caller_with_a_child_gets_a_supervisor);
	tcase_add_test(tests, caller_that_ignores_sigchld_gets_a_supervisor);
	tcase_add_test(tests, second_command_at_a_time_gets_a_supervisor);
	tcase_add_loop_test(tests, commands_one_after_the_other_are_both_without_supervisor, 0,
	                    count);
	tcase_add_loop_test(tests, program_that_is_missing_leaves_the_caller_as_it_was, 0, count);
	tcase_add_test(tests, program_has_default_signals);
	tcase_add_test(tests, program_that_runs_on_is_reaped_after_free);
	tcase_add_loop_test(tests, events_of_threads_are_filtered_if_the_program_runs_on, 0, count);
	tcase_add_loop_test(tests, caller_shares_no_memory_with_other_processes, 0, count);
	return suite_run(suite);
}
