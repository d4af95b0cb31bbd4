/* SPDX-License-Identifier: MIT */
/* The worker: jobs in threads, jobs that block, and what a host may do meanwhile. */
#include "os/thread/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/thread/stuck_calls.h"
#include "suite.h"
#include "threads.h"

#define MS UINT64_C(1000000)
#define THREADS_MAX 32 /* that are stuck, in a process: see docs/notes/waits.md */
/* never reached unless something is broken, however slow the system is */
#define LONG_NS (100000 * MS)

/* A job. With a pipe, it blocks until the pipe has a byte. */
struct task {
	struct rti_job job;
	int gate[2];
	atomic_int begun;
	int runs; /* the owner reads this once the job is idle */
	atomic_int *freed;
};

static void run_task(struct rti_job *job)
{
	struct task *task = (struct task *)job;
	char byte;

	atomic_fetch_add(&task->begun, 1);
	if (task->gate[0] >= 0)
		ck_assert_int_eq(read(task->gate[0], &byte, 1), 1);
	task->runs++;
}

static void free_task(struct rti_job *job)
{
	struct task *task = (struct task *)job;

	if (task->freed)
		atomic_fetch_add(task->freed, 1);
	free(task);
}

static struct task *new_task(bool blocks, atomic_int *freed)
{
	struct task *task = calloc(1, sizeof(*task));

	task->job.run = run_task;
	task->job.free = free_task;
	task->gate[0] = task->gate[1] = -1;
	task->freed = freed;
	if (blocks)
		ck_assert_int_eq(pipe(task->gate), 0);
	return task;
}

static void open_gate(const int *gate)
{
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
}

static void close_gate(const int *gate)
{
	close(gate[0]);
	close(gate[1]);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
}

static void wait_for_count(atomic_int *counter, int expected)
{
	for (int i = 0; i < 60000 && atomic_load(counter) != expected; i++)
		usleep(1000);
	ck_assert_int_eq(atomic_load(counter), expected);
}

static struct rti_worker *new_worker(void)
{
	struct rti_worker *worker;

	ck_assert_int_eq(rti_worker_new(&worker), 0);
	return worker;
}

static size_t found_stack; /* written by the job; read once it is idle */

static void find_stack(struct rti_job *job)
{
	pthread_attr_t attr;

	(void)job;
	ck_assert_int_eq(pthread_getattr_np(pthread_self(), &attr), 0);
	ck_assert_int_eq(pthread_attr_getstacksize(&attr, &found_stack), 0);
	pthread_attr_destroy(&attr);
}

START_TEST(job_has_the_stack_that_was_set)
{
	const size_t bytes = (size_t)3 << 20;
	struct task *task = new_task(false, NULL);
	struct rti_worker *worker;

	task->job.run = find_stack;
	ck_assert_int_eq(rti_worker_new(&worker), 0);
	rti_worker_set_stack(worker, bytes);
	rti_worker_submit(worker, &task->job);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_uint_ge(found_stack, bytes);
	ck_assert_uint_lt(found_stack, 2 * bytes);
	rti_worker_free_job(worker, &task->job);
	rti_worker_free(worker);
}
END_TEST

START_TEST(jobs_submitted_in_rounds_run_once_per_round)
{
	enum { TASKS = 50, ROUNDS = 20 };
	struct rti_worker *worker = new_worker();
	struct task *task[TASKS];
	atomic_int freed = 0;
	int before = threads_count_first();

	for (int i = 0; i < TASKS; i++)
		task[i] = new_task(false, &freed);
	for (int round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < TASKS; i++)
			rti_worker_submit(worker, &task[i]->job);
		ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
		for (int i = 0; i < TASKS; i++) {
			ck_assert(rti_worker_is_idle(worker, &task[i]->job));
			ck_assert_int_eq(task[i]->runs, round);
		}
	}
	ck_assert_int_eq(threads_count(), before + 1);

	for (int i = 0; i < TASKS; i++)
		rti_worker_free_job(worker, &task[i]->job);
	rti_worker_free(worker);
	ck_assert_int_eq(atomic_load(&freed), TASKS);
	threads_await(before);
}
END_TEST

