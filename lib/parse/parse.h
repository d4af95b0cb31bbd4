/* SPDX-License-Identifier: MIT */
/* Parsers of the kernel's text files: bytes to struct, in the kernel's units.
 *
 * Pure: no descriptor, no allocation, no errno, no scaling. All return 0, or -EBADMSG if required
 * text is missing; *out is then unspecified. A parser with an each() argument calls it for every
 * record. Once each() does not return RTI_CONTINUE (see util/visit.h), the parser returns that
 * value. */
#ifndef RTI_PARSE_H
#define RTI_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parse/scan.h"

/* PF_FORKNOEXEC, include/linux/sched.h: no program was executed since the fork. */
#define RTI_PF_FORKNOEXEC 0x40u
/* PF_EXITING, there: the thread is in exit(2). */
#define RTI_PF_EXITING 0x4u

/* /proc/PID/stat, see proc(5). comm ends at the last ')'. On a short line, starttime and rss_pages
 * are 0 if they are missing. */
struct rti_pid_stat {
	int32_t pid, ppid, pgrp, session;
	char state;
	bool has_starttime; /* starttime is set */
	bool has_signals;   /* sigignore and exit_signal are set */
	char comm[64];
	uint64_t minflt, cminflt, majflt, cmajflt;
	uint64_t utime, stime, cutime, cstime; /* clock ticks; cutime and cstime are clamped at 0 */
	uint64_t num_threads;
	uint64_t starttime; /* clock ticks since boot */
	uint64_t rss_pages;
	uint64_t flags;      /* PF_ bits */
	uint64_t stack;      /* address of the stack, new with each exec; 0: unknown */
	uint64_t sigignore;  /* signals 1 to 31 */
	int32_t exit_signal; /* -1 in a thread that is not the thread group leader */
	int32_t processor;   /* on which it ran last; -1: unknown */
};
int rti_parse_pid_stat(const char *data, size_t len, struct rti_pid_stat *out);
/* How a zombie ended, as from wait(2). It shows as 0 to a reader without permission. */
int rti_parse_pid_stat_exit_code(const char *data, size_t len, int *status);
/* From /proc/PID/task/TID/stat: whether the thread runs none of its program any more. It is in
 * exit(2), or SIGKILL is pending for it, as for the other threads after exit_group(2). */
int rti_parse_thread_is_ending(const char *data, size_t len, bool *is_ending);

/* /proc/PID/statm. shared_pages: resident pages of files and of shared memory; the other resident
 * pages are anonymous. */
struct rti_pid_statm {
	uint64_t size_pages, resident_pages, shared_pages;
};
int rti_parse_pid_statm(const char *data, size_t len, struct rti_pid_statm *out);

/* /proc/PID/status and /proc/PID/task/TID/status. The bits of has say which fields are set. At
 * least one must be there. */
#define RTI_STATUS_HWM (1u << 0)
#define RTI_STATUS_SWITCHES (1u << 1)
#define RTI_STATUS_TGID (1u << 2)
#define RTI_STATUS_SHMEM (1u << 3)
#define RTI_STATUS_UID (1u << 4)
struct rti_pid_status {
	unsigned has;
	int32_t tgid;
	uint32_t uid; /* the real one */
	uint64_t vm_hwm_kib;
	uint64_t rss_shmem_kib;         /* with RTI_STATUS_SHMEM: Linux 4.5 */
	uint64_t swap_kib, hugetlb_kib; /* 0 if the kernel has no such line */
	uint64_t voluntary_switches, involuntary_switches;
};
int rti_parse_pid_status(const char *data, size_t len, struct rti_pid_status *out);

/* /proc/PID/io, in bytes and calls. Needs all fields but syscr and syscw. */
struct rti_pid_io {
	uint64_t rchar, wchar, read_bytes, write_bytes, cancelled_write_bytes;
	uint64_t syscr, syscw;
	bool has_calls; /* syscr and syscw are set */
};
int rti_parse_pid_io(const char *data, size_t len, struct rti_pid_io *out);

/* /proc/PID/smaps_rollup, in KiB. Needs the lines Rss and Pss. has_kinds: the PSS of anonymous
 * pages is there, too (Linux 5.4). Lines that an older kernel lacks are 0. */
struct rti_smaps_rollup {
	uint64_t rss_kib, pss_kib, pss_anon_kib;
	uint64_t lazy_free_kib; /* MADV_FREE: the kernel takes it back as it does a clean file */
	uint64_t swap_pss_kib;
	uint64_t private_kib; /* that no other process maps, huge pages of hugetlbfs included */
	uint64_t swap_kib;
	bool has_kinds;
};
int rti_parse_smaps_rollup(const char *data, size_t len, struct rti_smaps_rollup *out);

