/* SPDX-License-Identifier: MIT */
/* The documented errors of the calls on traces. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "fixture.h"
#include "suite.h"

#define OPTS_SIZE ((uint32_t)sizeof(struct rt_trace_opts))

static const char *const true_argv[] = { "true", NULL };
static const struct rt_command_opts true_command = { .size = sizeof(true_command),
	                                             .argv = true_argv };

/* On failure rt_trace_new() sets the out parameter to NULL. */
static void check_refused(const struct rt_trace_opts *opts, int expected)
{
	struct rt_trace *trace = (struct rt_trace *)&trace;

	ck_assert_int_eq(rt_trace_new(&trace, opts), expected);
	ck_assert_ptr_null(trace);
}

START_TEST(trace_with_bad_options_is_refused)
{
	const struct rt_trace_opts bad[] = {
		{ .size = OPTS_SIZE },
		{ .size = OPTS_SIZE, .pid = -1 },
		{ .size = OPTS_SIZE, .pid = 1, .flags = RT_TRACE_OPT_ALL },
		{ .size = OPTS_SIZE, .pid = 1, .command = &true_command },
		{ .size = OPTS_SIZE, .command = &true_command, .flags = RT_TRACE_OPT_ALL },
		{ .size = OPTS_SIZE, .flags = RT_TRACE_OPT_ALL | RT_TRACE_OPT_NO_CHILDREN },
		{ .size = OPTS_SIZE, .pid = 1, .flags = RT_TRACE_OPT_LIVE_CHILDREN << 1 },
		{ .size = OPTS_SIZE, .pid = 1, .calls = RT_TRACE_CALL_WAITID << 1 },
		{ .size = OPTS_SIZE, .pid = 1, .back_end = RT_TRACE_BACK_END_PTRACE },
		{ .size = OPTS_SIZE, .pid = 1, .back_end = RT_TRACE_BACK_END_PTRACE + 1 },
		{ .size = OPTS_SIZE, .pid = 1, .ring_bytes = (64u << 20) + 1 },
		{ .size = OPTS_SIZE, .pid = 1, .reserved = 1 },
		{ .size = OPTS_SIZE - 8, .pid = 1 },
		{ .size = 0, .pid = 1 },
	};

	for (size_t i = 0; i < COUNT_OF(bad); i++)
		check_refused(&bad[i], -EINVAL);
}
END_TEST

START_TEST(trace_without_arguments_returns_efault)
{
	const struct rt_trace_opts opts = { .size = OPTS_SIZE, .pid = 1 };
	size_t count = 1;

	ck_assert_int_eq(rt_trace_new(NULL, &opts), -EFAULT);
	check_refused(NULL, -EFAULT);
	ck_assert_int_eq(rt_trace_fd(NULL), -EFAULT);
	ck_assert_int_eq(rt_trace_read(NULL, NULL, sizeof(struct rt_trace_event), &count), -EFAULT);
	ck_assert_int_eq(rt_trace_get_totals(NULL, NULL, sizeof(struct rt_trace_totals)), -EFAULT);
	ck_assert_ptr_null(rt_trace_command(NULL));
	rt_trace_free(NULL);
}
END_TEST

START_TEST(trace_with_options_of_a_later_release_is_refused_unless_they_are_zero)
{
	struct {
		struct rt_trace_opts known;
		uint64_t later;
	} opts = { .known = { .size = sizeof(opts), .pid = -1 }, .later = 1 };

	check_refused(&opts.known, -E2BIG);
	opts.later = 0;
	check_refused(&opts.known, -EINVAL); /* by its pid */
}
END_TEST

START_TEST(trace_of_a_process_that_has_exited_is_refused)
{
	const struct rt_trace_opts opts = { .size = OPTS_SIZE, .pid = make_exited_pid() };
	struct rt_trace *trace;
	int err = rt_trace_new(&trace, &opts);

	/* A caller that may not trace learns that first. */
	ck_assert_msg(err == -ESRCH || err == -EPERM || err == -ENOPKG || err == -EOPNOTSUPP,
	              "returned %d", err);
}
END_TEST

START_TEST(refused_trace_has_a_sentence_that_is_cut_to_fit)
{
	char message[200], cut[10];
	struct rt_trace_opts opts = { .size = OPTS_SIZE,
		                      .message = message,
		                      .message_size = sizeof(message) };
	struct rt_trace *trace;

	memset(message, FILLED, sizeof(message));
	memset(cut, FILLED, sizeof(cut));
	ck_assert_int_eq(rt_trace_new(&trace, &opts), -EINVAL);
	ck_assert_uint_lt(strnlen(message, sizeof(message)), sizeof(message));
	ck_assert_uint_gt(strlen(message), 20);
	opts.message = cut;
	opts.message_size = sizeof(cut) - 1;
	ck_assert_int_eq(rt_trace_new(&trace, &opts), -EINVAL);
	ck_assert_uint_lt(strlen(cut), sizeof(cut) - 1);
	ck_assert_str_eq(cut + strlen(cut) - 3, "...");
	ck_assert_int_eq(cut[sizeof(cut) - 1], FILLED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("api_trace_errors");
	TCase *tests = suite_case(suite, "errors");

	tcase_add_test(tests, trace_with_bad_options_is_refused);
	tcase_add_test(tests, trace_without_arguments_returns_efault);
	tcase_add_test(tests,
	               trace_with_options_of_a_later_release_is_refused_unless_they_are_zero);
	tcase_add_test(tests, trace_of_a_process_that_has_exited_is_refused);
	tcase_add_test(tests, refused_trace_has_a_sentence_that_is_cut_to_fit);
	return suite_run(suite);
}
