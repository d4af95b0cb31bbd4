/* SPDX-License-Identifier: MIT */
/* A program for which no process can be made: the test takes the place of the system calls that
 * make one. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "fixture.h"
#include "os/protocol/supervisor_protocol.h"
#include "suite.h"
#include "supervisor/launch.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* What they fail with, one after the other. */
static const int *errors;
static unsigned calls;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* It takes as many arguments as any call, whether or not they were given, as libc does. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	long argument[6];
	va_list arguments;

	if (number == SYS_clone3 || number == SYS_clone) {
		ck_assert_uint_lt(calls, 3);
		errno = errors[calls++];
		return -1;
	}
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(arguments, long);
	va_end(arguments);
	return __real_syscall(number, argument[0], argument[1], argument[2], argument[3],
	                      argument[4], argument[5]);
}

/* In the cgroup, out of it, and as old kernels do it. What is short now is short for each. */
static const struct {
	int errors[3];
	unsigned calls;
} cases[] = {
	{ { EAGAIN }, 1 },
	{ { ENOMEM }, 1 },
	{ { EBADF, EAGAIN }, 2 },
	{ { EINVAL, ENOMEM }, 2 },
	{ { EACCES, ENOSYS, EAGAIN }, 3 },
	{ { ENOSYS, ENOSYS, EPERM }, 3 },
};

START_TEST(other_calls_make_the_process_unless_a_limit_is_reached)
{
	char program[] = "true", *argv[] = { program, NULL };
	char dirs[256];
	sigset_t mask;
	const struct rts_launch_opts opts = {
		.argv = argv, .cwd = "", .dirs = dirs, .mask = &mask
	};
	struct rts_launched launched = { 0 };
	struct fixture root;

	fixture_new(&root);
	snprintf(dirs, sizeof(dirs), "%c%s", RTI_DIR_V2, root.root);
	sigemptyset(&mask);
	errors = cases[_i].errors;
	ck_assert_int_eq(rts_launch(&opts, &launched), -errors[cases[_i].calls - 1]);
	ck_assert_uint_eq(calls, cases[_i].calls);
	ck_assert_int_eq(launched.pid, -1);
	ck_assert_uint_eq(launched.placed, 0);
	fixture_free(&root);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("launch_refused");

	tcase_add_loop_test(suite_case(suite, "launch"),
	                    other_calls_make_the_process_unless_a_limit_is_reached, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	return suite_run(suite);
}
