/* SPDX-License-Identifier: MIT */
/* Finding new members of a tree: from process events, else from the children files of members
 * that may have forked, else from a scan of /proc. */
#include "tree/discovery.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/children.h"
#include "collect/pid_stat.h"
#include "os/pid_file.h"
#include "os/procfs_path.h"
#include "parse/scan.h"
#include "tree/clock_read.h"
#include "util/array.h"
#include "util/visit.h"

#define RECHECK_PERIOD 16 /* one scan in so many ignores the supervisor's count of forks */
#define COUNT_OF_FORKS (UINT64_C(1) << 63) /* keeps a count apart from a pid */

/* A process may be missing from the tree because of this error. pid 0: it is not known which. */
static void note_skipped(struct rti_tree *tree, int32_t pid, int err)
{
	struct rti_discovery_state *d = &tree->discovery;

	if (!d->skip_error) {
		d->skip_error = err;
		d->skip_pid = pid;
	}
	d->has_skipped = true;
	rti_skipped_note(&d->missing, tree->ctx, pid);
	if (rti_is_out_of_files(err))
		d->is_short_of_files = true;
}

static void add_member(struct rti_tree *tree, const struct rti_pid_stat *stat,
                       struct rti_file *file)
{
	int err = rti_member_table_add_take(&tree->table, tree->ctx, stat, file);

	if (err < 0) {
		tree->discovery.skipped++;
		note_skipped(tree, stat->pid, err);
		return;
	}
	rti_skipped_take(&tree->discovery.missing, tree->ctx, stat);
	rti_fork_tracker_add(&tree->discovery.fork_tracker, stat->pid);
}

/* Whether no more members may be added. Asked before anything is read of a process. */
static bool is_full(struct rti_tree *tree, int32_t pid)
{
	if (tree->table.count < RTI_MEMBERS_MAX &&
	    tree->table.count < tree->discovery.count_before + RTI_NEW_MEMBERS_MAX)
		return false;
	tree->discovery.skipped++;
	note_skipped(tree, pid, -ENOSPC);
	return true;
}

/* A process that has exited meanwhile is not missing; one that cannot be read for another reason
 * is. */
static int read_stat(struct rti_tree *tree, int32_t pid, struct rti_file *file,
                     struct rti_pid_stat *out)
{
	int err = rti_pid_stat_read(tree->ctx, pid, file, out);

	if (err < 0 && err != -ESRCH)
		note_skipped(tree, pid, err);
	return err;
}

/* Both processes may have exited since they were found, and their pids may have been reused. So
 * the child must name the parent, and after that the parent must still be the one that we know.
 * The child's pid may even be that of a thread by now. In state X its usage has been added to its
 * reaper, maybe before the last sample. Returns whether the child was added. */
static bool add_child(struct rti_tree *tree, int32_t parent, const struct rti_pid_stat *child,
                      struct rti_file *file)
{
	struct rti_member *known = rti_member_find(&tree->table, parent);
	size_t count = tree->table.count;

	if (!known || child->ppid != parent || child->state == 'X' ||
	    !rti_pid_stat_is_leader(tree->ctx, child) || !rti_member_is_alive(tree->ctx, known))
		return false;
	add_member(tree, child, file);
	return tree->table.count > count;
}

struct children_scan {
	struct rti_tree *tree;
	int32_t parent;
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
		scan->is_incomplete |= known->stat.ppid != scan->parent;
		return RTI_CONTINUE;
	}
	if (is_full(scan->tree, pid))
		return RTI_CONTINUE;
	if (read_stat(scan->tree, pid, &file, &stat) == 0)
		add_child(scan->tree, scan->parent, &stat, &file);
	rti_procfs_close_file(scan->tree->ctx->procfs, &file);
	return RTI_CONTINUE;
}

static void scan_leader(struct children_scan *scan, struct rti_file *cached)
{
	const struct rti_procfs *procfs = scan->tree->ctx->procfs;
	struct rti_buf *buf = &scan->tree->discovery.children;
	struct rti_path path = rti_task_path(scan->parent, scan->parent, "children");
	int err = rti_procfs_read_cached(procfs, RTI_PROC, path.text, RTI_SEQ_FILE, cached, buf);

	if (err == 0)
		rti_parse_children(buf->data, buf->len, match_child, scan);
	else if (err != -ENOENT && err != -ESRCH)
		note_skipped(scan->tree, 0, err);
}

