/* SPDX-License-Identifier: MIT */
/* A program for which no process can be made, or one in its cgroup at once: the test takes the
 * place of the system calls that make one. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fixture.h"
#include "os/kernel_abi.h"
#include "os/protocol/supervisor_protocol.h"
#include "suite.h"
#include "supervisor/launch.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* What they fail with, one after the other. NULL: the process is made, and its cgroup is a
 * directory of plain files. */
static const int *errors;
static unsigned calls;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* It takes as many arguments as any call, whether or not they were given, as libc does. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	struct rti_clone_args args;
	long argument[6];
	va_list arguments;

	if (errors && (number == SYS_clone3 || number == SYS_clone)) {
		ck_assert_uint_lt(calls, 3);
		errno = errors[calls++];
		return -1;
	}
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number == SYS_clone3) {
		memcpy(&args, (void *)(uintptr_t)argument[0], sizeof(args));
		ck_assert_uint_ne(args.flags & RTI_CLONE_INTO_CGROUP, 0);
		return __real_syscall(SYS_clone, (long)(args.flags & CLONE_VFORK) | SIGCHLD, 0L, 0L,
		                      0L, 0L, 0L);
	}
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

static void read_file(const struct fixture *root, const char *name, char text[8])
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root->root, name);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	memset(text, 0, 8);
	ck_assert_uint_lt(fread(text, 1, 7, file), 7);
	fclose(file);
}

/* E.g.: cgroup.procs of v2 takes 10 ms, and may not be writable to the program's user. */
START_TEST(process_made_in_its_cgroup_enters_the_others_alone)
{
	char program[] = "true", *argv[] = { program, NULL };
	char dirs[512], text[8] = "";
	sigset_t mask;
	const struct rts_launch_opts opts = {
		.argv = argv, .cwd = "", .dirs = dirs, .mask = &mask
	};
	struct rts_launched launched = { 0 };
	struct fixture root;

	fixture_new(&root);
	fixture_write(&root, "v2/cgroup.procs", "");
	fixture_write(&root, "v1/tasks", "");
	snprintf(dirs, sizeof(dirs), "%c%s/v2\n%c%s/v1", RTI_DIR_V2, root.root, RTI_DIR_V1,
	         root.root);
	sigemptyset(&mask);
	ck_assert_int_eq(rts_launch(&opts, &launched), 0);
	ck_assert_int_eq(waitpid(launched.pid, NULL, 0), launched.pid);
	ck_assert_uint_eq(launched.placed, 3);
	read_file(&root, "v2/cgroup.procs", text);
	ck_assert_str_eq(text, "");
	read_file(&root, "v1/tasks", text);
	ck_assert_str_eq(text, "0");
	fixture_free(&root);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("launch_refused");

	tcase_add_test(suite_case(suite, "in_cgroup"),
	               process_made_in_its_cgroup_enters_the_others_alone);
	tcase_add_loop_test(suite_case(suite, "launch"),
	                    other_calls_make_the_process_unless_a_limit_is_reached, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	return suite_run(suite);
}
