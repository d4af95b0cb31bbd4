/* SPDX-License-Identifier: MIT */
/* The members of a tree by pid, and their cached descriptors. */
#include "tree/member/member_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/batch/loader.h"
#include "collect/pid_stat.h"
#include "tree/pure/strategy.h"

#define FIRST_CAPACITY 16
/* From here on the array doubles. The C library has arrays as large as that in mappings of their
 * own. Smaller ones would leave holes of 200 KiB in the heap. */
#define LARGE_CAPACITY 128
/* More would cost more than opening the file does. */
#define EVICTION_LOOKS (RTI_OPEN_NS / RTI_LOOK_NS)

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

/* Grow the array, with a hash that is at most half full. */
static int grow(struct rti_member_table *table, size_t capacity)
{
	uint32_t *slots = calloc(2 * capacity, sizeof(*slots));
	void *members = NULL;

	/* In whole cache lines, so that the hot part of each takes up two of them. */
	if (!slots || posix_memalign(&members, 64, capacity * sizeof(struct rti_member)) != 0) {
		free(slots);
		return -ENOMEM;
	}
	if (table->count)
		memcpy(members, table->members, table->count * sizeof(*table->members));
	free(table->members);
	free(table->slots);
	table->members = members;
	table->slots = slots;
	table->slot_count = 2 * capacity;
	table->capacity = capacity;
	index_members(table);
	return 0;
}

int rti_member_table_init(struct rti_member_table *table, uint32_t files_max)
{
	*table = (struct rti_member_table){ .files_max = files_max };
	return grow(table, FIRST_CAPACITY);
}

static void close_seldom_files(const struct rti_context *ctx, struct rti_member *m)
{
	rti_procfs_close_file(ctx->procfs, &m->files.status);
	rti_procfs_close_file(ctx->procfs, &m->files.schedstat);
}

static void close_files(const struct rti_context *ctx, struct rti_member *m)
{
	rti_procfs_close_file(ctx->procfs, &m->files.stat);
	rti_procfs_close_file(ctx->procfs, &m->files.statm);
	rti_procfs_close_file(ctx->procfs, &m->files.io);
	rti_procfs_close_file(ctx->procfs, &m->files.children);
	close_seldom_files(ctx, m);
	rti_member_free_image(m);
}

void rti_member_free_image(struct rti_member *m)
{
	if (!m->pss.image)
		return;
	rti_image_free(m->pss.image);
	free(m->pss.image);
	m->pss.image = NULL;
}

void rti_member_table_free(struct rti_member_table *table, const struct rti_context *ctx)
{
	for (size_t i = 0; i < table->count; i++)
		close_files(ctx, &table->members[i]);
	free(table->members);
	free(table->slots);
	*table = (struct rti_member_table){ 0 };
}

int rti_member_table_add_take(struct rti_member_table *table, const struct rti_context *ctx,
                              const struct rti_pid_stat *stat, struct rti_file *file)
{
	struct rti_member *m;
	int err = 0;

	if (table->count == table->capacity)
		err = grow(table,
		           table->capacity < LARGE_CAPACITY ? LARGE_CAPACITY : 2 * table->capacity);
	if (err < 0)
		return err;
	m = &table->members[table->count];
	*m = (struct rti_member){
		.pid = stat->pid,
		.has_starttime = stat->has_starttime,
		.starttime = stat->starttime,
		.scan.clock_ns = UINT64_MAX,
		.memory = { .look.is_forked = stat->flags & RTI_PF_FORKNOEXEC,
		            .look.stack = stat->stack,
		            .program = -1 },
		.family.ppid = stat->ppid,
		.former.ppid = stat->ppid,
		.files = { RTI_FILE_INIT, RTI_FILE_INIT, RTI_FILE_INIT, RTI_FILE_INIT,
		           RTI_FILE_INIT, RTI_FILE_INIT, 0 },
		.stat = *stat,
	};
	table->slots[slot_of(table, stat->pid)] = (uint32_t)++table->count;
	table->added++;
	if (file && rti_member_reserve_file(table, ctx, m, &m->files.stat)) {
		m->files.stat = *file;
		file->fd = -1;
	}
	return 0;
}

/* There is room for one. */
void rti_member_table_replace_all(struct rti_member_table *table, const struct rti_context *ctx,
                                  const struct rti_pid_stat *stat)
{
	for (size_t i = 0; i < table->count; i++)
		close_files(ctx, &table->members[i]);
	table->count = 0;
	table->added = 0;
	table->files_cached = 0;
	memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
	rti_member_table_add_take(table, ctx, stat, NULL);
}

int rti_member_read_stat(struct rti_member_table *table, const struct rti_context *ctx,
                         struct rti_member *m)
{
	bool is_cached = rti_member_reserve_file(table, ctx, m, &m->files.stat);
	struct rti_pid_stat stat;
	int err = rti_pid_stat_read(ctx, m->pid, is_cached ? &m->files.stat : NULL, &stat);