START_TEST(worker_without_jobs_starts_no_thread)
{
	int before = threads_count_first();
	struct rti_worker *worker = new_worker();

	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(threads_count(), before);
	rti_worker_free(worker);
	rti_worker_free(NULL);
}
END_TEST

START_TEST(job_submitted_twice_runs_once)
{
	struct rti_worker *worker = new_worker();
	struct task *task = new_task(false, NULL);

	rti_worker_submit(worker, &task->job);
	rti_worker_submit(worker, &task->job);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(task->runs, 1);

	rti_worker_free_job(worker, &task->job);
	rti_worker_free(worker);
}
END_TEST

START_TEST(job_that_blocks_does_not_delay_others)
{
	struct rti_worker *worker = new_worker();
	struct task *stuck = new_task(true, NULL), *other = new_task(false, NULL);
	uint64_t start = now_ns();

	rti_worker_submit(worker, &stuck->job);
	rti_worker_submit(worker, &other->job);
	ck_assert_int_eq(rti_worker_run(worker, 25 * MS, LONG_NS), 0);
	ck_assert_uint_lt(now_ns() - start, LONG_NS / 2);
	ck_assert_uint_ge(now_ns() - start, 25 * MS);
	ck_assert(!rti_worker_is_idle(worker, &stuck->job));
	ck_assert(rti_worker_is_idle(worker, &other->job));
	ck_assert_int_eq(other->runs, 1);

	/* Once it returns, it can be submitted again. */
	open_gate(stuck->gate);
	while (!rti_worker_is_idle(worker, &stuck->job))
		usleep(1000);
	ck_assert_int_eq(stuck->runs, 1);

	open_gate(stuck->gate);
	rti_worker_submit(worker, &stuck->job);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(stuck->runs, 2);

	close_gate(stuck->gate);
	rti_worker_free_job(worker, &stuck->job);
	rti_worker_free_job(worker, &other->job);
	rti_worker_free(worker);
}
END_TEST

START_TEST(jobs_that_block_use_one_thread_each)
{
	enum { STUCK = 5, ROUNDS = 20 };
	struct rti_worker *worker = new_worker();
	struct task *task[STUCK];
	int before = threads_count_first(), gate[STUCK][2];
	atomic_int freed = 0;

	for (int i = 0; i < STUCK; i++) {
		task[i] = new_task(true, &freed);
		gate[i][0] = task[i]->gate[0];
		gate[i][1] = task[i]->gate[1];
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < STUCK; i++)
			rti_worker_submit(worker, &task[i]->job);
		ck_assert_int_eq(rti_worker_run(worker, 2 * MS, 1000 * MS), 0);
	}
	ck_assert_int_le(threads_count(), before + STUCK + 1);

	for (int i = 0; i < STUCK; i++)
		rti_worker_free_job(worker, &task[i]->job);
	rti_worker_free(worker);
	for (int i = 0; i < STUCK; i++)
		open_gate(gate[i]);
	threads_await(before);
	ck_assert_int_eq(atomic_load(&freed), STUCK);
	for (int i = 0; i < STUCK; i++)
		close_gate(gate[i]);
}
END_TEST

