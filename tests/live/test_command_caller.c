/* SPDX-License-Identifier: MIT */
/* Commands and their caller: neither disturbs the children and signal handlers of the other. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "tracking.h"

#define MS INT64_C(1000000)

static void do_nothing(int signal)
{
	(void)signal;
}

START_TEST(command_of_caller_with_blocked_signals_has_none_blocked_or_ignored)
{
	struct rt_outcome outcome;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);

	outcome = run_shell("grep -q '^SigBlk:.*0000$' /proc/self/status && ! grep -q "
	                    "'^SigIgn:.*1[0-9a-f][0-9a-f][0-9a-f]$' "
	                    "/proc/self/status");

	ck_assert_int_eq(outcome.exit_code, 0);
}
END_TEST

static void sleep_a_little(void *arg)
{
	(void)arg;
	usleep(20000);
}

START_TEST(child_and_sigchld_handler_of_caller_are_left_alone)
{
	const struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };
	struct rt_command *command;
	struct sigaction now;
	struct child other;

	sigaction(SIGCHLD, &action, NULL);
	child_start(&other, sleep_a_little, NULL);

	command = start_shell("true");
	finish_command(command);

	child_let_die(&other);
	sigaction(SIGCHLD, NULL, &now);
	ck_assert_ptr_eq(now.sa_handler, do_nothing);
	ck_assert_int_eq(child_end(&other), 0);
	rt_command_free(command);
}
END_TEST

START_TEST(wait_after_caller_has_reaped_program_returns_echild_and_figures)
{
	const struct rt_command_opts opts = { .accounting = RT_ACCOUNTING_POLL };
	struct rt_outcome outcome;
	struct rt_command *command;

	command = start_shell_with(
	    opts, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exec sleep 0.1");
	ck_assert_int_eq(waitpid(rt_command_pid(command), NULL, 0), rt_command_pid(command));

	ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome)),
	                 -ECHILD);
	ck_assert_int_eq(rt_command_wait(command, 0, &outcome, sizeof(outcome)), -ECHILD);

	ck_assert_int_eq(outcome.exit_code, -1);
	ck_assert_uint_ne(outcome.reasons & RT_REASON_UNWAITED, 0);
	rt_command_free(command);
}
END_TEST

START_TEST(command_of_caller_that_reaps_all_children_has_exit_code)
{
	struct rt_command *command = start_shell("exit 7");

	while (waitpid(-1, NULL, WNOHANG) == 0 && wait_for(command, MS) == -ETIMEDOUT)
		;

	ck_assert_int_eq(finish_command(command).exit_code, 7);
	rt_command_free(command);
}
END_TEST

START_TEST(command_of_caller_that_ignores_sigchld_has_exit_code)
{
	signal(SIGCHLD, SIG_IGN);

	ck_assert_int_eq(run_shell("sh -c true; exit 8").exit_code, 8);
}
END_TEST

/* The program is adopted by another process, which may not reap it in time. Then how it ended is
 * lost; but it is never wrong. */
START_TEST(wait_after_supervisor_was_killed_returns_when_program_ends)
{
	struct rt_command *command = start_shell("exec sleep 1000");
	struct rt_outcome outcome;
	int err;

	kill_process(get_supervisor_pid(command), SIGKILL);

	ck_assert_int_eq(wait_for(command, 50 * MS), -ETIMEDOUT);
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), 0);
	err = rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome));
	ck_assert(err == 0 || err == -ECHILD);
	ck_assert_uint_eq(outcome.complete, 0);
	ck_assert_uint_eq(outcome.valid & (RT_HAS_CPU | RT_HAS_IO), 0);
	ck_assert_int_eq(outcome.exit_code, -1);
	ck_assert_int_eq(outcome.signal, err == 0 ? SIGTERM : 0);
	rt_command_free(command);
}
END_TEST

/* A caller that is a subreaper adopts the program itself, so it knows how it ended. */
START_TEST(exit_code_after_supervisor_was_killed_is_known_to_a_subreaper)
{
	struct rt_command *command;
	struct rt_outcome outcome;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	command = start_shell("sleep 0.1; exit 7");
	kill_process(get_supervisor_pid(command), SIGKILL);

	ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome)), 0);
	ck_assert_int_eq(outcome.exit_code, 7);
	ck_assert_uint_eq(outcome.complete, 0);
	rt_command_free(command);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}
END_TEST

static int has_exited(void *pid)
{
	return kill(*(const int32_t *)pid, 0) < 0;
}

