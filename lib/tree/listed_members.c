/* SPDX-License-Identifier: MIT */
/* Members of a tree that has no root but a list of its processes, as a cgroup has. */
#include "tree/listed_members.h"

#include "collect/pid_stat.h"
#include "tree/memory/memory_note.h"
#include "tree/read/member_read.h"
#include "tree/scan/clock_read.h"
#include "tree/scan/discovery.h"
#include "tree/scan/new_members.h"
#include "util/visit.h"

/* A pid that is reused shows the exited member until the end of this sample. */
static int note_listed(void *arg, int32_t pid)
{
	struct rti_tree *tree = arg;
	struct rti_member *m = rti_member_find(&tree->table, pid);

	if (!m)
		rti_add_listed(tree, pid);
	m = rti_member_find(&tree->table, pid);
	if (m)
		m->listed.at_sample = tree->table.samples;
	return RTI_CONTINUE;
}

static bool is_listed(const struct rti_member_table *table, const struct rti_member *m)
{
	return m->listed.at_sample == table->samples;
}

static bool are_all_listed(const struct rti_member_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (!is_listed(table, &table->members[i]))
			return false;
	return true;
}

/* A member that is not in the list has exited, is a zombie, which lists leave out, or has moved
 * elsewhere. Only the last is no member any more, and the totals keep what it has used; the others
 * are recognised when they are read. */
static void drop_moved(struct rti_tree *tree)
{
	bool has_moved = false;

	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		if (is_listed(&tree->table, m) || rti_read_member_stat(tree, m) < 0 ||
		    rti_pid_stat_is_zombie(&m->stat))
			continue;
		rti_ledger_note_exit(&tree->ledger);
		rti_ledger_keep_last_seen(&tree->ledger, &m->account);
		rti_memory_forget(&tree->memory, &tree->table, m);
		rti_mark_exited(tree, m);
		has_moved = true;
	}
	if (has_moved)
		rti_member_table_remove_exited(&tree->table, tree->ctx);
}

/* A process that moves within what is listed may be missing from one pass, so a second pass has to
 * miss it, too. */
void rti_update_listed(struct rti_tree *tree, rti_batch_ask *ask)
{
	int err;

	rti_discovery_begin_list(tree);
	err = tree->list(tree->list_arg, note_listed, tree);
	if (err == 0 && !are_all_listed(&tree->table))
		err = tree->list(tree->list_arg, note_listed, tree);
	if (err == 0)
		drop_moved(tree);
	rti_discovery_end_list(tree, err);
	rti_read_clocks(tree, ask);
}
