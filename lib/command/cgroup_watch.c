/* SPDX-License-Identifier: MIT */
/* Watches for members that leave the cgroup of their command. */
#include "command/cgroup_watch.h"

#include "command/handle.h"
#include "util/visit.h"

/* The first look is early, since most processes that move themselves do so at once. */
#define FIRST_LOOK_NS 5000000u
#define LOOK_NS 200000000u
#define LOOK_SHARE 400 /* two looks are this many times as long apart as one costs */

/* Returns the cgroup that the whole tree should be in, or NULL if no look at it is needed. Nothing
 * can leave the root of a hierarchy. The supervisor checks the enclosing one in v2. */
static struct rti_cgroup *watched(struct rt_command *c)
{
	struct rti_cgroup *own = rti_tree_cgroup(c->tracker->tree);
	const struct rti_cgroup_dir *cpu = rti_cgroup_dir_of(&c->enclosing, RTI_CGROUP_CPU);

	if (own->count)
		return own;
	if (!cpu || cpu->hierarchy == 0 || cpu->name[1] == '\0')
		return NULL;
	return &c->enclosing;
}

/* Returns when to look next: never in v2 alone, where the end is early enough. */
static uint64_t next_look_ns(const struct rt_command *c, const struct rti_cgroup *group,
                             uint64_t after_ns)
{
	/* v2 comes first. */
	if (!group || group->dir[group->count - 1].hierarchy == 0)
		return UINT64_MAX;
	return c->tracker->platform.monotonic_ns() + after_ns;
}

struct look {
	struct rti_cgroup *group;
	const struct rti_context *ctx;
};

static int check_member(void *arg, const struct rti_member_row *row)
{
	const struct look *look = arg;

	if (row->is_running)
		rti_cgroup_check_process(look->group, look->ctx, row->process.pid,
		                         row->process.start_ticks);
	return RTI_CONTINUE;
}

void rti_cgroup_watch_begin(struct rt_command *c)
{
	c->next_look_ns = next_look_ns(c, watched(c), FIRST_LOOK_NS);
}

void rti_cgroup_watch_look(struct rt_command *c)
{
	const struct rti_platform *platform = &c->tracker->platform;
	struct look look = { watched(c), &c->tracker->ctx };
	uint64_t cost_ns = platform->thread_cpu_ns();

	c->next_look_ns = UINT64_MAX;
	if (!look.group)
		return;
	rti_tree_each(c->tracker->tree, check_member, &look);
	cost_ns = platform->thread_cpu_ns() - cost_ns;
	c->overhead_ns += cost_ns;
	c->next_look_ns = next_look_ns(
	    c, look.group, cost_ns * LOOK_SHARE > LOOK_NS ? cost_ns * LOOK_SHARE : LOOK_NS);
}
