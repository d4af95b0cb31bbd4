/* SPDX-License-Identifier: MIT */
/* The CPU clocks of members: by one batch read, or one system call for each. */
#include "tree/scan/clock_read.h"

#define CACHE_LINE 64
#define AHEAD 2 /* members, while the kernel reads the clock of one */

/* Begin to fetch the hot part of a member that is read soon. Members are so far apart that the
 * processor does not do so by itself. */
static void fetch_hot_part(const struct rti_member *m)
{
	for (size_t at = 0; at < RTI_MEMBER_HOT_MAX; at += CACHE_LINE)
		__builtin_prefetch((const char *)m + at, 1);
}

void rti_read_clock(const struct rti_context *ctx, struct rti_member *m)
{
	const struct rti_platform *platform = ctx->platform;

	m->clock.row = NULL;
	m->clock.is_known = platform->cpu_clock && platform->cpu_clock(m->pid, &m->clock.now) == 0;
}

/* A read that fails leaves clock.now as it was. If the first member's was ever read, this system
 * has clocks, so that a failure means that the process is gone. */
bool rti_clock_shows_exit(const struct rti_member_table *table, const struct rti_context *ctx,
                          struct rti_member *m)
{
	rti_read_clock(ctx, m);
	if (!m->clock.is_known)
		return table->members[0].clock.now.total_ns > 0;
	return m->clock.now.total_ns < m->read.clock_ns;
}

void rti_read_clocks_from(struct rti_member_table *table, const struct rti_context *ctx,
                          size_t first)
{
	for (size_t i = first; i < table->count; i++)
		rti_read_clock(ctx, &table->members[i]);
}

/* Take the CPU clock from a row, or read it if that is NULL. clock.row is set only if the row has
 * figures: not if it only says that the member is idle, nor if another process has the pid by
 * now. */
static void take_clock(const struct rti_context *ctx, struct rti_member *m,
                       const struct rti_batch_row *row)
{
	const uint64_t tick_ns = ctx->platform->tick_ns;

	if (!row) {
		rti_read_clock(ctx, m);
		return;
	}
	m->clock.row = NULL;
	/* A start time in clock ticks, as /proc has it, is at most a tick before the exact one. An
	 * unknown one proves nothing. */
	m->clock.is_known = !m->has_starttime || row->start_ns - m->starttime * tick_ns < tick_ns;
	if (!m->clock.is_known)
		return;
	m->clock.now.total_ns = row->cpu_ns;
	if (row->has & RTI_BATCH_IDLE)
		return;
	rti_batch_clock(row, &m->clock.now);
	m->clock.row = row;
}

void rti_read_clocks_of(struct rti_tree *tree, const struct rti_index_set *set, rti_batch_ask *ask)
{
	struct rti_batch_reader *reader = &tree->batch_reader;
	struct rti_member *members = tree->table.members;
	bool has_rows = rti_batch_reader_read_some(reader, members, set, ask, tree);
	size_t k = 0;

	for (size_t i = SIZE_MAX; (i = rti_index_set_previous(set, i)) != SIZE_MAX; k++) {
		const struct rti_batch_row *row =
		    has_rows ? rti_batch_reader_row_at(reader, k) : NULL;

		take_clock(tree->ctx, &members[i], row);
		if (!row) /* a clock does not show whether RSS is as it was */
			members[i].read.idle_until_ns = 0;
	}
}

void rti_read_clocks(struct rti_tree *tree, rti_batch_ask *ask)
{
	const struct rti_platform *platform = tree->ctx->platform;
	const struct rti_watched *w = &tree->watched;
	struct rti_batch_reader *reader = &tree->batch_reader;
	struct rti_member *members = tree->table.members;
	size_t count = tree->table.count;
	/* What this costs may decide whether the tree is watched. */
	bool is_measured = !w->watch && !w->is_unavailable && count >= w->choice.open->members_min;
	bool has_rows = false, had_reader = reader->batch != NULL;
	uint64_t before_ns = is_measured ? platform->thread_cpu_ns() : 0;

	if (platform->cpu_clock) /* else the pids are not ours */
		has_rows = rti_batch_reader_read(reader, members, count, ask, tree);
	/* Rows have said whether RSS is as it was, and there are none from now on. */
	if (had_reader && !has_rows)
		rti_member_table_look_anew(&tree->table);
	for (size_t i = 0; i < count; i++) {
		if (i + AHEAD < count)
			fetch_hot_part(&members[i + AHEAD]);
		take_clock(tree->ctx, &members[i],
		           has_rows ? rti_batch_reader_row_at(reader, count - 1 - i) : NULL);
	}
	if (is_measured)
		tree->clocks_ns = platform->thread_cpu_ns() - before_ns;
}
