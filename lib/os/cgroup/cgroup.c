/* SPDX-License-Identifier: MIT */
/* Makes, ends and removes the cgroup that a command runs in, and says what runs in it. */
#include "os/cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "os/process/pidfd.h"
#include "os/procfs.h"
#include "os/protocol/supervisor_protocol.h"
#include "parse/parse.h"
#include "util/decimal.h"
#include "util/visit.h"

/* Names are "rtrack-PID-NUMBER": the pid of the process that made the cgroup, and a number that is
 * unique among the cgroups of that process. */
#define CGROUP_PREFIX "rtrack-"

#define DEPTH_MAX 8          /* of cgroups below the command's that are looked at */
#define KILL_ROUNDS_MAX 1000 /* processes may fork meanwhile */
#define KILL_ROUNDS_FAST 10  /* the rounds after these wait first */
#define KILL_NAP_NS 1000000
#define KILL_NAPS_MAX 100 /* for killed processes to be gone */

/* Append text. Returns false, and leaves the path as it is, if it does not fit. */
static bool append(char path[1024], const char *text)
{
	size_t at = strlen(path), len = strlen(text);

	if (at + len >= 1024)
		return false;
	memcpy(path + at, text, len + 1);
	return true;
}

int rti_cgroup_file_path(const struct rti_cgroup_dir *dir, const char *name, char out[1024])
{
	out[0] = '\0';
	return append(out, dir->path + 1) && append(out, name) ? 0 : -ENAMETOOLONG;
}

const struct rti_cgroup_dir *rti_cgroup_dir_of(const struct rti_cgroup *group, uint32_t account)
{
	for (uint32_t i = 0; i < group->count; i++)
		if (group->dir[i].accounts & account)
			return &group->dir[i];
	return NULL;
}

/* --- Cgroups below a cgroup. --- */

/* A walk over a cgroup and those below it. */
struct walk {
	const struct rti_context *ctx;
	int (*visit)(void *arg, const struct rti_context *ctx, const char *path);
	void *arg;
	char path[1024]; /* absolute: the cgroup that the walk is at */
	unsigned depth;
};

static int walk_from(struct walk *walk);

static int walk_into(void *arg, const char *name)
{
	struct walk *walk = arg;
	size_t len = strlen(walk->path);
	int err = RTI_CONTINUE;

	if (append(walk->path, "/") && append(walk->path, name))
		err = walk_from(walk);
	walk->path[len] = '\0';
	return err;
}

/* Visits those below before the cgroup itself, so that each can be removed. */
static int walk_from(struct walk *walk)
{
	int err = RTI_CONTINUE;

	if (walk->depth < DEPTH_MAX) {
		walk->depth++;
		err = rti_procfs_list_cgroups(walk->ctx->procfs, walk->path + 1, walk_into, walk);
		walk->depth--;
	}
	/* A cgroup that another process has removed meanwhile is no error. */
	return err > 0 ? err : walk->visit(walk->arg, walk->ctx, walk->path);
}

/* Call visit() for a cgroup and for those below it until it does not return RTI_CONTINUE. Returns
 * what stopped it. */
static int walk_cgroups(const struct rti_cgroup_dir *dir, const struct rti_context *ctx,
                        int (*visit)(void *arg, const struct rti_context *ctx, const char *path),
                        void *arg)
{
	struct walk walk = { .ctx = ctx, .visit = visit, .arg = arg };

	append(walk.path, dir->path);
	return walk_from(&walk);
}

/* --- Processes in it. --- */

/* Read the processes of one cgroup into buf. Returns 0 or -errno. */
static int read_procs(const struct rti_context *ctx, const char *path, struct rti_buf *buf)
{
	char file[1024] = "";

	if (!append(file, path + 1) || !append(file, "/cgroup.procs"))
		return -ENAMETOOLONG;
	return rti_procfs_read(ctx->procfs, RTI_ROOT, file, RTI_SEQ_FILE, buf);
}

static int stop_if_populated(void *arg, const struct rti_context *ctx, const char *path)
{
	(void)arg;
	return read_procs(ctx, path, ctx->buf) == 0 && ctx->buf->len > 0 ? RTI_STOP : RTI_CONTINUE;
}

/* v2 says so of the cgroup and of those below it at once. */
static bool reads_populated(const struct rti_cgroup_dir *dir, const struct rti_context *ctx)
{
	struct rti_scan scan, line;
	char path[1024];

	if (rti_cgroup_file_path(dir, "/cgroup.events", path) < 0 ||
	    rti_procfs_read(ctx->procfs, RTI_ROOT, path, RTI_SINGLE_RECORD, ctx->buf) < 0)
		return false;
	scan = rti_scan(ctx->buf->data, ctx->buf->len);
	while (rti_scan_line(&scan, &line)) {
		if (rti_scan_literal(&line, "populated "))
			return rti_scan_literal(&line, "1");
	}
	return false;
}

