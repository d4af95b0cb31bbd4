/* SPDX-License-Identifier: MIT */
/* The members that this sample looks at. */
#include "tree/watch_members.h"

#include "collect/pid_stat.h"

void rti_watch_touch(struct rti_tree *tree, const struct rti_member *m)
{
	const size_t i = (size_t)(m - tree->table.members);

	if (!tree->watched.is_partial)
		return;
	tree->watched.looks += !rti_index_set_has(&tree->watched.now, i);
	rti_index_set_add(&tree->watched.now, i);
}

bool rti_watch_is_due_next(const struct rti_member *m)
{
	return m->read.idle_until_ns != UINT64_MAX || rti_pid_stat_is_zombie(&m->stat);
}

void rti_watch_note_idle(struct rti_tree *tree, const struct rti_member *m)
{
	if (tree->watched.is_partial && !rti_watch_is_due_next(m))
		rti_index_set_remove(&tree->watched.now, (size_t)(m - tree->table.members));
}

bool rti_watch_up(const struct rti_tree *tree, size_t *i)
{
	if (tree->watched.is_partial)
		*i = rti_index_set_next(&tree->watched.now, *i + 1);
	else
		*i = *i + 1 < tree->table.count ? *i + 1 : SIZE_MAX;
	return *i != SIZE_MAX;
}

bool rti_watch_down(const struct rti_tree *tree, size_t *i)
{
	size_t below = *i < tree->table.count ? *i : tree->table.count;

	if (tree->watched.is_partial)
		*i = rti_index_set_previous(&tree->watched.now, below);
	else
		*i = below ? below - 1 : SIZE_MAX;
	return *i != SIZE_MAX;
}

size_t rti_watch_next_unsettled(const struct rti_tree *tree, size_t i)
{
	const size_t now = rti_index_set_next(&tree->watched.now, i + 1);
	const size_t unsettled = rti_index_set_next(&tree->watched.unsettled, i + 1);

	return now < unsettled ? now : unsettled;
}

static void move_index(struct rti_index_set *set, size_t from, size_t to)
{
	if (!rti_index_set_has(set, from))
		return;
	rti_index_set_remove(set, from);
	rti_index_set_add(set, to);
}

void rti_watch_remove_exited(struct rti_tree *tree)
{
	struct rti_watched *w = &tree->watched;
	struct rti_index_set *sets[] = { &w->now, &w->next, &w->unsettled };
	size_t kept = 0, next = w->turn_next;

	if (!w->is_partial)
		return;
	for (size_t i = 0; i < tree->table.count; i++) {
		bool has_exited = tree->table.members[i].end.has_exited;

		for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
			if (has_exited)
				rti_index_set_remove(sets[k], i);
			else if (kept != i)
				move_index(sets[k], i, kept);
		}
		kept += !has_exited;
		w->turn_next -= has_exited && i < next;
	}
}

void rti_watch_note_run(struct rti_tree *tree)
{
	tree->watched.ran++;
}

void rti_watch_note_exit(struct rti_tree *tree, const struct rti_member *m)
{
	rti_watch_touch(tree, m);
	tree->watched.must_sum_all = true;
}
