/* SPDX-License-Identifier: MIT */
/** @file
 *  Commands: a program from start to end, with everything that it starts. */
#ifndef RTRACK_COMMAND_H
#define RTRACK_COMMAND_H

#include <rtrack/process.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rt_opts;
struct rt_tracker;

/** @defgroup commands Commands
 *  Start a program, follow everything that it starts, report what it used.
 *  @sa @ref details_commands
 *  @{ */

/** A program that was started. Any thread may make any call at any time, also of its tracker,
 *  except rt_command_free(). A forked child may only free it. */
struct rt_command;

/** @name Accounting methods
 *  rt_command_opts.accounting. @sa @ref details_accounting
 *  @{ */
#define RT_ACCOUNTING_AUTO 0 /**< The best that works here without privileges. */
#define RT_ACCOUNTING_POLL 1 /**< A child of the caller: wait4(2), and samples of its tree. */
/** Under a supervisor that adopts and reaps orphans: exact for all that was waited for. */
#define RT_ACCOUNTING_WAIT 2
/** That, in a cgroup of its own, which accounts for all. Needs permission to create one. */
#define RT_ACCOUNTING_CGROUP 3
#define RT_ACCOUNTING_WAIT_PERF 4 /**< Acts as RT_ACCOUNTING_WAIT. @since 0.2 */
/** Under a supervisor, with BPF programs that account for each thread as it ends: exact, waited for
 *  or not. 10 to 40 ms to start; Linux 6.2, CAP_BPF, CAP_PERFMON. @since 0.2 */
#define RT_ACCOUNTING_BPF 5
/** @} */

/** @name Flags of a command
 *  rt_command_opts.flags. @sa @ref details_command_flags
 *  @since 0.3
 *  @{ */
/** List every process, for rt_command_processes(); complete with process events or BPF, and then a
 *  program that forks constantly is slower. @since 0.2 */
#define RT_COMMAND_LIST_PROCESSES 0x1U
#define RT_COMMAND_NEW_GROUP 0x2U   /**< A process group of its own. */
#define RT_COMMAND_NEW_SESSION 0x4U /**< A session of its own, without a terminal. */
#define RT_COMMAND_ONLY_FDS 0x8U    /**< Inherit only 0, 1, 2 and rt_command_opts.fds. */
/** rt_command_free() kills all that still runs, and waits a second at most. */
#define RT_COMMAND_KILL_ON_FREE 0x10U
/** The caller may be its own supervisor: a start costs a third less. It promises to have no other
 *  children until rt_command_free(). */
#define RT_COMMAND_SUBREAPER_SELF 0x20U
/** @} */

/** One descriptor of a program. Of 8 bytes, always. @since 0.3 */
struct rt_fd {
	int32_t target; /**< Its number in the program, unique. */
	int32_t source; /**< In the caller; -1: closed; -2: `/dev/null`. */
};

/** What to start, and how. */
struct rt_command_opts {
	uint32_t size;  /**< sizeof(struct rt_command_opts). */
	uint32_t flags; /**< RT_COMMAND_ bits. */
	/** Program and arguments, NULL at the end; without a slash, by PATH. */
	const char *const *argv;
	const char *const *envp;       /**< Environment, NULL at the end. NULL: the caller's. */
	const char *cwd;               /**< Directory. NULL: the caller's. */
	const struct rt_opts *tracker; /**< Of its tracker; no root. NULL: defaults. */
	/** RT_ACCOUNTING_ value. RT_OPT_NO_CHILDREN needs RT_ACCOUNTING_POLL. */
	uint32_t accounting;
	uint32_t reserved; /**< 0. */

	/* Since 0.3. */
	/** Descriptors of the program, beside or instead of inherited ones; NULL: none. Sources
	 * are as before the start. */
	const struct rt_fd *fds;
	uint32_t fd_count;     /**< Number of fds. */
	uint32_t message_size; /**< Bytes of message. */
	char *message;         /**< Receives why the call failed, cut at a word; or NULL. */
	/** Limit until execve(2), then -ETIMEDOUT; 0: none. Not enforced by
	 * RT_ACCOUNTING_POLL or RT_COMMAND_SUBREAPER_SELF. */
	uint64_t start_timeout_ns;
};

