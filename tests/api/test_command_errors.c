/* SPDX-License-Identifier: MIT */
/* The documented errors of the calls on commands. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "fixture.h"
#include "suite.h"

#define WAIT_FOREVER (-1)

static const char *const true_argv[] = { "true", NULL };

/* On failure rt_command_start() sets the out parameter to NULL. */
static void check_start(const struct rt_command_opts *opts, int expected)
{
	struct rt_command *command = (struct rt_command *)&command;

	ck_assert_int_eq(rt_command_start(&command, opts), expected);
	ck_assert_msg(!command == (expected != 0), "expected %d: *out is %p", expected,
	              (void *)command);
	if (command)
		ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, NULL, 0), 0);
	rt_command_free(command);
}

START_TEST(start_with_good_options_succeeds)
{
	const struct rt_opts all_defaults = { .size = sizeof(all_defaults) };
	const struct rt_opts oldest = { .size = OPTS_0_1 };
	const uint32_t size = sizeof(struct rt_command_opts);
	const struct rt_command_opts good[] = {
		{ .size = size, .argv = true_argv },
		{ .size = size, .argv = true_argv, .flags = RT_COMMAND_LIST_PROCESSES },
		{ .size = size, .argv = true_argv, .tracker = &all_defaults },
		{ .size = size, .argv = true_argv, .tracker = &oldest },
	};

	for (size_t i = 0; i < COUNT_OF(good); i++)
		check_start(&good[i], 0);
}
END_TEST

START_TEST(start_with_bad_options_is_refused)
{
	const char *const empty[] = { NULL };
	const uint32_t size = sizeof(struct rt_command_opts);
	const struct rt_command_opts bad[] = {
		{ .size = size, .argv = empty },
		{ .size = COMMAND_OPTS_0_1 - 1, .argv = true_argv },
		{ .size = 0, .argv = true_argv },
		{ .size = size, .argv = true_argv, .flags = RT_COMMAND_SUBREAPER_SELF << 1 },
		{ .size = size, .argv = true_argv, .flags = UINT32_C(1) << 31 },
		{ .size = size, .argv = true_argv, .accounting = RT_ACCOUNTING_BPF + 1 },
		{ .size = size, .argv = true_argv, .reserved = 1 },
	};

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		check_start(&bad[i], -EINVAL);
}
END_TEST

START_TEST(start_without_arguments_returns_efault)
{
	const struct rt_command_opts good = { .size = sizeof(good), .argv = true_argv };
	const struct rt_command_opts no_argv = { .size = sizeof(no_argv) };

	ck_assert_int_eq(rt_command_start(NULL, &good), -EFAULT);
	check_start(NULL, -EFAULT);
	check_start(&no_argv, -EFAULT);
}
END_TEST

START_TEST(start_with_bpf_accounting_without_privileges_returns_eopnotsupp)
{
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = true_argv,
		                              .accounting = RT_ACCOUNTING_BPF };

	/* Root may load BPF programs. */
	if (geteuid() == 0)
		ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	check_start(&opts, -EOPNOTSUPP);
}
END_TEST

START_TEST(start_with_bad_tracker_options_is_refused)
{
	const uint32_t size = sizeof(struct rt_opts);
	const struct rt_opts bad[] = {
		{ .size = size, .root = "/" },
		{ .size = 4 },
		{ .size = size, .flags = RT_OPT_SESSION },
	};

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		const struct rt_command_opts opts = { .size = sizeof(opts),
			                              .argv = true_argv,
			                              .tracker = &bad[i] };

		check_start(&opts, -EINVAL);
	}
}
END_TEST

START_TEST(program_with_bad_tracker_options_is_not_started)
{
	const struct rt_opts bad = { .size = sizeof(bad), .flags = UINT32_C(1) << 30 };
	struct fixture dir;
	char path[160];
	const char *const argv[] = { "touch", path, NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts), .argv = argv, .tracker = &bad };

	fixture_new(&dir);
	snprintf(path, sizeof(path), "%s/started", dir.root);
	for (int i = 0; i < 50; i++)
		check_start(&opts, -EINVAL);
	ck_assert_int_lt(access(path, F_OK), 0);
	fixture_free(&dir);
}
END_TEST

