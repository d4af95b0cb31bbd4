/* SPDX-License-Identifier: MIT */
/* NVML on a thread of its own, since a driver that hangs never returns. */
#include "collect/nvml_thread.h"

#include <errno.h>
#include <stdlib.h>

/* The library is not ours. */
#define STACK_BYTES ((size_t)2 << 20)
/* An answer that comes after its sample is used by the next one, if it is not older. */
#define LATE_MAX_NS UINT64_C(1000000000)
#define CLOSE_WAIT_NS UINT64_C(100000000)

/* The job of the thread. If it is stuck, the thread frees it. */
struct rti_nvml_job {
	struct rti_job job;
	struct rti_nvml nvml;
	const char *library;
	uint64_t (*monotonic_ns)(void);
	struct rti_nvml_want want;
	bool is_to_close;
	int err;
	struct rti_gpu_readings readings;
};

static void run(struct rti_job *base)
{
	struct rti_nvml_job *job = (struct rti_nvml_job *)base;

	if (job->is_to_close)
		rti_nvml_close(&job->nvml);
	else
		job->err = rti_nvml_read(&job->nvml, job->library, job->monotonic_ns(), job->want,
		                         &job->readings);
}

/* Does not shut the library down: that may hang, and in a child after fork() it is not ours. */
static void free_job(struct rti_job *base)
{
	struct rti_nvml_job *job = (struct rti_nvml_job *)base;

	rti_nvml_abandon(&job->nvml);
	rti_gpu_readings_free(&job->readings);
	free(job);
}

static int start(struct rti_nvml_thread *thread, const struct rti_context *ctx,
                 const struct rti_nvml_setup *setup)
{
	struct rti_nvml_job *job = calloc(1, sizeof(*job));
	int err = job ? rti_worker_new(&thread->worker) : -ENOMEM;

	if (err < 0) {
		free(job);
		thread->worker = NULL;
		return err;
	}
	rti_worker_set_stack(thread->worker, STACK_BYTES);
	job->job.run = run;
	job->job.free = free_job;
	job->nvml.now = ctx->platform->now;
	job->library = setup->library;
	job->monotonic_ns = ctx->platform->monotonic_ns;
	thread->job = job;
	return 0;
}

/* Ask, and wait. Returns 0 once the job is idle; -ETIMEDOUT; or another -errno. */
static int ask(struct rti_nvml_thread *thread, uint64_t wait_ns)
{
	int err;

	if (!thread->is_late)
		rti_worker_submit(thread->worker, &thread->job->job);
	err = rti_worker_run(thread->worker, UINT64_MAX, thread->is_late ? 0 : wait_ns);
	if (err < 0)
		return err;
	thread->is_late = !rti_worker_is_idle(thread->worker, &thread->job->job);
	thread->was_asked = true;
	return thread->is_late ? -ETIMEDOUT : 0;
}

static int look(struct rti_nvml_thread *thread, uint64_t wait_ns, struct rti_nvml_want want)
{
	struct rti_nvml_job *job = thread->job;
	bool was_late = thread->is_late;
	int err;

	/* Without the library, or while it is not to be tried again, the thread need not wake
	 * up. */
	if (!was_late && !job->nvml.is_open && job->nvml.err < 0 &&
	    job->monotonic_ns() < job->nvml.retry_at_ns) {
		rti_gpu_readings_clear(&job->readings);
		return job->nvml.err;
	}
	if (!was_late)
		job->want = want;
	err = ask(thread, wait_ns);
	/* A late answer is one of then, not of now. */
	if (err == 0 && was_late && job->monotonic_ns() - job->readings.at_ns > LATE_MAX_NS)
		err = ask(thread, wait_ns);
	return err < 0 ? err : job->err;
}

int rti_nvml_thread_look(struct rti_nvml_thread *thread, const struct rti_context *ctx,
                         const struct rti_nvml_setup *setup, struct rti_nvml_want want,
                         const struct rti_gpu_readings **out)
{
	static const struct rti_gpu_readings nothing;
	int err = 0;

	*out = &nothing;
	if (thread->worker && !rti_worker_is_here(thread->worker))
		rti_nvml_thread_stop(thread);
	if (!thread->worker)
		err = start(thread, ctx, setup);
	if (err == 0)
		err = look(thread, thread->was_asked ? setup->wait_ns : setup->first_wait_ns, want);
	if (err == 0)
		*out = &thread->job->readings;
	return err;
}

void rti_nvml_thread_stop(struct rti_nvml_thread *thread)
{
	struct rti_nvml_job *job = thread->job;

	if (!thread->worker)
		return;
	if (rti_worker_is_here(thread->worker) && rti_worker_is_idle(thread->worker, &job->job) &&
	    job->nvml.is_open) {
		job->is_to_close = true;
		rti_worker_submit(thread->worker, &job->job);
		rti_worker_run(thread->worker, UINT64_MAX, CLOSE_WAIT_NS);
	}
	rti_worker_free_job(thread->worker, &job->job);
	rti_worker_free(thread->worker);
	*thread = (struct rti_nvml_thread){ 0 };
}
