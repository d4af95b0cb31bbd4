/* SPDX-License-Identifier: MIT */
/** @file
 *  librtrack: what a process tree, or the whole machine, has used.
 *
 *  Rules that hold for every call here:
 *  - **Errors.** 0 or a negative errno value; `errno` itself carries nothing. rt_strerror() has
 *    the words.
 *  - **Partial loss is not an error.** A figure that could not be read has its bit cleared in
 *    `valid`; rt_tracker_status() tells why. No figure is ever 0 because it could not be read
 *    and yet marked valid.
 *  - **Units.** Times are nanoseconds and memory is bytes, unless the name says otherwise.
 *  - **Counters** never fall and count since the start of what they describe; **gauges** hold
 *    for the instant.
 *  - **Sizes.** Inputs carry their size in the first field, set by the caller; zero in any other
 *    field means the default. Outputs take `sizeof` as an argument; the library fills what both
 *    sides know, zeroes the rest and records in `size` the length it knew. Struct layouts only
 *    ever grow at the end.
 *  - **Threads.** One tracker, one owner. Different trackers may be used on different threads.
 *    There are no globals. A tracker may be used on after fork(), by parent and child
 *    independently.
 */
#ifndef RTRACK_H
#define RTRACK_H

#include <stddef.h>
#include <stdint.h>

#include <rtrack/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Marks an exported function. @since 0.1 */
#if defined(__GNUC__)
#define RT_API __attribute__((visibility("default")))
#else
#define RT_API
#endif

/** @defgroup versioning Versions and errors
 *  Which library is loaded, and what its error numbers mean.
 *  @{ */

/** Release of the library that was loaded.
 *
 *  @return the number that RT_VERSION_ENCODE() would give for it. Cost: none.
 *  @since 0.1 */
RT_API uint32_t rt_version(void);

/** Text for an error number that this library returned.
 *
 *  @param err 0 or a negative errno value; a positive one is taken as its negative.
 *  @return a constant English sentence part, never NULL, not to be freed. Does not depend on the
 *  locale.
 *  @since 0.1 */
RT_API const char *rt_strerror(int err);

/** @} */

/** @defgroup rusage getrusage figures
 *  The sixteen fields of getrusage(2), for the caller or for any live process.
 *  @{ */

/** Figures of the calling process itself. @since 0.1 */
#define RT_RUSAGE_SELF 0
/** Figures of the descendants that the calling process has waited for, and theirs. @since 0.1 */
#define RT_RUSAGE_CHILDREN (-1)
/** Figures of the calling thread. @since 0.1 */
#define RT_RUSAGE_THREAD 1

/** The sixteen fields of getrusage(2), in the order of Python's `resource.struct_rusage`.
 *
 *  128 bytes, frozen for ever: index i of the tuple lies at byte 8 * i. Linux fills nine of the
 *  fields; the other seven are 0 on every Linux and are marked so below. @since 0.1 */
struct rt_rusage {
	double ru_utime;     /**< CPU time in user mode, seconds. */
	double ru_stime;     /**< CPU time in kernel mode, seconds. */
	int64_t ru_maxrss;   /**< Peak resident set size, KiB. */
	int64_t ru_ixrss;    /**< Always 0 on Linux. */
	int64_t ru_idrss;    /**< Always 0 on Linux. */
	int64_t ru_isrss;    /**< Always 0 on Linux. */
	int64_t ru_minflt;   /**< Page faults served without storage I/O. */
	int64_t ru_majflt;   /**< Page faults that needed storage I/O. */
	int64_t ru_nswap;    /**< Always 0 on Linux. */
	int64_t ru_inblock;  /**< Storage reads, in units of 512 bytes: traffic, not operations. */
	int64_t ru_oublock;  /**< Storage writes, in units of 512 bytes: traffic, not operations. */
	int64_t ru_msgsnd;   /**< Always 0 on Linux. */
	int64_t ru_msgrcv;   /**< Always 0 on Linux. */
	int64_t ru_nsignals; /**< Always 0 on Linux. */
	int64_t ru_nvcsw;    /**< Voluntary context switches, of all threads. */
	int64_t ru_nivcsw;   /**< Involuntary context switches, of all threads. */
};

/** getrusage(2) with the flat 16-field layout. Equal to the system call field by field.
 *
 *  @param who RT_RUSAGE_SELF, RT_RUSAGE_CHILDREN or RT_RUSAGE_THREAD.
 *  @param out receives the figures; untouched on error.
 *  @retval 0 done
 *  @retval -EINVAL @p who is none of the three
 *  @retval -EFAULT @p out is NULL
 *
 *  Cost: one system call. @since 0.1 */
RT_API int rt_getrusage(int who, struct rt_rusage *out);

/** The getrusage(2) figures of any live process, the caller's own included; without its
 *  children.
 *
 *  Bit i of @p valid stands for field i of the struct. A field without its bit could not be
 *  known: the files are not readable for the caller, the process is a zombie and has no memory
 *  left to ask about, or part of the history is gone. The last applies to context switches after
 *  a thread has exited, and to inblock and oublock after a thread has exited and a child was
 *  reaped: the kernel does not tell these for another process, and the field then holds the
 *  lower bound that could be seen. The seven fields that Linux never fills are 0 and valid.
 *
 *  Sources: the process's CPU clock (utime, stime; ticks of `stat` where there is no clock),
 *  `stat` (faults), `status` VmHWM (maxrss; unlike getrusage(2) not inherited over exec), `io`
 *  (blocks), `task/TID/status` (context switches).
 *
 *  @param pid process id in the caller's pid namespace; a thread id other than the leader's is
 *  -ESRCH.
 *  @param out receives the figures; untouched on error.
 *  @param valid receives one bit per field.
 *  @retval 0 done, perhaps with bits cleared
 *  @retval -EINVAL @p pid is negative or zero
 *  @retval -EFAULT @p out or @p valid is NULL
 *  @retval -ESRCH no such process
 *  @retval -EACCES the process lives, but /proc hides it from the caller (hidepid)
 *  @retval -ENOENT /proc is not mounted
 *  @retval -EXDEV /proc is of another pid namespace, where the pid means another process
 *  @retval -EMFILE no descriptor left; likewise -ENFILE and -ENOMEM
 *
 *  Cost: three file reads, and one more per thread. @since 0.1 */
RT_API int rt_pid_getrusage(int32_t pid, struct rt_rusage *out, uint32_t *valid);

/** @} */

/** @defgroup trackers Trackers
 *  A tracker follows one process tree, or the machine, and is sampled as often as its owner likes.
 *  @{ */

/** Follows one process tree or the machine. Opaque; not thread-safe; one owner. @since 0.1 */
struct rt_tracker;

/** @name Domains
 *  Bits of `valid` and `partial` in the output structs, and of rt_opts.want. Each stands for the
 *  fields whose documentation names it.
 *  @{ */