/* The options of a later release are longer. Behind them is other memory of the caller, which the
 * library must not read. */
START_TEST(start_with_longer_tracker_options_takes_zeroes_only)
{
	struct {
		struct rt_opts opts;
		uint64_t unknown[4], behind[4];
	} tracker = { .opts.size = sizeof(tracker) - sizeof(tracker.behind) };
	const struct rt_command_opts o = { .size = sizeof(o),
		                           .argv = true_argv,
		                           .tracker = &tracker.opts };

	memset(tracker.behind, FILLED, sizeof(tracker.behind));
	check_start(&o, 0);
	tracker.unknown[3] = 1;
	check_start(&o, -E2BIG);
}
END_TEST

static void check_exec_error(const char *program, const char *cwd, int expected)
{
	const char *const argv[] = { program, NULL };
	struct rt_command_opts o = { .size = sizeof(o), .argv = argv, .cwd = cwd };

	check_start(&o, expected);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child was left behind */
	ck_assert_int_eq(errno, ECHILD);
}

START_TEST(start_of_what_cannot_run_returns_reason)
{
	struct fixture f;
	char path[200];

	/* With an unreadable directory in PATH the result would be -EACCES. */
	ck_assert_int_eq(setenv("PATH", "/usr/bin:/bin", 1), 0);
	fixture_new(&f);
	check_exec_error("/nonexistent/program", NULL, -ENOENT);
	check_exec_error("no-program-has-this-name", NULL, -ENOENT);
	check_exec_error("true", "/nonexistent", -ENOENT);
	fixture_write(&f, "plain", "\x7f\x01garbage");
	strcat(strcpy(path, f.root), "/plain");
	check_exec_error(path, NULL, -EACCES);
	ck_assert_int_eq(chmod(path, 0755), 0);
	check_exec_error(path, NULL, -ENOEXEC);
	check_exec_error(f.root, NULL, -EACCES);
	fixture_free(&f);
}
END_TEST

START_TEST(start_with_too_long_arguments_returns_e2big)
{
	const size_t len = (size_t)8 << 20;
	char *word = malloc(len);
	const char *argv[] = { "true", word, NULL };
	struct rt_command_opts o = { .size = sizeof(o), .argv = argv };

	memset(word, 'x', len);
	word[len - 1] = '\0';
	check_start(&o, -E2BIG);
	free(word);
}
END_TEST

static struct rt_command *start_sleep_with(struct rt_command_opts opts, const char *seconds)
{
	const char *const argv[] = { "sleep", seconds, NULL };
	struct rt_command *command;

	opts.size = sizeof(opts);
	opts.argv = argv;
	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	return command;
}

static struct rt_command *start_sleep(const char *seconds)
{
	return start_sleep_with((struct rt_command_opts){ 0 }, seconds);
}

static void kill_command(struct rt_command *command)
{
	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, NULL, 0), 0);
}

START_TEST(wait_with_bad_arguments_is_refused)
{
	static const size_t bad[] = { 0, OUTCOME_0_1 - 1, SIZE_LIMIT + 1 };
	struct rt_command *command = start_sleep("60");
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_wait(NULL, 0, &outcome, sizeof(outcome)), -EFAULT);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_int_eq(rt_command_wait(command, 0, &outcome, bad[i]), -EINVAL);
	kill_command(command);
	rt_command_free(command);
}
END_TEST

START_TEST(wait_for_running_command_returns_etimedout)
{
	struct rt_command *command = start_sleep("60");
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_wait(command, 0, &outcome, sizeof(outcome)), -ETIMEDOUT);
	ck_assert_int_eq(rt_command_wait(command, 1000000, NULL, 0), -ETIMEDOUT);
	kill_command(command);
	rt_command_free(command);
}
END_TEST

START_TEST(wait_for_killed_command_has_signal_and_no_exit_code)
{
	struct rt_command *command = start_sleep("60");
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);
	ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome)), 0);

	ck_assert_int_eq(outcome.signal, SIGKILL);
	ck_assert_int_eq(outcome.exit_code, -1);
	rt_command_free(command);
}
END_TEST

static const struct rt_command_opts listed = { .flags = RT_COMMAND_LIST_PROCESSES };

