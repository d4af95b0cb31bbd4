/* SPDX-License-Identifier: MIT */
/* New members by a scan of /proc: processes of the system that name a member as their parent. */
#include "tree/scan/proc_scan.h"

#include <errno.h>

#include "collect/hidepid.h"
#include "collect/pid_stat.h"
#include "os/procfs.h"
#include "tree/pure/strategy.h"
#include "tree/scan/new_members.h"
#include "util/arith.h"
#include "util/array.h"
#include "util/visit.h"

struct scan {
	struct rti_tree *tree;
	int err; /* of the first process that could not be looked at */
};

static int add_candidate(void *arg, const char *name)
{
	struct scan *scan = arg;
	struct rti_discovery_state *d = &scan->tree->discovery;
	int32_t pid = rti_path_number(name);
	struct rti_candidate *grown;
	struct rti_pid_stat stat;
	int err;

	if (pid == 0 || rti_member_find(&scan->tree->table, pid))
		return RTI_CONTINUE;
	err = rti_pid_stat_read(scan->tree->ctx, pid, NULL, &stat);
	if (err < 0) {
		if (err != -ESRCH && scan->err == 0)
			scan->err = err;
		return RTI_CONTINUE;
	}
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
static int scan_all(struct scan *scan)
{
	struct rti_tree *tree = scan->tree;
	int err;

	tree->discovery.candidate_count = 0;
	err = rti_procfs_list(tree->ctx->procfs, RTI_PROC, ".", add_candidate, scan);
	while (add_candidates(tree))
		;
	return err;
}

int rti_scan_proc(struct rti_tree *tree)
{
	struct scan scan = { .tree = tree };
	int err = scan_all(&scan);

	return err < 0 ? err : scan.err;
}

/* A process that cannot be looked at is rarely a descendant. */
void rti_note_proc_scan(struct rti_tree *tree)
{
	struct scan scan = { .tree = tree };
	int err = scan_all(&scan);

	if (err < 0)
		rti_note_skipped(tree, 0, err);
}

/* The directory has a link for each process of the system, and some more. A process that is hidden
 * is in the children file of its parent, but not in the directory. */
bool rti_proc_scan_pays(const struct rti_tree *tree, uint64_t threads)
{
	const struct rti_strategy *strategy = &rti_strategies[RTI_SCAN_PROC];
	const struct rti_context *ctx = tree->ctx;
	uint64_t listed, others;

	if (ctx->procfs->is_foreign || threads * RTI_FILE_NS < rti_pays_from(strategy, 0))
		return false;
	listed = rti_procfs_count_links(ctx->procfs, RTI_PROC);
	others = rti_subtract_saturated(listed, tree->table.count);
	return listed > 0 &&
	       rti_pays(strategy, tree->table.count, threads * RTI_FILE_NS,
	                others * RTI_FILE_NS + listed * RTI_ENTRY_NS) &&
	       !rti_proc_hides_processes(ctx);
}
