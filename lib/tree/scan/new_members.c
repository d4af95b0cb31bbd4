/* SPDX-License-Identifier: MIT */
/* Adding a process to a tree, if it belongs there: now, or once its pid is free. Or noting why it
 * cannot be added. */
#include "tree/scan/new_members.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/pid_stat.h"
#include "os/pid_file.h"
#include "tree/scan/clock_read.h"
#include "util/array.h"
#include "util/descendant_set.h"

void rti_skipped_note(struct rti_skipped *skipped, const struct rti_context *ctx, int32_t pid)
{
	struct rti_now now;

	if (!skipped->pids && pid) {
		skipped->pids = calloc(1, sizeof(*skipped->pids));
		ctx->platform->now(&now);
		skipped->first_boottime_ns = now.boottime_ns;
	}
	if (!skipped->pids || pid <= 0 || pid >= RTI_PIDS_MAX)
		skipped->has_unknown = true;
	else
		rti_descendant_set_add(skipped->pids, pid);
}

/* E.g.: pid 42 is skipped, exits, and is reused. Nothing is known of the first 42. */
void rti_skipped_take(struct rti_skipped *skipped, const struct rti_context *ctx,
                      const struct rti_pid_stat *stat)
{
	if (skipped->pids && stat->has_starttime &&
	    stat->starttime * ctx->platform->tick_ns <= skipped->first_boottime_ns)
		rti_descendant_set_exit(skipped->pids, stat->pid);
}

bool rti_skipped_is_missing_any(const struct rti_skipped *skipped)
{
	return skipped->has_unknown || (skipped->pids && skipped->pids->alive > 0);
}

void rti_skipped_free(struct rti_skipped *skipped)
{
	free(skipped->pids);
	*skipped = (struct rti_skipped){ 0 };
}

void rti_note_skipped(struct rti_discovery_state *d, const struct rti_context *ctx, int32_t pid,
                      int err)
{
	if (!d->skip_error) {
		d->skip_error = err;
		d->skip_pid = pid;
	}
	d->has_skipped = true;
	rti_skipped_note(&d->missing, ctx, pid);
	if (rti_is_out_of_files(err))
		d->is_short_of_files = true;
}

void rti_add_member(struct rti_tree *tree, const struct rti_pid_stat *stat, struct rti_file *file)
{
	int err = rti_member_table_add_take(&tree->table, tree->ctx, stat, file);

	if (err < 0) {
		tree->discovery.skipped++;
		rti_note_skipped(&tree->discovery, tree->ctx, stat->pid, err);
		return;
	}
	rti_skipped_take(&tree->discovery.missing, tree->ctx, stat);
	rti_fork_tracker_add(&tree->discovery.fork_tracker, stat->pid);
}

bool rti_is_full(struct rti_tree *tree, int32_t pid)
{
	if (tree->table.count < tree->discovery.count_before + RTI_NEW_MEMBERS_MAX)
		return false;
	tree->discovery.skipped++;
	rti_note_skipped(&tree->discovery, tree->ctx, pid, -ENOSPC);
	return true;
}

int rti_read_new_stat(struct rti_tree *tree, int32_t pid, struct rti_file *file,
                      struct rti_pid_stat *out)
{
	int err = rti_pid_stat_read(tree->ctx, pid, file, out);

	if (err < 0 && err != -ESRCH)
		rti_note_skipped(&tree->discovery, tree->ctx, pid, err);
	return err;
}

/* stat of the parent shows it for its first child. As long as its CPU clock stands where it stood
 * before that, the clock shows it, for a tenth of the cost: a process that has the pid since has
 * used another time. If stat is refused, the clock alone decides. Returns 0, -ESRCH, or another
 * -errno if it cannot be found out. */
static int look_at_parent(struct rti_tree *tree, struct rti_parent *parent, struct rti_member *m)
{
	struct rti_cpu_clock now = m->clock.now;
	bool has_clock = m->clock.is_known;
	int err;

	if (tree->supervised.reaped && parent->pid == tree->supervised.pid)
		return 0; /* the caller itself, as its own supervisor */
	if (parent->clock_ns) {
		has_clock = tree->ctx->platform->cpu_clock(m->pid, &now) == 0;
		if (has_clock && now.total_ns == parent->clock_ns)
			return 0;
	}
	parent->clock_ns = 0;
	err = rti_member_check(tree->ctx, m);
	if (err == 0)
		parent->clock_ns = has_clock ? now.total_ns : 0;
	else if (err != -ESRCH && tree->ctx->platform->cpu_clock)
		err = rti_clock_shows_exit(&tree->table, tree->ctx, m) ? -ESRCH : 0;
	return err;
}

/* Both processes may have exited since they were found, and their pids may have been reused. So
 * the child must name the parent, and after that the parent must still be the one that we know. If
 * the parent cannot be looked at, the child is missing until it can. A thread may even have the
 * child's pid by now. In state X its usage has been added to its reaper, maybe before the last
 * sample. Returns whether the child was added. */
