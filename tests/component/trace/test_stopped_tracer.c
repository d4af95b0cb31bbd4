/* SPDX-License-Identifier: MIT */
/* A tracer that another process stops between any two messages, or holds as a debugger does: it is
 * continued, or killed. The tracer is the test's; all bounds are a hundredth. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "os/platform.h"
#include "os/process/helper.h"
#include "os/process/spawn.h"
#include "suite.h"
#include "trace/tracer_client.h"

#define LONG_NS UINT64_C(100000000000)

/* What the tracer does: S, stop itself; R, report that it is ready; B, that the program has begun.
 * Then it waits to be killed. */
static const char *script;
static bool is_seized; /* once it is there */

void __real_rti_platform_init(struct rti_platform *platform, bool is_foreign);
void __wrap_rti_platform_init(struct rti_platform *platform, bool is_foreign);
int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid);

void __wrap_rti_platform_init(struct rti_platform *platform, bool is_foreign)
{
	uint64_t *bound = &platform->waits.begin_ns;

	__real_rti_platform_init(platform, is_foreign);
	for (size_t i = 0; i < sizeof(platform->waits) / sizeof(*bound); i++)
		bound[i] /= 100;
	platform->waits.begin_ns = LONG_NS; /* of a machine that is busy */
}

static void play(int library)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (; *script; script++) {
		const struct rti_tracer_report report = { .step = *script == 'R'
			                                              ? RTI_TRACER_READY
			                                              : RTI_TRACER_STARTED };

		if (*script == 'S')
			raise(SIGSTOP);
		else if (send(library, &report, sizeof(report), 0) != sizeof(report))
			_exit(1);
	}
	for (;;)
		pause();
}

/* As a debugger: SIGCONT does not continue it. */
static void seize(pid_t pid)
{
	int status;

	ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
	ck_assert(WIFSTOPPED(status));
}

int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid)
{
	int library = -1;

	(void)name;
	(void)argv;
	for (size_t i = 0; i < opts->fd_count; i++)
		if (opts->fds[i].target == RTI_TRACER_LIBRARY_FD)
			library = opts->fds[i].source;
	file->dir = -1;
	*pid = fork();
	ck_assert_int_ge(*pid, 0);
	if (*pid == 0)
		play(library);
	if (is_seized)
		seize(*pid);
	return 0;
}

static int start(struct rti_tracer *tracer)
{
	static const struct rti_trace_request request = { .calls = RT_TRACE_CALL_WAIT4,
		                                          .ring = { .bytes = 4096 } };

	return rti_tracer_start(tracer, &request);
}

