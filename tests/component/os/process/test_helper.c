/* SPDX-License-Identifier: MIT */
/* Starting a program of the library. What is found, and what starting it returns, is the test's. */
#include "os/process/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "os/origin.h"
#include "os/process/spawn.h"
#include "suite.h"

#define PID 42
#define NAME "tool"

/* What finding and starting the program returns. */
static struct {
	int find, start, starts;
} answer;

/* The linker calls these instead of the functions in their names. */
int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out);
int __wrap_rti_spawn(const struct rti_spawn *opts, int32_t *pid);

int __wrap_rti_origin_open(const char *name, struct rti_origin_file *out)
{
	ck_assert_str_eq(name, NAME);
	out->dir = answer.find == 0 ? open("/", O_PATH | O_CLOEXEC) : -1;
	snprintf(out->path, sizeof(out->path), "/place");
	return answer.find;
}

int __wrap_rti_spawn(const struct rti_spawn *opts, int32_t *pid)
{
	answer.starts++;
	ck_assert_int_ge(opts->file->dir, 0);
	ck_assert_str_eq(opts->argv[0], "/place");
	*pid = PID;
	return answer.start;
}

static const struct {
	int find, start, err, starts;
} cases[] = {
	{ 0, 0, 0, 1 },
	{ -ENOENT, 0, -ENOENT, 0 },
	{ -EPERM, 0, -EPERM, 0 },
	{ -EMFILE, 0, -EMFILE, 0 },
	{ 0, -ENOENT, -ENOENT, 1 }, /* without /proc no directory that was opened leads to it */
	{ 0, -ENOMEM, -ENOMEM, 1 },
};

START_TEST(program_that_is_found_is_started)
{
	const char *argv[] = { NULL, NULL };
	struct rti_spawn opts = { .stdout_fd = -1 };
	struct rti_origin_file file;
	int32_t pid = 0;

	answer.find = cases[_i].find;
	answer.start = cases[_i].start;
	ck_assert_int_eq(rti_helper_spawn(NAME, &opts, argv, &file, &pid), cases[_i].err);
	ck_assert_int_eq(answer.starts, cases[_i].starts);
	ck_assert_int_eq(file.dir >= 0, cases[_i].err == 0);
	if (cases[_i].err == 0)
		ck_assert_int_eq(pid, PID);
	if (file.dir >= 0)
		close(file.dir);
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
	TCase *tests = suite_case(suite, "starts");

	tcase_add_loop_test(tests, program_that_is_found_is_started, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, program_that_cannot_be_executed_is_missing);
	return suite_run(suite);
}
