/* SPDX-License-Identifier: MIT */
/* Parsers of the files of a cgroup that say what it may use, and how that limited it. */
#include "parse/cgroup_stat.h"

#include <errno.h>
#include <stdbool.h>

#include "parse/scan.h"
#include "util/arith.h"
#include "util/visit.h"

/* v1 has no word for "no limit" of memory, but the largest number of bytes in whole pages. */
#define NO_LIMIT_OF_V1 (UINT64_C(1) << 62)

enum { PERIODS, THROTTLED, THROTTLED_US, THROTTLED_NS, THROTTLE_KEYS };

static const struct rti_scan_key throttle_keys[THROTTLE_KEYS] = {
	[PERIODS] = RTI_SCAN_KEY("nr_periods "),
	[THROTTLED] = RTI_SCAN_KEY("nr_throttled "),
	[THROTTLED_US] = RTI_SCAN_KEY("throttled_usec "),
	[THROTTLED_NS] = RTI_SCAN_KEY("throttled_time "),
};

static bool has_bit(uint32_t has, unsigned bit)
{
	return has >> bit & 1;
}

/* Take the numbers of all lines. Those that are missing are 0. */
static uint32_t take_numbers(const char *data, size_t len, const struct rti_scan_key *keys,
                             unsigned count, uint64_t *value)
{
	struct rti_scan s = rti_scan(data, len);
	struct rti_scan_numbers numbers = { .keys = keys, .count = count, .value = value };

	for (unsigned i = 0; i < count; i++)
		value[i] = 0;
	while (rti_scan_keyed_line(&s, &numbers))
		;
	return numbers.has;
}

int rti_parse_cgroup_throttle(const char *data, size_t len, struct rti_cgroup_throttle *out)
{
	uint64_t value[THROTTLE_KEYS];
	uint32_t has = take_numbers(data, len, throttle_keys, THROTTLE_KEYS, value);

	if (!has_bit(has, PERIODS) || !has_bit(has, THROTTLED) ||
	    (!has_bit(has, THROTTLED_US) && !has_bit(has, THROTTLED_NS)))
		return -EBADMSG;
	*out = (struct rti_cgroup_throttle){
		.periods = value[PERIODS],
		.throttled_periods = value[THROTTLED],
		.throttled_ns = has_bit(has, THROTTLED_US)
		                    ? rti_multiply_saturated(value[THROTTLED_US], 1000)
		                    : value[THROTTLED_NS],
	};
	return 0;
}

/* Take "max" or a number. A negative number is none: v1 has -1. */
static bool take_limit(struct rti_scan *s, uint64_t *out)
{
	struct rti_scan word;

	if (!rti_scan_word(s, &word))
		return false;
	if (rti_scan_is(&word, "max") || *word.at == '-') {
		*out = RTI_NO_LIMIT;
		return true;
	}
	return rti_scan_u64(&word, out) && word.at == word.end;
}

int rti_parse_cgroup_cpu_max(const char *data, size_t len, struct rti_cgroup_cpu_max *out)
{
	struct rti_scan s = rti_scan(data, len), line;

	if (!rti_scan_line(&s, &line) || !take_limit(&line, &out->quota_us) ||
	    !rti_scan_u64(&line, &out->period_us) || out->period_us == 0)
		return -EBADMSG;
	return 0;
}

int rti_parse_cgroup_limit(const char *data, size_t len, uint64_t *out)
{
	struct rti_scan s = rti_scan(data, len), line;

	return rti_scan_line(&s, &line) && take_limit(&line, out) ? 0 : -EBADMSG;
}

int rti_parse_cgroup_memory_events(const char *data, size_t len,
                                   struct rti_cgroup_memory_events *out)
{
	static const struct rti_scan_key keys[] = { RTI_SCAN_KEY("high "), RTI_SCAN_KEY("max "),
		                                    RTI_SCAN_KEY("oom "),
		                                    RTI_SCAN_KEY("oom_kill ") };
	uint64_t value[4];

	if (take_numbers(data, len, keys, 4, value) != 0xf)
		return -EBADMSG;
	*out = (struct rti_cgroup_memory_events){ value[0], value[1], value[2], value[3] };
	return 0;
}

int rti_parse_cgroup_oom_control(const char *data, size_t len, uint64_t *oom_kills)
{
	static const struct rti_scan_key keys[] = { RTI_SCAN_KEY("oom_kill ") };

	return take_numbers(data, len, keys, 1, oom_kills) ? 0 : -EBADMSG;
}

enum {
	ANON,
	FILES,
	KERNEL,
	STACKS,
	PAGE_TABLES,
	PER_CPU,
	VMALLOC,
	SHMEM,
	SLAB,
	FAULTS,
	MAJOR,
	RECLAIMABLE
};

static const struct rti_scan_key memory_keys[] = {
	[ANON] = RTI_SCAN_KEY("anon "),
	[FILES] = RTI_SCAN_KEY("file "),
	[KERNEL] = RTI_SCAN_KEY("kernel "),
	[STACKS] = RTI_SCAN_KEY("kernel_stack "),
	[PAGE_TABLES] = RTI_SCAN_KEY("pagetables "),
	[PER_CPU] = RTI_SCAN_KEY("percpu "),
	[VMALLOC] = RTI_SCAN_KEY("vmalloc "),
	[SHMEM] = RTI_SCAN_KEY("shmem "),
	[SLAB] = RTI_SCAN_KEY("slab "),
	[FAULTS] = RTI_SCAN_KEY("pgfault "),
	[MAJOR] = RTI_SCAN_KEY("pgmajfault "),
	[RECLAIMABLE] = RTI_SCAN_KEY("slab_reclaimable "),
};