static void check_killed(struct rti_tracer *tracer)
{
	int status;

	ck_assert_int_eq(waitpid(tracer->pid, &status, 0), tracer->pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	rti_tracer_close(tracer, true);
}

static const char *const stops[] = { "SRB", "RSB", "SRSB" };

START_TEST(tracer_that_is_stopped_between_two_messages_is_continued)
{
	struct rti_tracer_report report;
	struct rti_tracer tracer;

	script = stops[_i];
	ck_assert_int_eq(start(&tracer), 0);
	ck_assert_int_eq(rti_tracer_receive(&tracer, UINT64_MAX, &report), 0);
	ck_assert_uint_eq(report.step, RTI_TRACER_STARTED);
	kill_process(tracer.pid, SIGKILL);
	check_killed(&tracer);
}
END_TEST

static int is_stopped(void *tracer)
{
	const struct rti_tracer *t = tracer;

	return thread_state(t->pid, t->pid) == 'T';
}

static int is_continued(void *tracer)
{
	ck_assert_int_eq(rti_tracer_look(tracer), 0);
	return !is_stopped(tracer);
}

START_TEST(tracer_that_is_stopped_while_it_traces_is_continued)
{
	struct rti_tracer tracer;

	script = "R";
	ck_assert_int_eq(start(&tracer), 0);
	kill_process(tracer.pid, SIGSTOP);
	wait_until(is_stopped, &tracer);
	wait_until(is_continued, &tracer);
	kill_process(tracer.pid, SIGKILL);
	check_killed(&tracer);
}
END_TEST

START_TEST(tracer_that_is_stopped_when_it_is_closed_is_continued)
{
	struct rti_tracer tracer;
	int32_t pid;

	script = "R";
	ck_assert_int_eq(start(&tracer), 0);
	pid = tracer.pid;
	tracer.has_program = true;
	kill_process(pid, SIGSTOP);
	wait_until(is_stopped, &tracer);
	rti_tracer_close(&tracer, true);
	ck_assert_int_ne(thread_state(pid, pid), 'T');
	kill_process(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(tracer_that_stays_stopped_before_it_is_ready_is_killed)
{
	struct rti_tracer tracer;

	script = "";
	is_seized = true;
	ck_assert_int_eq(start(&tracer), -ETIMEDOUT);
	check_killed(&tracer);
}
END_TEST

START_TEST(tracer_that_stays_stopped_before_the_program_is_killed)
{
	struct rti_tracer_report report;
	struct rti_tracer tracer;

	script = "R";
	ck_assert_int_eq(start(&tracer), 0);
	seize(tracer.pid);
	ck_assert_int_eq(rti_tracer_receive(&tracer, UINT64_MAX, &report), -EBUSY);
	check_killed(&tracer);
}
END_TEST

static int is_given_up(void *tracer)
{
	int err = rti_tracer_look(tracer);

	ck_assert(err == 0 || err == -ETIMEDOUT);
	return err < 0;
}

START_TEST(tracer_that_stays_stopped_while_it_traces_is_killed)
{
	struct rti_tracer tracer;

	script = "R";
	ck_assert_int_eq(start(&tracer), 0);
	seize(tracer.pid);
	ck_assert_int_eq(rti_tracer_look(&tracer), 0);
	wait_until(is_given_up, &tracer);
	check_killed(&tracer);
}
END_TEST

START_TEST(wait_for_the_program_ends_at_its_time)
{
	struct rti_tracer_report report;
	struct rti_tracer tracer;

	script = "R";
	ck_assert_int_eq(start(&tracer), 0);
	ck_assert_int_eq(rti_tracer_receive(&tracer, rti_monotonic_ns() + 10000000, &report),
	                 -ETIMEDOUT);
	check_killed(&tracer);
}
END_TEST

START_TEST(signal_that_is_pending_ends_the_wait_for_the_program)
{
	struct rti_tracer_report report;
	struct rti_tracer tracer;
	sigset_t set;

	script = "R";
	ck_assert_int_eq(start(&tracer), 0);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill_process(getpid(), SIGTERM);
	ck_assert_int_eq(rti_tracer_receive(&tracer, UINT64_MAX, &report), -EINTR);
	check_killed(&tracer);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stopped_tracer");
	TCase *goes_on = suite_case(suite, "goes_on"), *ends = suite_case(suite, "ends");

	tcase_add_loop_test(goes_on, tracer_that_is_stopped_between_two_messages_is_continued, 0,
	                    sizeof(stops) / sizeof(stops[0]));
	tcase_add_test(goes_on, tracer_that_is_stopped_while_it_traces_is_continued);
	tcase_add_test(goes_on, tracer_that_is_stopped_when_it_is_closed_is_continued);
	tcase_add_test(ends, tracer_that_stays_stopped_before_it_is_ready_is_killed);
	tcase_add_test(ends, tracer_that_stays_stopped_before_the_program_is_killed);
	tcase_add_test(ends, tracer_that_stays_stopped_while_it_traces_is_killed);
	tcase_add_test(ends, wait_for_the_program_ends_at_its_time);
	tcase_add_test(ends, signal_that_is_pending_ends_the_wait_for_the_program);
	return suite_run(suite);
}