/* The process has one thread, as far as is known. A thread that it made since stat was read may
 * have forked and may exit before the next sample: its child then moves to the leader, though no
 * pid was given out since. So the children are listed again if a pid was given out since stat
 * was read. */
static void scan_single_thread(struct children_scan *scan, struct rti_member *m)
{
	struct rti_file cached = m->files.children;

	m->scan.threads = 1;
	if (scan->tree->discovery.last_pid != m->values.stat_last_pid)
		m->scan.last_pid = 0;
	scan_leader(scan, &cached);
	/* Members may have moved. */
	rti_member_find(&scan->tree->table, scan->parent)->files.children = cached;
}

static void scan_all_threads(struct children_scan *scan)
{
	struct rti_tree *tree = scan->tree;
	uint32_t threads;
	int err = rti_children_list(tree->ctx, scan->parent, &tree->discovery.children, match_child,
	                            scan, &threads);

	if (err < 0 && err != -ENOENT && err != -ESRCH)
		note_skipped(tree, 0, err);
	rti_member_find(&tree->table, scan->parent)->scan.threads = threads;
}

/* A child belongs to the thread that forked it, so every thread's file is read; the children of
 * a thread that exits move to another one. Returns whether a child may have been left out. */
static bool scan_children(struct rti_tree *tree, struct rti_member *m)
{
	struct children_scan scan = { .tree = tree, .parent = m->pid };

	if (m->stat.num_threads == 1 && rti_member_reserve_files(&tree->table, tree->ctx, m))
		scan_single_thread(&scan, m);
	else
		scan_all_threads(&scan);
	return scan.is_incomplete;
}

bool rti_discovery_has_children(struct rti_tree *tree, struct rti_member *m)
{
	const struct rti_context *ctx = tree->ctx;
	struct rti_path path = rti_task_path(m->pid, m->pid, "children");

	return !tree->discovery.has_children_files || m->stat.num_threads != 1 ||
	       !rti_member_reserve_files(&tree->table, ctx, m) ||
	       rti_procfs_read_cached(ctx->procfs, RTI_PROC, path.text, RTI_SINGLE_RECORD,
	                              &m->files.children, ctx->buf) < 0 ||
	       ctx->buf->len > 0;
}

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
		struct rti_pid_stat stat;

		if (!rti_member_find(&tree->table, c.ppid) ||
		    rti_member_find(&tree->table, c.pid) || is_full(tree, c.pid))
			continue;
		if (rti_pid_stat_read(tree->ctx, c.pid, NULL, &stat) == 0)
			was_added |= add_child(tree, c.ppid, &stat, NULL);
	}
	return was_added;
}

/* Where the kernel has no children files. Pids mostly rise from parent to child, so one round finds
 * most. */
static void scan_proc(struct rti_tree *tree)
{
	int err;

	tree->discovery.candidate_count = 0;
	err = rti_procfs_list(tree->ctx->procfs, RTI_PROC, ".", add_candidate, tree);
	if (err < 0)
		note_skipped(tree, 0, err);
	while (add_candidates(tree))
		;
}

/* Whether a process has been reaped, as far as its CPU clock shows. */
static bool was_reaped(const struct rti_context *ctx, int32_t pid)
{
	return ctx->platform->cpu_clock && !rti_pid_has_clock(ctx, pid);
}

/* The event of its fork makes a process a member, whatever its parent is by now. If it has
 * exited, its parent may never wait for it, so that only the zombie shows what it used. In state
 * X its usage has already been added to its reaper. */
static void add_forked(void *arg, int32_t pid, bool has_exited)
{
	struct rti_tree *tree = arg;
	struct rti_file file = RTI_FILE_INIT;
	struct rti_pid_stat stat;

	if (rti_member_find(&tree->table, pid) || (has_exited && was_reaped(tree->ctx, pid)) ||
	    is_full(tree, pid))
		return;
	if (read_stat(tree, pid, &file, &stat) == 0 &&
	    (stat.state == 'Z' || (!has_exited && stat.state != 'X')))
		add_member(tree, &stat, &file);
	rti_procfs_close_file(tree->ctx->procfs, &file);
}

