/* SPDX-License-Identifier: MIT */
/* What a process tree used, from the outcome of a command or from samples. Summaries show it. */
#include "usage.h"

#include <stdbool.h>
#include <unistd.h>

#include "figures.h"

#define TICK_MAX_NS UINT64_C(10000000) /* CONFIG_HZ=100 */

/* Add the figures for which the outcome is no more precise than the last sample. */
static void add_from_sample(struct usage *u, const struct follow *f)
{
	u->minor_faults = f->now.minor_faults - f->base.minor_faults;
	u->major_faults = f->now.major_faults - f->base.major_faults;
	u->voluntary_switches = f->now.voluntary_switches - f->base.voluntary_switches;
	u->involuntary_switches = f->now.involuntary_switches - f->base.involuntary_switches;
	u->cores = &f->cores;
	u->memory = &f->memory;
	u->gpu = gpu_use_of(f);
}

void usage_of_command(struct usage *u, const struct rt_outcome *outcome, const struct follow *last)
{
	*u = (struct usage){
		.pid = last->pid,
		.has_ended = true,
		.exit_code = outcome->exit_code,
		.signal = outcome->signal,
		.start_realtime_ns = outcome->start_realtime_ns,
		.wall_ns = outcome->wall_ns,
		.marks = { outcome->valid, outcome->partial, outcome->estimated },
		.cpu_user_ns = outcome->cpu_user_ns,
		.cpu_system_ns = outcome->cpu_system_ns,
		.cpu_low_ns = outcome->cpu_low_ns,
		.cpu_high_ns = outcome->cpu_high_ns,
		.cpu_estimate_ns = outcome->cpu_estimate_ns,
		.error_bound_ns = outcome->error_bound_ns,
		.accounting = outcome->accounting,
		.reasons = outcome->reasons,
		.complete = outcome->complete != 0,
		.peak_rss_bytes = outcome->peak_rss_bytes,
		.peak_tree_bytes = outcome->peak_tree_bytes,
		.peak_tree_kind = outcome->peak_tree_kind,
		.peak_tree_low_bytes = outcome->peak_tree_low_bytes,
		.peak_tree_high_bytes = outcome->peak_tree_high_bytes,
		.read_bytes = outcome->read_bytes,
		.write_bytes = outcome->write_bytes,
		.processes = outcome->processes,
		.processes_peak = outcome->processes_peak,
		.members_skipped = outcome->members_skipped,
		.left_running = outcome->left_running,
		.samples = outcome->samples,
		.overhead_cpu_ns = outcome->overhead_cpu_ns,
		.cgroup_memory_peak_bytes = outcome->cgroup_memory_peak_bytes,
		.cgroup_read_bytes = outcome->cgroup_read_bytes,
		.cgroup_write_bytes = outcome->cgroup_write_bytes,
		.cgroup_tasks_peak = outcome->cgroup_tasks_peak,
	};
	add_from_sample(u, last);
	u->gpu.marks = u->marks;
	u->gpu.wall_ns = u->wall_ns;
	u->gpu.busy_ns = outcome->gpu_busy_ns;
	u->gpu.memory_peak_bytes = outcome->gpu_memory_peak_bytes;
}

static void set_peak(struct usage *u, const struct rt_metrics *m)
{
	u->peak_tree_high_bytes = UINT64_MAX;
	if (!is_known(u->marks, RT_HAS_PEAK_TREE))
		return;
	u->peak_tree_kind = RT_PEAK_PSS;
	u->peak_tree_bytes = m->peak_tree_bytes;
	u->peak_tree_low_bytes = m->peak_tree_pss_bytes;
}

static void make_partial(struct usage *u, uint64_t bits)
{
	u->marks.partial |= u->marks.valid & bits;
	u->marks.valid &= ~bits;
}

/* As in an outcome, the count of all processes has the bit of RT_HAS_PROCESSES. */
static struct marks marks_without(struct marks marks, uint64_t bits)
{
	return (struct marks){ marks.valid & ~bits, marks.partial & ~bits,
		               marks.estimated & ~bits };
}