static bool is_dir_populated(const struct rti_cgroup_dir *dir, const struct rti_context *ctx)
{
	return dir->hierarchy == 0 ? reads_populated(dir, ctx)
	                           : walk_cgroups(dir, ctx, stop_if_populated, NULL) == RTI_STOP;
}

bool rti_cgroup_is_populated(const struct rti_cgroup *group, const struct rti_context *ctx,
                             bool may_have_left_v2)
{
	for (uint32_t i = 0; i < group->count; i++) {
		if (is_dir_populated(&group->dir[i], ctx))
			return true;
		if (group->dir[i].hierarchy == 0 && !may_have_left_v2)
			return false;
	}
	return false;
}

struct process_check {
	const struct rti_cgroup_dir *dir; /* that it is to be in */
	uint32_t count;
	uint32_t left; /* RTI_CGROUP_ bits of those that it is not in */
};

static int check_entry(void *arg, const struct rti_pid_cgroup *entry)
{
	struct process_check *check = arg;

	for (uint32_t i = 0; i < check->count; i++) {
		const struct rti_cgroup_dir *dir = &check->dir[i];
		struct rti_scan path = entry->path;
		bool is_in =
		    strcmp(dir->name, "/") == 0 || (rti_scan_literal(&path, dir->name) &&
		                                    (path.at == path.end || *path.at == '/'));

		if (dir->hierarchy == entry->hierarchy && !is_in)
			check->left |= dir->accounts;
	}
	return RTI_CONTINUE;
}

/* Check where a process is. Returns 0 or -errno. */
static int check_process(struct process_check *check, const struct rti_context *ctx, int32_t pid)
{
	struct rti_path path = rti_pid_path(pid, "cgroup");
	int err = rti_procfs_read(ctx->procfs, RTI_PROC, path.text, RTI_SINGLE_RECORD, ctx->buf);

	if (err < 0)
		return err;
	return rti_parse_pid_cgroup(ctx->buf->data, ctx->buf->len, check_entry, check);
}

void rti_cgroup_check_process(struct rti_cgroup *group, const struct rti_context *ctx, int32_t pid,
                              uint64_t start_ticks)
{
	struct process_check check = { .dir = group->dir, .count = group->count };
	struct rti_path path = rti_pid_path(pid, "stat");
	struct rti_pid_stat stat;

	if (check_process(&check, ctx, pid) < 0 || !(check.left & ~group->left))
		return;
	/* The kernel shows an exiting process in the root of v1 (proc_cgroup_show()). */
	if (rti_procfs_read(ctx->procfs, RTI_PROC, path.text, RTI_SINGLE_RECORD, ctx->buf) == 0 &&
	    rti_parse_pid_stat(ctx->buf->data, ctx->buf->len, &stat) == 0 &&
	    stat.starttime == start_ticks && stat.state != 'Z' && stat.state != 'X' &&
	    !(stat.flags & RTI_PF_EXITING))
		group->left |= check.left;
}

bool rti_cgroup_dir_has(const struct rti_cgroup_dir *dir, const struct rti_context *ctx,
                        int32_t pid)
{
	struct process_check check = { .dir = dir, .count = 1 };

	return check_process(&check, ctx, pid) == 0 && check.left == 0;
}

/* --- Making. --- */

/* Returns true if a cgroup with this name belongs to a process that has exited. */
static bool is_stale(const char *name)
{
	const char *dash;
	char pid[16] = "";

	if (strncmp(name, CGROUP_PREFIX, strlen(CGROUP_PREFIX)) != 0)
		return false;
	name += strlen(CGROUP_PREFIX);
	dash = strchr(name, '-');
	if (!dash || (size_t)(dash - name) >= sizeof(pid))
		return false;
	memcpy(pid, name, (size_t)(dash - name));
	return rti_path_number(pid) != 0 && kill(rti_path_number(pid), 0) < 0 && errno == ESRCH;
}

static int remove_visited(void *arg, const struct rti_context *ctx, const char *path)
{
	(void)arg;
	(void)ctx;
	rmdir(path);
	return RTI_CONTINUE;
}

/* Remove a directory and those below it, unless a process runs in them. */
static void remove_unused(const struct rti_cgroup_dir *dir, const struct rti_context *ctx)
{
	if (rmdir(dir->path) == 0 || errno == ENOENT || is_dir_populated(dir, ctx))
		return;
	walk_cgroups(dir, ctx, remove_visited, NULL);
}

/* A directory and what to read its children with. */
struct stale_search {
	const struct rti_context *ctx;
	const struct rti_cgroup_dir *parent;
};

