/* SPDX-License-Identifier: MIT */
/* The members that have exited, and the accounts that hold what they used.
 *
 * When a process is reaped, the kernel adds its usage to its reaper's account of children. A
 * sample cannot stop the clock. So it reads children before parents and checks afterwards: an
 * account that has grown since the last sample may hold a child that was read as alive. Such
 * children are looked at again, and once a child is known to have exited, the accounts of those
 * that may have reaped it are read again. */
#include "tree/exits/exit_accounting.h"

#include <errno.h>

#include "collect/pid_stat.h"
#include "os/pid_file.h"
#include "tree/read/member_change.h"
#include "tree/read/member_read.h"
#include "tree/read/member_row.h"
#include "tree/scan/clock_read.h"
#include "tree/scan/discovery.h"
#include "tree/scan/new_members.h"
#include "tree/state/obstacles.h"
#include "tree/state/read_policy.h"
#include "tree/watch/watched.h"
#include "util/arith.h"

/* Some milliseconds, in case the reaper of a process has to wait for a CPU. */
#define RELEASE_LOOKS_MAX 2000

/* The parent of a member. Our supervisor adopts a member if its parent exited without our
 * noticing. */
static struct rti_member *parent_of(const struct rti_member_table *table,
                                    const struct rti_supervised_state *supervised,
                                    const struct rti_member *m, int32_t ppid)
{
	struct rti_member *parent = rti_member_find(table, ppid);

	if (!parent && m->pid != supervised->pid)
		parent = rti_member_find(table, supervised->pid);
	return parent;
}

/* A walk over all that may have been a member's parent, or have adopted it: its ancestors as they
 * are now, exited ones included, and then its ancestors in the last two samples. Two, since a
 * sample reads members one after the other. E.g.: it looks at a member, the member is reaped, and
 * then the sample looks at an ancestor, which has a new parent by then. */
struct ancestors {
	struct rti_tree *tree;
	struct rti_member *of, *at;
	uint64_t mark; /* of members that were visited */
	size_t steps;
	int samples_ago; /* the part of the walk */
};

static struct ancestors ancestors(struct rti_tree *tree, struct rti_member *m)
{
	m->exit.mark = ++tree->events;
	return (struct ancestors){ .tree = tree, .of = m, .at = m, .mark = m->exit.mark };
}

/* Returns the next one, or NULL at the end. */
static struct rti_member *next_ancestor(struct ancestors *a)
{
	for (;;) {
		int32_t ppid = a->samples_ago == 0   ? a->at->stat.ppid
		               : a->samples_ago == 1 ? a->at->family.ppid
		                                     : a->at->former.ppid;
		struct rti_member *up =
		    parent_of(&a->tree->table, &a->tree->supervised, a->at, ppid);

		if (up && a->steps++ < a->tree->table.count) {
			a->at = up;
			if (up->exit.mark == a->mark)
				continue;
			up->exit.mark = a->mark;
			return up;
		}
		if (a->samples_ago == 2)
			return NULL;
		a->samples_ago++;
		a->at = a->of;
		a->steps = 0;
	}
}

/* Whether the parent of a member is known to have its children still: then no other process can
 * have reaped it. If the stat of the member is stale, it may have another parent by now. E.g.:
 * another process has the pid of the former parent. */
static bool has_kept_parent(const struct rti_member_table *table,
                            const struct rti_supervised_state *supervised,
                            const struct rti_member *m)
{
	const struct rti_member *parent = parent_of(table, supervised, m, m->stat.ppid);

	if (!parent || (rti_has_stale_stat(m) &&
	                (parent->pid != m->stat.ppid || parent->starttime > m->starttime)))
		return false;
	return !parent->end.has_exited && !rti_has_stale_stat(parent) &&
	       !rti_pid_stat_is_zombie(&parent->stat);
}

/* An orphan is adopted by an ancestor that is a subreaper, and /proc does not show which one. So
 * any ancestor may have reaped a member: one with an account that had grown, or could not be read;
 * or one that was found to have exited, which may have been after it reaped some. Returns the order
 * of the latest such read or exit; 0: there is none. */
