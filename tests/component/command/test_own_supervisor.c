/* SPDX-License-Identifier: MIT */
/* When a caller is its own supervisor, and what it makes of a system that refuses calls. The test
 * takes the place of these calls. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <rtrack/rtrack.h>

#include "command/handle.h"
#include "command/supervisor_client.h"
#include "suite.h"
#include "supervisor/supervisor.h"

#define ROUNDS_MAX 16

/* What the system says while a program is started: 0 is what it really says. */
static struct {
	int maxrss_kib;
	const char *statm; /* "": it cannot be read */
	int waitid;        /* -errno, or how many children there are */
	int sigaction;     /* -errno */
	int action_flags;  /* of SIGCHLD */
	bool lacks_memory;
} says;

/* What rts_reap_all() says. */
static struct {
	bool is_wrapped, has_more;
	int err;
} reaps;

static bool is_starting;
static unsigned rounds;

int __real_getrusage(int scope, struct rusage *use);
int __wrap_getrusage(int scope, struct rusage *use);
ssize_t __real_rts_read_file(struct rti_shared_stats *shared, const char *path, char *text,
                             size_t size);
ssize_t __wrap_rts_read_file(struct rti_shared_stats *shared, const char *path, char *text,
                             size_t size);
int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __real_sigaction(int signal, const struct sigaction *action, struct sigaction *before);
int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *before);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
int __real_rts_reap_all(struct rts_supervisor *s, bool *has_more);
int __wrap_rts_reap_all(struct rts_supervisor *s, bool *has_more);

int __wrap_getrusage(int scope, struct rusage *use)
{
	int err = __real_getrusage(scope, use);

	if (is_starting && scope == RUSAGE_SELF && says.maxrss_kib)
		use->ru_maxrss = says.maxrss_kib;
	return err;
}

ssize_t __wrap_rts_read_file(struct rti_shared_stats *shared, const char *path, char *text,
                             size_t size)
{
	if (!is_starting || !says.statm || strcmp(path, "/proc/self/statm") != 0)
		return __real_rts_read_file(shared, path, text, size);
	return *says.statm ? snprintf(text, size, "%s", says.statm) : -1;
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	if (!is_starting || !says.waitid || type != P_ALL)
		return __real_waitid(type, id, info, options);
	errno = -says.waitid;
	return says.waitid < 0 ? -1 : 0;
}

int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *before)
{
	int err = __real_sigaction(signal, action, before);

	if (!is_starting || signal != SIGCHLD || action)
		return err;
	before->sa_flags |= says.action_flags;
	errno = -says.sigaction;
	return says.sigaction ? -1 : err;
}

char *__wrap_strdup(const char *text)
{
	return is_starting && says.lacks_memory ? NULL : __real_strdup(text);
}

int __wrap_rts_reap_all(struct rts_supervisor *s, bool *has_more)
{
	if (!reaps.is_wrapped)
		return __real_rts_reap_all(s, has_more);
	rounds++;
	*has_more = reaps.has_more;
	return reaps.err;
}

static void assert_no_children(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

static int start_with(struct rt_command_opts opts, struct rt_command **command)
{
	static const char *const argv[] = { "sh", "-c", "exit 7", NULL };
	int err;

	opts.size = sizeof(opts);
	opts.accounting = RT_ACCOUNTING_WAIT;
	opts.argv = argv;
	is_starting = true;
	err = rt_command_start(command, &opts);
	is_starting = false;
	return err;
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec used;

	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used), 0);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Run a program to its end. Returns whether the caller was its own supervisor. */
static bool is_own_with(struct rt_command_opts opts)
{
	uint64_t before_ns = thread_cpu_ns();
	struct rt_command *command;
	struct rt_outcome outcome;
	bool is_own;

	ck_assert_int_eq(start_with(opts, &command), 0);
	is_own = command->supervisor.is_own;
	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	ck_assert_int_eq(outcome.exit_code, 7);
	ck_assert_uint_le(command->supervisor.own_cpu_ns, thread_cpu_ns() - before_ns);
	rt_command_free(command);
	assert_no_children();
	return is_own;
}

static const struct rt_command_opts self = { .flags = RT_COMMAND_SUBREAPER_SELF };

/* A copy of a large caller takes time, and hides a peak of the program. */
START_TEST(caller_is_its_own_supervisor_only_if_it_is_small)
{
	static const struct {
		int maxrss_kib;
		const char *statm;
		bool is_own;
	} cases[] = { { 16384, "", true },
		      { 16385, "5000 4096 300 1 0 400 0\n", true },
		      { 16385, "5000 4097 300 1 0 400 0\n", false },
		      { 16385, "", false },
		      { 16385, "torn", false } };

	says.maxrss_kib = cases[_i].maxrss_kib;
	says.statm = cases[_i].statm;
	ck_assert_int_eq(is_own_with(self), cases[_i].is_own);
}
END_TEST

