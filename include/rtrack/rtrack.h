/* SPDX-License-Identifier: MIT */
/** @file
 *  librtrack: what a process tree, the system, a cgroup or a program has used. All calls on one
 *  page: @ref mainpage. Each figure: @ref units. Each call at length: @ref details.
 *
 *  - What a pid, the system, a program used: rt_pid_tracker_new(), rt_system_tracker_new(),
 *    rt_sample() in tracker.h; rt_command_start() in command.h
 *  - Peak of a block of code: rt_recorder_new(), rt_tracker_mark(), rt_tracker_since() in
 *    recorder.h
 *  - Why a figure is missing: rt_tracker_obstacle() in tracker.h
 *  - Which process uses most: rt_tracker_top() in process.h; of the machine, RT_OPT_LIST_PROCESSES
 *  - Rate from two samples: rt_diff() in tracker.h, rt_row_diff() for one process
 *  - Free beside a wait on another thread: rt_command_interrupt(), join that thread,
 *    rt_command_free() in command.h
 *  - A pid that is reused: a tracker ignores it; else compare rt_process.start_ticks
 *  - Memory that two runs agree on: rt_outcome.peak_needed_bytes
 *  - What an unprivileged user loses: @ref details_rights
 *  - CPU of the calling thread: rt_getrusage() in process.h
 *  - A container: rt_cgroup_tracker_new() in tracker.h; from inside, RT_OPT_OWN_LIMITS
 *
 *  Rules for every call (@ref details_rules):
 *  - **Errors.** 0 or a negative errno value; `errno` is not set. Common to all:
 *    -EFAULT (a pointer is NULL), -EINVAL (wrong size, unknown flag or option), -E2BIG (options
 *    longer than the library knows), -ENOMEM, -EMFILE, -ENFILE. Outputs are untouched on error,
 *    unless the call says more.
 *  - **Partial loss is no error.** A figure is exact (`valid`), a lower bound (`partial`),
 *    approximate (`estimated`), or unknown: its field means nothing. RT_QUALITY() says which.
 *  - **Units.** Nanoseconds and bytes, unless the name says otherwise. A counter never falls; a
 *    gauge holds for one instant.
 *  - **Sizes.** Inputs: set `size` to sizeof; other zeros mean defaults. NULL options of a tracker
 *    or recorder: defaults. For outputs, `out_size` or `element_size` is sizeof; the library sets
 *    `size` to what it filled. Structs grow at the end. Char arrays and messages end in NUL.
 *  - **Lists** have a row for each item of the last sample, `element_size` apart. `*count`:
 *    capacity in (if 0, the array may be NULL); total items out, possibly more. They read no file;
 *    -EOPNOTSUPP: no such list, or not wanted; -ENODATA: no sample, or the list could not be read.
 *  - **Descriptors** for an event loop are borrowed until the handle is freed: only poll them.
 *  - **Constants** are plain literals; a bit is as wide as its mask.
 *  - **Threads.** One thread at a time for each handle, unless its struct says more. Parent and
 *    child of a fork(2) may both use a tracker that has neither recorder nor command.
 *  - **Free last:** when no other call with the handle is in progress.
 *  - **Since.** Without @@since: 0.1. That of a group or struct covers its members. Calls without
 *    a cost have none.
 */
#ifndef RTRACK_H
#define RTRACK_H

#include <rtrack/common.h>
#include <rtrack/process.h>
#include <rtrack/tracker.h>
#include <rtrack/system.h>
#include <rtrack/command.h>
#include <rtrack/trace.h>
#include <rtrack/recorder.h>
#include <rtrack/fields.h>

#endif