#define RT_HAS_CPU (UINT64_C(1) << 0)      /**< CPU time in user and kernel mode. @since 0.1 */
#define RT_HAS_RSS (UINT64_C(1) << 1)      /**< Resident memory. @since 0.1 */
#define RT_HAS_PSS (UINT64_C(1) << 2)      /**< Proportional memory. @since 0.1 */
#define RT_HAS_PEAK_RSS (UINT64_C(1) << 3) /**< Peak resident memory. @since 0.1 */
#define RT_HAS_IO (UINT64_C(1) << 4)       /**< Bytes read and written by processes. @since 0.1 */
#define RT_HAS_FAULTS (UINT64_C(1) << 5)   /**< Page faults. @since 0.1 */
/** Voluntary and involuntary context switches. @since 0.1 */
#define RT_HAS_CTXSW (UINT64_C(1) << 6)
#define RT_HAS_PROCESSES (UINT64_C(1) << 7) /**< How many processes there are. @since 0.1 */
#define RT_HAS_THREADS (UINT64_C(1) << 8)   /**< How many threads there are. @since 0.1 */
/** rt_outcome: most processes at the same time. @since 0.2 */
#define RT_HAS_PROCESSES_PEAK (UINT64_C(1) << 9)
/** rt_outcome: what the cgroup says of memory. @since 0.2 */
#define RT_HAS_CGROUP_MEMORY (UINT64_C(1) << 10)
/** rt_outcome: what the cgroup says of storage. @since 0.2 */
#define RT_HAS_CGROUP_IO (UINT64_C(1) << 11)
/** rt_outcome: what the cgroup says of tasks. @since 0.2 */
#define RT_HAS_CGROUP_TASKS (UINT64_C(1) << 12)
/** Machine: CPU time per mode, per-CPU list. @since 0.1 */
#define RT_HAS_CPU_MODES (UINT64_C(1) << 16)
/** Machine: forks, switches, running, blocked. @since 0.1 */
#define RT_HAS_ACTIVITY (UINT64_C(1) << 17)
/** Machine: memory, but for available memory. @since 0.1 */
#define RT_HAS_MEMORY (UINT64_C(1) << 18)
#define RT_HAS_MEMORY_AVAILABLE (UINT64_C(1) << 19) /**< Machine: available memory. @since 0.1 */
#define RT_HAS_SWAP (UINT64_C(1) << 20)             /**< Machine: swap space. @since 0.1 */
#define RT_HAS_DISK (UINT64_C(1) << 21) /**< Machine: block devices and their list. @since 0.1 */
/** Machine: file systems and their list. @since 0.1 */
#define RT_HAS_FILESYSTEM (UINT64_C(1) << 22)
/** Machine: network interfaces and their list. @since 0.1 */
#define RT_HAS_NETWORK (UINT64_C(1) << 23)
#define RT_HAS_LOAD (UINT64_C(1) << 24)            /**< Machine: load averages. @since 0.1 */
#define RT_HAS_PRESSURE_CPU (UINT64_C(1) << 25)    /**< Machine: CPU pressure. @since 0.1 */
#define RT_HAS_PRESSURE_MEMORY (UINT64_C(1) << 26) /**< Machine: memory pressure. @since 0.1 */
#define RT_HAS_PRESSURE_IO (UINT64_C(1) << 27)     /**< Machine: I/O pressure. @since 0.1 */
#define RT_HAS_ZFS (UINT64_C(1) << 28)  /**< Machine: ZFS pools and their list. @since 0.1 */
#define RT_HAS_RATE (UINT64_C(1) << 40) /**< rt_delta only: figures per time. @since 0.1 */
/** @} */

/** rt_opts.flags, pid tracker: the process alone, not its descendants. @since 0.1 */
#define RT_OPT_NO_CHILDREN (UINT32_C(1) << 0)
/** rt_opts.flags, system tracker: list network file systems too, and count them in no total. A
 * dead server then costs a waiting thread, never a sample. @since 0.1 */
#define RT_OPT_NETWORK_FILESYSTEMS (UINT32_C(1) << 1)

/** rt_opts.flags, pid tracker: hear of every fork and exit from the kernel (proc connector),
 * where that is open to the caller: since Linux 6.6 to everybody in the first pid and user
 * namespaces, before to CAP_NET_ADMIN. Then no process of the tree is missed, however short its
 * life, and orphans are followed. Events wait in a socket of some MB, or 200 kB where the caller
 * may have no more, until rt_sample() or rt_tracker_glance(): call the one or the other often
 * enough (RT_REASON_EVENTS_LOST tells when it was not). Each fork of the machine gets about a
 * microsecond dearer. @since 0.2 */
#define RT_OPT_PROCESS_EVENTS (UINT32_C(1) << 2)

/** How a tracker works. Every field but `size` may be 0 for the default. @since 0.1 */
struct rt_opts {
	uint32_t size;  /**< sizeof(struct rt_opts), set by the caller. */
	uint32_t flags; /**< RT_OPT_ bits. */
	/** Directory that holds `proc` and `sys`; NULL is "/". Copied. With a root, CPU time
	 * comes from `stat` in clock ticks, since CPU clocks know only the caller's own pids. */
	const char *root;
	/** RT_HAS_ bits to measure; 0 is all that the kind of tracker has. What is not wanted is
	 * not read; what the other kind has is not looked at. */
	uint64_t want;
	/** Most descriptors that the tracker keeps open between samples; 0 is a quarter of the
	 * soft RLIMIT_NOFILE, at most 4096. */
	uint32_t max_fds;
	uint32_t reserved; /**< 0. */
	/** Most of one CPU that reading PSS may take over time, in thousandths; 0 is 10 (1 %),
	 * 1000 and more is no limit. What is not used is saved up, to 0.1 s at most, which is
	 * there from the start; what it does not allow for is told by the last reading:
	 * rt_metrics.pss_source. @since 0.2 */
	uint32_t pss_share;
	/** Longest that reading PSS may hold up a process's own mmap and munmap, in microseconds:
	 * where it is expected to take longer, it is not read. 0 is 50000. @since 0.2 */
	uint32_t pss_hold_us;
};

/** Follow a process and, unless RT_OPT_NO_CHILDREN, all its descendants, whichever thread forked
 *  them.
 *
 *  A member is known by pid and start time, so a recycled pid is never taken for it. A
 *  descendant stays a member when its parent dies. What members had used when they departed
 *  stays in the totals.
 *
 *  @param out receives the tracker, or NULL on failure; free it with rt_tracker_free().
 *  @param pid process id in the caller's pid namespace (or in that of rt_opts.root).
 *  @param opts how to work; NULL is all defaults.
 *  @retval 0 done
 *  @retval -EFAULT @p out is NULL
 *  @retval -EINVAL @p pid is negative or zero, or an option is unknown or ill-sized
 *  @retval -E2BIG @p opts is longer than this library knows and the unknown part is not zero
 *  @retval -ESRCH no such process
 *  @retval -ENOENT there is no proc file system under the root
 *  @retval -EXDEV /proc is of another pid namespace, where the pid means another process
 *  @retval -EACCES /proc cannot be read, or hides the process from the caller (hidepid)
 *  @retval -EMFILE no descriptor left; likewise -ENFILE and -ENOMEM
 *
 *  Cost: one directory handle, one file read. @since 0.1 */
RT_API int rt_pid_tracker_new(struct rt_tracker **out, int32_t pid, const struct rt_opts *opts);

/** Follow the machine, or the part of it that the caller's namespaces show.
 *
 *  @param out receives the tracker, or NULL on failure; free it with rt_tracker_free().
 *  @param opts how to work; NULL is all defaults.
 *  @return as rt_pid_tracker_new(), but never -ESRCH.
 *  @since 0.1 */
RT_API int rt_system_tracker_new(struct rt_tracker **out, const struct rt_opts *opts);

/** End a tracker and give back all it holds. Processes are not touched. NULL is allowed. @since
 * 0.1 */
RT_API void rt_tracker_free(struct rt_tracker *t);

/** rt_metrics.kind: from rt_pid_tracker_new() or rt_command_tracker(). @since 0.1 */
#define RT_KIND_PID 1
/** rt_metrics.kind: from rt_system_tracker_new(). @since 0.1 */
#define RT_KIND_SYSTEM 2

/** @name Reasons
 *  Why the cumulative figures of a tree may be below the truth: bits of rt_metrics.reasons,
 *  rt_outcome.reasons.
 *  @{ */
/** A member left and no tracked parent waited for it: what it used after its last reading is
 * unknown. @since 0.1 */
#define RT_REASON_UNWAITED (UINT32_C(1) << 0)
/** A member ignores SIGCHLD: children of it that lived between two samples leave no trace. @since
 * 0.1 */
#define RT_REASON_SIGCHLD_IGNORED (UINT32_C(1) << 1)
/** CPU time or faults of a member could not be read. @since 0.1 */
#define RT_REASON_UNREADABLE (UINT32_C(1) << 2)
/** Members still ran when the figures were taken for the last time. @since 0.1 */
#define RT_REASON_LEFT_RUNNING (UINT32_C(1) << 3)
/** Membership could not be read in full, for want of memory or descriptors. @since 0.1 */
#define RT_REASON_MEMBERS_SKIPPED (UINT32_C(1) << 4)
/** rt_outcome only: a process that its parent left behind, and that came and went between two
 * samples, would not have been seen at the accounting rung that was used. @since 0.1 */
#define RT_REASON_ORPHANS_UNSEEN (UINT32_C(1) << 5)
/** rt_outcome only: nothing is known to be missing, but others in the caller's cgroup used CPU
 * time meanwhile (or there is no cgroup to tell), so that children nobody waited for and no
 * sample saw cannot be ruled out. Clears no bit of `valid`: the bracket has it. @since 0.1 */
#define RT_REASON_UNVERIFIED (UINT32_C(1) << 6)
/** rt_outcome only, RT_ACCOUNTING_WAIT_PERF: the inherited clock has counted more than was waited
 * for: somebody's children were not waited for. rt_outcome.cpu_estimate_ns has what it counted.
 * @since 0.2 */
