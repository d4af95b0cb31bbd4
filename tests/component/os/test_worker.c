/* SPDX-License-Identifier: MIT */
#include "os/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"
#include "threads.h"

#define MS UINT64_C(1000000)
#define LONG_NS (100000 * MS) /* never reached where all is well, however slow the machine */

/* A job that blocks until it is told to go on, when it has a pipe. */
struct task {
	struct rti_job job;
	int gate[2];
	int runs; /* what the owner may read once the job is idle */
	atomic_int *freed;
};

static void run_task(struct rti_job *job)
{
	struct task *task = (struct task *)job;
	char byte;

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

static struct task *new_task(int blocks, atomic_int *freed)
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

static void release(const int *gate)
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

static void await_count(atomic_int *counter, int expected)
{
	for (int i = 0; i < 5000 && atomic_load(counter) != expected; i++)
		usleep(1000);
	ck_assert_int_eq(atomic_load(counter), expected);
}

static struct rti_worker *new_worker(void)
{
	struct rti_worker *worker;

	ck_assert_int_eq(rti_worker_new(&worker), 0);
	return worker;
}

START_TEST(jobs_are_done)
{
	enum { TASKS = 50, ROUNDS = 20 };
	struct rti_worker *worker = new_worker();
	struct task *task[TASKS];
	atomic_int freed = 0;
	int before = threads_count_first();

	for (int i = 0; i < TASKS; i++)
		task[i] = new_task(0, &freed);
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

START_TEST(no_thread_without_work)
{
	int before = threads_count_first();
	struct rti_worker *worker = new_worker();

	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(threads_count(), before);
	rti_worker_free(worker);
	rti_worker_free(NULL);
}
END_TEST

START_TEST(submitting_twice_runs_once)
{
	struct rti_worker *worker = new_worker();
	struct task *task = new_task(0, NULL);

	rti_worker_submit(worker, &task->job);
	rti_worker_submit(worker, &task->job);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(task->runs, 1);
	rti_worker_free_job(worker, &task->job);
	rti_worker_free(worker);
}
END_TEST

START_TEST(a_stuck_job_holds_up_no_other)
{
	struct rti_worker *worker = new_worker();
	struct task *stuck = new_task(1, NULL), *other = new_task(0, NULL);
	uint64_t start = now_ns();

	rti_worker_submit(worker, &stuck->job);
	rti_worker_submit(worker, &other->job);
	ck_assert_int_eq(rti_worker_run(worker, 25 * MS, LONG_NS), 0);
	ck_assert_uint_lt(now_ns() - start, LONG_NS / 2);
	ck_assert_uint_ge(now_ns() - start, 25 * MS);
	ck_assert(!rti_worker_is_idle(worker, &stuck->job));
	ck_assert(rti_worker_is_idle(worker, &other->job));
	ck_assert_int_eq(other->runs, 1);
	/* when it comes back it can be asked again */
	release(stuck->gate);
	while (!rti_worker_is_idle(worker, &stuck->job))
		usleep(1000);
	ck_assert_int_eq(stuck->runs, 1);
	release(stuck->gate);
	rti_worker_submit(worker, &stuck->job);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(stuck->runs, 2);
	close_gate(stuck->gate);
	rti_worker_free_job(worker, &stuck->job);
	rti_worker_free_job(worker, &other->job);
	rti_worker_free(worker);
}
END_TEST

START_TEST(one_thread_per_stuck_job)
{
	enum { STUCK = 5, ROUNDS = 20 };
	struct rti_worker *worker = new_worker();
	struct task *task[STUCK];
	int before = threads_count_first(), gate[STUCK][2];

	for (int i = 0; i < STUCK; i++) {
		task[i] = new_task(1, NULL);
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
		release(gate[i]);
	threads_await(before);
	for (int i = 0; i < STUCK; i++)
		close_gate(gate[i]);
}
END_TEST

START_TEST(the_wait_is_bounded)
{
	struct rti_worker *worker = new_worker();
	struct task *stuck = new_task(1, NULL);
	uint64_t start;

	rti_worker_submit(worker, &stuck->job);
	start = now_ns();
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, 30 * MS), 0);
	ck_assert_uint_ge(now_ns() - start, 30 * MS);
	ck_assert_uint_lt(now_ns() - start, LONG_NS / 2);
	start = now_ns();
	ck_assert_int_eq(rti_worker_run(worker, UINT64_MAX, 0), 0);
	ck_assert_uint_lt(now_ns() - start, LONG_NS / 2);
	release(stuck->gate);
	ck_assert_int_eq(rti_worker_run(worker, UINT64_MAX, UINT64_MAX), 0);
	ck_assert_int_eq(stuck->runs, 1);
	close_gate(stuck->gate);
	rti_worker_free_job(worker, &stuck->job);
	rti_worker_free(worker);
}
END_TEST

START_TEST(freeing_leaves_a_stuck_job_to_its_thread)
{
	struct rti_worker *worker = new_worker();
	atomic_int freed = 0;
	struct task *stuck = new_task(1, &freed);
	int gate[2] = { stuck->gate[0], stuck->gate[1] }, before = threads_count_first();

	rti_worker_submit(worker, &stuck->job);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, 20 * MS), 0);
	rti_worker_free_job(worker, &stuck->job);
	rti_worker_free(worker);
	ck_assert_int_eq(atomic_load(&freed), 0);
	ck_assert_int_eq(threads_count(), before + 1);
	release(gate);
	await_count(&freed, 1);
	threads_await(before);
	close_gate(gate);
}
END_TEST

