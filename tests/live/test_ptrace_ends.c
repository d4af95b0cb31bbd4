/* SPDX-License-Identifier: MIT */
/* How a trace by ptrace(2) begins and ends: programs that cannot be started or traced, exits and
 * signals, and the death of each process that takes part. Nothing is left, and nothing stopped.
 *
 * The test is a subreaper: whatever is orphaned becomes its child, and it waits for all. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "traces.h"

#define NO_USER 65534
#define ROUNDS 25
#define MS 1000000
#define TEXT_MAX 512
#define WITHOUT_END "2000000000"

static const struct rt_trace_opts usual = { 0 };

static void begin(void)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

/* Every process that was started has ended. A stopped one would never. */
static void end(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, 0)) > 0 || errno == EINTR)
		;
	ck_assert_int_eq(errno, ECHILD);
}

static void sleep_ms(int ms)
{
	const struct timespec nap = { .tv_nsec = (long)ms * MS };

	nanosleep(&nap, NULL);
}

static int has_called(void *arg)
{
	const struct trace *trace = arg;

	const int32_t *values = trace->log->values;

	return __atomic_load_n(&values[0], __ATOMIC_SEQ_CST) > 10 &&
	       __atomic_load_n(&values[1], __ATOMIC_SEQ_CST) > 0 &&
	       __atomic_load_n(&values[2], __ATOMIC_SEQ_CST) > 0;
}

static void start_forever(struct trace *trace, const char *count)
{
	trace_program(trace, "", "forever", count, usual);
	wait_until(has_called, trace);
}

static void kill_program(const struct trace *trace)
{
	kill_process(trace->log->values[1], SIGKILL);
	kill_process(trace->log->values[2], SIGKILL);
}

static const struct {
	const char *program, *cwd;
	uint32_t accounting;
} failures[] = {
	{ "/nonexistent/program", NULL, RT_ACCOUNTING_AUTO },
	{ "/nonexistent/program", NULL, RT_ACCOUNTING_POLL },
	{ "no-such-program-anywhere", NULL, RT_ACCOUNTING_WAIT },
	{ "/etc/passwd", NULL, RT_ACCOUNTING_AUTO },
	{ "/etc/passwd", NULL, RT_ACCOUNTING_POLL },
	{ "/etc", NULL, RT_ACCOUNTING_WAIT },
	{ "", NULL, RT_ACCOUNTING_AUTO },
	{ "/etc/passwd/x", NULL, RT_ACCOUNTING_AUTO },
	{ "true", "/nonexistent", RT_ACCOUNTING_AUTO },
	{ "true", "/nonexistent", RT_ACCOUNTING_POLL },
};

START_TEST(program_that_cannot_be_started_fails_as_without_a_trace)
{
	const char *argv[] = { failures[_i].program, NULL };
	char plain[TEXT_MAX] = "", traced[TEXT_MAX] = "";
	struct rt_command_opts opts = { .size = sizeof(opts),
		                        .argv = argv,
		                        .cwd = failures[_i].cwd,
		                        .accounting = failures[_i].accounting,
		                        .message = plain,
		                        .message_size = TEXT_MAX };
	struct rt_trace_opts trace_opts = { .command = &opts,
		                            .message = traced,
		                            .message_size = TEXT_MAX };
	struct rt_command *command;
	struct trace trace;
	int err;

	begin();
	err = rt_command_start(&command, &opts);
	ck_assert_int_lt(err, 0);

	ck_assert_int_eq(trace_argv(&trace, argv, trace_opts), err);
	ck_assert_ptr_null(trace.trace);
	ck_assert_str_eq(traced, plain);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* all were reaped */
	free_trace(&trace);
}
END_TEST

static const char *const scripts[] = { "exit 0",        "exit 5",        "kill -9 $$",
	                               "kill -SEGV $$", "kill -TERM $$", "(exit 3)" };

START_TEST(program_ends_as_without_a_trace)
{
	const char *argv[] = { "sh", "-c", scripts[_i / 2], NULL };
	struct rt_command_opts opts = { .size = sizeof(opts),
		                        .argv = argv,
		                        .accounting =
		                            _i % 2 ? RT_ACCOUNTING_POLL : RT_ACCOUNTING_AUTO };
	const struct rt_trace_opts trace_opts = { .command = &opts };
	struct rt_outcome plain, traced;
	struct rt_command *command;
	struct trace trace;

	begin();
	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	ck_assert_int_eq(rt_command_wait(command, -1, &plain, sizeof(plain)), 0);
	rt_command_free(command);
	ck_assert_int_eq(trace_argv(&trace, argv, trace_opts), 0);
	traced = finish_trace(&trace);
	read_trace(&trace);

	ck_assert_int_eq(traced.exit_code, plain.exit_code);
	ck_assert_int_eq(traced.signal, plain.signal);
	ck_assert_int_eq(trace.end, -ESRCH);
	free_trace(&trace);
	end();
}
END_TEST

