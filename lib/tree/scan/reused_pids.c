/* SPDX-License-Identifier: MIT */
/* Pids of members that another process of the tree has by now. */
#include "tree/scan/reused_pids.h"

#include <errno.h>
#include <stdlib.h>

#include "tree/scan/new_members.h"
#include "tree/state/state.h"
#include "util/array.h"

void rti_reused_pids_note_fork(struct rti_tree *tree, int32_t pid)
{
	struct rti_reused_pids *r = &tree->reused_pids;
	struct rti_reused_pid *forked =
	    rti_array_grow(r->forked, &r->capacity, r->count + 1, sizeof(*forked));
	struct rti_now now;

	if (!forked) {
		rti_note_skipped(tree, pid, -ENOMEM);
		return;
	}
	tree->ctx->platform->now(&now);
	r->forked = forked;
	forked[r->count++] = (struct rti_reused_pid){ .pid = pid, .noted_ns = now.boottime_ns };
}

bool rti_reused_pids_has_fork(const struct rti_tree *tree, int32_t pid)
{
	const struct rti_reused_pids *r = &tree->reused_pids;

	for (size_t i = 0; i < r->count; i++) {
		if (r->forked[i].pid == pid)
			return true;
	}
	return false;
}

void rti_reused_pids_set_lacking(struct rti_tree *tree)
{
	tree->reused_pids.is_lacking = true;
}

/* The former member may be found to have exited only in the next sample. E.g.: 42 is read, exits,
 * and is reused; then the sample takes the events once more. Or it is the fork of the
 * member itself, which a scan has found before the event was read. So a fork is kept for one more
 * sample, and no longer. */
void rti_reused_pids_take(struct rti_tree *tree)
{
	struct rti_reused_pids *r = &tree->reused_pids;
	size_t kept = 0;

	r->is_lacking = false;
	for (size_t i = 0; i < r->count; i++) {
		struct rti_reused_pid reused = r->forked[i];

		if (!rti_member_find(&tree->table, reused.pid)) {
			rti_add_forked_before(tree, reused.pid, reused.noted_ns);
		} else if (!reused.was_kept) {
			reused.was_kept = true;
			r->forked[kept++] = reused;
		}
	}
	r->count = kept;
}

void rti_reused_pids_free(struct rti_tree *tree)
{
	free(tree->reused_pids.forked);
	tree->reused_pids = (struct rti_reused_pids){ 0 };
}