START_TEST(a_queued_job_can_be_freed)
{
	struct rti_worker *worker = new_worker();
	atomic_int freed = 0;
	struct task *task[3] = { new_task(0, &freed), new_task(0, &freed), new_task(0, &freed) };

	for (int i = 0; i < 3; i++)
		rti_worker_submit(worker, &task[i]->job);
	rti_worker_free_job(worker, &task[2]->job);
	rti_worker_free_job(worker, &task[0]->job);
	ck_assert_int_eq(atomic_load(&freed), 2);
	task[0] = new_task(0, &freed);
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

/* Signals that are blocked in a thread stand in its status. */
static struct task *signal_task;

static void read_mask(struct rti_job *job)
{
	sigset_t mask;

	(void)job;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	signal_task->runs = sigismember(&mask, SIGCHLD) && sigismember(&mask, SIGTERM) &&
	                    sigismember(&mask, SIGALRM);
}

START_TEST(signals_are_the_hosts)
{
	struct rti_worker *worker = new_worker();
	sigset_t mask;

	signal_task = new_task(0, NULL);
	signal_task->job.run = read_mask;
	rti_worker_submit(worker, &signal_task->job);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert_int_eq(signal_task->runs, 1);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	ck_assert(!sigismember(&mask, SIGTERM));
	rti_worker_free_job(worker, &signal_task->job);
	rti_worker_free(worker);
}
END_TEST

/* The child has no threads, whatever its memory says. A third job was given up before. */
static int use_in_child(struct rti_worker *worker, struct task *idle, struct task *stuck,
                        atomic_int *freed)
{
	struct rti_worker *own;
	struct task *task = new_task(0, NULL);

	if (rti_worker_is_here(worker))
		return 1;
	rti_worker_free_job(worker, &idle->job);
	rti_worker_free_job(worker, &stuck->job);
	rti_worker_free(worker);
	if (atomic_load(freed) != 3)
		return 2;
	if (rti_worker_new(&own) < 0 || !rti_worker_is_here(own))
		return 3;
	rti_worker_submit(own, &task->job);
	if (rti_worker_run(own, LONG_NS, LONG_NS) < 0 || task->runs != 1)
		return 4;
	rti_worker_free_job(own, &task->job);
	rti_worker_free(own);
	return 0;
}

START_TEST(fork_is_survived)
{
	struct rti_worker *worker = new_worker();
	atomic_int freed = 0;
	struct task *idle = new_task(0, &freed), *stuck = new_task(1, &freed),
		    *orphan = new_task(1, &freed);
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
	release(gate[0]);
	release(gate[1]);
	await_count(&freed, 3);
	close_gate(gate[0]);
	close_gate(gate[1]);
}
END_TEST

/* root is not bound by RLIMIT_NPROC, so a new stack that does not fit is what fails; but for
 * emulators, which have room already. */
START_TEST(no_thread_to_be_had)
{
	struct rlimit before, small;
	struct rti_worker *worker = new_worker();
	struct task *task = new_task(0, NULL);
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

	tcase_add_test(work, jobs_are_done);
	tcase_add_test(work, no_thread_without_work);
	tcase_add_test(work, submitting_twice_runs_once);
	tcase_add_test(work, a_queued_job_can_be_freed);
	tcase_add_test(stuck, a_stuck_job_holds_up_no_other);
	tcase_add_test(stuck, one_thread_per_stuck_job);
	tcase_add_test(stuck, the_wait_is_bounded);
	tcase_add_test(stuck, freeing_leaves_a_stuck_job_to_its_thread);
	tcase_add_test(host, signals_are_the_hosts);
	if (!IS_THREAD_SANITIZED)
		tcase_add_test(host, fork_is_survived);
	if (!IS_ADDRESS_SANITIZED && !IS_THREAD_SANITIZED)
		tcase_add_test(host, no_thread_to_be_had);
	return suite_run(suite);
}
