/* SPDX-License-Identifier: MIT */
/* Finding new members of a tree: from process events, else from the children files of members
 * that may have forked, else from a scan of /proc. */
#include "tree/scan/discovery.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/children.h"
#include "collect/hidepid.h"
#include "collect/pid_stat.h"
#include "os/procfs.h"
#include "parse/scan.h"
#include "tree/pure/strategy.h"
#include "tree/scan/clock_read.h"
#include "tree/scan/kernel_account.h"
#include "tree/scan/new_members.h"
#include "tree/scan/roots.h"
#include "util/arith.h"
#include "util/array.h"
#include "util/visit.h"

#define RUNAWAY_ROUNDS 4

/* --- Processes of the system that name a member as their parent. --- */

struct proc_scan {
	struct rti_tree *tree;
	int err; /* of the first process that could not be looked at */
};

static int add_candidate(void *arg, const char *name)
{
	struct proc_scan *scan = arg;
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
	d->candidates[d->candidate_count++] =
	    (struct rti_candidate){ pid, stat.ppid, stat.session };
	return RTI_CONTINUE;
}

/* An orphan of the session that is followed: its parent has left it to a process outside of it. */
static bool add_orphan(struct rti_tree *tree, const struct rti_pid_stat *stat)
{
	size_t count = tree->table.count;

	if (!tree->discovery.session || stat->session != tree->discovery.session ||
	    stat->state == 'X' || !rti_pid_stat_is_leader(tree->ctx, stat))
		return false;
	rti_add_member(tree, stat, NULL);
	return tree->table.count > count;
}

/* Returns whether any was added. */
static bool add_candidates(struct rti_tree *tree)
{
	bool was_added = false;

	for (size_t i = 0; i < tree->discovery.candidate_count; i++) {
		struct rti_candidate c = tree->discovery.candidates[i];
		struct rti_parent parent = { .pid = c.ppid };
		bool is_child = rti_member_find(&tree->table, c.ppid);
		bool is_of_session = c.session == tree->discovery.session && c.session > 0;
		struct rti_pid_stat stat;

		if (!(is_child || is_of_session) || rti_member_find(&tree->table, c.pid) ||
		    rti_is_full(tree, c.pid) || rti_read_new_stat(tree, c.pid, NULL, &stat) < 0)
			continue;
		was_added |=
		    is_child ? rti_add_child(tree, &parent, &stat, NULL) : add_orphan(tree, &stat);
	}
	return was_added;
}

/* Pids mostly rise from parent to child, so one round finds most. */
static int scan_all(struct proc_scan *scan)
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
	struct proc_scan scan = { .tree = tree };
	int err = scan_all(&scan);

	return err < 0 ? err : scan.err;
}

/* A process that cannot be looked at is rarely a descendant. */
void rti_note_proc_scan(struct rti_tree *tree)
{
	struct proc_scan scan = { .tree = tree };
	int err = scan_all(&scan);

	if (err < 0)
		rti_note_skipped(&tree->discovery, tree->ctx, 0, err);
}

/* The directory has a link for each process of the system, and some more. A process that is hidden
 * is in the children file of its parent, but not in the directory. */
static bool proc_scan_pays(const struct rti_context *ctx, const struct rti_member_table *table,
                           uint64_t threads)
{
	const struct rti_strategy *strategy = &rti_strategies[RTI_SCAN_PROC];
	uint64_t listed, others;

	if (ctx->procfs->is_foreign || threads * RTI_FILE_NS < rti_pays_from(strategy, 0))
		return false;
	listed = rti_procfs_count_links(ctx->procfs, RTI_PROC);
	others = rti_subtract_saturated(listed, table->count);
	return listed > 0 &&
	       rti_pays(strategy, table->count, threads * RTI_FILE_NS,
	                others * RTI_FILE_NS + listed * RTI_ENTRY_NS) &&
	       !rti_proc_hides_processes(ctx);
}

/* --- Children files. --- */

struct children_scan {
	struct rti_tree *tree;
	struct rti_parent parent;
	bool is_incomplete; /* a child may have been left out */
};

