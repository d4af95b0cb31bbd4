/* SPDX-License-Identifier: MIT */
/* Runs calls that may block forever off the sampling path.
 *
 * A worker has one thread, which runs the queued jobs in turn. A job that takes too long is
 * abandoned together with its thread, and a new thread runs the rest. So at most one thread is
 * stuck per job, and a stuck job does not hold up the others.
 *
 * Jobs that name what they work on share that limit in the whole process: see
 * os/thread/stuck_calls.h. A job that would get stuck like another worker's job is not run, and is
 * not idle either.
 *
 * After fork() the child has no threads. It must free its jobs and its worker and make new ones.
 * Freeing touches no lock there. */
#ifndef RTI_WORKER_H
#define RTI_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Owned by one collector, which alone calls the functions here. */
struct rti_worker;

/* The first member of the struct that a job works on. The owner may read what run() wrote only
 * while the job is idle. If a job is freed while it runs, its thread frees it when run()
 * returns. */
struct rti_job {
	/* Do the work. Runs on a thread of the worker; must only touch memory of the job. */
	void (*run)(struct rti_job *job);
	/* Free the job and its memory. Runs on any thread. */
	void (*free)(struct rti_job *job);
	/* What may get stuck, or NULL. E.g.: a mount point. Lasts as long as the job. */
	const char *thing;
	/* Written by worker.c only. */
	struct rti_job *next;
	int state;
};

/* Allocate a worker. Starts no thread yet. Returns 0 or -ENOMEM. */
int rti_worker_new(struct rti_worker **out);

/* Give the threads of a worker, which must have none yet, a stack of this size. 256 KiB is enough
 * for system calls, and may be too little for a library that is not ours. */
void rti_worker_set_stack(struct rti_worker *worker, size_t bytes);

/* Free a worker. Its jobs must have been freed before. Waits for a job that still runs, but for
 * 20 ms at most. worker may be NULL. */
void rti_worker_free(struct rti_worker *worker);

/* Returns true in the process that made the worker, false in one that was forked since. */
bool rti_worker_is_here(const struct rti_worker *worker);

/* Queue a job. Does nothing if it is queued or running already, or would get stuck. */
void rti_worker_submit(struct rti_worker *worker, struct rti_job *job);

/* Run the queued jobs and wait for them for at most limit_ns. A job that has run for job_limit_ns
 * is abandoned.
 *
 * Returns 0, or -errno if no thread could be made; the jobs then stay queued. */
int rti_worker_run(struct rti_worker *worker, uint64_t job_limit_ns, uint64_t limit_ns);

/* Returns true if a job is neither queued nor running, and has run since it was submitted. */
bool rti_worker_is_idle(struct rti_worker *worker, const struct rti_job *job);

/* Free a job: at once if it is not running, else as soon as run() returns. job may be NULL. */
void rti_worker_free_job(struct rti_worker *worker, struct rti_job *job);

#endif
