/* SPDX-License-Identifier: MIT */
/* One command on several threads: one waits, and others sample, signal and kill meanwhile. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "suite.h"
#include "tracking.h"

#define SAMPLES 100
#define NS_PER_S 1000000000

static const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_AUTO };

/* A thread that waits. Only the main thread may use the assertions of libcheck. */
struct waiter {
	struct rt_command *command;
	pthread_t thread;
	_Atomic pid_t tid;
	_Atomic int result;
	uint64_t end_ns, ready_ns;
	struct rt_outcome outcome;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Returns for how long the calling thread was ready to run and had no CPU. */
static uint64_t read_ready_ns(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	uint64_t ready_ns = 0;

	if (file && fscanf(file, "%*u %" SCNu64, &ready_ns) != 1)
		ready_ns = 0;
	if (file)
		fclose(file);
	return ready_ns;
}

static void *wait_to_end(void *arg)
{
	struct waiter *waiter = arg;

	waiter->tid = gettid();
	waiter->result =
	    rt_command_wait(waiter->command, -1, &waiter->outcome, sizeof(waiter->outcome));
	waiter->end_ns = now_ns();
	waiter->ready_ns = read_ready_ns();
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

static int one_has_returned(void *arg)
{
	struct waiter **waiters = arg;

	return waiters[0]->result != 1 || waiters[1]->result != 1;
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

/* Without memory there are no peak polls: only the interrupt wakes the wait. */
static struct rt_command *start_quiet(uint32_t method)
{
	const struct rt_opts tracker = { .size = sizeof(tracker), .want = RT_HAS_CPU };

	return start_shell_with(
	    (struct rt_command_opts){ .tracker = &tracker, .accounting = method },
	    "exec sleep 1000");
}

static void end_quiet(struct rt_command *command)
{
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_kill(command), 0);
	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	ck_assert_int_eq(outcome.signal, SIGKILL);
	rt_command_free(command);
}

START_TEST(interrupt_ends_the_wait_of_another_thread)
{
	struct rt_command *command = start_quiet(methods[_i]);
	struct waiter waiter;
	uint64_t done_ns;

	for (int i = 0; i < 20; i++) {
		start_waiter(&waiter, command);

		ck_assert_int_eq(rt_command_interrupt(command), 0);

		done_ns = now_ns();
		ck_assert_int_eq(pthread_join(waiter.thread, NULL), 0);
		ck_assert_int_eq(waiter.result, -EINTR);
		/* It has not slept on: a sleep is up to 1 s long. That it waited for a CPU is no
		 * fault. */
		ck_assert_uint_lt(waiter.end_ns, done_ns + waiter.ready_ns + NS_PER_S / 2);
	}
	end_quiet(command);
}
END_TEST

START_TEST(interrupt_before_the_wait_ends_the_next_one_alone)
{
	struct rt_command *command = start_quiet(methods[_i]);

	ck_assert_int_eq(rt_command_interrupt(command), 0);
	ck_assert_int_eq(rt_command_interrupt(command), 0);

	ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), -EINTR);
	ck_assert_int_eq(rt_command_wait(command, NS_PER_S / 100, NULL, 0), -ETIMEDOUT);
	end_quiet(command);
}
END_TEST

START_TEST(wait_of_no_time_leaves_the_interrupt_to_another)
{
	struct rt_command *command = start_quiet(methods[_i]);

	ck_assert_int_eq(rt_command_interrupt(command), 0);
	ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), -ETIMEDOUT);
	ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), -EINTR);
	end_quiet(command);
}
END_TEST

/* Of two waits, one ends for each interrupt. */
START_TEST(interrupt_ends_one_wait_of_two)
{
	struct rt_command *command = start_quiet(methods[_i]);
	struct waiter first, second, *both[] = { &first, &second };

	start_waiter(&first, command);
	start_waiter(&second, command);

	ck_assert_int_eq(rt_command_interrupt(command), 0);
	wait_until(one_has_returned, both);
	ck_assert_int_eq(rt_command_interrupt(command), 0);

	ck_assert_int_eq(pthread_join(first.thread, NULL), 0);
	ck_assert_int_eq(pthread_join(second.thread, NULL), 0);
	ck_assert_int_eq(first.result, -EINTR);
	ck_assert_int_eq(second.result, -EINTR);
	end_quiet(command);
}
END_TEST

static struct rt_command *_Atomic to_interrupt;

static void interrupt(int signal)
{
	(void)signal;
	rt_command_interrupt(to_interrupt);
}

/* The handler runs on any thread, with SA_RESTART. */
START_TEST(interrupt_by_a_signal_handler_ends_the_wait)
{
	const struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
	struct sigaction before;
	struct waiter waiter;

	to_interrupt = start_quiet(methods[_i]);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, &before), 0);
	start_waiter(&waiter, to_interrupt);

	ck_assert_int_eq(raise(SIGUSR1), 0);

	ck_assert_int_eq(pthread_join(waiter.thread, NULL), 0);
	ck_assert_int_eq(waiter.result, -EINTR);
	ck_assert_int_eq(sigaction(SIGUSR1, &before, NULL), 0);
	end_quiet(to_interrupt);
}
END_TEST

START_TEST(interrupt_in_a_forked_child_is_refused)
{
	struct rt_command *command = start_quiet(methods[_i]);
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(rt_command_interrupt(command) == -EPERM ? 0 : 1);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);

	ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), -ETIMEDOUT);
	end_quiet(command);
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
	tcase_add_loop_test(threads, interrupt_ends_the_wait_of_another_thread, 0, count);
	tcase_add_loop_test(threads, interrupt_before_the_wait_ends_the_next_one_alone, 0, count);
	tcase_add_loop_test(threads, wait_of_no_time_leaves_the_interrupt_to_another, 0, count);
	tcase_add_loop_test(threads, interrupt_ends_one_wait_of_two, 0, count);
	tcase_add_loop_test(threads, interrupt_by_a_signal_handler_ends_the_wait, 0, count);
	tcase_add_loop_test(threads, interrupt_in_a_forked_child_is_refused, 0, count);
	return suite_run(suite);
}
