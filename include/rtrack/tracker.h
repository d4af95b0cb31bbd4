/* SPDX-License-Identifier: MIT */
/** @file
 *  Trackers: samples of a tree, the system or a cgroup, what changed between two, why a figure is
 *  missing. */
#ifndef RTRACK_TRACKER_H
#define RTRACK_TRACKER_H

#include <rtrack/process.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup trackers Trackers
 *  A tracker follows a process tree, the system or a cgroup. @sa @ref details_trackers
 *  @{ */

/** Follows a tree, the system or a cgroup. On one thread at a time, unless it has a recorder or is
 *  of a command. */
struct rt_tracker;

/** @name Options
 *  rt_opts.flags; each names its kind of tracker. @sa @ref details_options
 *  @{ */
#define RT_OPT_NO_CHILDREN 0x1U /**< Pid: the process alone, not its descendants. */
/** System: list network file systems, in no total. A dead server blocks a helper thread, no
 *  sample. */
#define RT_OPT_NETWORK_FILESYSTEMS 0x2U
/** Pid: BPF programs account for each thread, exactly, where the caller may load them; else process
 *  events, or RT_REASON_EVENTS_UNHEARD. Costs 20 to 60 ms, 4 MB; each fork of the tree 2 us.
 *  @since 0.2 */
#define RT_OPT_PROCESS_EVENTS 0x4U
/** Pid: no process events; by default the first eight trackers receive them, if permitted. Each
 *  makes forks of the system some 2 us dearer. Without them, counters of a tree that forks are
 *  lower bounds. @since 0.3 */
#define RT_OPT_NO_PROCESS_EVENTS 0x200U
/** Pid, cgroup: never walk page tables (`smaps`): the footprint is estimated. @since 0.3 */
#define RT_OPT_NO_MEMORY_READS 0x8U
/** Pid, cgroup: read PSS in each sample, within rt_opts.pss_share; else estimated, unless
 *  rt_opts.want has RT_HAS_PSS. @since 0.3 */
#define RT_OPT_PSS_READS 0x40U
/** Pid: follow all processes of its session, and what they start. @since 0.3 */
#define RT_OPT_SESSION 0x80U
/** Pid with RT_OPT_NO_CHILDREN: I/O with that of reaped children. @since 0.3 */
#define RT_OPT_IO_WITH_REAPED 0x10U
/** System: fill the fields of cgroups, too: usage of the caller's own, and the tightest limits that
 *  hold for it. @since 0.3 */
#define RT_OPT_OWN_LIMITS 0x20U
/** System: list processes, for rt_tracker_processes() and rt_tracker_top(). A sample lists /proc
 *  and reads one to three files of each that has run. @since 0.3 */
#define RT_OPT_LIST_PROCESSES 0x100U
/** @} */

/** Options of a tracker. */
struct rt_opts {
	uint32_t size;  /**< sizeof(struct rt_opts). */
	uint32_t flags; /**< RT_OPT_ bits of this kind. */
	/** Directory with `proc` and `sys`, copied; CPU times are in clock ticks. NULL: "/". */
	const char *root;
	/** RT_HAS_ bits; 0: rt_default_domains(). Those of other kinds are ignored. */
	uint64_t want;
	/** Descriptors kept open; 0: half of RLIMIT_NOFILE, below 4096 a quarter, at most
	 * 65,536. A process takes two to four. */
	uint32_t max_fds;
	uint32_t reserved; /**< 0. */

	/* Since 0.2. */
	/** Thousandths of a CPU for walking page tables; 0: 10; from 1000 on, no limit. */
	uint32_t pss_share;
	/** Longest time that this may block mmap(2) in a process; 0: 50000. */
	uint32_t pss_hold_us;

	/* Since 0.3. */
	uint32_t message_size; /**< Bytes of message. */
	uint32_t reserved_2;   /**< 0. */
	char *message;         /**< Receives why no tracker was made, cut at a word; or NULL. */
};

/** Follow a process and all its descendants, orphans included.
 *
 *  A member is known by pid and start time, so a pid that is reused is no member. What members
 *  that exited have used stays in the totals. What was used before may be missing:
 *  RT_REASON_PAST_UNKNOWN.
 *
 *  @param out receives the tracker, NULL on failure.
 *  @param pid as rt_pid_read(), or in the namespace of rt_opts.root.
 *  @return 0, or as rt_pid_read(); rt_opts.message says more. Cost: a directory handle, a file;
 *          with process events a socket, 0.1 ms. */
RT_API int rt_pid_tracker_new(struct rt_tracker **out, int32_t pid, const struct rt_opts *opts);

/** Follow several processes as one tree: each process and each page counts once. Ended ones are
 *  left out. Not with RT_OPT_SESSION. @sa @ref details_trackers
 *
 *  @param pids process ids.
 *  @param count how many; 0 is -EINVAL.
 *  @return as rt_pid_tracker_new(); -ESRCH: all have ended. Cost: a file for each process and each
 *          one above it.
 *  @since 0.3 */
RT_API int rt_pids_tracker_new(struct rt_tracker **out, const int32_t *pids, size_t count,
                               const struct rt_opts *opts);

/** Follow the system, as the caller's namespaces show it.
 *
 *  @return as rt_pid_tracker_new(), but never -ESRCH. */
RT_API int rt_system_tracker_new(struct rt_tracker **out, const struct rt_opts *opts);

/** Follow a cgroup, e.g. a service or a container, with all below, by the kernel's account of all
 *  that ever ran in it.
 *
 *  Its processes are the members, as of a tree. I/O and context switches of members are estimates,
 *  read only if wanted.
 *
 *  @param name path as in /proc/PID/cgroup, e.g. "/system.slice/cron.service"; a line of that file;
 *          or a directory below /sys/fs/cgroup.
 *  @param opts flags: RT_OPT_NO_MEMORY_READS, RT_OPT_PSS_READS.
 *  @return as rt_pid_tracker_new(); -ENOENT: no such cgroup; -EOPNOTSUPP: none is mounted. Cost: a
 *          handle for each hierarchy, a file for each cgroup below.
 *  @since 0.3 */
RT_API int rt_cgroup_tracker_new(struct rt_tracker **out, const char *name,
                                 const struct rt_opts *opts);

/** Free a tracker; no-op while it has a recorder. Never pass a command's. Processes run on. NULL is
 *  allowed. */
RT_API void rt_tracker_free(struct rt_tracker *t);

#define RT_KIND_PID 1    /**< rt_metrics.kind: a tree. */
#define RT_KIND_SYSTEM 2 /**< rt_metrics.kind: the system. */
#define RT_KIND_CGROUP 3 /**< rt_metrics.kind: a cgroup. @since 0.3 */

/** Domains that the library can measure with a kind of tracker.
 *
 *  @param kind RT_KIND_ value; unknown: 0.
 *  @return RT_HAS_ bits.
 *  @since 0.3 */
RT_API uint64_t rt_domains(uint32_t kind);

/** Domains that rt_opts.want 0 stands for. A later release adds only what costs no read.
 *
 *  @param kind RT_KIND_ value; unknown: 0.
 *  @return RT_HAS_ bits.
 *  @since 0.3 */
RT_API uint64_t rt_default_domains(uint32_t kind);

/** @name Reasons
 *  Why counters of a tree may be too low: rt_metrics.reasons, rt_outcome.reasons.
 *  @sa @ref details_reasons
 *  @{ */
/** A member ended, and no tracked parent waited for it. */
#define RT_REASON_UNWAITED 0x1U
/** A member ignores SIGCHLD: short children leave no trace. */
#define RT_REASON_SIGCHLD_IGNORED 0x2U
#define RT_REASON_UNREADABLE 0x4U   /**< CPU time or faults of a member could not be read. */
#define RT_REASON_LEFT_RUNNING 0x8U /**< Members still ran at the last read. */
/** No memory, descriptors or room for all: rt_metrics.members_skipped. */
#define RT_REASON_MEMBERS_SKIPPED 0x10U
/** Processes that lived between two samples may be in no account. */
#define RT_REASON_ORPHANS_UNSEEN 0x20U
/** rt_outcome: nothing is known to be missing, and nothing proves it. */
#define RT_REASON_UNVERIFIED 0x40U
#define RT_REASON_CLOCK_ABOVE 0x80U  /**< Never set since 0.3. @since 0.2 */
#define RT_REASON_EVENTS_LOST 0x100U /**< Events came faster than they were read. @since 0.2 */
/** rt_metrics: RT_OPT_PROCESS_EVENTS was asked for and is not possible. @since 0.3 */
#define RT_REASON_EVENTS_UNHEARD 0x200U
/** rt_outcome: a process moved to another cgroup. @since 0.3 */
#define RT_REASON_LEFT_CGROUP 0x400U
/** rt_outcome: RT_ACCOUNTING_AUTO found no supervisor; by itself nothing is missing. @since 0.3 */
#define RT_REASON_NO_SUPERVISOR 0x800U
/** Times in whole clock ticks may lack more than a hundredth. @since 0.3 */
#define RT_REASON_CLOCK_TICKS 0x1000U
#define RT_REASON_ACCOUNT_RESET 0x2000U /**< The cgroup's account was reset. @since 0.3 */
/** rt_metrics: usage before the tracker was made may be in no account. Differences are not
 *  affected. @since 0.3 */
#define RT_REASON_PAST_UNKNOWN 0x4000U
/** @} */

#define RT_PSS_READ 1 /**< pss_source: this sample read all. @since 0.2 */
/** pss_source: part was read earlier, up to pss_age_ns ago. @since 0.2 */
#define RT_PSS_CACHED 2
#define RT_PSS_ESTIMATED 3 /**< pss_source: an estimate by `statm` and `stat`. @since 0.2 */

#define RT_SOURCE_PROC 1 /**< rt_metrics.source: files of /proc. @since 0.2 */
#define RT_SOURCE_BPF 2  /**< rt_metrics.source: a BPF program read the members. @since 0.2 */
/** rt_metrics.source: BPF programs account for each thread. @since 0.3 */
#define RT_SOURCE_BPF_ACCOUNT 3

/** One sample. Fields with a bit are counters, unless they are marked as gauges; a field without
 *  its bit in any mask means nothing. @sa @ref units_metrics */
struct rt_metrics {
	uint32_t size;           /**< Filled. */
	uint32_t kind;           /**< RT_KIND_ value. */
	uint64_t valid;          /**< RT_HAS_ bits: exact. */
	uint64_t partial;        /**< RT_HAS_ bits: at least. */
	uint64_t tracker_id;     /**< Of this tracker alone. */
	uint64_t monotonic_ns;   /**< When CPU time was read, CLOCK_MONOTONIC. */
	uint64_t boottime_ns;    /**< Likewise, CLOCK_BOOTTIME. */
	uint64_t realtime_ns;    /**< Likewise, since 1970, for display. */
	uint64_t self_cpu_ns;    /**< CPU time that the samples of this tracker cost. */
	struct rt_rusage rusage; /**< The same figures in getrusage(2) layout. */
	/** RT_HAS_CPU: members, ended and reaped ones; system: all but idle, iowait, steal. */
	uint64_t cpu_user_ns;
	uint64_t cpu_system_ns;       /**< RT_HAS_CPU. */
	uint64_t rss_bytes;           /**< Gauge, RT_HAS_RSS: shared pages count for each member. */
	uint64_t pss_bytes;           /**< Gauge, RT_HAS_PSS: shared pages are divided. */
	uint64_t peak_rss_bytes;      /**< Gauge, RT_HAS_PEAK_RSS: largest peak of one member. */
	uint64_t peak_tree_rss_bytes; /**< Gauge, RT_HAS_RSS: largest rss_bytes so far. */
	uint64_t
	    peak_tree_pss_bytes; /**< Gauge, RT_HAS_PSS: largest that was read of all members. */
	uint64_t read_bytes;     /**< RT_HAS_IO: from and to storage. */
	uint64_t write_bytes;    /**< RT_HAS_IO. */
	uint64_t cancelled_write_bytes; /**< RT_HAS_IO: the part that was truncated before. */
	uint64_t read_chars;            /**< RT_HAS_IO: by calls, of any file. */
	uint64_t write_chars;           /**< RT_HAS_IO. */
	uint64_t minor_faults;          /**< RT_HAS_FAULTS: without storage I/O. */
	uint64_t major_faults;          /**< RT_HAS_FAULTS: with it. */
	uint64_t voluntary_switches;    /**< RT_HAS_CTXSW. */
	uint64_t involuntary_switches;  /**< RT_HAS_CTXSW. */
	uint64_t processes;             /**< Gauge, RT_HAS_PROCESSES: with zombies. */
	uint64_t processes_seen;        /**< RT_HAS_PROCESSES_SEEN: members so far. */
	uint64_t threads;               /**< Gauge, RT_HAS_THREADS. */
	uint64_t cpu_resolution_ns;     /**< Of CPU times: 1, 1000, or a clock tick. */
	uint32_t reasons;               /**< RT_REASON_ bits. */
	uint32_t members_unreadable;    /**< Members of which a figure is missing. */

	/* System. */
	/** @{ */
	uint64_t cpu_mode_user_ns; /**< RT_HAS_CPU_MODES: disjoint. */
	uint64_t cpu_mode_nice_ns;
	uint64_t cpu_mode_system_ns;
	uint64_t cpu_mode_idle_ns;
	uint64_t cpu_mode_iowait_ns;
	uint64_t cpu_mode_irq_ns;
	uint64_t cpu_mode_softirq_ns;
	uint64_t cpu_mode_steal_ns;
	uint64_t cpu_mode_guest_ns;
	uint64_t cpu_mode_guest_nice_ns;
	/** @} */
	uint64_t cpus_online;       /**< Gauge, RT_HAS_CPU_MODES. */
	uint64_t processes_running; /**< Gauge, RT_HAS_ACTIVITY: threads, by the kernel. */
	uint64_t processes_blocked; /**< Gauge, RT_HAS_ACTIVITY. */
	/** @{ */
	uint64_t forks; /**< RT_HAS_ACTIVITY: since boot. */
	uint64_t context_switches;
	uint64_t interrupts;
	/** @} */
	uint64_t memory_total_bytes; /**< Gauge, RT_HAS_MEMORY: `meminfo`. */
	uint64_t memory_free_bytes;  /**< Gauge, RT_HAS_MEMORY. */
	/** Gauge, RT_HAS_MEMORY_AVAILABLE: with what ZFS gives back. */
	uint64_t memory_available_bytes;
	/** @{ */
	uint64_t memory_buffers_bytes; /**< Gauge, RT_HAS_MEMORY: `meminfo`. */
	uint64_t memory_cached_bytes;
	uint64_t memory_cached_slab_bytes;
	uint64_t memory_slab_reclaimable_bytes;
	uint64_t memory_slab_unreclaimable_bytes;
	uint64_t memory_active_bytes;
	uint64_t memory_inactive_bytes;
	uint64_t memory_active_anon_bytes;
	uint64_t memory_inactive_anon_bytes;
	uint64_t memory_active_file_bytes;
	uint64_t memory_inactive_file_bytes;
	uint64_t memory_anon_bytes;
	uint64_t memory_mapped_bytes;
	uint64_t memory_shmem_bytes;
	/** @} */
	uint64_t memory_used_bytes; /**< Gauge, RT_HAS_MEMORY_AVAILABLE: total - available. */
	/** Gauge, RT_HAS_MEMORY: shared memory counts as free. */
	uint64_t memory_used_classic_bytes;
	/** @{ */
	uint64_t swap_total_bytes; /**< Gauge, RT_HAS_SWAP. */
	uint64_t swap_free_bytes;
	uint64_t swap_cached_bytes;
	/** @} */
	/** @{ */
	uint64_t disk_read_bytes; /**< RT_HAS_DISK: physical devices. */
	uint64_t disk_write_bytes;
	uint64_t disk_reads;
	uint64_t disk_writes;
	uint64_t disk_busy_ns;
	/** @} */
	uint64_t disks; /**< Gauge, RT_HAS_DISK: in these totals. */
	/** @{ */
	uint64_t filesystem_total_bytes; /**< Gauge, RT_HAS_FILESYSTEM: local, on storage. */
	uint64_t filesystem_used_bytes;
	uint64_t filesystem_free_bytes;
	uint64_t filesystem_available_bytes;
	uint64_t filesystems;
	uint64_t filesystems_skipped;
	/** @} */
	/** @{ */
	/** RT_HAS_NETWORK: interfaces with hardware; none: all but loopback. */
	uint64_t network_receive_bytes;
	uint64_t network_transmit_bytes;
	uint64_t network_receive_packets;
	uint64_t network_transmit_packets;
	uint64_t network_receive_errors;
	uint64_t network_transmit_errors;
	uint64_t network_receive_drops;
	uint64_t network_transmit_drops;
	/** @} */
	uint64_t network_interfaces; /**< Gauge, RT_HAS_NETWORK: in these totals. */
	/** @{ */
	double load_1m; /**< Gauge, RT_HAS_LOAD. */
	double load_5m;
	double load_15m;
	/** @} */
	uint64_t pressure_cpu_some_ns;    /**< RT_HAS_PRESSURE_CPU: some task waited. */
	uint64_t pressure_memory_some_ns; /**< RT_HAS_PRESSURE_MEMORY. */
	uint64_t pressure_memory_full_ns; /**< RT_HAS_PRESSURE_MEMORY: all tasks waited. */
	uint64_t pressure_io_some_ns;     /**< RT_HAS_PRESSURE_IO. */
	uint64_t pressure_io_full_ns;     /**< RT_HAS_PRESSURE_IO. */
	/** @{ */
	uint64_t zfs_size_bytes; /**< Gauge, RT_HAS_ZFS. */
	uint64_t zfs_allocated_bytes;
	uint64_t zfs_free_bytes;
	uint64_t zfs_pools;
	/** @} */

	/* Since 0.2. */
	uint64_t members_skipped; /**< Gauge. Processes left out of this sample. */
	uint64_t pss_age_ns;      /**< Gauge, RT_HAS_PSS: oldest read in pss_bytes. */
	uint32_t pss_source;      /**< RT_PSS_ value, or 0. */
	uint32_t source;          /**< RT_SOURCE_ value. */

	/* Since 0.3. */
	uint64_t estimated;        /**< RT_HAS_ bits: about. */
	uint64_t peak_tree_bytes;  /**< Gauge, RT_HAS_PEAK_FOOTPRINT: as peak_footprint_bytes. */
	uint64_t read_calls;       /**< RT_HAS_IO_CALLS. */
	uint64_t write_calls;      /**< RT_HAS_IO_CALLS. */
	uint64_t gpu_busy_ns;      /**< RT_HAS_GPU: devices; tree: engines that members used. */
	uint64_t gpu_memory_bytes; /**< Gauge, RT_HAS_GPU_MEMORY. */
	uint64_t gpu_memory_total_bytes; /**< Gauge, RT_HAS_GPU_MEMORY. */
	uint64_t gpu_energy_uj;          /**< RT_HAS_GPU_ENERGY: microjoules. */
	uint64_t gpus;                   /**< Gauge, RT_HAS_GPU: devices. */
	uint64_t gpus_used;              /**< Gauge, RT_HAS_GPU: busy ones. */

	/* Cgroup with all below, or the system with RT_OPT_OWN_LIMITS. A limit: the least that
	 * holds, UINT64_MAX for none. */
	/** @{ */
	/** Gauge, RT_HAS_CGROUP_MEMORY: charged; then its parts and limits. */
	uint64_t cgroup_memory_bytes;
	uint64_t cgroup_memory_anon_bytes;
	uint64_t cgroup_memory_file_bytes;
	uint64_t cgroup_memory_shmem_bytes;
	uint64_t cgroup_memory_limit_bytes;
	uint64_t cgroup_memory_high_bytes;
	/** @} */
	uint64_t cgroup_memory_peak_bytes;   /**< Gauge, RT_HAS_CGROUP_MEMORY_PEAK. */
	uint64_t cgroup_memory_kernel_bytes; /**< Gauge, RT_HAS_CGROUP_MEMORY_KERNEL. */
	uint64_t cgroup_swap_bytes;          /**< Gauge, RT_HAS_CGROUP_SWAP. */
	uint64_t cgroup_oom_kills;           /**< RT_HAS_CGROUP_OOM_KILLS. */
	/** @{ */
	/** RT_HAS_CGROUP_MEMORY_EVENTS: how often high, max, oom were met. */
	uint64_t cgroup_memory_high_events;
	uint64_t cgroup_memory_max_events;
	uint64_t cgroup_memory_oom_events;
	/** @} */
	uint64_t cgroup_cpu_limit_millicores; /**< Gauge, RT_HAS_CGROUP_CPU. */
	/** @{ */
	uint64_t cgroup_cpu_periods; /**< RT_HAS_CGROUP_CPU. */
	uint64_t cgroup_cpu_throttled_periods;
	uint64_t cgroup_cpu_throttled_ns;
	/** @} */
	uint64_t cgroup_read_bytes;  /**< RT_HAS_CGROUP_IO. */
	uint64_t cgroup_write_bytes; /**< RT_HAS_CGROUP_IO. */
	uint64_t cgroup_tasks;       /**< Gauge, RT_HAS_CGROUP_TASKS: threads. */
	uint64_t cgroup_tasks_limit; /**< Gauge, RT_HAS_CGROUP_TASKS. */
	uint64_t cgroup_tasks_peak;  /**< Gauge, RT_HAS_CGROUP_TASKS_PEAK. */

	/* All kinds. */
	uint64_t cpu_late_ns;           /**< CPU time that only a later sample may have. */
	uint64_t cgroup_cpu_ns;         /**< RT_HAS_CGROUP_CPU_TIME. */
	uint64_t hugepages_total_bytes; /**< Gauge, RT_HAS_HUGEPAGES. */
	uint64_t hugepages_free_bytes;  /**< Gauge, RT_HAS_HUGEPAGES. */
	uint64_t zfs_arc_bytes;         /**< Gauge, RT_HAS_ZFS_ARC. */
	uint64_t zfs_arc_min_bytes;     /**< Gauge, RT_HAS_ZFS_ARC: kept at least. */
	/** Gauge, RT_HAS_FOOTPRINT: memory of all members, each page once. */
	uint64_t footprint_bytes;
	/** @{ */
	/** Gauge, RT_HAS_FOOTPRINT: bounds (UINT64_MAX: none), and parts. */
	uint64_t footprint_low_bytes;
	uint64_t footprint_high_bytes;
	uint64_t footprint_anon_bytes;
	uint64_t footprint_shmem_bytes;
	uint64_t footprint_file_bytes;
	uint64_t footprint_hugetlb_bytes;
	/** @} */
	/** @{ */
	uint64_t needed_bytes; /**< Gauge, RT_HAS_NEEDED: without files, and bounds. */
	uint64_t needed_low_bytes;
	uint64_t needed_high_bytes;
	/** @} */
	uint64_t swap_bytes; /**< Gauge, RT_HAS_TREE_SWAP. */
	/** @{ */
	/** Gauge, RT_HAS_PEAK_FOOTPRINT: largest so far, and bounds. */
	uint64_t peak_footprint_bytes;
	uint64_t peak_footprint_low_bytes;
	uint64_t peak_footprint_high_bytes;
	/** @} */
	/** @{ */
	uint64_t peak_needed_bytes; /**< Gauge, RT_HAS_PEAK_NEEDED: likewise. */
	uint64_t peak_needed_low_bytes;
	uint64_t peak_needed_high_bytes;
	/** @} */
	uint64_t cgroup_memory_slab_reclaimable_bytes; /**< Gauge, RT_HAS_CGROUP_MEMORY_SLAB. */
	/** Tree: counters have all from then on, as far as known; 0: unknown. */
	uint64_t account_start_realtime_ns;
	/** RT_HAS_ bits of `partial` that are exact since then, for rt_diff(). */
	uint64_t since_valid;
	uint64_t since_partial; /**< RT_HAS_ bits that lack what no later sample brings. */
};

/** Measure once.
 *
 *  @param out receives the sample.
 *  @retval 0 success, possibly with clear bits
 *  @retval -ESRCH everything that the tracker followed has exited; @p out has the totals
 *  @retval -EBUSY it has a recorder
 *
 *  Cost: up to seven files for each member that has run and four for each thread; system: some ten;
 *  cgroup: some fifteen. More, and GPUs: @ref details_cost. */
RT_API int rt_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size);

