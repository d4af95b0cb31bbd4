/* SPDX-License-Identifier: MIT */
/** @file
 *  Processes: getrusage(2), one look at a pid, rows of a tracker. */
#ifndef RTRACK_PROCESS_H
#define RTRACK_PROCESS_H

#include <rtrack/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rt_tracker;

/** @defgroup rusage getrusage figures
 *  The sixteen fields of getrusage(2), for the caller or any live process. @sa @ref details_rusage
 *  @{ */

#define RT_RUSAGE_SELF 0      /**< The calling process. */
#define RT_RUSAGE_CHILDREN -1 /**< Children that it waited for, and those that they waited for. */
#define RT_RUSAGE_THREAD 1    /**< The calling thread. */

/** The fields of getrusage(2), in the order of Python's `resource.struct_rusage`. Of 128 bytes, for
 *  ever: field i is at byte 8 * i. */
struct rt_rusage {
	double ru_utime;   /**< CPU time in user mode, seconds. */
	double ru_stime;   /**< In kernel mode, seconds. */
	int64_t ru_maxrss; /**< Peak resident memory, KiB. */
	/** @{ */
	int64_t ru_ixrss; /**< Always 0 on Linux. */
	int64_t ru_idrss;
	int64_t ru_isrss;
	/** @} */
	int64_t ru_minflt;  /**< Page faults without storage I/O. */
	int64_t ru_majflt;  /**< Page faults with storage I/O. */
	int64_t ru_nswap;   /**< Always 0 on Linux. */
	int64_t ru_inblock; /**< Bytes read from storage, / 512. */
	int64_t ru_oublock; /**< Bytes written, / 512. */
	/** @{ */
	int64_t ru_msgsnd; /**< Always 0 on Linux. */
	int64_t ru_msgrcv;
	int64_t ru_nsignals;
	/** @} */
	int64_t ru_nvcsw;  /**< Voluntary context switches. */
	int64_t ru_nivcsw; /**< Involuntary ones. */
};

/** getrusage(2), which returns the same figures.
 *
 *  @param who RT_RUSAGE_ value; another is -EINVAL.
 *  @return 0, or an error. Cost: one system call. */
RT_API int rt_getrusage(int who, struct rt_rusage *out);

/** The same of any live process, without its children.
 *
 *  Once a thread has ended, context switches are lower bounds; blocks too, if a child was reaped.
 *
 *  @param pid as rt_pid_read().
 *  @param valid receives bit i for field i. A field without its bit is at least that, or unknown.
 *  @return as rt_pid_read(). Cost: three files, and for a process that had threads a directory and
 *          three for each. */
RT_API int rt_pid_getrusage(int32_t pid, struct rt_rusage *out, uint32_t *valid);

/** @} */

/** @defgroup processes Rows of processes
 *  Each process of a tracker, in its last sample. @sa @ref details_processes
 *  @{ */

/** One process. Counters are of its own threads, unless they say more. @sa @ref units_process */
struct rt_process {
	uint32_t size;  /**< Filled. */
	int32_t pid;    /**< Process id. */
	int32_t ppid;   /**< Parent, at the sample. */
	uint32_t state; /**< One character, as in `stat`. */
	uint64_t valid; /**< RT_HAS_ bits: exact. */
	/** Start, in clock ticks since boot; with pid, it identifies the process. */
	uint64_t start_ticks;
	char comm[64];               /**< Name, of any bytes. */
	uint64_t cpu_user_ns;        /**< RT_HAS_CPU. */
	uint64_t cpu_system_ns;      /**< RT_HAS_CPU. */
	uint64_t reaped_cpu_user_ns; /**< RT_HAS_CPU: of children that it waited for, and theirs. */
	uint64_t reaped_cpu_system_ns; /**< RT_HAS_CPU. */
	uint64_t rss_bytes;            /**< Gauge, RT_HAS_RSS. */
	uint64_t pss_bytes;            /**< Gauge, RT_HAS_PSS. */
	uint64_t peak_rss_bytes;       /**< Gauge, RT_HAS_PEAK_RSS. */
	/** @{ */
	uint64_t read_bytes; /**< RT_HAS_IO: with reaped children, unless RT_OPT_NO_CHILDREN. */
	uint64_t write_bytes;
	uint64_t cancelled_write_bytes;
	uint64_t read_chars;
	uint64_t write_chars;
	/** @} */
	uint64_t minor_faults;         /**< RT_HAS_FAULTS. */
	uint64_t major_faults;         /**< RT_HAS_FAULTS. */
	uint64_t voluntary_switches;   /**< RT_HAS_CTXSW: live threads. */
	uint64_t involuntary_switches; /**< RT_HAS_CTXSW. */
	uint64_t threads;              /**< Gauge, RT_HAS_THREADS. */

	/* Since 0.2. */
	uint64_t pss_age_ns; /**< Gauge, RT_HAS_PSS: age of the read. */
	uint32_t pss_source; /**< RT_PSS_ value, or 0. */
	uint32_t reserved;   /**< 0. */

