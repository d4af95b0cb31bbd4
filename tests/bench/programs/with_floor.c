/* SPDX-License-Identifier: MIT */
/* The lower bound of the cost: a sample that reads what the figures need, and does not use it.
 *
 * Every file stays open, and pread() reads it into one buffer. The members of a tree are found
 * once. A sample of a tree reads loadavg, where the last pid shows whether any process has forked.
 * For each member it reads, depending on the variant:
 *
 *   stat       stat, statm and io
 *   clocks     two CPU clocks of the process instead of stat
 *   changed    one CPU clock; and the rest of "clocks" only if that has advanced since the last
 *              sample
 *   clock      one CPU clock, and no file of the process: which members have run
 *   default    as "clocks", and stat and status: all that a tracker has by default. PSS is not in
 *              it, since the library reads that as its budget of CPU time allows
 *
 * With PSS it also reads smaps_rollup.
 *
 * A sample of the system reads the files of its figures. With the variant "default", these are all
 * that a tracker has by default: pressure, the number of processes, and the space of all file
 * systems on storage or in memory, too. What a directory or a table of mounts shows by one call is
 * asked for by that call. */
#include "driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* The clock ids of the CPU clocks of a process, as in the kernel's include/linux/posix-timers.h. */
#define CLOCK_OF(pid, which) ((clockid_t)(~(unsigned int)(pid) << 3 | (which)))
#define CLOCK_PROF 0
#define CLOCK_SCHED 2

static const char *const system_paths[] = {
	"/proc/stat",    "/proc/meminfo",      "/proc/diskstats",       "/proc/net/dev",
	"/proc/loadavg", "/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io",
};
#define SYSTEM_FILES (sizeof(system_paths) / sizeof(system_paths[0]))
#define FEW_SYSTEM_FILES 5 /* without those of pressure */
#define MOUNTS_MAX 64

struct member {
	pid_t pid;
	int stat, statm, io, status, smaps_rollup;
	int64_t clock;
};

static struct member *members;
static size_t member_count, member_room;
static int system_fds[SYSTEM_FILES], loadavg = -1, proc = -1, mountinfo = -1;
static size_t system_files;
static char *mount_points[MOUNTS_MAX];
static size_t mounts;
static bool has_clocks, only_changed, only_clock, is_default, with_pss, is_system;
static char buffer[1 << 16];

static void read_file(int fd)
{
	if (pread(fd, buffer, sizeof(buffer), 0) < 0)
		fail_with_errno("read");
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail_with_errno(path);
	return fd;
}

static int open_pid_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open_file(path);
}

static void add_member(pid_t pid)
{
	if (member_count == member_room) {
		member_room = member_room ? 2 * member_room : 64;
		members = reallocarray(members, member_room, sizeof(*members));
		if (!members)
			fail_with_errno("memory");
	}
	if (only_clock) {
		members[member_count++] = (struct member){ .pid = pid };
		return;
	}
	members[member_count++] = (struct member){
		.pid = pid,
		.stat = has_clocks && !is_default ? -1 : open_pid_file(pid, "stat"),
		.statm = open_pid_file(pid, "statm"),
		.io = open_pid_file(pid, "io"),
		.status = is_default ? open_pid_file(pid, "status") : -1,
		.smaps_rollup = with_pss ? open_pid_file(pid, "smaps_rollup") : -1,
		.clock = -1,
	};
}

static void add_children(pid_t pid)
{
	char path[64];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "re");
	if (!file)
		fail_with_errno(path);
	while (fscanf(file, "%d", &child) == 1)
		add_member(child);
	fclose(file);
}

static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool is_mount_known(const struct stat *mount, dev_t *devices)
{
	for (size_t i = 0; i < mounts; i++)
		if (devices[i] == mount->st_dev)
			return true;
	devices[mounts] = mount->st_dev;
	return false;
}

/* Those with blocks, each once. */
static void find_mounts(void)
{
	FILE *file = setmntent("/proc/self/mounts", "re");
	static dev_t devices[MOUNTS_MAX];
	struct mntent *entry;

	if (!file)
		fail_with_errno("/proc/self/mounts");
	while ((entry = getmntent(file)) && mounts < MOUNTS_MAX) {
		struct statvfs space;
		struct stat mount;

		if (statvfs(entry->mnt_dir, &space) < 0 || stat(entry->mnt_dir, &mount) < 0 ||
		    space.f_blocks == 0 || is_mount_known(&mount, devices))
			continue;
		mount_points[mounts] = strdup(entry->mnt_dir);
		if (!mount_points[mounts++])
			fail_with_errno("memory");
	}
	endmntent(file);
}

static void open_system(bool has_all)
{
	for (size_t i = 0; i < (has_all ? SYSTEM_FILES : FEW_SYSTEM_FILES); i++) {
		int fd = open(system_paths[i], O_RDONLY | O_CLOEXEC);

		/* A kernel may lack pressure. */
		if (fd < 0 && i < FEW_SYSTEM_FILES)
			fail_with_errno(system_paths[i]);
		if (fd >= 0)
			system_fds[system_files++] = fd;
	}
	if (!has_all)
		return;
	proc = open_file("/proc");
	mountinfo = open_file("/proc/self/mountinfo");
	find_mounts();
}

static void sample_system(void)
{
	struct pollfd changes = { .fd = mountinfo, .events = POLLPRI };
	struct statvfs space;
	struct stat links;

	for (size_t i = 0; i < system_files; i++)
		read_file(system_fds[i]);
	if (proc < 0)
		return;
	fstat(proc, &links);
	poll(&changes, 1, 0);
	for (size_t i = 0; i < mounts; i++)
		statvfs(mount_points[i], &space);
}

void open_target(const struct target *target)
{
	raise_descriptor_limit();
	has_clocks = strcmp(target->variant, "stat") != 0;
	is_default = strcmp(target->variant, "default") == 0;
	only_changed = strcmp(target->variant, "changed") == 0;
	only_clock = strcmp(target->variant, "clock") == 0;
	with_pss = target->with_pss;
	is_system = target->kind == KIND_SYSTEM;
	if (is_system) {
		open_system(is_default);
		return;
	}
	add_member(target->pid);
	if (target->kind == KIND_TREE) {
		loadavg = open_file("/proc/loadavg");
		for (size_t i = 0; i < member_count; i++)
			add_children(members[i].pid);
	}
}

static int64_t read_cpu_clock_ns(pid_t pid, unsigned int which)
{
	struct timespec used;

	if (clock_gettime(CLOCK_OF(pid, which), &used) < 0)
		fail_with_errno("clock");
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void sample_member(struct member *m)
{
	if (has_clocks) {
		int64_t clock = read_cpu_clock_ns(m->pid, CLOCK_SCHED);

		if (only_clock || (only_changed && clock == m->clock))
			return;
		m->clock = clock;
		read_cpu_clock_ns(m->pid, CLOCK_PROF);
	}
	if (m->stat >= 0)
		read_file(m->stat);
	read_file(m->statm);
	read_file(m->io);
	if (m->status >= 0)
		read_file(m->status);
	if (with_pss)
		read_file(m->smaps_rollup);
}

int64_t sample_target(void)
{
	if (is_system)
		sample_system();
	if (loadavg >= 0)
		read_file(loadavg);
	for (size_t i = 0; i < member_count; i++)
		sample_member(&members[i]);
	return (int64_t)member_count;
}

const char *describe_sample(void)
{
	return "-";
}
