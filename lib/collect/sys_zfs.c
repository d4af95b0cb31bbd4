/* SPDX-License-Identifier: MIT */
/* Space of ZFS pools, from the output of `zpool list`.
 *
 * No file shows it. The program runs on a separate thread every 30 s, and only if the ZFS module is
 * loaded. It has a fixed path and a fixed environment: a library must not run what PATH names. */
#include "collect/sys_zfs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collector.h"
#include "collect/rows.h"
#include "os/process/spawn.h"
#include "os/thread/worker.h"
#include "util/visit.h"

#define INTERVAL_NS UINT64_C(30000000000)
#define ANSWER_MAX_AGE_NS (2 * INTERVAL_NS) /* how long an answer is used if the next is stuck */
#define TIMEOUT_NS UINT64_C(5000000000)
/* How long the first sample waits for the answer. Later ones do not wait. */
#define FIRST_WAIT_NS UINT64_C(100000000)

/* The job of the thread. If it is stuck, the thread frees it. */
struct query {
	struct rti_job job;
	struct rti_zfs_setup setup;
	struct rti_buf output;
	int err;
};

struct state {
	struct rti_worker *worker;
	struct query *query;
	const struct rti_zfs_setup *setup;
	bool is_running;  /* the query is queued or running */
	bool is_answered; /* there has been an answer */
	uint64_t started_at_ns, answered_at_ns;
	int err;            /* error of the last answer, or 0 */
	bool is_incomplete; /* a pool in the last answer had no figures */
	bool is_in_sample;  /* the last sample used rows */
	struct rti_rows rows;
};

static const char *const programs[] = { "/usr/sbin/zpool", "/sbin/zpool", NULL };
static const struct rti_zfs_setup default_setup = { programs, TIMEOUT_NS };

void rti_sys_zfs_set_up(void *state, const struct rti_zfs_setup *setup)
{
	struct state *st = state;

	st->setup = setup;
	st->query->setup = *setup;
}

static void run_query(struct rti_job *job)
{
	static const char *const envp[] = { "LC_ALL=C", NULL };
	struct query *query = (struct query *)job;

	query->err = -ENOENT;
	for (const char *const *program = query->setup.programs; *program && query->err == -ENOENT;
	     program++) {
		const char *const argv[] = { *program, "list", "-Hp", "-o", "name,size,alloc,free",
			                     NULL };
		const struct rti_spawn opts = {
			.argv = argv, .envp = envp, .stdout_fd = -1, .is_quiet = true
		};

		query->err = rti_spawn_output(&opts, query->setup.timeout_ns, &query->output);
	}
}

static void free_query(struct rti_job *job)
{
	struct query *query = (struct query *)job;

	rti_buf_free(&query->output);
	free(query);
}

static int start_worker(struct state *st)
{
	struct query *query = calloc(1, sizeof(*query));
	int err = query ? rti_worker_new(&st->worker) : -ENOMEM;

	if (err < 0) {
		free(query);
		return err;
	}
	query->job.run = run_query;
	query->job.free = free_query;
	query->setup = *st->setup;
	st->query = query;
	st->is_running = false;
	return 0;
}

static void stop_worker(struct state *st)
{
	if (!st->worker)
		return;
	rti_worker_free_job(st->worker, &st->query->job);
	rti_worker_free(st->worker);
	st->worker = NULL;
}

static int zfs_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;
	int err;

	if (ctx->procfs->is_foreign) /* the program only knows the pools of this system */
		return -EOPNOTSUPP;
	err = rti_procfs_access(ctx->procfs, RTI_PROC, "spl/kstat/zfs");
	if (err < 0)
		return err;
	st->setup = &default_setup;
	return start_worker(st);
}

