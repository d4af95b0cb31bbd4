/* SPDX-License-Identifier: MIT */
/* A command that forks while it is killed, by rti_pidfd_signal(), which is wrapped here. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "os/pidfd.h"
#include "suite.h"

/* For each line that it reads, it starts a process and writes the pid. */
#define PROGRAM "while read line; do sleep 1000 >&2 & echo $!; done"

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

static int has_ended(void *unused)
{
	(void)unused;
	return kill(forked, 0) < 0 && errno == ESRCH;
}

static struct rt_command *start_program(int input[2], int output[2])
{
	static const char *const argv[] = { "sh", "-c", PROGRAM, NULL };
	const struct rt_fd fds[] = { { .target = STDIN_FILENO, .source = input[0] },
		                     { .target = STDOUT_FILENO, .source = output[1] } };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .accounting = RT_ACCOUNTING_WAIT,
		                              .argv = argv,
		                              .fds = fds,
		                              .fd_count = 2 };
	struct rt_command *command;

	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	return command;
}

START_TEST(process_that_is_forked_while_the_command_is_killed_is_killed)
{
	struct rt_command *command;
	struct rt_outcome outcome;
	int input[2], output[2];

	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
	to_program = input[1];
	from_program = output[0];
	command = start_program(input, output);
	program = rt_command_pid(command);

	ck_assert_int_eq(rt_command_kill(command), 0);
	ck_assert_int_gt(forked, 1);
	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	if (outcome.left_running)
		kill_process(forked, SIGKILL);
	ck_assert_uint_eq(outcome.left_running, 0);
	wait_until(has_ended, NULL);
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
END_TEST

int main(void)
{
	Suite *suite = suite_create("kill_rounds");
	TCase *tcase = suite_case(suite, "kill_rounds");

	tcase_add_test(tcase, process_that_is_forked_while_the_command_is_killed_is_killed);
	return suite_run(suite);
}
