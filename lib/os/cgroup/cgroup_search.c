/* SPDX-License-Identifier: MIT */
/* Finds the cgroup of the caller in each hierarchy. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/cgroup/cgroup.h"
#include "os/cgroup/cgroup_mount.h"
#include "parse/parse.h"
#include "util/visit.h"

/* Set what the controllers of a hierarchy account for. They come from /proc/PID/cgroup or from the
 * options of a mount. E.g.: "rw,cpu,cpuacct". */
static void set_accounts(struct rti_cgroup_dir *dir, struct rti_scan controllers)
{
	struct rti_scan item;

	while (rti_scan_item(&controllers, &item)) {
		if (rti_scan_is(&item, "cpuacct"))
			dir->accounts |= RTI_CGROUP_CPU;
		else if (rti_scan_is(&item, "memory"))
			dir->accounts |= RTI_CGROUP_MEMORY;
		else if (rti_scan_is(&item, "blkio"))
			dir->accounts |= RTI_CGROUP_IO;
		else if (rti_scan_is(&item, "pids"))
			dir->accounts |= RTI_CGROUP_TASKS;
		else if (rti_scan_is(&item, "cpu"))
			dir->has_cpu_scheduler = true;
		else if (rti_scan_is(&item, "cpuset"))
			dir->has_cpuset = true;
	}
}

/* Add a hierarchy that accounts for something. Its path follows from the mounts. */
static int add_hierarchy(void *arg, const struct rti_pid_cgroup *entry)
{
	struct rti_cgroup *group = arg;
	struct rti_cgroup_dir dir = { .hierarchy = entry->hierarchy };

	if (entry->hierarchy)
		set_accounts(&dir, entry->controllers);
	else
		dir.accounts =
		    RTI_CGROUP_CPU | RTI_CGROUP_MEMORY | RTI_CGROUP_IO | RTI_CGROUP_TASKS;
	if (!dir.accounts || group->count == RTI_CGROUP_DIRS_MAX ||
	    (size_t)(entry->path.end - entry->path.at) >= sizeof(dir.name))
		return RTI_CONTINUE;
	rti_scan_copy(&entry->path, dir.name, sizeof(dir.name));
	group->dir[group->count++] = dir;
	return RTI_CONTINUE;
}

/* Returns the directory of the hierarchy that a mount shows, or NULL. A controller belongs to one
 * hierarchy, so one that both have is enough. */
static struct rti_cgroup_dir *hierarchy_of(struct rti_cgroup *group, const struct rti_mount *mount)
{
	struct rti_cgroup_dir shown = { 0 };
	bool is_v2 = strcmp(mount->type, "cgroup2") == 0;

	if (!is_v2 && strcmp(mount->type, "cgroup") != 0)
		return NULL;
	set_accounts(&shown, mount->super_options);
	for (uint32_t i = 0; i < group->count; i++) {
		struct rti_cgroup_dir *dir = &group->dir[i];

		if (is_v2 ? dir->hierarchy == 0
		          : dir->hierarchy != 0 && (dir->accounts & shown.accounts))
			return dir;
	}
	return NULL;
}

static bool is_read_only(const struct rti_scan *options)
{
	struct rti_scan list = *options, item;

	return rti_scan_item(&list, &item) && rti_scan_is(&item, "ro");
}

/* Set the path of a directory from the first mount that shows it, and rather from one that can be
 * written to. A newline separates directories in the arguments of the supervisor. */
static int match_mount(void *arg, const struct rti_mount *mount)
{
	struct rti_cgroup_dir *dir = hierarchy_of(arg, mount);
	bool read_only = is_read_only(&mount->options) || is_read_only(&mount->super_options);
	const char *below;
	size_t len, below_len;

	if (!dir || mount->is_cut || mount->mount_point[0] != '/' ||
	    strchr(mount->mount_point, '\n') || (dir->path[0] && (read_only || !dir->is_read_only)))
		return RTI_CONTINUE;
	below = rti_cgroup_below_mount(dir->name, &mount->root);
	len = strlen(mount->mount_point);
	below_len = below ? strlen(below) : 0;
	if (!below || len + below_len >= sizeof(dir->path))
		return RTI_CONTINUE;
	memcpy(dir->path, mount->mount_point, len);
	memcpy(dir->path + len, below, below_len + 1);
	dir->is_read_only = read_only;
	return RTI_CONTINUE;
}

/* v2 comes first, and has what no hierarchy of v1 has. Both may account for CPU time. The root of
 * v2 does so since Linux 5.8 only. */
static void arrange(struct rti_cgroup *group, const struct rti_context *ctx)
{
	struct rti_cgroup_dir first = { 0 };
	uint32_t in_v1 = 0, kept = 0;
	char path[1024];

	for (uint32_t i = 0; i < group->count; i++) {
		struct rti_cgroup_dir *dir = &group->dir[i];

		in_v1 |= dir->hierarchy ? dir->accounts : 0;
		if (!dir->path[0])
			continue;
		if (dir->hierarchy == 0)
			first = *dir;
		else
			group->dir[kept++] = *dir;
	}
	group->count = kept;
	if (!first.path[0])
		return;
	first.accounts &= ~in_v1 | RTI_CGROUP_CPU;
	if (rti_cgroup_file_path(&first, "/cpu.stat", path) < 0 ||
	    rti_procfs_access(ctx->procfs, RTI_ROOT, path) < 0)
		first.accounts &= ~RTI_CGROUP_CPU;
	memmove(group->dir + 1, group->dir, kept * sizeof(*group->dir));
	group->dir[0] = first;
	group->count++;
}

static int find_dirs(struct rti_cgroup *group, const struct rti_context *ctx)
{
	struct rti_mount *mount = malloc(sizeof(*mount));
	int err = mount ? 0 : -ENOMEM;

	if (err == 0)
		err = rti_procfs_read(ctx->procfs, RTI_PROC, "self/cgroup", RTI_SINGLE_RECORD,
		                      ctx->buf);
	if (err == 0)
		err = rti_parse_pid_cgroup(ctx->buf->data, ctx->buf->len, add_hierarchy, group);
	if (err == 0)
		err = rti_procfs_read(ctx->procfs, RTI_PROC, "self/mountinfo", RTI_SEQ_FILE,
		                      ctx->buf);
	if (err == 0)
		err = rti_parse_mountinfo(ctx->buf->data, ctx->buf->len, mount, match_mount, group);
	free(mount);
	if (err == 0)
		arrange(group, ctx);
	return err;
}

int rti_cgroup_enclosing(struct rti_cgroup *group, const struct rti_context *ctx)
{
	int err;

	*group = (struct rti_cgroup)RTI_CGROUP_INIT;
	group->dir = calloc(RTI_CGROUP_DIRS_MAX, sizeof(*group->dir));
	if (!group->dir)
		return -ENOMEM;
	err = find_dirs(group, ctx);
	if (err == 0 && group->count > 0)
		return 0;
	rti_cgroup_close(group, ctx);
	return err == -ENOMEM || rti_is_out_of_files(err) ? err : -EOPNOTSUPP;
}
