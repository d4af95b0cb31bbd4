/* SPDX-License-Identifier: MIT */
/* Commands and trackers in an event loop: their descriptors wake it when there is something to do,
 * and only then. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "threads.h"
#include "tracking.h"

#define MS INT64_C(1000000)
#define WAIT_MAX_MS 100000
/* A loop that spins comes to thousands. */
#define WAKEUPS_MAX 200
/* ThreadSanitizer makes a fork(2) of vfork(2), with a copy of its page tables. */
#define FORKS (IS_THREAD_SANITIZED ? 1000 : 10000)

static const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_AUTO };
static const int method_count = sizeof(methods) / sizeof(methods[0]);

/* Without memory there are no peak polls. */
static const struct rt_opts cpu_alone = { .size = sizeof(cpu_alone), .want = RT_HAS_CPU };

static void do_nothing(void *arg)
{
	(void)arg;
}

static int is_readable(int fd, int timeout_ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	int n = poll(&pollfd, 1, timeout_ms);

	ck_assert_int_ge(n, 0);
	return n;
}

/* Dispatch until the program has ended. Returns how often that was in vain. */
static int run_loop(struct rt_command *command)
{
	int fd = rt_command_fd(command), err, wakeups = -1;

	ck_assert_int_ge(fd, 0);
	do {
		ck_assert_int_eq(is_readable(fd, WAIT_MAX_MS), 1);
		err = rt_command_wait(command, 0, NULL, 0);
		wakeups++;
	} while (err == -ETIMEDOUT);
	ck_assert(err == 0 || err == -ECHILD);
	ck_assert_int_eq(rt_command_fd(command), fd);
	return wakeups;
}

static struct rt_command *start_cpu_alone(uint32_t method, const char *script)
{
	return start_shell_with(
	    (struct rt_command_opts){ .tracker = &cpu_alone, .accounting = method }, script);
}

/* A look at the cgroup may be due. E.g.: the first one is 5 ms after the start. */
static int is_quiet(void *command)
{
	ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), -ETIMEDOUT);
	return is_readable(rt_command_fd(command), 0) == 0;
}

START_TEST(fd_of_command_wakes_when_program_ends_and_not_before)
{
	struct rt_command_opts opts = { .tracker = &cpu_alone, .accounting = methods[_i] };
	struct rt_command *command;
	int input[2];

	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	opts.fds = &(struct rt_fd){ STDIN_FILENO, input[0] };
	opts.fd_count = 1;
	command = start_shell_with(opts, "read line; exit 3");

	wait_until(is_quiet, command);
	close(input[1]);

	ck_assert_int_le(run_loop(command), WAKEUPS_MAX);
	ck_assert_int_eq(is_readable(rt_command_fd(command), 0), 1);
	ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), 0);
	ck_assert_int_eq(finish_command(command).exit_code, 3);
	ck_assert_int_eq(is_readable(rt_command_fd(command), 0), 1);
	rt_command_free(command);
	close(input[0]);
}
END_TEST

START_TEST(fd_that_is_asked_for_after_the_end_is_readable)
{
	struct rt_command *command = start_cpu_alone(methods[_i], "exit 4");

	finish_command(command);

	ck_assert_int_eq(is_readable(rt_command_fd(command), 0), 1);
	ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), 0);
	rt_command_free(command);
}
END_TEST

/* The host adds it once, edge-triggered, to an epoll instance of its own. */
START_TEST(fd_of_command_nests_in_epoll)
{
	struct rt_command *command = start_cpu_alone(methods[_i], "exec sleep 1000");
	struct epoll_event event = { .events = EPOLLIN | EPOLLET }, seen = { 0 };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, rt_command_fd(command), &event), 0);
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), 0);

	do {
		ck_assert_int_eq(epoll_wait(epoll, &seen, 1, WAIT_MAX_MS), 1);
	} while (rt_command_wait(command, 0, NULL, 0) == -ETIMEDOUT);

	ck_assert_int_eq(finish_command(command).signal, SIGTERM);
	rt_command_free(command);
	close(epoll);
}
END_TEST

/* A program that sleeps gives nothing else to do. */
START_TEST(fd_of_command_wakes_for_peak_polls)
{
	struct rt_command *command = start_shell_with(
	    (struct rt_command_opts){ .accounting = methods[_i] }, "exec sleep 1000");
	int fd = rt_command_fd(command);

	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(is_readable(fd, WAIT_MAX_MS), 1);
		ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), -ETIMEDOUT);
	}

	ck_assert_int_eq(rt_command_kill(command), 0);
	run_loop(command);
	ck_assert_int_eq(finish_command(command).signal, SIGKILL);
	rt_command_free(command);
}
END_TEST

START_TEST(fd_of_command_after_supervisor_was_killed_wakes_when_program_ends)
{
	struct rt_command *command = start_cpu_alone(RT_ACCOUNTING_WAIT, "exec sleep 0.3");

	ck_assert_int_ge(rt_command_fd(command), 0);
	ck_assert_int_eq(kill_process(get_supervisor_pid(command), SIGKILL), 0);

	ck_assert_int_le(run_loop(command), WAKEUPS_MAX);

	ck_assert_int_ne(rt_command_wait(command, 0, NULL, 0), -ETIMEDOUT);
	rt_command_free(command);
}
END_TEST

