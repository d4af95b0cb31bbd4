/* SPDX-License-Identifier: MIT */
/* Memory and swap space of the system, from /proc/meminfo. */
#include <errno.h>
#include <stdbool.h>

#include "collect/collector.h"
#include "util/arith.h"

#define KEY(name) (UINT32_C(1) << RTI_MEM_##name)
#define SWAP_KEYS (KEY(SWAP_TOTAL) | KEY(SWAP_FREE) | KEY(SWAP_CACHED))
#define MEMORY_KEYS (KEY(KEYS) - 1 - SWAP_KEYS - KEY(AVAILABLE))

struct state {
	struct rti_proc_file file;
};

static int mem_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	(void)ctx;
	st->file = (struct rti_proc_file)RTI_PROC_FILE_INIT;
	return 0;
}

/* Returns 0 for a key that is missing. */
static uint64_t to_bytes(const struct rti_meminfo *info, enum rti_mem_key key)
{
	return info->has >> key & 1 ? info->kib[key] * 1024 : 0;
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

/* Some containers show 0 instead of omitting the line, so accept 0 only if no memory is free.
 * Others show the figure of the machine, above the total. Then estimate it from what can be
 * reclaimed. */
static int set_available(const struct rti_meminfo *info, struct rt_metrics *out)
{
	uint64_t available = to_bytes(info, RTI_MEM_AVAILABLE);
	bool is_known = info->has & KEY(AVAILABLE) && available <= out->memory_total_bytes &&
	                (available > 0 || out->memory_free_bytes == 0);

	if (!is_known)
		available = out->memory_free_bytes + out->memory_active_file_bytes +
		            out->memory_inactive_file_bytes + out->memory_slab_reclaimable_bytes;
	if (available > out->memory_total_bytes)
		available = out->memory_total_bytes;
	out->memory_available_bytes = available;
	out->memory_used_bytes = out->memory_total_bytes - available;
	set_bit(out, RT_HAS_MEMORY_AVAILABLE, is_known);
	return is_known ? 0 : -ENOENT;
}

static int set_swap(const struct rti_meminfo *info, struct rt_metrics *out)
{
	if ((info->has & SWAP_KEYS) != SWAP_KEYS)
		return -ENOENT;
	out->swap_total_bytes = to_bytes(info, RTI_MEM_SWAP_TOTAL);
	/* lxcfs has shown 2^64 - 128 KiB of none. */
	out->swap_free_bytes = rti_min(to_bytes(info, RTI_MEM_SWAP_FREE), out->swap_total_bytes);
	out->swap_cached_bytes = to_bytes(info, RTI_MEM_SWAP_CACHED);
	set_bit(out, RT_HAS_SWAP, info->kib[RTI_MEM_SWAP_FREE] <= info->kib[RTI_MEM_SWAP_TOTAL]);
	return 0;
}

static int mem_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	struct rti_meminfo info;
	int err = rti_procfs_read_proc_file(ctx->procfs, "meminfo", RTI_SINGLE_RECORD, &st->file,
	                                    ctx->buf);
	int result[3];

	if (err == 0)
		err = rti_parse_meminfo(ctx->buf->data, ctx->buf->len, &info);
	if (err < 0)
		return err;
	result[0] = set_memory(&info, out);
	result[1] = set_available(&info, out);
	result[2] = set_swap(&info, out);
	return result[0] ? result[0] : result[1] ? result[1] : result[2];
}

static void mem_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->file.file);
}

const struct rti_sys_collector rti_sys_mem = {
	.provides = RT_HAS_MEMORY | RT_HAS_MEMORY_AVAILABLE | RT_HAS_SWAP,
	.files = { "meminfo" },
	.state_size = sizeof(struct state),
	.open = mem_open,
	.collect = mem_collect,
	.close = mem_close,
};
