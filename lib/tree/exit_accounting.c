/* SPDX-License-Identifier: MIT */
/* Who has left a tree, and in whose account it is.
 *
 * When a process is reaped, the kernel moves its use into its reaper's account. A sample cannot
 * stop the clock, so it reads children before parents and then checks: whoever's account has
 * grown since the last sample may hold a child that was read as alive. Such children are looked
 * at again, and the accounts of those who reaped are read again once their children are known to
 * be gone. */
#include "tree/exit_accounting.h"

#include <errno.h>
#include <stdbool.h>

#include "command/process_list.h"
#include "tree/member_read.h"

#define LOOKS_MAX 2000 /* some milliseconds, should its reaper have to wait for a CPU */

/* A keeper adopts those whose parent left without our noticing. */
static struct rti_member *parent_of(const struct rti_tree *tree, const struct rti_member *m,
                                    int32_t ppid)
{
	struct rti_member *up = rti_member_find(&tree->table, ppid);

	if (!up && m->pid != tree->supervisor_pid)
		up = rti_member_find(&tree->table, tree->supervisor_pid);
	return up;
}

/* All who may have been a member's parent, or have adopted it, since the last sample: its
 * ancestors as they are now, gone ones included, and then those of them that only were its
 * ancestors then. */
struct ancestors {
	struct rti_tree *tree;
	struct rti_member *of, *at;
	uint64_t mark; /* of those who were there */
	size_t steps;
	bool is_previous;
};

static struct ancestors ancestors(struct rti_tree *tree, struct rti_member *m)
{
	m->mark = ++tree->events;
	return (struct ancestors){ .tree = tree, .of = m, .at = m, .mark = m->mark };
}

static struct rti_member *next_ancestor(struct ancestors *a)
{
	for (;;) {
		struct rti_member *up = parent_of(
		    a->tree, a->at, a->is_previous ? a->at->previous_ppid : a->at->stat.ppid);

		if (up && a->steps++ < a->tree->table.count) {
			a->at = up;
			if (up->mark == a->mark)
				continue;
			up->mark = a->mark;
			return up;
		}
		if (a->is_previous)
			return NULL;
		a->is_previous = true;
		a->at = a->of;
		a->steps = 0;
	}
}

/* Nobody but its parent, which still has its children, can have waited for it. */
static const struct rti_member *kept_parent(const struct rti_tree *tree, const struct rti_member *m)
{
	const struct rti_member *up = parent_of(tree, m, m->stat.ppid);

	return up && !up->has_exited && !rti_member_is_zombie(up) ? up : NULL;
}

/* When it came to light that a process may have reaped children: when its account was read and
 * had grown, or when it was found gone, which may have been after it reaped some. */
static uint64_t may_have_reaped_at(const struct rti_member *m)
{
	if (m->has_exited)
		return m->exited_at;
	return rti_ledger_has_grown(&m->account) ? m->account_at : 0;
}

/* Orphans are adopted by an ancestor that has asked for them, and /proc does not tell which one
 * that is: it may have been any of them. */
static uint64_t may_have_been_reaped_at(struct rti_tree *tree, struct rti_member *m)
{
	struct ancestors all = ancestors(tree, m);
	struct rti_member *up;
	uint64_t at = 0;

	while ((up = next_ancestor(&all))) {
		uint64_t reaped_at = may_have_reaped_at(up);

		if (at < reaped_at)
			at = reaped_at;
	}
	return at;
}

/* Of whom the kernel is letting go (state X) the account is in that of his reaper, or will be in
 * a moment: that it can be read still is no proof that it is not. */
static int read_stat_for_good(struct rti_tree *tree, const struct rti_context *ctx,
                              struct rti_member *m)
{
	int err = 0;

	for (int looks = 0; looks < LOOKS_MAX; looks++) {
		err = rti_member_read_stat(&tree->table, ctx, m);
		if (err < 0 || m->stat.state != 'X')
			break;
	}
	return err;
}

/* Is a member there still that was read as alive before somebody may have reaped it? 1 when it
 * is not. */
static bool revalidate(struct rti_tree *tree, const struct rti_context *ctx, struct rti_member *m)
{
	const struct rti_member *parent = rti_member_find(&tree->table, m->stat.ppid);
	uint64_t reaped_at = m->has_exited ? 0 : may_have_been_reaped_at(tree, m);

	if (reaped_at == 0 || reaped_at < m->read_at || reaped_at < m->revalidated_at)
		return false;
	m->revalidated_at = ++tree->events;
	if (parent && !parent->has_exited && rti_member_has_live_files(ctx, m))
		return false;
	/* It may have a new parent by now, who will be the one to reap it; or it is gone. */
	if (read_stat_for_good(tree, ctx, m) != -ESRCH)
		return false;
	m->has_exited = true;
	m->exited_at = ++tree->events;
	return true;
}

