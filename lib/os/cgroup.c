/* SPDX-License-Identifier: MIT */
/* The cgroup that a command runs in, and the kernel's account of everything in it. */
#include "os/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/cpu_time.h"
#include "os/procfs_path.h"
#include "parse/parse.h"
#include "util/decimal.h"
#include "util/visit.h"

/* Names are "rtrack-PID-NUMBER": the pid of the process that made the cgroup, and a number that is
 * unique among the cgroups of that process. */
#define CGROUP_PREFIX "rtrack-"

/* Append text. If it does not fit, the path becomes "", which mkdir() refuses. */
static void append(char path[1024], const char *text, size_t len)
{
	size_t at = strlen(path);

	if (at + len + 1 > 1024) {
		path[0] = '\0';
		return;
	}
	memcpy(path + at, text, len);
	path[at + len] = '\0';
}

static void append_number(char path[1024], uint64_t number)
{
	char text[RTI_DECIMAL_MAX];

	append(path, text, (size_t)(rti_decimal(text, number) - text));
}

struct mount_search {
	char self[1024]; /* path of this process in the hierarchy */
	char *found;     /* where to put the absolute path */
};

/* If a cgroup2 mount shows this process's cgroup, set search->found to its path below the mount
 * point. */
static int match_cgroup2_mount(void *arg, const struct rti_mount *mount)
{
	struct mount_search *search = arg;
	size_t root_len = (size_t)(mount->root.end - mount->root.at);
	const char *below = search->self;

	if (strcmp(mount->type, "cgroup2") != 0 || mount->is_cut)
		return RTI_CONTINUE;
	if (root_len > 1) {
		if (strncmp(below, mount->root.at, root_len) != 0 ||
		    (below[root_len] && below[root_len] != '/'))
			return RTI_CONTINUE;
		below += root_len;
	}
	search->found[0] = '\0';
	append(search->found, mount->mount_point, strlen(mount->mount_point));
	append(search->found, below, strlen(below));
	return RTI_STOP;
}

/* Find the directory of the cgroup that this process is in. Returns 0 or -errno. */
static int find_self(const struct rti_context *ctx, char out[1024])
{
	struct mount_search search = { .found = out };
	struct rti_scan path;
	int err =
	    rti_procfs_read(ctx->procfs, RTI_PROC, "self/cgroup", RTI_SINGLE_RECORD, ctx->buf);

	if (err == 0)
		err = rti_parse_pid_cgroup(ctx->buf->data, ctx->buf->len, &path);
	if (err < 0)
		return err;
	rti_scan_copy(&path, search.self, sizeof(search.self));
	err = rti_procfs_read(ctx->procfs, RTI_PROC, "self/mountinfo", RTI_SEQ_FILE, ctx->buf);
	if (err < 0)
		return err;
	err = rti_parse_mountinfo(ctx->buf->data, ctx->buf->len, match_cgroup2_mount, &search);
	return err == RTI_STOP && out[0] ? 0 : -ENOENT;
}

/* Remove a cgroup if the process that made it has exited. If another process still runs in it,
 * rmdir() fails and the cgroup stays. */
static int remove_if_stale(void *arg, const char *name)
{
	const char *parent = arg;
	char path[1024] = "", pid[16] = "";
	const char *dash;

	if (strncmp(name, CGROUP_PREFIX, strlen(CGROUP_PREFIX)) != 0)
		return RTI_CONTINUE;
	name += strlen(CGROUP_PREFIX);
	dash = strchr(name, '-');
	if (!dash || (size_t)(dash - name) >= sizeof(pid))
		return RTI_CONTINUE;
	memcpy(pid, name, (size_t)(dash - name));
	if (rti_path_number(pid) == 0 || kill(rti_path_number(pid), 0) == 0 || errno != ESRCH)
		return RTI_CONTINUE;
	append(path, parent, strlen(parent));
	append(path, "/" CGROUP_PREFIX, 1 + strlen(CGROUP_PREFIX));
	append(path, name, strlen(name));
	rmdir(path);
	return RTI_CONTINUE;
}

int rti_cgroup_enclosing(struct rti_cgroup *group, const struct rti_context *ctx)
{
	*group = (struct rti_cgroup)RTI_CGROUP_INIT;
	if (find_self(ctx, group->path) == 0)
		return 0;
	group->path[0] = '\0';
	return -EOPNOTSUPP;
}