/* /proc/PID/smaps: one range of addresses, in KiB. rss_kib has anon_kib and lacks hugetlb pages. An
 * inode of 0: no file is mapped. is_shmem: by its name; a file of another tmpfs shows as a file. */
struct rti_smaps_range {
	uint64_t offset, major, minor, inode;
	uint64_t size_kib, rss_kib, pss_kib, anon_kib, lazy_free_kib;
	uint64_t shared_hugetlb_kib, private_hugetlb_kib;
	bool is_shmem;
};
int rti_parse_smaps(const char *data, size_t len,
                    int (*each)(void *arg, const struct rti_smaps_range *range), void *arg);

/* /proc/PID/task/TID/children: pids separated by blanks. */
int rti_parse_children(const char *data, size_t len, int (*each)(void *arg, int32_t pid),
                       void *arg);

/* /proc/stat. CPU times are in clock ticks. Fields that an older kernel lacks are 0. Needs the line
 * of all CPUs together. each may be NULL. */
struct rti_cpu_ticks {
	uint64_t user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice;
};
struct rti_stat {
	struct rti_cpu_ticks total;
	uint64_t interrupts, context_switches, forks, procs_running, procs_blocked;
	bool has_procs; /* all of interrupts to procs_blocked are set; if not, missing ones are 0 */
};
int rti_parse_stat(const char *data, size_t len, struct rti_stat *out,
                   int (*each)(void *arg, uint32_t cpu, const struct rti_cpu_ticks *ticks),
                   void *arg);

/* /proc/meminfo, in KiB, but for the two numbers of huge pages. Bit i of has says that value[i] is
 * set. Both "Key: 1 kB" and "Key:1 kB" are accepted. */
enum rti_mem_key {
	RTI_MEM_TOTAL,
	RTI_MEM_FREE,
	RTI_MEM_AVAILABLE,
	RTI_MEM_BUFFERS,
	RTI_MEM_CACHED,
	RTI_MEM_SWAP_CACHED,
	RTI_MEM_ACTIVE,
	RTI_MEM_INACTIVE,
	RTI_MEM_ACTIVE_ANON,
	RTI_MEM_INACTIVE_ANON,
	RTI_MEM_ACTIVE_FILE,
	RTI_MEM_INACTIVE_FILE,
	RTI_MEM_SWAP_TOTAL,
	RTI_MEM_SWAP_FREE,
	RTI_MEM_ANON_PAGES,
	RTI_MEM_MAPPED,
	RTI_MEM_SHMEM,
	RTI_MEM_SLAB_RECLAIMABLE,
	RTI_MEM_SLAB_UNRECLAIMABLE,
	RTI_MEM_HUGE_PAGES, /* of the default size, a number */
	RTI_MEM_HUGE_PAGES_FREE,
	RTI_MEM_HUGE_PAGE_SIZE, /* the default size */
	RTI_MEM_HUGETLB,        /* huge pages of all sizes */
	RTI_MEM_KEYS
};
struct rti_meminfo {
	uint32_t has;
	uint64_t value[RTI_MEM_KEYS];
};
/* Needs MemTotal and MemFree. */
int rti_parse_meminfo(const char *data, size_t len, struct rti_meminfo *out);

/* /proc/diskstats: sectors of 512 bytes, milliseconds. A line of 7 fields (partitions in old
 * kernels) has only the four counts of reads and writes; the other figures are then 0. Of a line of
 * 14 fields or more, the first 14 are read. Any other line is -EBADMSG. */
struct rti_diskstat {
	uint32_t major, minor;
	char name[64];
	uint64_t reads, read_sectors, writes, write_sectors, in_flight, busy_ms;
};
int rti_parse_diskstats(const char *data, size_t len,
                        int (*each)(void *arg, const struct rti_diskstat *disk), void *arg);

/* /proc/net/dev. Needs its two header lines. The name ends at the last ':' before the numbers. */
struct rti_netdev {
	char name[32];
	uint64_t receive_bytes, receive_packets, receive_errors, receive_drops;
	uint64_t transmit_bytes, transmit_packets, transmit_errors, transmit_drops;
};
int rti_parse_netdev(const char *data, size_t len,
                     int (*each)(void *arg, const struct rti_netdev *dev), void *arg);

