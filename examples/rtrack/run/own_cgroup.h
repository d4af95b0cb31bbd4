/* SPDX-License-Identifier: MIT */
/* The kernel's account of the memory of a command that has a cgroup of its own. */
#ifndef OWN_CGROUP_H
#define OWN_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include <rtrack/rtrack.h>

/* Get the path of the cgroup that the command was started in, below the root of the hierarchy that
 * accounts for memory. Returns false if it has none of its own. */
bool own_cgroup_of_memory(const struct rt_command *command, char *path, size_t size);

/* Follow the memory of the cgroup that the command was started in. Returns NULL if it has none of
 * its own, or if that has no account of memory. Free it with rt_tracker_free(). */
struct rt_tracker *own_cgroup_memory(const struct rt_command *command);

#endif
