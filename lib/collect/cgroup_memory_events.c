/* SPDX-License-Identifier: MIT */
/* The most memory that was charged to a cgroup, and how often its limits were met. */
#include <errno.h>

#include "collect/cgroup_collector.h"
#include "parse/cgroup_stat.h"

#define SOURCE(name, v2, v1)                                                                       \
	static const struct rti_cgroup_source name = { RTI_CONTROLLER_MEMORY, v2, v1 }

SOURCE(usage, "memory.current", "memory.usage_in_bytes");
SOURCE(peak, "memory.peak", "memory.max_usage_in_bytes");
SOURCE(events, "memory.events", NULL);
SOURCE(oom, "memory.events", "memory.oom_control");

struct state {
	struct rti_file usage, peak, events, oom;
};

static void events_open(void *state)
{
	struct state *st = state;

	st->usage = st->peak = st->events = st->oom = (struct rti_file)RTI_FILE_INIT;
}

/* memory.peak came later than the controller. */
static void read_peak(struct state *st, struct rti_cgroup_look *look)
{
	const uint64_t has = RT_HAS_CGROUP_MEMORY_PEAK;
	uint64_t bytes, now;
	int err = rti_cgroup_read_number(look, &peak, &st->peak, has, &bytes);

	if (err == -ENOENT && rti_cgroup_read_number(look, &usage, &st->usage, has, &now) == 0)
		rti_cgroup_note(look, &peak, has, RTI_CAUSE_NO_FIGURE, err);
	if (err < 0)
		return;
	look->out->cgroup_memory_peak_bytes = bytes;
	look->out->valid |= has;
}

/* v1 counts the kills in the cgroup alone, not in cgroups below. */
static void read_oom_kills_v1(struct state *st, struct rti_cgroup_look *look)
{
	const uint64_t has = RT_HAS_CGROUP_OOM_KILLS;
	uint64_t kills;

	if (rti_cgroup_read(look, &oom, &st->oom, has) < 0)
		return;
	if (rti_parse_cgroup_oom_control(look->ctx->buf->data, look->ctx->buf->len, &kills) < 0) {
		rti_cgroup_note(look, &oom, has, RTI_CAUSE_NO_FIGURE, -ENOENT);
		return;
	}
	rti_cgroup_note(look, &oom, has, RTI_CAUSE_CGROUP_VERSION, -ENODATA);
	look->out->cgroup_oom_kills = kills;
	look->out->partial |= has;
}

static void read_events(struct state *st, struct rti_cgroup_look *look, uint64_t has)
{
	struct rti_cgroup_memory_events found;
	struct rt_metrics *out = look->out;

	if (rti_cgroup_read(look, &events, &st->events, has) < 0)
		return;
	if (rti_parse_cgroup_memory_events(look->ctx->buf->data, look->ctx->buf->len, &found) < 0) {
		rti_cgroup_note(look, &events, has, RTI_CAUSE_READ, -EBADMSG);
		return;
	}
	out->cgroup_oom_kills = found.oom_kills;
	out->cgroup_memory_high_events = found.high;
	out->cgroup_memory_max_events = found.max;
	out->cgroup_memory_oom_events = found.oom;
	out->valid |= has;
}

static void events_collect(void *state, struct rti_cgroup_look *look)
{
	const uint64_t counts = RT_HAS_CGROUP_OOM_KILLS | RT_HAS_CGROUP_MEMORY_EVENTS;
	struct state *st = state;

	if (look->want & RT_HAS_CGROUP_MEMORY_PEAK)
		read_peak(st, look);
	if (look->want & counts)
		read_events(st, look, look->want & counts);
	if (look->want & RT_HAS_CGROUP_OOM_KILLS && rti_cgroup_is_v1(look, RTI_CONTROLLER_MEMORY))
		read_oom_kills_v1(st, look);
}

static void events_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->usage);
	rti_procfs_close_file(ctx->procfs, &st->peak);
	rti_procfs_close_file(ctx->procfs, &st->events);
	rti_procfs_close_file(ctx->procfs, &st->oom);
}

const struct rti_cgroup_collector rti_cgroup_memory_events = {
	.provides =
	    RT_HAS_CGROUP_MEMORY_PEAK | RT_HAS_CGROUP_MEMORY_EVENTS | RT_HAS_CGROUP_OOM_KILLS,
	.state_size = sizeof(struct state),
	.open = events_open,
	.collect = events_collect,
	.close = events_close,
};
