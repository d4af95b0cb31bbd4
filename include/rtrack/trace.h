/* SPDX-License-Identifier: MIT */
/** @file
 *  Calls of getrusage(2) that other processes make. */
#ifndef RTRACK_TRACE_H
#define RTRACK_TRACE_H

#include <rtrack/process.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rt_command;
struct rt_command_opts;

/** @defgroup trace Tracing calls of getrusage
 *  Each call of getrusage(2), on request of wait4(2) and waitid(2): caller, arguments, result, the
 *  figures that the kernel returned. @sa @ref details_trace
 *  @since 0.3
 *  @{ */

/** Receives calls. One thread at a time; a forked child may only free it. */
struct rt_trace;

#define RT_TRACE_BACK_END_AUTO 0 /**< BPF, else ptrace for a command. */
/** Any process; CAP_BPF, CAP_PERFMON. Below 0.5 us a call, 15 to 50 ns each other system call. */
#define RT_TRACE_BACK_END_BPF 1
/** A command; needs no privileges. 10 to 20 us a call and two context switches, no_new_privs, no
 *  debugger. */
#define RT_TRACE_BACK_END_PTRACE 2

#define RT_TRACE_CALL_GETRUSAGE 0x1U /**< getrusage(2). */
#define RT_TRACE_CALL_WAIT4 0x2U     /**< wait4(2). */
#define RT_TRACE_CALL_WAITID 0x4U    /**< waitid(2), the system call. */

#define RT_TRACE_OPT_ALL 0x1U         /**< Every process of the machine, by BPF. */
#define RT_TRACE_OPT_NO_CHILDREN 0x2U /**< Not its descendants. */
/** Fill rt_trace_event.live_children, for some file reads. */
#define RT_TRACE_OPT_LIVE_CHILDREN 0x4U

/** What to trace: one of `pid`, `command`, RT_TRACE_OPT_ALL. */
struct rt_trace_opts {
	uint32_t size;     /**< sizeof(struct rt_trace_opts). */
	uint32_t flags;    /**< RT_TRACE_OPT_ bits. */
	int32_t pid;       /**< Process, with its descendants. BPF. */
	uint32_t calls;    /**< RT_TRACE_CALL_ bits; 0: getrusage(2). */
	uint32_t back_end; /**< RT_TRACE_BACK_END_ value. */
	/** Buffer of waiting events, 296 bytes each; 0: 32 MiB or less. Up to 64 MiB. */
	uint32_t ring_bytes;
	/** Program to start and trace; or NULL. Its `message` is not used. */
	const struct rt_command_opts *command;
	char *message;         /**< Receives why rt_trace_new() failed, cut at a word; or NULL. */
	uint32_t message_size; /**< Bytes of message. */
	uint32_t reserved;     /**< 0. */
};

#define RT_TRACE_EVENT_32BIT 0x1U  /**< Of the 32-bit ABI. */
#define RT_TRACE_EVENT_UNREAD 0x2U /**< Its figures could not be read. */
/** Began before the trace: monotonic_ns is the return, duration_ns 0. */
#define RT_TRACE_EVENT_NO_ENTRY 0x4U
#define RT_TRACE_EVENT_EXE_CUT 0x8U /**< The end of exe is missing. */

