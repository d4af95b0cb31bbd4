/* SPDX-License-Identifier: MIT */
/* The outcome of a command that was given up. */
#include "unended.h"

#include "process/tree.h"

#define OF_THE_END (RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN | RT_HAS_GPU_MEMORY)

void unended_outcome(struct rt_outcome *out, struct rt_command *command, const struct follow *f)
{
	const struct rt_metrics *m = &f->now;
	uint64_t cpu_ns = m->cpu_user_ns + m->cpu_system_ns;
	struct rt_command_info info;
	struct tree_left left;

	rt_command_get_info(command, &info, sizeof(info));
	tree_find_left(rt_command_tracker(command), &left);
	*out = (struct rt_outcome){
		.size = sizeof(*out),
		.exit_code = -1,
		.accounting = info.accounting,
		.reasons = m->reasons | RT_REASON_LEFT_RUNNING,
		.start_realtime_ns = m->realtime_ns - (m->monotonic_ns - info.start_ns),
		.wall_ns = m->monotonic_ns - info.start_ns,
		.partial = ((m->valid | m->partial) & ~OF_THE_END) | RT_HAS_PROCESSES,
		.estimated = m->estimated & ~OF_THE_END,
		.rusage = m->rusage,
		.cpu_user_ns = m->cpu_user_ns,
		.cpu_system_ns = m->cpu_system_ns,
		.cpu_low_ns = cpu_ns,
		.cpu_estimate_ns = cpu_ns,
		.cpu_high_ns = UINT64_MAX,
		.peak_rss_bytes = m->peak_rss_bytes,
		.peak_tree_bytes = m->peak_tree_bytes,
		.peak_tree_low_bytes = m->peak_footprint_low_bytes,
		.peak_tree_high_bytes = UINT64_MAX,
		.peak_needed_bytes = m->peak_needed_bytes,
		.peak_needed_low_bytes = m->peak_needed_low_bytes,
		.peak_needed_high_bytes = UINT64_MAX,
		.read_bytes = m->read_bytes,
		.write_bytes = m->write_bytes,
		.gpu_busy_ns = m->gpu_busy_ns,
		.processes = m->processes_seen,
		.left_running = (uint32_t)left.count,
		.samples = f->samples,
		.overhead_cpu_ns = m->self_cpu_ns,
	};
	if ((out->partial | out->estimated) & RT_HAS_PEAK_FOOTPRINT)
		out->peak_tree_kind = RT_PEAK_FOOTPRINT;
	/* The command itself, which no sample can see any more. */
	if (out->left_running == 0)
		out->left_running = 1;
}