	if (err < 0)
		return err;
	if (!rti_pid_stat_is_same(&m->stat, &stat))
		return -ESRCH;
	m->stat = stat;
	return 0;
}

void rti_member_apply_row(struct rti_member *m, uint64_t tick_ns)
{
	rti_batch_stat(m->clock.row, tick_ns, &m->stat);
}

/* A cached descriptor that can be read still belongs to the same process, and statm costs least. A
 * process that has exited has no memory. */
bool rti_member_has_live_files(const struct rti_context *ctx, struct rti_member *m)
{
	return rti_procfs_read_if_open(ctx->procfs, RTI_ONE_LINE, &m->files.statm, ctx->buf) == 0 &&
	       ctx->buf->len > 0 && ctx->buf->data[0] != '0';
}

int rti_member_check(const struct rti_context *ctx, struct rti_member *m)
{
	struct rti_file *cached = m->files.stat.fd >= 0 ? &m->files.stat : NULL;
	struct rti_pid_stat stat;
	int err;

	if (rti_member_has_live_files(ctx, m))
		return 0;
	err = rti_pid_stat_read(ctx, m->pid, cached, &stat);
	return err == 0 && !rti_pid_stat_is_same(&m->stat, &stat) ? -ESRCH : err;
}

bool rti_member_is_alive(const struct rti_context *ctx, struct rti_member *m)
{
	return rti_member_check(ctx, m) != -ESRCH;
}

void rti_member_table_look_anew(struct rti_member_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		table->members[i].read.idle_until_ns = 0;
}

void rti_member_table_begin_sample(struct rti_member_table *table)
{
	table->samples++;
	table->evict_looks = table->count;
}

static uint32_t count_open_seldom(const struct rti_member *m)
{
	return (uint32_t)(m->files.status.fd >= 0) + (uint32_t)(m->files.schedstat.fd >= 0);
}

static uint32_t count_open(const struct rti_member *m)
{
	return (uint32_t)(m->files.stat.fd >= 0) + (uint32_t)(m->files.statm.fd >= 0) +
	       (uint32_t)(m->files.io.fd >= 0) + (uint32_t)(m->files.children.fd >= 0) +
	       count_open_seldom(m);
}

/* Close the descriptors of a member that was read neither in this sample nor in the one before, or
 * else its files that are read seldom. Looks at a few members only, and at each of them once in a
 * sample: where all run, none of them can give up any. Returns whether there was one. */
static bool evict_files(struct rti_member_table *table, const struct rti_context *ctx)
{
	for (unsigned looks = 0; looks < EVICTION_LOOKS && table->evict_looks > 0; looks++) {
		struct rti_member *m = &table->members[table->evict_next++ % table->count];
		bool is_unused = m->files.used_at + 1 < table->samples;
		uint32_t had = is_unused ? count_open(m) : count_open_seldom(m);

		table->evict_looks--;
		if (had == 0)
			continue;
		table->files_cached -= had;
		if (is_unused)
			close_files(ctx, m);
		else
			close_seldom_files(ctx, m);
		return true;
	}
	return false;
}

bool rti_member_reserve_file(struct rti_member_table *table, const struct rti_context *ctx,
                             struct rti_member *m, const struct rti_file *file)
{
	m->files.used_at = table->samples;
	if (file->fd >= 0)
		return true;
	if (table->files_cached >= table->files_max && !evict_files(table, ctx))
		return false;
	table->files_cached++;
	table->needs_file_count = true;
	return true;
}

bool rti_member_reserve_seldom_file(struct rti_member_table *table, const struct rti_context *ctx,
                                    struct rti_member *m, const struct rti_file *file)
{
	const struct rti_strategy *strategy = &rti_strategies[RTI_KEEP_SELDOM_FILES];

	return (file->fd >= 0 ||
	        rti_pays(strategy, table->count, table->files_max, table->count)) &&
	       rti_member_reserve_file(table, ctx, m, file);
}

void rti_member_table_count_files(struct rti_member_table *table)
{
	if (!table->needs_file_count)
		return;
	table->needs_file_count = false;
	table->files_cached = 0;
	for (size_t i = 0; i < table->count; i++)
		table->files_cached += count_open(&table->members[i]);
}

/* The new limit is half of what there was, since more cannot be had now. */
void rti_member_table_drop_files(struct rti_member_table *table, const struct rti_context *ctx)
{
	uint32_t had =
	    table->files_cached < table->files_max ? table->files_cached : table->files_max;

	for (size_t i = 0; i < table->count; i++)
		close_files(ctx, &table->members[i]);
	table->files_max = had / 2;
	table->files_cached = 0;
}

bool rti_member_table_remove_exited(struct rti_member_table *table, const struct rti_context *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (table->members[i].end.has_exited)
			close_files(ctx, &table->members[i]);
		else if (kept++ != i)
			table->members[kept - 1] = table->members[i];
	}
	if (kept == table->count)
		return false;
	table->count = kept;
	table->needs_file_count = true;
	index_members(table);
	return true;
}
