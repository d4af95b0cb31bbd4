/* SPDX-License-Identifier: MIT */
/* What a process tree or the system used, as a summary shows it: from the outcome of a command, or
 * from samples. */
#include "usage.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "follow/figures.h"
#include "follow/own_limits.h"
#include "series/gpu.h"
#include "text/message.h"

#define TICK_MAX_NS UINT64_C(10000000)   /* CONFIG_HZ=100 */
#define OF_BEFORE RT_REASON_PAST_UNKNOWN /* nothing that was used since rtrack attached */

/* Add the figures for which the outcome is no more precise than the last sample. */
static void add_from_sample(struct usage *u, const struct follow *f)
{
	u->minor_faults = f->now.minor_faults - f->base.minor_faults;
	u->major_faults = f->now.major_faults - f->base.major_faults;
	u->voluntary_switches = f->now.voluntary_switches - f->base.voluntary_switches;
	u->involuntary_switches = f->now.involuntary_switches - f->base.involuntary_switches;
	u->cores = &f->cores;
	u->peak_cores_least = f->cores_peak_least;
	u->peak_cores_exact = !f->is_cores_uncertain;
	u->memory = &f->memory;
}

/* Returns "footprint", "cgroup", or NULL if there is no peak. */
static const char *peak_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[RT_PEAK_CGROUP] = "cgroup",
		[RT_PEAK_FOOTPRINT] = "footprint",
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

/* CPU time can be accounted a moment after it was used, so a short run may seem to have more than
 * all CPUs have. */
static double limit_to_cpus(const struct usage *u, double cores)
{
	return u->cpus > 0 && cores > (double)u->cpus ? (double)u->cpus : cores;
}

static void derive_cores(struct usage *u)
{
	u->cores_used = u->peak_cores = u->cpu_percent = -1;
	if (u->wall_ns > 0 && is_known(u->marks, RT_HAS_CPU)) {
		u->cores_used = limit_to_cpus(u, (double)u->cpu_ns / (double)u->wall_ns);
		u->cpu_percent = 100 * u->cores_used;
	}
	if (u->cores->used > 0)
		u->peak_cores = u->cores->peak;
	/* A peak over intervals that are not all of one length can be below the average. */
	if (!(u->marks.estimated & RT_HAS_CPU) && u->peak_cores_least < u->cores_used)
		u->peak_cores_least = u->cores_used;
	if (u->peak_cores >= 0 && u->peak_cores < u->cores_used)
		u->peak_cores = u->cores_used;
	u->peak_cores_exact &= u->peak_cores >= 0;
}

/* Fill in what follows from other figures. */
static void derive(struct usage *u, const struct follow *f)
{
	u->cpus = follow_cpus(f);
	u->cpu_ns = u->cpu_user_ns + u->cpu_system_ns;
	derive_cores(u);
	u->accounting_method = accounting_name(u->accounting);
	u->peak_kind = peak_kind_name(u->peak_tree_kind);
	u->processes_exact = (u->marks.valid & RT_HAS_PROCESSES) != 0;
	u->exit_status = u->signal > 0 ? EXIT_SIGNAL_BASE + u->signal : u->exit_code;
}

static struct marks marks_without(struct marks marks, uint64_t bits)
{
	return marks_replaced(marks, (struct marks){ 0 }, bits);
}