static uint64_t may_have_been_reaped_at(struct rti_tree *tree, struct rti_member *m)
{
	struct ancestors all = ancestors(tree, m);
	struct rti_member *up;
	uint64_t at = 0;

	while ((up = next_ancestor(&all))) {
		if (up->end.has_exited)
			at = rti_max(at, up->end.at);
		else if (rti_ledger_has_grown(&up->account) || rti_has_stale_stat(up))
			at = rti_max(at, up->read.account_at);
	}
	/* It may have been adopted by a process that the walk has not come to. */
	if (rti_has_stale_stat(m) && !rti_member_find(&tree->table, m->stat.ppid))
		at = rti_max(at, m->read.account_at);
	return at;
}

/* Look again at a member that was read as alive before another process may have reaped it. Returns
 * whether it has exited. */
static bool revalidate(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_member *parent = rti_member_find(&tree->table, m->stat.ppid);
	uint64_t reaped_at = m->end.has_exited ? 0 : may_have_been_reaped_at(tree, m);
	int err;

	if (reaped_at == 0 || reaped_at < m->read.alive_at || reaped_at < m->exit.revalidated_at)
		return false;
	m->exit.revalidated_at = ++tree->events;
	if (parent && !parent->end.has_exited && rti_member_has_live_files(tree->ctx, m))
		return false;
	/* If it is there it may have a new parent by now, which will be the one to reap it. In
	 * state X a process is being released: its usage has already been added to its reaper, or
	 * is about to be. A successful read does not show that it has not, so wait for the end. */
	err = rti_reread_stat(tree, m);
	for (int looks = 1; looks < RELEASE_LOOKS_MAX && err != -ESRCH; looks++) {
		if (m->stat.state != 'X')
			break;
		err = rti_reread_stat(tree, m);
	}
	if (err == 0 || (err != -ESRCH && !rti_clock_shows_exit(&tree->table, tree->ctx, m)))
		return false;
	rti_mark_exited(tree, m);
	return true;
}

/* Read again the accounts that may hold a member that has exited. Returns whether there were
 * any. */
static bool reread_reapers(struct rti_tree *tree, struct rti_member *m)
{
	struct ancestors all = ancestors(tree, m);
	struct rti_member *up;
	bool has_read = false;

	while ((up = next_ancestor(&all))) {
		if (!up->end.has_exited && up->read.account_at < m->end.at) {
			rti_force_read_member(tree, up);
			has_read = true;
		}
		if (has_kept_parent(&tree->table, &tree->supervised, m))
			break;
	}
	return has_read;
}

/* The children of a zombie have other parents by now, maybe without having run since. Their stat
 * names them as long as the former ancestors are known: any of them may be the one that reaps. */
static void reread_orphans(struct rti_tree *tree, const struct rti_member *zombie)
{
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		if (m->stat.ppid != zombie->pid || m->end.has_exited)
			continue;
		if (rti_reread_stat(tree, m) == -ESRCH)
			rti_mark_exited(tree, m);
		else
			rti_watch_touch(&tree->watched, &tree->table, m);
	}
}

/* Once for each zombie, which gets no more children. What it used does not change any more. If its
 * clock stands where it stood when its account was read, it has not run in between, so that the
 * account is final, too. */
static void note_zombies(struct rti_tree *tree)
{
	for (size_t i = SIZE_MAX; rti_watch_up(&tree->watched, &tree->table, &i);) {
		struct rti_member *m = &tree->table.members[i];

		if (m->exit.is_zombie || m->end.has_exited || !rti_pid_stat_is_zombie(&m->stat))
			continue;
		m->exit.is_zombie = true;
		rti_read_clock(tree->ctx, m);
		if (m->clock.is_known && m->clock.now.total_ns != m->read.clock_ns)
			rti_force_read_member(tree, m);
		m->exit.has_final_account = m->clock.is_known && !m->end.has_exited &&
		                            m->read.account_at && m->stat.state == 'Z';
		reread_orphans(tree, m);
	}
}

/* Every pass that is not the last one finds an exit, or reads a reaper for the last time since
 * the last exit. So the loop ends. */
