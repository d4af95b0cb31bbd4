/* SPDX-License-Identifier: MIT */
/* What rt_command_start() says of a failure, besides its number. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "fixture.h"
#include "suite.h"

#define MESSAGE_MAX 256

/* Start, and expect an error and a message with this text in it. */
static void check_start(struct rt_command_opts opts, int expected, const char *text)
{
	char message[MESSAGE_MAX];
	struct rt_command *command;

	memset(message, FILLED, sizeof(message));
	opts.size = sizeof(opts);
	opts.message = message;
	opts.message_size = sizeof(message);
	ck_assert_int_eq(rt_command_start(&command, &opts), expected);
	ck_assert_msg(memchr(message, '\0', sizeof(message)) && strstr(message, text),
	              "%.*s: no \"%s\"", MESSAGE_MAX, message, text);
	ck_assert_int_eq(message[strlen(message) - 1], '.');
}

static const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_AUTO };

START_TEST(message_names_the_program)
{
	const char *const missing[] = { "/nonexistent/program", NULL };
	const char *const not_in_path[] = { "no-program-has-this-name", NULL };
	const char *const directory[] = { "/", NULL };
	const struct rt_command_opts opts = { .accounting = methods[_i] };
	struct rt_command_opts o = opts;

	o.argv = missing;
	check_start(o, -ENOENT,
	            "The program \"/nonexistent/program\" cannot be started: no such file");
	o.argv = not_in_path;
	check_start(o, -ENOENT, "none of the directories of PATH");
	o.argv = directory;
	check_start(o, -EACCES, "permission to execute");
}
END_TEST

/* The kernel reaps the program, before or after it is first looked at. */
START_TEST(program_reaped_by_the_kernel_is_echild)
{
	const char *const argv[] = { "true", NULL };
	char message[MESSAGE_MAX] = "";
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = RT_ACCOUNTING_POLL,
		                              .message = message,
		                              .message_size = sizeof(message) };

	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 100; i++) {
		struct rt_command *command;
		int err = rt_command_start(&command, &opts);

		ck_assert(err == 0 || err == -ECHILD);
		if (err < 0)
			ck_assert_ptr_nonnull(strstr(message, "do not ignore SIGCHLD"));
		else
			ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), -ECHILD);
		rt_command_free(command);
	}
	signal(SIGCHLD, SIG_DFL);
}
END_TEST

/* The supervisor needs descriptors, too. That it has too few is no mismatch of releases. */
START_TEST(supervisor_without_descriptors_is_emfile)
{
	const char *const argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = RT_ACCOUNTING_WAIT };
	struct rlimit before, limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	for (limit.rlim_cur = 8; limit.rlim_cur < 40; limit.rlim_cur++) {
		struct rt_command *command;
		int err;

		setrlimit(RLIMIT_NOFILE, &limit);
		err = rt_command_start(&command, &opts);
		setrlimit(RLIMIT_NOFILE, &before);
		ck_assert_msg(err == 0 || err == -EMFILE, "%d descriptors: %s", (int)limit.rlim_cur,
		              rt_strerror(err));
		rt_command_free(command);
	}
}
END_TEST

