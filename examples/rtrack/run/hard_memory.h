/* SPDX-License-Identifier: MIT */
/* Has the kernel hold the memory of a command, by the cgroup of its own. */
#ifndef HARD_MEMORY_H
#define HARD_MEMORY_H

#include <stdint.h>

#include <rtrack/rtrack.h>

/* Set the limit of the cgroup that a command was started in: a twentieth above this one, by 16 MiB
 * at least. Returns 0; -ENOENT if it has no such cgroup, or that has no account of memory; or
 * another -errno. */
int hard_memory_set(const struct rt_command *command, uint64_t limit_bytes);

/* Find out whether that works here, with a program that does nothing. Returns likewise. */
int hard_memory_try(uint64_t limit_bytes);

#endif