START_TEST(list_with_bad_arguments_is_refused)
{
	const size_t size = sizeof(struct rt_command_process);
	const size_t first = offsetof(struct rt_command_process, estimated); /* of release 0.2 */
	const size_t bad[] = { 0, first - 1, SIZE_LIMIT + 1, SIZE_MAX };
	struct rt_command *command = start_sleep_with(listed, "60");
	size_t count = 0;

	ck_assert_int_eq(rt_command_processes(command, NULL, size, &count), -ENODATA);
	kill_command(command);
	ck_assert_int_eq(rt_command_processes(NULL, NULL, size, &count), -EFAULT);
	ck_assert_int_eq(rt_command_processes(command, NULL, size, NULL), -EFAULT);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_int_eq(rt_command_processes(command, NULL, bad[i], &count), -EINVAL);
	count = 1;
	ck_assert_int_eq(rt_command_processes(command, NULL, size, &count), -EFAULT);
	rt_command_free(command);
}
END_TEST

START_TEST(text_with_bad_arguments_is_refused)
{
	struct rt_command *command = start_sleep_with(listed, "60"), *unlisted = start_sleep("0");
	char buffer[4] = "xyz";
	size_t length = 0;

	ck_assert_int_eq(rt_command_process_text(command, 0, RT_TEXT_CWD, NULL, &length), -ENODATA);
	kill_command(command);
	ck_assert_int_eq(rt_command_process_text(NULL, 0, RT_TEXT_CWD, NULL, &length), -EFAULT);
	ck_assert_int_eq(rt_command_process_text(command, 0, RT_TEXT_CWD, NULL, NULL), -EFAULT);
	ck_assert_int_eq(rt_command_process_text(command, 0, 0, NULL, &length), -EINVAL);
	ck_assert_int_eq(rt_command_process_text(command, 0, 3, NULL, &length), -EINVAL);
	ck_assert_int_eq(rt_command_process_text(command, 1, RT_TEXT_CWD, NULL, &length), -EINVAL);
	ck_assert_int_eq(rt_command_process_text(command, SIZE_MAX, RT_TEXT_CWD, NULL, &length),
	                 -EINVAL);
	length = sizeof(buffer);
	ck_assert_int_eq(rt_command_process_text(command, 0, RT_TEXT_CWD, NULL, &length), -EFAULT);
	ck_assert_int_eq(rt_command_process_text(unlisted, 0, RT_TEXT_CWD, buffer, &length),
	                 -EOPNOTSUPP);
	ck_assert_uint_eq(length, sizeof(buffer));
	ck_assert_str_eq(buffer, "xyz");
	rt_command_free(command);
	rt_command_free(unlisted);
}
END_TEST

START_TEST(list_of_killed_command_has_signal_and_no_exit_code)
{
	struct rt_command *command = start_sleep_with(listed, "60");
	struct rt_command_process row;
	size_t count = 1;

	kill_command(command);
	ck_assert_int_eq(rt_command_processes(command, &row, sizeof(row), &count), 0);

	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(row.pid, rt_command_pid(command));
	ck_assert_int_eq(row.signal, SIGKILL);
	ck_assert_int_eq(row.exit_code, -1);
	rt_command_free(command);
}
END_TEST

START_TEST(list_that_was_not_requested_returns_eopnotsupp)
{
	const size_t size = sizeof(struct rt_command_process);
	struct rt_command *command = start_sleep("0");
	size_t count = 0;

	ck_assert_int_eq(rt_command_processes(command, NULL, size, &count), -EOPNOTSUPP);
	ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, NULL, 0), 0);
	ck_assert_int_eq(rt_command_processes(command, NULL, size, &count), -EOPNOTSUPP);
	rt_command_free(command);
}
END_TEST

START_TEST(wait_when_repeated_has_the_same_outcome)
{
	struct rt_command *command = start_sleep("0");
	struct rt_outcome first, again;

	ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, &first, sizeof(first)), 0);
	ck_assert_int_eq(rt_command_wait(command, 0, &again, sizeof(again)), 0);

	ck_assert_mem_eq(&first, &again, sizeof(first));
	ck_assert_int_eq(first.exit_code, 0);
	rt_command_free(command);
}
END_TEST

