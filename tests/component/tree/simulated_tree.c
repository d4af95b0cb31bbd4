/* SPDX-License-Identifier: MIT */
#include "simulated_tree.h"

#include <stdio.h>
#include <stdlib.h>

#include "os/cgroup/cgroup.h"
#include "tree/sources/fork_tracker.h"
#include "tree_inside.h"

static uint32_t count_cpus(void)
{
	return SIM_CPUS;
}

void sim_set_clocks(struct rt_tracker *tracker)
{
	struct rti_platform *platform = get_platform(tracker);

	platform->tick_ns = SIM_TICK_NS;
	platform->cpu_clock = sim_cpu_clock;
	platform->now = sim_now;
	platform->cpu_count = count_cpus;
	platform->thread_cpu_ns = sim_thread_cpu_ns;
}

void sim_attach_command(struct rt_tracker *tracker, const struct sim_rules *rules,
                        struct rti_shared_stats *shared,
                        void (*on_exit)(void *arg, const struct rti_member_row *row), void *arg)
{
	struct rti_fork_tracker no_events = RTI_FORK_TRACKER_INIT;
	struct rti_cgroup cgroup = RTI_CGROUP_INIT;
	const struct rti_tree_command command = {
		.supervisor_pid = rules->is_supervised ? SIM_ROOT : 0,
		.shared = rules->is_supervised ? shared : NULL,
		.cgroup = &cgroup,
		.fork_tracker = &no_events,
		.on_exit = on_exit,
		.on_exit_arg = arg,
	};

	shared->own_io[3] = sim_find(SIM_ROOT, NULL)->written;
	if (rules->has_cgroup) {
		cgroup.dir = calloc(1, sizeof(*cgroup.dir)); /* the tree frees it */
		cgroup.count = 1;
		cgroup.dir->accounts = RTI_CGROUP_CPU;
		snprintf(cgroup.dir->path, sizeof(cgroup.dir->path), "/%s", SIM_CGROUP);
	}
	rti_tree_attach_command(tracker->tree, &command);
}