void rti_exits_reconcile(struct rti_tree *tree)
{
	bool is_stable;

	if (tree->unchanged_samples == 0)
		note_zombies(tree);
	is_stable = !tree->needs_reconcile;
	while (!is_stable) {
		is_stable = true;
		rti_watched_look_again(tree);
		for (size_t i = SIZE_MAX; rti_watch_up(&tree->watched, &tree->table, &i);) {
			struct rti_member *m = &tree->table.members[i];

			if (revalidate(tree, m))
				is_stable = false;
			if (m->end.has_exited && reread_reapers(tree, m))
				is_stable = false;
		}
	}
}

bool rti_is_final_account_current(const struct rti_supervised_state *s, const struct rti_member *m)
{
	return s->has_final_rusage && m->pid == s->pid &&
	       rti_ledger_is_covered_by(&m->account, s->final_rusage);
}

uint8_t rti_times_in_ticks(const struct rti_ledger *ledger,
                           const struct rti_supervised_state *supervised,
                           const struct rti_member *m)
{
	const struct rti_figures *figures = &m->values.figures;
	bool is_reaped = figures->is_reaped_in_ticks && !ledger->self_only &&
	                 !rti_is_final_account_current(supervised, m);

	return (uint8_t)(2 * figures->is_own_in_ticks + 2 * is_reaped);
}

/* Context switches of exited members are partial in any case. */
void rti_exits_note_kept(struct rti_tree *tree, struct rti_member *m, uint64_t known)
{
	if (!(known & RT_HAS_CPU))
		tree->kept_in_ticks += rti_times_in_ticks(&tree->ledger, &tree->supervised, m);
	known |= m->values.figures.valid | RT_HAS_CTXSW;
	rti_obstacles_note_lost(&tree->obstacles, m, tree->domains.counters & tree->want & ~known);
}

/* No account of a member holds what the member used. */
static void keep_last_seen(struct rti_tree *tree, struct rti_member *m)
{
	if (m->exit.has_final_account) {
		rti_ledger_keep_final(&tree->ledger, &m->account);
	} else {
		rti_ledger_keep_last_seen(&tree->ledger, &m->account);
		rti_obstacles_note_unwaited(tree, m);
	}
	rti_exits_note_kept(tree, m, 0);
}

/* Account for a member without a kept parent: the parent has exited, too, or is a zombie, or could
 * not be read, or is not a member. It was reaped by that parent before, by an ancestor that adopted
 * it, or outside the tree. If more than one account may hold it, none is raised. Returns whether a
 * living ancestor has yet to account for it.
 *
 * The account of a process that could not be read may hold the member. If it is clear which process
 * that is, what was seen of the member is the least that its account has: if it has reaped the
 * member, the member counts once. If not, what it reaps later may hide behind that, so the totals
 * are lower bounds. */
static bool account_orphan_exit(struct rti_tree *tree, struct rti_member *m)
{
	struct ancestors all = ancestors(tree, m);
	struct rti_member *up, *holder = NULL; /* the first that may hold it */
	int grown = 0, stale = 0;
	bool has_exited_grown = false;

	while ((up = next_ancestor(&all))) {
		if (rti_has_stale_stat(up)) {
			stale++;
		} else if (rti_ledger_may_hold(&tree->ledger, &up->account, &m->account)) {
			grown++;
			has_exited_grown |= up->end.has_exited;
		} else {
			continue;
		}
		holder = holder ? holder : up;
	}
	/* Its parent may be a process that the walk has not come to, unless it is the root. */
	if (rti_has_stale_stat(m) && m != &tree->table.members[0])
		stale++;

	if (holder && grown + stale == 1)
		rti_ledger_merge_into_reaper(&m->account, &holder->account);
	if (stale) {
		tree->reasons |= RT_REASON_UNREADABLE;
		rti_obstacles_note_lost(&tree->obstacles, m,
		                        (tree->domains.counters | RT_HAS_PEAK_RSS) & tree->want);
	} else if (grown == 0) {
		keep_last_seen(tree, m);
	}
	return grown && !stale && !has_exited_grown;
}

