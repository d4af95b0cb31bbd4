/* SPDX-License-Identifier: MIT */
/** @file
 *  librtrack: what a process tree, the system, a cgroup or a program has used. All calls on one
 *  page: @ref mainpage. Each figure: @ref units. Each call at length: @ref details.
 *
 *  | Question | Call |
 *  |---|---|
 *  | Peak of a block of code | rt_tracker_mark(), rt_tracker_since() |
 *  | Why a figure is missing | rt_tracker_obstacle() |
 *  | Which process uses most | rt_tracker_top() |
 *  | Rate from two samples | rt_diff(), rt_row_diff() for one process |
 *  | Free beside a wait on another thread | rt_command_interrupt(), then rt_command_free() |
 *  | A pid that is reused | rt_process.start_ticks; a tracker never takes it for its own |
 *  | Memory that two runs agree on | rt_outcome.peak_needed_bytes |
 *  | What an unprivileged user loses | @ref details_rights |
 *  | CPU of one thread | rt_getrusage() with RT_RUSAGE_THREAD |
 *  | A container | rt_cgroup_tracker_new() |
 *
 *  Rules for every call (@ref details_rules):
 *  - **Errors.** 0 or a negative errno value; `errno` is not set. Common to all, so not listed:
 *    -EFAULT (a pointer is NULL), -EINVAL (wrong size, unknown flag or option), -E2BIG (options
 *    longer than the library knows), -ENOMEM, -EMFILE, -ENFILE. Outputs are untouched on error,
 *    unless the call says more.
 *  - **Partial loss is no error.** A figure is exact (`valid`), at least (`partial`), about
 *    (`estimated`) or unknown, and then 0: RT_QUALITY().
 *  - **Units.** Nanoseconds and bytes, unless the name says otherwise. A counter never falls; a
 *    gauge holds for one instant.
 *  - **Sizes.** In inputs `size` is sizeof, and 0 elsewhere the default. For outputs, `out_size`
 *    or `element_size` is sizeof; the library sets `size` to what it filled. Structs grow at the
 *    end.
 *  - **Constants** are plain literals; a bit is as wide as its mask.
 *  - **Threads.** One thread at a time for each handle, unless its struct says more. Parent and
 *    child of a fork(2) may both use a tracker.
 *  - **Free last:** when no other call with the handle is in progress.
 *  - **Since.** What says nothing is there since 0.1; a group or struct speaks for what is in it.
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
