/* SPDX-License-Identifier: MIT */
/* CPU time of a cgroup: cpu.stat (v2, of any cgroup), or cpuacct.usage split as in cpuacct.stat.
 *
 * A cgroup of v2 needs no controller for it. So v2 comes first, even where v1 has cpuacct.
 *
 * An account of v1 can be set back: what is written to cpuacct.usage is 0. Then the figure is what
 * it was plus what the account has since: a lower bound, since what was used in between is lost. */
#include <errno.h>

#include "collect/cgroup_collector.h"
#include "os/cpu_time.h"
#include "parse/parse.h"
#include "util/arith.h"

static const struct rti_cgroup_source usage = { RTI_CONTROLLER_CPUACCT, "cpu.stat",
	                                        "cpuacct.usage" };
static const struct rti_cgroup_source split = { RTI_CONTROLLER_CPUACCT, "cpu.stat",
	                                        "cpuacct.stat" };

struct state {
	struct rti_file stat, usage, split;
	uint64_t user_ns, system_ns; /* as reported last */
	uint64_t read_ns;            /* the account, as read last */
	uint64_t read_at_ns;         /* when that was */
	/* What was reported when the account was set back last. */
	uint64_t lost_user_ns, lost_system_ns;
	bool was_set_back;
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

/* The account of the root of v2 is summed up from CPUs that go on meanwhile: it may fall by a
 * little. One that was set back has no more than all CPUs had since the last read. */
static bool is_set_back(const struct state *st, uint64_t account_ns, uint64_t now_ns, uint64_t cpus)
{
	uint64_t passed_ns = now_ns - st->read_at_ns;

	return account_ns + RTI_TICK_MAX_NS < st->read_ns &&
	       account_ns <= rti_multiply_saturated(passed_ns, cpus) + RTI_TICK_MAX_NS;
}

/* Add what was lost to the account. */
static void restore(struct state *st, const struct rti_platform *platform, uint64_t *user_ns,
                    uint64_t *system_ns)
{
	uint64_t account_ns = *user_ns + *system_ns, now_ns = platform->monotonic_ns();

	if (is_set_back(st, account_ns, now_ns, platform->cpu_count())) {
		st->lost_user_ns = st->user_ns;
		st->lost_system_ns = st->system_ns;
		st->was_set_back = true;
	}
	st->read_ns = account_ns;
	st->read_at_ns = now_ns;
	*user_ns += st->lost_user_ns;
	*system_ns += st->lost_system_ns;
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
	restore(st, look->ctx->platform, &user_ns, &system_ns);
	advance(st, user_ns, system_ns);
	look->out->monotonic_ns = st->read_at_ns;
	look->out->cpu_user_ns = st->user_ns;
	look->out->cpu_system_ns = st->system_ns;
	look->out->cpu_resolution_ns = RTI_US_NS;
	if (st->was_set_back) {
		look->out->reasons |= RT_REASON_ACCOUNT_RESET;
		look->out->partial |= RT_HAS_CPU;
	} else {
		look->out->valid |= RT_HAS_CPU;
	}
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
