/* SPDX-License-Identifier: MIT */
/** @file
 *  librtrack: resource usage of a process tree, or of the whole system.
 *
 *  Rules for every call in this header:
 *  - **Errors.** Calls return 0 or a negative errno value, and do not set `errno`. rt_strerror()
 *    returns the text of an error.
 *  - **Partial loss is not an error.** If a figure cannot be read, its bit in `valid` is clear;
 *    rt_tracker_obstacle() has the reason. A figure that could not be read is never reported as a
 *    valid 0.
 *  - **Units.** Times are in nanoseconds and memory is in bytes, unless the name says otherwise.
 *  - **Counters** never fall. They count from the start of what they describe. **Gauges** hold
 *    for one instant.
 *  - **Sizes.** Input structs carry their size in the first field, which the caller sets. Zero in
 *    any other field means the default. For outputs, the caller passes `sizeof` as an argument.
 *    The library fills the part that both sides know, zeroes the rest, and stores in `size` the
 *    number of bytes that it filled: see RT_HAS_FIELD(). Structs only ever grow at the end.
 *  - **Constants** are plain literals, which generators of bindings read. A bit is as wide as
 *    its mask, so `mask & ~RT_HAS_CPU` clears that bit alone. Any other value is an `int`.
 *  - **Threads.** Use a tracker on one thread at a time. Different trackers may be used on
 *    different threads. A command and its tracker may be used on several threads at once. The
 *    library has no global state. After fork(), parent and child may both go on using a tracker,
 *    independently of each other. A command is for the parent alone.
 *  - **Free last.** Free a handle when no other call with it is in progress and none will follow.
 *    To end a wait in another thread first, call rt_command_interrupt(). At the end of the process
 *    no handle need be freed: the kernel reclaims everything.
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
 *  The release of the loaded library, and the meaning of its error numbers.
 *  @{ */

/** Release of the loaded library.
 *
 *  @return the release, encoded as by RT_VERSION_ENCODE(). Cost: none.
 *  @since 0.1 */
RT_API uint32_t rt_version(void);

/** Text for an error number that this library returned.
 *
 *  @param err 0 or a negative errno value. A positive value is treated as its negative.
 *  @return a constant English phrase, never NULL. It does not depend on the locale. The caller
 *          must not free it.
 *  @since 0.1 */
RT_API const char *rt_strerror(int err);

/** Whether the library that filled a struct knew a field.
 *
 *  An older library does not know the later fields of a struct: they are 0 and mean nothing,
 *  whatever `valid` says of their bit. The same holds for a sample that another program has taken
 *  and stored. Figures that came after release 0.3 bring their own bits, so this is for fields
 *  without a bit, and for some that came under an older one (@ref abi_structs). E.g.:
 *
 *      if (RT_HAS_FIELD(&m, rt_metrics, cpu_late_ns))
 *              ...
 *
 *  @param s pointer to a struct that begins with `size`.
 *  @param tag its type, without `struct`.
 *  @param field name of the field.
 *  @return nonzero if it knew the field. Cost: none.
 *  @since 0.3 */
#define RT_HAS_FIELD(s, tag, field) ((s)->size >= offsetof(struct tag, field) + sizeof((s)->field))

/** RT_QUALITY(): there is no figure. @since 0.3 */
#define RT_QUALITY_UNKNOWN 0
/** RT_QUALITY(): about. The figure may be above or below the truth. @since 0.3 */
#define RT_QUALITY_ESTIMATE 1
/** RT_QUALITY(): at least. The figure is a lower bound. @since 0.3 */
#define RT_QUALITY_LOWER_BOUND 2
/** RT_QUALITY(): the figure is right, within the resolution of its source. @since 0.3 */
#define RT_QUALITY_EXACT 3

/** Whether there is a figure, however sure it is.
 *
 *  @param s pointer to a struct with `valid`, `partial` and `estimated`.
 *  @param has RT_HAS_ bit of the figure; of several bits, whether all are known.
 *  @return nonzero if it is known. Cost: none.
 *  @since 0.3 */
#define RT_IS_KNOWN(s, has) ((((s)->valid | (s)->partial | (s)->estimated) & (has)) == (has))

/** How sure a figure is. E.g.:
 *
 *      static const char *const words[] = { "unknown", "about", "at least", "exactly" };
 *
 *      printf("%s %.3f s\n", words[RT_QUALITY(&m, RT_HAS_CPU)], m.rusage.ru_utime);
 *
 *  @param s pointer to a struct with `valid`, `partial` and `estimated`.
 *  @param has RT_HAS_ bit of the figure; of several bits, the worst.
 *  @return RT_QUALITY_ value: the larger, the surer. Cost: none.
 *  @since 0.3 */
#define RT_QUALITY(s, has)                                                                         \
	(!RT_IS_KNOWN(s, has)       ? RT_QUALITY_UNKNOWN                                           \
	 : ((s)->estimated & (has)) ? RT_QUALITY_ESTIMATE                                          \
	 : ((s)->partial & (has))   ? RT_QUALITY_LOWER_BOUND                                       \
	                            : RT_QUALITY_EXACT)

/** @} */

/** @defgroup rusage getrusage figures
 *  The sixteen fields of getrusage(2), for the caller or for any live process.
 *  @{ */

/** Figures of the calling process. @since 0.1 */
#define RT_RUSAGE_SELF 0
/** Figures of the children that the calling process has waited for, and of the descendants that
 * those children waited for. @since 0.1 */
#define RT_RUSAGE_CHILDREN -1
/** Figures of the calling thread. @since 0.1 */
#define RT_RUSAGE_THREAD 1

/** The sixteen fields of getrusage(2), in the order of Python's `resource.struct_rusage`.
 *
 *  The struct has 128 bytes and never changes: field i of the tuple is at byte 8 * i. Linux fills
 *  nine of the fields. The other seven are marked below and are 0 on every Linux. @since 0.1 */
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
	int64_t ru_nvcsw;    /**< Voluntary context switches of all threads. */
	int64_t ru_nivcsw;   /**< Involuntary context switches of all threads. */
};

/** getrusage(2) with the flat 16-field layout. Each field equals what the system call returns.
 *
 *  @param who RT_RUSAGE_SELF, RT_RUSAGE_CHILDREN or RT_RUSAGE_THREAD.
 *  @param out receives the figures; untouched on error.
 *  @retval 0 success
 *  @retval -EINVAL @p who is none of the three
 *  @retval -EFAULT @p out is NULL
 *
 *  Cost: one system call. @since 0.1 */
RT_API int rt_getrusage(int who, struct rt_rusage *out);

/** The getrusage(2) figures of any live process, without its children.
 *
 *  The process may be the caller itself. Bit i of @p valid stands for field i of the struct. A
 *  bit is clear if the field is not known:
 *  - The caller may not read the file.
 *  - The process is a zombie, and its memory figures no longer exist.
 *  - Part of the history is lost. For context switches this is so after a thread has exited; for
 *    ru_inblock and ru_oublock, after a thread has exited and a child was reaped. The kernel does
 *    not report these to another process. The field then holds a lower bound: what could still
 *    be read.
 *
 *  The seven fields that Linux never fills are 0 and valid.
 *
 *  The caller gets its own figures from getrusage(2), all of them complete, except ru_maxrss.
 *
 *  Sources: the CPU clock of the process (utime, stime; in ticks from `stat` if there is no
 *  clock), `stat` (faults), `status` VmHWM (maxrss; unlike getrusage(2), not inherited over
 *  exec), `io` (blocks), `task/TID/status` (context switches).
 *
 *  @param pid process id in the caller's pid namespace. The id of a thread other than the leader
 *          is -ESRCH.
 *  @param out receives the figures; untouched on error.
 *  @param valid receives one bit per field; untouched on error.
 *  @retval 0 success, possibly with clear bits
 *  @retval -EINVAL @p pid is negative or zero
 *  @retval -EFAULT @p out or @p valid is NULL
 *  @retval -ESRCH no such process
 *  @retval -EACCES the process exists, but /proc hides it from the caller (hidepid)
 *  @retval -ENOENT /proc is not mounted
 *  @retval -EXDEV /proc belongs to another pid namespace, where the pid means another process
 *  @retval -EMFILE the limit of open descriptors is reached; likewise -ENFILE
 *  @retval -ENOMEM out of memory
 *
 *  Cost: `stat`, `status` and `io`, each once, and `schedstat`, if the process never had a second
 *  thread. Otherwise `stat`, one directory and three file reads per thread come on top, and as much
 *  again if a child was reaped, too. For the caller itself, one system call and `status`.
 *  @since 0.1
 *  @since 0.3 Reads each file once. For the caller itself, every field but ru_maxrss is valid, also
 *          after a thread has exited. */
RT_API int rt_pid_getrusage(int32_t pid, struct rt_rusage *out, uint32_t *valid);

/** @} */

/** @defgroup trackers Trackers
 *  A tracker follows one process tree, or the system. The caller samples it as often as needed.
 *  @{ */

/** Follows one process tree, or the system. Opaque. Not thread-safe: use it on one thread at a
 * time. @since 0.1 */
struct rt_tracker;

/** @name Domains
 *  Bits of `valid`, `partial` and `estimated` in the output structs, and of rt_opts.want. Each bit
 *  stands for the fields that name it in their documentation. A bit is in one of the three masks
 *  at most.
 *  @{ */
#define RT_HAS_CPU 0x1ULL      /**< CPU time in user and kernel mode. @since 0.1 */
#define RT_HAS_RSS 0x2ULL      /**< Resident memory. @since 0.1 */
#define RT_HAS_PSS 0x4ULL      /**< Proportional memory. @since 0.1 */
#define RT_HAS_PEAK_RSS 0x8ULL /**< Peak resident memory. @since 0.1 */
#define RT_HAS_IO 0x10ULL      /**< Bytes read and written by processes. @since 0.1 */
#define RT_HAS_FAULTS 0x20ULL  /**< Page faults. @since 0.1 */
/** Voluntary and involuntary context switches. @since 0.1 */
#define RT_HAS_CTXSW 0x40ULL
#define RT_HAS_PROCESSES 0x80ULL /**< Number of processes. @since 0.1 */
#define RT_HAS_THREADS 0x100ULL  /**< Number of threads. @since 0.1 */
/** rt_outcome: largest number of processes at the same time. @since 0.2 */
#define RT_HAS_PROCESSES_PEAK 0x200ULL
/** rt_outcome, and cgroups: memory, as the cgroup accounts for it.
 * @since 0.2
 * @since 0.3 Also of rt_cgroup_tracker_new(). */
#define RT_HAS_CGROUP_MEMORY 0x400ULL
/** rt_outcome, and cgroups: storage I/O, as the cgroup accounts for it.
 * @since 0.2
 * @since 0.3 Also of rt_cgroup_tracker_new(). */
#define RT_HAS_CGROUP_IO 0x800ULL
/** rt_outcome, and cgroups: tasks, as the cgroup accounts for them.
 * @since 0.2
 * @since 0.3 Also of rt_cgroup_tracker_new(). */
#define RT_HAS_CGROUP_TASKS 0x1000ULL
/** rt_metrics.processes_seen, rt_delta.processes_seen. RT_HAS_PROCESSES in rt_opts.want includes
 * it. @since 0.3 */
#define RT_HAS_PROCESSES_SEEN 0x2000ULL
/** Cgroup: its limit of CPU time, and how it was throttled. @since 0.3 */
#define RT_HAS_CGROUP_CPU 0x4000ULL
/** System: CPU time by mode, and the list of CPUs. @since 0.1 */
#define RT_HAS_CPU_MODES 0x10000ULL
/** System: forks, context switches, interrupts, running and blocked threads. @since 0.1 */
#define RT_HAS_ACTIVITY 0x20000ULL
/** System: memory, except available memory. @since 0.1 */
#define RT_HAS_MEMORY 0x40000ULL
#define RT_HAS_MEMORY_AVAILABLE 0x80000ULL /**< System: available memory. @since 0.1 */
#define RT_HAS_SWAP 0x100000ULL            /**< System: swap space. @since 0.1 */
#define RT_HAS_DISK 0x200000ULL            /**< System: block devices and their list. @since 0.1 */
/** System: file systems and their list. @since 0.1 */
#define RT_HAS_FILESYSTEM 0x400000ULL
/** System: network interfaces and their list. @since 0.1 */
#define RT_HAS_NETWORK 0x800000ULL
#define RT_HAS_LOAD 0x1000000ULL            /**< System: load averages. @since 0.1 */
#define RT_HAS_PRESSURE_CPU 0x2000000ULL    /**< System: CPU pressure. @since 0.1 */
#define RT_HAS_PRESSURE_MEMORY 0x4000000ULL /**< System: memory pressure. @since 0.1 */
#define RT_HAS_PRESSURE_IO 0x8000000ULL     /**< System: I/O pressure. @since 0.1 */
#define RT_HAS_ZFS 0x10000000ULL            /**< System: ZFS pools and their list. @since 0.1 */
/** Time for which GPUs were busy, and their list. Tree: what its members used. Never a default: it
 * may open the library of their driver. @since 0.3 */
#define RT_HAS_GPU 0x20000000ULL
/** Memory of GPUs. Tree: what its members hold. Never a default, likewise. @since 0.3 */
#define RT_HAS_GPU_MEMORY 0x40000000ULL
/** System: energy that GPUs have used. Never a default, likewise. @since 0.3 */
#define RT_HAS_GPU_ENERGY 0x80000000ULL
/** Tree: largest footprint so far, and the largest memory that was needed. @since 0.3 */
#define RT_HAS_PEAK_FOOTPRINT 0x400000000ULL
/** Calls with which processes read and wrote. @since 0.3 */
#define RT_HAS_IO_CALLS 0x800000000ULL
/** System with RT_OPT_OWN_LIMITS: CPU time of the caller's own cgroup. @since 0.3 */
#define RT_HAS_CGROUP_CPU_TIME 0x1000000000ULL
#define RT_HAS_HUGEPAGES 0x2000000000ULL /**< System: huge pages of hugetlbfs. @since 0.3 */
#define RT_HAS_ZFS_ARC 0x4000000000ULL   /**< System: the cache of ZFS (ARC). @since 0.3 */
/** Cgroup: reclaimable slab, the part of kernel memory that the kernel can drop. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_SLAB 0x8000000000ULL
#define RT_HAS_RATE 0x10000000000ULL /**< rt_delta only: figures per time. @since 0.1 */
/** Cgroup: the most memory that was charged to it. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_PEAK 0x20000000000ULL
/** Cgroup: memory that the kernel uses on its behalf. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_KERNEL 0x40000000000ULL
/** Cgroup: how often it reached its limits of memory. @since 0.3 */
#define RT_HAS_CGROUP_MEMORY_EVENTS 0x80000000000ULL
/** Cgroup: processes that were killed because memory ran out. @since 0.3 */
#define RT_HAS_CGROUP_OOM_KILLS 0x100000000000ULL
/** Cgroup: swap space that it uses. @since 0.3 */
#define RT_HAS_CGROUP_SWAP 0x200000000000ULL
/** Cgroup: the largest number of its tasks. @since 0.3 */
#define RT_HAS_CGROUP_TASKS_PEAK 0x400000000000ULL
/** Processes: size of the address space. In a sample: whether the rows of all members have it, as
 * for the next three. @since 0.3 */
#define RT_HAS_VIRTUAL 0x800000000000ULL
/** Processes: memory that no other maps, and swap space. Known if PSS is read. @since 0.3 */
#define RT_HAS_USS 0x1000000000000ULL
/** Processes: user, session and process group. @since 0.3 */
#define RT_HAS_IDS 0x2000000000000ULL
/** Processes: open descriptors. Never a default, since it takes a system call. @since 0.3 */
#define RT_HAS_OPEN_FDS 0x4000000000000ULL
/** Tree: the memory that its members map, each page once. @since 0.3 */
#define RT_HAS_FOOTPRINT 0x80000000000000ULL
/** Tree: the part of the footprint that the kernel cannot drop or write back. @since 0.3 */
#define RT_HAS_NEEDED 0x100000000000000ULL
/** Tree: swap space that its members use. @since 0.3 */
#define RT_HAS_TREE_SWAP 0x200000000000000ULL
/** @} */

/** rt_opts.flags, pid tracker: follow the process alone, not its descendants. @since 0.1 */
#define RT_OPT_NO_CHILDREN 0x1U
/** rt_opts.flags, system tracker: list network file systems too. They are not part of any total.
 * A dead server then blocks one helper thread, but never a sample. @since 0.1 */
#define RT_OPT_NETWORK_FILESYSTEMS 0x2U

/** rt_opts.flags, pid tracker: insist that the kernel reports every process of the tree, if the
 * caller may. Without it, a tracker receives events as RT_OPT_NO_PROCESS_EVENTS describes.
 *
 * With CAP_BPF and CAP_PERFMON, Linux 6.2 and the BPF plug-in, BPF programs account for every
 * thread of the tree from the moment that the tracker is made, in containers too. The programs are
 * the same as at RT_ACCOUNTING_BPF. CPU time, page faults and I/O are then exact, whether any
 * process waits for a child or not; so are context switches, unless a thread has ended in a process
 * that runs on: they are then lower bounds, as without BPF. rt_metrics.source is
 * RT_SOURCE_BPF_ACCOUNT. The figures include what running members, and the children that they had
 * waited for, had used before.
 *
 * Making the tracker takes 20 to 60 ms more, and 4 MB of the kernel's memory; each fork on the
 * system takes 0.1 us longer, and one of the tree 2 us.
 *
 * Otherwise the tracker receives the fork and exit events of the proc connector, which need the
 * initial pid and user namespaces, and before Linux 6.6 also CAP_NET_ADMIN. With them, the tracker
 * misses no process of the tree, however short-lived, and follows orphans. What a process used
 * after its last read is known only if a process of the tree has waited for it.
 * If neither works, rt_tracker_obstacle() says why.
 *
 * The events of the proc connector wait in a socket buffer until rt_sample() or
 * rt_tracker_glance() reads them. It holds several MB, or 200 kB if the caller may have no more.
 * Call one of the two often enough: RT_REASON_EVENTS_LOST is set if the buffer overflowed. Each
 * fork on the system takes about a microsecond longer. @since 0.2
 * @since 0.3 BPF programs account for the tree where they can be loaded. */
#define RT_OPT_PROCESS_EVENTS 0x4U

/** rt_opts.flags, pid tracker: receive no process events.
 *
 * By default, a tracker that follows descendants receives those of the proc connector if it may:
 * see RT_OPT_PROCESS_EVENTS. It never loads BPF programs for that. Eight trackers of a process do
 * so, each with a buffer of 1 MiB, or 400 kB if the caller may have no more. It holds the forks and
 * exits of 600 processes of the system, or 250. If it overflows between two samples, the tracker
 * unsubscribes, and finds new members by scans from then on: RT_REASON_EVENTS_LOST. Fork and exit
 * of any process on the system take some 2 us longer for each such tracker.
 *
 * Without events, counters are lower bounds once the tree has forked (RT_REASON_ORPHANS_UNSEEN);
 * rt_tracker_obstacle() says why there are none. With this flag, the tracker has no socket, and no
 * fork on the system takes longer. Not with RT_OPT_PROCESS_EVENTS. @since 0.3 */
#define RT_OPT_NO_PROCESS_EVENTS 0x200U

/** rt_opts.flags, pid tracker: never walk the page tables of a process, as `smaps` and
 * `smaps_rollup` do. The footprint is estimated from `statm`, `stat` and `status`. @since 0.3 */
#define RT_OPT_NO_MEMORY_READS 0x8U

/** rt_opts.flags, pid tracker: read the PSS of all members in each sample, as far as
 * rt_opts.pss_share allows. Without it, PSS is an estimate that costs nothing, unless rt_opts.want
 * names RT_HAS_PSS. @since 0.3 */
#define RT_OPT_PSS_READS 0x40U

/** rt_opts.flags, rt_pid_tracker_new(): follow all processes of a session, and what they start.
 *
 * The pid is that of any process of the session, or the number of the session, the leader of which
 * may have ended. E.g.: what was started from one login. An orphan stays in its session, so it is
 * followed, too, whenever its parent has ended. A process that has made a session of its own
 * (setsid(2)) is followed if it descends from one that is followed.
 *
 * Where process events are not received, a sample reads `stat` of all processes of the system, if
 * any was forked since the last one. Not with RT_OPT_NO_CHILDREN. BPF programs do not account for
 * such a tree, and rt_tracker_fd() has process events alone. @since 0.3 */
#define RT_OPT_SESSION 0x80U

/** rt_opts.flags, pid tracker with RT_OPT_NO_CHILDREN: report `io` of the process as it is, with
 * the I/O of the children that it waited for, and of their children.
 *
 * The kernel has no other count of a process that has reaped children. Without this flag, the
 * tracker sums up the `io` of the live threads once a child was reaped. Then a thread that has
 * exited makes the sum a lower bound, and a sample reads one file more per thread. Without
 * RT_OPT_NO_CHILDREN, the flag changes nothing: see rt_process.read_bytes. @since 0.3 */
#define RT_OPT_IO_WITH_REAPED 0x10U

/** rt_opts.flags, system tracker: fill the fields of cgroups with the figures of the cgroup that
 * the caller was in when the tracker was made, and with the tightest limits that hold for it. So a
 * program in a container learns what it may use, beside what the machine has.
 *
 * The limits are the least ones of the cgroup and of those above it, as far as the mounts show
 * them. Cgroups that share a limit use it up together. In cgroup v1 the caller may be in another
 * cgroup in each hierarchy: each figure is of the cgroup in the hierarchy that it comes from. A
 * hierarchy that does not show the cgroup of the caller leaves its figures unknown.
 *
 * The bits are those of a cgroup tracker, without RT_HAS_CPU, RT_HAS_FAULTS and the pressure, which
 * stay those of the system; and RT_HAS_CGROUP_CPU_TIME. With rt_opts.want 0 all of them are
 * measured. Without this flag, rt_opts.want ignores them. @since 0.3 */
#define RT_OPT_OWN_LIMITS 0x20U

/** rt_opts.flags, system tracker: list the processes of the system, too. rt_tracker_processes() and
 * rt_tracker_top() have them, in rows as a pid tracker has. E.g. the five that use most: two calls
 * of rt_sample() with this flag, some time apart, then rt_tracker_top().
 *
 * Rows have the bits of rt_opts.want that rows of a pid tracker can have; with rt_opts.want 0, the
 * defaults of that, without PSS. Of the sample itself, these bits stay those of the system. It
 * counts processes in any case: if /proc hides some from the caller (hidepid), or one could not be
 * added, RT_HAS_PROCESSES is in `partial`. If /proc belongs to another pid namespace, the tracker
 * cannot be made (-EXDEV).
 *
 * A sample costs a list of /proc, and one to three file reads for each process that has run since
 * the last one. @since 0.3 */
