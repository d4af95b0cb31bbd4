/* SPDX-License-Identifier: MIT */
/** @file
 *  Recorders and marks. */
#ifndef RTRACK_RECORDER_H
#define RTRACK_RECORDER_H

#include <rtrack/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rt_metrics;
struct rt_process;
struct rt_tracker;

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

#ifdef __cplusplus
}
#endif

#endif
