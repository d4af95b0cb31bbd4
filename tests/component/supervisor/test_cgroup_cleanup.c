/* SPDX-License-Identifier: MIT */
/* What is left of the cgroups of a program, which are plain directories here. A file in one stands
 * for a process: the directory is in use as long as the file is there. The test takes the place of
 * the naps. */
#include "supervisor/cgroup_cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "os/protocol/supervisor_protocol.h"
#include "suite.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define PATH_TOO_LONG 1100

static struct fixture root;
static char file[sizeof(root.root) + 32]; /* in a directory; removed by the first nap */
static int to_test = -1;                  /* a pipe that ends with its last writer */
static bool refuses_close_range, refuses_chdir;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
int __real_chdir(const char *path);
int __wrap_chdir(const char *path);
int __wrap_nanosleep(const struct timespec *nap, struct timespec *left);

/* It takes as many arguments as any call, whether or not they were given, as libc does. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	long argument[6];
	va_list arguments;

	if (number == SYS_close_range && refuses_close_range) {
		errno = ENOSYS;
		return -1;
	}
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(arguments, long);
	va_end(arguments);
	return __real_syscall(number, argument[0], argument[1], argument[2], argument[3],
	                      argument[4], argument[5]);
}

int __wrap_chdir(const char *path)
{
	if (!refuses_chdir)
		return __real_chdir(path);
	errno = EACCES;
	return -1;
}

/* In the child, which has the copy of the pipe no more. */
int __wrap_nanosleep(const struct timespec *nap, struct timespec *left)
{
	(void)left;
	if (nap->tv_sec != 1 || (to_test >= 0 && fcntl(to_test, F_GETFD) >= 0))
		_exit(1);
	unlink(file);
	return 0;
}

static void set_up(void)
{
	fixture_new(&root);
	fixture_mkdir(&root, "a/below/below");
	fixture_mkdir(&root, "b");
}

static void tear_down(void)
{
	fixture_free(&root);
}

static bool has_directory(const char *name)
{
	char path[sizeof(root.root) + 32];

	snprintf(path, sizeof(path), "%s/%s", root.root, name);
	return access(path, F_OK) == 0;
}

/* The directories a and b. With another one between them, if it is not NULL. */
static pid_t clean_up(const char *between)
{
	char dirs[4 * sizeof(root.root) + PATH_TOO_LONG];

	snprintf(dirs, sizeof(dirs), "%c%s/a%s%s\n%c%s/b", RTI_DIR_V2, root.root,
	         between ? "\n1" : "", between ? between : "", RTI_DIR_V1, root.root);
	return rts_cgroup_cleanup(dirs);
}

START_TEST(cgroups_without_processes_are_removed_with_those_below)
{
	ck_assert_int_eq(clean_up(NULL), -1);
	ck_assert(!has_directory("a"));
	ck_assert(!has_directory("b"));
}
END_TEST

/* One that is gone, is no directory, or has too long a name keeps no other. */
START_TEST(cgroup_that_cannot_be_removed_keeps_no_other)
{
	char name[PATH_TOO_LONG + 1];

	memset(name, 'a', PATH_TOO_LONG);
	name[PATH_TOO_LONG] = '\0';
	ck_assert_int_eq(clean_up(_i == 0 ? "/nowhere/at/all" : _i == 1 ? "/dev/null" : name), -1);
	ck_assert(!has_directory("a"));
	ck_assert(!has_directory("b"));
}
END_TEST

/* By a child, which holds nothing of this process: also where a filter of system calls is in the
 * way. */
START_TEST(cgroup_with_processes_is_removed_once_they_are_gone)
{
	int status, ends[2];
	pid_t child;
	char byte;

	fixture_write(&root, "a/below/process", "");
	snprintf(file, sizeof(file), "%s/a/below/process", root.root);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	to_test = ends[1];
	refuses_close_range = _i & 1;
	refuses_chdir = _i & 2;
	child = clean_up(NULL);
	ck_assert_int_gt(child, 0);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ck_assert(!has_directory("a"));
	ck_assert(!has_directory("b"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_cleanup");
	TCase *tcase = suite_case(suite, "cgroup_cleanup");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, cgroups_without_processes_are_removed_with_those_below);
	tcase_add_loop_test(tcase, cgroup_that_cannot_be_removed_keeps_no_other, 0, 3);
	tcase_add_loop_test(tcase, cgroup_with_processes_is_removed_once_they_are_gone, 0, 4);
	return suite_run(suite);
}