#define RT_OPT_LIST_PROCESSES 0x100U

/** Options of a tracker. Every field except `size` may be 0, which means the default. @since 0.1 */
struct rt_opts {
	uint32_t size; /**< sizeof(struct rt_opts), set by the caller. */
	/** RT_OPT_ bits. @since 0.3 A flag that only the other kind of tracker has is -EINVAL.
	 * Until then it was ignored. */
	uint32_t flags;
	/** Directory that contains `proc` and `sys`; NULL means "/". Copied. With a root, CPU time
	 * comes from `stat` in clock ticks, because CPU clocks exist
	 * only for pids of the caller's own namespace. */
	const char *root;
	/** RT_HAS_ bits to measure; 0 means rt_default_domains(). The tracker does not read what is
	 * not requested. It ignores bits that only the other kind has: see rt_domains(). */
	uint64_t want;
	/** Maximum number of descriptors that the tracker keeps open between samples. 0 means
	 * half of the soft RLIMIT_NOFILE, at most 65,536; or a quarter, if that limit is below
	 * 4096. A process takes two, or four while all of its files are read.
	 * @since 0.3 Until then a quarter, at most 4096. */
	uint32_t max_fds;
	uint32_t reserved; /**< 0. */
	/** Maximum share of one CPU that walking page tables may use over time, in thousandths. 0
	 * means 10 (1 %); 1000 or more means no limit.
	 *
	 * Unused budget accumulates, up to 0.1 s (or pss_hold_us, if that is longer); a tracker
	 * starts with 0.1 s. If it does not cover all reads that are due, the sum is estimated:
	 * see rt_metrics.pss_source.
	 * @since 0.2
	 * @since 0.3 The last read is not used any more if members have begun or ceased to share
	 * memory since. */
	uint32_t pss_share;
	/** Longest time that such a read may block mmap and munmap in the process that is read, in
	 * microseconds. A read that is expected to take longer is skipped. 0 means 50000.
	 * @since 0.2 */
	uint32_t pss_hold_us;
	uint32_t message_size; /**< Bytes of message. @since 0.3 */
	uint32_t reserved_2;   /**< 0. @since 0.3 */
	/** Receives an English sentence if the tracker cannot be made: which argument or file is to
	 * blame, and what would help. It is cut to fit and NUL-terminated. Untouched on success,
	 * and if `size` is not one that a release had. NULL for none. Not used in
	 * rt_command_opts.tracker: rt_command_opts.message has the sentence there. A library before
	 * 0.3 does not know it and returns -E2BIG: see rt_field_struct_size(). @since 0.3 */
	char *message;
};

/** Follow a process and all its descendants, whichever thread forked them.
 *
 *  With RT_OPT_NO_CHILDREN, follow the process alone. The tracker identifies a member by pid and
 *  start time, so it never takes a process that reuses the pid for the member. A descendant stays
 *  a member when its parent exits. The usage of members that have exited stays in the totals.
 *
 *  What a tree used before its tracker was made is known in part: see RT_REASON_PAST_UNKNOWN.
 *  rt_command_start() follows a program from its start.
 *
 *  @param out receives the tracker, or NULL on failure. Free it with rt_tracker_free().
 *  @param pid process id in the caller's pid namespace (or in the namespace of rt_opts.root).
 *  @param opts options; NULL means all defaults.
 *  @retval 0 success
 *  @retval -EFAULT @p out is NULL
 *  @retval -EINVAL @p pid is negative or zero, or an option is unknown, of the other kind of
 *          tracker, contradicts another, or has a wrong size
 *  @retval -E2BIG @p opts is longer than this library knows and the unknown part is not zero
 *  @retval -ESRCH no such process
 *  @retval -ENOENT there is no proc file system under the root
 *  @retval -EXDEV /proc belongs to another pid namespace, where the pid means another process
 *  @retval -EACCES /proc cannot be read, or hides the process from the caller (hidepid)
 *  @retval -EMFILE the limit of open descriptors is reached; likewise -ENFILE
 *  @retval -ENOMEM out of memory
 *
 *  rt_opts.message says more about a failure.
 *
 *  Cost: one directory handle, one file read; with process events, a socket and 0.1 ms.
 *  @since 0.1
 *  @since 0.3 Receives process events: see RT_OPT_NO_PROCESS_EVENTS. */
RT_API int rt_pid_tracker_new(struct rt_tracker **out, int32_t pid, const struct rt_opts *opts);

/** Follow several processes and all their descendants, as one tree.
 *
 *  A process below another one, or named twice, counts once, and memory counts each page once. What
 *  a process has used stays in the totals after it has ended. One that has ended before is left
 *  out. With RT_OPT_NO_CHILDREN, follow these processes alone.
 *
 *  BPF programs account for a tree with one root: RT_OPT_PROCESS_EVENTS has the events of the proc
 *  connector here. rt_tracker_fd() has process events alone.
 *
 *  @param out receives the tracker, or NULL on failure. Free it with rt_tracker_free().
 *  @param pids process ids, as for rt_pid_tracker_new().
 *  @param count how many.
 *  @param opts options; NULL means all defaults.
 *  @retval 0 success
 *  @retval -EFAULT @p out or @p pids is NULL
 *  @retval -EINVAL @p count is 0, a pid is negative or zero, or as rt_pid_tracker_new();
 *          RT_OPT_SESSION is for one pid
 *  @retval -ESRCH there is none of these processes
 *  @return else as rt_pid_tracker_new()
 *
 *  Cost: one directory handle, and one file read for each process and each one above it.
 *  @since 0.3 */
RT_API int rt_pids_tracker_new(struct rt_tracker **out, const int32_t *pids, size_t count,
                               const struct rt_opts *opts);

/** Follow the system, or the part of it that the caller's namespaces show.
 *
 *  @param out receives the tracker, or NULL on failure. Free it with rt_tracker_free().
 *  @param opts options; NULL means all defaults.
 *  @return as rt_pid_tracker_new(), but never -ESRCH.
 *  @since 0.1 */
RT_API int rt_system_tracker_new(struct rt_tracker **out, const struct rt_opts *opts);

/** Follow a cgroup, e.g. of a service or a container, and all cgroups below it. The figures come
 *  from the kernel's own account, which covers all that ever ran in it, waited for or not.
 *
 *  A cgroup is a directory in each hierarchy that is mounted: in v2, and in each hierarchy of v1.
 *  Directories with the same name count as one cgroup. CPU time comes from v2 where there is one,
 *  and the rest from the hierarchy that has the controller. An account that neither has is missing:
 *  rt_tracker_obstacle() names the controller, and what would help. E.g.: on a system with both
 *  (hybrid), `memory` is often in v1, and the cgroup must have a directory there as well.
 *
 *  The processes of the cgroup and of the cgroups below it are its members. rt_tracker_processes()
 *  lists them, and the gauges RT_HAS_RSS, RT_HAS_PSS and RT_HAS_THREADS are sums over them, as for
 *  a tree. A cgroup may be empty. RT_HAS_IO, RT_HAS_IO_CALLS and RT_HAS_CTXSW are not defaults: the
 *  kernel has no account of them, so they are sums of what members have used, in `estimated`. In a
 *  threaded cgroup (v2), every process with a thread in it is a member. Processes that the caller's
 *  pid namespace does not show are counted, and nothing else is known of them. v1 leaves them out:
 *  so outside of the initial pid namespace, what is known of members is in `partial`.
 *
 *  A cgroup that is removed is gone for good: rt_sample() then returns -ESRCH. Another one that
 *  gets the same name later is not followed.
 *
 *  @param out receives the tracker, or NULL on failure. Free it with rt_tracker_free().
 *  @param name one of: a path below the mounts, as in /proc/PID/cgroup, e.g.
 *          "/system.slice/cron.service"; the directory of the cgroup in one hierarchy, e.g.
 *          "/sys/fs/cgroup/memory/a"; or a line of /proc/PID/cgroup, e.g. "4:memory:/a". With the
 *          last two, the processes of that hierarchy are the members. "/" is the root, for which
 *          the kernel accounts for little.
 *  @param opts options; NULL means all defaults. The only flags that it takes are
 *         RT_OPT_NO_MEMORY_READS and RT_OPT_PSS_READS.
 *          With rt_opts.root, the mounts are read from process 1 below that root, or else from
 *          `self`. If that root shows another pid namespace than the caller's, members are only
 *          counted: their pids mean other processes there.
 *  @retval 0 success
 *  @retval -EFAULT @p out or @p name is NULL
 *  @retval -EINVAL @p name is none of these, or an option is unknown, of another kind of tracker,
 *          or has a wrong size
 *  @retval -ENOENT there is no such cgroup, or no proc file system under the root
 *  @retval -EOPNOTSUPP no cgroup file system is mounted
 *  @retval -EACCES the caller may not look into it
 *  @retval -E2BIG, -EXDEV, -EMFILE, -ENFILE, -ENOMEM as rt_pid_tracker_new()
 *
 *  rt_opts.message says more about a failure.
 *
 *  Cost: the mounts, one directory handle for each hierarchy, and one file read for each cgroup
 *  below. @since 0.3 */
RT_API int rt_cgroup_tracker_new(struct rt_tracker **out, const char *name,
                                 const struct rt_opts *opts);

/** Free a tracker and everything that it holds, unless it has a recorder, which frees it. Does not
 * affect the processes. NULL is allowed. @since 0.1 */
RT_API void rt_tracker_free(struct rt_tracker *t);

/** rt_metrics.kind: from rt_pid_tracker_new() or rt_command_tracker(). @since 0.1 */
#define RT_KIND_PID 1
/** rt_metrics.kind: from rt_system_tracker_new(). @since 0.1 */
#define RT_KIND_SYSTEM 2
/** rt_metrics.kind: from rt_cgroup_tracker_new(). @since 0.3 */
#define RT_KIND_CGROUP 3

/** The domains that the loaded library can measure with a kind of tracker.
 *
 *  @param kind RT_KIND_ value.
 *  @return RT_HAS_ bits; 0 for an unknown kind. Cost: none.
 *  @since 0.3 */
RT_API uint64_t rt_domains(uint32_t kind);

/** The domains that rt_opts.want 0 stands for, without RT_OPT_OWN_LIMITS.
 *
 *  A later release adds one only if it costs no file read and no process. A program that wants more
 *  names it in rt_opts.want.
 *
 *  @param kind RT_KIND_ value.
 *  @return RT_HAS_ bits; 0 for an unknown kind. Cost: none.
 *  @since 0.3 */
RT_API uint64_t rt_default_domains(uint32_t kind);

/** @name Reasons
 *  Why the cumulative figures of a tree may be too low: bits of rt_metrics.reasons and
 *  rt_outcome.reasons.
 *  @{ */
/** A member exited and no tracked parent waited for it: its usage after its last read is not
 * known.
 * @since 0.1
 * @since 0.2 Also set for a process that was only seen between two samples and not waited for. */
#define RT_REASON_UNWAITED 0x1U
/** A member ignores SIGCHLD: children of it that start and exit between two samples leave no
 * trace.
 *
 * A member that has set SA_NOCLDWAIT instead has such children, too, but `/proc` does not show it:
 * then only BPF programs, or the supervisor of a command in the end, can tell that something is
 * missing.
 * @since 0.1
 * @since 0.2 Also detected if the tracker does not measure peak resident memory.
 * @since 0.3 The counters and peak_rss_bytes are lower bounds (`partial`), unless BPF programs
 * account for the tree, or a supervisor has proven in the end that every process was waited for. */
#define RT_REASON_SIGCHLD_IGNORED 0x2U
/** CPU time or page faults of a member could not be read. @since 0.1 */
#define RT_REASON_UNREADABLE 0x4U
/** Members were still running when the figures were last read. @since 0.1 */
#define RT_REASON_LEFT_RUNNING 0x8U
/** The tree could not be followed in full, for lack of memory or descriptors, or because it has
 * too many members: see rt_metrics.members_skipped.
 * @since 0.1
 * @since 0.3 Cleared once all processes that were skipped have become members. Stays if one of them
 * exited before, or if it is not known which ones were skipped. */
#define RT_REASON_MEMBERS_SKIPPED 0x10U
/** Processes that started and exited between two samples may be in no account.
 *
 * Without process events, an orphan among them is not seen. So a tracker sets this once a member
 * has a child, or was seen to have reaped one. With the events of the proc connector it is set if
 * such processes have lived for more than a thousandth of the CPU time, and nothing proves that
 * they were waited for. E.g.: a shell ran a program and has exited, both since the last sample. The
 * counters are lower bounds (`partial`) then.
 * @since 0.1
 * @since 0.2 Not set at RT_ACCOUNTING_POLL if RT_OPT_PROCESS_EVENTS received all events.
 * @since 0.3 Also in rt_metrics. Until then in rt_outcome alone. */
#define RT_REASON_ORPHANS_UNSEEN 0x20U
/** rt_outcome only: nothing is known to be missing, but that cannot be verified.
 *
 * There may have been children that no process waited for and no sample saw: no process events
 * prove otherwise (see rt_outcome.complete), and other processes in the caller's cgroup used CPU
 * time meanwhile, or there is no cgroup to compare with. The CPU bounds cover what may be missing.
 * @since 0.1
 * @since 0.3 Not set if process events prove that every process was waited for. The figures are
 * lower bounds: their bits are in `partial`. */
#define RT_REASON_UNVERIFIED 0x40U
/** rt_outcome only: a clock that all processes inherit counted more CPU time than was waited for.
 * @since 0.2
 * @since 0.3 Never set, since there is no such clock any more. */
#define RT_REASON_CLOCK_ABOVE 0x80U
/** RT_OPT_PROCESS_EVENTS: events arrived faster than they were read, so processes may be missing.
 * At RT_SOURCE_BPF_ACCOUNT: threads are missing from the account, so the counters are lower
 * bounds.
 * @since 0.2 */
#define RT_REASON_EVENTS_LOST 0x100U
/** rt_metrics only: RT_OPT_PROCESS_EVENTS was asked for, but here BPF programs cannot account for
 * the tree and process events cannot be received.
 *
 * E.g.: the caller has no CAP_BPF, and is in a container. New members are found by scans, so an
 * orphan that starts and exits between two samples is not seen. If RT_OPT_PROCESS_EVENTS is set,
 * and neither this bit nor RT_REASON_EVENTS_LOST is, the tracker has received all events since it
 * was created, and rt_metrics.processes_seen is exact: the processes of the tree that were alive at
 * the first sample, and all that they have forked since. Clears no bit of `valid` but
 * RT_HAS_PROCESSES_SEEN. @since 0.3 */
#define RT_REASON_EVENTS_UNHEARD 0x200U
/** rt_outcome only: a process has moved to another cgroup (v2), and it is not known whether every
 * process was waited for. The account of the program's cgroup lacks what it used there.
 *
 * E.g.: the program starts a container. If the process has left the caller's cgroup, too, nothing
 * bounds the CPU time: rt_outcome.cpu_high_ns is UINT64_MAX. @since 0.3 */
#define RT_REASON_LEFT_CGROUP 0x400U
/** rt_outcome only: RT_ACCOUNTING_AUTO used RT_ACCOUNTING_POLL, since no supervisor could be
 * started.
 *
 * It is not installed, speaks another protocol than this library, was killed before it started the
 * program, or no memory can be shared with it. E.g.: the package of the library was upgraded under
 * a running program, and the supervisor of the previous release was removed. By itself it makes no
 * figure incomplete: rt_outcome.complete may be 1. @since 0.3 */
#define RT_REASON_NO_SUPERVISOR 0x800U
/** CPU times that the kernel shows in whole clock ticks may lack more than a hundredth of the
 * total. In an rt_outcome only if processes were left running, or were not waited for.
 *
 * E.g.: a hundred shells that each ran a program of 9 ms show nothing of it. Each process that has
 * reaped children has two such times, unless it is the caller, or BPF programs read the tree. With
 * rt_opts.root, each process has two more. RT_HAS_CPU is in `partial` then, and in `valid` again
 * once the total is large enough. @since 0.3 Until then RT_HAS_CPU stayed in `valid`. */
#define RT_REASON_CLOCK_TICKS 0x1000U
/** Of a cgroup, or of a command at RT_ACCOUNTING_CGROUP: the cgroup's account of CPU time was set
 * back, and what was used between the last sample before that and the moment itself is not known.
 *
 * E.g.: 0 was written to `cpuacct.usage` (v1). The CPU time is what it was plus what the account
 * has since. RT_HAS_CPU is in `partial` from then on. An account that has more at the next sample
 * than before it was set back does not show it. @since 0.3 */
#define RT_REASON_ACCOUNT_RESET 0x2000U
/** rt_metrics only: the tree ran before the tracker was made, and what it used then may be in no
 * account. E.g.: a server has started workers that were orphans.
 *
 * The counters are lower bounds (`partial`), but what rt_diff() finds is not. Not set if the first
 * sample proves that nothing is missing: no member is a zombie, ignores SIGCHLD or has reaped a
 * child. See rt_metrics.account_start_realtime_ns. @since 0.3 */
#define RT_REASON_PAST_UNKNOWN 0x4000U
/** @} */

/** rt_metrics.pss_source: this sample read all of it. @since 0.2 */
#define RT_PSS_READ 1
/** rt_metrics.pss_source: part of it was read earlier, at most pss_age_ns ago, and is adjusted by
 * what the members have mapped or released since. @since 0.2 */
#define RT_PSS_CACHED 2
/** rt_metrics.pss_source: not all of it could be read, or not often enough. It is estimated from
 * `statm` and `stat`, and its bit is in `estimated`.
 * @since 0.2
 * @since 0.3 Never RSS instead of PSS. Until then the bit was in `partial`. */
#define RT_PSS_ESTIMATED 3

/** rt_metrics.source: the files of /proc. @since 0.2 */
#define RT_SOURCE_PROC 1
/** rt_metrics.source: a BPF program read the members of the tree. What it cannot read came from
 * /proc. @since 0.2 */
#define RT_SOURCE_BPF 2
/** rt_metrics.source: BPF programs account for every thread of the tree since the tracker was made
 * (RT_OPT_PROCESS_EVENTS), or since the start of the command (RT_ACCOUNTING_BPF). The members were
 * read in one of the other two ways. @since 0.3 */
#define RT_SOURCE_BPF_ACCOUNT 3

/** One sample of everything within the scope of the tracker. Units are as documented per field.
 *
 *  A field is complete if its bit is set in `valid`. If the bit is set in `partial` instead, the
 *  field is a lower bound: the sum over what could be read. E.g.: one member of twenty refuses
 *  access to `io`. If the bit is set in `estimated`, the field may be above or below the truth.
 *  If none of the three bits is set, the field is 0 and means nothing. @since 0.1 */
struct rt_metrics {
	uint32_t size;    /**< Bytes of this struct that the library filled. */
	uint32_t kind;    /**< RT_KIND_ value. */
	uint64_t valid;   /**< RT_HAS_ bits of the complete figures. */
	uint64_t partial; /**< RT_HAS_ bits of the figures that are lower bounds. */
	/** Identifies the tracker: no other tracker of this process, before or after, has it. */
	uint64_t tracker_id;
	/** CLOCK_MONOTONIC, for intervals: when the CPU time was read. That is the start of the
	 * sample, or later where one account has all of it: that of BPF programs or of a cgroup.
	 * @since 0.3 Until then always the start of the sample. */
	uint64_t monotonic_ns;
	/** CLOCK_BOOTTIME at the same instant. It also advances while the system is suspended. */
	uint64_t boottime_ns;
	/** CLOCK_REALTIME at the same instant, since 1970: for display only. */
	uint64_t realtime_ns;
	/** Counter: CPU time that the samples of this tracker have cost so far. */
	uint64_t self_cpu_ns;

	/** The figures in the layout of getrusage(2). ru_maxrss is peak_rss_bytes / 1024. For the
	 * system, only the CPU times. For a cgroup, ru_inblock and ru_oublock come from
	 * cgroup_read_bytes and cgroup_write_bytes. Valid as the fields that they repeat. */
	struct rt_rusage rusage;

	/** Counter, RT_HAS_CPU. Tree: user mode time of all members, exited ones included, and of
	 * the children that they waited for. Source: the CPU clock of each process, split as the
	 * kernel splits it; `stat` cutime. System: `stat` user and nice, which include guest time.
	 * Cgroup: `cpu.stat`; `cpuacct.usage`, split as in `cpuacct.stat`.
	 * @since 0.3 The bit of a tree is in `partial`, too, if more than a fiftieth is of threads
	 * that have ended: the kernel does not account for their last moments. If context switches
	 * are not wanted, that is known only of a tree without threads. */
	uint64_t cpu_user_ns;
	/** Counter, RT_HAS_CPU. The same in kernel mode. System: `stat` system, irq and softirq. */
	uint64_t cpu_system_ns;

	/** Gauge, RT_HAS_RSS. Sum over the members. Each member counts the pages that it shares.
	 * `statm`. For a member that has not run since, changes by other processes and the kernel
	 * may be missing for a second; in a large tree that BPF programs watch, for 10 s, and with
	 * more than 4000 members for 2.5 ms times their number. E.g.: 50 s with 20,000. */
	uint64_t rss_bytes;
	/** Gauge, RT_HAS_PSS. Sum over the members. Shared pages are divided among their users.
	 * `smaps_rollup`.
	 * @since 0.2 May hold earlier reads: see pss_source.
	 * @since 0.3 If not all of it could be read, it is estimated from `statm` and `stat`, and
	 * its bit is in `estimated`. */
	uint64_t pss_bytes;
	/** Largest peak of any single member so far, of the program that it executes,
	 * RT_HAS_PEAK_RSS. `status` VmHWM, which is read ten times a second at most, or at once
	 * if RSS exceeds it.
	 * @since 0.3 In `partial` once a member is a zombie or has reaped a child: no sample may
	 * have seen the peak. */
	uint64_t peak_rss_bytes;
	/** Largest rss_bytes that a sample of this tracker saw, RT_HAS_RSS.
	 * @since 0.2 Includes peak polls. */
	uint64_t peak_tree_rss_bytes;
	/** Largest sum of PSS that one sample read from all members, RT_HAS_PSS; 0 if none did.
	 * @since 0.2 Includes peak polls. */
	uint64_t peak_tree_pss_bytes;