/* ns_last_pid comes first, since lxcfs may make up a loadavg. Returns 0 if neither can be read. */
static uint64_t read_last_pid(struct rti_tree *tree)
{
	const struct rti_context *ctx = tree->ctx;
	struct rti_discovery_state *d = &tree->discovery;
	struct rti_loadavg loadavg;
	struct rti_scan scan;
	uint64_t pid = 0;

	if (d->last_pid_source == RTI_LAST_PID_NS_LAST_PID &&
	    rti_procfs_read_cached(ctx->procfs, RTI_PROC, "sys/kernel/ns_last_pid", RTI_ONE_LINE,
	                           &d->last_pid_file, ctx->buf) == 0) {
		scan = rti_scan(ctx->buf->data, ctx->buf->len);
		rti_scan_u64(&scan, &pid);
		return pid;
	}
	d->last_pid_source = RTI_LAST_PID_LOADAVG;
	if (rti_procfs_read_cached(ctx->procfs, RTI_PROC, "loadavg", RTI_ONE_LINE,
	                           &d->last_pid_file, ctx->buf) < 0 ||
	    rti_parse_loadavg(ctx->buf->data, ctx->buf->len, &loadavg) < 0)
		return 0;
	return loadavg.last_pid;
}

void rti_discovery_update_last_pid(struct rti_tree *tree)
{
	tree->discovery.last_pid = read_last_pid(tree);
}

/* The supervisor's count of forks serves as the last pid as well. The count can lag, and the
 * supervisor may be stopped or killed, so every 16th scan ignores it. A caller that is its own
 * counts only while it waits. Returns 0 if it must not be used. */
static uint64_t counted_forks(const struct rti_tree *tree)
{
	const struct rti_shared_stats *shared = tree->supervised.shared;

	if (!shared || tree->supervised.reaped || shared->events != RTI_EVENTS_INTACT ||
	    tree->discovery.scans % RECHECK_PERIOD == 0)
		return 0;
	return COUNT_OF_FORKS | shared->processes;
}

/* A process that has not run since its children were listed has not forked. No process has, if
 * no pid was given out. */
static bool may_have_forked(const struct rti_tree *tree, const struct rti_member *m)
{
	if (tree->discovery.last_pid && m->scan.last_pid == tree->discovery.last_pid &&
	    !m->family.has_reaped)
		return false;
	return !m->clock.is_known || m->clock.now.total_ns != m->scan.clock_ns;
}

/* When a child that we never saw exits, its own children are reparented to an ancestor, which
 * need not have run. So every ancestor is scanned too. */
static void mark_for_scan(struct rti_tree *tree, struct rti_member *m)
{
	for (size_t steps = tree->table.count; m && !m->scan.is_due && steps > 0; steps--) {
		m->scan.is_due = true;
		m = rti_member_find(&tree->table, m->stat.ppid);
	}
	tree->table.members[0].scan.is_due = true;
}

/* Members that are found are scanned in turn. */
static void scan_marked(struct rti_tree *tree)
{
	struct rti_member_table *table = &tree->table;

	for (size_t i = 0; i < table->count; i++)
		table->members[i].scan.is_due = false;
	for (size_t i = 0; i < table->count; i++) {
		if (may_have_forked(tree, &table->members[i]))
			mark_for_scan(tree, &table->members[i]);
	}
	for (size_t i = 0; i < table->count; i++) {
		struct rti_member *m = &table->members[i];
		size_t known = table->count;

		if (!m->scan.is_due)
			continue;
		m->scan.last_pid = tree->discovery.last_pid;
		m->scan.clock_ns = m->clock.now.total_ns;
		if (scan_children(tree, m))
			rti_discovery_force_scan(&table->members[i]);
		rti_read_clocks_from(tree, known);
		for (; known < table->count; known++)
			table->members[known].scan.is_due = true;
	}
}

void rti_discovery_force_scan(struct rti_member *m)
{
	m->scan.last_pid = 0;
	m->scan.clock_ns = UINT64_MAX;
}

void rti_discovery_check_threads(struct rti_member *m)
{
	if (m->scan.threads && m->stat.num_threads != m->scan.threads)
		rti_discovery_force_scan(m);
}

static void rescan_all(struct rti_tree *tree)
{
	for (size_t i = 0; i < tree->table.count; i++)
		rti_discovery_force_scan(&tree->table.members[i]);
	tree->discovery.scanned_last_pid = 0;
}

/* Prepare a scan, and do the part that needs no CPU clocks. */
static void begin_scan(struct rti_tree *tree)
{
	struct rti_discovery_state *d = &tree->discovery;

	if (d->has_skipped)
		rescan_all(tree);
	d->has_skipped = false;
	d->skipped = 0;
	d->was_scanned = true;
	d->scans++;
	d->last_pid = counted_forks(tree);
	if (!d->last_pid)
		d->last_pid = read_last_pid(tree);
	if (!d->has_children_files && (!d->last_pid || d->scanned_last_pid != d->last_pid))
		scan_proc(tree);
	d->scanned_last_pid = d->last_pid;
}

