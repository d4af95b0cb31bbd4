/* SPDX-License-Identifier: MIT */
/* Waiting for a program where the kernel has no pidfds (before Linux 5.3), where a filter refuses
 * calls, and where a debugger or another parent is in the way. What the kernel says is the
 * test's. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "collect/pid_stat.h"
#include "command/handle.h"
#include "os/process/pidfd.h"
#include "suite.h"

#define REAL 1 /* ask the kernel */
#define WAITS_MAX 10000

/* What the kernel says: 0 or -errno, or REAL. */
static struct {
	bool has_no_pidfds;
	int pidfd_wait, pidfd_signal, waitid, nanosleep, stat;
	int kill[3]; /* one call after the other; the last one again */
} says;

static unsigned kills, naps;

int __real_rti_pidfd_open(int32_t pid);
int __wrap_rti_pidfd_open(int32_t pid);
int __real_rti_pidfd_wait(int fd, int waker, int64_t timeout_ns);
int __wrap_rti_pidfd_wait(int fd, int waker, int64_t timeout_ns);
int __real_rti_pidfd_signal(int fd, int32_t pid, int signal);
int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal);
int __real_rti_pid_stat_read(const struct rti_context *ctx, int32_t pid, struct rti_file *file,
                             struct rti_pid_stat *stat);
int __wrap_rti_pid_stat_read(const struct rti_context *ctx, int32_t pid, struct rti_file *file,
                             struct rti_pid_stat *stat);
int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);
int __real_nanosleep(const struct timespec *nap, struct timespec *left);
int __wrap_nanosleep(const struct timespec *nap, struct timespec *left);

int __wrap_rti_pidfd_open(int32_t pid)
{
	if (!says.has_no_pidfds)
		return __real_rti_pidfd_open(pid);
	errno = ENOSYS;
	return -1;
}

int __wrap_rti_pidfd_wait(int fd, int waker, int64_t timeout_ns)
{
	return says.pidfd_wait == REAL ? __real_rti_pidfd_wait(fd, waker, timeout_ns)
	                               : says.pidfd_wait;
}

int __wrap_rti_pidfd_signal(int fd, int32_t pid, int signal)
{
	return says.pidfd_signal == REAL ? __real_rti_pidfd_signal(fd, pid, signal)
	                                 : says.pidfd_signal;
}

int __wrap_rti_pid_stat_read(const struct rti_context *ctx, int32_t pid, struct rti_file *file,
                             struct rti_pid_stat *stat)
{
	return says.stat == REAL ? __real_rti_pid_stat_read(ctx, pid, file, stat) : says.stat;
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	if (says.waitid == REAL)
		return __real_waitid(type, id, info, options);
	errno = -says.waitid;
	return -1;
}

int __wrap_kill(pid_t pid, int signal)
{
	int said = says.kill[kills < 2 ? kills : 2];

	if (said == REAL)
		return __real_kill(pid, signal);
	ck_assert_int_eq(signal, 0);
	kills++;
	errno = -said;
	return said < 0 ? -1 : 0;
}

int __wrap_nanosleep(const struct timespec *nap, struct timespec *left)
{
	if (says.nanosleep == REAL)
		return __real_nanosleep(nap, left);
	naps++;
	errno = -says.nanosleep;
	return says.nanosleep < 0 ? -1 : 0;
}

static void listen_to_the_kernel(void)
{
	memset(&says, 0, sizeof(says));
	says.pidfd_wait = says.pidfd_signal = says.waitid = says.nanosleep = says.stat = REAL;
	says.kill[0] = says.kill[1] = says.kill[2] = REAL;
	kills = naps = 0;
}

static struct rt_command *start(uint32_t accounting, uint32_t flags, const char *script)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	const struct rt_command_opts opts = {
		.size = sizeof(opts), .accounting = accounting, .flags = flags, .argv = argv
	};
	struct rt_command *command;

	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	return command;
}

static void check_end(struct rt_command *command, int exit_code, int signal)
{
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	ck_assert_int_eq(outcome.exit_code, exit_code);
	ck_assert_int_eq(outcome.signal, signal);
	rt_command_free(command);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

/* A program that runs until it is killed. */
static void check_killed(struct rt_command *command)
{
	listen_to_the_kernel();
	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);
	check_end(command, -1, SIGKILL);
}

static const struct {
	uint32_t accounting, flags;
} methods[] = { { RT_ACCOUNTING_POLL, 0 },
	        { RT_ACCOUNTING_WAIT, 0 },
	        { RT_ACCOUNTING_WAIT, RT_COMMAND_SUBREAPER_SELF } };

START_TEST(program_without_a_pidfd_is_waited_for_and_signalled)
{
	struct rt_command *command;

	says.has_no_pidfds = true;
	command = start(methods[_i].accounting, methods[_i].flags, "exit 7");
	ck_assert_int_eq(rt_command_fd(command), -EOPNOTSUPP);
	check_end(command, 7, 0);

	command = start(methods[_i].accounting, methods[_i].flags, "exec sleep 1000");
	ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), -ETIMEDOUT);
	ck_assert_int_eq(rt_command_wait(command, 6000000, NULL, 0), -ETIMEDOUT);
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), 0);
	check_end(command, -1, SIGTERM);
}
END_TEST