START_TEST(stuck_jobs_of_all_workers_use_a_limited_number_of_threads)
{
	enum { WORKERS = RTI_STUCK_CALLS_MAX + 20 };
	static struct rti_worker *workers[WORKERS];
	static struct task *tasks[WORKERS];
	static char things[WORKERS][16];
	int before = threads_count_first(), stuck;
	unsigned prevented = 0;

	for (int i = 0; i < WORKERS; i++) {
		workers[i] = new_worker();
		tasks[i] = new_task(true, NULL);
		snprintf(things[i], sizeof(things[i]), "thing %d", i);
		tasks[i]->job.thing = things[i];
		rti_worker_submit(workers[i], &tasks[i]->job);
		ck_assert_int_eq(rti_worker_run(workers[i], MS, LONG_NS), 0);
		ck_assert(!rti_worker_is_idle(workers[i], &tasks[i]->job));
	}
	stuck = threads_count() - before;
	ck_assert_int_eq(stuck, THREADS_MAX);

	/* Jobs that were prevented run once others have returned. */
	for (int i = 0; i < WORKERS; i++)
		open_gate(tasks[i]->gate);
	for (int i = 0; i < WORKERS; i++) {
		bool was_stuck = i < RTI_STUCK_CALLS_MAX;

		prevented += !was_stuck && tasks[i]->runs == 0;
		while (!rti_worker_is_idle(workers[i], &tasks[i]->job)) {
			if (!was_stuck) /* else it would run twice if it has returned just now */
				rti_worker_submit(workers[i], &tasks[i]->job);
			ck_assert_int_eq(rti_worker_run(workers[i], LONG_NS, LONG_NS), 0);
		}
		ck_assert_int_eq(tasks[i]->runs, 1);
		close_gate(tasks[i]->gate);
		rti_worker_free_job(workers[i], &tasks[i]->job);
		rti_worker_free(workers[i]);
	}
	ck_assert_uint_eq(prevented, WORKERS - RTI_STUCK_CALLS_MAX);
}
END_TEST

/* Those of another process, as they are after a fork, make room. */
START_TEST(stuck_calls_beyond_the_most_are_not_added)
{
	char thing[16];
	int at[RTI_STUCK_CALLS_MAX];

	for (int i = 0; i < RTI_STUCK_CALLS_MAX; i++) {
		snprintf(thing, sizeof(thing), "/%d", i);
		at[i] = rti_stuck_calls_add(7, thing);
		ck_assert_int_eq(at[i], i);
	}
	ck_assert_int_eq(rti_stuck_calls_add(7, "/more"), -1);
	ck_assert(rti_stuck_calls_prevent(7, "/more"));
	ck_assert_int_eq(rti_stuck_calls_add(8, "/more"), 0);
	for (int i = 0; i < RTI_STUCK_CALLS_MAX; i++)
		rti_stuck_calls_remove(at[i]);
	ck_assert(!rti_stuck_calls_prevent(7, "/more"));
}
END_TEST

START_TEST(job_on_a_thing_that_is_stuck_elsewhere_is_not_run)
{
	struct rti_worker *first = new_worker(), *second = new_worker();
	struct task *stuck = new_task(true, NULL), *same = new_task(false, NULL),
		    *other = new_task(false, NULL);

	stuck->job.thing = same->job.thing = "/mnt/server";
	other->job.thing = "/mnt/other";
	rti_worker_submit(first, &stuck->job);
	ck_assert_int_eq(rti_worker_run(first, 20 * MS, LONG_NS), 0);
	rti_worker_submit(second, &same->job);
	rti_worker_submit(second, &other->job);
	ck_assert_int_eq(rti_worker_run(second, LONG_NS, LONG_NS), 0);
	ck_assert(!rti_worker_is_idle(second, &same->job));
	ck_assert_int_eq(same->runs, 0);
	ck_assert_int_eq(other->runs, 1);

	open_gate(stuck->gate);
	while (!rti_worker_is_idle(first, &stuck->job))
		usleep(1000);
	rti_worker_submit(second, &same->job);
	ck_assert_int_eq(rti_worker_run(second, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(same->runs, 1);

	close_gate(stuck->gate);
	rti_worker_free_job(first, &stuck->job);
	rti_worker_free_job(second, &same->job);
	rti_worker_free_job(second, &other->job);
	rti_worker_free(first);
	rti_worker_free(second);
}
END_TEST

START_TEST(run_with_blocked_job_returns_at_its_limit)
{
	struct rti_worker *worker = new_worker();
	struct task *stuck = new_task(true, NULL);
	uint64_t start;

	rti_worker_submit(worker, &stuck->job);
	start = now_ns();
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, 30 * MS), 0);
	ck_assert_uint_ge(now_ns() - start, 30 * MS);
	ck_assert_uint_lt(now_ns() - start, LONG_NS / 2);

	start = now_ns();
	ck_assert_int_eq(rti_worker_run(worker, UINT64_MAX, 0), 0);
	ck_assert_uint_lt(now_ns() - start, LONG_NS / 2);

	open_gate(stuck->gate);
	ck_assert_int_eq(rti_worker_run(worker, UINT64_MAX, UINT64_MAX), 0);
	ck_assert_int_eq(stuck->runs, 1);

	close_gate(stuck->gate);
	rti_worker_free_job(worker, &stuck->job);
	rti_worker_free(worker);
}
END_TEST