	/* Since 0.3. */
	uint64_t estimated;         /**< RT_HAS_ bits: about. */
	uint64_t read_calls;        /**< RT_HAS_IO_CALLS: as read_bytes. */
	uint64_t write_calls;       /**< RT_HAS_IO_CALLS. */
	uint64_t partial;           /**< RT_HAS_ bits: at least. */
	uint64_t virtual_bytes;     /**< Gauge, RT_HAS_VIRTUAL: address space. */
	uint64_t start_realtime_ns; /**< Start, since 1970; 0: unknown. */
	uint64_t uss_bytes;         /**< Gauge, RT_HAS_USS: memory that its end would free. */
	uint64_t swap_bytes;        /**< Gauge, RT_HAS_USS: swap space, with shared memory. */
	uint32_t uid;               /**< Gauge, RT_HAS_IDS: real user. */
	int32_t session;            /**< Gauge, RT_HAS_IDS: pid of its leader. */
	int32_t pgrp;               /**< Gauge, RT_HAS_IDS: pid of its leader. */
	uint32_t reserved_2;        /**< 0. */
	uint64_t open_fds;          /**< Gauge, RT_HAS_OPEN_FDS. */
};

/** Members in the last sample, the root first: a list. Of the system with RT_OPT_LIST_PROCESSES. */
RT_API int rt_tracker_processes(const struct rt_tracker *t, struct rt_process *array,
                                size_t element_size, size_t *count);

/** @name Orders
 *  Of rt_tracker_top().
 *  @since 0.3
 *  @{ */
#define RT_TOP_CPU 1    /**< CPU time since the sample before. */
#define RT_TOP_MEMORY 2 /**< RSS in the last sample. */
#define RT_TOP_IO 3     /**< read_bytes and write_bytes since then. */
/** @} */

/** Processes that used most between the two last samples, the largest first.
 *
 *  Rows are those of rt_row_diff(). What has ended since is among them: state X, no memory,
 *  counters at least.
 *
 *  @param order RT_TOP_ value; unknown figures count as 0.
 *  @param count room in @p array; receives how many were written.
 *  @return 0; -EOPNOTSUPP: no RT_OPT_LIST_PROCESSES, or no such figure; -ENODATA: fewer than two
 *          samples. Cost: 1 us for each process.
 *  @since 0.3 */
RT_API int rt_tracker_top(const struct rt_tracker *t, uint32_t order, struct rt_process *array,
                          size_t element_size, size_t *count);

/** @} */

/** @defgroup pids One look at a process
 *  Figures without a tracker, which is cheaper from the second look on. @sa @ref details_pids
 *  @{ */

/** Read figures of one process, once; all of the same process, even if its pid is reused.
 *
 *  I/O is with that of reaped children; PSS is read, whatever that takes.
 *
 *  @param pid in the caller's pid namespace. That of another thread than the leader is -ESRCH.
 *  @param want RT_HAS_ bits of struct rt_process; 0: CPU, RSS, FAULTS, THREADS. With CPU, FAULTS,
 *         THREADS, IDS or OPEN_FDS come comm, ppid, state and start.
 *  @retval 0 success, possibly with clear bits
 *  @retval -EINVAL bad pid, or a bit that no process has
 *  @retval -ESRCH no such process
 *  @retval -EACCES hidden by /proc (hidepid)
 *  @retval -ENOENT /proc is not mounted
 *  @retval -EXDEV /proc is of another pid namespace
 *
 *  Cost: 1 us, and a file for each group of figures: @ref details_pids.
 *  @since 0.3 */
RT_API int rt_pid_read(int32_t pid, uint64_t want, struct rt_process *out, size_t out_size);

/** @name Texts
 *  Of rt_pid_text() and rt_command_process_text().
 *  @since 0.3
 *  @{ */
#define RT_TEXT_COMMAND_LINE 1 /**< Arguments, separated by NUL. */
#define RT_TEXT_CWD 2          /**< Working directory. */
/** @} */

/** A text of a process, now. Any bytes; the process may have overwritten it.
 *
 *  @param pid as rt_pid_read().
 *  @param text RT_TEXT_ value.
 *  @param buffer receives what fits, not NUL-terminated.
 *  @param size room; receives the whole length, 0 for a zombie.
 *  @return as rt_pid_read(); -EACCES also: another user's directory. Cost: one file.
 *  @since 0.3 */
RT_API int rt_pid_text(int32_t pid, uint32_t text, char *buffer, size_t *size);

/** Descendants of a process, once. No orphans, unless a subreaper in the tree adopted them.
 *
 *  @param pid as rt_pid_read().
 *  @param pids receives them, parents first, without @p pid.
 *  @param count room; receives their number, maybe more.
 *  @return as rt_pid_read(); -E2BIG: over 65536, or it forks too fast. Cost: a directory for each
 *          process, a file for each and for each thread.
 *  @since 0.3 */
RT_API int rt_pid_descendants(int32_t pid, int32_t *pids, size_t *count);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
