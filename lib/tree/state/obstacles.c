/* SPDX-License-Identifier: MIT */
/* Why figures of a tree are missing. */
#include "tree/state/obstacles.h"

#include <errno.h>

void rti_obstacles_open(struct rti_obstacles *obstacles)
{
	obstacles->status.met = 0;
}

void rti_obstacles_close(struct rti_obstacles *obstacles)
{
	obstacles->of_members = obstacles->status.met;
}

void rti_obstacles_begin_sample(struct rti_obstacles *obstacles,
                                const struct rti_discovery_state *d)
{
	obstacles->status.met = obstacles->of_members;
	rti_status_add(&obstacles->status, &obstacles->lost);
	obstacles->has_skipped = d->has_skipped;
	obstacles->skip_error = d->skip_error;
	obstacles->skip_pid = d->skip_pid;
}

/* A member counts once for each domain, however often it is met. Without statm nothing is known of
 * its memory. Without the footprint the peak of the tree is estimated. */
static void count_ever(struct rti_obstacles *obstacles, struct rti_member *m, uint64_t domains)
{
	if (domains & RT_HAS_RSS)
		domains |= RT_HAS_PSS | RT_HAS_FOOTPRINT | RT_HAS_NEEDED;
	if (domains & RT_HAS_FOOTPRINT)
		domains |= RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED;
	for (uint64_t left = domains & ~m->obstacle.met; left; left &= left - 1)
		obstacles->members_ever[rti_status_bit(left)]++;
	m->obstacle.met |= domains;
}

/* A collector that reports no error has found a file without the figure, or a part of it. */
void rti_obstacles_note_member(struct rti_obstacles *obstacles, struct rti_member *m,
                               uint64_t unread)
{
	const struct rti_figures *figures = &m->values.figures;

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		uint64_t left = rti_pid_collectors[i]->provides & unread;

		for (; left; left &= left - 1) {
			uint64_t has = left & -left;
			int err = figures->partial & has ? -ENODATA : -ENOENT;

			if (figures->errors[i] < 0)
				err = figures->errors[i];
			rti_status_note_at(&obstacles->status, has, err, m->pid);
			rti_status_count(&obstacles->status, has);
		}
	}
	count_ever(obstacles, m, unread);
}

void rti_obstacles_note_lost(struct rti_obstacles *obstacles, struct rti_member *m, uint64_t lost)
{
	const struct rti_figures *figures = &m->values.figures;

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		uint64_t has = rti_pid_collectors[i]->provides & lost;
		int err = figures->errors[i] < 0 ? figures->errors[i] : -ENODATA;

		if (has)
			rti_status_note_at(&obstacles->lost, has, err, m->pid);
	}
	count_ever(obstacles, m, lost);
}

void rti_obstacles_note_unwaited(struct rti_tree *tree, struct rti_member *m)
{
	if (!tree->obstacles.unwaited_pid)
		tree->obstacles.unwaited_pid = m->pid;
	count_ever(&tree->obstacles, m, tree->domains.counters & tree->want);
}

/* What kept statm from being read comes first. Without an error it is the state of the tree that
 * explains it. */
static void note_memory(struct rti_tree *tree, uint64_t has, int err)
{
	struct rti_status *status = &tree->obstacles.status;
	const int rss = rti_status_bit(RT_HAS_RSS), bit = rti_status_bit(has);
	int of_rss = rti_status_get(status, RT_HAS_RSS);

	if (!(tree->want & has) || err >= 0 || err == -ENODATA)
		return;
	err = of_rss < 0 ? of_rss : err;
	rti_status_note(status, has, err);
	/* Those of the sum over all members have no member. */
	if (err == -EDQUOT || err == -EBUSY)
		return;
	if (of_rss < 0) {
		status->of[bit] = status->of[rss];
		return;
	}
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];
		/* PSS is read of smaps_rollup alone. */
		int rollup = m->pss.rollup.error,
		    smaps = has == RT_HAS_PSS ? 0 : m->pss.smaps.error;

		if (m->end.has_exited || !rti_memory_counts(&m->memory) ||
		    (rollup >= 0 && smaps >= 0))
			continue;
		if (!status->of[bit].pid && (rollup == err || smaps == err))
			status->of[bit].pid = m->pid;
		rti_status_count(status, has);
		count_ever(&tree->obstacles, m, has);
	}
}

void rti_obstacles_note_memory(struct rti_tree *tree)
{
	const struct rti_footprint *moment = &tree->memory.moment;
	int unread = moment->error == -EBUSY ? -EBUSY : -EDQUOT;

	if (tree->memory.reads.error < 0)
		unread = tree->memory.reads.error;
	note_memory(tree, RT_HAS_FOOTPRINT, moment->is_exact ? 0 : moment->error);
	note_memory(tree, RT_HAS_NEEDED, moment->is_needed_exact ? 0 : moment->error);
	if (tree->memory.reads_pss)
		note_memory(tree, RT_HAS_PSS, moment->is_pss_read ? 0 : unread);
}

void rti_obstacles_note_gpu(struct rti_tree *tree, uint64_t has, int err, int32_t pid,
                            uint64_t members)
{
	struct rti_status *status = &tree->obstacles.status;
	struct rti_member *m = rti_member_find(&tree->table, pid);

	rti_status_note_at(status, has, err, pid);
	status->of[rti_status_bit(has)].members = members;
	if (m)
		count_ever(&tree->obstacles, m, has);
}
