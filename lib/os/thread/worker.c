/* SPDX-License-Identifier: MIT */
/* Runs calls that may block forever off the sampling path. */
#include "os/thread/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "os/platform.h"
#include "os/thread/stuck_calls.h"
#include "os/thread/thread.h"
#include "util/arith.h"

/* If the host locks its memory, the usual 8 MiB would be resident in full. */
#define STACK_BYTES ((size_t)256 << 10)
#define CLOSING_NS 20000000u /* how long rti_worker_free() waits */

/* ORPHANED: running, but freed by its owner. PREVENTED: not queued, because it would get stuck. */
enum job_state { IDLE, QUEUED, RUNNING, ORPHANED, PREVENTED };

struct thread {
	struct rti_worker *worker;
	struct thread *next;
	pthread_t id;
	struct rti_job *job;        /* the job that it runs, or NULL */
	uint64_t job_started_at_ns; /* when job was started */
	bool is_abandoned;          /* must remove itself and end as soon as its job is done */
	int stuck_at;               /* of rti_stuck_calls_add(), or -1 */
};

/* Shared by the owner and all threads; the last of them frees it.
 * Invariant: lock guards every member but platform, pid and stack_bytes, and each job's state and
 * next. */
struct rti_worker {
	pthread_mutex_t lock;
	pthread_cond_t has_work, became_idle;
	/* The real one: threads wait by the real clock, even if a test gave the tracker another. */
	struct rti_platform platform;
	int32_t pid;
	size_t stack_bytes; /* of each thread */
	unsigned users;     /* the owner and all threads */
	bool is_closing;
	struct thread *thread;         /* the one that runs jobs, or NULL */
	struct thread *threads;        /* all, abandoned ones included */
	struct rti_job *first, **last; /* the queue */
};

static uint64_t now_ns(const struct rti_worker *worker)
{
	struct rti_now now;

	worker->platform.now(&now);
	return now.monotonic_ns;
}

static uint64_t add_clamped(uint64_t from_ns, uint64_t by_ns)
{
	return by_ns > UINT64_MAX / 2 ? UINT64_MAX / 2 : from_ns + by_ns;
}

int rti_worker_new(struct rti_worker **out)
{
	struct rti_worker *worker = calloc(1, sizeof(*worker));
	pthread_condattr_t monotonic;

	*out = worker;
	if (!worker)
		return -ENOMEM;
	rti_platform_init(&worker->platform, false);
	worker->pid = worker->platform.getpid();
	worker->stack_bytes = STACK_BYTES;
	worker->users = 1;
	worker->last = &worker->first;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->has_work, NULL);
	pthread_cond_init(&worker->became_idle, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return 0;
}

void rti_worker_set_stack(struct rti_worker *worker, size_t bytes)
{
	worker->stack_bytes = bytes;
}

bool rti_worker_is_here(const struct rti_worker *worker)
{
	return worker->pid == worker->platform.getpid();
}

/* Drop one reference to the worker and unlock it. Frees it if that was the last. */
static void release_worker(struct rti_worker *worker)
{
	unsigned users = --worker->users;

	pthread_mutex_unlock(&worker->lock);
	if (users > 0)
		return;
	pthread_mutex_destroy(&worker->lock);
	pthread_cond_destroy(&worker->has_work);
	pthread_cond_destroy(&worker->became_idle);
	free(worker);
}

static void remove_thread(struct rti_worker *worker, struct thread *thread)
{
	struct thread **at = &worker->threads;

	while (*at != thread)
		at = &(*at)->next;
	*at = thread->next;
	free(thread);
}

static bool is_prevented(const struct rti_worker *worker, const struct rti_job *job)
{
	return job->thing && rti_stuck_calls_prevent(worker->pid, job->thing);
}

/* Others may have got stuck since the job was queued. */
static void run_next_job(struct rti_worker *worker, struct thread *self)
{
	struct rti_job *job = worker->first;

	worker->first = job->next;
	if (!worker->first)
		worker->last = &worker->first;
	job->next = NULL;
	if (is_prevented(worker, job)) {
		job->state = PREVENTED;
		if (!worker->first)
			pthread_cond_broadcast(&worker->became_idle);
		return;
	}
	job->state = RUNNING;
	self->job = job;
	self->job_started_at_ns = now_ns(worker);
	pthread_mutex_unlock(&worker->lock);
	job->run(job);
	pthread_mutex_lock(&worker->lock);
	self->job = NULL;
	rti_stuck_calls_remove(self->stuck_at);
	self->stuck_at = -1;
	if (job->state == ORPHANED)
		job->free(job);
	else
		job->state = IDLE;
	if (!worker->first)
		pthread_cond_broadcast(&worker->became_idle);
}

static void *thread_main(void *arg)
{
	struct thread *self = arg;
	struct rti_worker *worker = self->worker;

	pthread_mutex_lock(&worker->lock);
	while (!self->is_abandoned && !(worker->is_closing && !worker->first)) {
		if (worker->first)
			run_next_job(worker, self);
		else
			pthread_cond_wait(&worker->has_work, &worker->lock);
	}
	if (self->is_abandoned)
		remove_thread(worker, self);
	release_worker(worker);
	return NULL;
}