/** Start a program. Without options of its own it inherits descriptors, terminal and process
 *  group; its signal mask is empty, SIGCHLD and SIGPIPE have
 *  their default. No wait call of the caller can take its exit status.
 *  @sa @ref details_start
 *
 *  @param out receives the command, NULL on failure.
 *  @param opts what to start; its `message` says what failed.
 *  @retval 0 the program runs
 *  @retval -EBADF a source is not open, or a target too high
 *  @retval -E2BIG also: the arguments are too long
 *  @retval -ENOENT no such program or cwd; also -ENOTDIR, -EACCES, -ENOEXEC as execve(2)
 *  @retval -EOPNOTSUPP the method is not available
 *  @retval -ENOPKG no supervisor is installed
 *  @retval -EPROTO the supervisor is of another release
 *  @retval -ETIMEDOUT no answer in 10 s, or within start_timeout_ns: nothing runs
 *  @retval -EINTR a signal that the caller blocks is pending: nothing runs
 *  @retval -ECHILD the supervisor, or by RT_ACCOUNTING_POLL the program, was killed or reaped; it
 *          may run
 *  @retval -ENOSYS /proc is not mounted; -EXDEV: of another pid namespace
 *  @retval -EAGAIN no process could be made
 *
 *  Cost: two processes, one sample, 16 to 21 descriptors. */
RT_API int rt_command_start(struct rt_command **out, const struct rt_command_opts *opts);

/** Process id of the program. */
RT_API int32_t rt_command_pid(const struct rt_command *c);

/** Its tracker, borrowed until rt_command_free(). After the wait it has the final totals. */
RT_API struct rt_tracker *rt_command_tracker(struct rt_command *c);

/** What a command runs as. @since 0.3 */
struct rt_command_info {
	uint32_t size;       /**< Filled. */
	uint32_t accounting; /**< RT_ACCOUNTING_ value, never AUTO. */
	uint64_t start_ns;   /**< Start of the program, CLOCK_MONOTONIC. */
};

/** What a command runs as. @return 0 or -EFAULT.
 *  @since 0.3 */
RT_API int rt_command_get_info(const struct rt_command *c, struct rt_command_info *out,
                               size_t out_size);

/** Send a signal to the program, as kill(2). Async-signal-safe.
 *
 *  @return 0; -ESRCH: it has exited; -EINVAL: no such signal; -EPERM. */
RT_API int rt_command_signal(struct rt_command *c, int signal);

/** Kill the program and all that it has started, also what was left running. Not
 *  async-signal-safe.
 *
 *  @return 0; -EPERM: some may not be killed.
 *  @since 0.2 */
RT_API int rt_command_kill(struct rt_command *c);

#define RT_PEAK_PSS 1       /**< peak_tree_kind: not used since 0.3. */
#define RT_PEAK_RSS 2       /**< peak_tree_kind: not used since 0.3. */
#define RT_PEAK_CGROUP 3    /**< peak_tree_kind: charged to the cgroup, an estimate. */
#define RT_PEAK_FOOTPRINT 4 /**< peak_tree_kind: each page once. @since 0.3 */