static int32_t get_last_pid(struct rt_command *command)
{
	struct rt_process rows[8];
	size_t count = 8;

	ck_assert_int_eq(
	    rt_tracker_processes(rt_command_tracker(command), rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_ge(count, 1);
	return rows[count - 1].pid;
}

START_TEST(supervisor_after_free_with_process_left_running_exits)
{
	struct rt_command *command = start_shell("sleep 1000 & sleep 0.1");
	int32_t supervisor = get_supervisor_pid(command), left;

	ck_assert_uint_eq(finish_command(command).left_running, 1);
	left = get_last_pid(command);

	rt_command_free(command);

	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* the supervisor is no zombie */
	wait_until(has_exited, &supervisor);
	ck_assert_int_eq(kill_process(left, SIGKILL), 0);
}
END_TEST

/* What a link in /proc of a process leads to. */
static void read_proc_link(int32_t pid, const char *name, char text[256])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	n = readlink(path, text, 255);
	text[n > 0 ? n : 0] = '\0';
}

static int has_left_directory(void *pid)
{
	char text[256];

	read_proc_link(*(const int32_t *)pid, "cwd", text);
	return strcmp(text, "/") == 0;
}

/* Whether a process has an open descriptor of a file. */
static bool has_open(int32_t pid, const char *file)
{
	char name[32], text[256];

	for (int fd = 0; fd < 1024; fd++) {
		snprintf(name, sizeof(name), "fd/%d", fd);
		read_proc_link(pid, name, text);
		if (strcmp(text, file) == 0)
			return true;
	}
	return false;
}

/* It would keep the end of a pipe from coming, and a file system from being unmounted. It leaves
 * the directory after the descriptors. */
START_TEST(supervisor_keeps_neither_descriptors_nor_directory_of_the_host)
{
	char name[32], file[256];
	struct rt_command *command;
	int pipe_fds[2], high;
	int32_t supervisor;

	ck_assert_int_eq(chdir("/proc"), 0);
	ck_assert_int_eq(pipe(pipe_fds), 0);
	high = fcntl(pipe_fds[1], F_DUPFD, 100);
	snprintf(name, sizeof(name), "fd/%d", high);
	read_proc_link(getpid(), name, file);
	command = start_shell("exec sleep 1000");
	supervisor = get_supervisor_pid(command);
	ck_assert(has_open(rt_command_pid(command), file)); /* it is inherited */

	wait_until(has_left_directory, &supervisor);
	ck_assert(!has_open(supervisor, file));

	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);
	finish_command(command);
	rt_command_free(command);
	close(high);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}
END_TEST

static const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_AUTO };

/* The parent's wait has a bound: without its report it would have no end. */
static struct rt_outcome finish_soon(struct rt_command *command)
{
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_wait(command, 100000 * MS, &outcome, sizeof(outcome)), 0);
	return outcome;
}

static int count_open(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Have a forked child free its copy, as an exit hook does. It keeps as many descriptors as were
 * open before the start. */
static void free_in_child(struct rt_command *command, int open_before)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		rt_command_free(command);
		_exit(count_open() != open_before);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

START_TEST(command_freed_by_forked_child_runs_on_in_parent)
{
	int gate[2];
	struct rt_fd fds[] = { { .target = 0 } };
	const struct rt_command_opts opts = { .accounting = methods[_i],
		                              .flags = RT_COMMAND_KILL_ON_FREE,
		                              .fds = fds,
		                              .fd_count = 1 };
	struct rt_command *command;
	struct rt_outcome outcome;
	int open_before;

	ck_assert_int_eq(pipe2(gate, O_CLOEXEC), 0);
	fds[0].source = gate[0];
	open_before = count_open();
	command = start_shell_with(opts, "read line; exit 4");

	free_in_child(command, open_before);
	close(gate[1]);

	outcome = finish_soon(command);
	ck_assert_int_eq(outcome.signal, 0);
	ck_assert_int_eq(outcome.exit_code, 4);
	rt_command_free(command);
	close(gate[0]);
}
END_TEST

static int has_ended(void *pid)
{
	char state = thread_state(*(const int32_t *)pid, *(const int32_t *)pid);

	return state == 0 || state == 'Z';
}

START_TEST(report_of_ended_command_is_left_to_parent_by_forked_child)
{
	const struct rt_command_opts opts = { .accounting = methods[_i],
		                              .flags = RT_COMMAND_KILL_ON_FREE };
	int open_before = count_open();
	struct rt_command *command = start_shell_with(opts, "exit 5");
	int32_t pid = rt_command_pid(command);
	struct rt_outcome outcome;

	wait_until(has_ended, &pid);

	free_in_child(command, open_before);

	outcome = finish_soon(command);
	ck_assert_int_eq(outcome.exit_code, 5);
	ck_assert_uint_eq(outcome.reasons & RT_REASON_UNWAITED, 0);
	rt_command_free(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command_caller");
	TCase *caller = suite_case(suite, "caller"), *supervisor = suite_case(suite, "supervisor"),
	      *fork = suite_case(suite, "fork");
	const int last = sizeof(methods) / sizeof(methods[0]);

	tcase_add_test(caller, command_of_caller_with_blocked_signals_has_none_blocked_or_ignored);
	tcase_add_test(caller, child_and_sigchld_handler_of_caller_are_left_alone);
	tcase_add_test(caller, wait_after_caller_has_reaped_program_returns_echild_and_figures);
	tcase_add_test(caller, command_of_caller_that_reaps_all_children_has_exit_code);
	tcase_add_test(caller, command_of_caller_that_ignores_sigchld_has_exit_code);
	tcase_add_test(supervisor, wait_after_supervisor_was_killed_returns_when_program_ends);
	tcase_add_test(supervisor, exit_code_after_supervisor_was_killed_is_known_to_a_subreaper);
	tcase_add_test(supervisor, supervisor_after_free_with_process_left_running_exits);
	tcase_add_test(supervisor, supervisor_keeps_neither_descriptors_nor_directory_of_the_host);
	tcase_add_loop_test(fork, command_freed_by_forked_child_runs_on_in_parent, 0, last);
	tcase_add_loop_test(fork, report_of_ended_command_is_left_to_parent_by_forked_child, 0,
	                    last);
	return suite_run(suite);
}
