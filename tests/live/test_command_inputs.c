/* SPDX-License-Identifier: MIT */
/* What a caller hands to a command: descriptors, a working directory, arguments, an environment.
 * However odd, the program gets it, or the start fails with the error that it has without the
 * library, at every accounting method. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "commands.h"
#include "suite.h"

#define WORD_MAX 131072 /* MAX_ARG_STRLEN of the kernel, with the NUL */
#define TOO_MANY 1500   /* words of 4 KiB: 6 MiB, the most that Linux takes, and more */
#define MESSAGE_BYTES 300

static const uint32_t methods[] = { RT_ACCOUNTING_AUTO, RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT };
static const int method_count = sizeof(methods) / sizeof(methods[0]);

static char message[MESSAGE_BYTES];

/* Start a program that must not start. Returns the error; message says why. */
static int fail_to_start(struct rt_command_opts opts, const char *const argv[])
{
	struct rt_command *command;
	int err;

	message[0] = '\0';
	opts.message = message;
	opts.message_size = sizeof(message);
	err = start_command(&command, opts, argv);
	ck_assert_int_lt(err, 0);
	ck_assert_ptr_null(command);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	return err;
}

static int exit_code(struct rt_command_opts opts, const char *script)
{
	return run_shell_with(opts, script).exit_code;
}

/* --- Descriptors --- */

/* The number of a target is then also that of the next descriptor that is opened. */
START_TEST(null_device_takes_a_number_that_is_closed_in_the_caller)
{
	const struct rt_fd fds[] = { { .target = _i / method_count, .source = -2 } };
	const struct rt_command_opts opts = { .accounting = methods[_i % method_count],
		                              .fds = fds,
		                              .fd_count = 1 };
	const int target = fds[0].target;
	int kept = fcntl(target, F_DUPFD_CLOEXEC, 100), code;
	char script[128];

	snprintf(script, sizeof(script), "test /proc/$$/fd/%d -ef /dev/null && exit 7", target);
	close(target);
	code = exit_code(opts, script);
	if (kept >= 0) {
		dup2(kept, target);
		close(kept);
	}
	ck_assert_int_eq(code, 7);
}
END_TEST

/* E.g. a daemon, which hands out a pipe and has no standard descriptors itself. */
START_TEST(standard_descriptors_are_handed_over_by_a_caller_that_has_none)
{
	const struct rt_fd fds[] = { { 0, 120 }, { 1, 121 }, { 2, 121 } };
	const struct rt_command_opts opts = {
		.accounting = methods[_i], .flags = RT_COMMAND_ONLY_FDS, .fds = fds, .fd_count = 3
	};
	int kept[3], pipe_fds[2], code;
	char text[64] = "";

	ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	ck_assert_int_eq(dup3(open("/dev/zero", O_RDONLY | O_CLOEXEC), 120, O_CLOEXEC), 120);
	ck_assert_int_eq(dup3(pipe_fds[1], 121, O_CLOEXEC), 121);
	for (int fd = 0; fd < 3; fd++) {
		kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
		close(fd);
	}
	code = exit_code(opts, "test /proc/$$/fd/0 -ef /dev/zero && echo out && echo err >&2 &&"
	                       " ! test -e /proc/$$/fd/120 && exit 7");
	for (int fd = 0; fd < 3; fd++) {
		dup2(kept[fd], fd);
		close(kept[fd]);
	}
	ck_assert_int_eq(code, 7);
	ck_assert_int_eq(read(pipe_fds[0], text, sizeof(text) - 1), 8);
	ck_assert_str_eq(text, "out\nerr\n");
}
END_TEST

START_TEST(source_that_is_not_open_is_ebadf_and_named)
{
	const struct rt_fd fds[] = { { 9, 1 }, { 10, 150 } };
	const struct rt_command_opts opts = { .accounting = methods[_i],
		                              .fds = fds,
		                              .fd_count = 2 };
	const char *const argv[] = { "true", NULL };

	ck_assert_int_eq(fail_to_start(opts, argv), -EBADF);
	ck_assert_ptr_nonnull(strstr(message, "Descriptor 150, the source of descriptor 10"));
}
END_TEST

/* The numbers that the library opens next are targets: neither takes the other's place. */
START_TEST(targets_with_the_numbers_of_the_librarys_own_descriptors_arrive)
{
	struct rt_fd fds[60];
	const struct rt_command_opts opts = { .accounting = methods[_i],
		                              .fds = fds,
		                              .fd_count = 60 };
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 60; i++)
		fds[i] = (struct rt_fd){ .target = 62 - i, .source = zero };

	ck_assert_int_eq(exit_code(opts, "for i in $(seq 3 62); do test /proc/$$/fd/$i -ef "
	                                 "/dev/zero || exit 1; done; exit 7"),
	                 7);
	close(zero);
}
END_TEST

/* --- The working directory --- */

static int fail_to_enter(uint32_t method, const char *cwd)
{
	const struct rt_command_opts opts = { .accounting = method, .cwd = cwd };
	const char *const argv[] = { "true", NULL };

	return fail_to_start(opts, argv);
}

