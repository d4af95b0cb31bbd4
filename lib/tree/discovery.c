/* SPDX-License-Identifier: MIT */
/* Finding the members of a tree: those who are heard of, and otherwise the children of those who
 * may have forked. */
#include "tree/discovery.h"

#include <errno.h>
#include <stdlib.h>

#include "os/procfs_path.h"
#include "parse/scan.h"
#include "util/array.h"

#define TRUSTED_SCANS 16

/* Both may have died since they were found, and their pids been given to strangers: the child
 * must name the parent, and after that the parent must still be the one that we know. The
 * child's may even be that of a thread by now. */
static bool add_child(struct rti_member_table *table, const struct rti_context *ctx, int32_t parent,
                      const struct rti_pid_stat *child, struct rti_file *file)
{
	struct rti_member *known = rti_member_find(table, parent);

	if (!known || child->ppid != parent || !rti_is_group_leader(ctx, child) ||
	    !rti_member_is_alive(ctx, known))
		return false;
	return rti_member_add(table, ctx, child, file) == 0;
}

/* Who has gone is nobody's loss, whoever else cannot be read may be. */
static int read_stat(struct rti_member_table *table, const struct rti_context *ctx, int32_t pid,
                     struct rti_file *file, struct rti_pid_stat *out)
{
	int err = rti_read_pid_stat(ctx, pid, file, out);

	if (err < 0 && err != -ESRCH)
		rti_member_table_note_skipped(table, err);
	return err;
}

/* Before anything is read of who cannot be taken in. */
static bool is_full(struct rti_member_table *table)
{
	if (table->count < RTI_MEMBERS_MAX &&
	    table->count < table->count_before_scan + RTI_NEW_MEMBERS_MAX)
		return false;
	table->skipped++;
	table->has_skipped = true;
	return true;
}

struct children_scan {
	struct rti_member_table *table;
	const struct rti_context *ctx;
	int32_t parent;
	uint64_t threads;
	bool is_incomplete; /* somebody may have been passed over */
};

static int handle_child(void *arg, int32_t pid)
{
	struct children_scan *scan = arg;
	const struct rti_member *known = rti_member_find(scan->table, pid);
	struct rti_file file = RTI_FILE_INIT;
	struct rti_pid_stat stat;

	if (known) {
		/* Unless that one has gone, and its pid is this child's now. */
		scan->is_incomplete |= known->stat.ppid != scan->parent;
		return 0;
	}
	if (is_full(scan->table))
		return 0;
	if (read_stat(scan->table, scan->ctx, pid, &file, &stat) == 0)
		add_child(scan->table, scan->ctx, scan->parent, &stat, &file);
	rti_procfs_close_file(scan->ctx->procfs, &file);
	return 0;
}

static void scan_thread(struct children_scan *scan, int32_t tid, struct rti_file *cached)
{
	const struct rti_procfs *procfs = scan->ctx->procfs;
	struct rti_buf *children = &scan->table->children;
	struct rti_path path = rti_task_path(scan->parent, tid, "children");
	int err;

	if (cached)
		err = rti_procfs_read_cached(procfs, RTI_PROC, path.text, RTI_SEQ_FILE, cached,
		                             children);
	else
		err = rti_procfs_read(procfs, RTI_PROC, path.text, RTI_SEQ_FILE, children);
	if (err == 0)
		rti_parse_children(children->data, children->len, handle_child, scan);
	else if (err != -ENOENT && err != -ESRCH)
		rti_member_table_note_skipped(scan->table, err);
}

bool rti_member_has_children(struct rti_member_table *table, const struct rti_context *ctx,
                             struct rti_member *m)
{
	struct rti_path path = rti_task_path(m->pid, m->pid, "children");

	return !table->has_children_files || m->stat.num_threads != 1 ||
	       !rti_member_reserve_files(table, ctx, m) ||
	       rti_procfs_read_cached(ctx->procfs, RTI_PROC, path.text, RTI_SINGLE_RECORD,
	                              &m->children_file, ctx->buf) < 0 ||
	       ctx->buf->len > 0;
}