bool rti_add_child(struct rti_tree *tree, struct rti_parent *parent,
                   const struct rti_pid_stat *child, struct rti_file *file)
{
	struct rti_member *known = rti_member_find(&tree->table, parent->pid);
	size_t count = tree->table.count;
	int err;

	if (!known || child->ppid != parent->pid || child->state == 'X' ||
	    !rti_pid_stat_is_leader(tree->ctx, child))
		return false;
	err = look_at_parent(tree, parent, known);
	if (err < 0) {
		if (err != -ESRCH)
			rti_note_skipped(&tree->discovery, tree->ctx, child->pid, err);
		return false;
	}
	rti_add_member(tree, child, file);
	return tree->table.count > count;
}

/* Another process may have its pid by now. It has started later than that; only if its parent is a
 * member, it belongs to the tree all the same. */
static bool was_there(const struct rti_member_table *table, const struct rti_context *ctx,
                      const struct rti_pid_stat *stat, uint64_t time_ns)
{
	return !stat->has_starttime || stat->starttime <= time_ns / ctx->platform->tick_ns ||
	       rti_member_find(table, stat->ppid);
}

/* The event of its fork makes a process a member, whatever its parent is by now. If it has
 * exited, its parent may never wait for it, so that only the zombie shows what it used. In state
 * X its usage has already been added to its reaper.
 * What seems to have exited may run on: another thread than the leader has executed a program, and
 * there are no events of that. Then it has its parent still. */
static void add_forked(struct rti_tree *tree, int32_t pid, bool has_exited, uint64_t time_ns)
{
	struct rti_file file = RTI_FILE_INIT;
	struct rti_pid_stat stat;

	if (rti_member_find(&tree->table, pid) ||
	    (has_exited && rti_pid_was_reaped(tree->ctx, pid)) || rti_is_full(tree, pid))
		return;
	if (rti_read_new_stat(tree, pid, &file, &stat) == 0 &&
	    (stat.state == 'Z' || (stat.state != 'X' && !has_exited) ||
	     (stat.state != 'X' && rti_member_find(&tree->table, stat.ppid))) &&
	    was_there(&tree->table, tree->ctx, &stat, time_ns))
		rti_add_member(tree, &stat, &file);
	rti_procfs_close_file(tree->ctx->procfs, &file);
}

void rti_add_forked(struct rti_tree *tree, int32_t pid, bool has_exited)
{
	add_forked(tree, pid, has_exited, UINT64_MAX);
}

void rti_add_forked_before(struct rti_tree *tree, int32_t pid, uint64_t time_ns)
{
	add_forked(tree, pid, false, time_ns);
}

void rti_add_by_parent(struct rti_tree *tree, int32_t pid)
{
	struct rti_file file = RTI_FILE_INIT;
	struct rti_parent parent = { 0 };
	struct rti_pid_stat stat;

	if (rti_read_new_stat(tree, pid, &file, &stat) == 0)
		parent.pid = stat.ppid;
	if (rti_member_find(&tree->table, parent.pid) && !rti_is_full(tree, pid))
		rti_add_child(tree, &parent, &stat, &file);
	rti_procfs_close_file(tree->ctx->procfs, &file);
}

/* A process in state X belongs to nothing any more. */
void rti_add_listed(struct rti_tree *tree, int32_t pid)
{
	struct rti_file file = RTI_FILE_INIT;
	struct rti_pid_stat stat;

	if (rti_is_full(tree, pid))
		return;
	if (rti_read_new_stat(tree, pid, &file, &stat) == 0 && stat.state != 'X' &&
	    rti_pid_stat_is_leader(tree->ctx, &stat))
		rti_add_member(tree, &stat, &file);
	rti_procfs_close_file(tree->ctx->procfs, &file);
}

/* --- Pids of members that another process of the tree has by now. --- */

void rti_reused_pids_note_fork(struct rti_tree *tree, int32_t pid)
{
	struct rti_reused_pids *r = &tree->reused_pids;
	struct rti_reused_pid *forked =
	    rti_array_grow(r->forked, &r->capacity, r->count + 1, sizeof(*forked));
	struct rti_now now;

	if (!forked) {
		rti_note_skipped(&tree->discovery, tree->ctx, pid, -ENOMEM);
		return;
	}
	tree->ctx->platform->now(&now);
	r->forked = forked;
	forked[r->count++] = (struct rti_reused_pid){ .pid = pid, .noted_ns = now.boottime_ns };
}

bool rti_reused_pids_has_fork(const struct rti_reused_pids *r, int32_t pid)
{
	for (size_t i = 0; i < r->count; i++) {
		if (r->forked[i].pid == pid)
			return true;
	}
	return false;
}

void rti_reused_pids_set_lacking(struct rti_reused_pids *r)
{
	r->is_lacking = true;
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

void rti_reused_pids_free(struct rti_reused_pids *r)
{
	free(r->forked);
	*r = (struct rti_reused_pids){ 0 };
}