/* What was seen before stays a lower bound if the last sample lacks it. */
static void add_gpus(struct usage *u, const struct gpu_use *use)
{
	u->gpus = UINT64_MAX;
	u->busy_gpus = u->gpu_energy_joules = -1;
	if (use->is_absent) {
		u->marks = marks_without(u->marks, GPU_DOMAINS);
		u->gpus = 0;
		u->gpu_note = "none found";
	}
	if (!use->is_wanted || use->is_absent)
		return;
	u->marks = marks_replaced(u->marks, use->marks, GPU_DOMAINS);
	if (use->memory_peak_bytes > 0 && !is_known(u->marks, RT_HAS_GPU_MEMORY))
		u->marks.partial |= RT_HAS_GPU_MEMORY;
	u->gpu_busy_ns = use->busy_ns;
	u->gpu_memory_peak_bytes = use->memory_peak_bytes;
	if (is_known(u->marks, RT_HAS_GPU) && u->wall_ns > 0)
		u->busy_gpus = (double)use->busy_ns / (double)u->wall_ns;
	if (is_known(u->marks, RT_HAS_GPU_ENERGY))
		u->gpu_energy_joules = (double)use->energy_uj / 1e6;
	if (is_known(u->marks, RT_HAS_GPU) || use->gpus > 0)
		u->gpus = use->gpus;
	if (!is_known(u->marks, RT_HAS_GPU) && !is_known(u->marks, RT_HAS_GPU_MEMORY))
		u->gpu_note = "unknown";
}

/* How far the truth may be above the CPU time of a lower bound. */
static uint64_t error_bound(const struct usage *u)
{
	return u->cpu_high_ns == UINT64_MAX ? UINT64_MAX : u->cpu_high_ns - u->cpu_low_ns;
}

/* Each process has anonymous memory. E.g.: the command ended before its memory was read. */
static void forget_unseen_parts(struct usage *u)
{
	if (u->footprint_anon_bytes > 0)
		return;
	u->footprint_anon_bytes = u->footprint_shmem_bytes = u->footprint_file_bytes =
	    u->footprint_hugetlb_bytes = u->footprint_swap_bytes = UINT64_MAX;
}