/** Poll for peaks between samples: read process events, and the memory of all members. The next
 *  sample has the peak.
 *
 *  @return 0; -EOPNOTSUPP: no pid tracker, or RSS not wanted; -ENODATA: no sample yet. Cost:
 *          `statm` of each member that has run.
 *  @since 0.2 */
RT_API int rt_tracker_glance(struct rt_tracker *t);

/** Have the next sample read all that the footprint rests on, beyond pss_share and pss_hold_us.
 *
 *  @return 0; -EOPNOTSUPP: no such figure. Cost: 11 to 16 ms for each GiB, in that sample.
 *  @since 0.3 */
RT_API int rt_tracker_read_memory(struct rt_tracker *t);

/** Descriptor for an event loop: readable when process events wait, and once when the root has
 *  ended. Then call rt_sample() or rt_tracker_glance().
 *
 *  A forked child calls again.
 *
 *  @return it; -EOPNOTSUPP: nothing can be reported, or the tracker of a command, which has
 *          rt_command_fd(). Cost: three descriptors, four calls in each sample.
 *  @since 0.3 */
RT_API int rt_tracker_fd(const struct rt_tracker *t);

/** Why a figure of the last sample is not exact, as an errno value; rt_tracker_obstacle() says
 *  more.
 *
 *  @param has one RT_HAS_ bit.
 *  @return 0 if valid, else the first error. E.g.: -EACCES, -ENOENT (no such file here), -EDQUOT
 *          (over pss_share), -ENODATA (no sample, or no read failed). All: @ref details_status. */
