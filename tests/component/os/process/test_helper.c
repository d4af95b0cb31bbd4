/* SPDX-License-Identifier: MIT */
/* Where the programs of the library are looked for, one place after the other. What is found, and
 * what starting it returns, is the test's. */
#include "os/process/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/origin.h"
#include "os/process/spawn.h"
#include "suite.h"

#define PID 42
#define NAME "tool"

/* What each place answers: beside the library, in its installation, and where it was installed. The
 * first two find the file or not, and each may fail to start it. */
static struct {
	int find[2], start[3];
	int finds, starts;
	bool is_at_compiled_path;
} places;

/* The linker calls these instead of the functions in their names. */
int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out);
int __wrap_rti_spawn(const struct rti_spawn *opts, int32_t *pid);

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out)
{
	int err = places.find[places.finds];

	if (places.finds++ == 0)
		ck_assert_str_eq(name, NAME);
	else
		ck_assert_str_eq(strrchr(name, '/'), "/" NAME);
	out->dir = err == 0 ? open("/", O_PATH | O_CLOEXEC) : -1;
	snprintf(out->path, sizeof(out->path), "/place%d", places.finds);
	return err;
}

int __wrap_rti_spawn(const struct rti_spawn *opts, int32_t *pid)
{
	int place = opts->file ? places.finds - 1 : 2;

	places.starts++;
	places.is_at_compiled_path = !opts->file;
	*pid = PID;
	return places.start[place];
}

static const struct {
	int find[2], start[3];
	int err, finds, starts;
	bool has_dir; /* it is still open */
} cases[] = {
	{ { 0, 0 }, { 0, 0, 0 }, 0, 1, 1, true },
	{ { -ENOENT, 0 }, { 0, 0, 0 }, 0, 2, 1, true },
	{ { -ENOENT, -ENOENT }, { 0, 0, 0 }, 0, 2, 1, false },
	{ { -ENOENT, -ENOENT }, { 0, 0, -ENOENT }, -ENOENT, 2, 1, false },
	/* without /proc no directory that was opened leads to it */
	{ { 0, 0 }, { -ENOENT, -ENOENT, 0 }, 0, 2, 3, false },
	/* any other error is that of the call */
	{ { 0, 0 }, { -EACCES, 0, 0 }, -EACCES, 1, 1, false },
	{ { -EMFILE, 0 }, { 0, 0, 0 }, -EMFILE, 1, 0, false },
	{ { -ENOENT, -EMFILE }, { 0, 0, 0 }, -EMFILE, 2, 0, false },
	{ { -ENOENT, 0 }, { 0, -ENOMEM, 0 }, -ENOMEM, 2, 1, false },
};

START_TEST(program_is_started_from_the_first_place_that_has_it)
{
	const char *argv[] = { NULL, NULL };
	struct rti_spawn opts = { .stdout_fd = -1 };
	struct rti_origin_file file;
	int32_t pid = 0;

	memcpy(places.find, cases[_i].find, sizeof(places.find));
	memcpy(places.start, cases[_i].start, sizeof(places.start));
	ck_assert_int_eq(rti_helper_spawn(NAME, &opts, argv, &file, &pid), cases[_i].err);
	ck_assert_int_eq(places.finds, cases[_i].finds);
	ck_assert_int_eq(places.starts, cases[_i].starts);
	ck_assert_int_eq(file.dir >= 0, cases[_i].has_dir);
	if (cases[_i].err == 0)
		ck_assert_int_eq(pid, PID);
	if (places.starts > 0)
		ck_assert_str_eq(argv[0], file.path);
	if (file.dir >= 0)
		close(file.dir);
}
END_TEST

START_TEST(name_that_is_too_long_is_not_cut)
{
	static char name[8192];
	const char *argv[] = { NULL, NULL };
	struct rti_spawn opts = { .stdout_fd = -1 };
	struct rti_origin_file file;
	int32_t pid;

	memset(name, 'a', sizeof(name) - 1);
	places.finds = 1; /* it has another name */
	places.find[1] = -ENOENT;
	name[0] = '/';
	memcpy(name, "/" NAME "/", 6);
	memcpy(name + sizeof(name) - 6, "/" NAME, 6);
	ck_assert_int_eq(rti_helper_spawn(name, &opts, argv, &file, &pid), -ENOENT);
	ck_assert_int_eq(places.starts, 0);
	ck_assert_int_eq(places.finds, 2);
}
END_TEST

START_TEST(program_that_cannot_be_executed_is_missing)
{
	static const int missing[] = { -ENOENT, -ENOTDIR, -EACCES, -EPERM, -ENOEXEC, -ELIBBAD };

	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		ck_assert(rti_helper_is_missing(missing[i]));
	ck_assert(!rti_helper_is_missing(-ENOMEM));
	ck_assert(!rti_helper_is_missing(0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("helper");
	TCase *tests = suite_case(suite, "places");

	tcase_add_loop_test(tests, program_is_started_from_the_first_place_that_has_it, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, name_that_is_too_long_is_not_cut);
	tcase_add_test(tests, program_that_cannot_be_executed_is_missing);
	return suite_run(suite);
}