#define RT_REASON_CLOCK_ABOVE (UINT32_C(1) << 7)
/** RT_OPT_PROCESS_EVENTS: events came faster than they were taken, so that processes may be
 * missing. @since 0.2 */
#define RT_REASON_EVENTS_LOST (UINT32_C(1) << 8)
/** @} */

/** rt_metrics.pss_source: all of it was read in this sample. @since 0.2 */
#define RT_PSS_READ 1
/** rt_metrics.pss_source: some of it was read earlier, at most pss_age_ns ago. @since 0.2 */
#define RT_PSS_CACHED 2
/** rt_metrics.pss_source: RSS stands in for PSS of members that were never read, for the budget
 * did not allow it: the sum may be above the truth, and its bit stands in `partial`. @since 0.2 */
#define RT_PSS_ESTIMATED 3

/** rt_metrics.source: the files of /proc. @since 0.2 */
#define RT_SOURCE_PROC 1
/** rt_metrics.source: a BPF program has read the members of the tree, and /proc what that cannot.
 * @since 0.2 */
#define RT_SOURCE_BPF 2

/** One sample. Fields mean "within the scope of this tracker". Units as named; absent bits as
 *  documented.
 *
 *  A field is complete when its bit is set in `valid`. When the bit is set in `partial` instead,
 *  the field is the lower bound over what could be read (one member of twenty refuses `io`,
 *  say). When neither is set, the field is 0 and means nothing. @since 0.1 */
struct rt_metrics {
	uint32_t size;    /**< Bytes of this struct that the library filled. */
	uint32_t kind;    /**< RT_KIND_PID or RT_KIND_SYSTEM. */
	uint64_t valid;   /**< RT_HAS_ bits of the complete figures. */
	uint64_t partial; /**< RT_HAS_ bits of the figures that are lower bounds. */
	/** Unlike that of any other tracker that this process made or will make. */
	uint64_t tracker_id;
	uint64_t monotonic_ns; /**< CLOCK_MONOTONIC at the start of the sample: for intervals. */
	/** CLOCK_BOOTTIME at the same instant: it also runs while the machine sleeps. */
	uint64_t boottime_ns;
	/** CLOCK_REALTIME at the same instant, since 1970: for display only. */
	uint64_t realtime_ns;
	/** Counter: CPU time that this tracker's own samples have cost so far. */
	uint64_t self_cpu_ns;

	/** The figures in the layout of getrusage(2). ru_maxrss is peak_rss_bytes / 1024. For a
	 * machine only the CPU times. Bits as those of the fields they repeat. */
	struct rt_rusage rusage;

	/** Counter, RT_HAS_CPU. A tree: time in user mode of all members that lived, and of the
	 * children that they waited for. Source: the CPU clock of each process, split as the
	 * kernel splits it; `stat` cutime. The machine: `stat` user and nice (which hold guest
	 * time). */
	uint64_t cpu_user_ns;
	/** Counter, RT_HAS_CPU. The same in kernel mode. The machine: `stat` system, irq and
	 * softirq. */
	uint64_t cpu_system_ns;

	/** Gauge, RT_HAS_RSS. Sum over members; shared pages count in each. `statm`. */
	uint64_t rss_bytes;
	/** Gauge, RT_HAS_PSS. Shared pages are divided among their users. `smaps_rollup`. */
	uint64_t pss_bytes;
	/** Largest peak of any single member so far, RT_HAS_PEAK_RSS. `status` VmHWM. */
	uint64_t peak_rss_bytes;
	/** Largest rss_bytes that any sample of this tracker saw, RT_HAS_RSS. */
	uint64_t peak_tree_rss_bytes;
	/** Largest sum of PSS that a sample or a glance has read of all members at once,
	 * RT_HAS_PSS. */
	uint64_t peak_tree_pss_bytes;

	/** Counter, RT_HAS_IO. Bytes fetched from storage; `io` read_bytes. */
	uint64_t read_bytes;
	/** Counter, RT_HAS_IO. Bytes sent to storage or dirtied for it; `io` write_bytes. */
	uint64_t write_bytes;
	/** Counter, RT_HAS_IO. Bytes of write_bytes that were truncated before they reached
	 * storage. */
	uint64_t cancelled_write_bytes;
	/** Counter, RT_HAS_IO. Bytes that read calls returned, from anything; `io` rchar. */
	uint64_t read_chars;
	/** Counter, RT_HAS_IO. Bytes that write calls took, to anything; `io` wchar. */
	uint64_t write_chars;

	uint64_t minor_faults; /**< Counter, RT_HAS_FAULTS. `stat` minflt and cminflt. */
	uint64_t major_faults; /**< Counter, RT_HAS_FAULTS. `stat` majflt and cmajflt. */
	/** Counter, RT_HAS_CTXSW. A tree: over all threads seen, `task/TID/status`; switches of
	 * children that no sample saw are known only once rt_command_wait() has the command's
	 * own account. */
	uint64_t voluntary_switches;
	uint64_t involuntary_switches; /**< Counter, RT_HAS_CTXSW. As voluntary_switches. */

	/** Gauge, RT_HAS_PROCESSES. Live members (zombies included), or all processes. */
	uint64_t processes;
	/** Counter, RT_HAS_PROCESSES. A tree: distinct members that samples have seen or, where
	 * process events are heard (RT_OPT_PROCESS_EVENTS, commands under a supervisor), all
	 * that lived. */
	uint64_t processes_seen;
	/** Gauge, RT_HAS_THREADS. `stat` num_threads. The machine: `loadavg`. */
	uint64_t threads;
	/** Step of the CPU times: 1 for CPU clocks; a clock tick where `stat` is the source, as
	 * it is of what members have reaped; 1000 where a cgroup has told, or the supervisor of
	 * a command that has ended. */
	uint64_t cpu_resolution_ns;
	uint32_t reasons; /**< RT_REASON_ bits: why the counters may be below the truth. */
	/** Members of whom a wanted figure could not be read in this sample. */
	uint32_t members_unreadable;

	/* From here on, the machine only. */

	/** Counter, RT_HAS_CPU_MODES. Without guest time. The ten modes are disjoint. */
	uint64_t cpu_mode_user_ns;
	uint64_t cpu_mode_nice_ns;   /**< Counter, RT_HAS_CPU_MODES. Without guest_nice time. */
	uint64_t cpu_mode_system_ns; /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_idle_ns;   /**< Counter, RT_HAS_CPU_MODES. */
	/** Counter, RT_HAS_CPU_MODES. Idle while I/O is outstanding; unreliable by nature. */
	uint64_t cpu_mode_iowait_ns;
	uint64_t cpu_mode_irq_ns;     /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_softirq_ns; /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_steal_ns;   /**< Counter, RT_HAS_CPU_MODES. Taken by the hypervisor. */
	uint64_t cpu_mode_guest_ns;   /**< Counter, RT_HAS_CPU_MODES. Running a virtual machine. */
	uint64_t cpu_mode_guest_nice_ns; /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t cpus_online;            /**< Gauge, RT_HAS_CPU_MODES. CPUs listed in `stat`. */

	/** Gauge, RT_HAS_ACTIVITY. Threads that run or could. `stat` procs_running. */
	uint64_t processes_running;
	/** Gauge, RT_HAS_ACTIVITY. Waiting for I/O. `stat` procs_blocked. */
	uint64_t processes_blocked;
	/** Counter, RT_HAS_ACTIVITY. Since boot, threads too. `stat` processes. */
	uint64_t forks;
	uint64_t context_switches; /**< Counter, RT_HAS_ACTIVITY. Since boot. `stat` ctxt. */
	uint64_t interrupts;       /**< Counter, RT_HAS_ACTIVITY. Since boot. `stat` intr. */