static void make_directory(char directory[32])
{
	strcpy(directory, "/tmp/rtrack-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

START_TEST(directory_that_cannot_be_entered_is_named)
{
	char directory[32];

	make_directory(directory);
	ck_assert_int_eq(rmdir(directory), 0);
	ck_assert_int_eq(fail_to_enter(methods[_i], directory), -ENOENT);
	ck_assert_ptr_nonnull(strstr(message, directory));
	ck_assert_int_eq(fail_to_enter(methods[_i], "/dev/null"), -ENOTDIR);
	ck_assert_ptr_nonnull(strstr(message, "/dev/null"));
	ck_assert_int_eq(fail_to_enter(methods[_i], ""), -ENOENT);
}
END_TEST

/* Root may search any directory. */
START_TEST(directory_that_may_not_be_searched_is_eacces)
{
	char directory[32];

	if (geteuid() == 0) {
		ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
		ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
	}
	make_directory(directory);
	ck_assert_int_eq(chmod(directory, 0), 0);

	/* This user may be refused the supervisor as well, which method wait needs. */
	ck_assert_int_eq(fail_to_enter(RT_ACCOUNTING_AUTO, directory), -EACCES);
	ck_assert_ptr_nonnull(strstr(message, directory));
	ck_assert_int_eq(fail_to_enter(RT_ACCOUNTING_POLL, directory), -EACCES);
	ck_assert_ptr_nonnull(strstr(message, directory));
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

START_TEST(program_starts_though_the_directory_of_the_caller_is_gone)
{
	const struct rt_command_opts stay = { .accounting = methods[_i] };
	const struct rt_command_opts move = { .accounting = methods[_i], .cwd = "/usr" };
	char directory[32];

	make_directory(directory);
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(rmdir(directory), 0);

	ck_assert_int_eq(exit_code(stay, "exit 7"), 7);
	ck_assert_int_eq(exit_code(move, "test \"$(readlink /proc/self/cwd)\" = /usr && exit 7"),
	                 7);
	ck_assert_int_eq(fail_to_enter(methods[_i], "below"), -ENOENT);
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* --- Arguments and environment --- */

static char *new_word(size_t len)
{
	char *word = malloc(len + 1);

	ck_assert_ptr_nonnull(word);
	memset(word, 'x', len);
	word[len] = '\0';
	return word;
}

static void fail_with_too_much(uint32_t method, const char *const argv[], const char *const envp[])
{
	const struct rt_command_opts opts = { .accounting = method, .envp = envp };

	ck_assert_int_eq(fail_to_start(opts, argv), -E2BIG);
	ck_assert_ptr_nonnull(strstr(message, "Pass fewer arguments or a smaller environment"));
}

START_TEST(word_that_is_longer_than_the_kernel_takes_is_e2big)
{
	char *word = new_word(WORD_MAX);
	const char *const argv[] = { "true", word, NULL }, *const plain[] = { "true", NULL };
	const char *const envp[] = { "PATH=/usr/bin:/bin", word, NULL };

	fail_with_too_much(methods[_i], argv, NULL);
	fail_with_too_much(methods[_i], plain, envp);
	free(word);
}
END_TEST

START_TEST(words_that_are_more_than_the_kernel_takes_are_e2big)
{
	char *word = new_word(4096);
	const char *argv[TOO_MANY + 2] = { "true" }, *envp[TOO_MANY + 2] = { "PATH=/usr/bin:/bin" };
	const char *const plain[] = { "true", NULL };

	for (int i = 1; i <= TOO_MANY; i++)
		argv[i] = envp[i] = word;
	fail_with_too_much(methods[_i], argv, NULL);
	fail_with_too_much(methods[_i], plain, envp);
	free(word);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command_inputs");
	TCase *fds = suite_case(suite, "descriptors"), *cwd = suite_case(suite, "directories");
	TCase *words = suite_case(suite, "words");
	int all = method_count;

	tcase_add_loop_test(fds, null_device_takes_a_number_that_is_closed_in_the_caller, 0,
	                    3 * all);
	tcase_add_loop_test(fds, standard_descriptors_are_handed_over_by_a_caller_that_has_none, 0,
	                    all);
	tcase_add_loop_test(fds, source_that_is_not_open_is_ebadf_and_named, 0, all);
	tcase_add_loop_test(fds, targets_with_the_numbers_of_the_librarys_own_descriptors_arrive, 0,
	                    all);
	tcase_add_loop_test(cwd, directory_that_cannot_be_entered_is_named, 0, all);
	tcase_add_test(cwd, directory_that_may_not_be_searched_is_eacces);
	tcase_add_loop_test(cwd, program_starts_though_the_directory_of_the_caller_is_gone, 0, all);
	tcase_add_loop_test(words, word_that_is_longer_than_the_kernel_takes_is_e2big, 0, all);
	tcase_add_loop_test(words, words_that_are_more_than_the_kernel_takes_are_e2big, 0, all);
	return suite_run(suite);
}
