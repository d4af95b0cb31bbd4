/* SPDX-License-Identifier: MIT */
/* How a program is started: its descriptors, process group and session, and its end with the
 * command. The same at every accounting method. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "tracking.h"

#define TEXT_MAX 512

static const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_AUTO };
static const int method_count = sizeof(methods) / sizeof(methods[0]);

/* Make a pipe with its writing end at this number, close-on-exec. Returns the reading end. */
static int make_pipe(int writer)
{
	int ends[2];

	ck_assert_int_lt(fcntl(writer, F_GETFD), 0); /* no other descriptor of the test */
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(dup3(ends[1], writer, O_CLOEXEC), writer);
	close(ends[1]);
	return ends[0];
}

/* Close the writing end of the test, and read to the end of the pipe. */
static void read_pipe(int reader, int writer, char text[TEXT_MAX])
{
	size_t len = 0;
	ssize_t n;

	ck_assert_int_eq(fcntl(writer, F_GETFD), FD_CLOEXEC);
	close(writer);
	while ((n = read(reader, text + len, TEXT_MAX - 1 - len)) > 0)
		len += (size_t)n;
	ck_assert_int_eq(n, 0);
	text[len] = '\0';
	close(reader);
}

static struct rt_command_opts with_fds(uint32_t method, const struct rt_fd *fds, uint32_t count)
{
	return (struct rt_command_opts){ .accounting = method, .fds = fds, .fd_count = count };
}

START_TEST(descriptors_that_are_exchanged_arrive_exchanged)
{
	const struct rt_fd fds[] = { { 8, 9 }, { 9, 8 } };
	int eight = make_pipe(8), nine = make_pipe(9);
	char text[TEXT_MAX];

	run_shell_with(with_fds(methods[_i], fds, 2), "echo from eight >&8; echo from nine >&9");

	read_pipe(eight, 8, text);
	ck_assert_str_eq(text, "from nine\n");
	read_pipe(nine, 9, text);
	ck_assert_str_eq(text, "from eight\n");
}
END_TEST

/* The numbers of the targets are free in the caller, where copies of the sources are made. */
START_TEST(descriptors_with_numbers_that_are_free_in_the_caller_arrive)
{
	struct rt_fd fds[22] = { { 8, 8 }, { 9, 9 } };
	int eight = make_pipe(8), nine = make_pipe(9);
	struct rt_outcome outcome;
	char text[TEXT_MAX];

	for (int i = 2; i < 22; i++)
		fds[i] = (struct rt_fd){ 8 + i, i % 2 ? 9 : 8 };

	outcome = run_shell_with(with_fds(methods[_i], fds, 22),
	                         "for i in 10 12 14 16 18 20 22 24 26 28; do"
	                         " test /proc/$$/fd/$i -ef /proc/$$/fd/8 || exit 1;"
	                         " test /proc/$$/fd/$((i + 1)) -ef /proc/$$/fd/9 || exit 2;"
	                         " done; echo eight >&8");

	ck_assert_int_eq(outcome.exit_code, 0);
	read_pipe(eight, 8, text);
	ck_assert_str_eq(text, "eight\n");
	read_pipe(nine, 9, text);
}
END_TEST

/* The pipe ends while the supervisor is still there: it keeps no copy. */
START_TEST(output_that_is_captured_ends_with_the_program)
{
	const struct rt_fd fds[] = { { 1, 9 }, { 2, 9 } };
	int reader = make_pipe(9);
	struct rt_command *command;
	char text[TEXT_MAX];

	command = start_shell_with(with_fds(methods[_i], fds, 2), "echo out; echo error >&2");
	read_pipe(reader, 9, text);

	ck_assert_str_eq(text, "out\nerror\n");
	ck_assert_int_eq(finish_command(command).exit_code, 0);
	rt_command_free(command);
}
END_TEST

START_TEST(descriptor_onto_itself_is_open_in_the_program)
{
	const struct rt_fd fds[] = { { 9, 9 } };
	int reader = make_pipe(9);
	char text[TEXT_MAX];

	run_shell_with(with_fds(methods[_i], fds, 1), "echo nine >&9");

	read_pipe(reader, 9, text);
	ck_assert_str_eq(text, "nine\n");
}
END_TEST

START_TEST(descriptors_can_be_closed_and_be_dev_null)
{
	const struct rt_fd fds[] = { { 0, -1 }, { 8, -1 }, { 9, -2 }, { 7, 8 } };
	struct rt_outcome outcome;

	ck_assert_int_eq(dup2(STDERR_FILENO, 8), 8);

	outcome = run_shell_with(with_fds(methods[_i], fds, 4),
	                         "! test -e /proc/$$/fd/0 && ! test -e /proc/$$/fd/8 && "
	                         "test /proc/$$/fd/9 -ef /dev/null && echo x >&9 && "
	                         "test -e /proc/$$/fd/7");

	ck_assert_int_eq(outcome.exit_code, 0);
	close(8);
}
END_TEST