/* /proc/PID/mountinfo. Strings are decoded and cut to fit. is_cut is true if mount_point did not
 * fit. Each mount is put in *mount, which is too large for the stack of a small thread. */
struct rti_mount {
	uint32_t id; /* as in fdinfo */
	uint32_t major, minor;
	/* Path within the file system; points into data, still escaped. */
	struct rti_scan root;
	struct rti_scan options;       /* of the mount, e.g. "ro,relatime"; points into data */
	struct rti_scan super_options; /* of the file system, e.g. "rw,cpu,cpuacct"; likewise */
	char mount_point[4096];
	char type[32];
	char source[128];
	bool is_cut;
};
int rti_parse_mountinfo(const char *data, size_t len, struct rti_mount *mount,
                        int (*each)(void *arg, const struct rti_mount *mount), void *arg);

/* /proc/loadavg. */
struct rti_loadavg {
	double load_1m, load_5m, load_15m;
	uint64_t running, threads; /* scheduling entities */
	uint64_t last_pid;
};
int rti_parse_loadavg(const char *data, size_t len, struct rti_loadavg *out);

/* /proc/pressure/{cpu,memory,io}, in microseconds. Needs the "some" line. */
struct rti_pressure {
	uint64_t some_us, full_us;
	bool has_full;
};
int rti_parse_pressure(const char *data, size_t len, struct rti_pressure *out);

/* cpu.stat of a cgroup (v2), in microseconds. Needs all fields. */
struct rti_cgroup_cpu {
	uint64_t usage_us, user_us, system_us;
};
int rti_parse_cgroup_cpu(const char *data, size_t len, struct rti_cgroup_cpu *out);

/* cpuacct.stat of a cgroup (v1), in clock ticks. Needs both fields. */
struct rti_cgroup_cpuacct {
	uint64_t user_ticks, system_ticks;
};
int rti_parse_cgroup_cpuacct(const char *data, size_t len, struct rti_cgroup_cpuacct *out);

/* io.stat of a cgroup (v2), or a blkio file of a cgroup (v1), in bytes, summed over its devices. */
struct rti_cgroup_io {
	uint64_t read_bytes, write_bytes;
	/* Devices with figures. In v1, of none there is only a total of 0, which may mean that no
	 * device is accounted for. */
	uint32_t devices;
};
int rti_parse_cgroup_io(const char *data, size_t len, struct rti_cgroup_io *out);
int rti_parse_cgroup_blkio(const char *data, size_t len, struct rti_cgroup_io *out);

/* memory.stat of a cgroup, in bytes: what its current memory consists of, cgroups below it
 * included. Needs the first two. v1 has no fields of their own for kernel memory and the like. */
struct rti_cgroup_memory_stat {
	uint64_t anon_bytes;        /* of processes; v1: rss */
	uint64_t file_bytes;        /* page cache, shared memory and tmpfs included; v1: cache */
	uint64_t file_mapped_bytes; /* the part of it that processes map; 0 if it is missing */
	uint64_t shmem_bytes;       /* the part of it that is no cache of a file; 0 if missing */
};
int rti_parse_cgroup_memory(const char *data, size_t len, struct rti_cgroup_memory_stat *out);
int rti_parse_cgroup_memory_v1(const char *data, size_t len, struct rti_cgroup_memory_stat *out);

/* /proc/PID/cgroup: each hierarchy that the process is in. The texts point into data. The file has
 * no escapes: a cgroup cannot have a newline in its name. */
struct rti_pid_cgroup {
	uint32_t hierarchy;          /* 0 is v2 */
	struct rti_scan controllers; /* separated by ','; "name=..." for a named one; v2: empty */
	struct rti_scan path;        /* begins with '/' */
};
int rti_parse_pid_cgroup(const char *data, size_t len,
                         int (*each)(void *arg, const struct rti_pid_cgroup *entry), void *arg);

/* Output of `zpool list -Hp -o name,size,alloc,free`: separated by tabs, in bytes, "-" for
 * unknown. */
struct rti_zpool_line {
	char name[256];
	uint64_t size, allocated, free;
	bool has_figures; /* false if a figure is unknown; it is then 0 */
};
int rti_parse_zpool_list(const char *data, size_t len,
                         int (*each)(void *arg, const struct rti_zpool_line *pool), void *arg);

/* /proc/spl/kstat/zfs/arcstats, in bytes. Needs both: size and c_min. */
struct rti_arcstats {
	uint64_t size, min;
};
int rti_parse_arcstats(const char *data, size_t len, struct rti_arcstats *out);

#endif