START_TEST(user_without_rights_can_trace)
{
	pid_t child;
	int status;

	if (geteuid() != 0) {
		suite_skip_test("every test runs without rights then");
		return;
	}
	begin();
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct trace trace;

		if (setgid(NO_USER - 1) < 0 || setuid(NO_USER) < 0)
			_exit(1);
		trace_program(&trace, "", "threads", "100", usual);
		read_trace(&trace);
		check_events(&trace);
		ck_assert_uint_eq(trace.events[0].uid, NO_USER);
		free_trace(&trace);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	end();
}
END_TEST

START_TEST(host_that_is_traced_learns_by_which_process)
{
	char command[8192], text[TEXT_MAX] = "";
	FILE *output;

	if (system("strace -o /dev/null true 2>/dev/null") != 0) {
		suite_skip_test("strace is not installed, or may not trace");
		return;
	}
	snprintf(command, sizeof(command),
	         /* The leak detector of a sanitizer fails in a process that is traced. */
	         "ASAN_OPTIONS=detect_leaks=0 strace -f -o /dev/null "
	         "%s/tests/live/live-ptrace_ends say",
	         getenv("RTRACK_BUILD_ROOT"));
	output = popen(command, "r");
	ck_assert_ptr_nonnull(output);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), output));
	ck_assert_int_eq(pclose(output), 0);

	ck_assert_ptr_nonnull(strstr(text, "-1: The program is traced already, by process"));
	ck_assert_ptr_nonnull(strstr(text, "(strace)"));
}
END_TEST

/* The host of the test above. */
static int say_why_not(void)
{
	const char *argv[] = { "true", NULL };
	const struct rt_command_opts command = { .size = sizeof(command), .argv = argv };
	char text[TEXT_MAX] = "";
	const struct rt_trace_opts opts = { .size = sizeof(opts),
		                            .back_end = RT_TRACE_BACK_END_PTRACE,
		                            .command = &command,
		                            .message = text,
		                            .message_size = TEXT_MAX };
	struct rt_trace *trace;
	int err = rt_trace_new(&trace, &opts);

	printf("%d: %s\n", err, text);
	return waitpid(-1, NULL, WNOHANG) < 0 ? 0 : 1;
}

START_TEST(tracer_that_is_killed_takes_the_program_with_it)
{
	struct rt_outcome outcome;
	struct trace trace;
	pid_t tracer;

	begin();
	start_forever(&trace, WITHOUT_END);
	tracer = find_tracer();
	ck_assert_int_gt(tracer, 0);

	kill_process(tracer, SIGKILL);
	read_trace(&trace);
	outcome = finish_trace(&trace);

	ck_assert_int_eq(trace.end, -ECHILD);
	ck_assert_int_eq(outcome.signal, SIGKILL);
	free_trace(&trace);
	end();
}
END_TEST

struct progress {
	struct traced_log *log;
	int32_t calls; /* at some moment */
};

static int32_t count_calls(const struct traced_log *log)
{
	return __atomic_load_n(&log->values[0], __ATOMIC_SEQ_CST);
}

static int has_gone_on(void *arg)
{
	const struct progress *progress = arg;

	return count_calls(progress->log) > progress->calls + 1000;
}

/* The program goes on from here, and ends by itself when it may. */
static void check_running_on(struct traced_log *log)
{
	struct progress progress = { log, count_calls(log) };

	wait_until(has_gone_on, &progress);
	__atomic_store_n(&log->may_end, 1, __ATOMIC_SEQ_CST);
	end();
}

START_TEST(trace_that_is_freed_lets_the_program_run_on)
{
	struct trace trace;

	begin();
	start_forever(&trace, WITHOUT_END);
	rt_trace_free(trace.trace);
	trace.trace = NULL;

	check_running_on(trace.log);
	free_trace(&trace);
}
END_TEST

START_TEST(tracer_of_a_freed_trace_is_reaped_by_the_next_one)
{
	const char *argv[] = { "true", NULL };
	struct trace trace, next;
	pid_t tracer;

	begin();
	start_forever(&trace, WITHOUT_END);
	tracer = find_tracer();
	ck_assert_int_gt(tracer, 0);
	rt_trace_free(trace.trace);
	trace.trace = NULL;
	kill_program(&trace);
	while (thread_state(tracer, tracer) != 'Z')
		sleep_ms(1);

	ck_assert_int_eq(trace_argv(&next, argv, usual), 0);

	ck_assert_int_eq(waitpid(tracer, NULL, WNOHANG), -1);
	read_trace(&next);
	free_trace(&next);
	free_trace(&trace);
	end();
}
END_TEST