START_TEST(message_names_the_option)
{
	const char *const argv[] = { "true", NULL }, *const none[] = { NULL },
			  *const empty[] = { "", NULL };
	char name[5000];
	const char *const endless[] = { name, NULL };

	memset(name, 'x', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	check_start((struct rt_command_opts){ 0 }, -EFAULT, "argv is NULL");
	check_start((struct rt_command_opts){ .argv = none }, -EINVAL, "argv is empty");
	check_start((struct rt_command_opts){ .argv = argv, .flags = 1U << 31 }, -EINVAL, "flags");
	check_start((struct rt_command_opts){ .argv = argv, .reserved = 1 }, -EINVAL, "reserved");
	check_start((struct rt_command_opts){ .argv = argv, .accounting = 17 }, -EINVAL,
	            "accounting");
	check_start((struct rt_command_opts){ .argv = empty }, -ENOENT, "program is empty");
	check_start((struct rt_command_opts){ .argv = endless }, -ENAMETOOLONG,
	            "cannot be started: ");
}
END_TEST

START_TEST(message_about_a_script_without_interpreter_says_so)
{
	struct fixture dir;
	char path[160];
	const char *const argv[] = { path, NULL };
	const struct rt_command_opts opts = { .argv = argv, .accounting = methods[_i] };

	fixture_new(&dir);
	strcat(strcpy(path, dir.root), "/script");
	fixture_write(&dir, "script", "#!/nonexistent/shell\n");
	ck_assert_int_eq(chmod(path, 0755), 0);
	ck_assert_int_eq(chmod(dir.root, 0755), 0);
	check_start(opts, -ENOENT, "the interpreter that it names does not");
	fixture_write(&dir, "script", "text\n");
	check_start(opts, -ENOEXEC, "#!/bin/sh");
	fixture_free(&dir);
}
END_TEST

START_TEST(message_names_the_working_directory)
{
	const char *const argv[] = { "true", NULL };
	struct rt_command_opts opts = { .argv = argv, .accounting = methods[_i] };

	opts.cwd = "/nonexistent";
	check_start(opts, -ENOENT, "The working directory /nonexistent cannot be entered: no such");
	opts.cwd = "";
	check_start(opts, -ENOENT, "The working directory is empty");
	opts.cwd = "/proc/version";
	check_start(opts, -ENOTDIR, "The working directory /proc/version cannot be entered: not a");
}
END_TEST

START_TEST(message_names_the_descriptor)
{
	const char *const argv[] = { "true", NULL };
	const struct rt_fd closed[] = { { 1, 1 }, { 5, 900 } };
	const struct rt_fd high[] = { { 1 << 30, 1 } };
	struct rt_command_opts opts = { .argv = argv, .accounting = methods[_i] };

	opts.fds = closed;
	opts.fd_count = 2;
	check_start(opts, -EBADF, "Descriptor 900, the source of descriptor 5 of the program");
	opts.fds = high;
	opts.fd_count = 1;
	check_start(opts, -EBADF, "RLIMIT_NOFILE");
}
END_TEST

START_TEST(descriptors_that_make_no_sense_are_refused)
{
	const char *const argv[] = { "true", NULL };
	const struct rt_fd bad[][2] = { { { -1, 1 }, { 4, 1 } },
		                        { { 3, -3 }, { 4, 1 } },
		                        { { 4, 1 }, { 4, 2 } } };
	static const char *const says[] = { "entry 0: the target", "entry 0: the source",
		                            "entry 1: an entry before" };
	struct rt_command_opts opts = { .argv = argv, .fd_count = 2 };

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		opts.fds = bad[i];
		check_start(opts, -EINVAL, says[i]);
	}
	opts.fd_count = 65537; /* more than the array has */
	check_start(opts, -EINVAL, "fd_count is above 65536");
	opts.fds = NULL;
	check_start(opts, -EFAULT, "fds is NULL");
}
END_TEST

START_TEST(message_names_the_accounting_method)
{
	const char *const argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .argv = argv, .accounting = RT_ACCOUNTING_BPF };

	/* Root may load BPF programs. */
	if (geteuid() == 0)
		ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	check_start(opts, -EOPNOTSUPP, "accounting method bpf is not available. ");
}
END_TEST

START_TEST(message_is_cut_after_a_word_and_untouched_on_success)
{
	const char *const missing[] = { "/nonexistent/program", NULL }, *const good[] = { "true",
		                                                                          NULL };
	char message[16];
	struct rt_command_opts opts = {
		.size = sizeof(opts), .argv = missing, .message = message, .message_size = 12
	};
	struct rt_command *command;

	memset(message, FILLED, sizeof(message));
	ck_assert_int_eq(rt_command_start(&command, &opts), -ENOENT);
	ck_assert_str_eq(message, "The...");
	ck_assert(is_filled(message + 12, 4));

	memset(message, FILLED, sizeof(message));
	opts.message_size = 0;
	ck_assert_int_eq(rt_command_start(&command, &opts), -ENOENT);
	opts.message_size = sizeof(message);
	opts.argv = good;
	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), 0);
	rt_command_free(command);
	ck_assert(is_filled(message, sizeof(message)));
}
END_TEST

/* As execve(2) lists them. */
START_TEST(each_error_of_execve_has_words)
{
	const int errors[] = { E2BIG,  EACCES,  EAGAIN, EFAULT,  EINVAL,       EIO,
		               EISDIR, ELIBBAD, ELOOP,  EMFILE,  ENAMETOOLONG, ENFILE,
		               ENOENT, ENOEXEC, ENOMEM, ENOTDIR, EPERM,        ETXTBSY };

	for (size_t i = 0; i < COUNT_OF(errors); i++)
		ck_assert_str_ne(rt_strerror(-errors[i]), rt_strerror(-9999));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("start_messages");
	TCase *messages = suite_case(suite, "messages");

	tcase_add_loop_test(messages, message_names_the_program, 0, COUNT_OF(methods));
	tcase_add_loop_test(messages, message_about_a_script_without_interpreter_says_so, 0,
	                    COUNT_OF(methods));
	tcase_add_loop_test(messages, message_names_the_working_directory, 0, COUNT_OF(methods));
	tcase_add_loop_test(messages, message_names_the_descriptor, 0, COUNT_OF(methods));
	tcase_add_test(messages, descriptors_that_make_no_sense_are_refused);
	tcase_add_test(messages, message_names_the_accounting_method);
	tcase_add_test(messages, message_is_cut_after_a_word_and_untouched_on_success);
	tcase_add_test(messages, each_error_of_execve_has_words);
	tcase_add_test(messages, program_reaped_by_the_kernel_is_echild);
	tcase_add_test(messages, supervisor_without_descriptors_is_emfile);
	tcase_add_test(messages, message_names_the_option);
	return suite_run(suite);
}
