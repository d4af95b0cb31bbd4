/* SPDX-License-Identifier: MIT */
/* Memory that is charged to a cgroup, what it consists of, and its limits. */
#include <errno.h>

#include "collect/cgroup_collector.h"
#include "parse/cgroup_stat.h"
#include "util/arith.h"

#define FROM_STAT                                                                                  \
	(RT_HAS_CGROUP_MEMORY | RT_HAS_CGROUP_MEMORY_KERNEL | RT_HAS_CGROUP_MEMORY_SLAB |          \
	 RT_HAS_FAULTS | RT_HAS_CGROUP_SWAP)

#define SOURCE(name, v2, v1)                                                                       \
	static const struct rti_cgroup_source name = { RTI_CONTROLLER_MEMORY, v2, v1 }

SOURCE(usage, "memory.current", "memory.usage_in_bytes");
SOURCE(parts, "memory.stat", "memory.stat");
SOURCE(max, "memory.max", NULL);
SOURCE(high, "memory.high", NULL);
SOURCE(kernel, "memory.stat", "memory.kmem.usage_in_bytes");
SOURCE(swap, "memory.swap.current", "memory.stat");

struct state {
	struct rti_file usage, stat, kernel, swap;
	struct rti_cgroup_levels max, high;
	uint64_t minor_faults, major_faults; /* as reported last */
};

static void memory_open(void *state)
{
	struct state *st = state;

	st->usage = st->stat = st->kernel = st->swap = (struct rti_file)RTI_FILE_INIT;
	rti_cgroup_levels_init(&st->max);
	rti_cgroup_levels_init(&st->high);
}

/* v1 says in memory.stat what all levels together allow. It has no slower limit. */
static int read_limits(struct state *st, struct rti_cgroup_look *look,
                       const struct rti_cgroup_memory_detail *detail)
{
	struct rt_metrics *out = look->out;
	int err;

	if (detail->has & RTI_MEMORY_STAT_LIMIT) {
		out->cgroup_memory_limit_bytes = detail->limit_bytes;
		out->cgroup_memory_high_bytes = RTI_NO_LIMIT;
		return 0;
	}
	if (rti_cgroup_is_v1(look, RTI_CONTROLLER_MEMORY)) {
		rti_cgroup_note(look, &parts, RT_HAS_CGROUP_MEMORY, RTI_CAUSE_READ, -EBADMSG);
		return -EBADMSG;
	}
	err = rti_cgroup_read_least(look, &max, &st->max, RT_HAS_CGROUP_MEMORY,
	                            rti_parse_cgroup_limit, &out->cgroup_memory_limit_bytes);
	if (err < 0)
		return err;
	return rti_cgroup_read_least(look, &high, &st->high, RT_HAS_CGROUP_MEMORY,
	                             rti_parse_cgroup_limit, &out->cgroup_memory_high_bytes);
}

/* A kernel that lists no shared memory leaves the field 0: then all are lower bounds. */
static void set_parts(struct state *st, struct rti_cgroup_look *look,
                      const struct rti_cgroup_memory_detail *detail)
{
	struct rt_metrics *out = look->out;
	uint64_t bytes;

	if (rti_cgroup_read_number(look, &usage, &st->usage, RT_HAS_CGROUP_MEMORY, &bytes) < 0 ||
	    read_limits(st, look, detail) < 0)
		return;
	out->cgroup_memory_bytes = bytes;
	out->cgroup_memory_anon_bytes = detail->anon_bytes;
	out->cgroup_memory_file_bytes = detail->file_bytes;
	out->cgroup_memory_shmem_bytes = detail->shmem_bytes;
	if (detail->has & RTI_MEMORY_STAT_SHMEM)
		out->valid |= RT_HAS_CGROUP_MEMORY;
	else
		out->partial |= RT_HAS_CGROUP_MEMORY;
}

static void set_kernel(struct state *st, struct rti_cgroup_look *look,
                       const struct rti_cgroup_memory_detail *detail)
{
	const uint64_t has = RT_HAS_CGROUP_MEMORY_KERNEL;
	uint64_t *bytes = &look->out->cgroup_memory_kernel_bytes;

	if (rti_cgroup_is_v1(look, RTI_CONTROLLER_MEMORY)) {
		if (rti_cgroup_read_number(look, &kernel, &st->kernel, has, bytes) == 0)
			look->out->valid |= has;
		return;
	}
	*bytes = detail->kernel_bytes;
	if (detail->has & RTI_MEMORY_STAT_KERNEL) {
		look->out->valid |= has;
		return;
	}
	rti_cgroup_note(look, &kernel, has, RTI_CAUSE_NO_FIGURE, -ENOENT);
	if (detail->has & RTI_MEMORY_STAT_KERNEL_LOW)
		look->out->partial |= has;
}

