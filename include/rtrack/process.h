/* SPDX-License-Identifier: MIT */
/** @file
 *  Processes: getrusage(2), one look at a pid, and the rows of a tracker. */
#ifndef RTRACK_PROCESS_H
#define RTRACK_PROCESS_H

#include <rtrack/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rt_tracker;

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

/** @defgroup processes Rows of processes
 *  One row for each process of a tracker, in its last sample.
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

/** Members of the tree in the last sample. The root comes first, then the others in the order in
 * which they were found.
 * @since 0.1
 * @since 0.3 After rt_tracker_glance(), still the members of the last sample, with its figures.
 * Until then the list also had members that a peak poll had found, without figures. */
RT_API int rt_tracker_processes(const struct rt_tracker *t, struct rt_process *array,
                                size_t element_size, size_t *count);

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

#ifdef __cplusplus
}
#endif

#endif
