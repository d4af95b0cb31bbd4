/* SPDX-License-Identifier: MIT */
/* The calls on a trace that was begun, as they are documented. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "suite.h"

static char why_not[256];

/* Of a command, by the back end that can be had. Returns 0 or -errno. */
static int open_trace(struct rt_trace **out)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .command = &command,
		                            .message = why_not,
		                            .message_size = sizeof(why_not) };

	return rt_trace_new(out, &opts);
}

static struct rt_trace *new_trace(void)
{
	struct rt_trace *trace;

	ck_assert_int_eq(open_trace(&trace), 0);
	ck_assert_int_eq(rt_command_wait(rt_trace_command(trace), -1, NULL, 0), 0);
	return trace;
}

START_TEST(read_with_bad_arguments_is_refused_and_writes_nothing)
{
	struct rt_trace *trace = new_trace();
	struct rt_trace_event events[2];
	size_t count = 2;

	memset(events, FILLED, sizeof(events));
	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]), NULL), -EFAULT);
	ck_assert_int_eq(rt_trace_read(trace, NULL, sizeof(events[0]), &count), -EFAULT);
	ck_assert_int_eq(rt_trace_read(trace, events, sizeof(events[0]) - 8, &count), -EINVAL);
	ck_assert_int_eq(rt_trace_read(trace, events, SIZE_LIMIT + 8, &count), -EINVAL);
	ck_assert_uint_eq(count, 2);
	ck_assert(is_filled(events, sizeof(events)));
	count = 0;
	ck_assert_int_eq(rt_trace_read(trace, NULL, sizeof(events[0]), &count), 0);
	rt_trace_free(trace);
}
END_TEST

START_TEST(totals_with_bad_arguments_are_refused)
{
	struct rt_trace *trace = new_trace();
	struct rt_trace_totals totals;

	ck_assert_int_eq(rt_trace_get_totals(trace, NULL, sizeof(totals)), -EFAULT);
	ck_assert_int_eq(rt_trace_get_totals(trace, &totals, sizeof(totals) - 8), -EINVAL);
	ck_assert_int_eq(rt_trace_get_totals(trace, &totals, sizeof(totals)), 0);
	ck_assert_uint_eq(totals.size, sizeof(totals));
	ck_assert_uint_ne(totals.back_end, RT_TRACE_BACK_END_AUTO);
	rt_trace_free(trace);
}
END_TEST

static const char *const missing_argv[] = { "/nonexistent/program", NULL };
static const char *const true_argv[] = { "true", NULL };

static const struct rt_command_opts unstartable[] = {
	{ .size = sizeof(struct rt_command_opts), .argv = missing_argv },
	{ .size = sizeof(struct rt_command_opts), .argv = true_argv, .cwd = "/nonexistent" },
	{ .size = sizeof(struct rt_command_opts),
	  .argv = true_argv,
	  .accounting = RT_ACCOUNTING_BPF },
};

/* By whichever back end. */
START_TEST(command_that_cannot_be_started_has_the_error_and_message_of_its_start)
{
	char plain[256] = "", traced[256] = "", unused[256];
	struct rt_command_opts command = unstartable[_i];
	struct rt_trace_opts opts = { .size = sizeof(opts),
		                      .command = &command,
		                      .message = traced,
		                      .message_size = sizeof(traced) };
	struct rt_command *started;
	struct rt_trace *trace;
	int err;

	memset(unused, FILLED, sizeof(unused));
	command.message = plain;
	command.message_size = sizeof(plain);
	err = rt_command_start(&started, &command);
	ck_assert_int_lt(err, 0);
	command.message = unused;
	ck_assert_int_eq(rt_trace_new(&trace, &opts), err);
	ck_assert_ptr_null(trace);
	ck_assert_str_eq(traced, plain);
	ck_assert(is_filled(unused, sizeof(unused)));
}
END_TEST

/* A forked child may only free its copy. */
START_TEST(read_in_a_forked_child_returns_echild)
{
	struct rt_trace *trace = new_trace();
	struct rt_trace_event event;
	size_t count = 1;
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(rt_trace_read(trace, &event, sizeof(event), &count) == -ECHILD ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	rt_trace_free(trace);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("api_trace_handle");
	TCase *tests = suite_case(suite, "handle");
	struct rt_trace *trace;

	if (open_trace(&trace) < 0)
		return suite_skip(why_not);
	rt_trace_free(trace);
	tcase_add_test(tests, read_with_bad_arguments_is_refused_and_writes_nothing);
	tcase_add_test(tests, totals_with_bad_arguments_are_refused);
	tcase_add_loop_test(tests,
	                    command_that_cannot_be_started_has_the_error_and_message_of_its_start,
	                    0, COUNT_OF(unstartable));
	tcase_add_test(tests, read_in_a_forked_child_returns_echild);
	return suite_run(suite);
}