	/** Counter, RT_HAS_IO. Bytes fetched from storage; `io` read_bytes. */
	uint64_t read_bytes;
	/** Counter, RT_HAS_IO. Bytes sent to storage, or dirtied to be sent; `io` write_bytes. */
	uint64_t write_bytes;
	/** Counter, RT_HAS_IO. Bytes of write_bytes that were truncated before they reached
	 * storage; `io` cancelled_write_bytes. */
	uint64_t cancelled_write_bytes;
	/** Counter, RT_HAS_IO. Bytes that read calls returned, from any file; `io` rchar. */
	uint64_t read_chars;
	/** Counter, RT_HAS_IO. Bytes that write calls accepted, to any file; `io` wchar. */
	uint64_t write_chars;

	/** Counter, RT_HAS_FAULTS. `stat` minflt and cminflt. Cgroup: `memory.stat` pgfault without
	 * pgmajfault; without the controller, a sum over members in `estimated`. */
	uint64_t minor_faults;
	/** Counter, RT_HAS_FAULTS. `stat` majflt and cmajflt. Cgroup: `memory.stat` pgmajfault. */
	uint64_t major_faults;
	/** Counter, RT_HAS_CTXSW. Tree: sum over all threads seen, `task/TID/status`. Switches of
	 * children that no sample saw are included only after rt_command_wait() has read the
	 * rusage of the command. */
	uint64_t voluntary_switches;
	uint64_t involuntary_switches; /**< Counter, RT_HAS_CTXSW. As voluntary_switches. */

	/** Gauge, RT_HAS_PROCESSES. Tree: live members, zombies included. System: all processes. */
	uint64_t processes;
	/** Counter, RT_HAS_PROCESSES_SEEN. Tree: distinct members that samples have seen. Its bit
	 * is in `valid` if process events reported every fork, or for RT_OPT_NO_CHILDREN; else in
	 * `partial`. Under a supervisor it is in `partial` until the program and all that it
	 * started have exited, because the supervisor counts with a delay. At RT_ACCOUNTING_BPF
	 * it is in `valid`, unless the kernel had no memory to mark a process.
	 * @since 0.2 All processes of the tree so far, if process events are received (as by
	 * default, or of a command under a supervisor).
	 * @since 0.3 Has a bit of its own. Until then it had the bit of `processes`. */
	uint64_t processes_seen;
	/** Gauge, RT_HAS_THREADS. `stat` num_threads. System: the total in `loadavg`. */
	uint64_t threads;
	/** Resolution of the CPU times: 1 if they come from CPU clocks, or from BPF programs
	 * (RT_SOURCE_BPF_ACCOUNT, RT_ACCOUNTING_BPF); a clock tick if any come from `stat`; 1000
	 * if they come from a cgroup, from getrusage(2), or from the supervisor of a command that
	 * has exited. A sum may lack up to one clock tick for each time in it: see
	 * RT_REASON_CLOCK_TICKS.
	 * @since 0.2 A clock tick once members have reaped children: their time is in `stat`.
	 * @since 0.3 Not for what the caller itself has reaped, nor for what BPF programs read. */
	uint64_t cpu_resolution_ns;
	uint32_t reasons; /**< RT_REASON_ bits: why the counters may be too low. */
	/** Members for which a requested figure could not be read in this sample. */
	uint32_t members_unreadable;

	/* From here on: system only, but for the pressure. */

	/** Counter, RT_HAS_CPU_MODES. `stat` user, without guest time. The ten modes are disjoint.
	 */
	uint64_t cpu_mode_user_ns;
	uint64_t cpu_mode_nice_ns;   /**< Counter, RT_HAS_CPU_MODES. Without guest_nice time. */
	uint64_t cpu_mode_system_ns; /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_idle_ns;   /**< Counter, RT_HAS_CPU_MODES. */
	/** Counter, RT_HAS_CPU_MODES. Idle while I/O is outstanding. Unreliable by nature. */
	uint64_t cpu_mode_iowait_ns;
	uint64_t cpu_mode_irq_ns;     /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_softirq_ns; /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t cpu_mode_steal_ns;   /**< Counter, RT_HAS_CPU_MODES. Used by the hypervisor. */
	uint64_t cpu_mode_guest_ns;   /**< Counter, RT_HAS_CPU_MODES. Running a virtual machine. */
	uint64_t cpu_mode_guest_nice_ns; /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t cpus_online;            /**< Gauge, RT_HAS_CPU_MODES. CPUs listed in `stat`. */

	/** Gauge, RT_HAS_ACTIVITY. Threads that run or wait for a CPU. `stat` procs_running. */
	uint64_t processes_running;
	/** Gauge, RT_HAS_ACTIVITY. Threads that wait for I/O. `stat` procs_blocked. */
	uint64_t processes_blocked;
	/** Counter, RT_HAS_ACTIVITY. Since boot, threads included. `stat` processes. */
	uint64_t forks;
	uint64_t context_switches; /**< Counter, RT_HAS_ACTIVITY. Since boot. `stat` ctxt. */
	uint64_t interrupts;       /**< Counter, RT_HAS_ACTIVITY. Since boot. `stat` intr. */

	uint64_t memory_total_bytes; /**< Gauge, RT_HAS_MEMORY. `meminfo` MemTotal. */
	/** Gauge, RT_HAS_MEMORY. MemFree: not used for anything. */
	uint64_t memory_free_bytes;
	/** Gauge, RT_HAS_MEMORY_AVAILABLE. MemAvailable, and what ZFS gives back of its cache
	 * (zfs_arc_bytes - zfs_arc_min_bytes), unless the total is that of a container. If the
	 * kernel does not report MemAvailable, an estimate (free + file pages + reclaimable slab)
	 * stands for it, and the bit is in `estimated`, as it is if the cache of ZFS cannot be
	 * read.
	 * @since 0.3 Until then without the cache of ZFS, and the bit of the estimate was in
	 *        `partial`. */
	uint64_t memory_available_bytes;
	uint64_t memory_buffers_bytes; /**< Gauge, RT_HAS_MEMORY. Buffers. */
	/** Gauge, RT_HAS_MEMORY. Cached: page cache, including shmem but not slab. */
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
	/** Gauge, RT_HAS_MEMORY_AVAILABLE. Total - available: the current meaning of used. */
	uint64_t memory_used_bytes;
	/** Gauge, RT_HAS_MEMORY. Total - free - buffers - cached - reclaimable slab: the older
	 * meaning of used, which counts shared memory as free. */
	uint64_t memory_used_classic_bytes;
	uint64_t swap_total_bytes;  /**< Gauge, RT_HAS_SWAP. SwapTotal. */
	uint64_t swap_free_bytes;   /**< Gauge, RT_HAS_SWAP. SwapFree. */
	uint64_t swap_cached_bytes; /**< Gauge, RT_HAS_SWAP. SwapCached: also in memory. */

	/** Counter, RT_HAS_DISK. Sum over the physical devices: no partitions, no devices built of
	 * other devices, no loop, ram or zram. `diskstats` sectors of 512 bytes, whatever the
	 * sector size of the hardware.
	 *
	 * A device that appears after the first sample counts from what it shows then. The bit is
	 * in `partial` in a sample that finds that a device has joined these totals or left them,
	 * or that a counter has fallen. @since 0.3 */
	uint64_t disk_read_bytes;
	uint64_t disk_write_bytes; /**< Counter, RT_HAS_DISK. As disk_read_bytes. */
	uint64_t disk_reads;       /**< Counter, RT_HAS_DISK. Operations completed. */
	uint64_t disk_writes;      /**< Counter, RT_HAS_DISK. Operations completed. */
	/** Counter, RT_HAS_DISK. Time with I/O in flight, summed over the devices. */
	uint64_t disk_busy_ns;
	uint64_t disks; /**< Gauge, RT_HAS_DISK. Devices in these totals. */

	/** Gauge, RT_HAS_FILESYSTEM. Sum over local file systems on storage, each superblock once.
	 * statvfs(3). */
	uint64_t filesystem_total_bytes;
	uint64_t filesystem_used_bytes;      /**< Gauge, RT_HAS_FILESYSTEM. Total - free. */
	uint64_t filesystem_free_bytes;      /**< Gauge, RT_HAS_FILESYSTEM. Free for root. */
	uint64_t filesystem_available_bytes; /**< Gauge, RT_HAS_FILESYSTEM. Free for users. */
	/** Gauge, RT_HAS_FILESYSTEM. File systems in these totals. */
	uint64_t filesystems;
	/** Gauge, RT_HAS_FILESYSTEM. File systems left out because they did not answer in time. */
	uint64_t filesystems_skipped;

	/** Counter, RT_HAS_NETWORK. Sum over interfaces with hardware of their own. If there are
	 * none (containers), over all interfaces except loopback. `net/dev`.
	 *
	 * In `partial` as disk_read_bytes; an interface is the same one under another name. The
	 * bit is in `estimated` if rtnetlink(7) cannot be asked which interfaces there are: one
	 * that was made again may then be taken for the one before that had its name.
	 * @since 0.3 */
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

	/** Counter, RT_HAS_PRESSURE_CPU. Some task waited. `pressure/cpu`. Cgroup: `cpu.pressure`,
	 * and likewise its own files for the fields below. */
	uint64_t pressure_cpu_some_ns;
	/** Counter, RT_HAS_PRESSURE_MEMORY. Some task waited. `pressure/memory`. */
	uint64_t pressure_memory_some_ns;
	uint64_t pressure_memory_full_ns; /**< Counter, RT_HAS_PRESSURE_MEMORY. All tasks waited. */
	/** Counter, RT_HAS_PRESSURE_IO. Some task waited. `pressure/io`. */
	uint64_t pressure_io_some_ns;
	uint64_t pressure_io_full_ns; /**< Counter, RT_HAS_PRESSURE_IO. All tasks waited. */

	/** Gauge, RT_HAS_ZFS. Sum over the pools, as `zpool list` reports it. */
	uint64_t zfs_size_bytes;
	uint64_t zfs_allocated_bytes; /**< Gauge, RT_HAS_ZFS. */
	uint64_t zfs_free_bytes;      /**< Gauge, RT_HAS_ZFS. */
	uint64_t zfs_pools;           /**< Gauge, RT_HAS_ZFS. */

	/* Since 0.2. */

	/** Gauge. Tree: processes left out of this sample, since one scan adds 16,384 at most, or
	 * memory ran out; RT_REASON_MEMBERS_SKIPPED. Later samples add them.
	 * @since 0.2
	 * @since 0.3 A tracker follows any number of processes. Until then 65,536 at most. */
	uint64_t members_skipped;
	/** Gauge, RT_HAS_PSS. Age of the oldest read that pss_bytes includes. @since 0.2 */
	uint64_t pss_age_ns;
	/** RT_PSS_ value: where pss_bytes comes from; 0 if there is none. @since 0.2 */
	uint32_t pss_source;
	/** RT_SOURCE_ value: how the members were read, or that BPF programs account for the tree.
	 * @since 0.2 */
	uint32_t source;

	/* Since 0.3. */

	/** RT_HAS_ bits of the figures that may be above or below the truth. @since 0.3 */
	uint64_t estimated;
	/** Gauge, RT_HAS_PEAK_FOOTPRINT. peak_footprint_bytes under its older name. @since 0.3 */
	uint64_t peak_tree_bytes;
	/** Counter, RT_HAS_IO_CALLS. Calls of read(2) and the like; `io` syscr. @since 0.3 */
	uint64_t read_calls;
	/** Counter, RT_HAS_IO_CALLS. Calls of write(2) and the like; `io` syscw. @since 0.3 */
	uint64_t write_calls;

	/** Counter, RT_HAS_GPU. Time for which GPUs were busy.
	 *
	 * System: summed over the devices, since the first sample of this tracker. Drivers only
	 * report for which share of the last moments a device was busy. So each sample adds that
	 * share of the time since the previous one, and the bit is in `estimated`: sample once a
	 * second or more often. NVML: GetUtilizationRates, the time for which any kernel ran.
	 * amdgpu: `gpu_busy_percent`.
	 *
	 * Tree: the time of engines that its members used, exited ones included. The engines of a
	 * device work side by side, and their times are added: a device that draws and copies all
	 * the time has two seconds in one. In a group of n equal engines, each second counts 1/n.
	 * DRM drivers (amdgpu, i915, msm, panfrost, v3d and others) count it for each client, which
	 * is one opening of the device: `drm-engine-*` in `/proc/PID/fdinfo`, since the client was
	 * opened. Each client counts once, whichever members share it; also if processes outside of
	 * the tree do. If a driver counts cycles (xe: `drm-cycles-*`), they are converted at the
	 * rate since the previous sample: the bit is in `estimated`. NVML: GetProcessUtilization,
	 * times the time since the previous sample, from the first sample that listed the process:
	 * likewise.
	 *
	 * The bit is in `partial` if a process or a client has gone since the first sample: what it
	 * used after the last look is not known, nor whether a process that came and went between
	 * two samples used a GPU. So this holds for any tree with departed members, unless the
	 * machine has no GPU. The bit is in `partial`, too, if the descriptors of a member may not
	 * be read, or if a driver does not report the time.
	 *
	 * A member that opens a GPU is noticed in the next sample if RSS is wanted, too, and its
	 * address space has changed by 1 MiB, as the libraries for GPUs make it. Otherwise it is
	 * noticed within 128 samples by the number of its open descriptors (before Linux 6.2,
	 * 1024), and within 2048 if that has not changed. Nothing shows what a member has opened
	 * and closed before it was noticed: `valid` does not exclude that. @since 0.3 */
	uint64_t gpu_busy_ns;
	/** Gauge, RT_HAS_GPU_MEMORY. Memory of the devices that is in use. A GPU that works in the
	 * memory of the machine has none of its own.
	 *
	 * System: NVML: GetMemoryInfo, without what the driver keeps for itself if it says so
	 * (R510). amdgpu: `mem_info_vram_used`.
	 *
	 * Tree: what its members hold. DRM: `drm-resident-*` of the regions "vram" and "local", or
	 * `drm-memory-*` of older drivers. The bit is in `estimated` if several clients of one
	 * device share memory, or do not say so: what they share is then counted more than once.
	 * NVML: usedGpuMemory of each process. @since 0.3 */
	uint64_t gpu_memory_bytes;
	/** Gauge, RT_HAS_GPU_MEMORY. Total memory of the same devices. Tree: of the devices that
	 * its members have open. If a driver does not report it, the bit is in `partial`.
	 * @since 0.3 */
	uint64_t gpu_memory_total_bytes;
	/** Counter, RT_HAS_GPU_ENERGY. System: energy that the devices have used, in microjoules,
	 * since their drivers were loaded. NVML: GetTotalEnergyConsumption, from Volta on. No
	 * driver has it for a single process. In `partial` once a driver was loaded again: what its
	 * devices used last is lost. @since 0.3 */
	uint64_t gpu_energy_uj;
	/** Gauge, RT_HAS_GPU. Devices that are listed, partitions excluded. Tree: devices that its
	 * members have open; from NVIDIA, only devices that they work on. @since 0.3 */
	uint64_t gpus;
	/** Gauge, RT_HAS_GPU. Listed devices that were busy in the last moments. Tree: that worked
	 * for members since the previous sample. @since 0.3 */
	uint64_t gpus_used;

	/* From here on: of cgroups only, with all cgroups below; and of the system with
	 * RT_OPT_OWN_LIMITS. The v2 file comes first, the v1 file follows after the semicolon. */

	/** Gauge, RT_HAS_CGROUP_MEMORY. All that is charged: anonymous memory, page cache, tmpfs
	 * and kernel memory. `memory.current`; `memory.usage_in_bytes`, which has the cgroups below
	 * only if `memory.use_hierarchy` is 1, as always since Linux 5.11. @since 0.3 */
	uint64_t cgroup_memory_bytes;
	/** Gauge, RT_HAS_CGROUP_MEMORY. Anonymous memory of processes. `memory.stat` anon;
	 * total_rss. Lags behind cgroup_memory_bytes a little, as the two below do. @since 0.3 */
	uint64_t cgroup_memory_anon_bytes;
	/** Gauge, RT_HAS_CGROUP_MEMORY. Page cache, with shared memory and tmpfs. `memory.stat`
	 * file; total_cache. @since 0.3 */
	uint64_t cgroup_memory_file_bytes;
	/** Gauge, RT_HAS_CGROUP_MEMORY. The part of cgroup_memory_file_bytes that is shared memory
	 * and tmpfs. `memory.stat` shmem; total_shmem. @since 0.3 */
	uint64_t cgroup_memory_shmem_bytes;
	/** Gauge, RT_HAS_CGROUP_MEMORY. The limit: the least `memory.max` of the cgroup and of the
	 * cgroups above it, as far as the mount shows them; UINT64_MAX if there is none.
	 * `memory.stat` hierarchical_memory_limit. @since 0.3 */
	uint64_t cgroup_memory_limit_bytes;
	/** Gauge, RT_HAS_CGROUP_MEMORY. Above this, processes are slowed down and memory is
	 * reclaimed: the least `memory.high`; UINT64_MAX if there is none, as in v1. @since 0.3 */
	uint64_t cgroup_memory_high_bytes;
	/** Largest cgroup_memory_bytes since the cgroup was made, RT_HAS_CGROUP_MEMORY_PEAK.
	 * `memory.peak`, since Linux 5.19; `memory.max_usage_in_bytes`, to which a write resets it.
	 * @since 0.3 */
	uint64_t cgroup_memory_peak_bytes;
	/** Gauge, RT_HAS_CGROUP_MEMORY_KERNEL. Stacks, page tables, slab and the like.
	 * `memory.stat` kernel, since Linux 5.18; before that the sum of what it lists, in
	 * `partial`. `memory.kmem.usage_in_bytes`. @since 0.3 */
	uint64_t cgroup_memory_kernel_bytes;
	/** Gauge, RT_HAS_CGROUP_SWAP. `memory.swap.current`; `memory.stat` total_swap.
	 * @since 0.3 */
	uint64_t cgroup_swap_bytes;
	/** Counter, RT_HAS_CGROUP_OOM_KILLS. Processes that the kernel has killed because the
	 * memory of the cgroup, or of one above it, was used up. `memory.events` oom_kill;
	 * `memory.oom_control` oom_kill of the cgroup alone, in `partial`. @since 0.3 */
	uint64_t cgroup_oom_kills;
	/** Counter, RT_HAS_CGROUP_MEMORY_EVENTS. How often memory.high was exceeded.
	 * `memory.events` high; v1 has none. If cgroup v2 is mounted with memory_localevents, this
	 * and the other counts of `memory.events` leave out the cgroups below. @since 0.3 */
	uint64_t cgroup_memory_high_events;
	/** Counter, RT_HAS_CGROUP_MEMORY_EVENTS. How often memory.max was reached, so that memory
	 * had to be reclaimed. `memory.events` max. @since 0.3 */
	uint64_t cgroup_memory_max_events;
	/** Counter, RT_HAS_CGROUP_MEMORY_EVENTS. How often an allocation was about to fail.
	 * `memory.events` oom. @since 0.3 */
	uint64_t cgroup_memory_oom_events;
	/** Gauge, RT_HAS_CGROUP_CPU. The limit, in thousandths of a CPU: the least quota of the
	 * cgroup and of the cgroups above it, as far as the mount shows them; UINT64_MAX if there
	 * is none. `cpu.max`; `cpu.cfs_quota_us`. @since 0.3 */
	uint64_t cgroup_cpu_limit_millicores;
	/** Counter, RT_HAS_CGROUP_CPU. Periods of the cgroup's own quota in which it had something
	 * to run. `cpu.stat` nr_periods. @since 0.3 */
	uint64_t cgroup_cpu_periods;
	/** Counter, RT_HAS_CGROUP_CPU. Periods in which the quota was used up. `cpu.stat`
	 * nr_throttled. @since 0.3 */
	uint64_t cgroup_cpu_throttled_periods;
	/** Counter, RT_HAS_CGROUP_CPU. Time for which it had to wait for the next period, summed
	 * over the CPUs. `cpu.stat` throttled_usec; throttled_time. @since 0.3 */
	uint64_t cgroup_cpu_throttled_ns;
	/** Counter, RT_HAS_CGROUP_IO. Bytes read from all devices. `io.stat` rbytes;
	 * `blkio.throttle.io_service_bytes_recursive`. @since 0.3 */
	uint64_t cgroup_read_bytes;
	/** Counter, RT_HAS_CGROUP_IO. Bytes written to all devices. v1 leaves out what the kernel
	 * writes back later: the bit is in `partial` then. @since 0.3 */
	uint64_t cgroup_write_bytes;
	/** Gauge, RT_HAS_CGROUP_TASKS. Threads of all processes. `pids.current`. @since 0.3 */
	uint64_t cgroup_tasks;
	/** Gauge, RT_HAS_CGROUP_TASKS. The least `pids.max` of the cgroup and of the cgroups above
	 * it, as far as the mount shows them; UINT64_MAX if there is none. @since 0.3 */
	uint64_t cgroup_tasks_limit;
	/** Largest cgroup_tasks since the cgroup was made, RT_HAS_CGROUP_TASKS_PEAK. `pids.peak`,
	 * since Linux 6.1. @since 0.3 */
	uint64_t cgroup_tasks_peak;
	/** CPU time that members may have used already and that a later sample is the first to
	 * have: a clock tick for each time of a live member that is in whole ticks. These are the
	 * two times of what it has reaped (`stat`), and with rt_opts.root the two of its own.
	 * rt_diff() marks differences by it. 0: none, or not known. @since 0.3 */
	uint64_t cpu_late_ns;
	/** Counter, RT_HAS_CGROUP_CPU_TIME. System with RT_OPT_OWN_LIMITS: CPU time of the own
	 * cgroup, with all cgroups below, in user and kernel mode. `cpu.stat`; `cpuacct.usage`.
	 * Not known if the quota (cgroup_cpu_limit_millicores) holds for a cgroup of another name.
	 * @since 0.3 */
	uint64_t cgroup_cpu_ns;
	/** Gauge, RT_HAS_HUGEPAGES. Memory that is set aside as huge pages of any size, for
	 * hugetlbfs and MAP_HUGETLB: part of memory_total_bytes, in memory_used_bytes even while
	 * free. `meminfo` Hugetlb, since Linux 4.16; `/sys/kernel/mm/hugepages`. Without these
	 * two, the pages of the default size alone, and the bit is in `partial`. @since 0.3 */
	uint64_t hugepages_total_bytes;
	/** Gauge, RT_HAS_HUGEPAGES. The part of it that is not allocated. `meminfo`
	 * HugePages_Free x Hugepagesize; `/sys/kernel/mm/hugepages`, where there are pages of
	 * another size. @since 0.3 */
	uint64_t hugepages_free_bytes;
	/** Gauge, RT_HAS_ZFS_ARC. What the cache of ZFS (ARC) holds: memory that the kernel counts
	 * as used. `/proc/spl/kstat/zfs/arcstats` size. In a container it is that of the machine.
	 * @since 0.3 */
	uint64_t zfs_arc_bytes;
	/** Gauge, RT_HAS_ZFS_ARC. What ZFS keeps of it if memory is short. `arcstats` c_min.
	 * @since 0.3 */
	uint64_t zfs_arc_min_bytes;