static void find_members(struct rti_tree *tree, rti_batch_ask *ask)
{
	struct rti_discovery_state *d = &tree->discovery;
	bool is_scan;

	d->is_short_of_files = false;
	d->count_before = tree->table.count;
	rti_fork_tracker_take_new(&d->fork_tracker, add_forked, tree);
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
static void forgive_skipped(struct rti_tree *tree)
{
	struct rti_discovery_state *d = &tree->discovery;

	if (d->has_skipped || rti_skipped_is_missing_any(&d->missing))
		return;
	rti_skipped_free(&d->missing);
	d->skip_error = 0;
	tree->reasons &= ~(uint32_t)RT_REASON_MEMBERS_SKIPPED;
}

void rti_discover_members(struct rti_tree *tree, rti_batch_ask *ask)
{
	struct rti_discovery_state *d = &tree->discovery;
	bool is_first = !d->was_scanned;

	if (!d->is_followed || tree->table.count == 0) {
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
		find_members(tree, ask);
	}
	if (d->is_short_of_files && tree->table.files_cached > 0) {
		rti_member_table_drop_files(&tree->table, tree->ctx);
		find_members(tree, ask);
	}
	forgive_skipped(tree);
}

/* --- Members from a list. --- */

void rti_discovery_begin_list(struct rti_tree *tree)
{
	struct rti_discovery_state *d = &tree->discovery;

	d->is_short_of_files = d->has_skipped = false;
	d->was_scanned = true;
	d->skipped = 0;
	d->scans++;
	d->count_before = tree->table.count;
	d->last_pid = read_last_pid(tree);
}

/* A process in state X belongs to nothing any more. */
void rti_discovery_add_listed(struct rti_tree *tree, int32_t pid)
{
	struct rti_file file = RTI_FILE_INIT;
	struct rti_pid_stat stat;

	if (is_full(tree, pid))
		return;
	if (read_stat(tree, pid, &file, &stat) == 0 && stat.state != 'X' &&
	    rti_pid_stat_is_leader(tree->ctx, &stat))
		add_member(tree, &stat, &file);
	rti_procfs_close_file(tree->ctx->procfs, &file);
}

void rti_discovery_end_list(struct rti_tree *tree, int err)
{
	if (err < 0)
		note_skipped(tree, 0, err);
	forgive_skipped(tree);
}

void rti_discovery_init(struct rti_tree *tree)
{
	tree->discovery = (struct rti_discovery_state){
		.fork_tracker = RTI_FORK_TRACKER_INIT,
		.last_pid_file = RTI_FILE_INIT,
	};
}

/* Without events the members are found by scans. */
static void subscribe(struct rti_tree *tree)
{
	struct rti_discovery_state *d = &tree->discovery;

	d->events_error = tree->ctx->procfs->is_foreign
	                      ? -EOPNOTSUPP
	                      : rti_fork_tracker_subscribe(&d->fork_tracker);
	if (d->events_error < 0)
		rti_add_reasons(tree, RT_REASON_EVENTS_UNHEARD);
}

int rti_discover_root(struct rti_tree *tree, int32_t pid)
{
	const struct rti_context *ctx = tree->ctx;
	struct rti_discovery_state *d = &tree->discovery;
	struct rti_path children = rti_task_path(pid, pid, "children");
	struct rti_pid_stat stat;
	int err;

	d->is_followed = !(ctx->flags & RT_OPT_NO_CHILDREN);
	if (ctx->flags & RT_OPT_PROCESS_EVENTS && d->is_followed)
		subscribe(tree);
	rti_fork_tracker_set_root(&d->fork_tracker, pid);
	d->has_children_files = rti_procfs_access(ctx->procfs, RTI_PROC, children.text) == 0;
	err = rti_pid_stat_read(ctx, pid, NULL, &stat);
	if (err == 0 && !rti_pid_stat_is_leader(ctx, &stat))
		err = -ESRCH;
	return err < 0 ? err : rti_member_table_add_take(&tree->table, ctx, &stat, NULL);
}

void rti_discovery_free(struct rti_tree *tree)
{
	struct rti_discovery_state *d = &tree->discovery;

	rti_skipped_free(&d->missing);
	free(d->candidates);
	rti_buf_free(&d->children);
	rti_procfs_close_file(tree->ctx->procfs, &d->last_pid_file);
	rti_fork_tracker_close(&d->fork_tracker);
}
