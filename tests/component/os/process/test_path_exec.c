/* SPDX-License-Identifier: MIT */
/* Where a program is searched for, and which error counts if it is not found. */
#include "os/process/path_exec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "suite.h"

#define LONG_BYTES 5000

static struct fixture f;

static void write_program(const char *path, const char *text, mode_t mode)
{
	char whole[256];

	fixture_write(&f, path, text);
	snprintf(whole, sizeof(whole), "%s/%s", f.root, path);
	ck_assert_int_eq(chmod(whole, mode), 0);
}

static void set_up(void)
{
	fixture_new(&f);
	write_program("first/prog", "#!/bin/sh\nexit 101\n", 0755);
	write_program("second/prog", "#!/bin/sh\nexit 102\n", 0755);
	write_program("second/argument", "#!/bin/sh\nexit \"$1\"\n", 0755);
	write_program("second/p", "#!/bin/sh\nexit 106\n", 0755);
	write_program("refused/prog", "#!/bin/sh\nexit 103\n", 0644);
	write_program("refused/alone", "#!/bin/sh\nexit 103\n", 0644);
	write_program("first/no_format", "exit 104\n", 0755);
	write_program("second/no_format", "#!/bin/sh\nexit 105\n", 0755);
	fixture_write(&f, "file", "");
	fixture_link(&f, "first/circle", "circle");
	fixture_mkdir(&f, "empty");
	ck_assert_int_eq(chdir(f.root), 0);
}

static void tear_down(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	fixture_free(&f);
}

/* Returns the exit status of the program, or the errno. PATH names directories of the fixture, as
 * relative ones; NULL: there is none. */
static int execute_with(const char *path, const char *name, const char *argument)
{
	char *argv[] = { (char *)name, (char *)argument, NULL };
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (path)
			setenv("PATH", path, 1);
		else
			unsetenv("PATH");
		_exit(rti_path_exec(argv, NULL, NULL));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static const struct {
	const char *path, *name;
	int expected;
} searches[] = {
	{ "first", "prog", 101 },
	{ "first:second", "prog", 101 },
	{ "second:first", "prog", 102 },
	{ "empty:second", "prog", 102 },
	{ "no_directory:second", "prog", 102 },
	{ "file:second", "prog", 102 },
	{ "empty", "prog", ENOENT },
	{ "file", "prog", ENOENT },
	{ "", "prog", ENOENT },
	{ "first", "", ENOENT },
	{ "first:second", "p", 106 },
	/* What may not be executed is an error only if there is no other. */
	{ "refused:second", "prog", 102 },
	{ "refused:empty", "alone", EACCES },
	{ "empty:refused", "alone", EACCES },
	/* Any other error is final. No shell runs a file without a format. */
	{ "first:second", "no_format", ENOEXEC },
	{ "first:second", "circle", ELOOP },
	/* A name with a slash is not searched for. */
	{ "first:second", "second/prog", 102 },
	{ "first:second", "./prog", ENOENT },
	{ "first", "refused/prog", EACCES },
	{ "first", "first", ENOENT },
	{ ".", "first", EACCES },
};

START_TEST(program_is_searched_for_in_path)
{
	ck_assert_int_eq(execute_with(searches[_i].path, searches[_i].name, NULL),
	                 searches[_i].expected);
}
END_TEST

static const char *const with_empty_entry[] = { "", ":empty", "empty:", "empty::empty" };

START_TEST(empty_entry_is_the_working_directory)
{
	ck_assert_int_eq(chdir("first"), 0);
	ck_assert_int_eq(execute_with(with_empty_entry[_i], "prog", NULL), 101);
}
END_TEST

START_TEST(program_gets_its_arguments)
{
	ck_assert_int_eq(execute_with("first:second", "argument", "42"), 42);
}
END_TEST

START_TEST(program_without_path_is_searched_for_in_bin)
{
	ck_assert_int_eq(execute_with(NULL, "true", NULL), 0);
	ck_assert_int_eq(execute_with(NULL, "prog", NULL), ENOENT);
}
END_TEST

START_TEST(entry_that_is_too_long_is_left_out)
{
	char *path = malloc(LONG_BYTES + sizeof(":second"));

	ck_assert_ptr_nonnull(path);
	memset(path, 'x', LONG_BYTES);
	strcpy(path + LONG_BYTES, ":second");
	ck_assert_int_eq(execute_with(path, "prog", NULL), 102);
	free(path);
}
END_TEST

/* A path has PATH_MAX bytes at most, with the NUL: "second", slashes, and "/prog". */
START_TEST(entry_that_just_fits_is_used)
{
	char path[PATH_MAX];
	size_t len = sizeof(path) - sizeof("/prog");

	memset(path, '/', len);
	memcpy(path, "second", strlen("second"));
	path[len] = '\0';
	ck_assert_int_eq(execute_with(path, "prog", NULL), 102);
	path[len] = '/';
	path[len + 1] = '\0';
	ck_assert_int_eq(execute_with(path, "prog", NULL), ENOENT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("path_exec");
	TCase *tests = suite_case(suite, "path_exec");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, program_is_searched_for_in_path, 0,
	                    sizeof(searches) / sizeof(searches[0]));
	tcase_add_loop_test(tests, empty_entry_is_the_working_directory, 0,
	                    sizeof(with_empty_entry) / sizeof(with_empty_entry[0]));
	tcase_add_test(tests, program_gets_its_arguments);
	tcase_add_test(tests, entry_that_just_fits_is_used);
	tcase_add_test(tests, program_without_path_is_searched_for_in_bin);
	tcase_add_test(tests, entry_that_is_too_long_is_left_out);
	return suite_run(suite);
}
