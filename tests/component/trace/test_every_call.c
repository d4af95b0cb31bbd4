/* SPDX-License-Identifier: MIT */
/* Each call to the system that the library makes for a trace of a command fails once. The program
 * runs once or not at all, its exit code is not lost, and nothing is left behind. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "command/call_faults.h"
#include "command/late_children.h"
#include "descriptors.h"
#include "suite.h"

#define CALLS_MAX 1000
#define PATIENCE_NS INT64_C(20000000000)
#define EXIT_CODE 7

/* Returns 0 once all processes have ended, or the error of a trace that was lost. */
static int read_to_end(struct rt_trace *trace)
{
	struct pollfd wait = { .fd = rt_trace_fd(trace), .events = POLLIN };
	struct rt_trace_event events[8];
	size_t count;
	int err;

	for (;;) {
		count = 8;
		err = rt_trace_read(trace, events, sizeof(events[0]), &count);
		if (err < 0)
			return err == -ESRCH ? 0 : err;
		if (count == 0)
			poll(&wait, 1, 1000);
	}
}

/* What a trace of a command has come to. */
struct run {
	int start_error, wait_error;
	bool has_message;
	struct rt_outcome outcome;
};

static struct run trace_command(uint32_t back_end)
{
	const char *const argv[] = { "/bin/sh", "-c", "exit 7", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	char message[512] = "";
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .back_end = back_end,
		                            .command = &command,
		                            .message = message,
		                            .message_size = sizeof(message) };
	struct run run = { 0 };
	struct rt_trace *trace;

	run.start_error = rt_trace_new(&trace, &opts);
	run.has_message = *message;
	if (run.start_error < 0)
		return run;
	read_to_end(trace);
	do {
		run.wait_error = rt_command_wait(rt_trace_command(trace), PATIENCE_NS, &run.outcome,
		                                 sizeof(run.outcome));
	} while (run.wait_error == -EINTR);
	rt_trace_free(trace);
	return run;
}

/* Returns whether the call was reached. */
static bool trace_with_fault(uint32_t back_end, unsigned at, int kinds, int error)
{
	int before = count_descriptors();
	const char *name = call_faults_name();
	bool is_reached;
	struct run run;

	call_faults_begin(at, kinds, error);
	run = trace_command(back_end);
	is_reached = call_faults_end();
	ck_assert_msg(is_reached || run.start_error == 0, "without a fault: %d", run.start_error);
	ck_assert_msg(run.start_error == 0 || run.has_message,
	              "call %u (%s) fails with %d: no words", at, name, error);
	ck_assert_msg(run.wait_error == 0,
	              "call %u (%s) fails with %d: rt_command_wait() returns %d", at, name, error,
	              run.wait_error);
	ck_assert_msg(
	    run.start_error < 0 || (run.outcome.exit_code == EXIT_CODE && run.outcome.signal == 0),
	    "call %u (%s) fails with %d: exit code %d", at, name, error, run.outcome.exit_code);
	ck_assert_msg(late_children_end(), "call %u (%s) fails with %d: a child stays", at, name,
	              error);
	ck_assert_msg(count_descriptors() == before,
	              "call %u (%s) fails with %d: %d descriptors stay", at, name, error,
	              count_descriptors() - before);
	return is_reached;
}

/* The program of BPF takes a while to load: bpf/every_call makes the other faults. */
static const struct faults {
	uint32_t back_end;
	int kinds, error;
	unsigned calls; /* 0: all. There may be a thousand mounts, each a line to read. */
} faults[] = {
	{ RT_TRACE_BACK_END_BPF, CALL_MAKES, ENOMEM, 0 },
	{ RT_TRACE_BACK_END_PTRACE, CALL_MAKES, ENOMEM, 0 },
	{ RT_TRACE_BACK_END_PTRACE, CALL_MAKES, EMFILE, 0 },
	{ RT_TRACE_BACK_END_PTRACE, CALL_WAITS, EINTR, 0 },
	{ RT_TRACE_BACK_END_PTRACE, CALL_READS, EIO, 300 },
};
#define FAULTS_COUNT ((int)(sizeof(faults) / sizeof(faults[0])))

/* Each test has one of so many parts of the calls: every fourth, or every twelfth of a share. */
#define PARTS 4
#define SHARED_STEP 3

START_TEST(trace_with_any_fault_runs_program_once_or_never)
{
	const struct faults *f = &faults[_i / PARTS];
	unsigned step = suite_step(SHARED_STEP);
	unsigned at = 1 + (unsigned)(_i % PARTS) * step;

	if (trace_command(f->back_end).start_error < 0) {
		suite_skip_test("this system refuses the back end");
		return;
	}
	while (trace_with_fault(f->back_end, at, f->kinds, f->error) && at < CALLS_MAX &&
	       (f->calls == 0 || at < f->calls))
		at += PARTS * step;
	ck_assert_uint_gt(at, 3);
	ck_assert_uint_lt(at, CALLS_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every call");

	tcase_add_loop_test(suite_case(suite, "traces"),
	                    trace_with_any_fault_runs_program_once_or_never, 0,
	                    FAULTS_COUNT * PARTS);
	return suite_run(suite);
}