/* Whether every fork and exit was reported since rtrack attached. */
static bool has_all_events(const struct follow *f)
{
	return !(f->now.reasons & (RT_REASON_EVENTS_UNHEARD | RT_REASON_EVENTS_LOST));
}

/* The tree cannot have used more than the cgroup that it is in. If the cgroup used no more than is
 * known of the tree, nothing can be missing. Its account may lag by a clock tick on each CPU. */
static void bound_cpu(struct usage *u, const struct follow *f)
{
	uint64_t low_ns = usage_cpu_ns(u), growth_ns = f->cgroup_growth_ns;
	uint64_t lag_ns = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * TICK_MAX_NS;
	bool is_bounded = growth_ns != UINT64_MAX;

	u->cpu_low_ns = u->cpu_estimate_ns = u->cpu_high_ns = low_ns;
	if (f->is_alone && !u->reasons)
		return;
	if (!is_bounded)
		u->cpu_high_ns = UINT64_MAX;
	else if (growth_ns + growth_ns / 50 + TICK_MAX_NS + lag_ns > low_ns)
		u->cpu_high_ns = growth_ns + growth_ns / 50 + TICK_MAX_NS + lag_ns;
	if (!f->is_alone &&
	    (!is_bounded || growth_ns > low_ns + low_ns / 100 + TICK_MAX_NS + u->overhead_cpu_ns))
		u->reasons |= RT_REASON_UNVERIFIED;
}

void usage_of_attached(struct usage *u, const struct follow *f)
{
	const struct rt_metrics *from = &f->base, *to = &f->now;
	struct rt_delta since;
	uint32_t orphans = f->is_alone || has_all_events(f) ? 0 : RT_REASON_ORPHANS_UNSEEN;

	rt_diff(from, to, &since, sizeof(since));
	*u = (struct usage){
		.pid = f->pid,
		.has_ended = f->has_ended,
		.start_realtime_ns = from->realtime_ns,
		.wall_ns = to->monotonic_ns - from->monotonic_ns,
		.marks = marks_without(delta_marks(&since), RT_HAS_PROCESSES_SEEN),
		.cpu_user_ns = to->cpu_user_ns - from->cpu_user_ns,
		.cpu_system_ns = to->cpu_system_ns - from->cpu_system_ns,
		.cpu_before_ns = from->cpu_user_ns + from->cpu_system_ns,
		.accounting = RT_ACCOUNTING_POLL,
		.reasons = to->reasons | orphans,
		.peak_rss_bytes = to->peak_rss_bytes,
		.read_bytes = to->read_bytes - from->read_bytes,
		.write_bytes = to->write_bytes - from->write_bytes,
		.processes = to->processes_seen,
		.members_skipped = f->members_skipped,
		.left_running = f->has_ended ? 0 : to->processes,
		.samples = f->samples,
		.overhead_cpu_ns = to->self_cpu_ns,
	};
	bound_cpu(u, f);
	u->complete = u->reasons == 0;
	/* As of a command: RT_REASON_UNVERIFIED alone says that nothing is known to be missing. */
	if (u->reasons & ~(uint32_t)RT_REASON_UNVERIFIED)
		make_partial(u, RT_HAS_CPU);
	if (orphans)
		make_partial(u, RT_HAS_PROCESSES);
	u->error_bound_ns =
	    u->cpu_high_ns == UINT64_MAX ? UINT64_MAX : u->cpu_high_ns - u->cpu_low_ns;
	set_peak(u, to);
	add_from_sample(u, f);
}

uint64_t usage_cpu_ns(const struct usage *u)
{
	return u->cpu_user_ns + u->cpu_system_ns;
}

const char *usage_peak_kind(const struct usage *u)
{
	static const char *const names[] = {
		[RT_PEAK_PSS] = "pss",
		[RT_PEAK_RSS] = "rss",
		[RT_PEAK_CGROUP] = "cgroup",
	};

	return u->peak_tree_kind < sizeof(names) / sizeof(names[0]) ? names[u->peak_tree_kind]
	                                                            : NULL;
}
