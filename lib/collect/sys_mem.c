/* SPDX-License-Identifier: MIT */
/* Memory, huge pages and swap space of the system, from /proc/meminfo, and the cache of ZFS (ARC),
 * which meminfo counts as used although it can be taken back. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "collect/collector.h"
#include "parse/scan.h"
#include "util/arith.h"
#include "util/text.h"
#include "util/visit.h"

#define KEY(name) (UINT32_C(1) << RTI_MEM_##name)
#define SWAP_KEYS (KEY(SWAP_TOTAL) | KEY(SWAP_FREE) | KEY(SWAP_CACHED))
#define HUGE_KEYS (KEY(HUGE_PAGES) | KEY(HUGE_PAGES_FREE) | KEY(HUGE_PAGE_SIZE))
#define MEMORY_KEYS (KEY(KEYS) - 1 - SWAP_KEYS - KEY(AVAILABLE) - HUGE_KEYS - KEY(HUGETLB))

#define OF_MEMINFO (RT_HAS_MEMORY | RT_HAS_MEMORY_AVAILABLE | RT_HAS_SWAP | RT_HAS_HUGEPAGES)

#define SIZES "kernel/mm/hugepages" /* has a directory for each size */

#define ARCSTATS "spl/kstat/zfs/arcstats"
#define LOOK_NS UINT64_C(1000000000) /* how often to look whether ZFS has been loaded */

enum domain { MEMORY, AVAILABLE, SWAP, HUGE_PAGES, ARC, DOMAINS };

static const uint64_t bits[DOMAINS] = { RT_HAS_MEMORY, RT_HAS_MEMORY_AVAILABLE, RT_HAS_SWAP,
	                                RT_HAS_HUGEPAGES, RT_HAS_ZFS_ARC };

struct state {
	struct rti_proc_file file, arc_file;
	uint64_t arc_looked_at_ns;
	int error[DOMAINS]; /* of the last sample */
};

static int mem_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	(void)ctx;
	st->file = (struct rti_proc_file)RTI_PROC_FILE_INIT;
	st->arc_file = (struct rti_proc_file)RTI_PROC_FILE_INIT;
	return 0;
}

/* Returns 0 for a key that is missing. */
static uint64_t to_bytes(const struct rti_meminfo *info, enum rti_mem_key key)
{
	return info->has >> key & 1 ? rti_multiply_saturated(info->value[key], 1024) : 0;
}

static void set_bit(struct rt_metrics *out, uint64_t bit, bool is_complete)
{
	if (is_complete)
		out->valid |= bit;
	else
		out->estimated |= bit;
}

/* Emulated kernels and containers omit keys. Their figures are then 0, and what is computed from
 * them is off either way. E.g.: without Cached, the older meaning of used has the page cache. */
static int set_memory(const struct rti_meminfo *info, struct rt_metrics *out)
{
	bool is_complete = (info->has & MEMORY_KEYS) == MEMORY_KEYS;
	uint64_t taken;

	out->memory_total_bytes = to_bytes(info, RTI_MEM_TOTAL);
	out->memory_free_bytes = to_bytes(info, RTI_MEM_FREE);
	out->memory_buffers_bytes = to_bytes(info, RTI_MEM_BUFFERS);
	out->memory_cached_bytes = to_bytes(info, RTI_MEM_CACHED);
	out->memory_slab_reclaimable_bytes = to_bytes(info, RTI_MEM_SLAB_RECLAIMABLE);
	out->memory_slab_unreclaimable_bytes = to_bytes(info, RTI_MEM_SLAB_UNRECLAIMABLE);
	out->memory_cached_slab_bytes =
	    out->memory_cached_bytes + out->memory_slab_reclaimable_bytes;
	out->memory_active_bytes = to_bytes(info, RTI_MEM_ACTIVE);
	out->memory_inactive_bytes = to_bytes(info, RTI_MEM_INACTIVE);
	out->memory_active_anon_bytes = to_bytes(info, RTI_MEM_ACTIVE_ANON);
	out->memory_inactive_anon_bytes = to_bytes(info, RTI_MEM_INACTIVE_ANON);
	out->memory_active_file_bytes = to_bytes(info, RTI_MEM_ACTIVE_FILE);
	out->memory_inactive_file_bytes = to_bytes(info, RTI_MEM_INACTIVE_FILE);
	out->memory_anon_bytes = to_bytes(info, RTI_MEM_ANON_PAGES);
	out->memory_mapped_bytes = to_bytes(info, RTI_MEM_MAPPED);
	out->memory_shmem_bytes = to_bytes(info, RTI_MEM_SHMEM);
	/* lxcfs has the total of the container beside caches of the machine. */
	taken = rti_add_saturated(
	    out->memory_free_bytes,
	    rti_add_saturated(out->memory_buffers_bytes, out->memory_cached_slab_bytes));
	if (taken > out->memory_total_bytes) {
		is_complete = false;
		taken = out->memory_free_bytes;
	}
	out->memory_used_classic_bytes = rti_subtract_saturated(out->memory_total_bytes, taken);
	set_bit(out, RT_HAS_MEMORY, is_complete);
	if (is_complete)
		return 0;
	return (info->has & MEMORY_KEYS) == MEMORY_KEYS ? -EBADMSG : -ENOENT;
}

