/* SPDX-License-Identifier: MIT */
/* What the tracer reports if its starter does not come: it runs as a program of its own. */
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"
#include "trace/tracer_client.h"

START_TEST(starter_that_ends_at_once_was_not_traced)
{
	const struct rti_trace_request request = { .calls = RT_TRACE_CALL_WAIT4,
		                                   .ring_bytes = 4096 };
	struct rti_tracer_report report = { 0 };
	struct rti_tracer tracer;

	ck_assert_int_eq(rti_tracer_start(&tracer, &request), 0);
	rti_tracer_release_starter(&tracer);
	ck_assert_int_eq(rti_tracer_receive(&tracer, &report), 0);

	ck_assert_uint_eq(report.step, RTI_TRACER_SILENT);
	ck_assert_int_eq(report.pid, 0);
	rti_tracer_close(&tracer, true);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("starter");
	TCase *tcase = suite_case(suite, "starter");

	tcase_add_test(tcase, starter_that_ends_at_once_was_not_traced);
	return suite_run(suite);
}