int rti_cgroup_make(struct rti_cgroup *group, const struct rti_cgroup *enclosing,
                    const struct rti_context *ctx)
{
	const char *parent = enclosing->path;

	*group = (struct rti_cgroup)RTI_CGROUP_INIT;
	if (!*parent)
		return -EOPNOTSUPP;
	rti_procfs_list(ctx->procfs, RTI_ROOT, parent + 1, remove_if_stale,
	                (void *)(uintptr_t)parent);
	append(group->path, parent, strlen(parent));
	append(group->path, "/" CGROUP_PREFIX, 1 + strlen(CGROUP_PREFIX));
	append_number(group->path, (uint64_t)ctx->platform->getpid());
	append(group->path, "-", 1);
	append_number(group->path, ctx->platform->monotonic_ns());
	if (mkdir(group->path, 0755) < 0) {
		group->path[0] = '\0';
		return -errno;
	}
	return 0;
}

/* Read a file of the cgroup into the scratch buffer, through file unless that is NULL. Returns 0 or
 * -errno. */
static int read_file(const struct rti_cgroup *group, const struct rti_context *ctx,
                     const char *name, struct rti_file *file)
{
	char path[1024];
	int err =
	    file ? rti_procfs_read_if_open(ctx->procfs, RTI_SINGLE_RECORD, file, ctx->buf) : -EBADF;

	if (err != -EBADF) /* an open file needs no path */
		return err;
	if (!group->path[0])
		return -ENOENT;
	path[0] = '\0';
	append(path, group->path + 1, strlen(group->path + 1)); /* relative to RTI_ROOT */
	append(path, name, strlen(name));
	if (file)
		return rti_procfs_read_cached(ctx->procfs, RTI_ROOT, path, RTI_SINGLE_RECORD, file,
		                              ctx->buf);
	return rti_procfs_read(ctx->procfs, RTI_ROOT, path, RTI_SINGLE_RECORD, ctx->buf);
}

int rti_cgroup_read_cpu(struct rti_cgroup *group, const struct rti_context *ctx, uint64_t *user_ns,
                        uint64_t *system_ns)
{
	struct rti_cgroup_cpu cpu = { 0 };
	int err = read_file(group, ctx, "/cpu.stat", &group->cpu);

	if (err == 0)
		err = rti_parse_cgroup_cpu(ctx->buf->data, ctx->buf->len, &cpu);
	if (err < 0)
		return err;
	/* usage_usec is exact and its split is sampled, so keep the sum. */
	rti_split_cpu(cpu.usage_us * 1000, cpu.user_us, cpu.user_us + cpu.system_us, user_ns,
	              system_ns);
	return 0;
}

uint64_t rti_cgroup_read_usage(struct rti_cgroup *group, const struct rti_context *ctx)
{
	uint64_t user_ns, system_ns;
	int err = rti_cgroup_read_cpu(group, ctx, &user_ns, &system_ns);

	rti_procfs_close_file(ctx->procfs, &group->cpu);
	return err == 0 ? user_ns + system_ns : UINT64_MAX;
}

int rti_cgroup_read_number(const struct rti_cgroup *group, const struct rti_context *ctx,
                           const char *name, uint64_t *number)
{
	struct rti_scan scan;
	int err = read_file(group, ctx, name, NULL);

	if (err < 0)
		return err;
	scan = rti_scan(ctx->buf->data, ctx->buf->len);
	return rti_scan_u64(&scan, number) ? 0 : -EBADMSG;
}

int rti_cgroup_read_io(const struct rti_cgroup *group, const struct rti_context *ctx,
                       uint64_t *read_bytes, uint64_t *write_bytes)
{
	struct rti_cgroup_io io;
	int err = read_file(group, ctx, "/io.stat", NULL);

	if (err == 0)
		err = rti_parse_cgroup_io(ctx->buf->data, ctx->buf->len, &io);
	if (err < 0)
		return err;
	*read_bytes = io.read_bytes;
	*write_bytes = io.write_bytes;
	return 0;
}

bool rti_cgroup_is_populated(const struct rti_cgroup *group, const struct rti_context *ctx)
{
	struct rti_scan scan, line;

	if (read_file(group, ctx, "/cgroup.events", NULL) < 0)
		return false;
	scan = rti_scan(ctx->buf->data, ctx->buf->len);
	while (rti_scan_line(&scan, &line)) {
		if (rti_scan_literal(&line, "populated "))
			return rti_scan_literal(&line, "1");
	}
	return false;
}

int rti_cgroup_kill(const struct rti_cgroup *group)
{
	char path[1024] = "";
	int fd, err = 0;

	if (!group->path[0])
		return -ENOENT;
	append(path, group->path, strlen(group->path));
	append(path, "/cgroup.kill", 12);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, "1", 1) < 0)
		err = -errno;
	close(fd);
	return err;
}

void rti_cgroup_remove(struct rti_cgroup *group)
{
	if (group->path[0])
		rmdir(group->path);
	group->path[0] = '\0';
}

void rti_cgroup_close(struct rti_cgroup *group, const struct rti_context *ctx)
{
	rti_procfs_close_file(ctx->procfs, &group->cpu);
	group->path[0] = '\0';
}
