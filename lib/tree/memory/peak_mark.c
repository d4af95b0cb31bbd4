/* SPDX-License-Identifier: MIT */
/* The caller's marks: the largest figures of the tree since each one. Samples and peak polls raise
 * them (memory_peak.c). Here a mark begins, and is asked for. */
#include "tree/memory/peak_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "tree/memory/memory_peak.h"
#include "tree/read/member_read.h"
#include "util/arith.h"
#include "util/text.h"

static struct rti_peak_mark *find(const struct rti_peak_state *peaks, uint64_t id)
{
	for (size_t i = 0; peaks->marks && i < RTI_MARKS_MAX; i++)
		if (peaks->marks[i].id == id)
			return &peaks->marks[i];
	return NULL;
}

/* The kernel keeps the largest RSS of each process (VmHWM), which no sample need have seen. So the
 * largest of all members, if it has grown since a mark, is of a time since then. Samples read it
 * seldom, so here it is read of each. Returns 0, or -errno if that of some member is unknown, e.g.
 * since descriptors are short: then the largest of the others. */
static int read_highest(struct rti_tree *tree, uint64_t *highest)
{
	int result = 0;

	*highest = 0;
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];
		struct rti_pid_status status;
		int err;

		if (m->pid == tree->supervised.pid)
			continue;
		*highest = rti_max(*highest, m->values.peak_rss_bytes);
		err = rti_read_status(tree, m, &status);
		if (err == 0 && status.has & RTI_STATUS_HWM)
			*highest = rti_max(*highest, status.vm_hwm_kib * 1024);
		else if (err < 0 && err != -ESRCH && err != -EOPNOTSUPP)
			result = err;
	}
	return result;
}

int rti_peak_mark_set(struct rti_tree *tree, const char *label, uint64_t *id)
{
	struct rti_peak_state *peaks = &tree->peaks;
	struct rti_peak_mark *mark;
	struct rti_text text;
	uint64_t highest;

	if (!peaks->marks)
		peaks->marks = calloc(RTI_MARKS_MAX, sizeof(*peaks->marks));
	if (!peaks->marks)
		return -ENOMEM;
	mark = find(peaks, 0);
	if (!mark)
		return -ENOSPC;
	*mark = (struct rti_peak_mark){
		.id = ++peaks->last_mark,
		.set_ns = tree->now_ns,
		.before_bytes = UINT64_MAX,
	};
	peaks->mark_count++;
	text = rti_text(mark->label, sizeof(mark->label));
	if (label)
		rti_text_add(&text, label);
	rti_memory_peak_poll_all(tree); /* finds new members, too */
	if (read_highest(tree, &highest) == 0)
		mark->before_bytes = highest;
	*id = mark->id;
	return 0;
}

static void fill_in(const struct rti_tree *tree, const struct rti_peak_mark *mark,
                    struct rt_peaks *out)
{
	*out = (struct rt_peaks){
		.monotonic_ns = mark->set_ns,
		.peak_rss_bytes = mark->rss_bytes,
		.processes_peak = mark->processes,
		.partial = RT_HAS_PROCESSES_PEAK | (mark->rss_bytes ? RT_HAS_PEAK_RSS : 0),
	};
	memcpy(out->label, mark->label, sizeof(out->label));
	if (tree->want & RT_HAS_PEAK_FOOTPRINT) {
		out->peak_footprint_bytes = mark->all.bounds.bytes;
		rti_peak_note(&mark->all, RT_HAS_PEAK_FOOTPRINT, &out->partial, &out->estimated);
	}
	if (tree->want & RT_HAS_PEAK_NEEDED) {
		out->peak_needed_bytes = mark->needed.bounds.bytes;
		rti_peak_note(&mark->needed, RT_HAS_PEAK_NEEDED, &out->partial, &out->estimated);
	}
}

int rti_peak_mark_get(struct rti_tree *tree, uint64_t id, struct rt_peaks *out)
{
	struct rti_peak_mark *mark = id ? find(&tree->peaks, id) : NULL;
	uint64_t highest;

	if (!mark)
		return -ENOENT;
	rti_memory_peak_poll(tree);
	read_highest(tree, &highest);
	if (highest > mark->before_bytes)
		rti_memory_raise_mark(tree, mark, highest);
	fill_in(tree, mark, out);
	return 0;
}

int rti_peak_mark_remove(struct rti_peak_state *peaks, uint64_t id)
{
	struct rti_peak_mark *mark = id ? find(peaks, id) : NULL;

	if (!mark)
		return -ENOENT;
	mark->id = 0;
	peaks->mark_count--;
	return 0;
}
