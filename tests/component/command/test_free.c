/* SPDX-License-Identifier: MIT */
/* What the end of a handle does to a command that runs, and what a signal to one that has ended
 * means. The test takes the place of the waits, and counts the kills. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "command/handle.h"
#include "suite.h"
#include "tree/tree.h"

#define WAITS_MAX 3
#define REAL 1 /* really wait */

/* What rt_command_wait() returns, one call after the other, and what is left running then. */
struct said {
	int err;
	uint32_t left_running;
};

static const struct said *says;
static unsigned waits, kills;
static const struct said interrupted[1];
static uint64_t interrupted_ns;

int __real_rt_command_wait(struct rt_command *c, int64_t timeout_ns, struct rt_outcome *out,
                           size_t out_size);
int __wrap_rt_command_wait(struct rt_command *c, int64_t timeout_ns, struct rt_outcome *out,
                           size_t out_size);
int __real_rti_tree_kill(struct rti_tree *tree);
int __wrap_rti_tree_kill(struct rti_tree *tree);

int __wrap_rt_command_wait(struct rt_command *c, int64_t timeout_ns, struct rt_outcome *out,
                           size_t out_size)
{
	const struct said *said;

	if (says == interrupted) {
		interrupted_ns += 10000000;
		ck_assert_uint_lt(waits++, 1000);
		return -EINTR;
	}
	if (!says || says[waits].err == REAL) {
		waits++;
		return __real_rt_command_wait(c, timeout_ns, out, out_size);
	}
	said = &says[waits++];
	c->outcome.left_running = said->left_running;
	return said->err;
}

int __wrap_rti_tree_kill(struct rti_tree *tree)
{
	kills++;
	return __real_rti_tree_kill(tree);
}

static struct rt_command *start(uint32_t accounting, uint32_t flags, const char *script)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	const struct rt_command_opts opts = {
		.size = sizeof(opts), .accounting = accounting, .flags = flags, .argv = argv
	};
	struct rt_command *command;

	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	return command;
}

static const struct {
	struct said says[WAITS_MAX];
	unsigned waits, kills;
} frees[] = {
	/* a signal to the caller does not end the wait */
	{ { { -EINTR, 0 }, { -EINTR, 0 }, { REAL, 0 } }, 3, 1 },
	{ { { 0, 0 } }, 1, 1 },
	/* what was forked meanwhile runs on */
	{ { { 0, 1 } }, 1, 2 },
	/* the kernel is busy for what was killed */
	{ { { -ETIMEDOUT, 1 } }, 1, 1 },
};

START_TEST(command_that_is_killed_on_free_is_waited_for)
{
	struct rt_command *command =
	    start(RT_ACCOUNTING_POLL, RT_COMMAND_KILL_ON_FREE, "exec sleep 1000");
	int32_t pid = rt_command_pid(command);
	int status;

	says = frees[_i].says;
	rt_command_free(command);
	ck_assert_uint_eq(waits, frees[_i].waits);
	ck_assert_uint_eq(kills, frees[_i].kills);
	/* Of the others the test has taken the place of the wait. */
	if (frees[_i].says[2].err != REAL) {
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

static uint64_t read_interrupted_clock(void)
{
	return interrupted_ns;
}

/* E.g.: the caller has a timer of 10 ms, and what was killed is frozen. */
START_TEST(free_ends_though_signals_arrive_all_the_time)
{
	struct rt_command *command =
	    start(RT_ACCOUNTING_POLL, RT_COMMAND_KILL_ON_FREE, "exec sleep 1000");
	int32_t pid = rt_command_pid(command);

	command->tracker->platform.monotonic_ns = read_interrupted_clock;
	interrupted_ns = 1;
	says = interrupted;
	rt_command_free(command);
	ck_assert_uint_eq(waits, 100);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(command_that_is_over_is_killed_on_free_only_if_it_left_processes)
{
	struct rt_command *command = start(RT_ACCOUNTING_POLL, RT_COMMAND_KILL_ON_FREE, "exit 0");

	ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), 0);
	command->outcome.left_running = (uint32_t)_i;
	rt_command_free(command);
	ck_assert_uint_eq(kills, (unsigned)_i);
}
END_TEST

/* It has a copy of the handle, e.g. one that an exit hook frees. The count is in its exit code. */
START_TEST(forked_child_frees_its_copy_and_leaves_the_command_alone)
{
	static const uint32_t flags[] = { RT_COMMAND_KILL_ON_FREE,
		                          RT_COMMAND_KILL_ON_FREE | RT_COMMAND_SUBREAPER_SELF };
	struct rt_command *command = start(RT_ACCOUNTING_WAIT, flags[_i], "exec sleep 1000");
	struct rt_outcome outcome;
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		rt_command_free(command);
		_exit((int)(kills + waits));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ck_assert_int_eq(kill(rt_command_pid(command), 0), 0);
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), 0);
	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	ck_assert_int_eq(outcome.signal, SIGTERM);
	rt_command_free(command);
}
END_TEST

static const struct {
	int signal;
	bool is_end;
} signals[] = {
	{ SIGINT, true },  { SIGTERM, true },  { SIGQUIT, true },  { SIGHUP, true },
	{ SIGKILL, true }, { SIGUSR1, false }, { SIGSTOP, false }, { 0, false },
};

/* By one that ends commands the caller says that it does not wait for the report either. */
START_TEST(signal_to_a_program_that_has_ended_may_end_the_wait_for_its_report)
{
	struct rt_command *command = start(RT_ACCOUNTING_WAIT, 0, "exit 0");
	struct pollfd end = { .fd = command->pidfd, .events = POLLIN };

	if (command->pidfd < 0) {
		suite_skip_test("this system has no pidfds");
	} else {
		ck_assert_int_eq(poll(&end, 1, -1), 1);
		ck_assert_int_eq(rt_command_signal(command, signals[_i].signal), -ESRCH);
		ck_assert_int_eq(command->is_report_unwanted, signals[_i].is_end);
	}
	ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), 0);
	rt_command_free(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("free");
	TCase *tcase = suite_case(suite, "frees");

	tcase_add_loop_test(tcase, command_that_is_killed_on_free_is_waited_for, 0,
	                    sizeof(frees) / sizeof(frees[0]));
	tcase_add_test(tcase, free_ends_though_signals_arrive_all_the_time);
	tcase_add_loop_test(tcase, command_that_is_over_is_killed_on_free_only_if_it_left_processes,
	                    0, 2);
	tcase_add_loop_test(tcase, forked_child_frees_its_copy_and_leaves_the_command_alone, 0, 2);
	tcase_add_loop_test(tcase,
	                    signal_to_a_program_that_has_ended_may_end_the_wait_for_its_report, 0,
	                    sizeof(signals) / sizeof(signals[0]));
	return suite_run(suite);
}