	uint64_t memory_total_bytes; /**< Gauge, RT_HAS_MEMORY. `meminfo` MemTotal. */
	/** Gauge, RT_HAS_MEMORY. MemFree: used for nothing at all. */
	uint64_t memory_free_bytes;
	/** Gauge, RT_HAS_MEMORY_AVAILABLE. MemAvailable. Where the kernel has none, an estimate
	 * (free + file pages + reclaimable slab), and the bit stands in `partial`. */
	uint64_t memory_available_bytes;
	uint64_t memory_buffers_bytes; /**< Gauge, RT_HAS_MEMORY. Buffers. */
	/** Gauge, RT_HAS_MEMORY. Cached: page cache with shmem, without slab. */
	uint64_t memory_cached_bytes;
	/** Gauge, RT_HAS_MEMORY. Cached + SReclaimable, as free(1) counts it. */
	uint64_t memory_cached_slab_bytes;
	uint64_t memory_slab_reclaimable_bytes;   /**< Gauge, RT_HAS_MEMORY. SReclaimable. */
	uint64_t memory_slab_unreclaimable_bytes; /**< Gauge, RT_HAS_MEMORY. SUnreclaim. */
	uint64_t memory_active_bytes;             /**< Gauge, RT_HAS_MEMORY. Active. */
	uint64_t memory_inactive_bytes;           /**< Gauge, RT_HAS_MEMORY. Inactive. */
	uint64_t memory_active_anon_bytes;        /**< Gauge, RT_HAS_MEMORY. Active(anon). */
	uint64_t memory_inactive_anon_bytes;      /**< Gauge, RT_HAS_MEMORY. Inactive(anon). */
	uint64_t memory_active_file_bytes;        /**< Gauge, RT_HAS_MEMORY. Active(file). */
	uint64_t memory_inactive_file_bytes;      /**< Gauge, RT_HAS_MEMORY. Inactive(file). */
	uint64_t memory_anon_bytes;               /**< Gauge, RT_HAS_MEMORY. AnonPages. */
	uint64_t memory_mapped_bytes;             /**< Gauge, RT_HAS_MEMORY. Mapped. */
	uint64_t memory_shmem_bytes; /**< Gauge, RT_HAS_MEMORY. Shmem: shared memory and tmpfs. */
	/** Gauge, RT_HAS_MEMORY_AVAILABLE. Total - available: today's meaning of used. */
	uint64_t memory_used_bytes;
	/** Gauge, RT_HAS_MEMORY. Total - free - buffers - cached - reclaimable slab: the older
	 * meaning of used, which takes shared memory for free. */
	uint64_t memory_used_classic_bytes;
	uint64_t swap_total_bytes;  /**< Gauge, RT_HAS_SWAP. SwapTotal. */
	uint64_t swap_free_bytes;   /**< Gauge, RT_HAS_SWAP. SwapFree. */
	uint64_t swap_cached_bytes; /**< Gauge, RT_HAS_SWAP. SwapCached: also in memory. */

	/** Counter, RT_HAS_DISK. Over the real leaf devices: no partitions, no device built of
	 * others, no loop, ram or zram. Sectors of 512 bytes, whatever the hardware's.
	 * `diskstats`. */
	uint64_t disk_read_bytes;
	uint64_t disk_write_bytes; /**< Counter, RT_HAS_DISK. As disk_read_bytes. */
	uint64_t disk_reads;       /**< Counter, RT_HAS_DISK. Operations completed. */
	uint64_t disk_writes;      /**< Counter, RT_HAS_DISK. Operations completed. */
	/** Counter, RT_HAS_DISK. Time with I/O in flight, summed over the devices. */
	uint64_t disk_busy_ns;
	uint64_t disks; /**< Gauge, RT_HAS_DISK. Devices in these totals. */

	/** Gauge, RT_HAS_FILESYSTEM. Over local file systems on storage, each superblock once.
	 * statvfs(3). */
	uint64_t filesystem_total_bytes;
	uint64_t filesystem_used_bytes;      /**< Gauge, RT_HAS_FILESYSTEM. Total - free. */
	uint64_t filesystem_free_bytes;      /**< Gauge, RT_HAS_FILESYSTEM. Free for root. */
	uint64_t filesystem_available_bytes; /**< Gauge, RT_HAS_FILESYSTEM. Free for users. */
	/** Gauge, RT_HAS_FILESYSTEM. File systems in these totals. */
	uint64_t filesystems;
	/** Gauge, RT_HAS_FILESYSTEM. Left out: they did not answer in time. */
	uint64_t filesystems_skipped;

	/** Counter, RT_HAS_NETWORK. Over interfaces with a device of their own; where there is
	 * none (containers), over all but loopback. `net/dev`. */
	uint64_t network_receive_bytes;
	uint64_t network_transmit_bytes;   /**< Counter, RT_HAS_NETWORK. */
	uint64_t network_receive_packets;  /**< Counter, RT_HAS_NETWORK. */
	uint64_t network_transmit_packets; /**< Counter, RT_HAS_NETWORK. */
	uint64_t network_receive_errors;   /**< Counter, RT_HAS_NETWORK. */
	uint64_t network_transmit_errors;  /**< Counter, RT_HAS_NETWORK. */
	uint64_t network_receive_drops;    /**< Counter, RT_HAS_NETWORK. */
	uint64_t network_transmit_drops;   /**< Counter, RT_HAS_NETWORK. */
	/** Gauge, RT_HAS_NETWORK. Interfaces in these totals. */
	uint64_t network_interfaces;

	/** Gauge, RT_HAS_LOAD. Running and blocked threads, averaged over a minute. `loadavg`. */
	double load_1m;
	double load_5m;  /**< Gauge, RT_HAS_LOAD. */
	double load_15m; /**< Gauge, RT_HAS_LOAD. */

	/** Counter, RT_HAS_PRESSURE_CPU. Some task waited. `pressure/cpu`. */
	uint64_t pressure_cpu_some_ns;
	/** Counter, RT_HAS_PRESSURE_MEMORY. Some task waited. `pressure/memory`. */
	uint64_t pressure_memory_some_ns;
	uint64_t pressure_memory_full_ns; /**< Counter, RT_HAS_PRESSURE_MEMORY. All tasks waited. */
	/** Counter, RT_HAS_PRESSURE_IO. Some task waited. `pressure/io`. */
	uint64_t pressure_io_some_ns;
	uint64_t pressure_io_full_ns; /**< Counter, RT_HAS_PRESSURE_IO. All tasks waited. */

	/** Gauge, RT_HAS_ZFS. Sum over pools, as `zpool list` gives it. */
	uint64_t zfs_size_bytes;
	uint64_t zfs_allocated_bytes; /**< Gauge, RT_HAS_ZFS. */
	uint64_t zfs_free_bytes;      /**< Gauge, RT_HAS_ZFS. */
	uint64_t zfs_pools;           /**< Gauge, RT_HAS_ZFS. */

	/* Since 0.2. */

	/** Gauge. A tree: processes left out of this sample, since there were more than can be
	 * followed (65,536) or no memory for them; RT_REASON_MEMBERS_SKIPPED. @since 0.2 */
	uint64_t members_skipped;
	/** Gauge, RT_HAS_PSS. Age of the oldest reading that pss_bytes holds. @since 0.2 */
	uint64_t pss_age_ns;
	/** RT_PSS_ value: where pss_bytes comes from; 0 when there is none. @since 0.2 */
	uint32_t pss_source;
	uint32_t source; /**< RT_SOURCE_ value: how the members were read. @since 0.2 */
};

/** Measure once.
 *
 *  @param t the tracker.
 *  @param out receives the sample.
 *  @param out_size sizeof(struct rt_metrics) as the caller was compiled with.
 *  @retval 0 done, perhaps with bits cleared
 *  @retval -ESRCH all that the tracker followed has ended; @p out holds the last totals all the
 *  same
 *  @retval -EFAULT @p t or @p out is NULL
 *  @retval -EINVAL @p out_size is shorter than the struct was in 0.1, or above 4096
 *  @retval -ENOMEM no memory for new members; the next call tries again
 *
 *  Cost: per member up to five file reads and one per thread, fewer with rt_opts.want; for the
 *  machine ten file reads. @since 0.1 */
RT_API int rt_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size);

/** Have a quick look between two samples, for peaks of memory and for processes that come and
 *  go.
 *
 *  Takes in the process events that wait, and sums the RSS of all members; a new peak is in the
 *  next sample. Where nothing has forked, it costs one file read per member. Call it as often as
 *  peaks matter: rt_command_wait() does so by itself while it waits.
 *
 *  @param t a pid tracker that was sampled before.
 *  @retval 0 done
 *  @retval -EFAULT @p t is NULL
 *  @retval -EOPNOTSUPP it is not a pid tracker, or RSS is not wanted
 *  @retval -ENODATA it was not sampled yet
 *  @since 0.2 */
RT_API int rt_tracker_glance(struct rt_tracker *t);

