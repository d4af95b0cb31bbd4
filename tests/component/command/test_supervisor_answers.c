/* SPDX-License-Identifier: MIT */
/* What a start makes of a supervisor that ends, keeps silent or says what it must not; and of a
 * system that refuses to send or to sleep. The supervisor and the clock are the test's. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "command/supervisor_client.h"
#include "os/platform.h"
#include "os/process/helper.h"
#include "suite.h"

#define SILENT (-1)  /* it runs on */
#define KILLED (-2)  /* by a signal */
#define REAPED (-3)  /* by the host */
#define NO_REPORT 99 /* kind */

/* What the supervisor does. */
static struct {
	int exit_status; /* or one of the above */
	uint32_t kind;   /* of its report, or NO_REPORT */
	int32_t pid;     /* in that */
	bool begins_when_killed;
} does;

static int library = -1;      /* the supervisor's end of the socket */
static pid_t supervisor = -1; /* while it runs */

/* What the system says; 0: what it really says. */
static int send_error, ppoll_error, nanosleep_error;
static unsigned sends, naps, continued;

int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid);
void __real_rti_platform_init(struct rti_platform *platform, bool is_foreign);
void __wrap_rti_platform_init(struct rti_platform *platform, bool is_foreign);
int __real_rti_pidfd_signal(int fd, int32_t pid, int signal);
int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal);
int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);
ssize_t __real_send(int fd, const void *buf, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags);
int __real_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                 const sigset_t *mask);
int __real_nanosleep(const struct timespec *nap, struct timespec *left);
int __wrap_nanosleep(const struct timespec *nap, struct timespec *left);

static void close_library(void)
{
	if (library >= 0)
		close(library);
	library = -1;
}

static void report(uint32_t kind, int32_t pid)
{
	const struct rti_report said = { .kind = kind, .pid = pid };

	ck_assert_int_eq(__real_send(library, &said, sizeof(said), MSG_NOSIGNAL), sizeof(said));
}

static void end_supervisor(void)
{
	siginfo_t info;

	if (does.exit_status == REAPED)
		ck_assert_int_eq(waitpid(supervisor, NULL, 0), supervisor);
	else
		ck_assert_int_eq(waitid(P_PID, (id_t)supervisor, &info, WEXITED | WNOWAIT), 0);
	supervisor = -1;
	close_library();
}

int __wrap_rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                            struct rti_origin_file *file, int32_t *pid)
{
	(void)name;
	(void)argv;
	file->dir = -1;
	library = dup(opts->keep_fd[0]);
	ck_assert_int_ge(library, 0);
	supervisor = fork();
	ck_assert_int_ge(supervisor, 0);
	if (supervisor == 0) {
		if (does.exit_status == KILLED)
			raise(SIGKILL);
		if (does.exit_status != SILENT)
			_exit(does.exit_status == REAPED ? EMFILE : does.exit_status);
		for (;;)
			pause();
	}
	*pid = supervisor;
	if (does.kind != NO_REPORT)
		report(does.kind, does.pid);
	if (does.exit_status != SILENT)
		end_supervisor();
	return 0;
}

void __wrap_rti_platform_init(struct rti_platform *platform, bool is_foreign)
{
	__real_rti_platform_init(platform, is_foreign);
	platform->waits.begin_ns /= 100;
}

int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal)
{
	ck_assert_int_gt(pid, 1);
	ck_assert_int_eq(pid, supervisor);
	if (does.begins_when_killed && signal == SIGKILL) {
		report(RTI_STARTING, 0);
		close_library();
	}
	return __real_rti_pidfd_signal(fd, pid, signal);
}

int __wrap_kill(pid_t pid, int signal)
{
	ck_assert_int_eq(signal, SIGCONT);
	continued++;
	return pid == supervisor ? __real_kill(pid, signal) : 0;
}

ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags)
{
	sends++;
	if (!send_error)
		return __real_send(fd, buf, len, flags);
	errno = send_error;
	return -1;
}

int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                 const sigset_t *mask)
{
	if (!ppoll_error)
		return __real_ppoll(fds, count, timeout, mask);
	errno = ppoll_error;
	return -1;
}

int __wrap_nanosleep(const struct timespec *nap, struct timespec *left)
{
	if (!ppoll_error)
		return __real_nanosleep(nap, left);
	naps++;
	errno = nanosleep_error;
	return nanosleep_error ? -1 : 0;
}

