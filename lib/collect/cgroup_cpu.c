/* SPDX-License-Identifier: MIT */
/* CPU time of a cgroup: cpu.stat (v2, of any cgroup), or cpuacct.usage split as in cpuacct.stat.
 *
 * A cgroup of v2 needs no controller for it. So v2 comes first, even where v1 has cpuacct. */
#include <errno.h>

#include "collect/cgroup_collector.h"
#include "os/cpu_time.h"
#include "parse/parse.h"

static const struct rti_cgroup_source usage = { RTI_CONTROLLER_CPUACCT, "cpu.stat",
	                                        "cpuacct.usage" };
static const struct rti_cgroup_source split = { RTI_CONTROLLER_CPUACCT, "cpu.stat",
	                                        "cpuacct.stat" };

struct state {
	struct rti_file stat, usage, split;
	uint64_t user_ns, system_ns; /* as reported last */
};

static void cpu_open(void *state)
{
	struct state *st = state;

	st->stat = st->usage = st->split = (struct rti_file)RTI_FILE_INIT;
}

/* usage_usec is exact and its split is sampled, so keep the sum. */
static int read_v2(struct state *st, const struct rti_cgroup_look *look, uint64_t *user_ns,
                   uint64_t *system_ns)
{
	const struct rti_cgroup_place *place = rti_cgroup_place_v2(look->places);
	const struct rti_context *ctx = look->ctx;
	struct rti_cgroup_cpu cpu = { 0 };
	int err = -ENOENT;

	if (place)
		err = rti_procfs_read_in(ctx->procfs, &place->dir, usage.v2, RTI_SINGLE_RECORD,
		                         &st->stat, ctx->buf);
	if (err == 0)
		err = rti_parse_cgroup_cpu(ctx->buf->data, ctx->buf->len, &cpu);
	if (err == 0)
		rti_split_cpu(cpu.usage_us * RTI_US_NS, cpu.user_us, cpu.user_us + cpu.system_us,
		              user_ns, system_ns);
	return err;
}

static int read_v1(struct state *st, struct rti_cgroup_look *look, uint64_t *user_ns,
                   uint64_t *system_ns)
{
	struct rti_cgroup_cpuacct ticks = { 0 };
	uint64_t usage_ns;
	int err = rti_cgroup_read_number(look, &usage, &st->usage, RT_HAS_CPU, &usage_ns);

	if (err == 0)
		err = rti_cgroup_read(look, &split, &st->split, RT_HAS_CPU);
	if (err < 0)
		return err;
	err = rti_parse_cgroup_cpuacct(look->ctx->buf->data, look->ctx->buf->len, &ticks);
	if (err < 0)
		rti_cgroup_note(look, &split, RT_HAS_CPU, RTI_CAUSE_READ, err);
	else
		rti_split_cpu(usage_ns, ticks.user_ticks, ticks.user_ticks + ticks.system_ticks,
		              user_ns, system_ns);
	return err;
}

/* The split moves a little, but neither part may fall. */
static void advance(struct state *st, uint64_t user_ns, uint64_t system_ns)
{
	uint64_t total_ns = user_ns + system_ns;

	if (total_ns < st->user_ns + st->system_ns)
		return;
	if (user_ns < st->user_ns)
		user_ns = st->user_ns;
	if (total_ns - user_ns < st->system_ns)
		user_ns = total_ns - st->system_ns;
	st->user_ns = user_ns;
	st->system_ns = total_ns - user_ns;
}

static void cpu_collect(void *state, struct rti_cgroup_look *look)
{
	struct state *st = state;
	uint64_t user_ns, system_ns;
	int err = read_v2(st, look, &user_ns, &system_ns);

	if (err == -ENOENT)
		err = read_v1(st, look, &user_ns, &system_ns);
	else if (err < 0)
		rti_cgroup_note(look, &usage, RT_HAS_CPU, RTI_CAUSE_READ, err);
	if (err < 0)
		return;
	look->out->monotonic_ns = look->ctx->platform->monotonic_ns();
	advance(st, user_ns, system_ns);
	look->out->cpu_user_ns = st->user_ns;
	look->out->cpu_system_ns = st->system_ns;
	look->out->cpu_resolution_ns = RTI_US_NS;
	look->out->valid |= RT_HAS_CPU;
}

static void cpu_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->stat);
	rti_procfs_close_file(ctx->procfs, &st->usage);
	rti_procfs_close_file(ctx->procfs, &st->split);
}

const struct rti_cgroup_collector rti_cgroup_cpu = {
	.provides = RT_HAS_CPU,
	.state_size = sizeof(struct state),
	.open = cpu_open,
	.collect = cpu_collect,
	.close = cpu_close,
};