	/** Gauge, RT_HAS_FOOTPRINT. The memory that the members map, each page once, also if others
	 * map it: of one process, its RSS. It is the sum of the four parts that follow.
	 *
	 * Anonymous pages are a process's own, by `statm`, unless it was forked without an exec:
	 * then `smaps_rollup` says how many it shares. Of files and shared memory, the largest part
	 * of each range that any member has, or the sum of their PSS if that is larger, by `smaps`,
	 * read once for each program, and once for each process that maps much. Both are read as
	 * rt_opts.pss_share allows; what was not read is estimated. `valid` if the two bounds are
	 * within 1 % of each other. @since 0.3 */
	uint64_t footprint_bytes;
	uint64_t footprint_low_bytes; /**< Gauge, RT_HAS_FOOTPRINT. Lower bound. @since 0.3 */
	/** Gauge, RT_HAS_FOOTPRINT. Upper bound; UINT64_MAX if none is known. @since 0.3 */
	uint64_t footprint_high_bytes;
	/** Gauge, RT_HAS_FOOTPRINT. The anonymous part: heaps, stacks, copies. @since 0.3 */
	uint64_t footprint_anon_bytes;
	/** Gauge, RT_HAS_FOOTPRINT. The part that is shared memory and tmpfs. @since 0.3 */
	uint64_t footprint_shmem_bytes;
	/** Gauge, RT_HAS_FOOTPRINT. The part that is files: programs, libraries, mapped data.
	 * @since 0.3 */
	uint64_t footprint_file_bytes;
	/** Gauge, RT_HAS_FOOTPRINT. The part that is huge pages of hugetlbfs, which are in no RSS.
	 * @since 0.3 */
	uint64_t footprint_hugetlb_bytes;
	/** Gauge, RT_HAS_NEEDED. The footprint without files, and without what was freed lazily
	 * (MADV_FREE) where a read of this sample shows that. The kernel can only swap it out.
	 * @since 0.3 */
	uint64_t needed_bytes;
	uint64_t needed_low_bytes; /**< Gauge, RT_HAS_NEEDED. Lower bound. @since 0.3 */
	/** Gauge, RT_HAS_NEEDED. Upper bound; UINT64_MAX if none is known. @since 0.3 */
	uint64_t needed_high_bytes;
	/** Gauge, RT_HAS_TREE_SWAP. Swap space that the members use, `status` VmSwap. What forked
	 * processes share counts for each: the bit is in `estimated` then. @since 0.3 */
	uint64_t swap_bytes;
	/** Gauge, RT_HAS_PEAK_FOOTPRINT. Largest footprint_bytes that a sample or a peak poll saw,
	 * and at least the peak RSS of any member, unless one has 4 MiB of shared memory or more,
	 * which it may map several times. Its bit is in `partial`, since the peak between two polls
	 * may be higher; in `estimated` if the footprint was. It never falls. @since 0.3 */
	uint64_t peak_footprint_bytes;
	/** Gauge, RT_HAS_PEAK_FOOTPRINT. Lower bound, which does not fall either. @since 0.3 */
	uint64_t peak_footprint_low_bytes;
	/** Gauge, RT_HAS_PEAK_FOOTPRINT. Upper bound of what was seen. It may fall when
	 * a read shows what was counted twice. @since 0.3 */
	uint64_t peak_footprint_high_bytes;
	/** Gauge, RT_HAS_PEAK_FOOTPRINT. Largest needed_bytes, likewise. @since 0.3 */
	uint64_t peak_needed_bytes;
	uint64_t peak_needed_low_bytes;  /**< Gauge, RT_HAS_PEAK_FOOTPRINT. @since 0.3 */
	uint64_t peak_needed_high_bytes; /**< Gauge, RT_HAS_PEAK_FOOTPRINT. @since 0.3 */
	/** Gauge, RT_HAS_CGROUP_MEMORY_SLAB. The part of cgroup_memory_kernel_bytes that the kernel
	 * can drop: caches of file names and inodes. `memory.stat` slab_reclaimable; v1 has none.
	 * @since 0.3 */
	uint64_t cgroup_memory_slab_reclaimable_bytes;

	/** Tree: CLOCK_REALTIME from which on the counters have all that the tree has used, as far
	 * as is known. It is the start of the root, or of the command. If the past of the tree is
	 * not known (RT_REASON_PAST_UNKNOWN), it is the first sample. 0: unknown, and not a tree.
	 * @since 0.3 */
	uint64_t account_start_realtime_ns;
	/** RT_HAS_ bits of counters in `partial` that have all that was used since
	 * account_start_realtime_ns. rt_diff() takes them as it takes `valid` ones. @since 0.3 */
	uint64_t since_valid;
	/** RT_HAS_ bits of counters in `partial` that have a lower bound of that, and what they
	 * lack will be in no later sample. So rt_diff() makes lower bounds of them, too.
	 * @since 0.3 */
	uint64_t since_partial;
};

/** Measure once.
 *
 *  @param t the tracker.
 *  @param out receives the sample.
 *  @param out_size sizeof(struct rt_metrics) as the caller was compiled with.
 *  @retval 0 success, possibly with clear bits
 *  @retval -ESRCH everything that the tracker followed has exited: only zombies are left, or no
 *          process; @p out still receives the totals
 *  @retval -EBUSY the tracker has a recorder, which samples it
 *  @retval -EFAULT @p t or @p out is NULL
 *  @retval -EINVAL @p out_size is shorter than the struct was in 0.1, or above 4096
 *
 *  If memory for new members runs out, they are counted in rt_metrics.members_skipped, and the next
 *  call tries again.
 *
 *  Cost: one file read, up to seven per member, and up to four per thread; fewer with
 *  rt_opts.want. For the system, ten file reads, one more with ZFS, and two for each size of huge
 *  pages if not all have the default size. With GPUs, what their drivers take, up to 0.1 s, or 1 s
 *  in the first sample: see rt_tracker_gpus(). For the GPUs of a tree, one file per open GPU, one
 *  call per member that runs and grows, and one directory per new member, each at most; if the
 *  machine has no GPU, some calls a second. For a cgroup, its members as in a tree, one list of
 *  processes for each cgroup below, some fifteen files, and up to four limits for each cgroup above
 *  it; in v1 also the directory of each cgroup below. With RT_OPT_OWN_LIMITS, these files and
 *  limits for the own cgroup.
 *  @since 0.1
 *  @since 0.2 Does not read again what cannot have changed: members that have not run, and lists
 *          of children if no process has forked. Reads context switches at most ten times a
 *          second, and VmHWM too unless RSS shows a new peak. Walks page tables as
 *          rt_opts.pss_share allows. May read a large tree with a BPF program: see
 *          rt_metrics.source.
 *  @since 0.3 Returns -ESRCH, too, if all members are zombies. */
RT_API int rt_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size);

/** Peak poll: a quick check between two samples, for memory peaks and for new processes.
 *
 *  Reads the pending process events, and finds out how much memory all members hold. The next
 *  sample reports a new peak. If no process has forked, the cost is one file read for each member
 *  that has run (`statm`), and one more (`stat`) if it shares memory with the process that forked
 *  it, or with one that it has forked. Walks page tables only for a new peak, of which they would
 *  show more. Call it as often as peaks matter. rt_command_wait() calls it while it waits.
 *
 *  @param t a pid tracker that has been sampled at least once.
 *  @retval 0 success
 *  @retval -EFAULT @p t is NULL
 *  @retval -EOPNOTSUPP @p t is not a pid tracker, or RSS is not in rt_opts.want
 *  @retval -ENODATA @p t has not been sampled yet
 *  @since 0.2 */
RT_API int rt_tracker_glance(struct rt_tracker *t);

/** Have the next rt_sample() read all that the footprint and the needed memory rest on, whatever
 *  rt_opts.pss_share and pss_hold_us say. E.g.: before a limit of memory ends a program, the bounds
 *  are to be as close as they can be. With RT_OPT_NO_MEMORY_READS it has no effect.
 *
 *  @return 0; -EOPNOTSUPP if the tracker has no such figure; -EFAULT if @p t is NULL. Cost: none;
 *          that sample takes 11 to 16 ms for each GiB that the members have.
 *  @since 0.3 */
RT_API int rt_tracker_read_memory(struct rt_tracker *t);

/** A descriptor for the event loop of the caller.
 *
 *  It becomes readable when process events wait (RT_OPT_PROCESS_EVENTS), and when the root of the
 *  tree has ended; then call rt_sample() or rt_tracker_glance(), which clear it.
 *
 *  It is an epoll(7) instance, see rt_command_fd(). Process events come from all processes on the
 *  system: each fork wakes the caller, unless it waits a little before it samples. At
 *  RT_SOURCE_BPF_ACCOUNT they come from the tree alone.
 *
 *  It wakes once for the end of the root. From then on, sample by a timer of your own until
 *  rt_sample() returns -ESRCH: the rest of the tree may run on.
 *
 *  Borrowed: do not read, change or close it. It is valid until rt_tracker_free(). A forked child
 *  calls this function again and gets one of its own: what it samples does not clear its parent's.
 *
 *  @param t a pid tracker.
 *  @return the descriptor, the same in each call of a process;
 *          -EOPNOTSUPP if nothing can be reported: another kind of tracker, another rt_opts.root, a
 *          kernel without pidfd (before Linux 5.3) and no process events; or the tracker of a
 *          command, which has rt_command_fd(); -EMFILE, -ENFILE or -ENOMEM if it cannot be opened;
 *          or -EFAULT if @p t is NULL.
 *
 *  Cost: three descriptors and some system calls, in the first call alone; then four system calls
 *  in each sample.
 *  @since 0.3 */
RT_API int rt_tracker_fd(const struct rt_tracker *t);

/** Why a figure of the last sample is missing, a lower bound or an estimate.
 *
 *  @param t the tracker.
 *  @param has one RT_HAS_ bit.
 *  @return 0 if the bit is valid, else the first read error. E.g.: -EACCES (not permitted),
 *          -ENOENT (this kernel has no such file), -EBADMSG (the file has an unknown format) or
 *          -ETIMEDOUT. -EDQUOT: the footprint or PSS is estimated, because its budget did not allow
 *          reading it (rt_opts.pss_share, RT_OPT_NO_MEMORY_READS). -EBUSY: likewise, because
 *          processes changed what they share while it was read. -ENOSPC: the tree has more
 *          processes than are followed. -ENOBUFS: process events were lost. -ENODEV: the cgroup was
 *          removed, or a GPU is lost. -EXDEV: the figure needs another pid namespace. Also
 *          -EOPNOTSUPP (this kind of tracker does not have it, it was not requested, or the process
 *          or the kernel cannot have it), -ENODATA (no sample yet, or a lower bound or an estimate
 *          without a read error), -EINVAL (@p has is not exactly one known bit) or -EFAULT (@p t is
 *          NULL). rt_tracker_obstacle() says more.
 *  @since 0.1
 *  @since 0.3 Can return -EDQUOT, -EBUSY, -ENOSPC, -ENOBUFS, -ENODEV and -EXDEV. */
RT_API int rt_tracker_status(const struct rt_tracker *t, uint64_t has);

/** @name Obstacles
 *  rt_obstacle.kind: what kept a figure from being complete. Later releases may have more kinds,
 *  and may give an obstacle a kind that describes it better.
 *  @{ */
/** The caller may not read it: it belongs to another user, is not dumpable, or is hidden by
 * hidepid.
 * @since 0.3 */
#define RT_OBSTACLE_RIGHTS 1
/** The kernel does not have it, or its configuration, the namespace or rt_opts.root rules it out.
 * @since 0.3 */
#define RT_OBSTACLE_KERNEL 2
/** The options of the tracker rule it out: rt_opts.pss_share, rt_opts.pss_hold_us,
 * RT_OPT_NO_MEMORY_READS, rt_opts.want, or RT_OPT_PROCESS_EVENTS, which is not set. @since 0.3 */
#define RT_OBSTACLE_OPTIONS 3
/** Too little of something: descriptors, memory, threads, room for members or events.
 * @since 0.3 */
#define RT_OBSTACLE_LIMIT 4
/** A process or a thread had ended before it could be read. @since 0.3 */
#define RT_OBSTACLE_GONE 5
/** The file could not be understood. @since 0.3 */
#define RT_OBSTACLE_FORMAT 6
/** There was no answer in time, or what was read changed meanwhile. @since 0.3 */
#define RT_OBSTACLE_SLOW 7
/** Another error, which rt_obstacle.error names. E.g.: -EIO. @since 0.3 */
#define RT_OBSTACLE_ERROR 8
/** No read has failed, but what was read cannot show all of it. E.g.: the peak of a tree may lie
 * between two samples. rt_obstacle.error is -ENODATA. @since 0.3 */
#define RT_OBSTACLE_UNSEEN 9
/** @} */

/** Why one domain of the last sample is not in `valid`. @since 0.3 */
struct rt_obstacle {
	uint32_t size; /**< Bytes of this struct that the library filled. */
	/** RT_OBSTACLE_ value of the first obstacle; 0 if there is none: the domain is valid. */
	uint32_t kind;
	int32_t error; /**< What rt_tracker_status() returns. */
	int32_t pid;   /**< First process where it was met; 0 if there is no single one. */
	uint64_t has;  /**< The bit that was asked about. */
	/** Members of the tree for which this domain could not be read in full in the last sample,
	 * for any reason. 0 if the obstacle was not met in a read. Members that have exited do not
	 * count, nor processes that could not be added: see rt_metrics.members_skipped. */
	uint64_t members;
	/** Counter: members for which this domain could not be read in full in any sample so far,
	 * or was lost when they exited. Each member counts once. */
	uint64_t members_ever;
	/** File below `/proc`, or below `/proc/PID` if pid is not 0; empty if there is no single
	 * one. E.g.: "net/dev", "io". For figures of each thread, "task". For an account of a
	 * cgroup, the file in its directory. E.g.: "memory.peak". */
	char file[64];
	/** An English sentence or two for people: what is missing why, and what would help. Empty
	 * if the domain is valid. Its wording may change. */
	char text[256];
};

/** Why a figure is missing, partial or estimated in the last sample, and what would help.
 *
 *  Says more than rt_tracker_status(), which returns the same `error`. E.g.: in a tree with one
 *  process of another user, RT_HAS_IO has the kind RT_OBSTACLE_RIGHTS, the pid of that process, 1
 *  member, the file "io", and a text that names CAP_SYS_PTRACE.
 *
 *  @param t the tracker.
 *  @param has one RT_HAS_ bit.
 *  @param out receives the obstacle; untouched on error.
 *  @param out_size sizeof(struct rt_obstacle) as the caller was compiled with.
 *  @retval 0 success, also if there is no obstacle
 *  @retval -EFAULT @p t or @p out is NULL
 *  @retval -EINVAL @p has is not exactly one known bit, or @p out_size is wrong
 *  @retval -EOPNOTSUPP this kind of tracker does not have it, or it was not requested
 *  @retval -ENODATA no sample yet
 *
 *  Cost: no file read; a few system calls, to find out what an error means. A sample without
 *  obstacles costs nothing more. @since 0.3 */
RT_API int rt_tracker_obstacle(const struct rt_tracker *t, uint64_t has, struct rt_obstacle *out,
                               size_t out_size);

/** @} */

/** @defgroup lists Lists
 *  Figures of each item in the last sample, one flat row per item.
 *
 *  All these calls work alike:
 *  - `element_size` is sizeof of the row as the caller was compiled with. It is also the stride of
 *    @p array.
 *  - On entry, `*count` is the number of rows that @p array has room for. On return, it is the
 *    number of items, which may be more than were written.
 *  - @p array may be NULL if `*count` is 0.
 *
 *  They read no file. They return 0, -EFAULT (an argument is NULL), -EINVAL (the row has a wrong
 *  size), -EOPNOTSUPP (this kind of tracker has no such list, or it was not requested), or
 *  -ENODATA (no sample yet, or the list could not be read).
 *  @{ */

/** One member of a tree, or one process of the system (RT_OPT_LIST_PROCESSES). @since 0.1 */
struct rt_process {
	uint32_t size;  /**< Bytes of this struct that the library filled. */
	int32_t pid;    /**< Process id. */
	int32_t ppid;   /**< Process id of the parent at the time of the sample. */
	uint32_t state; /**< One character, as in `stat`: R S D Z T t I ... */
	uint64_t valid; /**< RT_HAS_ bits of the figures of this row. */
	/** Start, in clock ticks since boot. Together with pid, identifies the process uniquely. */
	uint64_t start_ticks;
	/** Name, NUL-terminated, as the process set it. May contain any byte. `stat`. */
	char comm[64];
	uint64_t cpu_user_ns;   /**< Counter, RT_HAS_CPU. This process's threads only. */
	uint64_t cpu_system_ns; /**< Counter, RT_HAS_CPU. This process's threads only. */
	/** Counter, RT_HAS_CPU. Children that it waited for, with what they had waited for. `stat`
	 * cutime. */
	uint64_t reaped_cpu_user_ns;
	/** Counter, RT_HAS_CPU. The same in kernel mode. `stat` cstime. */
	uint64_t reaped_cpu_system_ns;
	uint64_t rss_bytes;      /**< Gauge, RT_HAS_RSS. */
	uint64_t pss_bytes;      /**< Gauge, RT_HAS_PSS. */
	uint64_t peak_rss_bytes; /**< RT_HAS_PEAK_RSS. */
	/** Counter, RT_HAS_IO. The kernel includes the I/O of children that it waited for. With
	 * RT_OPT_NO_CHILDREN, this process's threads only, unless RT_OPT_IO_WITH_REAPED is set.
	 * @since 0.3 RT_OPT_IO_WITH_REAPED. */
	uint64_t read_bytes;
	uint64_t write_bytes;           /**< Counter, RT_HAS_IO. Likewise. */
	uint64_t cancelled_write_bytes; /**< Counter, RT_HAS_IO. Likewise. */
	uint64_t read_chars;            /**< Counter, RT_HAS_IO. Likewise. */
	uint64_t write_chars;           /**< Counter, RT_HAS_IO. Likewise. */
	uint64_t minor_faults;          /**< Counter, RT_HAS_FAULTS. This process's threads only. */
	uint64_t major_faults;          /**< Counter, RT_HAS_FAULTS. This process's threads only. */
	uint64_t voluntary_switches;    /**< Counter, RT_HAS_CTXSW. Live threads. */
	uint64_t involuntary_switches;  /**< Counter, RT_HAS_CTXSW. Live threads. */
	uint64_t threads;               /**< Gauge, RT_HAS_THREADS. */
	uint64_t pss_age_ns;            /**< Gauge, RT_HAS_PSS. Age of the read. @since 0.2 */
	uint32_t pss_source;            /**< RT_PSS_ value; 0 if there is none. @since 0.2 */
	uint32_t reserved;              /**< 0. @since 0.2 */
	/** RT_HAS_ bits of the figures that may be above or below the truth. @since 0.3 */
	uint64_t estimated;
	/** Counter, RT_HAS_IO_CALLS. Calls of read(2) and the like, by the same processes as in
	 * read_bytes. @since 0.3 */
	uint64_t read_calls;
	uint64_t write_calls; /**< Counter, RT_HAS_IO_CALLS. The same of write(2). @since 0.3 */
	/** RT_HAS_ bits of the figures that are a lower bound. E.g.: the context switches of a
	 * process with a thread that has ended. @since 0.3 */
	uint64_t partial;
	uint64_t virtual_bytes; /**< Gauge, RT_HAS_VIRTUAL. Address space. `statm`. @since 0.3 */
	/** Start, since 1970: start_ticks by the clock of the last sample. 0 if it is not known.
	 * @since 0.3 */
	uint64_t start_realtime_ns;
	/** Gauge, RT_HAS_USS. Memory that no other process maps: what its end would free. Private
	 * pages of `smaps_rollup`, as of the last read of it; in `estimated` if that was before the
	 * last sample. @since 0.3 */
	uint64_t uss_bytes;
	/** Gauge, RT_HAS_USS. What it has in swap space, shared memory included. Swap of
	 * `smaps_rollup`, likewise. @since 0.3 */
	uint64_t swap_bytes;
	uint32_t uid;        /**< RT_HAS_IDS. Real user id. `status` Uid. @since 0.3 */
	int32_t session;     /**< RT_HAS_IDS. Session: the pid of its leader. `stat`. @since 0.3 */
	int32_t pgrp;        /**< RT_HAS_IDS. Process group: likewise. `stat`. @since 0.3 */
	uint32_t reserved_2; /**< 0. @since 0.3 */
	/** Gauge, RT_HAS_OPEN_FDS. Open descriptors: the size of the directory `fd`, since Linux
	 * 6.2. @since 0.3 */
	uint64_t open_fds;
};

/** One CPU. The modes are disjoint, as in rt_metrics. @since 0.1 */
struct rt_cpu {
	uint32_t size;          /**< Bytes of this struct that the library filled. */
	uint32_t id;            /**< The kernel's number of the CPU. Numbers may have gaps. */
	uint64_t user_ns;       /**< Counter, RT_HAS_CPU_MODES, without guest time. */
	uint64_t nice_ns;       /**< Counter, RT_HAS_CPU_MODES, without guest_nice time. */
	uint64_t system_ns;     /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t idle_ns;       /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t iowait_ns;     /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t irq_ns;        /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t softirq_ns;    /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t steal_ns;      /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t guest_ns;      /**< Counter, RT_HAS_CPU_MODES. */
	uint64_t guest_nice_ns; /**< Counter, RT_HAS_CPU_MODES. */
	/** RT_HAS_CPU_MODES, if the counters are exact. @since 0.3 */
	uint64_t valid;
	/** The same, if a counter has fallen since the sample before, e.g. as the CPU went offline:
	 * its growth since then is not in it. @since 0.3 */
	uint64_t partial;
	uint64_t estimated; /**< None so far. @since 0.3 */
};

/** rt_disk.flags, rt_network.flags, rt_filesystem.flags, rt_gpu.flags: the item is part of the
 * total. @since 0.1 */
#define RT_ITEM_IN_TOTAL 0x1U
/** rt_disk.flags, rt_gpu.flags: a partition of another device. E.g.: a MIG instance. @since 0.1
 * @since 0.3 Of GPUs. */