START_TEST(job_freed_while_blocked_is_freed_by_its_thread)
{
	struct rti_worker *worker = new_worker();
	atomic_int freed = 0;
	struct task *stuck = new_task(true, &freed);
	int gate[2] = { stuck->gate[0], stuck->gate[1] }, before = threads_count_first();

	rti_worker_submit(worker, &stuck->job);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, 20 * MS), 0);

	wait_for_count(&stuck->begun, 1);
	rti_worker_free_job(worker, &stuck->job);
	rti_worker_free(worker);
	ck_assert_int_eq(atomic_load(&freed), 0);
	ck_assert_int_eq(threads_count(), before + 1);

	open_gate(gate);
	wait_for_count(&freed, 1);
	threads_await(before);
	close_gate(gate);
}
END_TEST

START_TEST(job_freed_while_queued_never_runs)
{
	struct rti_worker *worker = new_worker();
	atomic_int freed = 0;
	struct task *task[3] = { new_task(false, &freed), new_task(false, &freed),
		                 new_task(false, &freed) };

	for (int i = 0; i < 3; i++)
		rti_worker_submit(worker, &task[i]->job);
	rti_worker_free_job(worker, &task[2]->job);
	rti_worker_free_job(worker, &task[0]->job);
	ck_assert_int_eq(atomic_load(&freed), 2);

	task[0] = new_task(false, &freed);
	rti_worker_submit(worker, &task[0]->job);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(task[0]->runs, 1);
	ck_assert_int_eq(task[1]->runs, 1);

	rti_worker_free_job(worker, &task[0]->job);
	rti_worker_free_job(worker, &task[1]->job);
	rti_worker_free_job(worker, NULL);
	rti_worker_free(worker);
	ck_assert_int_eq(atomic_load(&freed), 4);
}
END_TEST

/* Runs in the thread of the worker. */
static void check_mask(struct rti_job *job)
{
	struct task *task = (struct task *)job;
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	task->runs = sigismember(&mask, SIGCHLD) && sigismember(&mask, SIGTERM) &&
	             sigismember(&mask, SIGALRM);
}

START_TEST(worker_thread_blocks_signals_and_host_does_not)
{
	struct rti_worker *worker = new_worker();
	struct task *task = new_task(false, NULL);
	sigset_t mask;

	task->job.run = check_mask;
	rti_worker_submit(worker, &task->job);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(task->runs, 1);

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	ck_assert(!sigismember(&mask, SIGTERM));

	rti_worker_free_job(worker, &task->job);
	rti_worker_free(worker);
}
END_TEST

/* The child has no threads, although its memory says so. One more job was freed while it was
 * blocked. Returns 0 or the number of what went wrong. */
static int use_in_child(struct rti_worker *worker, struct task *idle, struct task *stuck,
                        atomic_int *freed)
{
	struct rti_worker *second;
	struct task *task = new_task(false, NULL);

	if (rti_worker_is_here(worker))
		return 1;
	rti_worker_free_job(worker, &idle->job);
	rti_worker_free_job(worker, &stuck->job);
	rti_worker_free(worker);
	if (atomic_load(freed) != 3)
		return 2;
	if (rti_worker_new(&second) < 0 || !rti_worker_is_here(second))
		return 3;
	rti_worker_submit(second, &task->job);
	if (rti_worker_run(second, LONG_NS, LONG_NS) < 0 || task->runs != 1)
		return 4;
	rti_worker_free_job(second, &task->job);
	rti_worker_free(second);
	return 0;
}