static int match_child(void *arg, int32_t pid)
{
	struct children_scan *scan = arg;
	const struct rti_member *known = rti_member_find(&scan->tree->table, pid);
	struct rti_file file = RTI_FILE_INIT;
	struct rti_pid_stat stat;

	if (known) {
		/* Either the child itself, or an exited member that had its pid before. */
		scan->is_incomplete |= known->stat.ppid != scan->parent.pid;
		return RTI_CONTINUE;
	}
	if (rti_is_full(scan->tree, pid))
		return RTI_CONTINUE;
	if (rti_read_new_stat(scan->tree, pid, &file, &stat) == 0)
		rti_add_child(scan->tree, &scan->parent, &stat, &file);
	rti_procfs_close_file(scan->tree->ctx->procfs, &file);
	return RTI_CONTINUE;
}

/* A thread that the process made since stat was read may have forked and may exit before the next
 * sample: its child then moves to the leader, though no pid was allocated since. So the children
 * are listed again if a pid was allocated since stat was read. */
static int scan_single_thread(struct children_scan *scan, struct rti_member *m)
{
	struct rti_tree *tree = scan->tree;
	struct rti_buf *buf = &tree->discovery.children;
	struct rti_path path = rti_task_path(m->pid, m->pid, "children");
	bool is_kept = rti_member_reserve_file(&tree->table, tree->ctx, m, &m->files.children);
	struct rti_file file = m->files.children;
	int err;

	if (tree->discovery.last_pid != m->values.stat_last_pid)
		m->scan.last_pid = 0;
	err = rti_procfs_read_cached(tree->ctx->procfs, RTI_PROC, path.text, RTI_SEQ_FILE, &file,
	                             buf);
	if (err == 0)
		rti_parse_children(buf->data, buf->len, match_child, scan);
	if (!is_kept)
		rti_procfs_close_file(tree->ctx->procfs, &file);
	/* Members may have moved. */
	rti_member_find(&tree->table, scan->parent.pid)->files.children = file;
	return err;
}

/* A child belongs to the thread that forked it, so every thread's file is read; the children of
 * a thread that exits move to another one. Returns whether a child may have been left out. */
static bool scan_children(struct rti_tree *tree, struct rti_member *m)
{
	struct children_scan scan = { .tree = tree, .parent = { .pid = m->pid } };
	uint32_t threads = 1;
	int err;

	if (m->stat.num_threads == 1)
		err = scan_single_thread(&scan, m);
	else
		err = rti_children_list(tree->ctx, m->pid, &tree->discovery.children, match_child,
		                        &scan, &threads);
	if (err < 0 && err != -ENOENT && err != -ESRCH)
		rti_note_skipped(&tree->discovery, tree->ctx, 0, err);
	rti_member_find(&tree->table, scan.parent.pid)->scan.threads = threads;
	return scan.is_incomplete;
}

bool rti_discovery_has_children(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_context *ctx = tree->ctx;
	struct rti_path path = rti_task_path(m->pid, m->pid, "children");

	return !tree->discovery.has_children_files || m->stat.num_threads != 1 ||
	       !rti_member_reserve_file(&tree->table, ctx, m, &m->files.children) ||
	       rti_procfs_read_cached(ctx->procfs, RTI_PROC, path.text, RTI_SINGLE_RECORD,
	                              &m->files.children, ctx->buf) < 0 ||
	       ctx->buf->len > 0;
}

/* ns_last_pid comes first, since lxcfs may make up a loadavg. */
void rti_discovery_update_last_pid(struct rti_discovery_state *d, const struct rti_context *ctx)
{
	struct rti_loadavg loadavg;
	struct rti_scan scan;

	d->last_pid = 0;
	if (d->last_pid_source == RTI_LAST_PID_NS_LAST_PID &&
	    rti_procfs_read_cached(ctx->procfs, RTI_PROC, "sys/kernel/ns_last_pid", RTI_ONE_LINE,
	                           &d->last_pid_file, ctx->buf) == 0) {
		scan = rti_scan(ctx->buf->data, ctx->buf->len);
		rti_scan_u64(&scan, &d->last_pid);
		return;
	}
	d->last_pid_source = RTI_LAST_PID_LOADAVG;
	if (rti_procfs_read_cached(ctx->procfs, RTI_PROC, "loadavg", RTI_ONE_LINE,
	                           &d->last_pid_file, ctx->buf) == 0 &&
	    rti_parse_loadavg(ctx->buf->data, ctx->buf->len, &loadavg) == 0)
		d->last_pid = loadavg.last_pid;
}

