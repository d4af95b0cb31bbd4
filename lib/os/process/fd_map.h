/* SPDX-License-Identifier: MIT */
/* Which descriptors a program gets, and under which numbers. */
#ifndef RTI_FD_MAP_H
#define RTI_FD_MAP_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>

struct rt_fd;

/* Whether posix_spawn(3) can close all descriptors from a number on:
 * posix_spawn_file_actions_addclosefrom_np() is in glibc since 2.34, and not in musl. */
#ifdef __GLIBC__
#define RTI_HAS_CLOSEFROM __GLIBC_PREREQ(2, 34)
#else
#define RTI_HAS_CLOSEFROM 0
#endif

/* Targets may be sources of other entries. E.g.: 3 and 4 are exchanged. So the child duplicates
 * copies of the sources, and no copy has the number of a target. */
struct rti_fd_map {
	const struct rt_fd *fds;
	size_t count;
	int *copies; /* of the sources; -1 and -2 as in struct rt_fd */
};

#define RTI_FD_MAP_MAX 65536

/* Returns 0, or -EINVAL if there are more than RTI_FD_MAP_MAX, if an entry is out of range, or if
 * two have the same target. */
int rti_fd_map_check(const struct rt_fd *fds, size_t count);

/* Copy the sources. Returns 0; -EBADF if one is not open; -EMFILE; -ENOMEM. */
int rti_fd_map_open(struct rti_fd_map *map, const struct rt_fd *fds, size_t count);
void rti_fd_map_close(struct rti_fd_map *map);

/* Have the child get the descriptors of the map. Returns 0 or a positive errno. */
int rti_fd_map_add(const struct rti_fd_map *map, posix_spawn_file_actions_t *actions);

/* Have the child close all others but 0, 1, 2 and the ones to keep; 0: none. Returns 0 or a
 * positive errno: ENOSYS without RTI_HAS_CLOSEFROM. */
int rti_fd_map_add_closes(const struct rti_fd_map *map, const int *keep, size_t keep_count,
                          posix_spawn_file_actions_t *actions);

/* The same two in a child that was cloned. The first returns 0 or a positive errno. */
int rti_fd_map_apply(const struct rti_fd_map *map);
void rti_fd_map_apply_closes(const struct rti_fd_map *map, const int *keep, size_t keep_count);

/* In a child that was cloned: have the program get a descriptor under this number, which may be its
 * own. Returns 0 or a positive errno. */
int rti_fd_map_put(int fd, int target);

/* Copy a descriptor to a number that is no target. Returns the copy, which is close-on-exec, or
 * -errno. */
int rti_fd_map_copy(const struct rt_fd *fds, size_t count, int fd);

#endif