/* Returns 0 or -errno: -ENOENT if there is no ZFS, as on most systems. */
static int read_arc(struct state *st, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct rti_arcstats arc;
	int err;

	if (st->error[ARC] == -ENOENT && out->monotonic_ns - st->arc_looked_at_ns < LOOK_NS)
		return -ENOENT;
	st->arc_looked_at_ns = out->monotonic_ns;
	err =
	    rti_procfs_read_proc_file(ctx->procfs, ARCSTATS, RTI_SEQ_FILE, &st->arc_file, ctx->buf);
	if (err == 0)
		err = rti_parse_arcstats(ctx->buf->data, ctx->buf->len, &arc);
	if (err < 0)
		return err;
	out->zfs_arc_bytes = arc.size;
	out->zfs_arc_min_bytes = arc.min;
	out->valid |= RT_HAS_ZFS_ARC;
	return 0;
}

/* Returns how much of the total the ARC gives back if memory is short. If lxcfs covers meminfo
 * alone, the total is of the container and the ARC of the machine. */
static uint64_t reclaimable_arc(const struct state *st, const struct rt_metrics *out)
{
	if (st->arc_file.is_in_proc && !st->file.is_in_proc)
		return 0;
	return rti_subtract_saturated(out->zfs_arc_bytes, out->zfs_arc_min_bytes);
}

/* Some containers show 0 instead of omitting the line, so accept 0 only if no memory is free.
 * Others show the figure of the machine, above the total. Then estimate it from what can be
 * reclaimed. The kernel leaves out the ARC. */
static int set_available(const struct state *st, const struct rti_meminfo *info,
                         struct rt_metrics *out)
{
	int arc_error = st->error[ARC] == -ENOENT ? 0 : st->error[ARC];
	uint64_t available = to_bytes(info, RTI_MEM_AVAILABLE);
	bool is_known = info->has & KEY(AVAILABLE) && available <= out->memory_total_bytes &&
	                (available > 0 || out->memory_free_bytes == 0);

	if (!is_known)
		available = out->memory_free_bytes + out->memory_active_file_bytes +
		            out->memory_inactive_file_bytes + out->memory_slab_reclaimable_bytes;
	available = rti_add_saturated(available, reclaimable_arc(st, out));
	if (available > out->memory_total_bytes) {
		available = out->memory_total_bytes;
		is_known = false;
	}
	out->memory_available_bytes = available;
	out->memory_used_bytes = out->memory_total_bytes - available;
	set_bit(out, RT_HAS_MEMORY_AVAILABLE, is_known && !arc_error);
	return is_known ? arc_error : -ENOENT;
}

static int set_swap(const struct rti_meminfo *info, struct rt_metrics *out)
{
	if ((info->has & SWAP_KEYS) != SWAP_KEYS)
		return -ENOENT;
	out->swap_total_bytes = to_bytes(info, RTI_MEM_SWAP_TOTAL);
	/* lxcfs has shown 2^64 - 128 KiB of none. */
	out->swap_free_bytes = rti_min(to_bytes(info, RTI_MEM_SWAP_FREE), out->swap_total_bytes);
	out->swap_cached_bytes = to_bytes(info, RTI_MEM_SWAP_CACHED);
	set_bit(out, RT_HAS_SWAP,
	        info->value[RTI_MEM_SWAP_FREE] <= info->value[RTI_MEM_SWAP_TOTAL]);
	return 0;
}

static bool wants(const struct rti_context *ctx, uint64_t has)
{
	return !ctx->want || ctx->want & has;
}

/* What sysfs has of huge pages. */
struct huge_pages {
	const struct rti_context *ctx;
	unsigned sizes;
	uint64_t total_bytes, free_bytes;
};

/* size is the name of a directory. Returns 0 or -errno. */
static int read_pages(const struct huge_pages *huge, const char *size, const char *file,
                      uint64_t *out)
{
	const struct rti_context *ctx = huge->ctx;
	char path[96];
	struct rti_text text = rti_text(path, sizeof(path));
	struct rti_scan s;
	int err;

	rti_text_add(&text, SIZES "/");
	rti_text_add(&text, size);
	rti_text_add(&text, file);
	err = rti_procfs_read(ctx->procfs, RTI_SYS, path, RTI_ONE_LINE, ctx->buf);
	if (err < 0)
		return err;
	s = rti_scan(ctx->buf->data, ctx->buf->len);
	return rti_scan_u64(&s, out) ? 0 : -EBADMSG;
}

