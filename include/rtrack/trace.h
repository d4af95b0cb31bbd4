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

#ifdef __cplusplus
}
#endif

#endif
