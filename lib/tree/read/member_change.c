/* SPDX-License-Identifier: MIT */
/* What is kept to see what members have done since the sample before. Reading a member first saves
 * its old counters. A member that was not read has not run. */
#include "tree/read/member_change.h"

#include <stdlib.h>
#include <string.h>

#include "collect/process_row.h"
#include "tree/state/state.h"
#include "util/array.h"

void rti_changes_begin(struct rti_tree *tree)
{
	tree->ended.count = 0;
}

void rti_changes_free(struct rti_tree *tree)
{
	free(tree->ended.rows);
}

/* What a poll reads belongs to the next sample. Of other members it reads no counters. */
void rti_change_note_read(const struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_figures *figures = &m->values.figures;
	struct rti_before_part *before = &m->before;
	bool is_new = !before->at_sample, is_poll = tree->now_ns != tree->sampled_ns;
	uint64_t sample = tree->table.samples + is_poll;

	if (before->at_sample == sample || (is_poll && !is_new))
		return;
	*before = (struct rti_before_part){
		.at_sample = sample,
		.is_new = is_new,
		.valid = figures->valid,
		.partial = figures->partial,
		.estimated = figures->estimated,
		.reaped_user_ns = figures->children[RTI_CPU_USER],
		.reaped_system_ns = figures->children[RTI_CPU_SYSTEM],
	};
	memcpy(before->self, figures->self, sizeof(before->self));
}

/* Its memory and descriptors have been released. What it used after its last read is not known, unless
 * that was of the zombie. If memory is short, it is left out. */
void rti_change_note_end(struct rti_tree *tree, const struct rti_member *m)
{
	struct rti_ended_row *rows;
	struct rt_process *row;

	if (m->pid == tree->supervised.pid)
		return;
	rows = rti_array_grow(tree->ended.rows, &tree->ended.room, tree->ended.count + 1,
	                      sizeof(*rows));
	if (!rows)
		return;
	tree->ended.rows = rows;
	rows += tree->ended.count++;
	rows->before = m->before;
	row = &rows->row;
	rti_process_row_set(&m->stat, &m->values.figures, row);
	row->state = 'X';
	row->rss_bytes = row->pss_bytes = row->virtual_bytes = row->threads = row->open_fds = 0;
	if (!m->exit.has_final_account) {
		row->partial |= row->valid & tree->domains.counters;
		row->valid &= ~tree->domains.counters;
	}
}
