/* SPDX-License-Identifier: MIT */
/* The rows of a series, made from samples. */
#include "rows.h"

#include <stddef.h>
#include <stdint.h>

#include "figures.h"
#include "format.h"
#include "gpu.h"

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

void rows_write(struct series *series, struct follow *tree, const struct follow *system)
{
	struct row row;

	if (series->out.fd < 0)
		return;
	row = row_of(series, tree, system);
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