/** What a program used, with everything that it started. @sa @ref units_outcome */
struct rt_outcome {
	uint32_t size;       /**< Filled. */
	int32_t exit_code;   /**< Exit code; -1: a signal. */
	int32_t signal;      /**< Signal that ended it, or 0. */
	uint32_t accounting; /**< RT_ACCOUNTING_ value. */
	uint64_t valid;      /**< RT_HAS_ bits: exact. */
	uint64_t partial;    /**< RT_HAS_ bits: at least. */
	uint32_t complete;   /**< 1: no reason why CPU time may be missing. @ref details_complete */
	uint32_t reasons;    /**< RT_REASON_ bits. */
	uint64_t start_realtime_ns; /**< Start, since 1970. */
	uint64_t wall_ns;           /**< From start to exit. */
	struct rt_rusage rusage;    /**< Layout of getrusage(2). */
	uint64_t cpu_user_ns;       /**< RT_HAS_CPU. */
	uint64_t cpu_system_ns;     /**< RT_HAS_CPU. */
	uint64_t cpu_low_ns;        /**< At least this CPU time. */
	uint64_t cpu_high_ns;       /**< At most this; UINT64_MAX: no bound. */
	uint64_t peak_rss_bytes;    /**< RT_HAS_PEAK_RSS: largest of one process. */
	/** RT_HAS_PEAK_FOOTPRINT: largest of all together, by peak_tree_kind. */
	uint64_t peak_tree_bytes;
	uint32_t peak_tree_kind;  /**< RT_PEAK_ value, or 0. */
	uint32_t left_running;    /**< Members that still ran. */
	uint64_t read_bytes;      /**< RT_HAS_IO: from and to storage. */
	uint64_t write_bytes;     /**< RT_HAS_IO. */
	uint64_t processes;       /**< RT_HAS_PROCESSES: all of them. */
	uint64_t samples;         /**< Samples taken. */
	uint64_t overhead_cpu_ns; /**< CPU time that this cost the caller. */

	/* Since 0.2. */
	uint64_t cpu_estimate_ns;          /**< RT_HAS_CPU: as cpu_low_ns. */
	uint64_t peak_tree_low_bytes;      /**< Bounds; UINT64_MAX: none. */
	uint64_t peak_tree_high_bytes;     /**< Likewise. */
	uint64_t processes_peak;           /**< RT_HAS_PROCESSES_PEAK. */
	uint64_t members_skipped;          /**< The most that a sample left out. */
	uint64_t cgroup_memory_peak_bytes; /**< RT_HAS_CGROUP_MEMORY: with page cache. */
	uint64_t cgroup_read_bytes;        /**< RT_HAS_CGROUP_IO. */
	uint64_t cgroup_write_bytes;       /**< RT_HAS_CGROUP_IO. */
	uint64_t cgroup_tasks_peak;        /**< RT_HAS_CGROUP_TASKS: threads. */

	/* Since 0.3. */
	uint64_t estimated;             /**< RT_HAS_ bits: about. */
	uint64_t gpu_busy_ns;           /**< RT_HAS_GPU. */
	uint64_t gpu_memory_peak_bytes; /**< RT_HAS_GPU_MEMORY: largest of a sample. */
	/** @{ */
	uint64_t peak_needed_bytes; /**< RT_HAS_PEAK_NEEDED: without files, and bounds. */
	uint64_t peak_needed_low_bytes;
	uint64_t peak_needed_high_bytes;
	/** @} */
	/** @{ */
	uint64_t footprint_anon_bytes; /**< RT_HAS_PEAK_FOOTPRINT: parts at the peak. */
	uint64_t footprint_shmem_bytes;
	uint64_t footprint_file_bytes;
	uint64_t footprint_hugetlb_bytes;
	uint64_t footprint_swap_bytes;
	/** @} */
};

/** Wait for the program to exit, and report what it used. Polls for peaks meanwhile, at half a
 *  percent of a CPU at most. No other child of the caller is affected. Later calls return the same.
 *
 *  @param timeout_ns 0: do what is due; negative: no limit. A last sample takes extra time.
 *  @param out receives the outcome; NULL: only wait.
 *  @return 0; -ETIMEDOUT: it still runs; -EINTR: a signal handler ran, or rt_command_interrupt();
 *          -ECHILD: the exit status is lost, @p out has what was seen. */
RT_API int rt_command_wait(struct rt_command *c, int64_t timeout_ns, struct rt_outcome *out,
                           size_t out_size);

/** End one wait, this or the next: it returns -EINTR. Async-signal-safe, on any thread.
 *
 *  @return 0; -EPERM: a forked child. Cost: two system calls.
 *  @since 0.3 */
