/* SPDX-License-Identifier: MIT */
/* A command that outlives its kill: no SIGKILL of the library arrives, as if a fork bomb were
 * faster. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "os/proc_connector.h"
#include "os/process/pidfd.h"
#include "suite.h"

#define TRIES 20

/* The program starts its children and ends. Each of them ends by itself. */
#define SLEEPERS "for i in 1 2 3 4 5; do sleep 100 & done"
/* Each process forks and exits at once, until the test closes their standard input. The library
 * goes first, or else more events come than it has room for. */
#define CHAINS                                                                                     \
	"import os, select, signal\n"                                                              \
	"os.nice(19)\n"                                                                            \
	"for i in range(8):\n"                                                                     \
	"    if os.fork() == 0:\n"                                                                 \
	"        while not select.select([0], [], [], 0)[0]:\n"                                    \
	"            signal.alarm(60)\n"                                                           \
	"            if os.fork() > 0: os._exit(0)\n"                                              \
	"        os._exit(0)\n"

static bool is_spared;

int __real_rti_pidfd_signal(int fd, int32_t pid, int signal);
int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal);

int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal)
{
	return is_spared && signal == SIGKILL ? 0 : __real_rti_pidfd_signal(fd, pid, signal);
}

/* Returns the command once its program has ended. */
static struct rt_command *run(const char *const *argv, struct rt_outcome *outcome)
{
	const struct rt_opts tracker = { .size = sizeof(tracker), .flags = RT_OPT_PROCESS_EVENTS };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .tracker = &tracker,
		                              .accounting = RT_ACCOUNTING_POLL,
		                              .argv = argv };
	struct rt_command *command;

	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	ck_assert_int_eq(rt_command_wait(command, -1, outcome, sizeof(*outcome)), 0);
	return command;
}

static void kill_in_vain(struct rt_command *command, struct rt_outcome *outcome)
{
	is_spared = true;
	ck_assert_int_eq(rt_command_kill(command), 0);
	is_spared = false;
	ck_assert_int_eq(rt_command_wait(command, 0, outcome, sizeof(*outcome)), 0);
}

static void check_some_are_left(const struct rt_outcome *outcome)
{
	ck_assert_msg(outcome->left_running >= 1, "none is left, reasons %#x",
	              (unsigned)outcome->reasons);
}

static void end(struct rt_command *command)
{
	struct rt_outcome outcome = { .left_running = 1 };

	for (int i = 0; i < 100 && outcome.left_running; i++) {
		ck_assert_int_eq(rt_command_kill(command), 0);
		ck_assert_int_eq(rt_command_wait(command, 0, &outcome, sizeof(outcome)), 0);
	}
	ck_assert_uint_eq(outcome.left_running, 0);
	rt_command_free(command);
}

START_TEST(processes_that_outlive_a_kill_are_counted_and_their_number_is_a_bound)
{
	static const char *const argv[] = { "sh", "-c", SLEEPERS, NULL };
	struct rt_outcome outcome;
	struct rt_command *command = run(argv, &outcome);

	ck_assert_uint_eq(outcome.left_running, 5);
	kill_in_vain(command, &outcome);

	ck_assert_uint_eq(outcome.left_running, 5);
	ck_assert_uint_eq(outcome.valid & RT_HAS_PROCESSES, 0);
	ck_assert_uint_ne(outcome.partial & RT_HAS_PROCESSES, 0);
	ck_assert_uint_ne(outcome.reasons & RT_REASON_LEFT_RUNNING, 0);
	end(command);
}
END_TEST

/* Returns false if events were lost: then nothing shows the processes between two scans. */
static bool are_left_in_vain(void)
{
	static const char *const argv[] = { "python3", "-I", "-c", CHAINS, NULL };
	struct rt_outcome before, after;
	struct rt_command *command;
	int input[2];
	bool is_seen;

	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(input[0], STDIN_FILENO), STDIN_FILENO);
	command = run(argv, &before);
	kill_in_vain(command, &after);
	is_seen = !(after.reasons & RT_REASON_EVENTS_LOST);
	if (is_seen) {
		check_some_are_left(&before);
		check_some_are_left(&after);
		ck_assert_uint_ne(after.partial & RT_HAS_PROCESSES, 0);
	}
	close(input[1]);
	end(command);
	close(input[0]);
	return is_seen;
}

/* None of them may be there long enough to become a member. */
START_TEST(processes_that_fork_and_exit_all_the_time_are_left_running)
{
	int events = rti_events_open(0, NULL), tries = 0;

	if (events < 0) {
		suite_skip_test("the kernel sends no process events here");
		return;
	}
	rti_events_close(events);
	while (tries < TRIES && !are_left_in_vain())
		tries++;
	ck_assert_msg(tries < TRIES, "each time events were lost");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kill_outlived");
	TCase *tcase = suite_case(suite, "kill_outlived");

	tcase_add_test(tcase,
	               processes_that_outlive_a_kill_are_counted_and_their_number_is_a_bound);
	tcase_add_test(tcase, processes_that_fork_and_exit_all_the_time_are_left_running);
	return suite_run(suite);
}