static int scan_task(void *arg, const char *name)
{
	struct children_scan *scan = arg;
	int32_t tid = rti_path_number(name);

	if (tid)
		scan_thread(scan, tid, NULL);
	scan->threads += tid != 0;
	return 0;
}

/* A thread that it made since stat was read may have forked, and have ended by the next reading:
 * then its child hangs on the first thread, and no pid has been given away since. */
static bool may_have_had_threads(const struct rti_member_table *table, const struct rti_member *m)
{
	return table->last_pid != m->stat_pid;
}

/* It has but one thread, as far as is known. */
static void scan_single_thread(struct children_scan *scan, struct rti_member *m)
{
	struct rti_file cached = m->children_file;

	m->scanned_threads = 1;
	if (may_have_had_threads(scan->table, m))
		m->scanned_pid = 0;
	scan_thread(scan, scan->parent, &cached);
	/* members may have moved */
	rti_member_find(scan->table, scan->parent)->children_file = cached;
}

static void scan_all_threads(struct children_scan *scan)
{
	struct rti_path tasks = rti_pid_path(scan->parent, "task");
	int err = rti_procfs_list(scan->ctx->procfs, RTI_PROC, tasks.text, scan_task, scan);

	if (err < 0 && err != -ENOENT && err != -ESRCH)
		rti_member_table_note_skipped(scan->table, err);
	rti_member_find(scan->table, scan->parent)->scanned_threads = scan->threads;
}

/* Children hang on the thread that forked them, so every thread's file is read; those of a
 * thread that ends go to another. 1 when it has to be done again. */
static bool scan_children_files(struct rti_member_table *table, const struct rti_context *ctx,
                                struct rti_member *m)
{
	struct children_scan scan = { .table = table, .ctx = ctx, .parent = m->pid };

	if (m->stat.num_threads == 1 && rti_member_reserve_files(table, ctx, m))
		scan_single_thread(&scan, m);
	else
		scan_all_threads(&scan);
	return scan.is_incomplete;
}

struct parent_scan {
	struct rti_member_table *table;
	const struct rti_context *ctx;
};