RT_API int rt_command_interrupt(struct rt_command *c);

/** Descriptor for an event loop: readable when the program has ended, or a peak poll is due. Then
 *  call rt_command_wait() with timeout 0.
 *
 *  @return it; -EOPNOTSUPP: before Linux 5.3, so wait with timeout 0 a hundred times a second.
 *          Cost: two descriptors.
 *  @since 0.3 */
RT_API int rt_command_fd(const struct rt_command *c);

/** @name Flags of a process
 *  rt_command_process.flags.
 *  @{ */
#define RT_PROCESS_FINAL 0x1U   /**< Read at its end. @since 0.2 */
#define RT_PROCESS_RUNNING 0x2U /**< It still ran. @since 0.2 */
/** It executed no program: texts are those of its parent. @since 0.3 */
#define RT_PROCESS_NO_EXEC 0x4U
/** The command line is cut at 16,384 bytes, or left out beyond 64 MiB of texts. @since 0.3 */
#define RT_PROCESS_CUT 0x8U
#define RT_PROCESS_OWN_IO 0x10U /**< own_ fields are known. @since 0.3 */
/** @} */

/** One process of a command; 0 or empty without a bit: unknown. @since 0.2 */
struct rt_command_process {
	uint32_t size;              /**< Filled. */
	uint32_t flags;             /**< RT_PROCESS_ bits. */
	int32_t pid;                /**< Process id. */
	int32_t ppid;               /**< Process that forked it; 0: unknown. */
	int32_t exit_code;          /**< -1: a signal, running, or unknown. */
	int32_t signal;             /**< Signal that ended it, or 0. */
	uint64_t valid;             /**< RT_HAS_ bits: final. */
	uint64_t partial;           /**< RT_HAS_ bits: at least. */
	uint64_t start_realtime_ns; /**< Since 1970; 0: unknown, or running. */
	uint64_t end_realtime_ns;   /**< Likewise. */
	uint64_t cpu_user_ns;       /**< RT_HAS_CPU: its own threads. */
	uint64_t cpu_system_ns;     /**< RT_HAS_CPU. */
	uint64_t peak_rss_bytes;    /**< RT_HAS_PEAK_RSS: since its last exec. */
	uint64_t read_bytes;        /**< RT_HAS_IO: with reaped children. */
	uint64_t write_bytes;       /**< RT_HAS_IO. */
	char comm[64];              /**< Name, of any bytes. */

	/* Since 0.3. */
	uint64_t estimated;          /**< RT_HAS_ bits: about. */
	uint64_t own_read_bytes;     /**< RT_PROCESS_OWN_IO. Without children: they add up. */
	uint64_t own_write_bytes;    /**< RT_PROCESS_OWN_IO. */
	uint32_t command_line_bytes; /**< Length for rt_command_process_text(); 0: unknown. */
	uint32_t cwd_bytes;          /**< Likewise. */
};

/** All processes of the command, in order of start, after the wait. A list.
 *
 *  @return 0; -EOPNOTSUPP: no RT_COMMAND_LIST_PROCESSES; -ENODATA: it still runs; -ENOMEM or
 *          -ENOBUFS: some are missing or not final, the others are written.
 *  @since 0.2 */
RT_API int rt_command_processes(struct rt_command *c, struct rt_command_process *array,
                                size_t element_size, size_t *count);

/** A text of one process, as it was just after its last exec. Needs process events or BPF.
 *
 *  @param row number in the list, from 0.
 *  @param text RT_TEXT_ value.
 *  @param buffer as rt_pid_text().
 *  @param length likewise; 0: unknown.
 *  @return as rt_command_processes(); -EINVAL: no such row.
 *  @since 0.3 */
RT_API int rt_command_process_text(struct rt_command *c, size_t row, uint32_t text, char *buffer,
                                   size_t *length);

/** Release a command. The program runs on, reaped by its supervisor, if any, unless
 *  RT_COMMAND_KILL_ON_FREE is set. NULL is allowed. */
RT_API void rt_command_free(struct rt_command *c);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