/* E.g.: "hugepages-2048kB". */
static int add_size(void *arg, const char *name)
{
	struct huge_pages *huge = arg;
	struct rti_scan s = rti_scan(name, strlen(name));
	uint64_t kib, total, free, bytes;
	int err;

	if (!rti_scan_literal(&s, "hugepages-") || !rti_scan_u64(&s, &kib))
		return RTI_CONTINUE;
	err = read_pages(huge, name, "/nr_hugepages", &total);
	if (err == 0)
		err = read_pages(huge, name, "/free_hugepages", &free);
	if (err < 0)
		return err;
	bytes = rti_multiply_saturated(kib, 1024);
	huge->sizes++;
	huge->total_bytes =
	    rti_add_saturated(huge->total_bytes, rti_multiply_saturated(total, bytes));
	huge->free_bytes = rti_add_saturated(huge->free_bytes, rti_multiply_saturated(free, bytes));
	return RTI_CONTINUE;
}

/* Meminfo numbers the pages of the default size alone. Hugetlb, since Linux 4.16, is the total of
 * all sizes: if it is no more than those, there are no others, which saves the reads. */
static int set_huge_pages(const struct rti_context *ctx, const struct rti_meminfo *info,
                          struct rt_metrics *out)
{
	uint64_t page = to_bytes(info, RTI_MEM_HUGE_PAGE_SIZE);
	uint64_t total = rti_multiply_saturated(info->value[RTI_MEM_HUGE_PAGES], page);
	uint64_t free = rti_multiply_saturated(info->value[RTI_MEM_HUGE_PAGES_FREE], page);
	uint64_t all = to_bytes(info, RTI_MEM_HUGETLB);
	struct huge_pages huge = { .ctx = ctx };
	int err = 0;

	if ((info->has & HUGE_KEYS) != HUGE_KEYS)
		return -ENOENT;
	if (!(info->has & KEY(HUGETLB)) || all != total) {
		err = rti_procfs_list(ctx->procfs, RTI_SYS, SIZES, add_size, &huge);
		if (err == 0 && huge.sizes == 0)
			err = -ENOENT;
		total = err == 0 ? huge.total_bytes : rti_max(total, all);
		free = err == 0 ? huge.free_bytes : free;
	}
	out->hugepages_total_bytes = total;
	/* The two are read one after the other. */
	out->hugepages_free_bytes = rti_min(free, total);
	if (err == 0)
		out->valid |= RT_HAS_HUGEPAGES;
	else
		out->partial |= RT_HAS_HUGEPAGES;
	return err;
}

static int read_meminfo(struct state *st, const struct rti_context *ctx, struct rti_meminfo *info)
{
	int err = rti_procfs_read_proc_file(ctx->procfs, "meminfo", RTI_SINGLE_RECORD, &st->file,
	                                    ctx->buf);

	return err < 0 ? err : rti_parse_meminfo(ctx->buf->data, ctx->buf->len, info);
}

static int mem_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	struct rti_meminfo info;
	bool is_wanted = wants(ctx, OF_MEMINFO);
	int err = is_wanted ? read_meminfo(st, ctx, &info) : 0;

	for (int i = 0; i < ARC; i++)
		st->error[i] = err;
	if (wants(ctx, RT_HAS_ZFS_ARC | RT_HAS_MEMORY_AVAILABLE))
		st->error[ARC] = read_arc(st, ctx, out);
	if (err == 0 && is_wanted) {
		st->error[MEMORY] = set_memory(&info, out);
		st->error[AVAILABLE] = set_available(st, &info, out);
		st->error[SWAP] = set_swap(&info, out);
	}
	if (err == 0 && wants(ctx, RT_HAS_HUGEPAGES))
		st->error[HUGE_PAGES] = set_huge_pages(ctx, &info, out);
	err = 0;
	for (int i = 0; i < DOMAINS && err == 0; i++)
		err = st->error[i];
	return err;
}

static int mem_error_of(const void *state, uint64_t has)
{
	const struct state *st = state;
	int i = MEMORY;

	while (i < DOMAINS - 1 && bits[i] != has)
		i++;
	return st->error[i];
}

static void mem_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->file.file);
	rti_procfs_close_file(ctx->procfs, &st->arc_file.file);
}

const struct rti_sys_collector rti_sys_mem = {
	.provides = OF_MEMINFO | RT_HAS_ZFS_ARC,
	.files = { "meminfo", ARCSTATS },
	.read_for = { OF_MEMINFO, RT_HAS_ZFS_ARC | RT_HAS_MEMORY_AVAILABLE },
	.state_size = sizeof(struct state),
	.open = mem_open,
	.collect = mem_collect,
	.close = mem_close,
	.error_of = mem_error_of,
};
