/* SPDX-License-Identifier: MIT */
/* rt_tracker_top: the processes that used most between the two last samples. */
#include <errno.h>
#include <stdlib.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"
#include "api/tracker.h"
#include "collect/process_row.h"

/* The caller's array. Once it is full, it is a heap with the row that goes first on top. All that
 * rows are compared by was there in their first version. */
struct top {
	const struct rt_tracker *tracker;
	char *array;
	size_t element_size, room, count;
	int (*compare)(const void *a, const void *b);
};

static const struct rt_process *process_at(const struct top *top, size_t i)
{
	return (const void *)(top->array + i * top->element_size);
}

/* The larger first; among equals, the lower pid. */
static int compare(uint64_t a, uint64_t b, int32_t pid_a, int32_t pid_b)
{
	if (a != b)
		return a > b ? -1 : 1;
	return (pid_a > pid_b) - (pid_a < pid_b);
}

static int by_cpu(const void *a, const void *b)
{
	const struct rt_process *x = a, *y = b;

	return compare(x->cpu_user_ns + x->cpu_system_ns, y->cpu_user_ns + y->cpu_system_ns, x->pid,
	               y->pid);
}

static int by_memory(const void *a, const void *b)
{
	const struct rt_process *x = a, *y = b;

	return compare(x->rss_bytes, y->rss_bytes, x->pid, y->pid);
}

static int by_io(const void *a, const void *b)
{
	const struct rt_process *x = a, *y = b;

	return compare(x->read_bytes + x->write_bytes, y->read_bytes + y->write_bytes, x->pid,
	               y->pid);
}

static const struct order {
	uint64_t has;
	int (*compare)(const void *a, const void *b);
} orders[] = {
	[RT_TOP_CPU] = { RT_HAS_CPU, by_cpu },
	[RT_TOP_MEMORY] = { RT_HAS_RSS, by_memory },
	[RT_TOP_IO] = { RT_HAS_IO, by_io },
};

static void swap(char *a, char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char kept = a[i];

		a[i] = b[i];
		b[i] = kept;
	}
}

/* Move a row down until those below it come before it. */
static void sift_down(struct top *top, size_t at)
{
	for (size_t below = 2 * at + 1; below < top->room; below = 2 * at + 1) {
		if (below + 1 < top->room &&
		    top->compare(process_at(top, below + 1), process_at(top, below)) > 0)
			below++;
		if (top->compare(process_at(top, below), process_at(top, at)) <= 0)
			return;
		swap(top->array + at * top->element_size, top->array + below * top->element_size,
		     top->element_size);
		at = below;
	}
}

static void add(void *arg, const struct rt_process *from, const struct rt_process *to)
{
	struct top *top = arg;
	struct rt_process row;
	size_t at = 0;

	rt_row_diff(RT_STRUCT_PROCESS, from, to, &row, sizeof(row));
	rti_process_row_set_start(top->tracker->boot_ns, top->tracker->platform.tick_ns, &row);
	if (top->count < top->room)
		at = top->count++;
	else if (top->room == 0 || top->compare(&row, process_at(top, 0)) > 0)
		return;
	rti_struct_copy_out(top->array + at * top->element_size, top->element_size, &row,
	                    sizeof(row));
	if (top->count < top->room)
		return;
	for (size_t i = at ? top->room / 2 : 1; i > 0; i--)
		sift_down(top, i - 1);
}

/* Returns 0 if there are two samples to compare. */
static int check(const struct rt_tracker *t, const struct rti_tree *tree, uint64_t has)
{
	if (!tree || !(rti_tree_domains(tree) & has))
		return -EOPNOTSUPP;
	return t->samples < 2 ? -ENODATA : 0;
}

int rt_tracker_top(const struct rt_tracker *t, uint32_t order, struct rt_process *array,
                   size_t element_size, size_t *count)
{
	struct top top = { .tracker = t, .array = (char *)array, .element_size = element_size };
	const struct rti_tree *tree;
	int err;

	if (!t || !count || (!array && *count))
		return -EFAULT;
	if (order < RT_TOP_CPU || order > RT_TOP_IO ||
	    rti_struct_check_size(element_size, RTI_PROCESS_V1) < 0)
		return -EINVAL;
	top.room = *count;
	top.compare = orders[order].compare;
	err = rti_tracker_take(t);
	if (err < 0)
		return err;
	tree = rti_tracker_tree(t);
	err = check(t, tree, orders[order].has);
	if (err == 0) {
		rti_tree_each_change(tree, t->before_boottime_ns, add, &top);
		*count = top.count;
	}
	rti_lock_release(t->lock);
	if (err == 0 && top.count > 1)
		qsort(array, top.count, element_size, top.compare);
	return err;
}