/** One call that has returned. 0 or empty: unknown. @sa @ref units_trace_event */
struct rt_trace_event {
	uint32_t size;           /**< Filled. */
	uint32_t flags;          /**< RT_TRACE_EVENT_ bits. */
	uint64_t sequence;       /**< From 0, without lost ones. */
	uint64_t lost;           /**< Counter. Events lost up to this one. */
	uint64_t monotonic_ns;   /**< Entry, CLOCK_MONOTONIC. */
	uint64_t realtime_ns;    /**< Entry, since 1970. */
	uint64_t duration_ns;    /**< Entry to return. */
	uint32_t call;           /**< RT_TRACE_CALL_ bit. */
	int32_t who;             /**< First argument. */
	int32_t wait_id;         /**< Of waitid(2). */
	uint32_t wait_options;   /**< Of both waits. */
	int64_t result;          /**< 0, pid, or negative errno. */
	uint64_t usage_address;  /**< In the process; 0: none. */
	uint64_t status_address; /**< Likewise. */
	struct rt_rusage rusage; /**< What the kernel wrote there. */
	uint32_t rusage_valid;   /**< Bit i: field i. */
	uint32_t cpu;            /**< UINT32_MAX: unknown. */
	/** @{ */
	int32_t pid; /**< In the caller's pid namespace; 0: not there. */
	int32_t tid;
	int32_t ppid;
	/** @} */
	/** @{ */
	int32_t host_pid; /**< In the first pid namespace. */
	int32_t host_tid;
	int32_t host_ppid;
	/** @} */
	/** @{ */
	int32_t ns_pid; /**< In its own. */
	int32_t ns_tid;
	int32_t ns_ppid;
	/** @} */
	uint32_t uid;                   /**< Real user; UINT32_MAX: unknown. */
	uint32_t live_children_valid;   /**< Bit i: field i of live_children is exact. */
	uint32_t live_children_partial; /**< Likewise, at least. */
	/** @{ */
	uint64_t thread_start_ns; /**< CLOCK_BOOTTIME. */
	uint64_t process_start_ns;
	uint64_t parent_start_ns;
	/** @} */
	/** @{ */
	uint64_t cgroup_id; /**< Inode number. */
	uint64_t mount_namespace;
	uint64_t pid_namespace;
	/** @} */
	/** What descendants have used that were not waited for. @ref details_trace */
	struct rt_rusage live_children;
	uint64_t live_children_at_ns; /**< When that was read, CLOCK_MONOTONIC. */
	char comm[64];                /**< Name of the thread, of any bytes. */
	char host_name[64];           /**< Host name, first 15 bytes. */
	char exe[256];                /**< Path of its program, of any bytes. */
};

/** What a trace has done. */
struct rt_trace_totals {
	uint32_t size;       /**< Filled. */
	uint32_t back_end;   /**< RT_TRACE_BACK_END_ value. */
	uint64_t read;       /**< Counter. Events returned. */
	uint64_t lost;       /**< Counter. Events lost. */
	uint64_t threads;    /**< Gauge. Traced; not with RT_TRACE_OPT_ALL. */
	uint64_t ring_bytes; /**< Gauge. For events that wait. */
};

/** Begin to trace.
 *
 *  @param out receives the trace, NULL on failure.
 *  @param opts what to trace; its `message` says what failed.
 *  @return 0; -EPERM: no right to BPF, or traced already; -EOPNOTSUPP: not in this kernel; -ENOPKG:
 *          plug-in or helper not installed; -ECHILD, -ETIMEDOUT: the helper was killed, or did not
 *          begin in 10 s; else as rt_command_start(). Cost: BPF 50 ms; ptrace a process. */
RT_API int rt_trace_new(struct rt_trace **out, const struct rt_trace_opts *opts);

/** Descriptor for an event loop: readable when rt_trace_read() has something, within 50 ms.
 *  @return it, or -EFAULT. */
RT_API int rt_trace_fd(const struct rt_trace *trace);

/** Take the events that wait, by `sequence`. Does not wait.
 *
 *  @param count room; receives how many.
 *  @return 0; -ESRCH: all have ended, and none waits; -ECHILD: a forked child, or the ptrace
 *          helper was killed; -ETIMEDOUT: it was stopped for 5 s, and killed with what it traced.
 */
RT_API int rt_trace_read(struct rt_trace *trace, struct rt_trace_event *array, size_t element_size,
                         size_t *count);

/** What it has done so far. @return 0 or -EFAULT. */
RT_API int rt_trace_get_totals(const struct rt_trace *trace, struct rt_trace_totals *out,
                               size_t out_size);

/** Its command, or NULL. Borrowed until rt_trace_free(). */
RT_API struct rt_command *rt_trace_command(struct rt_trace *trace);

/** End a trace, and free its command. Processes run on, unless RT_COMMAND_KILL_ON_FREE; by ptrace,
 *  the helper stays until they end. NULL is allowed. */
RT_API void rt_trace_free(struct rt_trace *trace);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
