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
 *  since it was set. In a forked child, recorders and their trackers are -ECHILD.
 *  @sa @ref details_recorder
 *  @since 0.3
 *  @{ */

/** Samples a tracker into a ring. Any thread may make any call but rt_recorder_free(). */
struct rt_recorder;

/** rt_recorder_opts.flags: a full ring drops its oldest sample, not the new one. */
#define RT_RECORDER_KEEP_NEWEST 0x1U
/** rt_recorder_opts.flags: keep rows for rt_recorder_processes(). */
#define RT_RECORDER_PROCESSES 0x2U

/** How to record. */
struct rt_recorder_opts {
	uint32_t size;        /**< sizeof(struct rt_recorder_opts). */
	uint32_t flags;       /**< RT_RECORDER_ bits. */
	uint64_t interval_ns; /**< Between ticks; 0: 1 s; at least 1 ms. Nothing drifts. */
	/** Between peak polls; 0: as rt_command_wait(); UINT64_MAX: none; at least 1 ms. */
	uint64_t peak_poll_ns;
	uint32_t capacity;   /**< Samples of the ring; 0: 4096, 6 MB. */
	uint32_t rows;       /**< Rows of each sample; 0: 64. */
	uint32_t wake_after; /**< Samples before rt_recorder_fd() wakes; 0: 1. */
	uint32_t reserved;   /**< 0. */
};

/** What a recorder has done. */
struct rt_recorder_totals {
	uint32_t size;    /**< Filled. */
	uint32_t waiting; /**< Gauge. Samples to be read. */
	uint64_t taken;   /**< Counter. With `missed`, all ticks, and the last sample. */
	uint64_t dropped; /**< Counter. Of these, lost: the ring was full. */
	uint64_t missed;  /**< Counter. Ticks without a sample. */
};

/** Begin to record.
 *
 *  The recorder owns the tracker and frees it; it borrows that of a command, and either may be
 *  freed first. Meanwhile rt_sample() is -EBUSY, and any thread may make the other calls of the
 *  tracker. The thread blocks all signals.
 *
 *  @param out receives the recorder, NULL on failure.
 *  @param t the tracker, still the caller's on failure.
 *  @return 0; -EBUSY: it has a recorder; -EINVAL: an option is too small, or `wake_after` above
 *          `capacity`; -EOPNOTSUPP: no list of processes; -EAGAIN: no thread. Cost: a thread, all
 *          memory; a tick as rt_sample(). */
RT_API int rt_recorder_new(struct rt_recorder **out, struct rt_tracker *t,
                           const struct rt_recorder_opts *opts);

/** Descriptor for an event loop: readable while `wake_after` samples wait, and at the end.
 *  @return it, or -ECHILD. */
RT_API int rt_recorder_fd(const struct rt_recorder *r);

/** Take the samples that wait, oldest first, for rt_diff(). Does not wait.
 *
 *  @param samples receives them, each @p element_size after the last: a stride.
 *  @param element_size sizeof(struct rt_metrics) or more.
 *  @param count room; receives how many.
 *  @return 0; -ESRCH: none, and no more will come. Cost: no system call. */
RT_API int rt_recorder_read(struct rt_recorder *r, struct rt_metrics *samples, size_t element_size,
                            size_t *count);

/** The newest sample, read before or not; it stays. @return 0; -ENODATA: none yet. */
RT_API int rt_recorder_latest(const struct rt_recorder *r, struct rt_metrics *out, size_t out_size);

/** Rows of the sample of @p monotonic_ns, most CPU time so far first: a list. Kept for `capacity`
 *  samples. @return 0; -ENODATA: not there any more; -EOPNOTSUPP: no RT_RECORDER_PROCESSES. */
RT_API int rt_recorder_processes(const struct rt_recorder *r, uint64_t monotonic_ns,
                                 struct rt_process *array, size_t element_size, size_t *count);

/** What it has done so far. @return 0 or -ECHILD. */
RT_API int rt_recorder_get_totals(const struct rt_recorder *r, struct rt_recorder_totals *out,
                                  size_t out_size);

/** Take a last sample and end the thread. What waits can be read. @return 0 or -ECHILD. */
RT_API int rt_recorder_stop(struct rt_recorder *r);

/** Stop and free it, and a tracker that no command owns. NULL is allowed. */
RT_API void rt_recorder_free(struct rt_recorder *r);

/** Largest values since a mark. Without a recorder, a short peak between two calls may be missed.
 */
struct rt_peaks {
	uint32_t size;                 /**< Filled. */
	uint32_t flags;                /**< 0. */
	uint64_t valid;                /**< RT_HAS_ bits: exact. */
	uint64_t partial;              /**< RT_HAS_ bits: at least. */
	uint64_t estimated;            /**< RT_HAS_ bits: about. */
	uint64_t monotonic_ns;         /**< Of the mark, CLOCK_MONOTONIC. */
	uint64_t peak_footprint_bytes; /**< RT_HAS_PEAK_FOOTPRINT. */
	uint64_t peak_needed_bytes;    /**< RT_HAS_PEAK_NEEDED. */
	uint64_t peak_rss_bytes;       /**< RT_HAS_PEAK_RSS: of one process. */
	uint64_t processes_peak;       /**< RT_HAS_PROCESSES_PEAK. */
	char label[64];                /**< Of the mark, cut to fit. */
};

/** Set a mark (64 at most): rt_tracker_since() returns the peaks that samples, peak polls and
 *  a recorder have seen since. With a recorder, on any thread.
 *
 *  @param t a pid tracker; takes a first sample if it has none.
 *  @param label for people, or NULL.
 *  @param id receives its number.
 *  @return 0; -ENOSPC: 64 are set; else as rt_tracker_glance(). Cost: that, and `status` of each
 *          member. */
RT_API int rt_tracker_mark(struct rt_tracker *t, const char *label, uint64_t *id);

/** Peaks since a mark, which stays. @return 0; -ENOENT: no such mark; else as rt_tracker_mark(). */
RT_API int rt_tracker_since(struct rt_tracker *t, uint64_t id, struct rt_peaks *out,
                            size_t out_size);

/** Remove a mark. @return 0; -ENOENT: no such mark. */
RT_API int rt_tracker_unmark(struct rt_tracker *t, uint64_t id);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