/** Why a figure is missing or partial in the tracker's last sample.
 *
 *  @param t the tracker.
 *  @param has one RT_HAS_ bit.
 *  @return 0 when the bit is valid; the negative errno value of the first obstacle otherwise:
 *  -EACCES (not permitted), -ENOENT (this kernel has no such file), -EOPNOTSUPP (not of this
 *  kind of tracker, or not wanted), -EBADMSG (the file could not be understood), -ETIMEDOUT,
 *  -ENODATA (nothing was sampled yet), -EINVAL (@p has is not one known bit) or -EFAULT (@p t is
 *  NULL). @since 0.1 */
RT_API int rt_tracker_status(const struct rt_tracker *t, uint64_t has);

/** @} */

/** @defgroup lists Lists
 *  Per-item figures of the last sample, one flat row each.
 *
 *  All these calls work alike: `element_size` is sizeof of the row as the caller was compiled
 *  with and also the stride of @p array; `*count` is the room in @p array when called and the
 *  number of items there are on return, which may be more than were written. @p array may be
 *  NULL when `*count` is 0. They read no file, and return 0, -EFAULT (a NULL argument), -EINVAL
 *  (ill-sized row), -EOPNOTSUPP (not of this kind of tracker), or -ENODATA (nothing was sampled
 *  yet, or the list could not be read).
 *  @{ */

/** One member of a tree. @since 0.1 */
struct rt_process {
	uint32_t size;  /**< Bytes of this struct that the library filled. */
	int32_t pid;    /**< Process id. */
	int32_t ppid;   /**< Parent's process id, now. */
	uint32_t state; /**< One character, as in `stat`: R S D Z T t I ... */
	uint64_t valid; /**< RT_HAS_ bits of the figures of this row. */
	/** Start, in clock ticks since boot. With pid it names the process for good. */
	uint64_t start_ticks;
	/** Name, NUL-terminated, as the process set it: any byte may occur. `stat`. */
	char comm[64];
	uint64_t cpu_user_ns;   /**< Counter, RT_HAS_CPU. Its own threads only. */
	uint64_t cpu_system_ns; /**< Counter, RT_HAS_CPU. Its own threads only. */
	/** Counter, RT_HAS_CPU. Of the children it waited for, and theirs. `stat` cutime. */
	uint64_t reaped_cpu_user_ns;
	/** Counter, RT_HAS_CPU. The same in kernel mode. `stat` cstime. */
	uint64_t reaped_cpu_system_ns;
	uint64_t rss_bytes;      /**< Gauge, RT_HAS_RSS. */
	uint64_t pss_bytes;      /**< Gauge, RT_HAS_PSS. */
	uint64_t peak_rss_bytes; /**< RT_HAS_PEAK_RSS. */
	/** Counter, RT_HAS_IO. Holds that of the children it waited for: so the kernel counts. */
	uint64_t read_bytes;
	uint64_t write_bytes;           /**< Counter, RT_HAS_IO. Likewise. */
	uint64_t cancelled_write_bytes; /**< Counter, RT_HAS_IO. Likewise. */
	uint64_t read_chars;            /**< Counter, RT_HAS_IO. Likewise. */
	uint64_t write_chars;           /**< Counter, RT_HAS_IO. Likewise. */
	uint64_t minor_faults;          /**< Counter, RT_HAS_FAULTS. Its own threads only. */
	uint64_t major_faults;          /**< Counter, RT_HAS_FAULTS. Its own threads only. */
	uint64_t voluntary_switches;    /**< Counter, RT_HAS_CTXSW. Its live threads. */
	uint64_t involuntary_switches;  /**< Counter, RT_HAS_CTXSW. Its live threads. */
	uint64_t threads;               /**< Gauge, RT_HAS_THREADS. */
	uint64_t pss_age_ns;            /**< Gauge, RT_HAS_PSS. Age of the reading. @since 0.2 */
	uint32_t pss_source;            /**< RT_PSS_ value; 0 when there is none. @since 0.2 */
	uint32_t reserved;              /**< 0. @since 0.2 */
};

/** One CPU; the modes are disjoint, as those of rt_metrics. @since 0.1 */
struct rt_cpu {
	uint32_t size;          /**< Bytes of this struct that the library filled. */
	uint32_t id;            /**< The kernel's number of the CPU. Numbers may have gaps. */
	uint64_t user_ns;       /**< Counter, without guest time. */
	uint64_t nice_ns;       /**< Counter, without guest_nice time. */
	uint64_t system_ns;     /**< Counter. */
	uint64_t idle_ns;       /**< Counter. */
	uint64_t iowait_ns;     /**< Counter. */
	uint64_t irq_ns;        /**< Counter. */
	uint64_t softirq_ns;    /**< Counter. */
	uint64_t steal_ns;      /**< Counter. */
	uint64_t guest_ns;      /**< Counter. */
	uint64_t guest_nice_ns; /**< Counter. */
};

/** rt_disk.flags, rt_network.flags, rt_filesystem.flags: the item counts in the total. @since 0.1
 */
#define RT_ITEM_IN_TOTAL (UINT32_C(1) << 0)
/** rt_disk.flags: a partition of another device. @since 0.1 */
#define RT_ITEM_PARTITION (UINT32_C(1) << 1)
/** rt_disk.flags, rt_network.flags: no hardware of its own (dm, md, loop, zram; bridge, veth,
 * tunnel). @since 0.1 */
#define RT_ITEM_VIRTUAL (UINT32_C(1) << 2)
/** rt_filesystem.flags: it did not answer in time; the figures are its last ones, or 0. @since
 * 0.1 */
#define RT_ITEM_STALLED (UINT32_C(1) << 3)
/** rt_filesystem.flags: served over a network. @since 0.1 */
#define RT_ITEM_NETWORK (UINT32_C(1) << 4)

/** One block device. Counters go on over a reset or a return of the device. @since 0.1 */
struct rt_disk {
	uint32_t size;        /**< Bytes of this struct that the library filled. */
	uint32_t flags;       /**< RT_ITEM_ bits. */
	uint32_t major;       /**< Device number. */
	uint32_t minor;       /**< Device number. */
	char name[64];        /**< Kernel name, as in `diskstats`. */
	uint64_t read_bytes;  /**< Counter. */
	uint64_t write_bytes; /**< Counter. */
	uint64_t reads;       /**< Counter. Operations completed. */
	uint64_t writes;      /**< Counter. Operations completed. */
	uint64_t busy_ns;     /**< Counter. Time with I/O in flight. */
	uint64_t in_flight;   /**< Gauge. Operations under way. */
};

/** One file system, each superblock once. @since 0.1 */
struct rt_filesystem {
	uint32_t size;            /**< Bytes of this struct that the library filled. */
	uint32_t flags;           /**< RT_ITEM_ bits. */
	uint32_t major;           /**< Device number of the superblock. */
	uint32_t minor;           /**< Device number of the superblock. */
	char type[32];            /**< Type, as in `mountinfo`. Cut at 31 bytes. */
	char source[128];         /**< What is mounted, decoded. Cut at 127 bytes. */
	char mount_point[256];    /**< Where, decoded. Cut at 255 bytes. */
	uint64_t total_bytes;     /**< Gauge. Size. */
	uint64_t used_bytes;      /**< Gauge. Total - free. */
	uint64_t free_bytes;      /**< Gauge. Free for root (f_bfree). */
	uint64_t available_bytes; /**< Gauge. Free for users (f_bavail). */
};

/** One network interface of the caller's network namespace. @since 0.1 */
struct rt_network {
	uint32_t size;             /**< Bytes of this struct that the library filled. */
	uint32_t flags;            /**< RT_ITEM_ bits. */
	char name[32];             /**< Name of the interface. */
	uint64_t receive_bytes;    /**< Counter. */
	uint64_t transmit_bytes;   /**< Counter. */
	uint64_t receive_packets;  /**< Counter. */
	uint64_t transmit_packets; /**< Counter. */
	uint64_t receive_errors;   /**< Counter. */
	uint64_t transmit_errors;  /**< Counter. */
	uint64_t receive_drops;    /**< Counter. */
	uint64_t transmit_drops;   /**< Counter. */
};

/** One ZFS pool, as `zpool list` gives it. @since 0.1 */
struct rt_zpool {
	uint32_t size;            /**< Bytes of this struct that the library filled. */
	uint32_t flags;           /**< 0. */
	char name[256];           /**< Name of the pool. */
	uint64_t size_bytes;      /**< Gauge. */
	uint64_t allocated_bytes; /**< Gauge. */
	uint64_t free_bytes;      /**< Gauge. */
};