/* As for a program that has another parent by now. One that may not be signalled is there. */
START_TEST(program_that_cannot_be_waited_for_is_over_once_no_process_has_its_pid)
{
	struct rt_command *command;

	says.has_no_pidfds = true;
	command = start(RT_ACCOUNTING_POLL, 0, "exit 7");
	command->next_poll_ns = UINT64_MAX; /* which would cut the looks short */
	says.waitid = -ECHILD;
	says.kill[1] = -EPERM;
	says.kill[2] = -ESRCH;
	says.kill[0] = says.nanosleep = 0;
	check_end(command, 7, 0);
	ck_assert_uint_eq(kills, 3);
	ck_assert_uint_eq(naps, 2);
}
END_TEST

START_TEST(look_for_a_program_without_a_pidfd_ends_with_a_signal_to_the_caller)
{
	struct rt_command *command;

	says.has_no_pidfds = true;
	command = start(RT_ACCOUNTING_POLL, 0, "exec sleep 1000");
	says.nanosleep = -EINTR;
	ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), -EINTR);
	check_killed(command);
}
END_TEST

START_TEST(program_is_looked_for_where_a_filter_refuses_to_wait)
{
	struct rt_command *command = start(RT_ACCOUNTING_POLL, 0, "exit 7");

	says.pidfd_wait = -EPERM;
	check_end(command, 7, 0);
}
END_TEST

/* Its pidfd says that it has ended, and it is no zombie of the caller yet. */
START_TEST(program_that_its_debugger_keeps_is_waited_for)
{
	struct rt_command *command = start(RT_ACCOUNTING_POLL, 0, "exec sleep 1000");

	says.pidfd_wait = 0;
	says.nanosleep = -EINTR;
	ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), -EINTR);
	ck_assert_uint_eq(naps, 1);
	says.nanosleep = 0;
	ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), -ETIMEDOUT);
	ck_assert_uint_eq(naps, 2);
	check_killed(command);
}
END_TEST

/* It has ended meanwhile, or a filter refuses to look. */
START_TEST(program_that_no_debugger_keeps_is_over)
{
	struct rt_command *command = start(RT_ACCOUNTING_POLL, 0, "exit 7");

	says.pidfd_wait = says.nanosleep = 0;
	if (_i == 0)
		says.pidfd_signal = -ESRCH;
	else
		says.waitid = -EPERM;
	check_end(command, 7, 0);
	ck_assert_uint_eq(naps, 0);
}
END_TEST

/* Without a pidfd its file says whether it has ended, so that a report is due. */
START_TEST(report_is_due_once_the_file_of_the_program_is_gone)
{
	struct rt_command *command;

	says.has_no_pidfds = true;
	command = start(RT_ACCOUNTING_WAIT, 0, "exec sleep 1000");
	says.stat = _i == 0 ? -EACCES : -ESRCH;
	ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), -ETIMEDOUT);
	ck_assert_int_eq(command->late.ended_ns != 0, _i);
	check_killed(command);
}
END_TEST

/* The first poll finds out. */
START_TEST(peaks_of_memory_are_polled_only_if_they_are_wanted)
{
	static const char *const argv[] = { "sleep", "1000", NULL };
	const struct rt_opts tracker = { .size = sizeof(tracker),
		                         .want = RT_HAS_CPU | (_i ? RT_HAS_RSS : 0) };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .accounting = RT_ACCOUNTING_POLL,
		                              .argv = argv,
		                              .tracker = &tracker };
	struct rt_command *command;
	uint64_t first_ns;

	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	first_ns = command->next_poll_ns;
	for (int i = 0; i < WAITS_MAX && command->next_poll_ns == first_ns; i++)
		ck_assert_int_eq(rt_command_wait(command, 1000000, NULL, 0), -ETIMEDOUT);
	ck_assert_uint_ne(command->next_poll_ns, first_ns);
	ck_assert_int_eq(command->next_poll_ns != UINT64_MAX, _i);
	check_killed(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wait");
	TCase *waits = suite_case(suite, "waits");

	tcase_add_checked_fixture(waits, listen_to_the_kernel, listen_to_the_kernel);
	tcase_add_loop_test(waits, program_without_a_pidfd_is_waited_for_and_signalled, 0,
	                    sizeof(methods) / sizeof(methods[0]));
	tcase_add_test(waits,
	               program_that_cannot_be_waited_for_is_over_once_no_process_has_its_pid);
	tcase_add_test(waits, look_for_a_program_without_a_pidfd_ends_with_a_signal_to_the_caller);
	tcase_add_test(waits, program_is_looked_for_where_a_filter_refuses_to_wait);
	tcase_add_test(waits, program_that_its_debugger_keeps_is_waited_for);
	tcase_add_loop_test(waits, program_that_no_debugger_keeps_is_over, 0, 2);
	tcase_add_loop_test(waits, report_is_due_once_the_file_of_the_program_is_gone, 0, 2);
	tcase_add_loop_test(waits, peaks_of_memory_are_polled_only_if_they_are_wanted, 0, 2);
	return suite_run(suite);
}