void usage_of_command(struct usage *u, const struct rt_outcome *outcome, const struct follow *last)
{
	struct gpu_use gpu = gpu_use_of(last);

	*u = (struct usage){
		.kind = USAGE_RUN,
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
		.accounting = outcome->accounting,
		.reasons = outcome->reasons,
		.complete = outcome->complete != 0,
		.peak_rss_bytes = outcome->peak_rss_bytes,
		.peak_tree_bytes = outcome->peak_tree_bytes,
		.peak_needed_bytes = outcome->peak_needed_bytes,
		.peak_needed_low_bytes = outcome->peak_needed_low_bytes,
		.footprint_anon_bytes = outcome->footprint_anon_bytes,
		.footprint_shmem_bytes = outcome->footprint_shmem_bytes,
		.footprint_file_bytes = outcome->footprint_file_bytes,
		.footprint_hugetlb_bytes = outcome->footprint_hugetlb_bytes,
		.footprint_swap_bytes = outcome->footprint_swap_bytes,
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
	u->error_bound_ns = error_bound(u);
	forget_unseen_parts(u);
	add_from_sample(u, last);
	gpu.marks = u->marks;
	gpu.busy_ns = outcome->gpu_busy_ns;
	gpu.memory_peak_bytes = outcome->gpu_memory_peak_bytes;
	add_gpus(u, &gpu);
	derive(u, last);
}

/* If the last sample lacks a peak, that of an earlier one is a lower bound. So is a peak that the
 * first sample lacked. E.g.: a cgroup was empty at first, or is at the end. */
static void set_peaks(struct usage *u, const struct follow *f)
{
	const uint64_t peaks = RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED | RT_HAS_PEAK_RSS;
	uint64_t lacking = peaks & ~(f->base.valid & f->now.valid);

	u->marks = marks_replaced(u->marks, f->peak_marks, peaks);
	u->marks.partial |= u->marks.valid & lacking;
	u->marks.valid &= ~lacking;
	u->peak_rss_bytes = f->peak_rss_bytes;
	u->peak_tree_high_bytes = UINT64_MAX;
	u->peak_needed_bytes = f->peak_needed_bytes;
	if (!is_known(u->marks, RT_HAS_PEAK_FOOTPRINT))
		return;
	u->peak_tree_kind = RT_PEAK_FOOTPRINT;
	u->peak_tree_bytes = f->peak_tree_bytes;
	u->peak_tree_low_bytes = f->peak_tree_low_bytes;
	u->footprint_anon_bytes = f->largest.footprint_anon_bytes;
	u->footprint_shmem_bytes = f->largest.footprint_shmem_bytes;
	u->footprint_file_bytes = f->largest.footprint_file_bytes;
	u->footprint_hugetlb_bytes = f->largest.footprint_hugetlb_bytes;
	u->footprint_swap_bytes = f->largest.swap_bytes;
	forget_unseen_parts(u);
}

static void make_partial(struct usage *u, uint64_t bits)
{
	u->marks.partial |= u->marks.valid & bits;
	u->marks.valid &= ~bits;
}

/* Whether every fork and exit was reported since rtrack attached. */
static bool has_all_events(const struct follow *f)
{
	return !(f->now.reasons & (RT_REASON_EVENTS_UNHEARD | RT_REASON_EVENTS_LOST));
}

/* Whether every process that there was since rtrack attached still runs: then none is missing. */
static bool is_all_running(const struct follow *f)
{
	return has_all_events(f) && f->now.valid & RT_HAS_PROCESSES_SEEN &&
	       f->now.processes == f->now.processes_seen;
}

/* Whether a sample has all CPU time that was used since rtrack attached. */
static bool has_all_cpu(const struct rt_metrics *m)
{
	return (m->valid | m->since_valid) & RT_HAS_CPU;
}

/* Whether the kernel has accounted for every thread of the tree since rtrack attached. */
static bool is_accounted(const struct follow *f)
{
	return f->now.source == RT_SOURCE_BPF_ACCOUNT;
}

/* The tree cannot have used more than the cgroup that it is in. If the cgroup used no more than is
 * known of the tree, nothing can be missing. Its account may lag by a clock tick on each CPU. */
static void bound_cpu(struct usage *u, const struct follow *f)
{
	uint64_t low_ns = u->cpu_user_ns + u->cpu_system_ns, growth_ns = f->cgroup_growth_ns;
	uint64_t lag_ns = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * TICK_MAX_NS;
	bool is_bounded = growth_ns != UINT64_MAX;

	u->cpu_low_ns = u->cpu_high_ns = low_ns;
	if ((f->is_alone || is_all_running(f)) && !(u->reasons & ~(uint32_t)OF_BEFORE))
		return;
	if (is_accounted(f) && has_all_cpu(&f->base) && has_all_cpu(&f->now))
		return;
	if (!is_bounded)
		u->cpu_high_ns = UINT64_MAX;
	else if (growth_ns + growth_ns / 50 + TICK_MAX_NS + lag_ns > low_ns)
		u->cpu_high_ns = growth_ns + growth_ns / 50 + TICK_MAX_NS + lag_ns;
	if (!f->is_alone &&
	    (!is_bounded || growth_ns > low_ns + low_ns / 100 + TICK_MAX_NS + u->overhead_cpu_ns))
		u->reasons |= RT_REASON_UNVERIFIED;
}

/* If the first sample lacked something, the difference may have it, and is too high. Of times in
 * clock ticks it is known how much. E.g.: the account of the kernel lacked threads that were about
 * to end; the difference has all that they ever used. */
static void doubt_start(struct usage *u, const struct follow *f)
{
	const uint32_t of_ticks =
	    RT_REASON_EVENTS_UNHEARD | RT_REASON_CLOCK_TICKS | RT_REASON_ORPHANS_UNSEEN | OF_BEFORE;
	bool is_late_alone = !is_accounted(f) && !(f->base.reasons & ~of_ticks);
	uint64_t late_ns = is_late_alone ? f->base.cpu_late_ns : UINT64_MAX;

	if (is_accounted(f) && !has_all_cpu(&f->base)) {
		u->marks.valid &= ~RT_HAS_CPU;
		u->marks.partial &= ~RT_HAS_CPU;
		u->marks.estimated |= RT_HAS_CPU;
	}
	if (!(u->marks.estimated & RT_HAS_CPU))
		return;
	u->reasons |= is_late_alone ? RT_REASON_CLOCK_TICKS : RT_REASON_UNVERIFIED;
	u->cpu_low_ns = u->cpu_low_ns > late_ns ? u->cpu_low_ns - late_ns : 0;
}

/* The CPU time of a cgroup is the kernel's own account. In a summary, the bits of a cgroup stand
 * for its peaks, as in an outcome. */
static void set_cgroup(struct usage *u, const struct follow *f)
{
	const uint64_t peaks = RT_HAS_CGROUP_MEMORY | RT_HAS_CGROUP_TASKS;
	struct marks of_now = metrics_marks(&f->now);
	uint64_t known = (is_known(of_now, RT_HAS_CGROUP_MEMORY_PEAK) ? RT_HAS_CGROUP_MEMORY : 0) |
	                 (is_known(of_now, RT_HAS_CGROUP_TASKS_PEAK) ? RT_HAS_CGROUP_TASKS : 0);

	u->cgroup = f->cgroup;
	u->accounting = RT_ACCOUNTING_CGROUP;
	u->cpu_low_ns = u->cpu_high_ns = (u->cpu_user_ns + u->cpu_system_ns);
	u->marks = marks_without(u->marks, peaks);
	u->marks.valid |= f->has_ended ? 0 : known;
	u->marks.partial |= f->has_ended ? known : 0;
	u->cgroup_memory_peak_bytes = f->now.cgroup_memory_peak_bytes;
	u->cgroup_tasks_peak = f->now.cgroup_tasks_peak;
	u->cgroup_oom_kills = f->now.cgroup_oom_kills - f->base.cgroup_oom_kills;
	u->cgroup_read_bytes = f->now.cgroup_read_bytes - f->base.cgroup_read_bytes;
	u->cgroup_write_bytes = f->now.cgroup_write_bytes - f->base.cgroup_write_bytes;
	if (!(u->marks.valid & RT_HAS_CPU))
		u->cpu_high_ns = UINT64_MAX; /* it was removed, or has no account */
}

void usage_of_attached(struct usage *u, const struct follow *f)
{
	const struct rt_metrics *from = &f->base, *to = &f->now;
	const struct gpu_use gpu = gpu_use_of(f);
	struct rt_delta since;
	bool is_cgroup = to->kind == RT_KIND_CGROUP;
	uint32_t orphans =
	    f->is_alone || is_cgroup || has_all_events(f) ? 0 : RT_REASON_ORPHANS_UNSEEN;

	rt_diff(from, to, &since, sizeof(since));
	*u = (struct usage){
		.kind = USAGE_ATTACH,
		.pid = is_cgroup ? -1 : f->pid,
		.exit_code = -1,
		.has_ended = f->has_ended,
		.start_realtime_ns = from->realtime_ns,
		.wall_ns = to->monotonic_ns - from->monotonic_ns,
		.marks = marks_without(delta_marks(&since), RT_HAS_PROCESSES_SEEN),
		.cpu_user_ns = to->cpu_user_ns - from->cpu_user_ns,
		.cpu_system_ns = to->cpu_system_ns - from->cpu_system_ns,
		.cpu_before_ns = from->cpu_user_ns + from->cpu_system_ns,
		.cpu_before_exact = from->valid & RT_HAS_CPU,
		.accounting = is_accounted(f) ? RT_ACCOUNTING_BPF : RT_ACCOUNTING_POLL,
		.reasons = to->reasons | orphans,
		.read_bytes = to->read_bytes - from->read_bytes,
		.write_bytes = to->write_bytes - from->write_bytes,
		.processes = to->processes_seen,
		.members_skipped = f->members_skipped,
		.left_running = f->has_ended ? 0 : to->processes,
		.samples = f->samples,
		.overhead_cpu_ns = to->self_cpu_ns + (uint64_t)f->making_cpu_ns,
	};
	if (is_cgroup) {
		set_cgroup(u, f);
	} else {
		bound_cpu(u, f);
		doubt_start(u, f);
	}
	u->complete = u->reasons == 0 && (!is_cgroup || u->marks.valid & RT_HAS_CPU);
	/* As of a command: RT_REASON_UNVERIFIED alone says that nothing is known to be missing. */
	if (u->reasons & ~(uint32_t)(RT_REASON_UNVERIFIED | OF_BEFORE))
		make_partial(u, RT_HAS_CPU);
	if (orphans || is_cgroup)
		make_partial(u, RT_HAS_PROCESSES);
	u->error_bound_ns = error_bound(u);
	set_peaks(u, f);
	add_from_sample(u, f);
	add_gpus(u, &gpu);
	derive(u, f);
}

void usage_raise_cpu(struct usage *u, uint64_t seen_ns)
{
	if (u->marks.valid & RT_HAS_CPU || seen_ns <= u->cpu_low_ns)
		return;
	u->cpu_low_ns = seen_ns;
	if (u->marks.estimated & RT_HAS_CPU)
		return;
	u->marks.partial |= RT_HAS_CPU;
	u->cpu_ns = seen_ns;
	derive_cores(u);
}

/* Other errors, e.g. that of a process that has exited, are nothing that the user can change. */
void usage_add_io_problem(struct usage *u, const struct rt_tracker *tracker)
{
	struct rt_obstacle why;

	if (rt_tracker_obstacle(tracker, RT_HAS_IO, &why, sizeof(why)) == 0 &&
	    (why.error == -EACCES || why.error == -EPERM))
		snprintf(u->io_problem, sizeof(u->io_problem), "%s", why.text);
}

void usage_of_system(struct usage *u, const struct follow *f)
{
	/* The marks of a difference cover counters alone. */
	const uint64_t gauges = RT_HAS_MEMORY | RT_HAS_MEMORY_AVAILABLE | RT_HAS_CGROUP_MEMORY;
	const struct rt_metrics *m = &f->now;
	const struct gpu_use gpu = gpu_use_of(f);
	struct own_limits own;
	struct rt_delta since;
	uint64_t estimated, partial;

	rt_diff(&f->base, m, &since, sizeof(since));
	estimated = f->estimated & (since.valid | since.partial);
	partial = f->partial & since.valid & ~estimated;
	since.valid &= ~(estimated | partial);
	since.partial = (since.partial & ~estimated) | partial;
	since.estimated |= estimated;
	own = own_limits_of(m, &since);
	*u = (struct usage){
		.kind = USAGE_SYSTEM,
		.exit_code = -1,
		.start_realtime_ns = f->base.realtime_ns,
		.wall_ns = since.interval_ns,
		.marks = marks_replaced(delta_marks(&since), metrics_marks(m), gauges),
		.cpu_user_ns = since.cpu_user_ns,
		.cpu_system_ns = since.cpu_system_ns,
		.disk_read_bytes = since.disk_read_bytes,
		.disk_write_bytes = since.disk_write_bytes,
		.network_receive_bytes = since.network_receive_bytes,
		.network_transmit_bytes = since.network_transmit_bytes,
		.memory_total_bytes = m->memory_total_bytes,
		.peak_memory_used_bytes = (uint64_t)f->memory.peak,
		.own_cores = own.cores,
		.own_cpus_allowed = own.cpus_allowed,
		.own_peak_memory_bytes =
		    own.memory_bytes == UINT64_MAX ? UINT64_MAX : f->cgroup_memory_peak_bytes,
		.own_memory_limit_bytes = own.memory_limit_bytes,
		.samples = f->samples,
		.overhead_cpu_ns = m->self_cpu_ns + (uint64_t)f->making_cpu_ns,
		.cores = &f->cores,
		.peak_cores_least = f->cores_peak_least,
		.peak_cores_exact = !f->is_cores_uncertain,
		.memory = &f->memory,
	};
	add_gpus(u, &gpu);
	derive(u, f);
}