static void ignore_signal(int signal)
{
	(void)signal;
}

/* A signal that arrives while the wait does not sleep goes unnoticed. So there are several. */
START_TEST(wait_with_signal_handler_returns_eintr)
{
	const struct itimerval often = { { .tv_usec = 30000 }, { .tv_usec = 30000 } };
	const struct itimerval never = { 0 };
	struct sigaction act = { .sa_handler = ignore_signal };
	struct rt_command *command = start_sleep("60");
	struct rt_outcome outcome;

	ck_assert_int_eq(sigaction(SIGALRM, &act, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);

	ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome)), -EINTR);

	setitimer(ITIMER_REAL, &never, NULL);
	kill_command(command);
	rt_command_free(command);
}
END_TEST

/* With RT_ACCOUNTING_POLL the program is a child of the caller, so any code in the caller may reap
 * it. */
START_TEST(wait_after_caller_has_reaped_program_returns_echild)
{
	const struct rt_command_opts polled = { .accounting = RT_ACCOUNTING_POLL };
	struct rt_command *command = start_sleep_with(polled, "0");
	struct rt_outcome outcome;

	ck_assert_int_eq(waitpid(rt_command_pid(command), NULL, 0), rt_command_pid(command));
	ck_assert_int_eq(rt_command_wait(command, WAIT_FOREVER, &outcome, sizeof(outcome)),
	                 -ECHILD);
	ck_assert_uint_eq(outcome.size, sizeof(outcome));
	rt_command_free(command);
}
END_TEST

START_TEST(signal_with_bad_arguments_is_refused)
{
	struct rt_command *command = start_sleep("60");

	ck_assert_int_eq(rt_command_signal(NULL, SIGTERM), -EFAULT);
	ck_assert_int_eq(rt_command_interrupt(NULL), -EFAULT);
	ck_assert_int_eq(rt_command_kill(NULL), -EFAULT);
	ck_assert_int_eq(rt_command_signal(command, 999), -EINVAL);
	ck_assert_int_eq(rt_command_signal(command, -1), -EINVAL);
	kill_command(command);
	ck_assert_int_eq(rt_command_signal(command, SIGKILL), -ESRCH);
	ck_assert_int_eq(rt_command_signal(command, 0), -ESRCH);
	rt_command_free(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command_errors");
	TCase *starts = suite_case(suite, "starts"), *waits = suite_case(suite, "waits");
	TCase *lists = suite_case(suite, "lists"), *signals = suite_case(suite, "signals");

	tcase_add_test(starts, start_with_good_options_succeeds);
	tcase_add_test(starts, start_with_bad_options_is_refused);
	tcase_add_test(starts, start_without_arguments_returns_efault);
	tcase_add_test(starts, start_with_bpf_accounting_without_privileges_returns_eopnotsupp);
	tcase_add_test(starts, start_with_bad_tracker_options_is_refused);
	tcase_add_test(starts, program_with_bad_tracker_options_is_not_started);
	tcase_add_test(starts, start_with_longer_tracker_options_takes_zeroes_only);
	tcase_add_test(starts, start_of_what_cannot_run_returns_reason);
	tcase_add_test(starts, start_with_too_long_arguments_returns_e2big);
	tcase_add_test(waits, wait_with_bad_arguments_is_refused);
	tcase_add_test(waits, wait_for_running_command_returns_etimedout);
	tcase_add_test(waits, wait_for_killed_command_has_signal_and_no_exit_code);
	tcase_add_test(waits, wait_when_repeated_has_the_same_outcome);
	tcase_add_test(waits, wait_with_signal_handler_returns_eintr);
	tcase_add_test(waits, wait_after_caller_has_reaped_program_returns_echild);
	tcase_add_test(lists, list_with_bad_arguments_is_refused);
	tcase_add_test(lists, text_with_bad_arguments_is_refused);
	tcase_add_test(lists, list_of_killed_command_has_signal_and_no_exit_code);
	tcase_add_test(lists, list_that_was_not_requested_returns_eopnotsupp);
	tcase_add_test(signals, signal_with_bad_arguments_is_refused);
	return suite_run(suite);
}
