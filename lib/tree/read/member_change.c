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
	struct rti_ended_state *ended = &tree->ended;

	ended->count -= ended->sampled;
	if (ended->count)
		memmove(ended->rows, ended->rows + ended->sampled,
		        ended->count * sizeof(*ended->rows));
	ended->sample = tree->table.samples;
}

void rti_changes_end(struct rti_tree *tree)
{
	tree->ended.sampled = tree->ended.count;
	tree->ended.sample = tree->table.samples + 1;
}

void rti_changes_free(struct rti_tree *tree)
{
	free(tree->ended.rows);
}

static struct rti_before_part counters_of(const struct rti_member *m, uint64_t sample)
{
	const struct rti_figures *figures = &m->values.figures;
	struct rti_before_part before = {
		.at_sample = sample,
		.is_new = !m->before.at_sample,
		.valid = figures->valid,
		.partial = figures->partial,
		.estimated = figures->estimated,
		.reaped_user_ns = figures->children[RTI_CPU_USER],
		.reaped_system_ns = figures->children[RTI_CPU_SYSTEM],
	};

	memcpy(before.self, figures->self, sizeof(before.self));
	return before;
}

/* What a poll reads belongs to the next sample. Of known members it reads no counters. */
void rti_change_note_read(const struct rti_tree *tree, struct rti_member *m)
{
	uint64_t sample = tree->ended.sample;
	bool is_poll = sample != tree->table.samples;

	if (m->before.at_sample == sample || (is_poll && m->before.at_sample))
		return;
	m->before = counters_of(m, sample);
}

/* Its memory and descriptors have been released. What it used after its last read is not known,
 * unless that was of the zombie. If memory is short, it is left out. */
void rti_change_note_end(struct rti_tree *tree, const struct rti_member *m)
{
	uint64_t sample = tree->ended.sample;
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
	rows->before = m->before.at_sample == sample ? m->before : counters_of(m, sample);
	row = &rows->row;
	rti_process_row_set(&m->stat, &m->values.figures, row);
	row->state = 'X';
	row->rss_bytes = row->pss_bytes = row->virtual_bytes = row->threads = row->open_fds = 0;
	if (!m->exit.has_final_account) {
		row->partial |= row->valid & tree->domains.counters;
		row->valid &= ~tree->domains.counters;
	}
}
