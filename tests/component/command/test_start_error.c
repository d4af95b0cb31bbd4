/* SPDX-License-Identifier: MIT */
/* Whether the working directory or the program is to blame for a start that has failed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/start_error.h"
#include "fixture.h"
#include "suite.h"

#define PATH_BYTES 5000 /* longer than any path may be */

static struct fixture dir;

static void set_up(void)
{
	fixture_new(&dir);
	fixture_write(&dir, "file", "");
	fixture_link(&dir, "loop", "loop");
}

static void tear_down(void)
{
	fixture_free(&dir);
}

static const struct {
	const char *cwd; /* below the fixture; NULL: "" */
	int err;
	const char *words;
} cases[] = {
	{ NULL, -ENOENT, "The working directory is empty" },
	{ "/missing", -ENOENT, "/missing cannot be entered: no such " },
	{ "/file", -ENOTDIR, "/file cannot be entered: " },
	{ "/file/below", -ENOTDIR, "/file/below cannot be entered: " },
	{ "/loop", -ELOOP, "/loop cannot be entered: " },
	{ "/missing", -EACCES, "/missing cannot be entered: " },
	{ "/", -ENOENT, "It is in none of the directories of PATH" },
	{ "/", -ELOOP, "program" },
	{ "/", -ENAMETOOLONG, "program" },
	{ "/missing", -ENOMEM, "" },
};

#define CASES (int)(sizeof(cases) / sizeof(cases[0]))

START_TEST(message_blames_the_directory_that_cannot_be_entered)
{
	const char *const argv[] = { "program", NULL };
	char cwd[512] = "", message[1024] = "";
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .cwd = cwd,
		                              .message = message,
		                              .message_size = sizeof(message) };

	if (cases[_i].cwd)
		snprintf(cwd, sizeof(cwd), "%s%s", dir.root, cases[_i].cwd);

	rti_start_error_describe(&opts, cases[_i].err, 0);

	ck_assert_msg(*message && strstr(message, cases[_i].words), "%s", message);
	ck_assert_int_eq(strstr(message, "working directory") != NULL, _i < 6);
}
END_TEST

START_TEST(directory_with_a_name_that_is_too_long_is_to_blame)
{
	static char cwd[PATH_BYTES], message[2 * PATH_BYTES];
	const char *const argv[] = { "program", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .cwd = cwd,
		                              .message = message,
		                              .message_size = sizeof(message) };

	memset(cwd, 'a', sizeof(cwd) - 1);

	rti_start_error_describe(&opts, -ENAMETOOLONG, 0);

	ck_assert_ptr_nonnull(strstr(message, "cannot be entered: "));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("start_error");
	TCase *messages = suite_case(suite, "messages");

	tcase_add_checked_fixture(messages, set_up, tear_down);
	tcase_add_loop_test(messages, message_blames_the_directory_that_cannot_be_entered, 0,
	                    CASES);
	tcase_add_test(messages, directory_with_a_name_that_is_too_long_is_to_blame);
	return suite_run(suite);
}