static int start(void)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .accounting = RT_ACCOUNTING_WAIT,
		                              .argv = argv };
	struct rt_command *command;
	int err = rt_command_start(&command, &opts);

	close_library();
	ck_assert_ptr_null(command);
	return err;
}

static const struct {
	int exit_status;
	uint32_t kind;
	int32_t pid;
	int err;
} answers[] = {
	/* it lacks something */
	{ EMFILE, NO_REPORT, 0, -EMFILE },
	{ ENFILE, NO_REPORT, 0, -ENFILE },
	{ ENOMEM, NO_REPORT, 0, -ENOMEM },
	{ EAGAIN, NO_REPORT, 0, -EAGAIN },
	{ RTI_EXIT_MISMATCH, NO_REPORT, 0, -EPROTO },
	/* its status means nothing, or is not known */
	{ 127, NO_REPORT, 0, -ECHILD },
	{ KILLED, NO_REPORT, 0, -ECHILD },
	{ REAPED, NO_REPORT, 0, -ECHILD },
	/* it has begun, so the program may run */
	{ 0, RTI_STARTING, 0, -ECHILD },
	/* a signal to such a pid would go to many processes */
	{ 0, RTI_STARTED, 1, -ECHILD },
	{ 0, RTI_STARTED, -1, -ECHILD },
	{ 0, RTI_ACCOUNTED + 1, 100, -ECHILD },
};

START_TEST(supervisor_that_has_ended_says_why_nothing_was_started)
{
	does.exit_status = answers[_i].exit_status;
	does.kind = answers[_i].kind;
	does.pid = answers[_i].pid;
	ck_assert_int_eq(start(), answers[_i].err);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* It may have begun in the last moment: then the program may run. */
START_TEST(supervisor_that_keeps_silent_is_killed)
{
	does.exit_status = SILENT;
	does.kind = NO_REPORT;
	does.begins_when_killed = _i;
	ck_assert_int_eq(start(), _i ? -ECHILD : -ETIMEDOUT);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* One that is gone gets nothing. One that cannot be reached now is tried again. */
START_TEST(request_is_sent_again_only_if_it_may_arrive)
{
	static const struct {
		int error;
		unsigned sends;
	} cases[] = { { EPIPE, 1 }, { ECONNRESET, 1 }, { EINTR, 5 } };
	struct rti_supervisor s = { .socket = -1 };

	send_error = cases[_i].error;
	rti_supervisor_request_account(&s);
	ck_assert_uint_eq(sends, cases[_i].sends);
}
END_TEST

/* A filter of system calls refuses ppoll(2). */
START_TEST(sleep_that_is_refused_is_a_nap)
{
	static const struct {
		int ppoll_error, nanosleep_error, err;
		unsigned naps;
	} cases[] = { { EINTR, 0, -EINTR, 0 },
		      { EPERM, 0, -ETIMEDOUT, 1 },
		      { EPERM, EINTR, -EINTR, 1 } };
	const struct rti_supervisor s = { .socket = -1 };
	struct rti_supervisor_sleep sleep;

	ppoll_error = cases[_i].ppoll_error;
	nanosleep_error = cases[_i].nanosleep_error;
	rti_supervisor_prepare_sleep(&s, -1, &sleep);
	ck_assert_int_eq(rti_supervisor_sleep(&sleep, 1000), cases[_i].err);
	ck_assert_uint_eq(naps, cases[_i].naps);
}
END_TEST

/* A caller that is its own supervisor runs, and a signal would wake up its threads. */
START_TEST(only_a_separate_supervisor_is_continued)
{
	const struct rti_supervisor s = { .is_own = _i, .supervisor_pid = getpid() };

	rti_supervisor_continue(&s);
	ck_assert_uint_eq(continued, _i ? 0 : 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("supervisor_answers");
	TCase *starts = suite_case(suite, "starts"), *calls = suite_case(suite, "calls");

	tcase_add_loop_test(starts, supervisor_that_has_ended_says_why_nothing_was_started, 0,
	                    sizeof(answers) / sizeof(answers[0]));
	tcase_add_loop_test(starts, supervisor_that_keeps_silent_is_killed, 0, 2);
	tcase_add_loop_test(calls, request_is_sent_again_only_if_it_may_arrive, 0, 3);
	tcase_add_loop_test(calls, sleep_that_is_refused_is_a_nap, 0, 3);
	tcase_add_loop_test(calls, only_a_separate_supervisor_is_continued, 0, 2);
	return suite_run(suite);
}