/* A process that has not run since its children were listed has not forked. No process has, if
 * no pid was allocated. */
static bool may_have_forked(const struct rti_discovery_state *d, const struct rti_member *m)
{
	if (d->last_pid && m->scan.last_pid == d->last_pid && !m->family.has_reaped)
		return false;
	return !m->clock.is_known || m->clock.now.total_ns != m->scan.clock_ns;
}

/* When a child that we never saw exits, its own children are reparented to an ancestor, which
 * need not have run. So every ancestor is scanned too. */
static void mark_members(struct rti_member_table *table, const struct rti_discovery_state *d)
{
	for (size_t i = 0; i < table->count; i++)
		table->members[i].scan.is_due = false;
	for (size_t i = 0; i < table->count; i++) {
		struct rti_member *m = &table->members[i];

		if (!may_have_forked(d, m))
			continue;
		for (size_t steps = table->count; m && !m->scan.is_due && steps > 0; steps--) {
			m->scan.is_due = true;
			m = rti_member_find(table, m->stat.ppid);
		}
		table->members[0].scan.is_due = true;
	}
}

/* What it forks from now on is new. */
static void note_scanned(const struct rti_discovery_state *d, struct rti_member *m)
{
	m->scan.last_pid = d->last_pid;
	m->scan.clock_ns = m->clock.now.total_ns;
}

/* Scan /proc instead of the children files that are due. Returns whether that has shown as much.
 * Else the members that it has found are due, too. */
static bool scan_proc_instead(struct rti_tree *tree)
{
	struct rti_member_table *table = &tree->table;
	size_t known = table->count;
	bool is_whole = rti_scan_proc(tree) == 0;

	rti_read_clocks_from(table, tree->ctx, known);
	for (size_t i = 0; i < table->count; i++) {
		struct rti_member *m = &table->members[i];

		/* It may have forked behind the scan, before its clock was read. */
		if (i >= known) {
			m->scan.is_due = true;
			rti_discovery_force_scan(m);
		} else if (is_whole && m->scan.is_due) {
			note_scanned(&tree->discovery, m);
		}
	}
	return is_whole;
}

/* Members that are found are scanned in turn. */
static void scan_due(struct rti_tree *tree)
{
	struct rti_member_table *table = &tree->table;

	for (size_t i = 0; i < table->count; i++) {
		struct rti_member *m = &table->members[i];
		size_t known = table->count;

		if (!m->scan.is_due)
			continue;
		note_scanned(&tree->discovery, m);
		if (scan_children(tree, m))
			rti_discovery_force_scan(&table->members[i]);
		rti_read_clocks_from(table, tree->ctx, known);
		for (; known < table->count; known++)
			table->members[known].scan.is_due = true;
	}
}

static void scan_marked(struct rti_tree *tree)
{
	uint64_t threads = 0; /* their children files are opened each time */

	mark_members(&tree->table, &tree->discovery);
	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];

		if (m->scan.is_due && m->stat.num_threads > 1)
			threads += m->stat.num_threads;
	}
	if (!threads || !proc_scan_pays(tree->ctx, &tree->table, threads) ||
	    !scan_proc_instead(tree))
		scan_due(tree);
}

void rti_discovery_force_scan(struct rti_member *m)
{
	m->scan.last_pid = 0;
	m->scan.clock_ns = UINT64_MAX;
}

void rti_discovery_look_for_child(struct rti_discovery_state *d, struct rti_member *parent)
{
	rti_discovery_force_scan(parent);
	d->scanned_last_pid = 0;
}

void rti_discovery_check_threads(struct rti_member *m)
{
	if (m->scan.threads && m->stat.num_threads != m->scan.threads)
		rti_discovery_force_scan(m);
	m->scan.threads = 0;
}

/* Prepare a scan, and do the part that needs no CPU clocks. */
static void begin_scan(struct rti_tree *tree)
{
	struct rti_discovery_state *d = &tree->discovery;

	if (d->has_skipped) {
		for (size_t i = 0; i < tree->table.count; i++)
			rti_discovery_force_scan(&tree->table.members[i]);
		d->scanned_last_pid = 0;
	}
	d->has_skipped = false;
	d->skipped = 0;
	d->was_scanned = true;
	rti_discovery_update_last_pid(d, tree->ctx);
	if ((!d->has_children_files || d->session) &&
	    (!d->last_pid || d->scanned_last_pid != d->last_pid))
		rti_note_proc_scan(tree);
	d->scanned_last_pid = d->last_pid;
}