RT_API int rt_tracker_status(const struct rt_tracker *t, uint64_t has);

/** @name Obstacles
 *  rt_obstacle.kind. There may be more later.
 *  @since 0.3
 *  @{ */
#define RT_OBSTACLE_RIGHTS 1  /**< The caller may not: another user's, not dumpable, hidden. */
#define RT_OBSTACLE_KERNEL 2  /**< Not in this kernel, configuration, namespace or root. */
#define RT_OBSTACLE_OPTIONS 3 /**< The options rule it out. */
#define RT_OBSTACLE_LIMIT 4   /**< Too few descriptors, threads, memory, room. */
#define RT_OBSTACLE_GONE 5    /**< A process or thread ended before it was read. */
#define RT_OBSTACLE_FORMAT 6  /**< The file could not be understood. */
#define RT_OBSTACLE_SLOW 7    /**< No answer in time, or it changed meanwhile. */
#define RT_OBSTACLE_ERROR 8   /**< Another error: rt_obstacle.error. */
#define RT_OBSTACLE_UNSEEN 9  /**< What was read cannot show all. */
/** @} */

/** Why one domain is not exact. @since 0.3 */
struct rt_obstacle {
	uint32_t size;         /**< Filled. */
	uint32_t kind;         /**< RT_OBSTACLE_ value of the first; 0: none, it is valid. */
	int32_t error;         /**< As rt_tracker_status(). */
	int32_t pid;           /**< Where it was met first; 0: no single one. */
	uint64_t has;          /**< The bit that was asked about. */
	uint64_t members;      /**< Members that could not be read in full in this sample. */
	uint64_t members_ever; /**< Counter. In any sample. */
	char file[64];         /**< Below /proc, /proc/PID or the cgroup; may be empty. */
	char text[256];        /**< What is missing why, and what would help, for people. */
};

