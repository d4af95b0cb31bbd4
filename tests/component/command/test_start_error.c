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

/* One without a source, e.g. -1, is never closed by mistake. */
START_TEST(first_descriptor_that_is_not_open_is_named)
{
	const char *const argv[] = { "program", NULL };
	const struct rt_fd fds[] = { { .source = -1, .target = 5 },
		                     { .source = 0, .target = 6 },
		                     { .source = 900000, .target = 7 } };
	char message[1024] = "";
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .fds = fds,
		                              .fd_count = 3,
		                              .message = message,
		                              .message_size = sizeof(message) };

	rti_start_error_describe(&opts, -EBADF, 0);

	ck_assert_msg(strstr(message, "Descriptor 900000, the source of descriptor 7 of") != NULL,
	              "%s", message);
}
END_TEST

/* RT_OPT_NO_CHILDREN fits the method poll. What else is wrong is to blame. */
START_TEST(tracker_option_that_fits_the_method_is_not_to_blame)
{
	static const struct {
		uint32_t accounting;
		const char *words;
	} methods[] = { { RT_ACCOUNTING_POLL, "argv is empty" },
		        { RT_ACCOUNTING_AUTO, "argv is empty" },
		        { RT_ACCOUNTING_WAIT, "RT_OPT_NO_CHILDREN works only" } };
	const char *const argv[] = { NULL };
	const struct rt_opts tracker = { .size = sizeof(tracker), .flags = RT_OPT_NO_CHILDREN };
	char message[1024] = "";
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .tracker = &tracker,
		                              .accounting = methods[_i].accounting,
		                              .message = message,
		                              .message_size = sizeof(message) };

	rti_start_error_describe(&opts, -EINVAL, 0);

	ck_assert_msg(strstr(message, methods[_i].words) != NULL, "%s", message);
}
END_TEST

/* A command runs on this system, whatever else is wrong with it. */
START_TEST(tracker_option_for_another_root_is_to_blame)
{
	const char *const argv[] = { NULL };
	const struct rt_opts tracker = { .size = sizeof(tracker), .root = "/" };
	char message[1024] = "";
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .tracker = &tracker,
		                              .message = message,
		                              .message_size = sizeof(message) };

	rti_start_error_describe(&opts, -EINVAL, 0);

	ck_assert_msg(strstr(message, "rt_opts.root must be NULL") != NULL, "%s", message);
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
	tcase_add_test(messages, first_descriptor_that_is_not_open_is_named);
	tcase_add_test(messages, tracker_option_for_another_root_is_to_blame);
	tcase_add_loop_test(messages, tracker_option_that_fits_the_method_is_not_to_blame, 0, 3);
	return suite_run(suite);
}