#define MEMORY_KEYS (sizeof(memory_keys) / sizeof(memory_keys[0]))

/* What a kernel before 5.18 lists of its own memory. Without the lines of slab and stacks nothing
 * is known of it. */
static void set_kernel(uint32_t has, const uint64_t *value, struct rti_cgroup_memory_detail *out)
{
	if (has_bit(has, KERNEL)) {
		out->has |= RTI_MEMORY_STAT_KERNEL;
		out->kernel_bytes = value[KERNEL];
		return;
	}
	if (!has_bit(has, STACKS) || !has_bit(has, SLAB))
		return;
	out->has |= RTI_MEMORY_STAT_KERNEL_LOW;
	for (unsigned i = STACKS; i <= SLAB; i++)
		out->kernel_bytes = rti_add_saturated(out->kernel_bytes, i == SHMEM ? 0 : value[i]);
}

int rti_parse_cgroup_memory_detail(const char *data, size_t len,
                                   struct rti_cgroup_memory_detail *out)
{
	uint64_t value[MEMORY_KEYS];
	uint32_t has = take_numbers(data, len, memory_keys, MEMORY_KEYS, value);

	if (!has_bit(has, ANON) || !has_bit(has, FILES))
		return -EBADMSG;
	*out = (struct rti_cgroup_memory_detail){
		.has = RTI_MEMORY_STAT_PARTS,
		.anon_bytes = value[ANON],
		.file_bytes = value[FILES],
		.shmem_bytes = value[SHMEM],
		.faults = value[FAULTS],
		.major_faults = value[MAJOR],
		.slab_reclaimable_bytes = value[RECLAIMABLE],
	};
	if (has_bit(has, RECLAIMABLE))
		out->has |= RTI_MEMORY_STAT_SLAB;
	if (has_bit(has, SHMEM))
		out->has |= RTI_MEMORY_STAT_SHMEM;
	if (has_bit(has, FAULTS) && has_bit(has, MAJOR))
		out->has |= RTI_MEMORY_STAT_FAULTS;
	set_kernel(has, value, out);
	return 0;
}

enum { V1_LIMIT, V1_CACHE, V1_RSS, V1_SHMEM, V1_SWAP, V1_FAULTS, V1_MAJOR, V1_KEYS };

static const struct rti_scan_key v1_keys[V1_KEYS] = {
	[V1_LIMIT] = RTI_SCAN_KEY("hierarchical_memory_limit "),
	[V1_CACHE] = RTI_SCAN_KEY("total_cache "),
	[V1_RSS] = RTI_SCAN_KEY("total_rss "),
	[V1_SHMEM] = RTI_SCAN_KEY("total_shmem "),
	[V1_SWAP] = RTI_SCAN_KEY("total_swap "),
	[V1_FAULTS] = RTI_SCAN_KEY("total_pgfault "),
	[V1_MAJOR] = RTI_SCAN_KEY("total_pgmajfault "),
};

int rti_parse_cgroup_memory_detail_v1(const char *data, size_t len,
                                      struct rti_cgroup_memory_detail *out)
{
	uint64_t value[V1_KEYS];
	uint32_t has = take_numbers(data, len, v1_keys, V1_KEYS, value);

	if (!has_bit(has, V1_CACHE) || !has_bit(has, V1_RSS))
		return -EBADMSG;
	*out = (struct rti_cgroup_memory_detail){
		.has = RTI_MEMORY_STAT_PARTS,
		.anon_bytes = value[V1_RSS],
		.file_bytes = value[V1_CACHE],
		.shmem_bytes = value[V1_SHMEM],
		.faults = value[V1_FAULTS],
		.major_faults = value[V1_MAJOR],
		.swap_bytes = value[V1_SWAP],
		.limit_bytes = value[V1_LIMIT] < NO_LIMIT_OF_V1 ? value[V1_LIMIT] : RTI_NO_LIMIT,
	};
	if (has_bit(has, V1_SHMEM))
		out->has |= RTI_MEMORY_STAT_SHMEM;
	if (has_bit(has, V1_FAULTS) && has_bit(has, V1_MAJOR))
		out->has |= RTI_MEMORY_STAT_FAULTS;
	if (has_bit(has, V1_SWAP))
		out->has |= RTI_MEMORY_STAT_SWAP;
	if (has_bit(has, V1_LIMIT))
		out->has |= RTI_MEMORY_STAT_LIMIT;
	return 0;
}

int rti_parse_cgroup_procs(const char *data, size_t len, int (*each)(void *arg, int32_t pid),
                           void *arg)
{
	struct rti_scan s = rti_scan(data, len), line;
	int err = RTI_CONTINUE;

	while (err == RTI_CONTINUE && rti_scan_line(&s, &line)) {
		int32_t pid;

		if (!rti_scan_i32(&line, &pid) || line.at < line.end || pid < 0)
			return -EBADMSG;
		err = each(arg, pid);
	}
	return err;
}

int rti_parse_cgroup_descendants(const char *data, size_t len, uint64_t *count)
{
	static const struct rti_scan_key keys[] = { RTI_SCAN_KEY("nr_descendants ") };

	return take_numbers(data, len, keys, 1, count) ? 0 : -EBADMSG;
}
