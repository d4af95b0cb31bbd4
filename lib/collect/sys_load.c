/* SPDX-License-Identifier: MIT */
/* Load averages and the number of threads, from /proc/loadavg. */
#include <errno.h>

#include "collect/collector.h"

struct state {
	struct rti_file file;
};

static int load_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	(void)ctx;
	st->file = (struct rti_file)RTI_FILE_INIT;
	return 0;
}

static int load_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	struct rti_loadavg load;
	int err = rti_procfs_read_cached(ctx->procfs, RTI_PROC, "loadavg", RTI_ONE_LINE, &st->file,
	                                 ctx->buf);

	if (err == 0)
		err = rti_parse_loadavg(ctx->buf->data, ctx->buf->len, &load);
	/* Emulated kernels have a file of zeros, but this thread is one. */
	if (err == 0 && load.threads == 0)
		err = -EOPNOTSUPP;
	if (err < 0)
		return err;
	out->load_1m = load.load_1m;
	out->load_5m = load.load_5m;
	out->load_15m = load.load_15m;
	out->threads = load.threads;
	out->valid |= RT_HAS_LOAD | RT_HAS_THREADS;
	return 0;
}

static void load_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->file);
}

const struct rti_sys_collector rti_sys_load = {
	.provides = RT_HAS_LOAD | RT_HAS_THREADS,
	.files = { "loadavg" },
	.state_size = sizeof(struct state),
	.open = load_open,
	.collect = load_collect,
	.close = load_close,
};
