/* SPDX-License-Identifier: MIT */
/* Who belongs to a tree: taking members in, knowing them again, seeing them leave. */
#include "tree/member_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/pid_file.h"
#include "os/procfs_path.h"

#define FILES_PER_MEMBER 4 /* kept per member: stat, statm, io, children */
#define LOOKS_MAX 8

static size_t slot_of(const struct rti_member_table *table, int32_t pid)
{
	size_t mask = table->slot_count - 1, slot = ((uint32_t)pid * 2654435761u) & mask;

	while (table->slots[slot] && table->members[table->slots[slot] - 1].pid != pid)
		slot = (slot + 1) & mask;
	return slot;
}

static void index_members(struct rti_member_table *table)
{
	memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
	for (size_t i = 0; i < table->count; i++)
		table->slots[slot_of(table, table->members[i].pid)] = (uint32_t)i + 1;
}

struct rti_member *rti_member_find(const struct rti_member_table *table, int32_t pid)
{
	uint32_t index = table->slots[slot_of(table, pid)];

	return index ? &table->members[index - 1] : NULL;
}

/* Room for one more member, with a hash at most half full. */
static int reserve(struct rti_member_table *table)
{
	size_t cap = table->cap ? table->cap * 2 : 16;
	struct rti_member *members;
	uint32_t *slots;

	if (table->count < table->cap)
		return 0;
	if (table->count >= RTI_MEMBERS_MAX)
		return -ENOSPC;
	members = realloc(table->members, cap * sizeof(*members));
	if (!members)
		return -ENOMEM;
	table->members = members;
	slots = realloc(table->slots, 2 * cap * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	table->slots = slots;
	table->slot_count = 2 * cap;
	table->cap = cap;
	index_members(table);
	return 0;
}

static bool has_clock(const struct rti_context *ctx, int32_t pid)
{
	struct rti_cpu_clock clock = { 0 };

	return ctx->platform->cpu_clock && ctx->platform->cpu_clock(pid, &clock) == 0;
}

/* /proc may hide what is not ours (hidepid), while the CPU clock of a process answers anybody. A
 * process that is just being reaped leaves /proc a moment before its clock goes: it takes a
 * clock that stays to tell the two apart. */
static bool is_hidden(const struct rti_context *ctx, int32_t pid)
{
	return has_clock(ctx, pid) &&
	       rti_procfs_access(ctx->procfs, RTI_PROC, rti_pid_path(pid, "stat").text) ==
	           -ENOENT &&
	       has_clock(ctx, pid);
}

/* What was read, or why it was not. A kept file of a process that has gone may be empty. */
static int parse_or_explain(const struct rti_context *ctx, int32_t pid, int err,
                            struct rti_pid_stat *out)
{
	if (err == 0)
		err =
		    ctx->buf->len ? rti_parse_pid_stat(ctx->buf->data, ctx->buf->len, out) : -ESRCH;
	if (err == -ENOENT || err == -ESRCH)
		err = is_hidden(ctx, pid) ? -EACCES : -ESRCH;
	return err;
}

int rti_read_pid_stat(const struct rti_context *ctx, int32_t pid, struct rti_file *cached,
                      struct rti_pid_stat *out)
{
	return parse_or_explain(ctx, pid, rti_pid_file_read(ctx, pid, "stat", cached), out);
}

/* An unknown start time proves nothing; a different one proves a stranger. A parent that turned
 * into 0 belongs to a process whose account was moved already and that the kernel is just
 * letting go of: the rest of such a line is 0 as well. */
static bool is_same(const struct rti_member *m, const struct rti_pid_stat *stat)
{
	if (stat->ppid == 0 && m->stat.ppid != 0)
		return false;
	return !stat->has_starttime || !m->stat.has_starttime || stat->starttime == m->starttime;
}

void rti_member_force_scan(struct rti_member *m)
{
	m->scanned_pid = 0;
	m->scanned_clock_ns = UINT64_MAX;
}

/* A thread that was not known of when children were searched for may have some; those of one
 * that has ended since may have gone to another that had been looked at before. */
static void check_thread_count(struct rti_member *m)
{
	if (m->scanned_threads && m->stat.num_threads != m->scanned_threads)
		rti_member_force_scan(m);
}

int rti_member_read_stat(struct rti_member_table *table, const struct rti_context *ctx,
                         struct rti_member *m)
{
	struct rti_file *cached = rti_member_reserve_files(table, ctx, m) ? &m->stat_file : NULL;
	struct rti_pid_stat stat;
	int err = rti_read_pid_stat(ctx, m->pid, cached, &stat);

	if (err < 0)
		return err;
	if (!is_same(m, &stat))
		return -ESRCH;
	m->stat = stat;
	check_thread_count(m);
	return 0;
}

/* Start times of /proc are in whole ticks. */
bool rti_member_owns_row(const struct rti_member *m, uint64_t tick_ns)
{
	return !m->stat.has_starttime || m->row->start_ns - m->starttime * tick_ns < tick_ns;
}

void rti_member_apply_row(struct rti_member *m, uint64_t tick_ns)
{
	rti_batch_stat(m->row, tick_ns, &m->stat);
	check_thread_count(m);
}

bool rti_member_is_zombie(const struct rti_member *m)
{
	return (m->stat.state == 'Z' || m->stat.state == 'X') && m->stat.num_threads <= 1;
}

/* A kept file that can be read is that of the same process, and statm is the one that costs
 * least. Who has ended has no memory. */
bool rti_member_has_live_files(const struct rti_context *ctx, struct rti_member *m)
{
	return rti_procfs_read_if_open(ctx->procfs, RTI_SINGLE_RECORD, &m->statm, ctx->buf) == 0 &&
	       ctx->buf->len > 0 && ctx->buf->data[0] != '0';
}

bool rti_member_is_alive(const struct rti_context *ctx, struct rti_member *m)
{
	struct rti_pid_stat stat;
	int err;

	if (rti_member_has_live_files(ctx, m))
		return true;
	err = rti_read_pid_stat(ctx, m->pid, NULL, &stat);
	return err == 0 ? is_same(m, &stat) : err != -ESRCH;
}

/* Someone may be missing from the tree because of this error. */
void rti_member_table_note_skipped(struct rti_member_table *table, int err)
{
	table->has_skipped = true;
	if (err == -EMFILE || err == -ENFILE)
		table->is_short_of_files = true;
}

int rti_member_add(struct rti_member_table *table, const struct rti_context *ctx,
                   const struct rti_pid_stat *stat, struct rti_file *file)
{
	struct rti_member *m;
	int err = reserve(table);

	if (err < 0) {
		table->skipped++;
		rti_member_table_note_skipped(table, err);
		return err;
	}
	m = &table->members[table->count];
	*m = (struct rti_member){
		.pid = stat->pid,
		.starttime = stat->starttime,
		.previous_ppid = stat->ppid,
		.stat = *stat,
		.scanned_clock_ns = UINT64_MAX,
		.stat_file = RTI_FILE_INIT,
		.statm = RTI_FILE_INIT,
		.io = RTI_FILE_INIT,
		.children_file = RTI_FILE_INIT,
	};
	table->slots[slot_of(table, stat->pid)] = (uint32_t)++table->count;
	table->members_seen++;
	rti_fork_tracker_add(&table->fork_tracker, stat->pid);
	if (file && rti_member_reserve_files(table, ctx, m)) {
		m->stat_file = *file;
		file->fd = -1;
	}
	return 0;
}

/* /proc answers for thread ids too; a tracker follows whole processes. */
bool rti_is_group_leader(const struct rti_context *ctx, const struct rti_pid_stat *stat)
{
	struct rti_pid_status status;
	int err;

	if (stat->has_signals)
		return stat->exit_signal >= 0;
	err = rti_pid_file_read(ctx, stat->pid, "status", NULL);
	if (err == 0)
		err = rti_parse_pid_status(ctx->buf->data, ctx->buf->len, &status);
	return err < 0 || !(status.has & RTI_STATUS_TGID) || status.tgid == stat->pid;
}

int rti_member_table_init(struct rti_member_table *table, const struct rti_context *ctx,
                          int32_t pid, bool is_followed, uint32_t files_max)
{
	struct rti_path children = rti_task_path(pid, pid, "children");
	struct rti_pid_stat stat;
	int err;

	*table = (struct rti_member_table){ .is_followed = is_followed,
		                            .files_max = files_max,
		                            .fork_tracker = RTI_FORK_TRACKER_INIT,
		                            .last_pid_file = RTI_FILE_INIT };
	if (ctx->flags & RT_OPT_PROCESS_EVENTS && is_followed && !ctx->procfs->is_foreign)
		/* where that cannot be had, members are searched for */
		rti_fork_tracker_subscribe(&table->fork_tracker);
	rti_fork_tracker_set_root(&table->fork_tracker, pid);
	table->has_children_files = rti_procfs_access(ctx->procfs, RTI_PROC, children.text) == 0;
	err = rti_read_pid_stat(ctx, pid, NULL, &stat);
	if (err == 0 && !rti_is_group_leader(ctx, &stat))
		err = -ESRCH;
	if (err == 0)
		err = rti_member_add(table, ctx, &stat, NULL);
	if (err < 0)
		rti_member_table_free(table, ctx);
	return err;
}

static void close_files(const struct rti_context *ctx, struct rti_member *m)
{
	rti_procfs_close_file(ctx->procfs, &m->stat_file);
	rti_procfs_close_file(ctx->procfs, &m->statm);
	rti_procfs_close_file(ctx->procfs, &m->io);
	rti_procfs_close_file(ctx->procfs, &m->children_file);
}

void rti_member_table_free(struct rti_member_table *table, const struct rti_context *ctx)
{
	for (size_t i = 0; i < table->count; i++)
		close_files(ctx, &table->members[i]);
	free(table->members);
	free(table->slots);
	free(table->candidates);
	rti_buf_free(&table->children);
	rti_procfs_close_file(ctx->procfs, &table->last_pid_file);
	rti_fork_tracker_close(&table->fork_tracker);
	rti_batch_reader_free(&table->batch_reader);
	*table = (struct rti_member_table){ 0 };
}

static uint32_t count_open(const struct rti_member *m)
{
	return (uint32_t)(m->stat_file.fd >= 0) + (uint32_t)(m->statm.fd >= 0) +
	       (uint32_t)(m->io.fd >= 0) + (uint32_t)(m->children_file.fd >= 0);
}

/* Somebody who was not read in this sample, nor in the one before. Only a few are looked at, for
 * the search must not cost more than opening the files does. */
static bool evict_files(struct rti_member_table *table, const struct rti_context *ctx)
{
	for (int looks = 0; looks < LOOKS_MAX && table->count > 0; looks++) {
		struct rti_member *m = &table->members[table->evict_next++ % table->count];
		uint32_t open = count_open(m);

		if (open == 0 || m->files_used_at + 1 >= table->samples)
			continue;
		close_files(ctx, m);
		table->files_cached -= FILES_PER_MEMBER;
		return true;
	}
	return false;
}

bool rti_member_reserve_files(struct rti_member_table *table, const struct rti_context *ctx,
                              struct rti_member *m)
{
	m->files_used_at = table->samples;
	if (count_open(m) > 0)
		return true;
	if (table->files_cached + FILES_PER_MEMBER > table->files_max && !evict_files(table, ctx))
		return false;
	if (table->files_cached + FILES_PER_MEMBER > table->files_max)
		return false;
	table->files_cached += FILES_PER_MEMBER;
	table->has_reserved = true;
	return true;
}

/* Room stays reserved for all of the files of a member that has one open. */
void rti_member_table_count_files(struct rti_member_table *table)
{
	if (!table->has_reserved)
		return;
	table->has_reserved = false;
	table->files_cached = 0;
	for (size_t i = 0; i < table->count; i++)
		table->files_cached += count_open(&table->members[i]) ? FILES_PER_MEMBER : 0;
}

void rti_member_table_drop_files(struct rti_member_table *table, const struct rti_context *ctx)
{
	for (size_t i = 0; i < table->count; i++)
		close_files(ctx, &table->members[i]);
	/* Half of those that there were: more cannot be had now. */
	table->files_max =
	    (table->files_cached < table->files_max ? table->files_cached : table->files_max) / 2;
	table->files_cached = 0;
}

bool rti_member_table_remove_exited(struct rti_member_table *table, const struct rti_context *ctx)
{
	size_t cached = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (table->members[i].has_exited)
			close_files(ctx, &table->members[i]);
		else if (cached++ != i)
			table->members[cached - 1] = table->members[i];
	}
	if (cached == table->count)
		return false;
	table->count = cached;
	table->has_reserved = true;
	index_members(table);
	return true;
}