#define RT_ITEM_PARTITION 0x2U
/** rt_disk.flags, rt_network.flags: without hardware of its own (dm, md, loop, zram; bridge, veth,
 * tunnel). @since 0.1 */
#define RT_ITEM_VIRTUAL 0x4U
/** rt_filesystem.flags: it did not answer in time. The figures are the last known ones, or 0.
 * @since 0.1 */
#define RT_ITEM_STALLED 0x8U
/** rt_filesystem.flags: served over a network. @since 0.1 */
#define RT_ITEM_NETWORK 0x10U

/** One block device. Counters continue when the device is reset, or removed and added again.
 * @since 0.1 */
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
	uint64_t in_flight;   /**< Gauge. Operations in flight. */
};

/** One file system, each superblock once. @since 0.1 */
struct rt_filesystem {
	uint32_t size;            /**< Bytes of this struct that the library filled. */
	uint32_t flags;           /**< RT_ITEM_ bits. */
	uint32_t major;           /**< Device number of the superblock. */
	uint32_t minor;           /**< Device number of the superblock. */
	char type[32];            /**< Type, as in `mountinfo`. Truncated to 31 bytes. */
	char source[128];         /**< What is mounted, decoded. Truncated to 127 bytes. */
	char mount_point[256];    /**< Mount point, decoded. Truncated to 255 bytes. */
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

/** One ZFS pool, as `zpool list` reports it. @since 0.1 */
struct rt_zpool {
	uint32_t size;            /**< Bytes of this struct that the library filled. */
	uint32_t flags;           /**< 0. */
	char name[256];           /**< Name of the pool. */
	uint64_t size_bytes;      /**< Gauge. */
	uint64_t allocated_bytes; /**< Gauge. */
	uint64_t free_bytes;      /**< Gauge. */
};

/** rt_gpu.source: the library of NVIDIA's driver, libnvidia-ml.so.1. @since 0.3 */
#define RT_GPU_NVML 1
/** rt_gpu.source: the files of a DRM driver below /sys/class/drm. @since 0.3 */
#define RT_GPU_DRM 2

/** One GPU, or one partition of the GPU that comes before it. Counters continue when the device is
 * removed and comes back, or its driver is loaded again. @since 0.3 */
struct rt_gpu {
	uint32_t size;  /**< Bytes of this struct that the library filled. */
	uint32_t flags; /**< RT_ITEM_ bits. */
	uint64_t valid; /**< RT_HAS_ bits of the exact figures of this row. */
	/** RT_HAS_ bits of the figures of this row that may be above or below the truth. */
	uint64_t estimated;
	uint32_t id;           /**< The same while the tracker lives; see rt_gpu_process.gpu_id. */
	uint32_t source;       /**< RT_GPU_ value. */
	uint32_t pci_domain;   /**< PCI address; all four are UINT32_MAX if there is none. */
	uint32_t pci_bus;      /**< PCI address. */
	uint32_t pci_device;   /**< PCI address. */
	uint32_t pci_function; /**< PCI address. */
	char name[64];         /**< As its driver calls it, or as in /sys/class/drm. */
	char uuid[64];         /**< As NVML has it; else empty. */
	char driver[32];       /**< E.g.: "nvidia", "amdgpu", "xe". */
	uint64_t busy_ns;      /**< Counter, RT_HAS_GPU. See rt_metrics.gpu_busy_ns. */
	/** Gauge, RT_HAS_GPU. Share of the last moments, 0 to 1, as the driver reports it. Tree: of
	 * the time since the previous sample; above 1 if several engines worked. */
	double busy_share;
	uint64_t memory_used_bytes;  /**< Gauge, RT_HAS_GPU_MEMORY. */
	uint64_t memory_total_bytes; /**< Gauge, RT_HAS_GPU_MEMORY. */
	uint64_t energy_uj;          /**< Counter, RT_HAS_GPU_ENERGY. Since it was loaded. */
	uint64_t partial;            /**< None so far. */
};

/** What one process uses of one GPU, or of one partition. Each time is estimated like
 * rt_metrics.gpu_busy_ns, since the process was first listed. @since 0.3 */
struct rt_gpu_process {
	uint32_t size;   /**< Bytes of this struct that the library filled. */
	uint32_t gpu_id; /**< rt_gpu.id. */
	int32_t pid;     /**< Process id. */
	/** Times that it has opened the device; 0: not known, as by NVML. */
	uint32_t clients;
	/** Start, in clock ticks since boot, as rt_process.start_ticks; 0: not known. */
	uint64_t start_ticks;
	uint64_t valid; /**< RT_HAS_ bits of the exact figures of this row. */
	/** RT_HAS_ bits of the figures of this row that may be above or below the truth. */
	uint64_t estimated;
	/** Counter, RT_HAS_GPU. Drawing. NVML: time of a process that only draws. */
	uint64_t render_ns;
	/** Counter, RT_HAS_GPU. Computing. NVML: time of any other process. */
	uint64_t compute_ns;
	uint64_t copy_ns;      /**< Counter, RT_HAS_GPU. Copying; 0 by NVML. */
	uint64_t decode_ns;    /**< Counter, RT_HAS_GPU. Decoding video. */
	uint64_t encode_ns;    /**< Counter, RT_HAS_GPU. Encoding video. */
	uint64_t other_ns;     /**< Counter, RT_HAS_GPU. Anything else; 0 by NVML. */
	uint64_t memory_bytes; /**< Gauge, RT_HAS_GPU_MEMORY. Memory of the device. */
	uint64_t partial;      /**< None so far. */
};

/** Members of the tree in the last sample. The root comes first, then the others in the order in
 * which they were found.
 * @since 0.1
 * @since 0.3 After rt_tracker_glance(), still the members of the last sample, with its figures.
 * Until then the list also had members that a peak poll had found, without figures. */
RT_API int rt_tracker_processes(const struct rt_tracker *t, struct rt_process *array,
                                size_t element_size, size_t *count);
/** Online CPUs, by number. @since 0.1 */
RT_API int rt_tracker_cpus(const struct rt_tracker *t, struct rt_cpu *array, size_t element_size,
                           size_t *count);
/** Block devices. Partitions and virtual devices are included and marked. @since 0.1 */
RT_API int rt_tracker_disks(const struct rt_tracker *t, struct rt_disk *array, size_t element_size,
                            size_t *count);
/** File systems that hold blocks: not proc and the like. @since 0.1 */
RT_API int rt_tracker_filesystems(const struct rt_tracker *t, struct rt_filesystem *array,
                                  size_t element_size, size_t *count);
/** Network interfaces. Loopback and virtual interfaces are included and marked. @since 0.1 */
RT_API int rt_tracker_networks(const struct rt_tracker *t, struct rt_network *array,
                               size_t element_size, size_t *count);
/** ZFS pools. @since 0.1 */
RT_API int rt_tracker_zpools(const struct rt_tracker *t, struct rt_zpool *array,
                             size_t element_size, size_t *count);

/** GPUs. Partitions come after their device, and are marked.
 *
 *  For a tree, the devices that its members have open, with what the members use of them: busy_ns,
 *  busy_share (which may be above 1 if several engines work) and memory_used_bytes add up to the
 *  figures of the sample, but for what departed members used on devices that are no longer listed.
 *  Energy is never known. The other fields are as for the system.
 *
 *  Devices of NVIDIA's driver are read through its library, libnvidia-ml.so.1, if it is installed
 *  and rt_opts.root is not set. A thread of the tracker calls it. So if the driver hangs, the
 *  figures are missing, and one sample takes 0.1 s longer (1 s if it is the first). The library and
 *  its descriptors stay in the process until rt_tracker_free(); for good if the driver hangs then.
 *  After fork() the child starts the library anew, which its vendor does not promise to work.
 *
 *  Devices of other drivers are found in /sys/class/drm, if they can render. Only amdgpu reports
 *  how busy a device is and how much memory is used. A card that NVML has, too, is listed once.
 *
 *  rt_tracker_status() of the three domains: -ENOENT (no GPU, or no driver), -EACCES, -ETIMEDOUT
 *  (the driver hangs), -ENODEV (a GPU is lost), -EOPNOTSUPP (a GPU or its driver does not report
 *  it), -EPROTONOSUPPORT (the library and the driver are of different releases). For a tree also
 *  -EXDEV (NVML, in any other pid namespace than the first) and -ENODATA (a process or a client has
 *  gone, or the figure is an estimate). There -EACCES may say that the descriptors of a member
 *  cannot be listed, and -ENOENT comes from NVML alone: without any GPU the figures are valid and
 *  0.
 *  @since 0.3 */
RT_API int rt_tracker_gpus(const struct rt_tracker *t, struct rt_gpu *array, size_t element_size,
                           size_t *count);
/** Processes that use GPUs. Needs RT_HAS_GPU or RT_HAS_GPU_MEMORY.
 *
 *  For the system, as NVML lists them; processes that use other drivers are not listed. NVML has
 *  process ids of the first pid namespace. In any other namespace the list cannot be read
 *  (-ENODATA), since these ids mean nothing there, or other processes.
 *
 *  For a tree, its members alone: from NVML, with the same limit, and from `/proc/PID/fdinfo` for
 *  the other drivers. A client that several members share is listed for one of them.
 *  @since 0.3 */
RT_API int rt_tracker_gpu_processes(const struct rt_tracker *t, struct rt_gpu_process *array,
                                    size_t element_size, size_t *count);

/** Whether a block device is a partition of another one, without a tracker.
 *
 *  Source: `/sys/class/block/NAME/partition`, not the name. E.g.: nvme0n1p1 is a partition,
 *  nvme0n10 is a disk; vda1 is a partition on most systems, and a disk on some.
 *
 *  @param name kernel name, as in `diskstats`; without "/dev/".
 *  @retval 1 a partition
 *  @retval 0 another block device
 *  @retval -ENODEV there is no such block device. This is not 0: in a container without the devices
 *          of its host, the partitions of a list would be added to their disks.
 *  @retval -ENOENT /sys does not show block devices
 *  @retval -EINVAL @p name is empty, ".", "..", contains a '/', or has more than 63 bytes
 *  @retval -EFAULT @p name is NULL
 *
 *  Cost: one or two system calls, which open nothing. @since 0.3 */
RT_API int rt_is_partition(const char *name);

/** @} */

/** @defgroup pids One look at a process
 *  What is known of a process without a tracker, for pids that are looked at once. A tracker is
 *  cheaper for a process that is looked at again.
 *  @{ */

/** Read some figures of one process, once.
 *
 *  All figures are of the same process, even if it exits during the call and its pid is reused. The
 *  fields are as for a member of a tree, but:
 *  - `comm`, `ppid`, `state`, `start_ticks` and `start_realtime_ns` come with CPU, FAULTS, THREADS,
 *    IDS or OPEN_FDS, and may be empty or 0 without one of them.
 *  - `io` is as the kernel reports it: with the I/O of the children that the process waited for.
 *  - PSS is always read, never estimated, whatever that takes: see rt_opts.pss_hold_us.
 *
 *  A zombie has an RSS and a PSS of 0; a kernel thread has neither. If only the leader has exited,
 *  the memory of its other threads is reported.
 *
 *  @param pid process id in the caller's pid namespace. The id of a thread other than the leader
 *          is -ESRCH.
 *  @param want RT_HAS_ bits: CPU, RSS, PSS, PEAK_RSS, IO, IO_CALLS, FAULTS, CTXSW, THREADS,
 *          VIRTUAL, USS, IDS, OPEN_FDS. 0 means CPU, RSS, FAULTS and THREADS.
 *  @param out receives the figures; untouched on error. `valid` has the bits of @p want, except for
 *          figures that could not be read in full.
 *  @param out_size sizeof(struct rt_process) as the caller was compiled with.
 *  @retval 0 success, possibly with clear bits
 *  @retval -EINVAL @p pid is negative or zero, @p want has a bit that is unknown or that no process
 *          has, or @p out_size is wrong
 *  @retval -EFAULT @p out is NULL
 *  @retval -ESRCH no such process
 *  @retval -EACCES the process exists, but /proc hides it from the caller (hidepid)
 *  @retval -ENOENT /proc is not mounted
 *  @retval -EXDEV /proc belongs to another pid namespace, where the pid means another process
 *  @retval -EMFILE the limit of open descriptors is reached; likewise -ENFILE
 *  @retval -ENOMEM out of memory
 *
 *  Cost: one open, read and close for each file that is needed, and 1 us. These are `statm` (RSS,
 *  VIRTUAL), `stat` (CPU, FAULTS, THREADS, IDS, OPEN_FDS), `io` (IO, IO_CALLS),
 *  `smaps_rollup` (PSS, USS), `status` (PEAK_RSS, IDS). OPEN_FDS takes a stat(2) besides.
 *  CTXSW takes `status` and `schedstat` for a process that never had a second thread, else the
 *  directory `task`, `stat`, and three files for each thread. A process without memory costs `stat`
 *  besides. @since 0.3 */
RT_API int rt_pid_read(int32_t pid, uint64_t want, struct rt_process *out, size_t out_size);

/** rt_pid_text(), rt_command_process_text(): the arguments, separated by NUL. @since 0.3 */
#define RT_TEXT_COMMAND_LINE 1
/** rt_pid_text(), rt_command_process_text(): the working directory. @since 0.3 */
#define RT_TEXT_CWD 2

/** A text of a process, as it is now. It may contain any byte.
 *
 *  A process may write over its arguments (`cmdline`): then the text is what it has written. If its
 *  directory (`cwd`) has been removed, the kernel adds " (deleted)".
 *
 *  @param pid process id in the caller's pid namespace. The id of a thread other than the leader
 *          is -ESRCH.
 *  @param text RT_TEXT_ value.
 *  @param buffer receives the text, as much as there is room for; NULL if `*size` is 0. Nothing is
 *         appended. Untouched on error.
 *  @param size on entry, the room in bytes; on return, the length of the text: 0 for a zombie, and
 *         for the arguments of a kernel thread. Untouched on error.
 *  @retval 0 success
 *  @retval -EINVAL @p pid is negative or zero, or @p text is unknown
 *  @retval -EFAULT @p size is NULL, or @p buffer is NULL and `*size` is not 0
 *  @retval -EACCES /proc hides the process; or it is another user's, which keeps its directory from
 *          the caller
 *  @return else -ESRCH, -ENOENT, -EXDEV, -EMFILE, -ENFILE or -ENOMEM, as rt_pid_read()
 *
 *  Cost: one open, read and close, or one readlink(2). @since 0.3 */
RT_API int rt_pid_text(int32_t pid, uint32_t text, char *buffer, size_t *size);

/** The descendants of a process, once.
 *
 *  Children of all threads are found. A zombie is a descendant until its parent has waited for it.
 *  An orphan is not a descendant, unless a process of the tree has adopted it (subreaper).
 *  Processes that fork during the call may be missing. A tracker also finds those that live for a
 *  short time, and orphans.
 *
 *  @param pid process id in the caller's pid namespace. The id of a thread other than the leader
 *          is -ESRCH.
 *  @param pids receives the process ids, parents before their children, without @p pid itself. May
 *          be NULL if `*count` is 0. Untouched on error.
 *  @param count on entry, the number of ids that @p pids has room for. On return, the number of
 *          descendants, which may be more than were written. Untouched on error.
 *  @retval 0 success
 *  @retval -EINVAL @p pid is negative or zero
 *  @retval -EFAULT @p count is NULL, or @p pids is NULL and `*count` is not 0
 *  @retval -E2BIG there are more than 65536, or the tree forks faster than it can be read
 *  @return else -ESRCH, -EACCES, -ENOENT, -EXDEV, -EMFILE, -ENFILE or -ENOMEM, as rt_pid_read()
 *
 *  Cost: `stat`, one directory and one file per thread (`children`) of each process of the tree.
 *  Twice that, or three times, if a process exits meanwhile, since its children then have another
 *  parent. A kernel without `children` files: `stat` of all processes of the system.
 *  @since 0.3 */
RT_API int rt_pid_descendants(int32_t pid, int32_t *pids, size_t *count);

/** @} */

/** @defgroup diff Differences
 *  What changed between two samples of one tracker.
 *  @{ */

/** Differences of the counters of two samples, and rates over the time between them.
 *
 *  A bit of `valid` is set if it is valid in both samples and no counter of that domain went
 *  backwards. A bit of `partial` is set if the later one is a lower bound and the earlier one is
 *  valid. A bit of `estimated` is set if at least one of the two is an estimate, or the earlier one
 *  a lower bound: what that lacks may be in the later one, so the difference may be too high. A bit
 *  is in none of the three if a counter of that domain lies past the end of a sample
 *  (rt_metrics.size). Differences of consecutive samples add up to the difference of the first and
 *  the last. A bit of a domain that has no field here, such as RT_HAS_RSS, says that both samples
 *  have it; it is in `partial` if one of them is a lower bound.
 *
 *  CPU times in clock ticks (rt_metrics.cpu_late_ns) lag behind. If they do by more than a
 *  hundredth of the difference, RT_HAS_CPU is in `estimated`, or in `partial` if they did not in
 *  the earlier sample. E.g.: 9 ms show as 1 or as 20.
 *  @since 0.1
 *  @since 0.3 A difference from a lower bound is in `estimated`; it was in `partial`. The same of
 *  CPU times that lag; they were in `valid`. */
struct rt_delta {
	uint32_t size;         /**< Bytes of this struct that the library filled. */
	uint32_t kind;         /**< RT_KIND_PID or RT_KIND_SYSTEM. */
	uint64_t valid;        /**< RT_HAS_ bits of the complete differences. */
	uint64_t partial;      /**< RT_HAS_ bits of the differences of lower bounds. */
	uint64_t interval_ns;  /**< Monotonic time between the samples, without time suspended. */
	uint64_t suspended_ns; /**< Time that the system was suspended in between. */
	uint64_t self_cpu_ns;  /**< CPU time that the tracker's samples cost in the interval. */
	/** Differences of the counters. ru_maxrss is taken from the later sample. ru_inblock and
	 * ru_oublock add up without rounding loss.
	 * @since 0.3 Until then each difference of them was rounded down. */
	struct rt_rusage rusage;

