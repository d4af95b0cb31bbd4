/* SPDX-License-Identifier: MIT */
/* Signals to the host while it reaps the program, by wait4(2), which is wrapped here. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <rtrack/rtrack.h>

#include "suite.h"

#define INTERRUPTIONS 3

static int interruptions_left;

pid_t __real_wait4(pid_t pid, int *status, int options, struct rusage *use);
pid_t __wrap_wait4(pid_t pid, int *status, int options, struct rusage *use);

pid_t __wrap_wait4(pid_t pid, int *status, int options, struct rusage *use)
{
	if (interruptions_left == 0)
		return __real_wait4(pid, status, options, use);
	interruptions_left--;
	errno = EINTR;
	return -1;
}

START_TEST(program_is_reaped_though_signals_interrupt_it)
{
	static const char *const argv[] = { "sh", "-c", "exit 7", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .accounting = RT_ACCOUNTING_POLL,
		                              .argv = argv };
	struct rt_command *command;
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	interruptions_left = INTERRUPTIONS;
	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	ck_assert_int_eq(interruptions_left, 0);
	ck_assert_int_eq(outcome.exit_code, 7);
	ck_assert_uint_ne(outcome.valid & RT_HAS_CPU || outcome.partial & RT_HAS_CPU, 0);
	rt_command_free(command);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("interrupted_wait");
	TCase *tcase = suite_case(suite, "interrupted_wait");

	tcase_add_test(tcase, program_is_reaped_though_signals_interrupt_it);
	return suite_run(suite);
}
