/* SPDX-License-Identifier: MIT */
/* Each call to the system of the tracer fails once, or the thread is killed right before a request
 * to it. The program runs once or not at all, it is killed by nothing else, its exit code is not
 * lost, and nothing is left behind. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "command/call_faults.h"
#include "command/late_children.h"
#include "descriptors.h"
#include "fixture.h"
#include "os/process/helper.h"
#include "os/process/spawn.h"
#include "os/protocol/tracer_protocol.h"
#include "suite.h"

#define CALLS_MAX 2000
#define READS_MAX 60
#define PATIENCE_NS INT64_C(20000000000)
#define EXIT_CODE 7

static struct fixture dir;

/* The tracer that is linked with the faults. The linker calls this instead of the function in its
 * name. */
int __real_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid);
int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid);

int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid)
{
	char plan[512];
	const char *const env[] = { plan, NULL };
	struct rti_spawn helper = *opts;

	if (strcmp(name, RTI_TRACER_NAME) != 0)
		return __real_rti_helper_spawn(name, opts, argv, file, pid);
	snprintf(plan, sizeof(plan), "%s=%s", CALL_FAULTS_ENV, getenv(CALL_FAULTS_ENV));
	snprintf(file->path, sizeof(file->path), "%s", FAULTY_TRACER);
	argv[0] = FAULTY_TRACER;
	helper.argv = argv;
	helper.envp = env;
	file->dir = -1;
	return rti_spawn(&helper, pid);
}

static void set_up(void)
{
	fixture_new(&dir);
	call_faults_share(dir.root);
}

static void tear_down(void)
{
	call_faults_keep_to_itself();
	fixture_free(&dir);
}

/* What a trace of a command has come to. */
struct run {
	int start_error, wait_error;
	int end; /* 0, or the error that the trace has ended with before all processes had */
	unsigned with_figures; /* events; a wait that a signal interrupts is one more, without */
	bool has_message;
	struct rt_outcome outcome;
};

static void read_to_end(struct rt_trace *trace, struct run *run)
{
	struct pollfd wait = { .fd = rt_trace_fd(trace), .events = POLLIN };
	struct rt_trace_event events[8];
	size_t count;
	int err;

	for (int naps = 0; naps < READS_MAX;) {
		count = 8;
		err = rt_trace_read(trace, events, sizeof(events[0]), &count);
		if (err < 0) {
			run->end = err == -ESRCH ? 0 : err;
			return;
		}
		for (size_t i = 0; i < count; i++)
			run->with_figures += events[i].rusage.ru_maxrss > 0;
		if (count == 0 && poll(&wait, 1, 1000) == 0)
			naps++;
	}
	ck_abort_msg("%s fails: the trace does not end", call_faults_name());
}

static struct run trace_program(void)
{
	const char *const argv[] = { CALLING_PROGRAM, NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	char message[512] = "";
	const struct rt_trace_opts opts = {
		.size = sizeof(opts),
		.back_end = RT_TRACE_BACK_END_PTRACE,
		.calls = RT_TRACE_CALL_GETRUSAGE | RT_TRACE_CALL_WAIT4 | RT_TRACE_CALL_WAITID,
		.command = &command,
		.message = message,
		.message_size = sizeof(message),
	};
	struct run run = { 0 };
	struct rt_trace *trace;

	run.start_error = rt_trace_new(&trace, &opts);
	run.has_message = *message;
	if (run.start_error < 0)
		return run;
	read_to_end(trace, &run);
	do {
		run.wait_error = rt_command_wait(rt_trace_command(trace), PATIENCE_NS, &run.outcome,
		                                 sizeof(run.outcome));
	} while (run.wait_error == -EINTR);
	rt_trace_free(trace);
	return run;
}

/* A request to the program's own thread fails because it was killed. */
static bool has_ended_right(const struct run *run, int kinds)
{
	if (run->outcome.signal == 0)
		return run->outcome.exit_code == EXIT_CODE;
	return kinds & CALL_TRACES && run->outcome.signal == SIGKILL;
}

/* Returns whether the call was reached. */
static bool trace_with_fault(unsigned at, int kinds, int error)
{
	int before = count_descriptors();
	bool is_reached;
	struct run run;
	char what[128];

	call_faults_begin(at, kinds | CALL_ELSEWHERE, error);
	run = trace_program();
	is_reached = call_faults_end();
	snprintf(what, sizeof(what), "call %u (%s) fails with %d", at, call_faults_name(), error);
	ck_assert_msg(is_reached || (run.start_error == 0 && run.end == 0),
	              "without a fault: %d, %d", run.start_error, run.end);
	ck_assert_msg(run.start_error == 0 || run.has_message, "%s: no words", what);
	ck_assert_msg(run.wait_error == 0, "%s: rt_command_wait() returns %d", what,
	              run.wait_error);
	ck_assert_msg(run.start_error < 0 || has_ended_right(&run, kinds),
	              "%s: exit code %d, signal %d", what, run.outcome.exit_code,
	              run.outcome.signal);
	ck_assert_msg(late_children_end(), "%s: a child stays", what);
	ck_assert_msg(count_descriptors() == before, "%s: %d descriptors stay", what,
	              count_descriptors() - before);
	return is_reached;
}

static void check_every_call(int kinds, int error)
{
	unsigned at = 1;

	while (trace_with_fault(at, kinds, error) && at < CALLS_MAX)
		at++;
	ck_assert_uint_gt(at, 3);
	ck_assert_uint_lt(at, CALLS_MAX);
	printf("# kinds %d, errno %d: %u runs\n", kinds, error, at);
}

static const struct {
	int kinds, error;
} faults[] = {
	{ CALL_TRACES, 0 },    { CALL_MAKES, ENOMEM }, { CALL_MAKES, EMFILE },
	{ CALL_WAITS, EINTR }, { CALL_READS, EIO },    { CALL_READS, EPERM },
};

#define FAULTS (int)(sizeof(faults) / sizeof(faults[0]))

START_TEST(program_keeps_its_exit_code_whatever_call_of_the_tracer_fails)
{
	if (trace_program().start_error < 0) {
		suite_skip_test("this system refuses to trace by ptrace");
		return;
	}
	check_every_call(faults[_i].kinds, faults[_i].error);
}
END_TEST

/* Then a file of a thread is closed after each read. */
START_TEST(tracer_with_few_descriptors_gives_the_same_events)
{
	const struct rlimit few = { 70, 70 };
	struct run truth = trace_program(), run;

	if (truth.start_error < 0) {
		suite_skip_test("this system refuses to trace by ptrace");
		return;
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	run = trace_program();
	ck_assert_int_eq(run.start_error, 0);
	ck_assert_int_eq(run.outcome.exit_code, EXIT_CODE);
	ck_assert_uint_gt(truth.with_figures, 3);
	ck_assert_uint_eq(run.with_figures, truth.with_figures);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("every call");
	TCase *tests = suite_case(suite, "tracer");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, program_keeps_its_exit_code_whatever_call_of_the_tracer_fails, 0,
	                    FAULTS);
	tcase_add_test(tests, tracer_with_few_descriptors_gives_the_same_events);
	return suite_run(suite);
}