/* Read the accounts again that a departed member may be in. 1 when there were any. */
static bool reread_reapers(struct rti_tree *tree, const struct rti_context *ctx,
                           struct rti_member *m, struct rti_status *status)
{
	struct ancestors all = ancestors(tree, m);
	struct rti_member *up;
	bool has_read = false;

	while ((up = next_ancestor(&all))) {
		if (!up->has_exited && up->account_at < m->exited_at) {
			rti_force_read_member(tree, ctx, up, status);
			has_read = true;
		}
		if (kept_parent(tree, m))
			break;
	}
	return has_read;
}

/* Every pass that goes on has lost a member or read a reaper for the last time since one was
 * lost: it ends. */
void rti_exits_reconcile(struct rti_tree *tree, const struct rti_context *ctx,
                         struct rti_status *status)
{
	bool is_stable = !tree->needs_reconcile;

	while (!is_stable) {
		is_stable = true;
		for (size_t i = 0; i < tree->table.count; i++) {
			struct rti_member *m = &tree->table.members[i];

			if (revalidate(tree, ctx, m))
				is_stable = false;
			if (m->has_exited && reread_reapers(tree, ctx, m, status))
				is_stable = false;
		}
	}
}

/* Its parent has left its children, if not the tree: it was reaped by the parent before that, or
 * by an ancestor that adopted it, or by nobody. Where more than one of their accounts may hold
 * it, none is taken for larger than it says. 1 when a living ancestor has yet to account for it. */
static bool account_orphan_exit(struct rti_tree *tree, struct rti_member *m)
{
	struct ancestors all = ancestors(tree, m);
	struct rti_member *up, *holder = NULL;
	int holders = 0;
	bool has_exited_holder = false;

	while ((up = next_ancestor(&all))) {
		if (!rti_ledger_may_hold(&tree->ledger, &up->account, &m->account))
			continue;
		holder = up;
		holders++;
		has_exited_holder |= up->has_exited;
	}
	if (holders == 0)
		rti_ledger_keep_last_seen(&tree->ledger, &m->account);
	else if (holders == 1)
		rti_ledger_merge_into_reaper(&tree->ledger, &m->account, &holder->account);
	return holders > 0 && !has_exited_holder;
}

static void attribute_orphan(struct rti_tree *tree, struct rti_member *m)
{
	struct ancestors all = ancestors(tree, m);
	uint64_t missing = rti_ledger_faults(&m->account);
	struct rti_member *up;

	while (missing && (up = next_ancestor(&all))) {
		if (!up->has_exited)
			missing -= rti_ledger_attribute(&up->account, missing);
	}
	if (missing)
		tree->ledger.has_unwaited = true;
}

static void account_exit(struct rti_tree *tree, struct rti_member *m)
{
	struct rti_member *up = parent_of(tree, m, m->stat.ppid);

	if (up)
		rti_member_force_scan(up); /* a new child may have its pid already */
	tree->ledger.has_exits = true;
	m->is_unattributed = false;
	if (kept_parent(tree, m))
		rti_ledger_account_exit(&tree->ledger, &m->account, &up->account);
	else
		m->is_unattributed = account_orphan_exit(tree, m);
	if (tree->process_list && m->pid != tree->supervisor_pid)
		rti_process_list_add_member(tree->process_list, m, 0);
	if (m->peak_rss_bytes > tree->peak_rss_bytes)
		tree->peak_rss_bytes = m->peak_rss_bytes;
}

/* Members stand behind their parents, and from below what a member is known to have reaped goes
 * where it goes. */
void rti_exits_account(struct rti_tree *tree)
{
	if (!tree->needs_reconcile)
		return;
	for (size_t i = tree->table.count; i-- > 0;) {
		if (tree->table.members[i].has_exited)
			account_exit(tree, &tree->table.members[i]);
	}
	for (size_t i = tree->table.count; i-- > 0;) {
		if (tree->table.members[i].has_exited && tree->table.members[i].is_unattributed)
			attribute_orphan(tree, &tree->table.members[i]);
	}
	if (tree->ledger.has_unwaited)
		tree->reasons |= RT_REASON_UNWAITED;
}