/** Members of the tree in the last sample. Order: root first, then as they were found. @since 0.1
 */
RT_API int rt_tracker_processes(const struct rt_tracker *t, struct rt_process *array,
                                size_t element_size, size_t *count);
/** CPUs that are online, by number. @since 0.1 */
RT_API int rt_tracker_cpus(const struct rt_tracker *t, struct rt_cpu *array, size_t element_size,
                           size_t *count);
/** Block devices, partitions and virtual ones included and marked. @since 0.1 */
RT_API int rt_tracker_disks(const struct rt_tracker *t, struct rt_disk *array, size_t element_size,
                            size_t *count);
/** File systems that hold blocks (not proc and its like). @since 0.1 */
RT_API int rt_tracker_filesystems(const struct rt_tracker *t, struct rt_filesystem *array,
                                  size_t element_size, size_t *count);
/** Network interfaces, loopback and virtual ones included and marked. @since 0.1 */
RT_API int rt_tracker_networks(const struct rt_tracker *t, struct rt_network *array,
                               size_t element_size, size_t *count);
/** ZFS pools. @since 0.1 */
RT_API int rt_tracker_zpools(const struct rt_tracker *t, struct rt_zpool *array,
                             size_t element_size, size_t *count);

/** @} */

/** @defgroup diff Differences
 *  What happened between two samples of one tracker.
 *  @{ */

/** Differences of the counters of two samples, and rates over the time between them.
 *
 *  A bit of `valid` is set where both samples had it valid and no counter of that domain went
 *  backwards; a bit of `partial` where at least one of the two was a lower bound. Differences of
 *  consecutive samples add up to the difference of the first and the last. @since 0.1 */
struct rt_delta {
	uint32_t size;         /**< Bytes of this struct that the library filled. */
	uint32_t kind;         /**< RT_KIND_PID or RT_KIND_SYSTEM. */
	uint64_t valid;        /**< RT_HAS_ bits of the complete differences. */
	uint64_t partial;      /**< RT_HAS_ bits of the differences of lower bounds. */
	uint64_t interval_ns;  /**< Time between the samples, monotonic, without time asleep. */
	uint64_t suspended_ns; /**< Time that the machine slept in between. */
	uint64_t self_cpu_ns;  /**< CPU time that the tracker's own samples cost in the interval. */
	/** Differences of the counters; ru_maxrss as in the later sample. */
	struct rt_rusage rusage;

	uint64_t cpu_user_ns;   /**< RT_HAS_CPU. */
	uint64_t cpu_system_ns; /**< RT_HAS_CPU. */
	/** RT_HAS_CPU. In clock ticks; consecutive ones add up without rounding loss. */
	uint64_t cpu_user_ticks;
	uint64_t cpu_system_ticks; /**< RT_HAS_CPU. Likewise. */
	uint64_t ticks_per_second; /**< The clock tick of the two fields above. */
	/** RT_HAS_CPU with RT_HAS_RATE. (user + system) / interval; 0 when no time passed. */
	double cores_used;

	uint64_t read_bytes;            /**< RT_HAS_IO. */
	uint64_t write_bytes;           /**< RT_HAS_IO. */
	uint64_t cancelled_write_bytes; /**< RT_HAS_IO. */
	uint64_t read_chars;            /**< RT_HAS_IO. */
	uint64_t write_chars;           /**< RT_HAS_IO. */
	uint64_t minor_faults;          /**< RT_HAS_FAULTS. */
	uint64_t major_faults;          /**< RT_HAS_FAULTS. */
	uint64_t voluntary_switches;    /**< RT_HAS_CTXSW. */
	uint64_t involuntary_switches;  /**< RT_HAS_CTXSW. */
	uint64_t processes_seen;        /**< RT_HAS_PROCESSES. New members. */

	uint64_t cpu_mode_user_ns;         /**< RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_nice_ns;         /**< RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_system_ns;       /**< RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_idle_ns;         /**< RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_iowait_ns;       /**< RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_irq_ns;          /**< RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_softirq_ns;      /**< RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_steal_ns;        /**< RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_guest_ns;        /**< RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_guest_nice_ns;   /**< RT_HAS_CPU_MODES. */
	uint64_t forks;                    /**< RT_HAS_ACTIVITY. */
	uint64_t context_switches;         /**< RT_HAS_ACTIVITY. */
	uint64_t interrupts;               /**< RT_HAS_ACTIVITY. */
	uint64_t disk_read_bytes;          /**< RT_HAS_DISK. */
	uint64_t disk_write_bytes;         /**< RT_HAS_DISK. */
	uint64_t disk_reads;               /**< RT_HAS_DISK. */
	uint64_t disk_writes;              /**< RT_HAS_DISK. */
	uint64_t disk_busy_ns;             /**< RT_HAS_DISK. */
	uint64_t network_receive_bytes;    /**< RT_HAS_NETWORK. */
	uint64_t network_transmit_bytes;   /**< RT_HAS_NETWORK. */
	uint64_t network_receive_packets;  /**< RT_HAS_NETWORK. */
	uint64_t network_transmit_packets; /**< RT_HAS_NETWORK. */
	uint64_t network_receive_errors;   /**< RT_HAS_NETWORK. */
	uint64_t network_transmit_errors;  /**< RT_HAS_NETWORK. */
	uint64_t network_receive_drops;    /**< RT_HAS_NETWORK. */
	uint64_t network_transmit_drops;   /**< RT_HAS_NETWORK. */
	uint64_t pressure_cpu_some_ns;     /**< RT_HAS_PRESSURE_CPU. */
	uint64_t pressure_memory_some_ns;  /**< RT_HAS_PRESSURE_MEMORY. */
	uint64_t pressure_memory_full_ns;  /**< RT_HAS_PRESSURE_MEMORY. */
	uint64_t pressure_io_some_ns;      /**< RT_HAS_PRESSURE_IO. */
	uint64_t pressure_io_full_ns;      /**< RT_HAS_PRESSURE_IO. */
};

/** What happened from one sample to a later one of the same tracker.
 *
 *  Pure arithmetic: no file, no clock, no tracker is touched; samples may come from another
 *  process or a file.
 *
 *  @param from the earlier sample.
 *  @param to the later sample; the same instant is allowed and has no rate.
 *  @param out receives the differences.
 *  @param out_size sizeof(struct rt_delta) as the caller was compiled with.
 *  @retval 0 done, perhaps with bits cleared
 *  @retval -EFAULT an argument is NULL
 *  @retval -EINVAL ill-sized @p out or samples, or @p to is earlier than @p from
 *  @retval -ESTALE the samples are of different trackers
 *  @since 0.1 */
RT_API int rt_diff(const struct rt_metrics *from, const struct rt_metrics *to, struct rt_delta *out,
                   size_t out_size);

/** @} */

/** @defgroup commands Commands
 *  Start a program, follow all it starts, and learn what it used.
 *  @{ */

/** A program that was started, and all it starts. Opaque; not thread-safe but for
 * rt_command_signal(). @since 0.1 */
struct rt_command;

#define RT_ACCOUNTING_AUTO 0 /**< The best rung that works here without more rights. @since 0.1 */
/** A child of the caller, and what samples see of its tree. @since 0.1 */
#define RT_ACCOUNTING_POLL 1
/** Under a supervisor: a small process that starts the program, adopts the orphans of its tree,
 * reaps them, and has the kernel's exact account of all that was waited for. @since 0.1 */
#define RT_ACCOUNTING_WAIT 2
/** As RT_ACCOUNTING_WAIT, and in a cgroup (v2) of its own below the caller's, which is removed
 * afterwards: the kernel's account of all that ran in it, whoever waited for it. Needs the right
 * to make one. @since 0.1 */
#define RT_ACCOUNTING_CGROUP 3
/** As RT_ACCOUNTING_WAIT, with a clock (perf task-clock) that the program and all it starts
 * inherit: it notices children that nobody waits for and estimates what they used. It slows
 * every fork, exec and thread down by some percent, and counts time stolen by a hypervisor, so
 * RT_ACCOUNTING_AUTO does not choose it. Needs perf_event_paranoid at 2 or below. @since 0.2 */
#define RT_ACCOUNTING_WAIT_PERF 4
/** By BPF programs, process by process. This release has none: -EOPNOTSUPP. @since 0.2 */
#define RT_ACCOUNTING_BPF 5

