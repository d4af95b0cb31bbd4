/* SPDX-License-Identifier: MIT */
/* A trace by ptrace(2) for which no tracer starts: the test takes the place of what starts it. */
#include <errno.h>
#include <string.h>

#include "suite.h"
#include "trace/back_end.h"
#include "trace/tracer_client.h"

static int start_error;

int __wrap_rti_tracer_start(struct rti_tracer *tracer, const struct rti_trace_request *request);

int __wrap_rti_tracer_start(struct rti_tracer *tracer, const struct rti_trace_request *request)
{
	(void)request;
	*tracer = (struct rti_tracer)RTI_TRACER_INIT;
	return start_error;
}

START_TEST(trace_for_which_no_tracer_starts_says_why)
{
	static const struct {
		int err;
		const char *reason;
	} cases[] = { { -ENOPKG, "is not installed" }, { -ETIMEDOUT, "did not begin in time" } };
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	char reason[512] = "";
	const struct rti_trace_request request = { .calls = RT_TRACE_CALL_WAIT4,
		                                   .ring_bytes = 4096,
		                                   .command = &command,
		                                   .reason = reason,
		                                   .reason_size = sizeof(reason) };
	void *trace = NULL;

	start_error = cases[_i].err;
	ck_assert_int_eq(rti_trace_ptrace.open(&trace, &request), cases[_i].err);
	ck_assert_ptr_null(trace);
	ck_assert_msg(strstr(reason, cases[_i].reason), "%s", reason);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ptrace");
	TCase *tcase = suite_case(suite, "start");

	tcase_add_loop_test(tcase, trace_for_which_no_tracer_starts_says_why, 0, 2);
	return suite_run(suite);
}