START_TEST(wait_of_no_time_continues_a_stopped_supervisor)
{
	struct rt_command *command = start_cpu_alone(RT_ACCOUNTING_WAIT, "exec sleep 1000");

	ck_assert_int_ge(rt_command_fd(command), 0);
	ck_assert_int_eq(kill_process(get_supervisor_pid(command), SIGSTOP), 0);
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), 0);

	run_loop(command);

	ck_assert_int_eq(finish_command(command).signal, SIGTERM);
	rt_command_free(command);
}
END_TEST

START_TEST(fd_of_tracker_with_process_events_wakes_for_them)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = RT_OPT_PROCESS_EVENTS };
	struct rt_tracker *tracker;
	struct child child;

	child_start(&child, do_nothing, NULL);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), &opts), 0);
	if (!(sample(tracker).reasons & RT_REASON_EVENTS_UNHEARD)) {
		int fd = rt_tracker_fd(tracker);

		ck_assert_int_ge(fd, 0);
		child_let_die(&child);
		ck_assert_int_eq(is_readable(fd, WAIT_MAX_MS), 1);
	}
	rt_tracker_free(tracker);
	child_end(&child);
}
END_TEST

/* fork(2) would copy the page tables of a sanitizer's memory each time. */
static void fork_many(void *arg)
{
	atomic_int *forks = arg;

	for (int i = 0; i < FORKS; i++) {
		pid_t pid = vfork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
		atomic_fetch_add(forks, 1);
	}
}

/* Processes are forked while a sample takes the events of earlier ones, too. */
START_TEST(fd_of_tracker_wakes_as_long_as_processes_are_forked)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .want = RT_HAS_PROCESSES,
		                      .flags = RT_OPT_PROCESS_EVENTS };
	atomic_int *forks = map_shared(sizeof(*forks));
	struct rt_tracker *tracker;
	struct rt_metrics m = { 0 };
	struct child child;
	int slept = 0, fd;

	child_start_async(&child, fork_many, forks);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, child.pid, &opts), 0);
	rt_sample(tracker, &m, sizeof(m));
	fd = rt_tracker_fd(tracker);
	while (atomic_load(forks) < FORKS && !(m.reasons & RT_REASON_EVENTS_UNHEARD)) {
		int before = atomic_load(forks);

		while (!is_readable(fd, 100) && atomic_load(forks) < FORKS)
			;
		if (slept < atomic_load(forks) - before)
			slept = atomic_load(forks) - before;
		rt_sample(tracker, &m, sizeof(m));
	}
	ck_assert_int_lt(slept, FORKS / 2);
	rt_tracker_free(tracker);
	child_await(&child);
	child_end(&child);
	munmap(forks, sizeof(*forks));
}
END_TEST

START_TEST(fd_of_tracker_wakes_once_when_the_root_ends)
{
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct child child;
	int fd;

	child_start(&child, do_nothing, NULL);
	tracker = track(child.pid);
	fd = rt_tracker_fd(tracker);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(rt_tracker_fd(tracker), fd);
	sample(tracker);
	ck_assert_int_eq(is_readable(fd, 0), 0);

	child_let_die(&child);

	ck_assert_int_eq(is_readable(fd, WAIT_MAX_MS), 1);
	rt_sample(tracker, &m, sizeof(m));
	ck_assert_int_eq(is_readable(fd, 0), 0);
	rt_tracker_free(tracker);
	child_end(&child);
}
END_TEST

START_TEST(fd_of_tracker_that_is_asked_for_after_the_root_has_ended_wakes_once)
{
	struct rt_tracker *tracker;
	struct child child;

	child_start(&child, do_nothing, NULL);
	tracker = track(child.pid);
	sample(tracker);
	child_end(&child);

	ck_assert_int_eq(is_readable(rt_tracker_fd(tracker), WAIT_MAX_MS), 1);
	sample_ended(tracker);
	ck_assert_int_eq(is_readable(rt_tracker_fd(tracker), 0), 0);
	rt_tracker_free(tracker);
}
END_TEST

static int has_pidfd(void)
{
	const char *argv[] = { "true", NULL };
	struct rt_command *command = NULL;
	int err = start_command(&command, (struct rt_command_opts){ 0 }, argv);

	if (err == 0)
		err = rt_command_fd(command);
	rt_command_wait(command, -1, NULL, 0);
	rt_command_free(command);
	return err != -EOPNOTSUPP;
}

int main(void)
{
	Suite *suite = suite_create("event_loop");
	TCase *commands = suite_case(suite, "commands"), *trackers = suite_case(suite, "trackers");
	int all = method_count;

	if (!has_pidfd())
		return suite_skip("this kernel has no pidfd");
	tcase_add_loop_test(commands, fd_of_command_wakes_when_program_ends_and_not_before, 0, all);
	tcase_add_loop_test(commands, fd_that_is_asked_for_after_the_end_is_readable, 0, all);
	tcase_add_loop_test(commands, fd_of_command_nests_in_epoll, 0, all);
	tcase_add_loop_test(commands, fd_of_command_wakes_for_peak_polls, 0, all);
	tcase_add_test(commands, fd_of_command_after_supervisor_was_killed_wakes_when_program_ends);
	tcase_add_test(commands, wait_of_no_time_continues_a_stopped_supervisor);
	tcase_add_test(trackers, fd_of_tracker_with_process_events_wakes_for_them);
	tcase_add_test(trackers, fd_of_tracker_wakes_as_long_as_processes_are_forked);
	tcase_add_test(trackers, fd_of_tracker_wakes_once_when_the_root_ends);
	tcase_add_test(trackers,
	               fd_of_tracker_that_is_asked_for_after_the_root_has_ended_wakes_once);
	return suite_run(suite);
}
