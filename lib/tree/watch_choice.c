/* SPDX-License-Identifier: MIT */
/* Whether it pays to have the kernel watch a tree. */
#include "tree/watch_choice.h"

#include "tree/state.h"

void rti_watch_choice_begin(struct rti_tree *tree)
{
	tree->watched.choice.looks = tree->watched.choice.switches = 0;
}

void rti_watch_choice_count(struct rti_tree *tree)
{
	const struct rti_watched *w = &tree->watched;
	size_t looked_at = w->watch && w->is_partial ? w->looks : 0;

	tree->watched.choice.looks += rti_subtract_saturated(tree->table.count, looked_at);
}

/* Of the system since it was started; 0: not known. */
static uint64_t read_switches(struct rti_tree *tree)
{
	const struct rti_context *ctx = tree->ctx;
	struct rti_stat stat;

	if (rti_procfs_read_cached(ctx->procfs, RTI_PROC, "stat", RTI_SEQ_FILE, &tree->watched.stat,
	                           ctx->buf) < 0 ||
	    rti_parse_stat(ctx->buf->data, ctx->buf->len, &stat, NULL, NULL) < 0 || !stat.has_procs)
		return 0;
	return stat.context_switches;
}

bool rti_watch_choice_opens(struct rti_tree *tree)
{
	struct rti_watch_choice *choice = &tree->watched.choice;
	uint64_t before = choice->switches, looks = choice->looks;

	if (tree->table.count < choice->members_min || looks < choice->looks_min)
		return false;
	choice->switches = read_switches(tree);
	choice->looks = 0;
	if (!before || choice->switches < before)
		return false;
	return 2 * looks >= choice->cost_of_switch * (choice->switches - before);
}

bool rti_watch_choice_closes(struct rti_tree *tree)
{
	struct rti_watch_choice *choice = &tree->watched.choice;
	uint64_t looks = choice->looks, switches;
	struct rti_watch_counts counts;

	if (tree->table.count < choice->members_min / 2)
		return true;
	rti_watch_count(tree->watched.watch, &counts);
	switches = counts.switches - choice->switches;
	if (looks + switches < choice->looks_min)
		return false;
	choice->switches = counts.switches;
	choice->looks = 0;
	return 8 * looks < choice->cost_of_switch * switches;
}
