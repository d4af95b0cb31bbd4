/* SPDX-License-Identifier: MIT */
/* One command on several threads: one waits, and others sample, signal and kill meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "tracking.h"

#define SAMPLES 100

static const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_AUTO };

/* A thread that waits. Only the main thread may use the assertions of libcheck. */
struct waiter {
	struct rt_command *command;
	pthread_t thread;
	_Atomic pid_t tid;
	int result;
	struct rt_outcome outcome;
};

static void *wait_to_end(void *arg)
{
	struct waiter *waiter = arg;

	waiter->tid = gettid();
	waiter->result =
	    rt_command_wait(waiter->command, -1, &waiter->outcome, sizeof(waiter->outcome));
	return NULL;
}

static int sleeps(void *arg)
{
	const struct waiter *waiter = arg;

	return waiter->tid && thread_state(getpid(), waiter->tid) == 'S';
}

static void start_waiter(struct waiter *waiter, struct rt_command *command)
{
	*waiter = (struct waiter){ .command = command, .result = 1 };
	ck_assert_int_eq(pthread_create(&waiter->thread, NULL, wait_to_end, waiter), 0);
	wait_until(sleeps, waiter);
}

static struct rt_command *start_with_method(uint32_t method, const char *script)
{
	return start_shell_with((struct rt_command_opts){ .accounting = method }, script);
}

static void assert_ended_by(struct waiter *waiter, int signal)
{
	ck_assert_int_eq(pthread_join(waiter->thread, NULL), 0);
	ck_assert_int_eq(waiter->result, 0);
	ck_assert_int_eq(waiter->outcome.signal, signal);
}

START_TEST(kill_while_another_thread_waits_ends_the_wait)
{
	struct rt_command *command =
	    start_with_method(methods[_i], "sleep 1000 & sleep 1000 & wait");
	struct waiter waiter;

	start_waiter(&waiter, command);

	ck_assert_int_eq(rt_command_kill(command), 0);

	assert_ended_by(&waiter, SIGKILL);
	rt_command_free(command);
}
END_TEST

START_TEST(signal_while_another_thread_waits_ends_the_wait)
{
	struct rt_command *command = start_with_method(methods[_i], "exec sleep 1000");
	struct waiter waiter;

	start_waiter(&waiter, command);

	ck_assert_int_eq(rt_command_signal(command, SIGTERM), 0);

	assert_ended_by(&waiter, SIGTERM);
	ck_assert_int_eq(rt_command_signal(command, SIGTERM), -ESRCH);
	rt_command_free(command);
}
END_TEST

/* The samples see processes come and go, and so do the peak polls of the wait. */
START_TEST(samples_while_another_thread_waits_count_on)
{
	struct rt_command *command =
	    start_with_method(methods[_i], "while :; do sh -c : & sh -c :; done");
	struct rt_tracker *tracker = rt_command_tracker(command);
	struct rt_metrics before = sample(tracker), after;
	struct rt_process rows[64];
	struct waiter waiter;

	start_waiter(&waiter, command);

	for (int i = 0; i < SAMPLES; i++) {
		size_t count = sizeof(rows) / sizeof(rows[0]);

		after = sample(tracker);
		ck_assert_uint_ge(after.cpu_user_ns + after.cpu_system_ns,
		                  before.cpu_user_ns + before.cpu_system_ns);
		ck_assert_int_eq(rt_tracker_glance(tracker), 0);
		ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count), 0);
		ck_assert_int_ne(rt_tracker_status(tracker, RT_HAS_CPU), -EINVAL);
		before = after;
	}

	ck_assert_int_eq(rt_command_kill(command), 0);
	assert_ended_by(&waiter, SIGKILL);
	ck_assert_uint_ge(waiter.outcome.samples, SAMPLES);
	rt_command_free(command);
}
END_TEST

/* Without memory there are no peak polls, which would wake the second thread. */
START_TEST(waits_of_two_threads_return_the_same_outcome)
{
	const struct rt_opts tracker = { .size = sizeof(tracker), .want = RT_HAS_CPU };
	const struct rt_command_opts opts = { .tracker = &tracker, .accounting = methods[_i] };
	struct rt_command *command = start_shell_with(opts, "exec sleep 1000");
	struct waiter first, second;

	start_waiter(&first, command);
	start_waiter(&second, command);

	ck_assert_int_eq(rt_command_signal(command, SIGKILL), 0);

	assert_ended_by(&first, SIGKILL);
	assert_ended_by(&second, SIGKILL);
	ck_assert_mem_eq(&first.outcome, &second.outcome, sizeof(first.outcome));
	rt_command_free(command);
}
END_TEST

int main(void)
{
	const int count = sizeof(methods) / sizeof(methods[0]);
	Suite *suite = suite_create("command_threads");
	TCase *threads = suite_case(suite, "threads");

	tcase_add_loop_test(threads, kill_while_another_thread_waits_ends_the_wait, 0, count);
	tcase_add_loop_test(threads, signal_while_another_thread_waits_ends_the_wait, 0, count);
	tcase_add_loop_test(threads, samples_while_another_thread_waits_count_on, 0, count);
	tcase_add_loop_test(threads, waits_of_two_threads_return_the_same_outcome, 0, count);
	return suite_run(suite);
}