/* Attribute what an orphan used to ancestors with accounts that grew by more than is explained. */
static void attribute_orphan(struct rti_tree *tree, struct rti_member *m)
{
	struct ancestors all = ancestors(tree, m);
	struct rti_evidence missing = rti_ledger_evidence(&m->account);
	struct rti_member *up;
	bool is_explained = false;

	while (!is_explained && (up = next_ancestor(&all))) {
		if (!up->end.has_exited)
			is_explained = rti_ledger_attribute(&up->account, &missing);
	}
	if (is_explained)
		return;
	rti_ledger_note_unwaited(&tree->ledger);
	rti_obstacles_note_unwaited(tree, m);
}

static void account_exit(struct rti_tree *tree, struct rti_member *m)
{
	struct rti_member *parent = parent_of(&tree->table, &tree->supervised, m, m->stat.ppid);

	if (parent)
		rti_discovery_force_scan(parent); /* a new child may have its pid already */
	rti_ledger_note_exit(&tree->ledger);
	m->exit.is_unattributed = false;
	if (!has_kept_parent(&tree->table, &tree->supervised, m))
		m->exit.is_unattributed = account_orphan_exit(tree, m);
	else if (!rti_ledger_account_exit(&tree->ledger, &m->account, &parent->account))
		keep_last_seen(tree, m);
	rti_change_note_end(tree, m);
	rti_report_exit(tree, m);
	tree->kept_ended_run_ns =
	    rti_add_saturated(tree->kept_ended_run_ns, m->values.figures.ended_run_ns);
	tree->peak_rss_bytes = rti_max(tree->peak_rss_bytes, m->values.peak_rss_bytes);
}

/* Children stand behind their parents, and are accounted for first: what a member is known to
 * have reaped goes where the member goes. */
void rti_exits_account(struct rti_tree *tree)
{
	if (!tree->needs_reconcile)
		return;
	for (size_t i = SIZE_MAX; rti_watch_down(&tree->watched, &tree->table, &i);) {
		if (tree->table.members[i].end.has_exited)
			account_exit(tree, &tree->table.members[i]);
	}
	for (size_t i = SIZE_MAX; rti_watch_down(&tree->watched, &tree->table, &i);) {
		struct rti_member *m = &tree->table.members[i];

		if (m->end.has_exited && m->exit.is_unattributed)
			attribute_orphan(tree, m);
	}
	if (tree->ledger.has_unwaited)
		tree->reasons |= RT_REASON_UNWAITED;
}

/* Whether a process with the pid of a former member belongs to the tree. Its parent may have
 * exited, too, and its pid have been reused: then the process is not of this tree, and one sample
 * is marked without need. */
static bool belongs(struct rti_tree *tree, const struct rti_pid_stat *stat)
{
	struct rti_member *parent;

	if (tree->list || rti_reused_pids_has_fork(&tree->reused_pids, stat->pid))
		return true;
	parent = rti_member_find(&tree->table, stat->ppid);
	if (parent)
		rti_discovery_look_for_child(&tree->discovery, parent);
	return parent != NULL;
}

/* If in doubt, returns true: we ran out of descriptors or memory. A process that is hidden is
 * another user's: if it belongs to the tree, the next scan says that it is missing. */
static bool has_lost_pid(struct rti_tree *tree, const struct rti_member *m)
{
	struct rti_pid_stat stat;
	int err;

	if (tree->list && m->listed.at_sample != tree->table.samples)
		return false;
	if (rti_pid_was_reaped(tree->ctx, m->pid))
		return false;
	err = rti_pid_stat_read(tree->ctx, m->pid, NULL, &stat);
	if (err < 0)
		return err != -ESRCH && err != -EACCES;
	return stat.state != 'X' && !rti_pid_stat_is_same(&m->stat, &stat) &&
	       rti_pid_stat_is_leader(tree->ctx, &stat) && belongs(tree, &stat);
}

void rti_exits_check_pids(struct rti_tree *tree)
{
	if (!tree->needs_reconcile || (!tree->list && !tree->discovery.is_followed))
		return;
	for (size_t i = SIZE_MAX; rti_watch_up(&tree->watched, &tree->table, &i);) {
		const struct rti_member *m = &tree->table.members[i];

		if (m->end.has_exited && has_lost_pid(tree, m))
			rti_reused_pids_set_lacking(&tree->reused_pids);
	}
}
