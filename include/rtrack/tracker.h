/* SPDX-License-Identifier: MIT */
/** @file
 *  Trackers: samples of a tree, the system or a cgroup, what changed between two, and why a
 *  figure is missing. */
#ifndef RTRACK_TRACKER_H
#define RTRACK_TRACKER_H

#include <rtrack/process.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup trackers Trackers
 *  A tracker follows one process tree, or the system. The caller samples it as often as needed.
 *  @{ */

/** Follows one process tree, or the system. Opaque. Not thread-safe: use it on one thread at a
 * time. @since 0.1 */
struct rt_tracker;

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

/** @} */

#ifdef __cplusplus
}
#endif

#endif
