/* SPDX-License-Identifier: MIT */
/* The locks and threads of a worker, by its calls of pthreads, which are wrapped here: no lock is
 * released that is not held, and no thread stays that was neither joined nor detached. */
#include "os/thread/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"

#define MS UINT64_C(1000000)
#define LONG_NS (100000 * MS)

/* Written by the wrappers. */
static _Thread_local int held; /* locks of this thread */
static atomic_int faults;      /* releases of, and waits with, a lock that is not held */
static atomic_int locks, started, ended;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __real_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __real_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __real_pthread_join(pthread_t id, void **result);
int __real_pthread_detach(pthread_t id);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_join(pthread_t id, void **result);
int __wrap_pthread_detach(pthread_t id);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int error = __real_pthread_mutex_lock(mutex);

	held++;
	atomic_fetch_add(&locks, 1);
	return error;
}

/* A release that is not due would release the lock of another thread. So it is counted instead. */
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (held == 0) {
		atomic_fetch_add(&faults, 1);
		return 0;
	}
	held--;
	return __real_pthread_mutex_unlock(mutex);
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	if (held == 0) {
		atomic_fetch_add(&faults, 1);
		__wrap_pthread_mutex_lock(mutex);
	}
	return __real_pthread_cond_wait(condition, mutex);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
	if (held == 0) {
		atomic_fetch_add(&faults, 1);
		__wrap_pthread_mutex_lock(mutex);
	}
	return __real_pthread_cond_timedwait(condition, mutex, until);
}

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg)
{
	int error = __real_pthread_create(id, attr, run, arg);

	if (error == 0)
		atomic_fetch_add(&started, 1);
	return error;
}

int __wrap_pthread_join(pthread_t id, void **result)
{
	atomic_fetch_add(&ended, 1);
	return __real_pthread_join(id, result);
}

int __wrap_pthread_detach(pthread_t id)
{
	atomic_fetch_add(&ended, 1);
	return __real_pthread_detach(id);
}

/* A job that blocks until its pipe has a byte, if it has one. */
struct task {
	struct rti_job job;
	int gate[2];
	atomic_int *freed;
};

static void run_task(struct rti_job *job)
{
	struct task *task = (struct task *)job;
	char byte;

	if (task->gate[0] >= 0)
		ck_assert_int_eq(read(task->gate[0], &byte, 1), 1);
}

static void free_task(struct rti_job *job)
{
	struct task *task = (struct task *)job;

	if (task->gate[0] >= 0) {
		close(task->gate[0]);
		close(task->gate[1]);
	}
	atomic_fetch_add(task->freed, 1);
	free(task);
}

static struct task *submit_task(struct rti_worker *worker, bool blocks, atomic_int *freed)
{
	struct task *task = calloc(1, sizeof(*task));

	*task = (struct task){ .job = { .run = run_task, .free = free_task },
		               .gate = { -1, -1 },
		               .freed = freed };
	if (blocks)
		ck_assert_int_eq(pipe(task->gate), 0);
	rti_worker_submit(worker, &task->job);
	return task;
}

/* Submits, runs, abandons, orphans and frees jobs, and frees the worker. Returns once all threads
 * have ended. */
static void use_worker(void)
{
	atomic_int freed = 0;
	struct rti_worker *worker;
	struct task *quick, *slow, *queued;
	int gate;

	ck_assert_int_eq(rti_worker_new(&worker), 0);
	quick = submit_task(worker, false, &freed);
	ck_assert_int_eq(rti_worker_run(worker, LONG_NS, LONG_NS), 0);
	ck_assert(rti_worker_is_idle(worker, &quick->job));
	slow = submit_task(worker, true, &freed);
	ck_assert_int_eq(rti_worker_run(worker, 10 * MS, 30 * MS), 0);
	queued = submit_task(worker, false, &freed);
	ck_assert_int_eq(rti_worker_run(worker, 10 * MS, LONG_NS), 0);
	rti_worker_submit(worker, &queued->job);
	gate = dup(slow->gate[1]);
	rti_worker_free_job(worker, &queued->job);
	rti_worker_free_job(worker, &slow->job);
	rti_worker_free_job(worker, &quick->job);
	rti_worker_free(worker);
	ck_assert_int_eq(write(gate, "x", 1), 1);
	close(gate);
	for (int i = 0; i < 100000 && atomic_load(&freed) < 3; i++)
		usleep(1000);
	ck_assert_int_eq(atomic_load(&freed), 3);
}

START_TEST(locks_are_released_by_the_threads_that_hold_them)
{
	use_worker();
	ck_assert_int_gt(atomic_load(&locks), 10); /* they are wrapped */
	ck_assert_int_eq(held, 0);
	ck_assert_int_eq(atomic_load(&faults), 0);
}
END_TEST

/* The stack of a thread stays until then. */
START_TEST(threads_are_joined_or_detached)
{
	use_worker();
	ck_assert_int_ge(atomic_load(&started), 2);
	ck_assert_int_eq(atomic_load(&ended), atomic_load(&started));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("worker_threads");
	TCase *tcase = suite_case(suite, "worker_threads");

	tcase_add_test(tcase, locks_are_released_by_the_threads_that_hold_them);
	tcase_add_test(tcase, threads_are_joined_or_detached);
	return suite_run(suite);
}