static int add_pool(void *arg, const struct rti_zpool_line *pool)
{
	struct state *st = arg;
	struct rt_zpool *row;

	if (!pool->has_figures) {
		st->is_incomplete = true;
		return RTI_CONTINUE;
	}
	if (rti_rows_reserve(&st->rows, st->rows.count + 1, sizeof(*row)) < 0)
		return -ENOMEM;
	row = (struct rt_zpool *)st->rows.data + st->rows.count++;
	*row = (struct rt_zpool){
		.size = sizeof(*row),
		.size_bytes = pool->size,
		.allocated_bytes = pool->allocated,
		.free_bytes = pool->free,
	};
	memcpy(row->name, pool->name, sizeof(row->name));
	return RTI_CONTINUE;
}

static void use_answer(struct state *st, uint64_t now_ns)
{
	const struct rti_buf *output = &st->query->output;

	st->is_running = false;
	st->is_answered = true;
	st->is_incomplete = false;
	st->answered_at_ns = now_ns;
	st->rows.count = 0;
	st->err = st->query->err;
	if (st->err == 0)
		st->err = rti_parse_zpool_list(output->data, output->len, add_pool, st);
}

/* Start the query if it is due, and take its answer if there is one. Returns 0 or -errno. */
static int refresh_answer(struct state *st, uint64_t now_ns)
{
	bool is_due =
	    !st->is_running && (!st->is_answered || now_ns - st->started_at_ns >= INTERVAL_NS);
	int err;

	if (is_due) {
		st->is_running = true;
		st->started_at_ns = now_ns;
		rti_worker_submit(st->worker, &st->query->job);
	}
	if (!st->is_running)
		return 0;
	err =
	    rti_worker_run(st->worker, UINT64_MAX, is_due && !st->is_answered ? FIRST_WAIT_NS : 0);
	if (err == 0 && rti_worker_is_idle(st->worker, &st->query->job))
		use_answer(st, now_ns);
	return err;
}

/* Returns 0, or why there are no current figures: an -errno. */
static int update_rows(struct state *st, uint64_t now_ns)
{
	int err = 0;

	if (!st->worker || !rti_worker_is_here(st->worker)) {
		stop_worker(st);
		err = start_worker(st);
	}
	if (err == 0)
		err = refresh_answer(st, now_ns);
	if (!st->is_answered)
		return err < 0 ? err : -ETIMEDOUT;
	return st->err == 0 && now_ns - st->answered_at_ns > ANSWER_MAX_AGE_NS ? -ETIMEDOUT
	                                                                       : st->err;
}

static void set_figures(const struct state *st, struct rt_metrics *out)
{
	const struct rt_zpool *row = st->rows.data;

	out->zfs_size_bytes = 0;
	out->zfs_allocated_bytes = 0;
	out->zfs_free_bytes = 0;
	for (size_t i = 0; i < st->rows.count; i++) {
		out->zfs_size_bytes += row[i].size_bytes;
		out->zfs_allocated_bytes += row[i].allocated_bytes;
		out->zfs_free_bytes += row[i].free_bytes;
	}
	out->zfs_pools = st->rows.count;
}

static int zfs_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	struct rti_now now;
	int err;

	ctx->platform->now(&now);
	err = update_rows(st, now.monotonic_ns);
	st->is_in_sample = err == 0;
	if (err < 0)
		return err;
	set_figures(st, out);
	if (st->is_incomplete) {
		out->partial |= RT_HAS_ZFS;
		return -EIO;
	}
	out->valid |= RT_HAS_ZFS;
	return 0;
}

static void zfs_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	(void)ctx;
	stop_worker(st);
	rti_rows_free(&st->rows);
}

static const void *zfs_rows(void *state, size_t *count)
{
	const struct state *st = state;

	*count = 0;
	return st->is_in_sample ? rti_rows_get(&st->rows, count) : NULL;
}

const struct rti_sys_collector rti_sys_zfs = {
	.provides = RT_HAS_ZFS,
	.files = { "spl/kstat/zfs" },
	.state_size = sizeof(struct state),
	.open = zfs_open,
	.collect = zfs_collect,
	.close = zfs_close,
	.rows = zfs_rows,
};