static int remove_if_stale(void *arg, const char *name)
{
	const struct stale_search *search = arg;
	struct rti_cgroup_dir dir = { .hierarchy = search->parent->hierarchy };

	if (is_stale(name) && append(dir.path, search->parent->path) && append(dir.path, "/") &&
	    append(dir.path, name))
		remove_unused(&dir, search->ctx);
	return RTI_CONTINUE;
}

void rti_cgroup_remove_stale(const struct rti_cgroup *enclosing, const struct rti_context *ctx)
{
	for (uint32_t i = 0; i < enclosing->count; i++) {
		struct stale_search search = { ctx, &enclosing->dir[i] };

		rti_procfs_list_cgroups(ctx->procfs, enclosing->dir[i].path + 1, remove_if_stale,
		                        &search);
	}
}

/* Write a short text to a file of a directory. Returns 0 or -errno. */
static int write_file(const char *dir_path, const char *name, const char *text)
{
	char path[1024] = "";
	int fd, err = 0;

	if (!append(path, dir_path) || !append(path, name))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Make the directory of one hierarchy and add it. Returns 0 or -errno. */
static int add_dir(struct rti_cgroup *group, const struct rti_cgroup_dir *parent, const char *name,
                   uint32_t accounts)
{
	struct rti_cgroup_dir *dir = &group->dir[group->count];
	bool is_root = strcmp(parent->name, "/") == 0;

	*dir = *parent;
	dir->accounts = accounts;
	if (is_root)
		dir->name[0] = '\0'; /* the root is a slash alone, so name must not add another */
	if (!append(dir->path, name) || !append(dir->name, name))
		return -ENAMETOOLONG;
	if (mkdir(dir->path, 0755) < 0)
		return -errno;
	/* Before Linux 5.11, memory of cgroups below counts only if this is set. */
	if (dir->hierarchy && accounts & RTI_CGROUP_MEMORY)
		write_file(dir->path, "/memory.use_hierarchy", "1");
	group->count++;
	return 0;
}

static void set_name(char name[1024], const struct rti_context *ctx)
{
	char number[RTI_DECIMAL_MAX];

	name[0] = '\0';
	append(name, "/" CGROUP_PREFIX);
	rti_decimal(number, (uint64_t)ctx->platform->getpid());
	append(name, number);
	append(name, "-");
	rti_decimal(number, ctx->platform->monotonic_ns());
	append(name, number);
}

/* Returns what a new cgroup of a hierarchy is to account for; 0: none is to be made. A hierarchy
 * that does more than to account changes how the program runs, so it is used for CPU time alone. */
static uint32_t accounts_to_add(const struct rti_cgroup *group, const struct rti_cgroup_dir *parent,
                                unsigned flags)
{
	uint32_t accounts = parent->accounts;

	if (rti_cgroup_dir_of(group, RTI_CGROUP_CPU))
		accounts &= ~RTI_CGROUP_CPU;
	if (parent->hierarchy == 0) /* the CPU account lacks in the root alone */
		return flags & RTI_CGROUP_V1_ALONE ? 0 : accounts | RTI_CGROUP_CPU;
	if (parent->has_cpuset ||
	    (parent->has_cpu_scheduler &&
	     (flags & RTI_CGROUP_KEEP_SCHEDULING || !(accounts & RTI_CGROUP_CPU))))
		return 0;
	return accounts;
}

int rti_cgroup_make(struct rti_cgroup *group, const struct rti_cgroup *enclosing,
                    const struct rti_context *ctx, unsigned flags)
{
	int err = -EOPNOTSUPP;
	char name[1024];

	*group = (struct rti_cgroup)RTI_CGROUP_INIT;
	if (!enclosing->count)
		return -EOPNOTSUPP;
	group->dir = calloc(RTI_CGROUP_DIRS_MAX, sizeof(*group->dir));
	if (!group->dir)
		return -ENOMEM;
	set_name(name, ctx);
	for (uint32_t i = 0; i < enclosing->count; i++) {
		const struct rti_cgroup_dir *parent = &enclosing->dir[i];
		uint32_t accounts = accounts_to_add(group, parent, flags);
		int failed = accounts ? add_dir(group, parent, name, accounts) : 0;

		if (failed < 0 && accounts & RTI_CGROUP_CPU && err == -EOPNOTSUPP)
			err = failed;
	}
	if (rti_cgroup_dir_of(group, RTI_CGROUP_CPU))
		return 0;
	rti_cgroup_remove(group);
	return err;
}

/* Append text to a longer one. Returns false if it does not fit. */
static bool add_text(char **at, const char *end, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(end - *at) <= len)
		return false;
	memcpy(*at, text, len + 1);
	*at += len;
	return true;
}

