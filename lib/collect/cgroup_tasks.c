/* SPDX-License-Identifier: MIT */
/* Tasks of a cgroup: pids.current, pids.max and pids.peak, the same in both versions. */
#include <errno.h>

#include "collect/cgroup_collector.h"
#include "parse/cgroup_stat.h"

static const struct rti_cgroup_source current = { RTI_CONTROLLER_PIDS, "pids.current",
	                                          "pids.current" };
static const struct rti_cgroup_source max = { RTI_CONTROLLER_PIDS, "pids.max", "pids.max" };
static const struct rti_cgroup_source peak = { RTI_CONTROLLER_PIDS, "pids.peak", "pids.peak" };

struct state {
	struct rti_file current, peak;
	struct rti_cgroup_levels max;
};

static void tasks_open(void *state)
{
	struct state *st = state;

	st->current = st->peak = (struct rti_file)RTI_FILE_INIT;
	rti_cgroup_levels_init(&st->max);
}

static int read_current(struct state *st, struct rti_cgroup_look *look, uint64_t has)
{
	struct rt_metrics *out = look->out;
	uint64_t tasks, limit;
	int err = rti_cgroup_read_number(look, &current, &st->current, has, &tasks);

	if (err < 0 || !(look->want & RT_HAS_CGROUP_TASKS) ||
	    rti_cgroup_read_least(look, &max, &st->max, RT_HAS_CGROUP_TASKS, rti_parse_cgroup_limit,
	                          &limit) < 0)
		return err;
	out->cgroup_tasks = tasks;
	out->cgroup_tasks_limit = limit;
	out->valid |= RT_HAS_CGROUP_TASKS;
	return 0;
}

/* pids.peak came later than the controller. */
static void tasks_collect(void *state, struct rti_cgroup_look *look)
{
	const uint64_t has = RT_HAS_CGROUP_TASKS_PEAK;
	struct state *st = state;
	uint64_t most;
	int err;

	if (read_current(st, look, look->want & (RT_HAS_CGROUP_TASKS | has)) < 0 ||
	    !(look->want & has))
		return;
	err = rti_cgroup_read_number(look, &peak, &st->peak, has, &most);
	if (err == -ENOENT)
		rti_cgroup_note(look, &peak, has, RTI_CAUSE_NO_FIGURE, err);
	if (err < 0)
		return;
	look->out->cgroup_tasks_peak = most;
	look->out->valid |= has;
}

static void tasks_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->current);
	rti_procfs_close_file(ctx->procfs, &st->peak);
	rti_cgroup_levels_close(&st->max, ctx);
}

const struct rti_cgroup_collector rti_cgroup_tasks = {
	.provides = RT_HAS_CGROUP_TASKS | RT_HAS_CGROUP_TASKS_PEAK,
	.state_size = sizeof(struct state),
	.open = tasks_open,
	.collect = tasks_collect,
	.close = tasks_close,
};
