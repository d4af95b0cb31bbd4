/* SPDX-License-Identifier: MIT */
/* Pressure stall times of the system, from /proc/pressure.
 *
 * It exists since Linux 4.20, unless the kernel was booted with psi=0. */
#include <errno.h>

#include "collect/collector.h"

enum resource { CPU, MEMORY, IO, RESOURCES };

static const char *const paths[RESOURCES] = { "pressure/cpu", "pressure/memory", "pressure/io" };
static const uint64_t bits[RESOURCES] = { RT_HAS_PRESSURE_CPU, RT_HAS_PRESSURE_MEMORY,
	                                  RT_HAS_PRESSURE_IO };

struct state {
	struct rti_file file[RESOURCES];
	int error[RESOURCES]; /* of the last read */
};

static int psi_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	(void)ctx;
	for (int i = 0; i < RESOURCES; i++)
		st->file[i] = (struct rti_file)RTI_FILE_INIT;
	return 0;
}

/* CPU pressure is never full for the whole system, so older kernels have no such line for it. The
 * other resources need it. */
static int set_figures(enum resource which, const struct rti_pressure *now, struct rt_metrics *out)
{
	if (which != CPU && !now->has_full)
		return -EBADMSG;
	if (which == CPU) {
		out->pressure_cpu_some_ns = now->some_us * 1000;
	} else if (which == MEMORY) {
		out->pressure_memory_some_ns = now->some_us * 1000;
		out->pressure_memory_full_ns = now->full_us * 1000;
	} else {
		out->pressure_io_some_ns = now->some_us * 1000;
		out->pressure_io_full_ns = now->full_us * 1000;
	}
	out->valid |= bits[which];
	return 0;
}

static int psi_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	int first = 0;

	for (int i = 0; i < RESOURCES; i++) {
		struct rti_pressure now;
		int err = 0;

		if (!ctx->want || ctx->want & bits[i]) {
			err = rti_procfs_read_cached(ctx->procfs, RTI_PROC, paths[i], RTI_TWO_LINES,
			                             &st->file[i], ctx->buf);
			if (err == 0)
				err = rti_parse_pressure(ctx->buf->data, ctx->buf->len, &now);
			if (err == 0)
				err = set_figures((enum resource)i, &now, out);
		}
		st->error[i] = err;
		first = first ? first : err;
	}
	return first;
}

static int psi_error_of(const void *state, uint64_t has)
{
	const struct state *st = state;
	int i = CPU;

	while (i < IO && bits[i] != has)
		i++;
	return st->error[i];
}

static void psi_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	for (int i = 0; i < RESOURCES; i++)
		rti_procfs_close_file(ctx->procfs, &st->file[i]);
}

const struct rti_sys_collector rti_sys_psi = {
	.provides = RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_MEMORY | RT_HAS_PRESSURE_IO,
	.files = { "pressure/cpu", "pressure/memory", "pressure/io" },
	.read_for = { RT_HAS_PRESSURE_CPU, RT_HAS_PRESSURE_MEMORY, RT_HAS_PRESSURE_IO },
	.state_size = sizeof(struct state),
	.open = psi_open,
	.collect = psi_collect,
	.close = psi_close,
	.error_of = psi_error_of,
};
