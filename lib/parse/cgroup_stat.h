/* SPDX-License-Identifier: MIT */
/* Parsers of the files of a cgroup that say what it may use, and how that limited it. v1 and v2.
 *
 * Pure, like the parsers of parse.h: 0, or -EBADMSG if required text is missing. */
#ifndef RTI_CGROUP_STAT_H
#define RTI_CGROUP_STAT_H

#include <stddef.h>
#include <stdint.h>

#define RTI_NO_LIMIT UINT64_MAX

/* cpu.stat of the controller cpu: throttled_usec in v2, throttled_time (ns) in v1. Needs all. v2
 * has these lines only where the controller is enabled. */
struct rti_cgroup_throttle {
	uint64_t periods, throttled_periods, throttled_ns;
};
int rti_parse_cgroup_throttle(const char *data, size_t len, struct rti_cgroup_throttle *out);

/* cpu.max (v2), e.g. "150000 100000" or "max 100000", in microseconds. quota_us is RTI_NO_LIMIT if
 * there is none. A period of 0 is refused. */
struct rti_cgroup_cpu_max {
	uint64_t quota_us, period_us;
};
int rti_parse_cgroup_cpu_max(const char *data, size_t len, struct rti_cgroup_cpu_max *out);

/* One limit: a number, or RTI_NO_LIMIT for "max" (v2) and for a negative number (v1). */
int rti_parse_cgroup_limit(const char *data, size_t len, uint64_t *out);

/* memory.events (v2), counts. Needs all four. */
struct rti_cgroup_memory_events {
	uint64_t high, max, oom, oom_kills;
};
int rti_parse_cgroup_memory_events(const char *data, size_t len,
                                   struct rti_cgroup_memory_events *out);

/* memory.oom_control (v1). Needs oom_kill (Linux 4.13). */
int rti_parse_cgroup_oom_control(const char *data, size_t len, uint64_t *oom_kills);

/* memory.stat, in bytes and counts, cgroups below included. has says which fields are set. */
#define RTI_MEMORY_STAT_PARTS (1u << 0)      /* anon_bytes, file_bytes */
#define RTI_MEMORY_STAT_SHMEM (1u << 1)      /* shmem_bytes */
#define RTI_MEMORY_STAT_KERNEL (1u << 2)     /* kernel_bytes: all of it */
#define RTI_MEMORY_STAT_KERNEL_LOW (1u << 3) /* kernel_bytes: what older kernels list of it */
#define RTI_MEMORY_STAT_FAULTS (1u << 4)     /* faults, major_faults */
#define RTI_MEMORY_STAT_SWAP (1u << 5)       /* swap_bytes: v1 */
#define RTI_MEMORY_STAT_LIMIT (1u << 6)      /* limit_bytes: v1 */
#define RTI_MEMORY_STAT_SLAB (1u << 7)       /* slab_reclaimable_bytes: v2 */
struct rti_cgroup_memory_detail {
	unsigned has;
	uint64_t anon_bytes;   /* of processes; v1: total_rss */
	uint64_t file_bytes;   /* page cache, shared memory and tmpfs included; v1: total_cache */
	uint64_t shmem_bytes;  /* the part of it that is no cache of a file */
	uint64_t kernel_bytes; /* since 5.18; before: slab, stacks, page tables and the like */
	uint64_t faults;       /* all, major ones included */
	uint64_t major_faults;
	uint64_t slab_reclaimable_bytes;
	uint64_t swap_bytes;
	uint64_t limit_bytes; /* the least of the cgroup and of those above, or RTI_NO_LIMIT */
};
int rti_parse_cgroup_memory_detail(const char *data, size_t len,
                                   struct rti_cgroup_memory_detail *out);
int rti_parse_cgroup_memory_detail_v1(const char *data, size_t len,
                                      struct rti_cgroup_memory_detail *out);

/* cgroup.procs and cgroup.threads: a number a line. 0 is a process that the reader's pid namespace
 * does not show. */
int rti_parse_cgroup_procs(const char *data, size_t len, int (*each)(void *arg, int32_t pid),
                           void *arg);

/* cgroup.stat (v2): how many cgroups are below. */
int rti_parse_cgroup_descendants(const char *data, size_t len, uint64_t *count);

#endif