static int start_thread(struct rti_worker *worker)
{
	struct thread *thread = calloc(1, sizeof(*thread));
	int err;

	if (!thread)
		return -ENOMEM;
	thread->worker = worker;
	thread->stuck_at = -1;
	err = rti_thread_start(&thread->id, worker->stack_bytes, thread_main, thread);
	if (err < 0) {
		free(thread);
		return err;
	}
	thread->next = worker->threads;
	worker->threads = thread;
	worker->thread = thread;
	worker->users++;
	return 0;
}

static void abandon_thread(struct rti_worker *worker)
{
	struct thread *thread = worker->thread;

	if (thread->job->thing)
		thread->stuck_at = rti_stuck_calls_add(worker->pid, thread->job->thing);
	thread->is_abandoned = true;
	pthread_detach(thread->id);
	worker->thread = NULL;
}

void rti_worker_submit(struct rti_worker *worker, struct rti_job *job)
{
	pthread_mutex_lock(&worker->lock);
	if (job->state == IDLE || job->state == PREVENTED)
		job->state = is_prevented(worker, job) ? PREVENTED : IDLE;
	if (job->state == IDLE) {
		job->state = QUEUED;
		job->next = NULL;
		*worker->last = job;
		worker->last = &job->next;
	}
	pthread_mutex_unlock(&worker->lock);
}

/* Run the queued jobs. The caller holds the lock. Returns 0 or -errno. */
static int run_queue(struct rti_worker *worker, uint64_t job_limit_ns, uint64_t limit_ns)
{
	uint64_t now = now_ns(worker), end = add_clamped(now, limit_ns);

	for (; worker->first || (worker->thread && worker->thread->job); now = now_ns(worker)) {
		const struct thread *thread = worker->thread;
		struct timespec until;
		uint64_t until_ns;
		int err = 0;

		if (thread && thread->job &&
		    now >= add_clamped(thread->job_started_at_ns, job_limit_ns))
			abandon_thread(worker);
		if (worker->first && !worker->thread)
			err = start_thread(worker);
		if (err < 0)
			return err;
		if (now >= end)
			break;
		until_ns = rti_min(end, add_clamped(now, job_limit_ns));
		until = (struct timespec){ .tv_sec = (time_t)(until_ns / 1000000000u),
			                   .tv_nsec = (long)(until_ns % 1000000000u) };
		pthread_cond_timedwait(&worker->became_idle, &worker->lock, &until);
	}
	return 0;
}

int rti_worker_run(struct rti_worker *worker, uint64_t job_limit_ns, uint64_t limit_ns)
{
	int err;

	pthread_mutex_lock(&worker->lock);
	pthread_cond_signal(&worker->has_work);
	err = run_queue(worker, job_limit_ns, limit_ns);
	pthread_mutex_unlock(&worker->lock);
	return err;
}

bool rti_worker_is_idle(struct rti_worker *worker, const struct rti_job *job)
{
	bool result;

	pthread_mutex_lock(&worker->lock);
	result = job->state == IDLE;
	pthread_mutex_unlock(&worker->lock);
	return result;
}

void rti_worker_free_job(struct rti_worker *worker, struct rti_job *job)
{
	struct rti_job **at = &worker->first;

	if (!job)
		return;
	if (!rti_worker_is_here(worker)) {
		/* The threads exist only in the parent. Do not lock: one of them may have held the
		 * lock. */
		for (struct thread *thread = worker->threads; thread; thread = thread->next)
			if (thread->job == job)
				thread->job = NULL;
		job->free(job);
		return;
	}
	pthread_mutex_lock(&worker->lock);
	if (job->state == QUEUED) {
		while (*at != job)
			at = &(*at)->next;
		*at = job->next;
		if (!*at)
			worker->last = at;
	}
	if (job->state == RUNNING)
		job->state = ORPHANED;
	else
		job->free(job);
	pthread_mutex_unlock(&worker->lock);
}

/* Any job that a thread still refers to is orphaned, so free it here. */
static void free_after_fork(struct rti_worker *worker)
{
	struct thread *next;

	for (struct thread *thread = worker->threads; thread; thread = next) {
		next = thread->next;
		if (thread->job)
			thread->job->free(thread->job);
		free(thread);
	}
	free(worker);
}

/* Join the thread if it is idle, so that it does not run code of the library after the caller has
 * unloaded it. */
void rti_worker_free(struct rti_worker *worker)
{
	struct thread *thread;

	if (!worker)
		return;
	if (!rti_worker_is_here(worker)) {
		free_after_fork(worker);
		return;
	}
	pthread_mutex_lock(&worker->lock);
	worker->is_closing = true;
	run_queue(worker, CLOSING_NS, CLOSING_NS);
	if (worker->thread && worker->thread->job)
		abandon_thread(worker);
	thread = worker->thread;
	pthread_cond_signal(&worker->has_work);
	pthread_mutex_unlock(&worker->lock);
	if (thread)
		pthread_join(thread->id, NULL);
	pthread_mutex_lock(&worker->lock);
	if (thread)
		remove_thread(worker, thread);
	release_worker(worker);
}