/* The process has no other event, so this one is kept until no member has the pid. */
static void take_forked(void *arg, int32_t pid, bool has_exited)
{
	struct rti_tree *tree = arg;

	if (rti_member_find(&tree->table, pid))
		rti_reused_pids_note_fork(tree, pid);
	else
		rti_add_forked(tree, pid, has_exited);
}

static void find_members(struct rti_tree *tree, rti_batch_ask *ask)
{
	struct rti_discovery_state *d = &tree->discovery;
	bool is_scan;

	d->is_short_of_files = false;
	d->count_before = tree->table.count;
	rti_fork_tracker_take_new(&d->fork_tracker, take_forked, tree);
	is_scan =
	    !rti_fork_tracker_is_complete(&d->fork_tracker) || !d->was_scanned || d->has_skipped;
	if (is_scan)
		begin_scan(tree);
	rti_read_clocks(tree, ask);
	if (is_scan && d->has_children_files)
		scan_marked(tree);
}

/* All that were skipped are members, and their accounts go back to their start. So nothing is
 * missing any more. */
static void forgive_skipped(struct rti_discovery_state *d, uint32_t *reasons)
{
	if (d->has_skipped || rti_skipped_is_missing_any(&d->missing))
		return;
	rti_skipped_free(&d->missing);
	d->skip_error = 0;
	*reasons &= ~(uint32_t)RT_REASON_MEMBERS_SKIPPED;
}

void rti_discover_members(struct rti_tree *tree, rti_batch_ask *ask)
{
	struct rti_discovery_state *d = &tree->discovery;
	bool is_first = !d->was_scanned;

	/* Events also show what the last members forked before they were gone.
	 * E.g.: each process of a fork bomb forks, and exits. */
	if (!d->is_followed ||
	    (tree->table.count == 0 && !rti_fork_tracker_is_complete(&d->fork_tracker))) {
		rti_read_clocks(tree, ask);
		return;
	}
	if (!is_first)
		rti_fork_tracker_poll(&d->fork_tracker);
	find_members(tree, ask);
	/* Forks by members that are older than the subscription are recognised only now that
	 * these members are known. */
	if (is_first && rti_fork_tracker_is_complete(&d->fork_tracker)) {
		rti_fork_tracker_poll(&d->fork_tracker);
		if (rti_fork_tracker_has_new(&d->fork_tracker))
			find_members(tree, ask);
	}
	if (d->is_short_of_files && tree->table.files_cached > 0) {
		rti_member_table_drop_files(&tree->table, tree->ctx);
		find_members(tree, ask);
	}
	forgive_skipped(d, &tree->reasons);
}

void rti_discovery_take_events(struct rti_tree *tree)
{
	struct rti_fork_tracker *events = &tree->discovery.fork_tracker;

	rti_fork_tracker_poll(events);
	rti_fork_tracker_take_new(events, take_forked, tree);
}

struct runaways {
	struct rti_tree *tree;
	uint32_t vanished;
	bool has_running;
};

static void look_at_runaway(void *arg, int32_t pid, bool has_exited)
{
	struct runaways *r = arg;
	const struct rti_member *m;

	take_forked(r->tree, pid, has_exited);
	m = rti_member_find(&r->tree->table, pid);
	if (m && !rti_pid_stat_is_zombie(&m->stat))
		r->has_running = true;
	else
		r->vanished += !has_exited;
}

/* An exit with a late event looks the same, but nothing is forked after it. */
uint32_t rti_discovery_count_runaways(struct rti_tree *tree)
{
	struct rti_fork_tracker *events = &tree->discovery.fork_tracker;
	struct runaways r = { .tree = tree };

	for (int rounds = 0; rounds < RUNAWAY_ROUNDS && !r.has_running; rounds++) {
		r.vanished = 0;
		rti_fork_tracker_poll(events);
		rti_fork_tracker_take_new(events, look_at_runaway, &r);
		if (!r.vanished)
			break;
	}
	return r.vanished;
}

/* As if the last scan had missed a member: the children of each are listed. */
void rti_discover_all_members(struct rti_tree *tree, rti_batch_ask *ask)
{
	tree->discovery.has_skipped |= tree->discovery.is_followed;
	rti_discover_members(tree, ask);
}

