/* SPDX-License-Identifier: MIT */
/* A program that cannot be executed, where clone3(2) is refused, and a signal interrupts the wait
 * for its process. The three calls are wrapped here. */
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "os/process/spawn.h"
#include "suite.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

static int interruptions_left;

int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	(void)pid;
	(void)path;
	(void)actions;
	(void)attr;
	(void)argv;
	(void)envp;
	return EPERM;
}

/* It takes as many arguments as execve(2) has, whether or not they were given, as libc does. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	long argument[3];
	va_list arguments;

	if (number == SYS_clone3) {
		errno = EPERM;
		return -1;
	}
	va_start(arguments, number);
	for (int i = 0; i < 3; i++)
		argument[i] = va_arg(arguments, long);
	va_end(arguments);
	return __real_syscall(number, argument[0], argument[1], argument[2], 0, 0, 0);
}

/* Only a call that waits can be interrupted. */
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	if (interruptions_left == 0 || options & WNOHANG)
		return __real_waitpid(pid, status, options);
	interruptions_left--;
	errno = EINTR;
	return -1;
}

START_TEST(process_that_cannot_execute_its_program_is_reaped_though_signals_interrupt_it)
{
	static const char *const argv[] = { "/nonexistent/program", NULL };
	const struct rti_spawn opts = { .argv = argv, .stdout_fd = -1 };
	int32_t pid = 0;

	interruptions_left = 3;
	ck_assert_int_eq(rti_spawn(&opts, &pid), -ENOENT);
	ck_assert_int_eq(interruptions_left, 0);
	ck_assert_int_eq(__real_waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("interrupted_spawn");
	TCase *tcase = suite_case(suite, "interrupted_spawn");

	tcase_add_test(
	    tcase, process_that_cannot_execute_its_program_is_reaped_though_signals_interrupt_it);
	return suite_run(suite);
}