START_TEST(worker_after_fork_is_unusable_in_child_only)
{
	struct rti_worker *worker = new_worker();
	atomic_int freed = 0;
	struct task *idle = new_task(false, &freed), *stuck = new_task(true, &freed),
		    *orphan = new_task(true, &freed);
	int gate[2][2] = { { stuck->gate[0], stuck->gate[1] },
		           { orphan->gate[0], orphan->gate[1] } },
	    status;
	pid_t pid;

	rti_worker_submit(worker, &idle->job);
	rti_worker_submit(worker, &orphan->job);
	rti_worker_submit(worker, &stuck->job);
	ck_assert_int_eq(rti_worker_run(worker, 20 * MS, LONG_NS), 0);

	rti_worker_free_job(worker, &orphan->job);
	ck_assert(rti_worker_is_here(worker));

	pid = fork();
	if (pid == 0)
		_exit(use_in_child(worker, idle, stuck, &freed));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(atomic_load(&freed), 0);

	rti_worker_free_job(worker, &idle->job);
	rti_worker_free_job(worker, &stuck->job);
	rti_worker_free(worker);
	open_gate(gate[0]);
	open_gate(gate[1]);
	wait_for_count(&freed, 3);
	close_gate(gate[0]);
	close_gate(gate[1]);
}
END_TEST

/* RLIMIT_NPROC does not limit root, so a thread fails because its stack does not fit. In emulators,
 * which have memory in reserve, it succeeds. */
START_TEST(run_without_memory_for_a_thread_fails_and_recovers)
{
	struct rlimit before, small;
	struct rti_worker *worker = new_worker();
	struct task *task = new_task(false, NULL);
	int err;

	rti_worker_submit(worker, &task->job);
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);

	small = before;
	small.rlim_cur = 4096;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &small), 0);

	err = rti_worker_run(worker, LONG_NS, LONG_NS);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
	ck_assert(err == -EAGAIN || err == -ENOMEM || err == 0);
	ck_assert_int_eq(task->runs, err == 0);
	ck_assert_int_eq(rti_worker_is_idle(worker, &task->job), err == 0);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(task->runs, 1);

	rti_worker_free_job(worker, &task->job);
	rti_worker_free(worker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("worker");
	TCase *work = suite_case(suite, "work"), *stuck = suite_case(suite, "stuck");
	TCase *host = suite_case(suite, "host");

	tcase_add_test(work, job_has_the_stack_that_was_set);
	tcase_add_test(work, jobs_submitted_in_rounds_run_once_per_round);
	tcase_add_test(work, worker_without_jobs_starts_no_thread);
	tcase_add_test(work, job_submitted_twice_runs_once);
	tcase_add_test(work, job_freed_while_queued_never_runs);
	tcase_add_test(stuck, job_that_blocks_does_not_delay_others);
	tcase_add_test(stuck, jobs_that_block_use_one_thread_each);
	tcase_add_test(stuck, stuck_jobs_of_all_workers_use_a_limited_number_of_threads);
	tcase_add_test(stuck, stuck_calls_beyond_the_most_are_not_added);
	tcase_add_test(stuck, job_on_a_thing_that_is_stuck_elsewhere_is_not_run);
	tcase_add_test(stuck, run_with_blocked_job_returns_at_its_limit);
	tcase_add_test(stuck, job_freed_while_blocked_is_freed_by_its_thread);
	tcase_add_test(host, worker_thread_blocks_signals_and_host_does_not);
	if (!IS_THREAD_SANITIZED)
		tcase_add_test(host, worker_after_fork_is_unusable_in_child_only);
	if (!IS_ADDRESS_SANITIZED && !IS_THREAD_SANITIZED)
		tcase_add_test(host, run_without_memory_for_a_thread_fails_and_recovers);
	return suite_run(suite);
}