static int add_candidate(void *arg, const char *name)
{
	const struct parent_scan *scan = arg;
	struct rti_member_table *table = scan->table;
	int32_t pid = rti_path_number(name);
	struct candidate *grown;
	struct rti_pid_stat stat;

	if (pid == 0 || rti_member_find(table, pid) ||
	    rti_read_pid_stat(scan->ctx, pid, NULL, &stat) < 0)
		return 0;
	grown = rti_array_grow(table->candidates, &table->candidate_cap, table->candidate_count + 1,
	                       sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	table->candidates = grown;
	table->candidates[table->candidate_count++] = (struct candidate){ pid, stat.ppid };
	return 0;
}

static int add_candidates(struct rti_member_table *table, const struct rti_context *ctx)
{
	int found = 0;

	for (size_t i = 0; i < table->candidate_count; i++) {
		struct candidate c = table->candidates[i];
		struct rti_pid_stat stat;

		if (!rti_member_find(table, c.ppid) || rti_member_find(table, c.pid) ||
		    is_full(table))
			continue;
		if (rti_read_pid_stat(ctx, c.pid, NULL, &stat) == 0)
			found += add_child(table, ctx, c.ppid, &stat, NULL);
	}
	return found;
}

/* Where the kernel has no children files. Pids mostly rise from parent to child, so that one
 * round finds all. */
static void scan_parent_pids(struct rti_member_table *table, const struct rti_context *ctx)
{
	struct parent_scan scan = { table, ctx };
	int err;

	table->candidate_count = 0;
	err = rti_procfs_list(ctx->procfs, RTI_PROC, ".", add_candidate, &scan);
	if (err < 0)
		rti_member_table_note_skipped(table, err);
	while (add_candidates(table, ctx))
		;
}

/* No file has to be opened to know that. */
static bool has_left(const struct rti_context *ctx, int32_t pid)
{
	struct rti_cpu_clock clock = { 0 };

	return ctx->platform->cpu_clock && ctx->platform->cpu_clock(pid, &clock) < 0;
}

/* Its fork was heard of, so it belongs here, whatever its parent is by now. Once it has ended, its
 * parent may never wait for it, and then nothing but the zombie tells what it used. The account of
 * one in state X was moved already. */
static void add_new_member(void *arg, int32_t pid, bool has_ended)
{
	struct children_scan *scan = arg;
	struct rti_file file = RTI_FILE_INIT;
	struct rti_pid_stat stat;

	if (rti_member_find(scan->table, pid) || (has_ended && has_left(scan->ctx, pid)) ||
	    is_full(scan->table))
		return;
	if (read_stat(scan->table, scan->ctx, pid, &file, &stat) == 0 &&
	    (stat.state == 'Z' || (!has_ended && stat.state != 'X')))
		rti_member_add(scan->table, scan->ctx, &stat, &file);
	rti_procfs_close_file(scan->ctx->procfs, &file);
}

/* ns_last_pid is asked first, since loadavg may be somebody else's invention (lxcfs). */
uint64_t rti_read_last_pid(struct rti_member_table *table, const struct rti_context *ctx)
{
	struct rti_loadavg loadavg;
	struct rti_scan scan;
	uint64_t pid = 0;

	if (table->last_pid_source != LAST_PID_FROM_LOADAVG &&
	    rti_procfs_read_cached(ctx->procfs, RTI_PROC, "sys/kernel/ns_last_pid",
	                           RTI_SINGLE_RECORD, &table->last_pid_file, ctx->buf) == 0) {
		scan = rti_scan(ctx->buf->data, ctx->buf->len);
		rti_scan_u64(&scan, &pid);
		return pid;
	}
	table->last_pid_source = LAST_PID_FROM_LOADAVG;
	if (rti_procfs_read_cached(ctx->procfs, RTI_PROC, "loadavg", RTI_SINGLE_RECORD,
	                           &table->last_pid_file, ctx->buf) < 0 ||
	    rti_parse_loadavg(ctx->buf->data, ctx->buf->len, &loadavg) < 0)
		return 0;
	return loadavg.last_pid;
}

/* Who counts for us is a moment late, and may be stopped or killed: he is not always believed.
 * 0: not now. */
static uint64_t counted_forks(const struct rti_member_table *table)
{
	if (!table->fork_counts || table->fork_counts->events != RTI_EVENTS_INTACT ||
	    table->scans % TRUSTED_SCANS == 0)
		return 0;
	return table->fork_counts->processes + 1;
}

/* Who has not run since his children were searched for has not forked; nor has anybody where no
 * pid was given away. */
static bool may_have_forked(const struct rti_member_table *table, const struct rti_member *m)
{
	if (table->last_pid && m->scanned_pid == table->last_pid && !m->has_reaped)
		return false;
	return !m->has_clock || m->clock.total_ns != m->scanned_clock_ns;
}

/* Those whom a child that nobody has seen left behind are adopted, without his doing, by someone
 * above who forked it. */
static void mark_for_scan(struct rti_member_table *table, struct rti_member *m)
{
	for (size_t steps = table->count; m && !m->needs_scan && steps > 0; steps--) {
		m->needs_scan = true;
		m = rti_member_find(table, m->stat.ppid);
	}
	if (table->count)
		table->members[0].needs_scan = true;
}

/* A row without figures is spent with this. A stranger has no clock that would say anything of
 * the member. */
static void apply_row_clock(const struct rti_context *ctx, struct rti_member *m)
{
	m->has_clock = rti_member_owns_row(m, ctx->platform->tick_ns);
	if (m->has_clock && !(m->row->has & RTI_BATCH_IDLE)) {
		rti_batch_clock(m->row, &m->clock);
		return;
	}
	if (m->has_clock)
		m->clock.total_ns = m->row->cpu_ns;
	m->row = NULL;
}

static void read_clock(const struct rti_context *ctx, struct rti_member *m)
{
	m->needs_scan = false;
	if (m->row)
		apply_row_clock(ctx, m);
	else
		m->has_clock =
		    ctx->platform->cpu_clock && ctx->platform->cpu_clock(m->pid, &m->clock) == 0;
}

static void read_clocks(struct rti_member_table *table, const struct rti_context *ctx, size_t first)
{
	for (size_t i = first; i < table->count; i++)
		read_clock(ctx, &table->members[i]);
}

static void read_all_clocks(struct rti_member_table *table, const struct rti_context *ctx)
{
	if (ctx->platform->cpu_clock) /* elsewhere pids are not ours */
		rti_batch_reader_read(&table->batch_reader, table->members, table->count);
	read_clocks(table, ctx, 0);
}

/* Those who are found are searched in turn. */
static void scan_marked(struct rti_member_table *table, const struct rti_context *ctx)
{
	for (size_t i = 0; i < table->count; i++) {
		if (may_have_forked(table, &table->members[i]))
			mark_for_scan(table, &table->members[i]);
	}
	for (size_t i = 0; i < table->count; i++) {
		struct rti_member *m = &table->members[i];
		size_t known = table->count;

		if (!m->needs_scan)
			continue;
		m->scanned_pid = table->last_pid;
		m->scanned_clock_ns = m->clock.total_ns;
		if (scan_children_files(table, ctx, m))
			rti_member_force_scan(&table->members[i]);
		read_clocks(table, ctx, known);
		for (; known < table->count; known++)
			table->members[known].needs_scan = true;
	}
}

static void rescan_all(struct rti_member_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		rti_member_force_scan(&table->members[i]);
	table->scanned_pid = 0;
}

static void scan(struct rti_member_table *table, const struct rti_context *ctx)
{
	struct children_scan new_pids = { .table = table, .ctx = ctx };
	bool was_scanned = false;

	table->is_short_of_files = false;
	table->count_before_scan = table->count;
	rti_fork_tracker_take_new(&table->fork_tracker, add_new_member, &new_pids);
	if (!rti_fork_tracker_is_complete(&table->fork_tracker) || !table->was_scanned ||
	    table->has_skipped) {
		if (table->has_skipped)
			rescan_all(table);
		table->has_skipped = false;
		table->skipped = 0;
		table->was_scanned = was_scanned = true;
		table->scans++;
		table->last_pid =
		    counted_forks(table) ? counted_forks(table) : rti_read_last_pid(table, ctx);
		if (!table->has_children_files &&
		    (!table->last_pid || table->scanned_pid != table->last_pid))
			scan_parent_pids(table, ctx);
		table->scanned_pid = table->last_pid;
	}
	read_all_clocks(table, ctx);
	if (was_scanned && table->has_children_files)
		scan_marked(table, ctx);
}

void rti_discover_members(struct rti_member_table *table, const struct rti_context *ctx)
{
	bool is_first = !table->was_scanned;

	if (!table->is_followed || table->count == 0) {
		read_all_clocks(table, ctx);
		return;
	}
	if (!is_first)
		rti_fork_tracker_poll(&table->fork_tracker);
	scan(table, ctx);
	/* Whom those forked who were there before us can be told only once they are known. */
	if (is_first && rti_fork_tracker_is_complete(&table->fork_tracker)) {
		rti_fork_tracker_poll(&table->fork_tracker);
		scan(table, ctx);
	}
	if (table->is_short_of_files && table->files_cached > 0) {
		rti_member_table_drop_files(table, ctx);
		scan(table, ctx);
	}
}
