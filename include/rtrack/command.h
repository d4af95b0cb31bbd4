/* SPDX-License-Identifier: MIT */
/** @file
 *  Commands: a program from its start to its end, with everything that it starts. */
#ifndef RTRACK_COMMAND_H
#define RTRACK_COMMAND_H

#include <rtrack/process.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rt_opts;
struct rt_tracker;

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

#ifdef __cplusplus
}
#endif

#endif
