/* SPDX-License-Identifier: MIT */
/* Pressure stall times of a cgroup: cpu.pressure and the like. v2 alone has them, of any cgroup. */
#include <errno.h>

#include "collect/cgroup_collector.h"
#include "parse/parse.h"

enum resource { CPU, MEMORY, IO, RESOURCES };

static const char *const names[RESOURCES] = { "cpu.pressure", "memory.pressure", "io.pressure" };
static const uint64_t bits[RESOURCES] = { RT_HAS_PRESSURE_CPU, RT_HAS_PRESSURE_MEMORY,
	                                  RT_HAS_PRESSURE_IO };
static const struct rti_cgroup_source sources[RESOURCES] = {
	{ RTI_CONTROLLER_CPU, "cpu.pressure", NULL },
	{ RTI_CONTROLLER_MEMORY, "memory.pressure", NULL },
	{ RTI_CONTROLLER_IO, "io.pressure", NULL },
};

struct state {
	struct rti_file file[RESOURCES];
};

static void pressure_open(void *state)
{
	struct state *st = state;

	for (int i = 0; i < RESOURCES; i++)
		st->file[i] = (struct rti_file)RTI_FILE_INIT;
}

static void set_figures(enum resource which, const struct rti_pressure *now, struct rt_metrics *out)
{
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
}

static void read_one(struct state *st, struct rti_cgroup_look *look, enum resource which)
{
	const struct rti_cgroup_place *place = rti_cgroup_place_v2(look->places);
	const struct rti_context *ctx = look->ctx;
	enum rti_cause cause = RTI_CAUSE_READ;
	struct rti_pressure now = { 0 };
	int err = -EOPNOTSUPP;

	if (place)
		err = rti_procfs_read_in(ctx->procfs, &place->dir, names[which], RTI_TWO_LINES,
		                         &st->file[which], ctx->buf);
	if (err == 0)
		err = rti_parse_pressure(ctx->buf->data, ctx->buf->len, &now);
	if (err == 0 && which != CPU && !now.has_full)
		err = -EBADMSG;
	if (err == 0) {
		set_figures(which, &now, look->out);
		return;
	}
	if (!place)
		cause = RTI_CAUSE_CGROUP_VERSION;
	else if (err == -ENOENT || err == -EOPNOTSUPP)
		cause = RTI_CAUSE_NO_FIGURE;
	rti_cgroup_note(look, &sources[which], bits[which], cause, err);
}

static void pressure_collect(void *state, struct rti_cgroup_look *look)
{
	for (int i = 0; i < RESOURCES; i++) {
		if (look->want & bits[i])
			read_one(state, look, (enum resource)i);
	}
}

static void pressure_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	for (int i = 0; i < RESOURCES; i++)
		rti_procfs_close_file(ctx->procfs, &st->file[i]);
}

const struct rti_cgroup_collector rti_cgroup_pressure = {
	.provides = RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_MEMORY | RT_HAS_PRESSURE_IO,
	.state_size = sizeof(struct state),
	.open = pressure_open,
	.collect = pressure_collect,
	.close = pressure_close,
};