/* --- Members from a list. --- */

void rti_discovery_begin_list(struct rti_tree *tree)
{
	struct rti_discovery_state *d = &tree->discovery;

	d->is_short_of_files = d->has_skipped = false;
	d->was_scanned = true;
	d->skipped = 0;
	d->count_before = tree->table.count;
	rti_discovery_update_last_pid(d, tree->ctx);
}

void rti_discovery_end_list(struct rti_tree *tree, int err)
{
	if (err < 0)
		rti_note_skipped(&tree->discovery, tree->ctx, 0, err);
	forgive_skipped(&tree->discovery, &tree->reasons);
}

void rti_discovery_init(struct rti_discovery_state *d)
{
	*d = (struct rti_discovery_state){
		.fork_tracker = RTI_FORK_TRACKER_INIT,
		.last_pid_file = RTI_FILE_INIT,
	};
}

/* If the caller insists, the kernel's account of the tree has the events, and what ends between two
 * samples besides. Where it cannot be had, and by default, the proc connector has the events alone:
 * to load the programs of the account takes 90 ms or more. The account needs the one root of the
 * tree, or 0 if there may be several. Without events the members are found by scans. */
static int open_events(struct rti_tree *tree, int32_t root)
{
	struct rti_fork_tracker *events = &tree->discovery.fork_tracker;

	if (tree->ctx->procfs->is_foreign)
		return -EOPNOTSUPP;
	if (!(tree->ctx->flags & RT_OPT_PROCESS_EVENTS))
		return rti_fork_tracker_subscribe_by_default(events);
	if (root && rti_kernel_account_open(&tree->kernel_account, root) == 0) {
		if (rti_fork_tracker_use_account(events, tree->kernel_account.programs) == 0)
			return 0;
		rti_kernel_account_free(&tree->kernel_account, &tree->discovery);
	}
	return rti_fork_tracker_subscribe(events);
}

int rti_discover_roots(struct rti_tree *tree, const int32_t *pids, size_t count)
{
	const struct rti_context *ctx = tree->ctx;
	struct rti_discovery_state *d = &tree->discovery;
	struct rti_path children;
	int32_t pid;
	int err;

	d->has_many_roots = count > 1 || ctx->flags & RT_OPT_SESSION;
	d->is_followed = !(ctx->flags & RT_OPT_NO_CHILDREN);
	if (d->is_followed && !(ctx->flags & RT_OPT_NO_PROCESS_EVENTS))
		d->events_error = open_events(tree, d->has_many_roots ? 0 : pids[0]);
	if (d->events_error < 0 && ctx->flags & RT_OPT_PROCESS_EVENTS)
		tree->reasons |= RT_REASON_EVENTS_UNHEARD;
	err = ctx->flags & RT_OPT_SESSION ? rti_add_session(tree, pids[0])
	                                  : rti_add_roots(tree, pids, count);
	if (err < 0)
		return err;
	pid = tree->table.members[0].pid;
	children = rti_task_path(pid, pid, "children");
	d->has_children_files = rti_procfs_access(ctx->procfs, RTI_PROC, children.text) == 0;
	return 0;
}

/* The new root is a child of this process, so no other process can get its pid. If its stat cannot
 * be read now, e.g. for lack of descriptors, a later sample reads it. */
int rti_replace_root(struct rti_member_table *table, const struct rti_context *ctx, int32_t pid)
{
	struct rti_pid_stat stat;
	int err;

	if (!pid || table->members[0].pid == pid)
		return 0;
	err = rti_pid_stat_read(ctx, pid, NULL, &stat);
	if (err < 0)
		stat = (struct rti_pid_stat){
			.pid = pid, .ppid = ctx->platform->getpid(), .state = 'R', .num_threads = 1
		};
	rti_member_table_replace_all(table, ctx, &stat);
	return err == -ESRCH ? err : 0;
}

void rti_discovery_free(struct rti_discovery_state *d, const struct rti_context *ctx)
{
	rti_skipped_free(&d->missing);
	free(d->candidates);
	rti_buf_free(&d->children);
	rti_procfs_close_file(ctx->procfs, &d->last_pid_file);
	rti_fork_tracker_close(&d->fork_tracker);
}