/* It could not tell them from the program's, or would not get to wait for any. */
START_TEST(caller_that_has_children_or_may_not_wait_gets_a_supervisor)
{
	static const struct {
		int waitid, sigaction, action_flags;
		bool is_own;
	} cases[] = { { 0, 0, 0, true },         { 1, 0, 0, false },
		      { -EPERM, 0, 0, false },   { -ECHILD, 0, 0, true },
		      { 0, -EPERM, 0, false },   { 0, 0, SA_NOCLDWAIT, false },
		      { 0, 0, SA_RESTART, true } };

	says.waitid = cases[_i].waitid;
	says.sigaction = cases[_i].sigaction;
	says.action_flags = cases[_i].action_flags;
	ck_assert_int_eq(is_own_with(self), cases[_i].is_own);
}
END_TEST

/* Descriptors of a program are not mapped, and a list takes a process that reads others at once. */
START_TEST(caller_with_options_that_take_a_supervisor_gets_one)
{
	static const struct rt_fd fd = { .source = 2, .target = 9 };
	static const struct rt_command_opts cases[] = {
		{ .flags = 0 },
		{ .flags = RT_COMMAND_SUBREAPER_SELF, .fds = &fd, .fd_count = 1 },
		{ .flags = RT_COMMAND_SUBREAPER_SELF | RT_COMMAND_ONLY_FDS },
		{ .flags = RT_COMMAND_SUBREAPER_SELF | RT_COMMAND_LIST_PROCESSES },
	};

	ck_assert(!is_own_with(cases[_i]));
}
END_TEST

START_TEST(caller_that_lacks_memory_starts_nothing_and_may_try_again)
{
	struct rt_command *command;

	says.lacks_memory = true;
	ck_assert_int_eq(start_with(self, &command), -ENOMEM);
	ck_assert_ptr_null(command);
	says.lacks_memory = false;
	ck_assert(is_own_with(self));
}
END_TEST

static void begin(struct rti_supervisor *s)
{
	static const char *const argv[] = { "sh", "-c", "exit 7", NULL };
	const struct rti_supervisor_opts opts = {
		.program = { .argv = argv, .use_path = true, .stdout_fd = -1 },
		.cgroup = "",
		.start_flags = "",
		.may_be_caller = true,
	};
	siginfo_t info;

	ck_assert_int_eq(rti_supervisor_start(s, &opts), 0);
	ck_assert(s->is_own);
	ck_assert_int_eq(waitid(P_PID, (id_t)s->program_pid, &info, WEXITED | WNOWAIT), 0);
}

/* Its last figures are there as long as it is a zombie. */
START_TEST(program_that_was_not_seen_is_not_reaped)
{
	struct rti_supervisor s;
	siginfo_t info;

	begin(&s);
	ck_assert_int_eq(rti_supervisor_receive_exit(&s), -EAGAIN);
	ck_assert_int_eq(waitid(P_PID, (id_t)s.program_pid, &info, WEXITED | WNOWAIT), 0);
	if (_i) {
		rti_supervisor_proceed(&s);
		ck_assert_int_eq(rti_supervisor_receive_exit(&s), 0);
		ck_assert_int_eq(WEXITSTATUS(s.exited.status), 7);
	}
	rti_supervisor_close(&s, false);
	ck_assert(!s.is_own);
	assert_no_children();
}
END_TEST

/* Processes may exit as fast as they are reaped; and another part of the caller may have reaped the
 * program, or a filter of system calls refuse to wait. */
START_TEST(account_ends_after_some_rounds_or_with_an_error)
{
	static const struct {
		bool has_more;
		int reaped, err;
		unsigned rounds;
	} cases[] = { { false, 0, 0, 1 },
		      { true, 0, 0, ROUNDS_MAX },
		      { false, -ECHILD, -ECHILD, 1 },
		      { true, -EPERM, -ECHILD, 1 } };
	struct rti_supervisor s;

	begin(&s);
	reaps.is_wrapped = true;
	reaps.has_more = cases[_i].has_more;
	reaps.err = cases[_i].reaped;
	rti_supervisor_request_account(&s);
	ck_assert_int_eq(rti_supervisor_receive_account(&s, 0), cases[_i].err);
	ck_assert_uint_eq(rounds, cases[_i].rounds);
	ck_assert_uint_eq(s.accounted.kind, RTI_ACCOUNTED);
	rti_supervisor_close(&s, false);
	assert_no_children();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("own_supervisor");
	TCase *starts = suite_case(suite, "starts"), *runs = suite_case(suite, "runs");

	tcase_add_loop_test(starts, caller_is_its_own_supervisor_only_if_it_is_small, 0, 5);
	tcase_add_loop_test(starts, caller_that_has_children_or_may_not_wait_gets_a_supervisor, 0,
	                    7);
	tcase_add_loop_test(starts, caller_with_options_that_take_a_supervisor_gets_one, 0, 4);
	tcase_add_test(starts, caller_that_lacks_memory_starts_nothing_and_may_try_again);
	tcase_add_loop_test(runs, program_that_was_not_seen_is_not_reaped, 0, 2);
	tcase_add_loop_test(runs, account_ends_after_some_rounds_or_with_an_error, 0, 4);
	return suite_run(suite);
}
