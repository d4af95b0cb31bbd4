/* SPDX-License-Identifier: MIT */
/* New members by a scan of /proc: processes of the system that name a member as their parent. */
#include "tree/proc_scan.h"

#include <errno.h>

#include "collect/pid_stat.h"
#include "os/procfs_path.h"
#include "tree/new_members.h"
#include "util/arith.h"
#include "util/array.h"
#include "util/visit.h"

/* A process that cannot be looked at is rarely a descendant. */
static int add_candidate(void *arg, const char *name)
{
	struct rti_tree *tree = arg;
	struct rti_discovery_state *d = &tree->discovery;
	int32_t pid = rti_path_number(name);
	struct rti_candidate *grown;
	struct rti_pid_stat stat;

	if (pid == 0 || rti_member_find(&tree->table, pid) ||
	    rti_pid_stat_read(tree->ctx, pid, NULL, &stat) < 0)
		return RTI_CONTINUE;
	grown = rti_array_grow(d->candidates, &d->candidate_capacity, d->candidate_count + 1,
	                       sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	d->candidates = grown;
	d->candidates[d->candidate_count++] = (struct rti_candidate){ pid, stat.ppid };
	return RTI_CONTINUE;
}

/* Returns whether any was added. */
static bool add_candidates(struct rti_tree *tree)
{
	bool was_added = false;

	for (size_t i = 0; i < tree->discovery.candidate_count; i++) {
		struct rti_candidate c = tree->discovery.candidates[i];
		struct rti_parent parent = { .pid = c.ppid };
		struct rti_pid_stat stat;

		if (!rti_member_find(&tree->table, c.ppid) ||
		    rti_member_find(&tree->table, c.pid) || rti_is_full(tree, c.pid))
			continue;
		if (rti_read_new_stat(tree, c.pid, NULL, &stat) == 0)
			was_added |= rti_add_child(tree, &parent, &stat, NULL);
	}
	return was_added;
}

/* Pids mostly rise from parent to child, so one round finds most. */
void rti_scan_proc(struct rti_tree *tree)
{
	int err;

	tree->discovery.candidate_count = 0;
	err = rti_procfs_list(tree->ctx->procfs, RTI_PROC, ".", add_candidate, tree);
	while (add_candidates(tree))
		;
	if (err < 0)
		rti_note_skipped(tree, 0, err);
}
