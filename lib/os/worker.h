/* SPDX-License-Identifier: MIT */
/* Work that may block for ever, kept off the sampling path: the only place that makes threads.
 *
 * A worker has one thread, which does the queued jobs in turn. A job that takes too long is left
 * behind together with its thread, and a new thread does the rest: at most one thread is stuck
 * per job, and none holds up another job.
 *
 * Owner: one collector has one worker; it calls all functions here, and reads what run() wrote
 * only while the job is idle. Memory that a stuck thread still needs is freed by that thread.
 * After fork() the child has no threads: it must free its jobs and worker, which then touches no
 * lock, and make new ones. */
#ifndef RTI_WORKER_H
#define RTI_WORKER_H

#include <stdbool.h>
#include <stdint.h>

struct rti_worker;

/* First member of what the job works on. */
struct rti_job {
	/* on a thread of the worker; touches nothing but the job's own memory */
	void (*run)(struct rti_job *job);
	void (*free)(struct rti_job *job); /* on any thread */
	/* The rest is for worker.c. */
	struct rti_job *next;
	int state;
};

/* 0 or -errno. */
int rti_worker_new(struct rti_worker **out);

/* Jobs must have been freed before. A job that still runs is waited for, but only a moment. NULL
 * is allowed. */
void rti_worker_free(struct rti_worker *worker);

/* 0 in a process that was forked off since the worker was made. */
bool rti_worker_is_here(const struct rti_worker *worker);

/* Queue a job. Nothing happens to one that is queued or running already. */
void rti_worker_submit(struct rti_worker *worker, struct rti_job *job);

/* Have the queued jobs done, and wait for them for at most limit_ns. A job that has run for
 * job_limit_ns is left behind. 0 or -errno: no thread could be made, and the jobs stay queued. */
int rti_worker_run(struct rti_worker *worker, uint64_t job_limit_ns, uint64_t limit_ns);

/* Whether a job is neither queued nor running. */
bool rti_worker_is_idle(struct rti_worker *worker, const struct rti_job *job);

/* Give up a job, at once if possible, else when it has come to its end. NULL is allowed. */
void rti_worker_free_job(struct rti_worker *worker, struct rti_job *job);

#endif
