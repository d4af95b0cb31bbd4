/* SPDX-License-Identifier: MIT */
/** @file
 *  librtrack: resource usage of a process tree, or of the whole system.
 *
 *  Rules for every call in this header:
 *  - **Errors.** Calls return 0 or a negative errno value, and do not set `errno`. rt_strerror()
 *    returns the text of an error.
 *  - **Partial loss is not an error.** If a figure cannot be read, its bit in `valid` is clear;
 *    rt_tracker_obstacle() has the reason. A figure that could not be read is never reported as a
 *    valid 0.
 *  - **Units.** Times are in nanoseconds and memory is in bytes, unless the name says otherwise.
 *  - **Counters** never fall. They count from the start of what they describe. **Gauges** hold
 *    for one instant.
 *  - **Sizes.** Input structs carry their size in the first field, which the caller sets. Zero in
 *    any other field means the default. For outputs, the caller passes `sizeof` as an argument.
 *    The library fills the part that both sides know, zeroes the rest, and stores in `size` the
 *    number of bytes that it filled: see RT_HAS_FIELD(). Structs only ever grow at the end.
 *  - **Constants** are plain literals, which generators of bindings read. A bit is as wide as
 *    its mask, so `mask & ~RT_HAS_CPU` clears that bit alone. Any other value is an `int`.
 *  - **Threads.** Use a tracker on one thread at a time. Different trackers may be used on
 *    different threads. A command and its tracker may be used on several threads at once. The
 *    library has no global state. After fork(), parent and child may both go on using a tracker,
 *    independently of each other. A command is for the parent alone.
 *  - **Free last.** Free a handle when no other call with it is in progress and none will follow.
 *    To end a wait in another thread first, call rt_command_interrupt(). At the end of the process
 *    no handle need be freed: the kernel reclaims everything.
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