/** rt_command_opts.flags: list every process that lives, for rt_command_processes(). Where there
 * are process events (see RT_OPT_PROCESS_EVENTS), the list has everybody; each event is then
 * looked into at once, which costs the program some percent where it forks all the time. Without
 * them, and at RT_ACCOUNTING_POLL, it has those that the supervisor reaped or samples saw.
 * @since 0.2 */
#define RT_COMMAND_LIST_PROCESSES (UINT32_C(1) << 0)

/** What to start and how. @since 0.1 */
struct rt_command_opts {
	uint32_t size;  /**< sizeof(struct rt_command_opts), set by the caller. */
	uint32_t flags; /**< RT_COMMAND_ bits. */
	/** Program and arguments, ended by NULL. Searched in PATH unless it has a slash: that of
	 * its own environment, at RT_ACCOUNTING_POLL that of the caller's. */
	const char *const *argv;
	const char *const *envp; /**< Environment, ended by NULL; NULL is the caller's. */
	const char *cwd;         /**< Directory to start in; NULL is the caller's. */
	/** How its tracker works; NULL is all defaults. A root is refused. */
	const struct rt_opts *tracker;
	/** RT_ACCOUNTING_ rung to use. With RT_OPT_NO_CHILDREN only RT_ACCOUNTING_POLL can be
	 * had, which RT_ACCOUNTING_AUTO then is. */
	uint32_t accounting;
	uint32_t reserved; /**< 0. */
};

/** Start a program.
 *
 *  It gets the caller's descriptors (but for close-on-exec ones), terminal and process group, an
 *  empty signal mask and the default action for SIGCHLD and SIGPIPE. With RT_ACCOUNTING_WAIT it
 *  is a grandchild of the caller (`libexec/librtrack/rtrack-supervisor` is its parent), so that
 *  no wait of the caller's can take its exit status.
 *
 *  @param out receives the command, or NULL on failure; free it with rt_command_free().
 *  @param opts what to start.
 *  @retval 0 it runs
 *  @retval -EFAULT @p out, @p opts or argv is NULL
 *  @retval -EINVAL argv is empty, or an option is unknown or ill-sized
 *  @retval -E2BIG @p opts is longer than this library knows and the unknown part is not zero;
 *  also the
 *          arguments are too long for the kernel
 *  @retval -ENOENT the program (or @p cwd) does not exist; -EACCES it may not be executed;
 *  -ENOEXEC it is not
 *          executable; or another error of execve(2)
 *  @retval -EOPNOTSUPP the accounting that was asked for cannot be had: the supervisor is not
 *          installed, there is no cgroup v2 that the caller may use, or no perf event that it may
 *          open
 *  @retval -ECHILD the supervisor was killed while it started the program, which may run
 *  @retval -ENOSYS no proc file system is mounted; -EXDEV it is of another pid namespace;
 *  nothing was started
 *  @retval -EAGAIN no process could be made; likewise -ENOMEM and -EMFILE
 *
 *  Cost: two processes, one sample of the tree.
 *  @since 0.1 */
RT_API int rt_command_start(struct rt_command **out, const struct rt_command_opts *opts);

/** Process id of the program, or -EFAULT when @p c is NULL. @since 0.1 */
RT_API int32_t rt_command_pid(const struct rt_command *c);

/** The tracker of the program's tree. Borrowed: lives as long as the command. Sample it at will;
 * after rt_command_wait() has returned 0 it gives the final totals. @since 0.1 */
RT_API struct rt_tracker *rt_command_tracker(struct rt_command *c);

/** Send a signal to the program, as kill(2). Async-signal-safe, and safe on any thread until
 *  rt_command_free().
 *  @return 0, -ESRCH when it has ended, -EINVAL for an unknown signal, -EPERM, or -EFAULT when
 *  @p c is NULL.
 *  @since 0.1 */
RT_API int rt_command_signal(struct rt_command *c, int signal);

/** End the program and all that it has started, as far as they are members of its tree, by
 *  SIGKILL: at RT_ACCOUNTING_CGROUP all at once (`cgroup.kill`, since Linux 5.14), else one by
 *  one, until no more are found. Also after rt_command_wait(), for those who were left running:
 *  the outcome is then taken anew, and another rt_command_wait() gives it.
 *  @return 0 when all were told, -EPERM when some may not be killed by the caller, or -EFAULT
 *  when @p c is NULL.
 *  @since 0.2 */
RT_API int rt_command_kill(struct rt_command *c);

/** rt_outcome.peak_tree_kind: sum of PSS. @since 0.1 */
#define RT_PEAK_PSS 1
/** rt_outcome.peak_tree_kind: sum of RSS, shared pages counted in each process. @since 0.1 */
#define RT_PEAK_RSS 2
/** rt_outcome.peak_tree_kind: memory.peak of the program's cgroup, page cache included; not bound
 * to samples. @since 0.1 */
#define RT_PEAK_CGROUP 3

/** What a program that ended has used, with all that it started. @since 0.1 */
struct rt_outcome {
	uint32_t size;       /**< Bytes of this struct that the library filled. */
	int32_t exit_code;   /**< Exit code, or -1 when a signal ended it. */
	int32_t signal;      /**< Signal that ended it, or 0. */
	uint32_t accounting; /**< RT_ACCOUNTING_ rung that was used. */
	uint64_t valid;      /**< RT_HAS_ bits of the complete figures. */
	uint64_t partial;    /**< RT_HAS_ bits of the figures that are lower bounds. */
	/** 1 when there is no reason why CPU time of the tree might be missing, else 0. At
	 * RT_ACCOUNTING_WAIT up to a hundredth and a clock tick may go unnoticed: cpu_high_ns
	 * still holds it. */
	uint32_t complete;
	uint32_t reasons;           /**< RT_REASON_ bits: why not. */
	uint64_t start_realtime_ns; /**< Start, since 1970. */
	uint64_t wall_ns;           /**< From start to end, monotonic. */
	struct rt_rusage rusage;    /**< As rt_metrics.rusage, final. */
	uint64_t cpu_user_ns;       /**< RT_HAS_CPU. */
	uint64_t cpu_system_ns;     /**< RT_HAS_CPU. */
	uint64_t cpu_low_ns;        /**< What was certainly used. */
	/** Upper bound of what was used: cpu_low_ns at RT_ACCOUNTING_CGROUP; else what the
	 * caller's cgroup (v2) used meanwhile, the caller and others in it included; UINT64_MAX
	 * where there is none. */
	uint64_t cpu_high_ns;
	/** RT_HAS_PEAK_RSS. Largest peak of any single process: of those that samples saw and,
	 * with RT_ACCOUNTING_WAIT, of all that were waited for. */
	uint64_t peak_rss_bytes;
	uint64_t peak_tree_bytes; /**< Largest memory of the whole tree, as peak_tree_kind says. */
	uint32_t peak_tree_kind;  /**< RT_PEAK_ value: what that sum is of; 0 when there is none. */
	/** Members that still ran when the program had ended, zombies left out; of those who
	 * cannot be counted, 1. */
	uint32_t left_running;
	uint64_t read_bytes;  /**< RT_HAS_IO. */
	uint64_t write_bytes; /**< RT_HAS_IO. */
	/** RT_HAS_PROCESSES. Processes that lived. In `partial`, where there are no process
	 * events, or some were lost: those that samples saw. */
	uint64_t processes;
	uint64_t samples;         /**< Samples taken of the tree, the final ones included. */
	uint64_t overhead_cpu_ns; /**< CPU time that all this has cost the caller. */
	/** RT_HAS_CPU. Best estimate of what was used: cpu_low_ns, or what the inherited clock
	 * has counted at RT_ACCOUNTING_WAIT_PERF, where that is more. @since 0.2 */
	uint64_t cpu_estimate_ns;
	/** What the tree held at least: the larger of peak_tree_bytes, where that is no RSS sum
	 * (which counts shared pages more than once), and the largest peak of one process.
	 * @since 0.2 */
	uint64_t peak_tree_low_bytes;
	/** What the sum over the tree was at most: for RT_PEAK_CGROUP peak_tree_bytes; else the
	 * largest peak of one process times processes_peak; UINT64_MAX where these are not known
	 * for all. @since 0.2 */
	uint64_t peak_tree_high_bytes;
	/** RT_HAS_PROCESSES_PEAK. Most processes at the same time. @since 0.2 */
	uint64_t processes_peak;
	uint64_t members_skipped; /**< As in rt_metrics, in the worst sample. @since 0.2 */
	/** RT_HAS_CGROUP_MEMORY. `memory.peak`: page cache included. @since 0.2 */
	uint64_t cgroup_memory_peak_bytes;
	/** RT_HAS_CGROUP_IO. `io.stat`, over all devices. @since 0.2 */
	uint64_t cgroup_read_bytes;
	uint64_t cgroup_write_bytes; /**< RT_HAS_CGROUP_IO. Likewise. @since 0.2 */
	/** RT_HAS_CGROUP_TASKS. `pids.peak`: most threads at the same time. @since 0.2 */
	uint64_t cgroup_tasks_peak;
};

