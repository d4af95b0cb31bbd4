/* SPDX-License-Identifier: MIT */
/* The kernel's account of the memory of a command that has a cgroup of its own. */
#ifndef OWN_CGROUP_H
#define OWN_CGROUP_H

#include <rtrack/rtrack.h>

/* Follow the memory of the cgroup that the command was started in. Returns NULL if it has none of
 * its own, or if that has no account of memory. Free it with rt_tracker_free(). */
struct rt_tracker *own_cgroup_memory(const struct rt_command *command);

#endif