/* The log of a program that another process has started. */
static struct traced_log *map_log_of(pid_t program)
{
	struct traced_log *log;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/" TRACED_LOG_FD_TEXT, program);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	log = mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(log != MAP_FAILED);
	close(fd);
	return log;
}

START_TEST(program_of_a_killed_host_runs_on)
{
	struct traced_log *log;
	struct trace trace;
	int ready[2];
	pid_t host, program = 0;

	begin();
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	host = fork();
	ck_assert_int_ge(host, 0);
	if (host == 0) {
		start_forever(&trace, WITHOUT_END);
		program = trace.log->values[1];
		ck_assert_int_eq(write(ready[1], &program, sizeof(program)), sizeof(program));
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ready[0], &program, sizeof(program)), sizeof(program));
	log = map_log_of(program);

	kill_process(host, SIGKILL);
	ck_assert_int_eq(waitpid(host, NULL, 0), host);
	check_running_on(log);
	munmap(log, sizeof(*log));
	close(ready[0]);
	close(ready[1]);
}
END_TEST

/* 0: the host; 1: the tracer; 2: the program. At any moment, also while it starts. */
START_TEST(death_at_any_moment_leaves_nothing)
{
	begin();
	for (int i = 0; i < ROUNDS; i++) {
		int victim = _i, delay_ms = i;
		pid_t host = fork(), tracer;

		ck_assert_int_ge(host, 0);
		if (host == 0) {
			struct trace trace;

			setpgid(0, 0);
			trace_program(&trace, "", "forever", "3000", usual);
			if (victim == 1) {
				sleep_ms(delay_ms);
				tracer = find_tracer();
				ck_assert_int_gt(tracer, 0);
				kill_process(tracer, SIGKILL);
			} else if (victim == 2) {
				sleep_ms(delay_ms);
				rt_command_signal(rt_trace_command(trace.trace), SIGKILL);
				rt_command_kill(rt_trace_command(trace.trace));
			}
			read_trace(&trace);
			finish_trace(&trace);
			free_trace(&trace);
			_exit(0);
		}
		if (victim == 0) {
			sleep_ms(delay_ms);
			kill_process(host, SIGKILL);
		}
		end();
	}
}
END_TEST

/* From now on send(2) has this action in this process and in its children. */
static int filter_send(uint32_t action, unsigned flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

static const struct {
	uint32_t action;
	unsigned flags;
	int err;
} silences[] = {
	{ SECCOMP_RET_ERRNO | EPERM, 0, ECHILD },
	/* No process answers the listener, so the call never returns. It takes 10 s. */
	{ SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER, ETIMEDOUT },
};

/* In a child, which has the filter: returns the error. */
static int trace_under_filter(uint32_t action, unsigned flags)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_trace_opts opts = { .back_end = RT_TRACE_BACK_END_PTRACE };
	struct trace trace;

	return filter_send(action, flags) < 0 ? 0 : -trace_argv(&trace, argv, opts);
}

START_TEST(tracer_that_does_not_begin_is_given_up)
{
	pid_t host = fork();
	int status;

	ck_assert_int_ge(host, 0);
	if (host == 0)
		_exit(trace_under_filter(silences[_i].action, silences[_i].flags));
	begin();
	ck_assert_int_eq(waitpid(host, &status, 0), host);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), silences[_i].err);
	end();
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite;
	TCase *starts, *ends;

	if (argc == 2 && strcmp(argv[1], "say") == 0)
		return say_why_not();
	if (why_no_trace())
		return suite_skip(why_no_trace());
	suite = suite_create("ptrace_ends");
	starts = suite_case(suite, "starts");
	ends = suite_case(suite, "ends");
	tcase_add_loop_test(starts, program_that_cannot_be_started_fails_as_without_a_trace, 0,
	                    sizeof(failures) / sizeof(failures[0]));
	tcase_add_test(starts, user_without_rights_can_trace);
	tcase_add_test(starts, host_that_is_traced_learns_by_which_process);
	tcase_add_loop_test(starts, tracer_that_does_not_begin_is_given_up, 0,
	                    sizeof(silences) / sizeof(silences[0]));
	tcase_add_loop_test(ends, program_ends_as_without_a_trace, 0,
	                    2 * sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_test(ends, tracer_that_is_killed_takes_the_program_with_it);
	tcase_add_test(ends, trace_that_is_freed_lets_the_program_run_on);
	tcase_add_test(ends, tracer_of_a_freed_trace_is_reaped_by_the_next_one);
	tcase_add_test(ends, program_of_a_killed_host_runs_on);
	tcase_add_loop_test(ends, death_at_any_moment_leaves_nothing, 0, 3);
	return suite_run(suite);
}
