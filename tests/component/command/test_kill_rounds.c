/* SPDX-License-Identifier: MIT */
/* A command that forks while it is killed, by rti_pidfd_signal(), which is wrapped here. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "os/process/pidfd.h"
#include "suite.h"

/* For each line that it reads, it starts a process and writes the pid. */
#define PROGRAM "while read line; do sleep 1000 >&2 & echo $!; done"

#define NAPS 5000 /* of 1 ms */

static int to_program, from_program;
static int32_t program, forked;

int __real_rti_pidfd_signal(int fd, int32_t pid, int signal);
int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal);

/* The program forks when it is about to be killed. */
int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal)
{
	char text[32] = "";

	if (signal == SIGKILL && pid == program && !forked) {
		ck_assert_int_eq(write(to_program, "\n", 1), 1);
		ck_assert_int_gt(read(from_program, text, sizeof(text) - 1), 1);
		forked = atoi(text);
	}
	return __real_rti_pidfd_signal(fd, pid, signal);
}

/* Whether it ends by itself, and not by this test. It may be a zombie for a while. */
static bool has_been_killed(int32_t pid)
{
	for (int i = 0; i < NAPS && kill(pid, 0) == 0 && thread_state(pid, pid) != 'Z'; i++)
		usleep(1000);
	if (kill(pid, 0) < 0 || thread_state(pid, pid) == 'Z')
		return true;
	kill_process(pid, SIGKILL);
	return false;
}

static struct rt_command *start_program(int input, int output, uint32_t flags)
{
	static const char *const argv[] = { "sh", "-c", PROGRAM, NULL };
	const struct rt_command_opts opts = {
		.size = sizeof(opts), .accounting = RT_ACCOUNTING_WAIT, .argv = argv, .flags = flags
	};
	struct rt_command *command;
	int before[2] = { dup(STDIN_FILENO), dup(STDOUT_FILENO) };

	/* An own supervisor maps no descriptors. */
	ck_assert_int_eq(dup2(input, STDIN_FILENO), STDIN_FILENO);
	ck_assert_int_eq(dup2(output, STDOUT_FILENO), STDOUT_FILENO);
	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	for (int fd = 0; fd < 2; fd++) {
		ck_assert_int_eq(dup2(before[fd], fd), fd);
		close(before[fd]);
	}
	return command;
}

static void check_kill(uint32_t flags)
{
	struct rt_command *command;
	struct rt_outcome outcome;
	int input[2], output[2];

	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
	to_program = input[1];
	from_program = output[0];
	command = start_program(input[0], output[1], flags);
	program = rt_command_pid(command);
	forked = 0;

	ck_assert_int_eq(rt_command_kill(command), 0);
	ck_assert_int_gt(forked, 1);
	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	ck_assert(has_been_killed(forked));
	/* The supervisor is not killed, so it reports. */
	ck_assert_int_eq(outcome.signal, SIGKILL);
	ck_assert_uint_eq(outcome.reasons & RT_REASON_UNWAITED, 0);
	ck_assert_uint_ne(outcome.valid & RT_HAS_CPU, 0);

	rt_command_free(command);
	for (int i = 0; i < 2; i++) {
		close(input[i]);
		close(output[i]);
	}
}

START_TEST(process_that_is_forked_while_the_command_is_killed_is_killed)
{
	check_kill(0);
}
END_TEST

START_TEST(process_that_is_forked_while_the_caller_kills_its_own_command_is_killed)
{
	check_kill(RT_COMMAND_SUBREAPER_SELF);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kill_rounds");
	TCase *tcase = suite_case(suite, "kill_rounds");

	tcase_add_test(tcase, process_that_is_forked_while_the_command_is_killed_is_killed);
	tcase_add_test(tcase,
	               process_that_is_forked_while_the_caller_kills_its_own_command_is_killed);
	return suite_run(suite);
}
