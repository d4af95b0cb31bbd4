/* SPDX-License-Identifier: MIT */
/* A supervisor that cannot be asked for anything, by send(2), which is wrapped here. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <rtrack/rtrack.h>

#include "suite.h"

#define PATIENCE_NS INT64_C(20000000000)

static int refused, refusals_left;

ssize_t __real_send(int fd, const void *buf, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags);

ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags)
{
	if (refusals_left == 0)
		return __real_send(fd, buf, len, flags);
	refusals_left--;
	refused++;
	errno = ENOBUFS;
	return -1;
}

/* Returns what rt_command_wait() has returned. */
static int run(int refusals, struct rt_outcome *outcome)
{
	static const char *const argv[] = { "sh", "-c", "exit 7", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .accounting = RT_ACCOUNTING_WAIT,
		                              .argv = argv };
	struct rt_command *command;
	int err;

	refused = 0;
	refusals_left = refusals;
	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	err = rt_command_wait(command, PATIENCE_NS, outcome, sizeof(*outcome));
	rt_command_free(command);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	return err;
}

START_TEST(request_that_is_refused_twice_is_sent_again)
{
	struct rt_outcome outcome;

	ck_assert_int_eq(run(2, &outcome), 0);
	ck_assert_int_eq(refused, 2);
	ck_assert_int_eq(outcome.exit_code, 7);
	ck_assert_uint_ne(outcome.valid & RT_HAS_CPU, 0);
}
END_TEST

/* The supervisor reaps the program without a report. So only a late kernel knows the exit code. */
START_TEST(supervisor_that_cannot_be_asked_reaps_the_program)
{
	struct rt_outcome outcome;
	int err = run(1000, &outcome);

	ck_assert_int_gt(refused, 2);
	ck_assert_msg(err == 0 || err == -ECHILD, "%d", err);
	ck_assert(err < 0 || outcome.exit_code == 7);
	ck_assert_uint_eq(outcome.valid & RT_HAS_CPU, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("refused_requests");
	TCase *tcase = suite_case(suite, "refused_requests");

	tcase_add_test(tcase, request_that_is_refused_twice_is_sent_again);
	tcase_add_test(tcase, supervisor_that_cannot_be_asked_reaps_the_program);
	return suite_run(suite);
}
