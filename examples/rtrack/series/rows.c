/* SPDX-License-Identifier: MIT */
/* The rows of a series, made from samples. */
#include "rows.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include "follow/figures.h"
#include "follow/members.h"
#include "format.h"
#include "gpu.h"
#include "text/message.h"

/* Returns the number of members without the root, or -1 if it is unknown. The root is the first
 * member as long as it is in the tree. */
static int64_t count_children(const struct follow *f)
{
	struct rt_process root = { 0 };
	size_t count = 1;

	if (f->is_alone || !is_known(metrics_marks(&f->now), RT_HAS_PROCESSES))
		return -1;
	if (rt_tracker_processes(f->tracker, &root, sizeof(root), &count) < 0)
		return -1;
	return (int64_t)f->now.processes - (count > 0 && root.pid == f->pid);
}

/* What costs system calls is looked up only if a column shows it. */
static struct row row_of(const struct series *series, const struct follow *tree,
                         const struct follow *system)
{
	struct row row = { .children = -1 };

	if (tree) {
		row.pid = tree->pid;
		row.cgroup = tree->cgroup;
		row.process = &tree->now;
		row.process_delta = &tree->delta;
		if (series_has_children(series))
			row.children = count_children(tree);
	}
	if (system) {
		row.system = &system->now;
		row.system_delta = &system->delta;
	}
	if (series->format && !series->format->choose)
		row.has_no_gpu = gpu_is_absent(system ? system : tree);
	return row;
}

static void take_members(const struct series *series, struct follow *tree)
{
	tree->members.wants_commands = series->has_commands;
	members_take(&tree->members, tree->tracker, &tree->now);
}

/* What a process used before it came into the tree is not known. Into a cgroup it may have been
 * moved at any time; a tree has only those that were forked in it. */
static void write_members(struct series *series, struct follow *tree, struct row *row)
{
	uint64_t since_ns = tree->cgroup ? tree->before.boottime_ns : tree->base.boottime_ns;

	take_members(series, tree);
	for (size_t i = 0; i < tree->members.now.count; i++) {
		const struct member member = members_at(&tree->members, i, since_ns);

		row->member = &member;
		series_add(series, row);
	}
	series_end_sample(series, tree->now.monotonic_ns);
}

void rows_set_base(const struct series *series, struct follow *tree)
{
	if (series->is_per_process)
		take_members(series, tree);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "es";
}

void rows_report(const struct series *series, const struct follow *tree)
{
	uint64_t written = tree->members.written, seen = tree->now.processes_seen;
	uint64_t left_out = tree->members_skipped > tree->members.not_listed
	                        ? tree->members_skipped
	                        : tree->members.not_listed;

	if (!series->is_per_process || series->is_quiet || series->out.fd < 0)
		return;
	if (left_out > 0)
		warn("the series is cut: up to %" PRIu64 " process%s had no row in a sample",
		     left_out, plural(left_out));
	else if (is_known(metrics_marks(&tree->now), RT_HAS_PROCESSES_SEEN) && seen > written)
		warn("%s%" PRIu64 " of %" PRIu64 " process%s ended between two samples and ha%s no "
		     "row",
		     tree->now.valid & RT_HAS_PROCESSES_SEEN ? "" : "at least ", seen - written,
		     seen, plural(seen), seen - written == 1 ? "s" : "ve");
	else if (!tree->is_alone && !(tree->now.valid & RT_HAS_PROCESSES_SEEN))
		warn("processes that ended between two samples have no row, and are not counted");
}

void rows_write(struct series *series, struct follow *tree, const struct follow *system)
{
	struct row row;

	if (series->out.fd < 0)
		return;
	row = row_of(series, tree, system);
	if (series->is_per_process)
		write_members(series, tree, &row);
	else
		series_write(series, &row);
}

void rows_write_head(struct series *series, const struct follow *tree, const struct follow *system)
{
	struct row first;

	if (series->out.fd < 0)
		return;
	first = row_of(series, tree, system);
	series_write_head(series, &first);
}