int rti_cgroup_describe(const struct rti_cgroup *group, char *out, size_t out_size)
{
	const char *end = out + out_size;
	char *at = out;

	for (uint32_t i = 0; i < group->count; i++) {
		const struct rti_cgroup_dir *dir = &group->dir[i];
		const char kind[] = { dir->hierarchy == 0              ? RTI_DIR_V2
			              : dir->accounts & RTI_CGROUP_CPU ? RTI_DIR_V1_NEEDED
			                                               : RTI_DIR_V1,
			              '\0' };

		if ((i > 0 && !add_text(&at, end, "\n")) || !add_text(&at, end, kind) ||
		    !add_text(&at, end, dir->path))
			return -ENAMETOOLONG;
	}
	return 0;
}

void rti_cgroup_keep_placed(struct rti_cgroup *group, uint32_t placed)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < group->count; i++) {
		if (placed >> i & 1)
			group->dir[kept++] = group->dir[i];
		else
			rmdir(group->dir[i].path);
	}
	group->count = kept;
}

/* --- Ending. --- */

struct killing {
	const struct rti_cgroup_dir *dir;
	struct rti_buf pids; /* of one cgroup */
	unsigned found;      /* in this round */
	int err;             /* of the processes that may not be killed */
};

/* By pidfds that are opened before the processes are found in the cgroup, so that no process that
 * reuses a pid is hit. */
static int kill_visited(void *arg, const struct rti_context *ctx, const char *path)
{
	struct killing *killing = arg;
	struct rti_scan scan;
	int32_t pid;

	if (read_procs(ctx, path, &killing->pids) < 0)
		return RTI_CONTINUE;
	scan = rti_scan(killing->pids.data, killing->pids.len);
	while (rti_scan_i32(&scan, &pid)) {
		int fd = rti_pidfd_open(pid), err = 0;

		if (rti_cgroup_dir_has(killing->dir, ctx, pid)) {
			killing->found++;
			err = rti_pidfd_signal(fd, pid, SIGKILL);
		}
		rti_pidfd_close(fd);
		if (err < 0 && err != -ESRCH)
			killing->err = err;
		rti_scan_skip_line(&scan);
	}
	return RTI_CONTINUE;
}

/* Kill what is in one directory, until there is nothing left, or only what cannot be killed or does
 * not end. */
static int kill_one_by_one(const struct rti_cgroup_dir *dir, const struct rti_context *ctx)
{
	const struct timespec nap = { .tv_nsec = KILL_NAP_NS };
	struct killing killing = { .dir = dir };
	unsigned naps = 0;

	for (unsigned rounds = 0; rounds < KILL_ROUNDS_MAX && naps < KILL_NAPS_MAX; rounds++) {
		killing.found = 0;
		killing.err = 0;
		walk_cgroups(dir, ctx, kill_visited, &killing);
		if (killing.found == 0)
			break;
		if (rounds >= KILL_ROUNDS_FAST) {
			nanosleep(&nap, NULL);
			naps++;
		}
	}
	rti_buf_free(&killing.pids);
	return killing.err;
}

/* A process that has left v2 may still be in a directory of v1. */
int rti_cgroup_kill(const struct rti_cgroup *group, const struct rti_context *ctx)
{
	const struct rti_cgroup_dir *tasks = rti_cgroup_dir_of(group, RTI_CGROUP_TASKS);
	int err = group->count ? 0 : -ENOENT;

	for (uint32_t i = 0; i < group->count; i++) {
		const struct rti_cgroup_dir *dir = &group->dir[i];
		int failed;

		if (dir->hierarchy == 0 && write_file(dir->path, "/cgroup.kill", "1") == 0)
			continue;
		if (!is_dir_populated(dir, ctx))
			continue;
		/* Forks fail meanwhile, so that there are no more processes than are killed. */
		if (tasks)
			write_file(tasks->path, "/pids.max", "0");
		failed = kill_one_by_one(dir, ctx);
		if (tasks)
			write_file(tasks->path, "/pids.max", "max");
		err = failed < 0 ? failed : err;
	}
	return err;
}

void rti_cgroup_remove(struct rti_cgroup *group)
{
	rti_cgroup_keep_placed(group, 0);
	free(group->dir);
	group->dir = NULL;
}

void rti_cgroup_reclaim(const struct rti_cgroup *group, const struct rti_context *ctx)
{
	for (uint32_t i = 0; i < group->count; i++)
		remove_unused(&group->dir[i], ctx);
}

void rti_cgroup_close(struct rti_cgroup *group, const struct rti_context *ctx)
{
	rti_procfs_close_file(ctx->procfs, &group->cpu);
	rti_procfs_close_file(ctx->procfs, &group->cpu_split);
	free(group->dir);
	group->dir = NULL;
	group->count = 0;
}