	uint64_t cpu_user_ns;   /**< RT_HAS_CPU. */
	uint64_t cpu_system_ns; /**< RT_HAS_CPU. */
	/** RT_HAS_CPU. In clock ticks. Consecutive differences add up without rounding loss. */
	uint64_t cpu_user_ticks;
	uint64_t cpu_system_ticks; /**< RT_HAS_CPU. Likewise. */
	uint64_t ticks_per_second; /**< The clock tick of the two fields above. */
	/** RT_HAS_CPU with RT_HAS_RATE. (user + system) / interval; 0 if no time passed. */
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
	/** RT_HAS_PROCESSES_SEEN. New members.
	 * @since 0.3 Has a bit of its own. In samples of an older library it is a lower bound. */
	uint64_t processes_seen;

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
	/** RT_HAS_ bits of the differences of estimates. @since 0.3 */
	uint64_t estimated;
	uint64_t read_calls;  /**< RT_HAS_IO_CALLS. @since 0.3 */
	uint64_t write_calls; /**< RT_HAS_IO_CALLS. @since 0.3 */
	/** RT_HAS_GPU. Divided by interval_ns, the number of GPUs that were busy. @since 0.3 */
	uint64_t gpu_busy_ns;
	uint64_t gpu_energy_uj;             /**< RT_HAS_GPU_ENERGY. @since 0.3 */
	uint64_t cgroup_oom_kills;          /**< RT_HAS_CGROUP_OOM_KILLS. @since 0.3 */
	uint64_t cgroup_memory_high_events; /**< RT_HAS_CGROUP_MEMORY_EVENTS. @since 0.3 */
	uint64_t cgroup_memory_max_events;  /**< RT_HAS_CGROUP_MEMORY_EVENTS. @since 0.3 */
	uint64_t cgroup_memory_oom_events;  /**< RT_HAS_CGROUP_MEMORY_EVENTS. @since 0.3 */
	uint64_t cgroup_cpu_periods;        /**< RT_HAS_CGROUP_CPU. @since 0.3 */
	/** RT_HAS_CGROUP_CPU. Divided by cgroup_cpu_periods, the share of periods in which the
	 * quota was used up. @since 0.3 */
	uint64_t cgroup_cpu_throttled_periods;
	uint64_t cgroup_cpu_throttled_ns; /**< RT_HAS_CGROUP_CPU. @since 0.3 */
	uint64_t cgroup_read_bytes;       /**< RT_HAS_CGROUP_IO. @since 0.3 */
	uint64_t cgroup_write_bytes;      /**< RT_HAS_CGROUP_IO. @since 0.3 */
	/** RT_HAS_CGROUP_CPU_TIME. Divided by interval_ns, the CPUs that the own cgroup used.
	 * @since 0.3 */
	uint64_t cgroup_cpu_ns;
};

/** Compute what changed from one sample to a later one of the same tracker.
 *
 *  Pure arithmetic: reads no file and no clock, and needs no tracker. The samples may come from
 *  another process or from a file.
 *
 *  A difference of lower bounds may be above or below the truth, so it is in `estimated`. Unless
 *  rt_metrics.since_valid or since_partial says that what is missing is in no later sample.
 *
 *  @param from the earlier sample.
 *  @param to the later sample. The same instant is allowed and has no rate.
 *  @param out receives the differences.
 *  @param out_size sizeof(struct rt_delta) as the caller was compiled with.
 *  @retval 0 success, possibly with clear bits
 *  @retval -EFAULT an argument is NULL
 *  @retval -EINVAL @p out or a sample has a wrong size, or @p to is earlier than @p from
 *  @retval -ESTALE the samples are of different trackers
 *  @since 0.1 */
RT_API int rt_diff(const struct rt_metrics *from, const struct rt_metrics *to, struct rt_delta *out,
                   size_t out_size);

/** Compute what happened between two rows of one item: a process, CPU, disk, file system, network
 *  interface, ZFS pool, GPU, or process that uses a GPU.
 *
 *  Counters are subtracted. Gauges, names and all other fields are those of the later row. Pure
 *  arithmetic, as rt_diff().
 *
 *  A difference is as sure as in rt_diff(): in `estimated` if the earlier row has a lower bound. If
 *  a counter went backwards, or a row ends before it, its domain is in no mask and its counters are
 *  0. Rows without masks, such as struct rt_disk, have 0 for that counter alone.
 *
 *  @param struct_id RT_STRUCT_ value of a row of @ref lists.
 *  @param from the earlier row.
 *  @param to the later row.
 *  @param out receives the differences; may be @p to or @p from.
 *  @param out_size sizeof of the row as the caller was compiled with.
 *  @retval 0 success, possibly with clear bits
 *  @retval -EFAULT an argument is NULL
 *  @retval -EINVAL @p struct_id is no such row, or a row has a wrong size
 *  @retval -ESTALE the rows are of different items, e.g. of processes with the same pid
 *  @since 0.3 */
RT_API int rt_row_diff(uint32_t struct_id, const void *from, const void *to, void *out,
                       size_t out_size);

/** @name Orders
 *  rt_tracker_top(): what is compared.
 *  @{ */
#define RT_TOP_CPU 1    /**< CPU time since the sample before. Needs RT_HAS_CPU. @since 0.3 */
#define RT_TOP_MEMORY 2 /**< RSS in the last sample. Needs RT_HAS_RSS. @since 0.3 */
#define RT_TOP_IO 3     /**< read_bytes and write_bytes since then. Needs RT_HAS_IO. @since 0.3 */
/** @} */

/** The processes of a tracker that used most between its two last samples, the largest first.
 *
 *  A row is what rt_row_diff() makes of the two rows of a process. Processes that have ended since
 *  the sample before are among them, with the state X and without memory: what they used after
 *  they were last read is not known, so their counters are lower bounds. A process that has begun
 *  since then has all that it used. One that was no member before, though it ran (e.g. it has moved
 *  to the cgroup), has 0 as a lower bound.
 *
 *  I/O counts for a process, and once more for the process that waits for it: see
 *  rt_process.read_bytes.
 *
 *  @param t the tracker.
 *  @param order RT_TOP_ value. If it is not known of a process, that counts as 0.
 *  @param array receives the rows; may be NULL if `*count` is 0.
 *  @param element_size sizeof(struct rt_process) as the caller was compiled with.
 *  @param count on entry, the number of rows that @p array has room for; on return, the number that
 *          was written.
 *  @retval 0 success
 *  @retval -EFAULT an argument is NULL
 *  @retval -EINVAL @p order is unknown, or the row has a wrong size
 *  @retval -EOPNOTSUPP this tracker has no list of processes, or the figure was not requested
 *  @retval -ENODATA there were not two samples yet
 *
 *  Cost: no file read; 1 us for each process. @since 0.3 */
RT_API int rt_tracker_top(const struct rt_tracker *t, uint32_t order, struct rt_process *array,
                          size_t element_size, size_t *count);

/** @} */

/** @defgroup commands Commands
 *  Start a program, follow everything that it starts, and report what it used.
 *  @{ */

/** A program that was started, and everything that it starts. Opaque.
 *
 * Every call but rt_command_free() may come from any thread at any time, for the tracker of the
 * command as well. rt_command_wait() keeps other threads out while it samples or polls for a peak,
 * but not while it sleeps.
 * @since 0.1
 * @since 0.3 Before, only rt_command_signal() was safe on another thread. */
struct rt_command;

/** The best accounting method that works here without extra privileges.
 * @since 0.1
 * @since 0.3 If it is RT_ACCOUNTING_POLL for lack of a supervisor, RT_REASON_NO_SUPERVISOR is set.
 */
#define RT_ACCOUNTING_AUTO 0
/** The program is a child of the caller. Usage comes from samples of its tree.
 * @since 0.1
 * @since 0.2 The final figures come from wait4(2), to the microsecond. */
#define RT_ACCOUNTING_POLL 1
/** The program runs under a supervisor. That is a small process that starts the program, adopts
 * the orphans of its tree and reaps them. So it has the kernel's exact account of every process
 * that was waited for. @since 0.1 */
#define RT_ACCOUNTING_WAIT 2
/** As RT_ACCOUNTING_WAIT, in a cgroup that is created below the caller's and removed afterwards.
 * The kernel accounts for everything that ran in it, waited for or not. Needs the permission to
 * create a cgroup.
 *
 * The CPU time comes from v2, or from the hierarchy of cpuacct if v2 is not mounted or may not be
 * used. Memory, storage I/O and tasks come from v2 or v1, wherever the kernel has the controller.
 * If `cpu` and cpuacct are one hierarchy (as on RHEL 8), the program and all that it starts share
 * the CPUs with other processes as one group, and may be refused real-time scheduling. So
 * RT_ACCOUNTING_AUTO does not use that hierarchy.
 * @since 0.1
 * @since 0.3 Uses v1, too. */
#define RT_ACCOUNTING_CGROUP 3
/** For programs of 0.2: acts as RT_ACCOUNTING_WAIT, and rt_outcome.accounting says so. Children
 * that no process waits for are exact at RT_ACCOUNTING_CGROUP and RT_ACCOUNTING_BPF.
 * @since 0.2 Had a clock that all processes inherit.
 * @since 0.3 Has none. */
#define RT_ACCOUNTING_WAIT_PERF 4
/** As RT_ACCOUNTING_WAIT, with BPF programs in the kernel that account for each thread as it ends,
 * whether a process waits for it or not.
 *
 * CPU time (in ns), faults, context switches, I/O, peaks and the number of processes are exact.
 * No cgroup is needed, and no process has to wait for another. E.g.: children of a program that
 * ignores SIGCHLD, a pid namespace that is killed whole, a process that has moved to another
 * cgroup. With RT_COMMAND_LIST_PROCESSES, the list has a final row for each process that has ended.
 * A sample while the command runs has all that was counted up to then (RT_SOURCE_BPF_ACCOUNT); it
 * costs some 0.1 ms more for each 1000 threads of the system.
 *
 * The only reasons of an outcome are RT_REASON_LEFT_RUNNING, and RT_REASON_EVENTS_LOST: under heavy
 * load the kernel may run no program for a thread. The figures are then as at RT_ACCOUNTING_WAIT,
 * but for the number of processes, and `complete` is 0.
 *
 * There is room for 8192 processes at the same time. The peaks of any others are not known. So
 * peak_rss_bytes is then in `partial`, unless each process was waited for. For these others the
 * list has only what samples saw, and rt_command_processes() returns -ENOBUFS.
 *
 * Loading the programs takes 10 to 40 ms before the program starts, and 22 descriptors of the
 * caller. So RT_ACCOUNTING_AUTO does not choose it. Needs Linux 6.2 with BTF, CAP_BPF and
 * CAP_PERFMON (or root), and the BPF plug-in.
 * @since 0.2 Reserved.
 * @since 0.3 */
#define RT_ACCOUNTING_BPF 5

/** rt_command_opts.flags: list every process of the command, for rt_command_processes().
 *
 * If process events are available (see RT_OPT_PROCESS_EVENTS), the list is complete. Each event is
 * then handled at once, which slows down a program that forks constantly: by some percent, and by
 * up to a third while all CPUs are busy. At RT_ACCOUNTING_BPF it needs no events.
 * Without events, and at RT_ACCOUNTING_POLL, the list has the processes that the supervisor
 * reaped or that samples saw. Since 0.3, with CAP_NET_ADMIN in the initial namespaces (Linux 5.19),
 * each row of a complete list has CPU time, peak memory and its own I/O. @since 0.2 */
#define RT_COMMAND_LIST_PROCESSES 0x1U
/** rt_command_opts.flags: the program leads a process group of its own, with its pid as the id. So
 * kill(2) of the group reaches it and not the caller, and a signal of the terminal (Ctrl-C) reaches
 * the caller alone. @since 0.3 */
#define RT_COMMAND_NEW_GROUP 0x2U
/** rt_command_opts.flags: the program leads a session of its own, without a terminal, and a process
 * group of its own: see setsid(2). @since 0.3 */
#define RT_COMMAND_NEW_SESSION 0x4U
/** rt_command_opts.flags: the program inherits no descriptors but 0, 1, 2 and the ones in
 * rt_command_opts.fds. @since 0.3 */
#define RT_COMMAND_ONLY_FDS 0x8U
/** rt_command_opts.flags: rt_command_free() kills the program and everything that it has started,
 * as far as it still runs: see rt_command_kill(). It waits a second at most for their end.
 * @since 0.3 */
#define RT_COMMAND_KILL_ON_FREE 0x10U
/** rt_command_opts.flags: the caller may be its own supervisor, so that no other process is needed:
 * the start costs a third less. By setting it, the caller promises that it has no other children,
 * and starts none, until rt_command_free().
 *
 * It then is a subreaper (PR_SET_CHILD_SUBREAPER) until rt_command_free(): processes of the tree
 * that lose their parent become children of the caller, which reaps them. The caller waits only by
 * rt_command_wait(), and soon: what exits meanwhile stays a zombie, and
 * process events that are not received may be lost. What the command leaves running stays a child
 * of the caller until it ends; what is orphaned later is not adopted. If the caller is killed, the
 * program runs on.
 *
 * The figures are the same as with a supervisor, with two exceptions. I/O is a lower bound if the
 * caller has several threads and is not privileged to read `/proc/PID/io` of a zombie. A peak of
 * memory up to what the caller has of its own (some 1 MiB) may be a lower bound.
 *
 * A supervisor is started all the same where the caller cannot be its own: it has a child already,
 * another such command, or more than 16 MiB of memory; it is the first process of a pid namespace,
 * which adopts orphans of other trees; it ignores SIGCHLD (or uses SA_NOCLDWAIT); `fds`,
 * RT_COMMAND_ONLY_FDS, RT_COMMAND_LIST_PROCESSES or RT_ACCOUNTING_BPF are used. The flag makes no
 * difference at RT_ACCOUNTING_POLL. @since 0.3 */
#define RT_COMMAND_SUBREAPER_SELF 0x20U

/** One descriptor of a program. The struct has 8 bytes and never changes. @since 0.3 */
struct rt_fd {
	int32_t target; /**< Its number in the program. No two have the same. */
	/** Its number in the caller, where it stays open and may be close-on-exec. -1: the program
	 * has no such descriptor. -2: `/dev/null`, for reading and writing. */
	int32_t source;
};

/** What to start, and how. @since 0.1 */
struct rt_command_opts {
	uint32_t size;  /**< sizeof(struct rt_command_opts), set by the caller. */
	uint32_t flags; /**< RT_COMMAND_ bits. @since 0.2 In 0.1, must be 0. */
	/** Program and arguments, terminated by NULL. A program name without a slash is searched
	 * for in PATH: the PATH of `envp`, or at RT_ACCOUNTING_POLL the caller's. */
	const char *const *argv;
	const char *const *envp; /**< Environment, terminated by NULL. NULL: the caller's. */
	const char *cwd;         /**< Directory to start in. NULL: the caller's. */
	/** Options of the tracker of the command; NULL means all defaults. rt_opts.root must be
	 * NULL. */
	const struct rt_opts *tracker;
	/** RT_ACCOUNTING_ value: the accounting method to use. RT_OPT_NO_CHILDREN works only with
	 * RT_ACCOUNTING_POLL, which RT_ACCOUNTING_AUTO then means. */
	uint32_t accounting;
	uint32_t reserved; /**< 0. */
	/** Descriptors that the program gets in addition to inherited ones, or in their place; NULL
	 * for none. The sources are taken as they are before the start, so that numbers can be
	 * exchanged. E.g.: { 3, 4 }, { 4, 3 }. @since 0.3 */
	const struct rt_fd *fds;
	uint32_t fd_count; /**< Number of fds. @since 0.3 */
	/** Bytes of message. @since 0.3 */
	uint32_t message_size;
	/** Receives an English sentence if the call fails: what failed and what would help. It is
	 * cut to fit and NUL-terminated. Untouched on success, and if the size of this struct is
	 * refused. NULL for none. @since 0.3 */
	char *message;
	/** Time until the program is executed, at most, in ns; 0: as long as execve(2) takes. Then
	 * the program and its supervisor are killed, and the call fails with -ETIMEDOUT. No bound
	 * where the caller itself starts the program: at RT_ACCOUNTING_POLL and with
	 * RT_COMMAND_SUBREAPER_SELF. @since 0.3 */
	uint64_t start_timeout_ns;
};

/** Start a program.
 *
 *  The program inherits the caller's descriptors (except close-on-exec ones), terminal and process
 *  group, unless `fds` or `flags` say otherwise. Its signal mask is empty; SIGCHLD and SIGPIPE have
 *  their default actions. With RT_ACCOUNTING_WAIT, its parent is a child of the caller,
 *  `rtrack-supervisor-N` (N is the protocol that this library speaks). So no wait call of the
 *  caller can take its exit status.
 *
 *  @param out receives the command, or NULL on failure. Free it with rt_command_free().
 *  @param opts what to start.
 *  @retval 0 the program runs
 *  @retval -EFAULT @p out, @p opts or argv is NULL; or fds is NULL and fd_count is not 0
 *  @retval -EINVAL argv is empty, or an option is unknown or has a wrong size; or a descriptor is
 *          out of range, or the target of two entries; or fd_count is above 65,536
 *  @retval -EBADF the source of a descriptor is not open, or a target is above RLIMIT_NOFILE
 *  @retval -E2BIG @p opts is longer than this library knows and the unknown part is not zero; or
 *          the arguments are too long for the kernel
 *  @retval -ENOENT the program (or cwd) does not exist, or cwd is empty
 *  @retval -ENOTDIR a part of the path of the program or of cwd is not a directory
 *  @retval -EACCES the program may not be executed
 *  @retval -ENOEXEC the program is not executable; or another error of execve(2)
 *  @retval -EOPNOTSUPP the requested accounting method is not available: there is no cgroup with a
 *          CPU account that the caller may use, no BPF program that it may load, or no memory
 *          that can be shared with the supervisor
 *  @retval -ENOPKG the requested accounting method needs a supervisor, and none is installed that
 *          belongs to this library and that the caller may execute
 *  @retval -EPROTO the file of the supervisor speaks another protocol than this library
 *  @retval -ETIMEDOUT the supervisor did not begin within 10 s, or start_timeout_ns is over:
 *          nothing runs
 *  @retval -EINTR the caller blocks SIGINT, SIGTERM, SIGHUP or SIGQUIT, one of them is pending, and
 *          the supervisor has not answered for 0.3 s since: nothing runs
 *  @retval -ECHILD the supervisor ended before or while it started the program, which may run; or
 *          the supervisor was stopped or frozen for 5 s although it was sent SIGCONT, so it and
 *          the program were killed (in a frozen cgroup of v1, they end when they are thawed); or,
 *          with RT_ACCOUNTING_POLL, the program has run and is gone: the caller ignores SIGCHLD (or
 *          uses SA_NOCLDWAIT), or reaps each child
 *  @retval -ENOSYS no proc file system is mounted; nothing was started
 *  @retval -EXDEV /proc belongs to another pid namespace; nothing was started
 *  @retval -EAGAIN no process could be created; likewise -ENOMEM and -EMFILE
 *
 *  Cost: two processes, one sample of the tree, and about 16 to 21 descriptors until
 *  rt_command_free(), fewer with rt_opts.max_fds: see RLIMIT_NOFILE.
 *  @since 0.1
 *  @since 0.2 Can return -ECHILD.
 *  @since 0.3 -ENOPKG and -EPROTO, where it was -EOPNOTSUPP before. Can return -ETIMEDOUT and
 *  -EINTR. */
RT_API int rt_command_start(struct rt_command **out, const struct rt_command_opts *opts);

/** Process id of the program, or -EFAULT if @p c is NULL. @since 0.1 */
RT_API int32_t rt_command_pid(const struct rt_command *c);

/** The tracker of the program's tree. Borrowed: it is valid until rt_command_free(), which also
 * frees it. It may be sampled at any time, on any thread. After rt_command_wait() has returned 0,
 * it reports the final totals.
 * @since 0.1
 * @since 0.3 Before, not on one thread while another was in rt_command_wait(). */
RT_API struct rt_tracker *rt_command_tracker(struct rt_command *c);

/** What a command runs as. @since 0.3 */
struct rt_command_info {
	uint32_t size; /**< Bytes of this struct that the library filled. */
	/** Accounting method: an RT_ACCOUNTING_ value other than RT_ACCOUNTING_AUTO, the same from
	 * the start of the command to its outcome. */
	uint32_t accounting;
	/** When the program was started: what rt_outcome.wall_ns counts from. CLOCK_MONOTONIC.
	 * What rt_command_start() does before takes up to a millisecond, and at RT_ACCOUNTING_BPF
	 * some 50 ms. E.g.: a series begins its first interval here. */
	uint64_t start_ns;
};

/** What a command runs as.
 *
 *  @param c the command.
 *  @param out receives the answer.
 *  @param out_size sizeof(struct rt_command_info) as the caller was compiled with.
 *  @retval 0 done
 *  @retval -EFAULT @p c or @p out is NULL
 *  @retval -EINVAL @p out has a wrong size
 *
 *  Cost: none.
 *  @since 0.3 */
RT_API int rt_command_get_info(const struct rt_command *c, struct rt_command_info *out,
                               size_t out_size);

/** Send a signal to the program, as kill(2). Async-signal-safe, and safe on any thread until
 *  rt_command_free().
 *
 *  Once the program has exited, SIGINT, SIGTERM, SIGQUIT, SIGHUP and SIGKILL are for the wait:
 *  rt_command_wait() then does without a supervisor that does not answer, e.g. one in a frozen
 *  cgroup, instead of giving it the time documented there.
 *
 *  @return 0, -ESRCH if the program has exited, -EINVAL for an unknown signal, -EPERM, or -EFAULT
 *          if @p c is NULL.
 *  @since 0.1
 *  @since 0.3 -ESRCH from the exit on; before, 0 until the program was reaped. */
RT_API int rt_command_signal(struct rt_command *c, int signal);

/** Kill the program and everything that it has started, with SIGKILL.
 *
 *  Only members of its tree are killed. At RT_ACCOUNTING_CGROUP, all are killed at once
 *  (`cgroup.kill`, v2, since Linux 5.14). Otherwise they are killed one by one, until no more are
 *  found; in v1 they cannot fork meanwhile. Also works after rt_command_wait(), on members that
 *  were left running: another rt_command_wait() then returns a new outcome.
 *
 *  Safe on any thread until rt_command_free(): a rt_command_wait() on another one returns as soon
 *  as the program has ended. Not async-signal-safe.
 *
 *  @return 0 if the signal was sent to all, -EPERM if the caller may not kill some of them, or
 *          -EFAULT if @p c is NULL.
 *  @since 0.2
 *  @since 0.3 Safe on any thread. */
RT_API int rt_command_kill(struct rt_command *c);

/** rt_outcome.peak_tree_kind: sum of PSS, read or estimated. @since 0.1
 * @since 0.3 No longer used: RT_PEAK_FOOTPRINT. */
#define RT_PEAK_PSS 1
/** rt_outcome.peak_tree_kind: sum of RSS. Each process counts the pages that it shares.
 * @since 0.1
 * @since 0.3 No longer used. */
#define RT_PEAK_RSS 2
/** rt_outcome.peak_tree_kind: cgroup_memory_peak_bytes, if no sample saw a sum. It includes the
 * page cache, and does not depend on samples.
 * @since 0.1
 * @since 0.3 Only if there is no other, nor the peak of a process. The bit of the peak is in
 * `estimated`: the cgroup is not charged for pages of files that other processes have read
 * before. */
#define RT_PEAK_CGROUP 3
/** rt_outcome.peak_tree_kind: the footprint, each page once. @since 0.3 */
#define RT_PEAK_FOOTPRINT 4

/** What a program that has exited used, with everything that it started. @since 0.1 */
struct rt_outcome {
	uint32_t size;       /**< Bytes of this struct that the library filled. */
	int32_t exit_code;   /**< Exit code, or -1 if a signal ended the program. */
	int32_t signal;      /**< Signal that ended the program, or 0. */
	uint32_t accounting; /**< RT_ACCOUNTING_ value: the accounting method that was used. */
	uint64_t valid;      /**< RT_HAS_ bits of the complete figures. */
	uint64_t partial;    /**< RT_HAS_ bits of the figures that are lower bounds. */
	/** 1 if there is no reason why CPU time of the tree may be missing, else 0. Then CPU time
	 * lies between cpu_low_ns and cpu_high_ns. It says nothing about other domains: for them
	 * see `valid` and `partial`.
	 *
	 * At RT_ACCOUNTING_CGROUP the account of the cgroup decides, which does not need any
	 * process to wait. It has CPU time alone. So if it has 1 ms + 0.2 % more than was waited
	 * for, or if a process was not waited for, then I/O, page faults, context switches and
	 * peaks are lower bounds, while `complete` is 1.
	 *
	 * At RT_ACCOUNTING_WAIT process events decide, if the caller may receive them (see
	 * RT_OPT_PROCESS_EVENTS): they show that the parent of each process had to wait for it.
	 * They do not show it for children (not the program itself) that had threads, or that were
	 * traced. Otherwise `complete` is 1 if the caller's cgroup used no more CPU time than is
	 * accounted for, within half a hundredth and 1 ms, but a hundredth of it at most.
	 * @since 0.3 The figures are in `partial` if it is 0. CPU time is, too, if threads have
	 * ended that may have lost more than a thousandth of it, at 20 us each. */
	uint32_t complete;
	uint32_t reasons; /**< RT_REASON_ bits: why complete is 0, and why the method is poll. */
	uint64_t start_realtime_ns; /**< Start, since 1970. */
	uint64_t wall_ns;           /**< Monotonic time from start to exit. */
	struct rt_rusage rusage;    /**< As rt_metrics.rusage, final. */
	uint64_t cpu_user_ns;       /**< RT_HAS_CPU. */
	uint64_t cpu_system_ns;     /**< RT_HAS_CPU. */
	uint64_t cpu_low_ns;        /**< CPU bounds: at least this much CPU time was used. */
	/** CPU bounds: at most this much CPU time was used. At RT_ACCOUNTING_CGROUP, cpu_low_ns.
	 * Otherwise what the caller's cgroup (v2, or the one in cpuacct) used meanwhile, including
	 * the caller and other processes in it; or less, if every process is known to have been
	 * waited for. Then the difference is what the kernel may have lost: what a thread has used
	 * since its last clock tick when it exits, which is some microseconds in practice.
	 * UINT64_MAX if there is no bound.
	 * @since 0.3 UINT64_MAX if a process has left the caller's cgroup. */
	uint64_t cpu_high_ns;
	/** RT_HAS_PEAK_RSS. Largest peak of any single process that samples saw. With
	 * RT_ACCOUNTING_WAIT, also of all that were waited for.
	 * @since 0.3 In `partial` if the kernel's figure of a process that exited may be the peak
	 * of what started it. E.g.: a program that held less than 1 MiB. */
	uint64_t peak_rss_bytes;
	/** RT_HAS_PEAK_FOOTPRINT. Largest memory of the whole tree; see peak_tree_kind.
	 * @since 0.3 Has a bit. As rt_metrics.peak_footprint_bytes, and at least peak_rss_bytes. */
	uint64_t peak_tree_bytes;
	uint32_t peak_tree_kind; /**< RT_PEAK_ value: what was summed; 0 if there is no sum. */
	/** Members that still ran when the program had exited, without zombies.
	 * @since 0.2 1 if members still run but cannot be counted. */
	uint32_t left_running;
	uint64_t read_bytes;  /**< RT_HAS_IO. */
	uint64_t write_bytes; /**< RT_HAS_IO. */
	/** RT_HAS_PROCESSES. Processes that samples saw; its bit is then in `partial`.
	 * @since 0.2 All processes of the tree, if process events are available and none was lost;
	 * its bit is then in `valid`.
	 * @since 0.3 At RT_ACCOUNTING_BPF, processes that BPF programs have counted. */
	uint64_t processes;
	uint64_t samples;         /**< Samples taken of the tree, final ones included. */
	uint64_t overhead_cpu_ns; /**< CPU time that all this cost the caller. */
	/** RT_HAS_CPU. The same as cpu_low_ns.
	 * @since 0.2 Was above it if the clock of RT_ACCOUNTING_WAIT_PERF had counted more. */
	uint64_t cpu_estimate_ns;
	/** Lower bound of the peak of the tree. @since 0.2 */
	uint64_t peak_tree_low_bytes;
	/** Upper bound of the peak sum over the tree: the largest peak of one process times
	 * processes_peak. UINT64_MAX if either is not known for all processes, and for
	 * RT_PEAK_CGROUP. @since 0.2 */
	uint64_t peak_tree_high_bytes;
	/** RT_HAS_PROCESSES_PEAK. Largest number of processes at the same time. @since 0.2 */
	uint64_t processes_peak;
	uint64_t members_skipped; /**< As in rt_metrics; the worst sample. @since 0.2 */
	/** RT_HAS_CGROUP_MEMORY. The most that the kernel has charged to the cgroup: `memory.peak`
	 * (v2, since Linux 5.19), `memory.max_usage_in_bytes` (v1). Includes page cache and kernel
	 * memory; without pages of files that other processes have read before. Its bit is in
	 * `partial` if a process has left the cgroup of that controller. @since 0.2 */
	uint64_t cgroup_memory_peak_bytes;
	/** RT_HAS_CGROUP_IO. Sum over all devices: `io.stat` (v2),
	 * `blkio.throttle.io_service_bytes_recursive` (v1). v1 lacks what the kernel writes back
	 * later, so its bit is then in `partial`; without figures of any device there is none.
	 * @since 0.2 */
	uint64_t cgroup_read_bytes;
	uint64_t cgroup_write_bytes; /**< RT_HAS_CGROUP_IO. Likewise. @since 0.2 */
	/** RT_HAS_CGROUP_TASKS. `pids.peak` (v1 and v2, since Linux 6.1): largest number of threads
	 * at the same time. @since 0.2 */
	uint64_t cgroup_tasks_peak;
	/** RT_HAS_ bits of the figures that may be above or below the truth. @since 0.3 */
	uint64_t estimated;
	/** RT_HAS_GPU. As rt_metrics.gpu_busy_ns of the tree: a lower bound or an estimate, unless
	 * the machine has no GPU. @since 0.3 */
	uint64_t gpu_busy_ns;
	/** RT_HAS_GPU_MEMORY. Largest rt_metrics.gpu_memory_bytes of a sample. A lower bound or an
	 * estimate, likewise: nothing shows what was held between two samples. @since 0.3 */
	uint64_t gpu_memory_peak_bytes;
	/** RT_HAS_PEAK_FOOTPRINT. As rt_metrics.peak_needed_bytes. @since 0.3 */
	uint64_t peak_needed_bytes;
	uint64_t peak_needed_low_bytes; /**< RT_HAS_PEAK_FOOTPRINT. Lower bound. @since 0.3 */
	/** RT_HAS_PEAK_FOOTPRINT. Upper bound; UINT64_MAX if none is known. @since 0.3 */
	uint64_t peak_needed_high_bytes;
	/** RT_HAS_PEAK_FOOTPRINT. The parts of the largest footprint that was seen, as in
	 * rt_metrics, and the swap space at that time; all 0 if none was seen. @since 0.3 */
	uint64_t footprint_anon_bytes;
	uint64_t footprint_shmem_bytes;   /**< RT_HAS_PEAK_FOOTPRINT. As above. @since 0.3 */
	uint64_t footprint_file_bytes;    /**< RT_HAS_PEAK_FOOTPRINT. As above. @since 0.3 */
	uint64_t footprint_hugetlb_bytes; /**< RT_HAS_PEAK_FOOTPRINT. As above. @since 0.3 */
	uint64_t footprint_swap_bytes;    /**< RT_HAS_PEAK_FOOTPRINT. As above. @since 0.3 */
};

/** Wait for the program to exit, and report what it used.
 *
 *  Does not affect other children, signal handlers or threads of the caller. Takes a last sample.
 *  Further calls return the same outcome.
 *
 *  @param c the command.
 *  @param timeout_ns longest time to wait for the exit. A negative value means no limit. 0 does
 *          what is due and does not wait, so that it leaves an interrupt to the next call that
 *          does: see rt_command_fd(). The last sample comes on top. It takes 2 s or more with a
 *          supervisor that stops answering after it has reported the exit.
 *  @param out receives the outcome. NULL only waits.
 *  @param out_size sizeof(struct rt_outcome) as the caller was compiled with.
 *  @retval 0 the program has exited
 *  @retval -ETIMEDOUT the program still runs, its supervisor has not reported the exit yet or, with
 *          RT_ACCOUNTING_POLL, a debugger keeps it, as it does for waitpid(2)
 *  @retval -EINTR a signal handler ran, or rt_command_interrupt() was called
 *  @retval -ECHILD the exit status is lost: the supervisor was killed and the kernel does not
 *          report the status (before Linux 6.15) or, with RT_ACCOUNTING_POLL, other code in this
 *          process reaped the program; @p out holds what was seen
 *  @retval -EFAULT @p c is NULL
 *  @retval -EINVAL @p out has a wrong size
 *  @since 0.1
 *  @since 0.2 Polls for memory peaks while it waits (rt_tracker_glance()), at most a hundred times
 *          a second and for at most half a percent of one CPU. Notices the exit even if the
 *          supervisor is slow to answer or was stopped. */
RT_API int rt_command_wait(struct rt_command *c, int64_t timeout_ns, struct rt_outcome *out,
                           size_t out_size);

/** End a wait: the rt_command_wait() that is in progress, or else the next one, returns -EINTR. Of
 *  several waits, one. Nothing else changes: wait again to go on.
 *
 *  Async-signal-safe, and safe on any thread until rt_command_free(). E.g.: a thread that is to be
 *  joined waits for a command.
 *
 *  @param c the command.
 *  @return 0; -EFAULT if @p c is NULL; or -EPERM in a forked child.
 *
 *  Cost: two system calls. If the command found no descriptor free when it was started, the wait
 *  takes up to 1 s to notice.
 *  @since 0.3 */
RT_API int rt_command_interrupt(struct rt_command *c);

/** A descriptor for the event loop of the caller.
 *
 *  It becomes readable when the program has ended, or a peak poll is due. Then call
 *  rt_command_wait() with a timeout of 0. Once that has returned 0, it stays readable.
 *
 *  It is an epoll(7) instance: it can be polled by poll(2), select(2), another epoll instance, and
 *  what is built on them (asyncio, libuv, GLib). There is no signal handler and no thread behind
 *  it. It wakes the caller as often as rt_command_wait() would wake: for peak polls at most a
 *  hundred times a second, and only if rt_opts.want has RT_HAS_RSS.
 *
 *  Borrowed: do not read, change or close it. It is valid until rt_command_free(). Calls that sleep
 *  in rt_command_wait() work meanwhile, too.
 *
 *  @param c the command.
 *  @return the descriptor, the same in each call;
 *          -EOPNOTSUPP if the kernel has no pidfd (before Linux 5.3): call rt_command_wait() with a
 *          timeout of 0 a hundred times a second instead;
 *          -EMFILE, -ENFILE or -ENOMEM if it cannot be opened; or -EFAULT if @p c is NULL.
 *
 *  Cost: two descriptors and some system calls, in the first call alone.
 *  @since 0.3 */
RT_API int rt_command_fd(const struct rt_command *c);

/** rt_command_process.flags: the figures are final. They were read when the process was reaped, or
 * while it was a zombie. @since 0.2 */
#define RT_PROCESS_FINAL 0x1U
/** rt_command_process.flags: it still ran when the list was made. @since 0.2 */
#define RT_PROCESS_RUNNING 0x2U
/** rt_command_process.flags: it has executed no program since it was forked. It has the command
 * line and working directory of the process that forked it. @since 0.3 */
#define RT_PROCESS_NO_EXEC 0x4U
/** rt_command_process.flags: the command line was longer than 16,384 bytes and is cut there. If it
 * is empty, there was no room for it: all texts of a command may have 64 MiB. @since 0.3 */
#define RT_PROCESS_CUT 0x8U
/** rt_command_process.flags: `own_read_bytes` and `own_write_bytes` are known. @since 0.3 */
#define RT_PROCESS_OWN_IO 0x10U

/** One process of a command. A figure that is not known is 0 or empty, and has no bit. @since 0.2
 */
struct rt_command_process {
	uint32_t size;  /**< Bytes of this struct that the library filled. */
	uint32_t flags; /**< RT_PROCESS_ bits. */
	int32_t pid;    /**< Process id. */
	int32_t ppid;   /**< Process id of the process that forked it; 0 if that was not seen. */
	/** Exit code. -1 if it is not known, if a signal ended the process, or if it still runs. */
	int32_t exit_code;
	int32_t signal; /**< Signal that ended the process, or 0. */
	uint64_t valid; /**< RT_HAS_ bits of the figures that are final. */
	/** RT_HAS_ bits of the figures that are lower bounds: the last that was seen of the
	 * process. */
	uint64_t partial;
	uint64_t start_realtime_ns; /**< Start, since 1970; 0 if it is not known. */
	/** Exit, since 1970. 0 if it is not known, or if the process still runs. */
	uint64_t end_realtime_ns;
	uint64_t cpu_user_ns;   /**< RT_HAS_CPU. This process's threads only. */
	uint64_t cpu_system_ns; /**< RT_HAS_CPU. This process's threads only. */
	/** RT_HAS_PEAK_RSS. Since its last exec; in `partial` if it has executed several programs
	 * and no larger figure is known. */
	uint64_t peak_rss_bytes;
	/** RT_HAS_IO. The kernel includes the I/O of children that it waited for. */
	uint64_t read_bytes;
	uint64_t write_bytes; /**< RT_HAS_IO. Likewise. */
	char comm[64];        /**< Name, NUL-terminated. May contain any byte. */
	/** RT_HAS_ bits of the figures that may be above or below the truth: RT_HAS_CPU of
	 * processes that were not seen at their very end, and of ones with threads that ended.
	 * They share what is missing from the total of the command. @since 0.3 */
	uint64_t estimated;
	/** RT_PROCESS_OWN_IO. Bytes that its own threads have caused to be read from devices,
	 * without children: these add up. Exact to a KiB for each thread. @since 0.3 */
	uint64_t own_read_bytes;
	uint64_t own_write_bytes; /**< RT_PROCESS_OWN_IO. Likewise, written. @since 0.3 */
	/** Length of its command line, for rt_command_process_text(); 0 if it is not known.
	 * @since 0.3 */
	uint32_t command_line_bytes;
	uint32_t cwd_bytes; /**< Length of its working directory, likewise. @since 0.3 */
};

/** All processes of the command, in the order in which they started.
 *
 *  Available once rt_command_wait() has returned 0. Works like the calls of @ref lists.
 *
 *  @retval 0 success
 *  @retval -EFAULT an argument is NULL
 *  @retval -EINVAL the row has a wrong size
 *  @retval -EOPNOTSUPP the command was started without RT_COMMAND_LIST_PROCESSES
 *  @retval -ENODATA the program still runs
 *  @retval -ENOMEM memory ran out, or there were more than 262,144 processes; the rows that exist
 *          were still written
 *  @retval -ENOBUFS at RT_ACCOUNTING_BPF: some processes have no final row, since more than 8192
 *          were there at the same time, or since the kernel ran no program for them. The rows that
 *          exist were still written; samples may have seen the others. @since 0.3
 *  @since 0.2 */
RT_API int rt_command_processes(struct rt_command *c, struct rt_command_process *array,
                                size_t element_size, size_t *count);

/** A text of one process of the command, as it was a moment after the process executed its last
 *  program. A process that has executed none has the text of the process that forked it.
 *
 *  At RT_ACCOUNTING_BPF they are taken during the exec itself, so every process has them. With
 *  other methods they are known if process events are available (see RT_OPT_PROCESS_EVENTS), and if
 *  the process lived until its exec was handled: some 0.1 ms. At RT_ACCOUNTING_POLL none is known.
 *
 *  They may contain any byte. If a process changes its directory or its arguments later, they do
 *  not show it.
 *
 *  @param c the command.
 *  @param row number of the process in the list of rt_command_processes(), from 0.
 *  @param text RT_TEXT_ value.
 *  @param buffer receives the text, as much as there is room for; NULL if @p *length is 0. Nothing
 *         is appended.
 *  @param length on input the room in bytes, on output the length of the text, which is 0 if it is
 *         not known.
 *  @retval 0 success
 *  @retval -EFAULT an argument is NULL
 *  @retval -EINVAL there is no such row or text
 *  @retval -EOPNOTSUPP the command was started without RT_COMMAND_LIST_PROCESSES
 *  @retval -ENODATA the program still runs
 *
 *  Cost: no system call.
 *  @since 0.3 */
RT_API int rt_command_process_text(struct rt_command *c, size_t row, uint32_t text, char *buffer,
                                   size_t *length);

/** Release a command. NULL is allowed.
 *
 *  A program that still runs keeps running, unless RT_COMMAND_KILL_ON_FREE is set. Its supervisor,
 *  a child of the caller, stays to reap it. When the program has ended, the supervisor is a zombie
 *  until the caller waits for it or exits. Without a supervisor, the program is not reaped until
 *  the caller exits. Processes that an exited program left running are reparented to init, as
 *  without this library.
 *
 *  In a process that has not started the command, it releases memory and descriptors alone. E.g.: a
 *  forked child has a copy of the command, and its exit hook frees it. The program, its supervisor
 *  and what the parent measures are left alone. The other calls of a command are for the process
 *  that has started it.
 *  @since 0.1 */
RT_API void rt_command_free(struct rt_command *c);

/** @} */

/** @defgroup trace Tracing calls of getrusage
 *  Every call of getrusage(2), and of wait4(2) and waitid(2) on request: the process that made it,
 *  its arguments, its result, and the figures that the kernel returned. A call that a seccomp
 *  filter refuses is not made, so there is no event.
 *
 *  There are two back ends. BPF traces any process, a tree or the whole machine, and needs
 *  CAP_BPF and CAP_PERFMON. ptrace needs no right, but traces only a command that it starts.
 *  @{ */

/** Receives the calls of some processes. Opaque. Not thread-safe: one thread at a time. A forked
 * child must not use it, but may free it. @since 0.3 */
struct rt_trace;

/** rt_trace_opts.back_end: BPF if it is available; otherwise ptrace, if there is a command.
 * @since 0.3 */
#define RT_TRACE_BACK_END_AUTO 0
/** rt_trace_opts.back_end: programs in the kernel. They cost the caller of a traced call less than
 * half a microsecond, and every other system call of the machine 15 to 50 ns for as long as the
 * trace exists. @since 0.3 */
#define RT_TRACE_BACK_END_BPF 1
/** rt_trace_opts.back_end: ptrace(2) and a seccomp filter that stops the program in the traced
 * calls alone. Each traced call takes 10 to 20 us more and adds two voluntary context switches to
 * what getrusage(2) reports. A fork, an exec, an exit or a signal also stops the program for as
 * long. A helper becomes the program by execve(2), so what it has used before counts for the
 * program: some 30 page faults, less than 1 ms of CPU time, three switches, and a ru_maxrss of some
 * 0.6 MiB at least. The program cannot gain privileges by execve(2) (PR_SET_NO_NEW_PRIVS) unless
 * the caller has CAP_SYS_ADMIN, and cannot be debugged. A call that a seccomp filter of the program
 * hands to another process (SECCOMP_RET_USER_NOTIF) is neither seen nor counted. @since 0.3 */
#define RT_TRACE_BACK_END_PTRACE 2

#define RT_TRACE_CALL_GETRUSAGE 0x1U /**< getrusage(2). @since 0.3 */
#define RT_TRACE_CALL_WAIT4 0x2U     /**< wait4(2), which GNU time and shells use. @since 0.3 */
/** waitid(2), the system call: unlike the function of libc it can return figures. @since 0.3 */
#define RT_TRACE_CALL_WAITID 0x4U

/** rt_trace_opts.flags: trace every process of the machine. BPF only. @since 0.3 */
#define RT_TRACE_OPT_ALL 0x1U
/** rt_trace_opts.flags: trace the process or the program alone, not its descendants. Not with
 * RT_TRACE_OPT_ALL. @since 0.3 */
#define RT_TRACE_OPT_NO_CHILDREN 0x2U
/** rt_trace_opts.flags: fill in rt_trace_event.live_children. Costs some file reads for each event
 * of RUSAGE_CHILDREN. @since 0.3 */
#define RT_TRACE_OPT_LIVE_CHILDREN 0x4U

/** What to trace. One of `pid`, `command` and RT_TRACE_OPT_ALL must be set; everything else but
 * `size` may be 0. @since 0.3 */
struct rt_trace_opts {
	uint32_t size;  /**< sizeof(struct rt_trace_opts), set by the caller. */
	uint32_t flags; /**< RT_TRACE_OPT_ bits. */
	/** Process to trace with its descendants, in the caller's pid namespace. BPF only. */
	int32_t pid;
	uint32_t calls;    /**< RT_TRACE_CALL_ bits; 0 is RT_TRACE_CALL_GETRUSAGE. */
	uint32_t back_end; /**< RT_TRACE_BACK_END_ value. */
	/** Memory for events that wait to be read, at most 64 MiB. It is rounded up to a power of
	 * two, and to 64 KiB at least. 0 means 32 MiB, or less if the cgroup of the caller has not
	 * so much, but 1 MiB at least. An event takes 296 bytes. */
	uint32_t ring_bytes;
	/** A program to start and trace with its descendants from its first instruction on, or
	 * NULL. Its `message` is not used. */
	const struct rt_command_opts *command;
	/** Receives an English sentence if rt_trace_new() fails: what failed and what would help.
	 * It is cut to fit and NUL-terminated. Untouched on success. NULL for none. */
	char *message;
	uint32_t message_size; /**< Bytes of message. */
	uint32_t reserved;     /**< 0. */
};

/** rt_trace_event.flags: a call of the 32-bit ABI. @since 0.3 */
#define RT_TRACE_EVENT_32BIT 0x1U
/** rt_trace_event.flags: the call has returned figures, but they could not be read from the memory
 * of the process. rusage_valid is 0. @since 0.3 */
#define RT_TRACE_EVENT_UNREAD 0x2U
/** rt_trace_event.flags: the entry was not seen, so monotonic_ns is the time of the return and
 * duration_ns is 0. E.g.: a wait4(2) that began before the trace. @since 0.3 */
#define RT_TRACE_EVENT_NO_ENTRY 0x4U
/** rt_trace_event.flags: exe is cut: its end is missing. @since 0.3 */
#define RT_TRACE_EVENT_EXE_CUT 0x8U

/** One call that has returned. @since 0.3 */
struct rt_trace_event {
	uint32_t size;     /**< Bytes of this struct that the library filled. */
	uint32_t flags;    /**< RT_TRACE_EVENT_ bits. */
	uint64_t sequence; /**< Number of the event, from 0. Lost events have no number. */
	/** Counter. Events that were lost up to this one, because the memory for events was full.
	 * Calls that other CPUs made at the same moment may be counted in one of the next events
	 * instead. */
	uint64_t lost;
	uint64_t monotonic_ns; /**< Entry of the call, CLOCK_MONOTONIC. */
	uint64_t realtime_ns;  /**< The same moment, since 1970. */
	uint64_t duration_ns;  /**< From entry to return. */
	uint32_t call;         /**< One RT_TRACE_CALL_ bit. */
	/** First argument: RUSAGE_SELF and the like; the pid of wait4(2); the idtype of waitid(2).
	 */
	int32_t who;
	int32_t wait_id;       /**< waitid(2): the id. Else 0. */
	uint32_t wait_options; /**< wait4(2) and waitid(2): the options. Else 0. */
	/** What the call returned: 0, a pid, or a negative errno value. -EINTR also if the kernel
	 * makes the call again by itself after a signal: that is another event. */
	int64_t result;
	/** Address that the figures were to be written to, in the process. 0: NULL, or none. */
	uint64_t usage_address;
	/** Address of the status of wait4(2), or the siginfo_t of waitid(2). 0: NULL, or none. */
	uint64_t status_address;
	/** What the kernel wrote to usage_address, unless another thread has written to it since. 0
	 * for a call that returned no figures (it failed, or no child was waited for). */
	struct rt_rusage rusage;
	uint32_t rusage_valid; /**< Bit i: field i of rusage, as in rt_pid_getrusage(). */
	uint32_t cpu;          /**< CPU on which the call returned; UINT32_MAX: unknown. */
	int32_t pid;           /**< Process, in the caller's pid namespace; 0: it is not in it. */
	int32_t tid;           /**< Thread. Likewise. */
	int32_t ppid;          /**< Parent of the process. Likewise. */
	int32_t host_pid;      /**< Process, in the first pid namespace; 0: unknown. */
	int32_t host_tid;      /**< Thread. Likewise. */
	int32_t host_ppid;     /**< Parent of the process. Likewise. */
	int32_t ns_pid;  /**< Process, in its own pid namespace, the innermost one; 0: unknown. */
	int32_t ns_tid;  /**< Thread. Likewise. */
	int32_t ns_ppid; /**< Parent of the process. Likewise; 0 also if it is in another one. */
	/** Real user id, in the caller's user namespace; UINT32_MAX: unknown. */
	uint32_t uid;
	/** Bit i: field i of live_children is exact. This mask and the next are 0 unless
	 * RT_TRACE_OPT_LIVE_CHILDREN is set and `who` is RUSAGE_CHILDREN; also if a child was
	 * waited for meanwhile. */
	uint32_t live_children_valid;
	/** Bit i: field i of live_children is a lower bound. No bit is in both masks. */
	uint32_t live_children_partial;
	/** Start of the thread, CLOCK_BOOTTIME; 0: unknown. By ptrace, in whole clock ticks. */
	uint64_t thread_start_ns;
	uint64_t process_start_ns; /**< Start of the process. Likewise. */
	uint64_t parent_start_ns;  /**< Start of the parent of the process. Likewise. */
	uint64_t cgroup_id;        /**< Inode number of its cgroup (v2); 0: unknown. */
	uint64_t mount_namespace;  /**< Inode number of its mount namespace; 0: unknown. */
	uint64_t pid_namespace;    /**< Inode number of its pid namespace; 0: unknown. */
	/** What the descendants of the process that were not waited for yet have used, with what
	 * they have waited for. The sum of this and `rusage` is what RUSAGE_CHILDREN would report
	 * if all of them ended and were waited for. ru_maxrss is the largest, as there.
	 *
	 * For what a descendant has waited for, the kernel shows CPU time in whole clock ticks:
	 * user and system time are up to 10 ms too low for each descendant that has waited. It
	 * shows no ru_maxrss and no context switches for it, so these cover live descendants alone.
	 * If a process has executed a program, ru_maxrss lacks its peak from before. All of these
	 * are then in live_children_partial. */
	struct rt_rusage live_children;
	/** When that was read, CLOCK_MONOTONIC: shortly after the call. 0 if both masks are 0. */
	uint64_t live_children_at_ns;
	char comm[64]; /**< Name of the thread, NUL-terminated. May contain any byte. */
	/** Host name in the UTS namespace of the thread, at the call: its first 15 bytes,
	 * NUL-terminated. Empty: unknown. By ptrace it is known in the caller's namespace, and in
	 * others with CAP_SYS_ADMIN. May contain any byte. */
	char host_name[64];
	/** Path of its program, NUL-terminated; empty: unknown. May contain any byte. It is looked
	 * up once for each file. So for a file with several names (hard links) it may be the first
	 * one that was seen. */
	char exe[256];
};

/** What a trace has done so far. @since 0.3 */
struct rt_trace_totals {
	uint32_t size;     /**< Bytes of this struct that the library filled. */
	uint32_t back_end; /**< RT_TRACE_BACK_END_ value in use. */
	uint64_t read;     /**< Counter. Events that rt_trace_read() has returned. */
	/** Counter. Lost events. Once rt_trace_read() has returned -ESRCH, read + lost are all
	 * calls that have returned. */
	uint64_t lost;
	uint64_t threads;    /**< Traced threads that run; 0 with RT_TRACE_OPT_ALL. */
	uint64_t ring_bytes; /**< Memory for events that wait to be read. */
};

/** Begin to trace.
 *
 *  @param out receives the trace, or NULL on failure. Free it with rt_trace_free().
 *  @param opts what to trace.
 *  @retval 0 the calls are traced from now on
 *  @retval -EFAULT @p out or @p opts is NULL
 *  @retval -EINVAL an option is unknown or has a wrong size, or not exactly one of pid, command and
 *          RT_TRACE_OPT_ALL is set; or RT_TRACE_OPT_NO_CHILDREN is set with the last of these; or
 *          ptrace was asked for without a command
 *  @retval -E2BIG @p opts is longer than this library knows and the unknown part is not zero
 *  @retval -ESRCH there is no process `pid`
 *  @retval -EPERM the caller may not load BPF programs; or the program is traced already
 *  @retval -EOPNOTSUPP the kernel lacks what the back end needs
 *  @retval -ENOPKG the plug-in or the helper program of the back end is not installed
 *  @retval -ECHILD the helper process of ptrace was killed, perhaps since it was stopped or frozen
 *          for 5 s although it was sent SIGCONT; the program does not run
 *  @retval -ETIMEDOUT the helper process of ptrace did not begin within 10 s; the program does not
 *          run
 *  @retval -EMFILE the limit of open descriptors is reached
 *  @retval -ENFILE likewise, of the system
 *  @retval -ENOMEM out of memory
 *
 *  Errors of rt_command_start() are possible with a command.
 *  Cost: BPF, about 50 ms; ptrace, one process.
 *  @since 0.3 */
RT_API int rt_trace_new(struct rt_trace **out, const struct rt_trace_opts *opts);

/** A descriptor for the event loop of a host. It becomes readable when rt_trace_read() has
 *  something to return: after each event if events are rare, and otherwise after 50 ms or when a
 *  quarter of the memory for events is in use, whichever is first. With ptrace also every 250 ms:
 *  rt_trace_read() then looks whether the helper process was stopped, and continues it. Borrowed:
 *  do not read, close or keep it beyond rt_trace_free().
 *
 *  @return the descriptor, or -EFAULT if @p trace is NULL. Cost: none. @since 0.3 */
RT_API int rt_trace_fd(const struct rt_trace *trace);

/** Take the events that wait, oldest first. Does not wait.
 *
 *  Events of one thread are in order. Events of different CPUs may be out of order by their
 *  monotonic_ns, but not by their sequence.
 *
 *  @param array receives the events.
 *  @param element_size sizeof(struct rt_trace_event) as the caller was compiled with.
 *  @param count room in @p array when called, events written on return.
 *  @retval 0 success, possibly without any event
 *  @retval -ESRCH all processes that were traced have ended and no event waits: there will be no
 *          more
 *  @retval -EFAULT an argument is NULL; @p array may be if `*count` is 0
 *  @retval -EINVAL @p element_size is wrong
 *  @retval -ECHILD this is a forked child; or the helper process of ptrace was killed, and with it
 *          the processes that it traced
 *  @retval -ETIMEDOUT the helper process of ptrace was stopped or frozen for 5 s although it was
 *          sent SIGCONT: it was killed, and with it the processes that it traced (in a frozen
 *          cgroup of v1, once it is thawed). More events are not read
 *
 *  Cost: no system call per event, except for RT_TRACE_OPT_LIVE_CHILDREN and the first event of
 *  each program. @since 0.3 */
RT_API int rt_trace_read(struct rt_trace *trace, struct rt_trace_event *array, size_t element_size,
                         size_t *count);

/** Count what was traced.
 *
 *  @param trace the trace.
 *  @param out receives the counts.
 *  @param out_size sizeof(struct rt_trace_totals) as the caller was compiled with.
 *  @return 0, -EFAULT, or -EINVAL if @p out has a wrong size. Cost: none. @since 0.3 */
RT_API int rt_trace_get_totals(const struct rt_trace *trace, struct rt_trace_totals *out,
                               size_t out_size);

/** The command that rt_trace_new() has started; NULL without one. Borrowed: it is valid until
 *  rt_trace_free(), which also frees it. @since 0.3 */
RT_API struct rt_command *rt_trace_command(struct rt_trace *trace);

/** End a trace. NULL is allowed. Processes run on, untraced with BPF. With ptrace, the helper
 *  process stays until they have ended. It is a child of the caller: if it ends later, the next
 *  trace by ptrace reaps it, and until then it is a zombie. @since 0.3 */
RT_API void rt_trace_free(struct rt_trace *trace);

/** @} */

/** @defgroup recorder Recorder and marks
 *  A recorder samples a tracker at a fixed rate, by a thread of the library. A mark tells the peaks
 *  since a moment.
 *  @{ */

/** Samples a tracker into a ring. Opaque. Its calls may come from any thread, also at the same time
 * as others, except for rt_recorder_free(). @since 0.3 */
struct rt_recorder;

/** rt_recorder_opts.flags: a full ring drops its oldest sample. By default it drops the new one.
 * @since 0.3 */
#define RT_RECORDER_KEEP_NEWEST 0x1U
/** rt_recorder_opts.flags: keep rows of processes, for rt_recorder_processes(). @since 0.3 */
#define RT_RECORDER_PROCESSES 0x2U

/** How to record. Everything but `size` may be 0. @since 0.3 */
struct rt_recorder_opts {
	uint32_t size;  /**< sizeof(struct rt_recorder_opts), set by the caller. */
	uint32_t flags; /**< RT_RECORDER_ bits. */
	/** Between two ticks, on CLOCK_MONOTONIC; 0 is 1 s, and the least is 1 ms. Each tick is a
	 * multiple of it after the first, so that nothing drifts. */
	uint64_t interval_ns;
	/** Between two peak polls or samples; 0 is as in rt_command_wait(): 10 ms, or longer if
	 * that took more than half a percent of one CPU. UINT64_MAX: no peak polls. The least is
	 * 1 ms. */
	uint64_t peak_poll_ns;
	uint32_t capacity; /**< Samples that the ring holds; 0 is 4096, some 6 MB. */
	/** Rows of each sample that RT_RECORDER_PROCESSES keeps, those with the most CPU time; 0 is
	 * 64. All together take capacity * rows * sizeof(struct rt_process), once in use. */
	uint32_t rows;
	uint32_t wake_after; /**< Samples that wait before rt_recorder_fd() wakes; 0 is 1. */
	uint32_t reserved;   /**< 0. */
};

/** What a recorder has done so far: taken + missed are all ticks, and the sample of
 * rt_recorder_stop(). @since 0.3 */
struct rt_recorder_totals {
	uint32_t size;    /**< Bytes of this struct that the library filled. */
	uint32_t waiting; /**< Gauge. Samples that wait to be read. */
	uint64_t taken;   /**< Counter. Samples taken. */
	uint64_t dropped; /**< Counter. Of these, lost since the ring was full. */
	/** Counter. Ticks without a sample: they passed while another was taken, or while the
	 * thread had no CPU. */
	uint64_t missed;
};

/** Begin to record.
 *
 *  The tracker then belongs to the recorder, and rt_recorder_free() frees it. That of a command is
 *  borrowed: rt_command_wait() works as before, and rt_command_free() stops the recorder. Until it
 *  is freed, rt_sample() is refused, and any thread may use the other calls of the tracker. The
 *  thread blocks all signals.
 *
 *  In a forked child there is no recorder: all calls with it and its tracker return -ECHILD, and
 *  rt_recorder_free() leaves the tracker as it is.
 *
 *  @param out receives the recorder, or NULL on failure.
 *  @param t the tracker; it stays the caller's on failure.
 *  @param opts how to record; NULL for the defaults.
 *  @retval 0 the first tick is now
 *  @retval -EFAULT @p out or @p t is NULL
 *  @retval -EINVAL an option is unknown or too small, `wake_after` is above `capacity`, or `size`
 *          is wrong
 *  @retval -E2BIG @p opts is longer than this library knows and the unknown part is not zero
 *  @retval -EBUSY the tracker has a recorder
 *  @retval -EOPNOTSUPP RT_RECORDER_PROCESSES, and the tracker has no such list
 *  @retval -ENOMEM out of memory
 *  @retval -EAGAIN no thread can be made
 *  @retval -EMFILE the limit of open descriptors is reached
 *  @retval -ENFILE likewise, of the system
 *
 *  Cost: a thread; all memory is reserved now. A tick costs as much as rt_sample(). @since 0.3 */
RT_API int rt_recorder_new(struct rt_recorder **out, struct rt_tracker *t,
                           const struct rt_recorder_opts *opts);

/** A descriptor for an event loop. It is readable while `wake_after` samples wait, and for ever
 *  once there will be no more. Borrowed: do not read, close or keep it beyond rt_recorder_free().
 *
 *  @return the descriptor, -EFAULT or -ECHILD. Cost: none. @since 0.3 */
RT_API int rt_recorder_fd(const struct rt_recorder *r);

/** Take the samples that wait, oldest first. Does not wait. rt_diff() takes any two of them.
 *
 *  @param samples receives the samples, each @p element_size after the one before.
 *  @param element_size sizeof(struct rt_metrics) as the caller was compiled with.
 *  @param count room in @p samples when called, samples written on return.
 *  @retval 0 success, possibly without any sample
 *  @retval -ESRCH no sample waits, and there will be no more: everything that the tracker followed
 *          has exited, or the recorder was stopped
 *  @retval -EFAULT an argument is NULL; @p samples may be if `*count` is 0
 *  @retval -EINVAL @p element_size is wrong
 *  @retval -ECHILD this is a forked child
 *
 *  Cost: no system call for a sample. @since 0.3 */
RT_API int rt_recorder_read(struct rt_recorder *r, struct rt_metrics *samples, size_t element_size,
                            size_t *count);

/** The newest sample, whether it was read or dropped or not. It is not taken from the ring.
 *  @return 0, -ENODATA before the first, -EFAULT, -EINVAL or -ECHILD. @since 0.3 */
RT_API int rt_recorder_latest(const struct rt_recorder *r, struct rt_metrics *out, size_t out_size);

/** Rows of the sample that was taken at @p monotonic_ns, by CPU time, the largest first; otherwise
 *  like the calls of @ref lists. They are kept until `capacity` later samples were put into the
 *  ring, whether the sample was read or not.
 *  @return 0; -ENODATA if they are not there any more, or never were; -EOPNOTSUPP without
 *          RT_RECORDER_PROCESSES; -EFAULT, -EINVAL or -ECHILD. @since 0.3 */
RT_API int rt_recorder_processes(const struct rt_recorder *r, uint64_t monotonic_ns,
                                 struct rt_process *array, size_t element_size, size_t *count);

/** Count what was recorded. @return 0, -EFAULT, -EINVAL or -ECHILD. Cost: none. @since 0.3 */
RT_API int rt_recorder_get_totals(const struct rt_recorder *r, struct rt_recorder_totals *out,
                                  size_t out_size);

/** Take one more sample now, unless the tree has ended, and end the thread. What waits can still be
 *  read. @return 0, -EFAULT or -ECHILD. Cost: waits for that sample. @since 0.3 */
RT_API int rt_recorder_stop(struct rt_recorder *r);

/** Stop, and free the recorder and its tracker. NULL is allowed. No other call may be in progress
 *  with the recorder or, unless it is a command's, its tracker. @since 0.3 */
RT_API void rt_recorder_free(struct rt_recorder *r);

/** The largest figures of a tree since a mark. They are at least so large: samples, peak polls and
 * the kernel's own peaks show them, and a shorter peak may be larger. @since 0.3 */
struct rt_peaks {
	uint32_t size;         /**< Bytes of this struct that the library filled. */
	uint32_t flags;        /**< 0: no bit is defined yet. */
	uint64_t valid;        /**< RT_HAS_ bits of figures that are exact. */
	uint64_t partial;      /**< RT_HAS_ bits of lower bounds. */
	uint64_t estimated;    /**< RT_HAS_ bits of figures that may be above or below the truth. */
	uint64_t monotonic_ns; /**< When the mark was set, CLOCK_MONOTONIC. */
	/** RT_HAS_PEAK_FOOTPRINT. Largest rt_metrics.footprint_bytes. */
	uint64_t peak_footprint_bytes;
	uint64_t peak_needed_bytes; /**< RT_HAS_PEAK_FOOTPRINT. Largest rt_metrics.needed_bytes. */
	uint64_t peak_rss_bytes;    /**< RT_HAS_PEAK_RSS. Largest RSS of one process. */
	uint64_t processes_peak;    /**< RT_HAS_PROCESSES_PEAK. Most processes at the same time. */
	char label[64];             /**< That of the mark, cut to fit. */
};

/** Set a mark: rt_tracker_since() tells the peaks from here on. 64 can be set at a time.
 *
 *  Each rt_sample() and rt_tracker_glance() raises the peaks, and so does a recorder: then marks
 *  may be set, asked for and removed on any thread.
 *
 *  @param t a pid tracker. Without a sample so far, it takes one.
 *  @param label a name for people, or NULL.
 *  @param id receives the number of the mark, which no other mark of the tracker gets.
 *  @return 0; -ENOSPC if 64 are set; -ENOMEM; -EFAULT if @p t or @p id is NULL; -EOPNOTSUPP and
 *          -ECHILD as rt_tracker_glance(). Cost: a peak poll, and a file (`status`) of each
 *          member. @since 0.3 */
RT_API int rt_tracker_mark(struct rt_tracker *t, const char *label, uint64_t *id);

/** The peaks since a mark, up to now. The mark stays.
 *  @return 0; -ENOENT if there is no such mark; -EINVAL if @p out has a wrong size; otherwise, and
 *          in cost, as rt_tracker_mark(). @since 0.3 */
RT_API int rt_tracker_since(struct rt_tracker *t, uint64_t id, struct rt_peaks *out,
                            size_t out_size);

/** Remove a mark. @return 0, -ENOENT, -EFAULT, -EOPNOTSUPP or -ECHILD. Cost: none. @since 0.3 */
RT_API int rt_tracker_unmark(struct rt_tracker *t, uint64_t id);

/** @} */

/** @defgroup fields Field tables
 *  Names, units and offsets of all fields, and the constants, so that bindings need not repeat
 *  them.
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
#define RT_STRUCT_OPTS 12            /**< struct rt_opts. @since 0.3 */
#define RT_STRUCT_COMMAND_OPTS 13    /**< struct rt_command_opts. @since 0.3 */
#define RT_STRUCT_CONSTANT 14        /**< struct rt_constant. @since 0.3 */
#define RT_STRUCT_OBSTACLE 15        /**< struct rt_obstacle. @since 0.3 */
#define RT_STRUCT_TRACE_OPTS 16      /**< struct rt_trace_opts. @since 0.3 */
#define RT_STRUCT_TRACE_EVENT 17     /**< struct rt_trace_event. @since 0.3 */
#define RT_STRUCT_TRACE_TOTALS 18    /**< struct rt_trace_totals. @since 0.3 */
#define RT_STRUCT_GPU 19             /**< struct rt_gpu. @since 0.3 */
#define RT_STRUCT_GPU_PROCESS 20     /**< struct rt_gpu_process. @since 0.3 */
#define RT_STRUCT_COMMAND_INFO 21    /**< struct rt_command_info. @since 0.3 */
#define RT_STRUCT_RECORDER_OPTS 22   /**< struct rt_recorder_opts. @since 0.3 */
#define RT_STRUCT_RECORDER_TOTALS 23 /**< struct rt_recorder_totals. @since 0.3 */
#define RT_STRUCT_PEAKS 24           /**< struct rt_peaks. @since 0.3 */

#define RT_TYPE_U32 1    /**< uint32_t. @since 0.1 */
#define RT_TYPE_I32 2    /**< int32_t. @since 0.1 */
#define RT_TYPE_U64 3    /**< uint64_t. @since 0.1 */
#define RT_TYPE_I64 4    /**< int64_t. @since 0.1 */
#define RT_TYPE_DOUBLE 5 /**< double. @since 0.1 */
#define RT_TYPE_CHARS 6  /**< NUL-terminated char array of `length` bytes. @since 0.1 */
#define RT_TYPE_RUSAGE 7 /**< struct rt_rusage. @since 0.1 */
/** A pointer of the caller, in inputs alone. @since 0.3 */
#define RT_TYPE_POINTER 8

/** Describes the struct itself: sizes, masks, times, identity. @since 0.1 */
#define RT_FIELD_META 1
#define RT_FIELD_COUNTER 2 /**< Never falls. @since 0.1 */
#define RT_FIELD_GAUGE 3   /**< Holds for one instant. @since 0.1 */

/** One field of one struct. @since 0.1 */
struct rt_field {
	uint32_t size;     /**< Bytes of this struct that the library filled. */
	uint32_t offset;   /**< Offset of the field in the struct, in bytes. */
	uint32_t length;   /**< Length of the field, in bytes. */
	uint32_t type;     /**< RT_TYPE_ value. */
	uint32_t role;     /**< RT_FIELD_ value. */
	uint32_t reserved; /**< 0. */
	/** RT_HAS_ bits that must all be set for the field to be valid, or 0 if it needs none. For
	 * rt_rusage, the bit of rt_pid_getrusage(). */
	uint64_t has;
	char name[40]; /**< Name, as in the header. */
	/** "ns", "s", "By", "KiBy", "512By", "1" ...: UCUM, as in OpenTelemetry. */
	char unit[16];
	/** What it is, in English: part of a sentence, for people. Its wording may change. For a
	 * difference, what it is the difference of. @since 0.3 */
	char text[104];
};

/** Number of fields of a struct.
 *
 *  @param struct_id RT_STRUCT_ value.
 *  @return the number, or 0 for an unknown struct.
 *  @since 0.1 */
RT_API uint32_t rt_field_count(uint32_t struct_id);

/** Size of a struct in the loaded library.
 *
 *  @param struct_id RT_STRUCT_ value.
 *  @return the size in bytes, or 0 for an unknown struct.
 *  @since 0.1 */
RT_API uint32_t rt_field_struct_size(uint32_t struct_id);

/** Describe one field.
 *
 *  @param struct_id RT_STRUCT_ value.
 *  @param index number of the field, from 0, in the order of the struct.
 *  @param out receives the description.
 *  @param out_size sizeof(struct rt_field) as the caller was compiled with.
 *  @retval 0 success
 *  @retval -EINVAL the struct is unknown, @p index is past its end, or @p out has a wrong size
 *  @retval -EFAULT @p out is NULL
 *  @since 0.1 */
RT_API int rt_field_get(uint32_t struct_id, uint32_t index, struct rt_field *out, size_t out_size);

#define RT_CONSTANTS_HAS 1        /**< rt_constant.group: RT_HAS_ bits. @since 0.3 */
#define RT_CONSTANTS_REASON 2     /**< rt_constant.group: RT_REASON_ bits. @since 0.3 */
#define RT_CONSTANTS_OPT 3        /**< rt_constant.group: RT_OPT_ bits. @since 0.3 */
#define RT_CONSTANTS_ACCOUNTING 4 /**< rt_constant.group: RT_ACCOUNTING_ values. @since 0.3 */
#define RT_CONSTANTS_OTHER 5      /**< rt_constant.group: all others. @since 0.3 */

/** One constant of the header. @since 0.3 */
struct rt_constant {
	uint32_t size;  /**< Bytes of this struct that the library filled. */
	uint32_t group; /**< RT_CONSTANTS_ value. */
	int64_t value;  /**< Its value. */
	char name[48];  /**< Name, as in the header. E.g.: "RT_REASON_UNWAITED". */
	char text[144]; /**< What it means, in English: part of a sentence, for people. */
};

/** Describe one constant of the header that the library was built with.
 *
 *  All but the version macros are there, so a binding need not repeat them, and a program can name
 *  bits that it does not know.
 *
 *  @param index number of the constant, from 0. The order is not fixed.
 *  @param out receives the description.
 *  @param out_size sizeof(struct rt_constant) as the caller was compiled with.
 *  @retval 0 success
 *  @retval -EINVAL @p index is past the last constant, or @p out has a wrong size
 *  @retval -EFAULT @p out is NULL
 *
 *  Cost: none. @since 0.3 */
RT_API int rt_constant_get(uint32_t index, struct rt_constant *out, size_t out_size);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