/** Why a figure of the last sample is missing, partial or estimated, and what would help. E.g.:
 *  what an unprivileged caller loses.
 *
 *  @param has one RT_HAS_ bit.
 *  @param out receives it, also if there is none.
 *  @return 0; -EOPNOTSUPP: not of this tracker, or not wanted; -ENODATA: no sample yet. Cost: a
 *          few system calls.
 *  @since 0.3 */
RT_API int rt_tracker_obstacle(const struct rt_tracker *t, uint64_t has, struct rt_obstacle *out,
                               size_t out_size);

/** @} */

/** @defgroup diff Differences
 *  What changed between two samples, or two rows. Arithmetic alone: no file, no clock, no tracker.
 *  @{ */

/** Differences of two samples: the later figure of rt_metrics less the earlier one.
 *
 *  `valid`: exact in both. `partial`: exact to lower bound. `estimated`: starts from a lower bound,
 *  or involves an estimate. In none: unknown, or a counter fell. Consecutive ones add up.
 *  @sa @ref units_delta */
struct rt_delta {
	uint32_t size;             /**< Filled. */
	uint32_t kind;             /**< RT_KIND_ value. */
	uint64_t valid;            /**< RT_HAS_ bits: exact. */
	uint64_t partial;          /**< RT_HAS_ bits: at least. */
	uint64_t interval_ns;      /**< Time between them, without suspension. */
	uint64_t suspended_ns;     /**< Time suspended. */
	uint64_t self_cpu_ns;      /**< CPU time of the samples. */
	struct rt_rusage rusage;   /**< ru_maxrss is the later one. */
	uint64_t cpu_user_ns;      /**< RT_HAS_CPU. */
	uint64_t cpu_system_ns;    /**< RT_HAS_CPU. */
	uint64_t cpu_user_ticks;   /**< RT_HAS_CPU: they add up. */
	uint64_t cpu_system_ticks; /**< RT_HAS_CPU. */
	uint64_t ticks_per_second; /**< Of the two above. */
	double cores_used;         /**< RT_HAS_CPU with RT_HAS_RATE. CPU time / interval. */
	/** @{ */
	uint64_t read_bytes; /**< RT_HAS_IO. */
	uint64_t write_bytes;
	uint64_t cancelled_write_bytes;
	uint64_t read_chars;
	uint64_t write_chars;
	/** @} */
	uint64_t minor_faults;         /**< RT_HAS_FAULTS. */
	uint64_t major_faults;         /**< RT_HAS_FAULTS. */
	uint64_t voluntary_switches;   /**< RT_HAS_CTXSW. */
	uint64_t involuntary_switches; /**< RT_HAS_CTXSW. */
	uint64_t processes_seen;       /**< RT_HAS_PROCESSES_SEEN. */
	/** @{ */
	uint64_t cpu_mode_user_ns; /**< RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_nice_ns;
	uint64_t cpu_mode_system_ns;
	uint64_t cpu_mode_idle_ns;
	uint64_t cpu_mode_iowait_ns;
	uint64_t cpu_mode_irq_ns;
	uint64_t cpu_mode_softirq_ns;
	uint64_t cpu_mode_steal_ns;
	uint64_t cpu_mode_guest_ns;
	uint64_t cpu_mode_guest_nice_ns;
	/** @} */
	/** @{ */
	uint64_t forks; /**< RT_HAS_ACTIVITY. */
	uint64_t context_switches;
	uint64_t interrupts;
	/** @} */
	/** @{ */
	uint64_t disk_read_bytes; /**< RT_HAS_DISK. */
	uint64_t disk_write_bytes;
	uint64_t disk_reads;
	uint64_t disk_writes;
	uint64_t disk_busy_ns;
	/** @} */
	/** @{ */
	uint64_t network_receive_bytes; /**< RT_HAS_NETWORK. */
	uint64_t network_transmit_bytes;
	uint64_t network_receive_packets;
	uint64_t network_transmit_packets;
	uint64_t network_receive_errors;
	uint64_t network_transmit_errors;
	uint64_t network_receive_drops;
	uint64_t network_transmit_drops;
	/** @} */
	uint64_t pressure_cpu_some_ns;    /**< RT_HAS_PRESSURE_CPU. */
	uint64_t pressure_memory_some_ns; /**< RT_HAS_PRESSURE_MEMORY. */
	uint64_t pressure_memory_full_ns; /**< RT_HAS_PRESSURE_MEMORY. */
	uint64_t pressure_io_some_ns;     /**< RT_HAS_PRESSURE_IO. */
	uint64_t pressure_io_full_ns;     /**< RT_HAS_PRESSURE_IO. */