static void set_slab(struct rti_cgroup_look *look, const struct rti_cgroup_memory_detail *detail)
{
	if (!(detail->has & RTI_MEMORY_STAT_SLAB)) {
		rti_cgroup_note(look, &parts, RT_HAS_CGROUP_MEMORY_SLAB, RTI_CAUSE_NO_FIGURE,
		                -ENOENT);
		return;
	}
	look->out->cgroup_memory_slab_reclaimable_bytes = detail->slab_reclaimable_bytes;
	look->out->valid |= RT_HAS_CGROUP_MEMORY_SLAB;
}

/* The kernel gathers the counts of all CPUs now and then, so the difference of two of them may fall
 * for a moment. */
static void set_faults(struct state *st, struct rti_cgroup_look *look,
                       const struct rti_cgroup_memory_detail *detail)
{
	struct rt_metrics *out = look->out;
	uint64_t minor = rti_subtract_saturated(detail->faults, detail->major_faults);

	if (!(detail->has & RTI_MEMORY_STAT_FAULTS)) {
		rti_cgroup_note(look, &parts, RT_HAS_FAULTS, RTI_CAUSE_NO_FIGURE, -ENOENT);
		return;
	}
	st->minor_faults = minor > st->minor_faults ? minor : st->minor_faults;
	if (detail->major_faults > st->major_faults)
		st->major_faults = detail->major_faults;
	out->minor_faults = st->minor_faults;
	out->major_faults = st->major_faults;
	out->valid |= RT_HAS_FAULTS;
}

/* memory.stat was read, so the controller is enabled. The root of v2 alone lacks the file then, or
 * a kernel that does not account for swap space. */
static void set_swap(struct state *st, struct rti_cgroup_look *look,
                     const struct rti_cgroup_memory_detail *detail)
{
	const uint64_t has = RT_HAS_CGROUP_SWAP;
	uint64_t bytes = detail->swap_bytes;
	int err = detail->has & RTI_MEMORY_STAT_SWAP ? 0 : -ENOENT;
	bool is_v1 = rti_cgroup_is_v1(look, RTI_CONTROLLER_MEMORY);

	if (!is_v1)
		err = rti_cgroup_read_number(look, &swap, &st->swap, has, &bytes);
	if (err == -ENOENT && (is_v1 || !rti_cgroup_is_root(look, RTI_CONTROLLER_MEMORY)))
		rti_cgroup_note(look, &swap, has, RTI_CAUSE_NO_FIGURE, err);
	if (err < 0)
		return;
	look->out->cgroup_swap_bytes = bytes;
	look->out->valid |= has;
}

static void memory_collect(void *state, struct rti_cgroup_look *look)
{
	struct state *st = state;
	const struct rti_buf *buf = look->ctx->buf;
	struct rti_cgroup_memory_detail detail = { 0 };
	uint64_t want = look->want & FROM_STAT;
	int err = rti_cgroup_read(look, &parts, &st->stat, want);

	if (err < 0)
		return;
	err = rti_cgroup_is_v1(look, RTI_CONTROLLER_MEMORY)
	          ? rti_parse_cgroup_memory_detail_v1(buf->data, buf->len, &detail)
	          : rti_parse_cgroup_memory_detail(buf->data, buf->len, &detail);
	if (err < 0) {
		rti_cgroup_note(look, &parts, want, RTI_CAUSE_READ, err);
		return;
	}
	if (want & RT_HAS_CGROUP_MEMORY)
		set_parts(st, look, &detail);
	if (want & RT_HAS_CGROUP_MEMORY_KERNEL)
		set_kernel(st, look, &detail);
	if (want & RT_HAS_CGROUP_MEMORY_SLAB)
		set_slab(look, &detail);
	if (want & RT_HAS_FAULTS)
		set_faults(st, look, &detail);
	if (want & RT_HAS_CGROUP_SWAP)
		set_swap(st, look, &detail);
}

static void memory_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->usage);
	rti_procfs_close_file(ctx->procfs, &st->stat);
	rti_procfs_close_file(ctx->procfs, &st->kernel);
	rti_procfs_close_file(ctx->procfs, &st->swap);
	rti_cgroup_levels_close(&st->max, ctx);
	rti_cgroup_levels_close(&st->high, ctx);
}

const struct rti_cgroup_collector rti_cgroup_memory = {
	.provides = FROM_STAT,
	.state_size = sizeof(struct state),
	.open = memory_open,
	.collect = memory_collect,
	.close = memory_close,
};