/** Wait for the program, and learn what it used.
 *
 *  The caller's other children, signal handlers and threads are not touched. While it waits it
 *  glances at the tree (rt_tracker_glance()), at most a hundred times a second and for at most
 *  half a percent of one CPU. Takes a last sample. Further calls give the same outcome again.
 *
 *  @param c the command.
 *  @param timeout_ns longest time to wait; 0 only looks, negative waits for ever.
 *  @param out receives the outcome; NULL only waits.
 *  @param out_size sizeof(struct rt_outcome) as the caller was compiled with.
 *  @retval 0 it has ended
 *  @retval -ETIMEDOUT it runs still
 *  @retval -EINTR a signal handler ran
 *  @retval -ECHILD its exit status is lost, for the supervisor was killed or (with
 *  RT_ACCOUNTING_POLL) somebody else in
 *          this process took it; @p out holds what was seen
 *  @retval -EFAULT @p c is NULL
 *  @retval -EINVAL ill-sized @p out
 *  @since 0.1 */
RT_API int rt_command_wait(struct rt_command *c, int64_t timeout_ns, struct rt_outcome *out,
                           size_t out_size);

/** rt_command_process.flags: its end was seen by who reaped it, or as a zombie: its figures are
 * final. @since 0.2 */
#define RT_PROCESS_FINAL (UINT32_C(1) << 0)
/** rt_command_process.flags: it ran on when the list was made. @since 0.2 */
#define RT_PROCESS_RUNNING (UINT32_C(1) << 1)

/** One process that lived. What is not known of it is 0 or empty and has no bit. @since 0.2 */
struct rt_command_process {
	uint32_t size;  /**< Bytes of this struct that the library filled. */
	uint32_t flags; /**< RT_PROCESS_ bits. */
	int32_t pid;    /**< Process id. */
	int32_t ppid;   /**< Process id of who forked it; 0 where that was not seen. */
	/** Exit code; -1 when it is not known, a signal ended it, or it runs on. */
	int32_t exit_code;
	int32_t signal; /**< Signal that ended it, or 0. */
	uint64_t valid; /**< RT_HAS_ bits of the figures that are final. */
	/** RT_HAS_ bits of the figures that are lower bounds: as a sample saw it last. */
	uint64_t partial;
	uint64_t start_realtime_ns; /**< Start, since 1970; 0 where that is not known. */
	/** End, since 1970; 0 where that is not known, or it runs on. */
	uint64_t end_realtime_ns;
	uint64_t cpu_user_ns;    /**< RT_HAS_CPU. Its own threads only. */
	uint64_t cpu_system_ns;  /**< RT_HAS_CPU. Its own threads only. */
	uint64_t peak_rss_bytes; /**< RT_HAS_PEAK_RSS. */
	/** RT_HAS_IO. Holds that of the children it waited for: so the kernel counts. */
	uint64_t read_bytes;
	uint64_t write_bytes; /**< RT_HAS_IO. Likewise. */
	char comm[64];        /**< Name, NUL-terminated; any byte may occur. */
};

/** Every process that lived, by start, once rt_command_wait() has returned 0. Works as the calls
 *  of @ref lists do.
 *
 *  @return 0; -EFAULT or -EINVAL for arguments; -EOPNOTSUPP when the command was started without
 *          RT_COMMAND_LIST_PROCESSES; -ENODATA when it runs still; -ENOMEM: there was no memory
 *          for all of them, or more than 262,144 lived; the rows that there are were written all the same.
 *  @since 0.2 */
RT_API int rt_command_processes(struct rt_command *c, struct rt_command_process *array,
                                size_t element_size, size_t *count);

/** Forget a command. A program that still runs runs on: its supervisor, a child of the caller,
 * stays to reap it; without a supervisor nobody reaps it until the caller exits. What an ended
 * program left running goes to init, as it does without us. NULL is allowed. @since 0.1 */
RT_API void rt_command_free(struct rt_command *c);

/** @} */

/** @defgroup fields Field tables
 *  Names, units and places of all fields, so that bindings need not repeat them.
 *  @{ */

#define RT_STRUCT_RUSAGE 1           /**< struct rt_rusage. @since 0.1 */
#define RT_STRUCT_METRICS 2          /**< struct rt_metrics. @since 0.1 */
#define RT_STRUCT_DELTA 3            /**< struct rt_delta. @since 0.1 */
#define RT_STRUCT_OUTCOME 4          /**< struct rt_outcome. @since 0.1 */
#define RT_STRUCT_PROCESS 5          /**< struct rt_process. @since 0.1 */
#define RT_STRUCT_CPU 6              /**< struct rt_cpu. @since 0.1 */
#define RT_STRUCT_DISK 7             /**< struct rt_disk. @since 0.1 */
#define RT_STRUCT_FILESYSTEM 8       /**< struct rt_filesystem. @since 0.1 */
#define RT_STRUCT_NETWORK 9          /**< struct rt_network. @since 0.1 */
#define RT_STRUCT_ZPOOL 10           /**< struct rt_zpool. @since 0.1 */
#define RT_STRUCT_COMMAND_PROCESS 11 /**< struct rt_command_process. @since 0.2 */

#define RT_TYPE_U32 1    /**< uint32_t. @since 0.1 */
#define RT_TYPE_I32 2    /**< int32_t. @since 0.1 */
#define RT_TYPE_U64 3    /**< uint64_t. @since 0.1 */
#define RT_TYPE_I64 4    /**< int64_t. @since 0.1 */
#define RT_TYPE_DOUBLE 5 /**< double. @since 0.1 */
#define RT_TYPE_CHARS 6  /**< NUL-terminated char array of `length` bytes. @since 0.1 */
#define RT_TYPE_RUSAGE 7 /**< struct rt_rusage. @since 0.1 */

/** About the struct itself: sizes, masks, times, identity. @since 0.1 */
#define RT_FIELD_META 1
#define RT_FIELD_COUNTER 2 /**< Never falls. @since 0.1 */
#define RT_FIELD_GAUGE 3   /**< Holds for the instant. @since 0.1 */

/** One field of one struct. @since 0.1 */
struct rt_field {
	uint32_t size;     /**< Bytes of this struct that the library filled. */
	uint32_t offset;   /**< Bytes from the start of the struct. */
	uint32_t length;   /**< Bytes of the field. */
	uint32_t type;     /**< RT_TYPE_ value. */
	uint32_t role;     /**< RT_FIELD_ value. */
	uint32_t reserved; /**< 0. */
	/** RT_HAS_ bits that must all be set for it; for rt_rusage the bit of rt_pid_getrusage();
	 * or 0. */
	uint64_t has;
	char name[40]; /**< Name, as in the header. */
	/** "ns", "s", "By", "KiBy", "512By", "1" ...: UCUM, as OpenTelemetry has it. */
	char unit[16];
};

/** How many fields a struct has.
 *  @param struct_id RT_STRUCT_ value.
 *  @return the number, or 0 for an unknown struct. @since 0.1 */
RT_API uint32_t rt_field_count(uint32_t struct_id);

/** Size of a struct in the library that was loaded.
 *  @param struct_id RT_STRUCT_ value.
 *  @return bytes, or 0 for an unknown struct. @since 0.1 */
RT_API uint32_t rt_field_struct_size(uint32_t struct_id);

/** Describe one field.
 *
 *  @param struct_id RT_STRUCT_ value.
 *  @param index from 0, in the order of the struct.
 *  @param out receives the description.
 *  @param out_size sizeof(struct rt_field) as the caller was compiled with.
 *  @return 0, -EINVAL for an unknown struct, an index past its end or an ill-sized @p out, or
 *  -EFAULT.
 *  @since 0.1 */
RT_API int rt_field_get(uint32_t struct_id, uint32_t index, struct rt_field *out, size_t out_size);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
