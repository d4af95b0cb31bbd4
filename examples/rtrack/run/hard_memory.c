/* SPDX-License-Identifier: MIT */
/* Has the kernel hold the memory of a command, by the cgroup of its own.
 *
 * The limit of the cgroup is a net below that of rtrack, which looks 50 times a second. It lies
 * above, since the kernel also charges page cache and its own memory. E.g.: a command that
 * allocates 10 GiB within one look is killed by the kernel. */
#include "hard_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "own_cgroup.h"
#include "process/cgroup_mounts.h"

#define MARGIN_PART 20
#define MARGIN_MIN (UINT64_C(16) << 20)

static int write_number(const char *path, uint64_t value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;
	char text[24];
	int len;

	if (fd < 0)
		return -errno;
	len = snprintf(text, sizeof(text), "%" PRIu64, value);
	if (write(fd, text, (size_t)len) != len)
		err = -errno;
	close(fd);
	return err;
}

/* Set the limit below one mount, if it shows the cgroup. */
static int set_below(const struct cgroup_mount *mount, const char *cgroup, uint64_t bytes)
{
	size_t root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
	char path[2400];

	if (strncmp(cgroup, mount->root, root) != 0)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s%s/%s", mount->point, cgroup + root,
	         mount->is_v2 ? "memory.max" : "memory.limit_in_bytes");
	return write_number(path, bytes);
}

int hard_memory_set(const struct rt_command *command, uint64_t limit_bytes)
{
	uint64_t margin = limit_bytes / MARGIN_PART;
	struct cgroup_mount mount;
	char cgroup[1200];
	FILE *list;
	int err = -ENOENT;

	if (!own_cgroup_of_memory(command, cgroup, sizeof(cgroup)))
		return -ENOENT;
	margin = margin > MARGIN_MIN ? margin : MARGIN_MIN;
	limit_bytes = limit_bytes > INT64_MAX - margin ? INT64_MAX : limit_bytes + margin;
	list = cgroup_mounts_open();
	while (list && err == -ENOENT && cgroup_mounts_next(list, &mount))
		err = set_below(&mount, cgroup, limit_bytes);
	if (list)
		fclose(list);
	return err;
}

int hard_memory_try(uint64_t limit_bytes)
{
	static const char *const argv[] = { "sleep", "100", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .argv = argv,
		                              .accounting = RT_ACCOUNTING_CGROUP };
	struct rt_command *command;
	int err = rt_command_start(&command, &opts);

	if (err < 0)
		return err == -EOPNOTSUPP ? -ENOENT : err;
	err = hard_memory_set(command, limit_bytes);
	rt_command_kill(command);
	while (rt_command_wait(command, -1, NULL, 0) == -EINTR)
		;
	rt_command_free(command);
	return err;
}
