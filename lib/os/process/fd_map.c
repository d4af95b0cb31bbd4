/* SPDX-License-Identifier: MIT */
/* Which descriptors a program gets, and under which numbers. */
#include "os/process/fd_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#define FD_CLOSE (-1) /* rt_fd.source */
#define FD_NULL (-2)
#define FIRST_OTHER 3 /* after the standard descriptors */

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static bool is_target(const struct rt_fd *fds, size_t count, int fd)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i].target == fd)
			return true;
	return false;
}

int rti_fd_map_check(const struct rt_fd *fds, size_t count)
{
	if (count > RTI_FD_MAP_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		if (fds[i].target < 0 || fds[i].source < FD_NULL ||
		    is_target(fds, i, fds[i].target))
			return -EINVAL;
	return 0;
}

int rti_fd_map_copy(const struct rt_fd *fds, size_t count, int fd)
{
	int from = FIRST_OTHER;

	for (;;) {
		int copy = fcntl(fd, F_DUPFD_CLOEXEC, from);

		if (copy < 0) /* EINVAL: from is above the limit of descriptors */
			return errno == EINVAL ? -EMFILE : -errno;
		if (!is_target(fds, count, copy))
			return copy;
		close(copy);
		from = copy + 1;
	}
}

int rti_fd_map_open(struct rti_fd_map *map, const struct rt_fd *fds, size_t count)
{
	int copy = 0;

	*map = (struct rti_fd_map){ .fds = fds };
	if (count == 0)
		return 0;
	map->copies = malloc(count * sizeof(*map->copies));
	if (!map->copies)
		return -ENOMEM;
	for (; map->count < count; map->count++) {
		int source = fds[map->count].source;

		copy = source < 0 ? source : rti_fd_map_copy(fds, count, source);
		if (source >= 0 && copy < 0)
			break;
		map->copies[map->count] = copy;
	}
	if (map->count == count)
		return 0;
	rti_fd_map_close(map);
	return copy;
}

void rti_fd_map_close(struct rti_fd_map *map)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->copies[i] >= 0)
			close(map->copies[i]);
	free(map->copies);
	*map = (struct rti_fd_map){ 0 };
}

int rti_fd_map_add(const struct rti_fd_map *map, posix_spawn_file_actions_t *actions)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < map->count; i++) {
		int target = map->fds[i].target;

		if (map->copies[i] == FD_CLOSE)
			err = posix_spawn_file_actions_addclose(actions, target);
		else if (map->copies[i] == FD_NULL)
			err = posix_spawn_file_actions_addopen(actions, target, "/dev/null", O_RDWR,
			                                       0);
		else
			err = posix_spawn_file_actions_adddup2(actions, map->copies[i], target);
	}
	return err;
}

static int add_closes_from(posix_spawn_file_actions_t *actions, int from)
{
#if RTI_HAS_CLOSEFROM
	int error = posix_spawn_file_actions_addclosefrom_np(actions, from);

	/* from is above RLIMIT_NOFILE. E.g.: the one to keep is the last that there may be. */
	return error == EBADF ? 0 : error;
#else
	(void)actions;
	(void)from;
	return ENOSYS;
#endif
}

static bool is_kept(const int *keep, size_t count, int fd)
{
	for (size_t i = 0; i < count; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

/* Returns the largest number that stays open, 2 at least. */
static int last_kept(const struct rti_fd_map *map, const int *keep, size_t keep_count)
{
	int last = FIRST_OTHER - 1;

	for (size_t i = 0; i < map->count; i++)
		if (map->fds[i].target > last)
			last = map->fds[i].target;
	for (size_t i = 0; i < keep_count; i++)
		if (keep[i] > last)
			last = keep[i];
	return last;
}

/* It is no error to close a descriptor that is not open. */
int rti_fd_map_add_closes(const struct rti_fd_map *map, const int *keep, size_t keep_count,
                          posix_spawn_file_actions_t *actions)
{
	int last = last_kept(map, keep, keep_count), err = 0;

	for (int fd = FIRST_OTHER; err == 0 && fd < last; fd++)
		if (!is_kept(keep, keep_count, fd) && !is_target(map->fds, map->count, fd))
			err = posix_spawn_file_actions_addclose(actions, fd);
	return err ? err : add_closes_from(actions, last + 1);
}

int rti_fd_map_put(int fd, int target)
{
	/* dup2(2) onto itself does nothing. */
	if (fd == target)
		return fcntl(fd, F_SETFD, 0) < 0 ? errno : 0;
	return dup2(fd, target) < 0 ? errno : 0;
}

int rti_fd_map_apply(const struct rti_fd_map *map)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < map->count; i++) {
		int target = map->fds[i].target, fd = map->copies[i];

		if (fd == FD_CLOSE) {
			close(target);
			continue;
		}
		if (fd == FD_NULL)
			fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		err = fd < 0 ? errno : rti_fd_map_put(fd, target);
	}
	return err;
}

void rti_fd_map_apply_closes(const struct rti_fd_map *map, const int *keep, size_t keep_count)
{
	int last = last_kept(map, keep, keep_count);
	long limit = sysconf(_SC_OPEN_MAX);

	for (int fd = FIRST_OTHER; fd < last; fd++)
		if (!is_kept(keep, keep_count, fd) && !is_target(map->fds, map->count, fd))
			close(fd);
	if (syscall(SYS_close_range, last + 1, ~0u, 0) == 0)
		return;
	/* One by one, before Linux 5.9 or where a filter of system calls is in the way. */
	for (int fd = last + 1; fd < limit && fd < RTI_FD_MAP_MAX; fd++)
		close(fd);
}