	/* Since 0.3. */
	uint64_t estimated;        /**< RT_HAS_ bits: about. */
	uint64_t read_calls;       /**< RT_HAS_IO_CALLS. */
	uint64_t write_calls;      /**< RT_HAS_IO_CALLS. */
	uint64_t gpu_busy_ns;      /**< RT_HAS_GPU: divided by interval_ns, busy GPUs. */
	uint64_t gpu_energy_uj;    /**< RT_HAS_GPU_ENERGY. */
	uint64_t cgroup_oom_kills; /**< RT_HAS_CGROUP_OOM_KILLS. */
	/** @{ */
	uint64_t cgroup_memory_high_events; /**< RT_HAS_CGROUP_MEMORY_EVENTS. */
	uint64_t cgroup_memory_max_events;
	uint64_t cgroup_memory_oom_events;
	/** @} */
	/** @{ */
	uint64_t cgroup_cpu_periods; /**< RT_HAS_CGROUP_CPU. */
	uint64_t cgroup_cpu_throttled_periods;
	uint64_t cgroup_cpu_throttled_ns;
	/** @} */
	uint64_t cgroup_read_bytes;  /**< RT_HAS_CGROUP_IO. */
	uint64_t cgroup_write_bytes; /**< RT_HAS_CGROUP_IO. */
	uint64_t cgroup_cpu_ns;      /**< RT_HAS_CGROUP_CPU_TIME. */
};

/** What changed from one sample to a later one of the same tracker.
 *
 *  @param from the earlier sample.
 *  @param to the later one.
 *  @return 0; -EINVAL: @p to is earlier; -ESTALE: different trackers. */
RT_API int rt_diff(const struct rt_metrics *from, const struct rt_metrics *to, struct rt_delta *out,
                   size_t out_size);

/** The same of two rows of one item: counters are subtracted, the rest is that of the later row.
 *  For a rate, divide by interval_ns of the samples. @sa @ref details_diff
 *
 *  @param struct_id RT_STRUCT_ value of the row.
 *  @param from the earlier row.
 *  @param to the later one.
 *  @param out receives the row; may be one of them.
 *  @param out_size its size.
 *  @return 0; -EINVAL: no such row; -ESTALE: different items, e.g. a reused pid.
 *  @since 0.3 */
RT_API int rt_row_diff(uint32_t struct_id, const void *from, const void *to, void *out,
                       size_t out_size);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