/* The program lists what it has. */
static void list_descriptors(uint32_t method, uint32_t flags, char text[TEXT_MAX])
{
	const struct rt_fd fds[] = { { 1, 9 }, { 6, 9 } };
	struct rt_command_opts opts = with_fds(method, fds, 2);
	int reader = make_pipe(9);

	opts.flags = flags;
	ck_assert_int_eq(run_shell_with(opts, "ls /proc/$$/fd; :").exit_code, 0);
	read_pipe(reader, 9, text);
}

START_TEST(program_with_only_fds_inherits_no_other)
{
	char text[TEXT_MAX];

	ck_assert_int_eq(dup2(STDERR_FILENO, 7), 7);
	ck_assert_int_eq(dup2(STDERR_FILENO, 300), 300);

	list_descriptors(methods[_i], RT_COMMAND_ONLY_FDS, text);
	ck_assert_str_eq(text, "0\n1\n2\n6\n");

	list_descriptors(methods[_i], 0, text);
	ck_assert_ptr_nonnull(strstr(text, "\n300\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n7\n"));
	close(7);
	close(300);
}
END_TEST

static void check_group_and_session(uint32_t flags, bool has_group, bool has_session)
{
	const struct rt_command_opts opts = { .accounting = methods[0], .flags = flags };

	for (int i = 0; i < method_count; i++) {
		struct rt_command_opts method = opts;
		struct rt_command *command;
		int32_t pid;

		method.accounting = methods[i];
		command = start_shell_with(method, "exec sleep 1000");
		pid = rt_command_pid(command);
		ck_assert_int_eq(getpgid(pid), has_group ? pid : getpgrp());
		ck_assert_int_eq(getsid(pid), has_session ? pid : getsid(0));
		ck_assert_int_eq(rt_command_kill(command), 0);
		finish_command(command);
		rt_command_free(command);
	}
}

START_TEST(program_is_in_the_group_and_session_of_the_caller)
{
	check_group_and_session(0, false, false);
}
END_TEST

START_TEST(program_with_new_group_leads_it)
{
	check_group_and_session(RT_COMMAND_NEW_GROUP, true, false);
}
END_TEST

START_TEST(program_with_new_session_leads_it_and_a_group)
{
	check_group_and_session(RT_COMMAND_NEW_SESSION, true, true);
	check_group_and_session(RT_COMMAND_NEW_SESSION | RT_COMMAND_NEW_GROUP, true, true);
}
END_TEST

static int has_ended(void *pid)
{
	char state = thread_state(*(pid_t *)pid, *(pid_t *)pid);

	return state == 0 || state == 'Z' || state == 'X';
}

/* Free a command with these many members that run. None does so afterwards, and no child of the
 * test is left. */
static void check_free_kills(struct rt_command *command, size_t expected)
{
	struct rt_process rows[8];
	size_t count = 8;

	sample(rt_command_tracker(command));
	ck_assert_int_eq(
	    rt_tracker_processes(rt_command_tracker(command), rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_ge(count, expected);

	rt_command_free(command);

	for (size_t i = 0; i < count; i++)
		wait_until(has_ended, &rows[i].pid);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

START_TEST(free_with_kill_on_free_ends_what_runs)
{
	const struct rt_command_opts opts = { .accounting = methods[_i],
		                              .flags = RT_COMMAND_KILL_ON_FREE };

	check_free_kills(start_shell_with(opts, "sleep 1000 & exec sleep 1000"), 1);
}
END_TEST

START_TEST(free_with_kill_on_free_ends_what_was_left_running)
{
	const struct rt_command_opts opts = { .accounting = methods[_i],
		                              .flags = RT_COMMAND_KILL_ON_FREE };
	struct rt_command *command = start_shell_with(opts, "sleep 1000 & sleep 0.1");

	ck_assert_uint_eq(finish_command(command).left_running, 1);
	check_free_kills(command, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command_start");
	TCase *fds = suite_case(suite, "descriptors"), *groups = suite_case(suite, "groups");
	TCase *ends = suite_case(suite, "ends");
	int all = method_count;

	tcase_add_loop_test(fds, descriptors_that_are_exchanged_arrive_exchanged, 0, all);
	tcase_add_loop_test(fds, descriptors_with_numbers_that_are_free_in_the_caller_arrive, 0,
	                    all);
	tcase_add_loop_test(fds, output_that_is_captured_ends_with_the_program, 0, all);
	tcase_add_loop_test(fds, descriptor_onto_itself_is_open_in_the_program, 0, all);
	tcase_add_loop_test(fds, descriptors_can_be_closed_and_be_dev_null, 0, all);
	tcase_add_loop_test(fds, program_with_only_fds_inherits_no_other, 0, all);
	tcase_add_test(groups, program_is_in_the_group_and_session_of_the_caller);
	tcase_add_test(groups, program_with_new_group_leads_it);
	tcase_add_test(groups, program_with_new_session_leads_it_and_a_group);
	tcase_add_loop_test(ends, free_with_kill_on_free_ends_what_runs, 0, all);
	tcase_add_loop_test(ends, free_with_kill_on_free_ends_what_was_left_running, 0, all);
	return suite_run(suite);
}
