/* SPDX-License-Identifier: MIT */
/* What the tracer reports if its starter does not come, and that it does nothing if it is started
 * by hand: it runs as a program of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"
#include "trace/tracer_client.h"

START_TEST(starter_that_ends_at_once_was_not_traced)
{
	const struct rti_trace_request request = { .calls = RT_TRACE_CALL_WAIT4,
		                                   .ring = { .bytes = 4096 } };
	struct rti_tracer_report report = { 0 };
	struct rti_tracer tracer;

	ck_assert_int_eq(rti_tracer_start(&tracer, &request), 0);
	rti_tracer_release_starter(&tracer);
	ck_assert_int_eq(rti_tracer_receive(&tracer, UINT64_MAX, &report), 0);

	ck_assert_uint_eq(report.step, RTI_TRACER_SILENT);
	ck_assert_int_eq(report.pid, 0);
	rti_tracer_close(&tracer, true);
}
END_TEST

static const struct {
	const char *argv[4];
	int exit_code;
} commands[] = {
	{ { "rtrack-tracer" }, 2 },
	{ { "rtrack-tracer", "other" }, 2 },
	{ { "rtrack-tracer", RTI_TRACER_TRACE, "more" }, 2 },
	{ { "rtrack-tracer", RTI_TRACER_TRACE }, 2 }, /* it has no ring */
	{ { "rtrack-tracer", RTI_TRACER_START }, 127 },
};

START_TEST(tracer_that_is_started_by_hand_ends_at_once)
{
	char path[4096];
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/lib/" RTI_TRACER_NAME, getenv("RTRACK_BUILD_ROOT"));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		for (int fd = RTI_TRACER_LIBRARY_FD; fd <= RTI_TRACER_EVENT_FD; fd++)
			close(fd);
		execv(path, (char *const *)commands[_i].argv);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), commands[_i].exit_code);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("starter");
	TCase *tcase = suite_case(suite, "starter");

	tcase_add_test(tcase, starter_that_ends_at_once_was_not_traced);
	tcase_add_loop_test(tcase, tracer_that_is_started_by_hand_ends_at_once, 0,
	                    sizeof(commands) / sizeof(commands[0]));
	return suite_run(suite);
}
