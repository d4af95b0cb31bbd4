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
 *
 * With PSS it also reads smaps_rollup. */
#include "driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The clock ids of the CPU clocks of a process, as in the kernel's include/linux/posix-timers.h. */
#define CLOCK_OF(pid, which) ((clockid_t)(~(unsigned int)(pid) << 3 | (which)))
#define CLOCK_PROF 0
#define CLOCK_SCHED 2

static const char *const system_paths[] = {
	"/proc/stat", "/proc/meminfo", "/proc/diskstats", "/proc/net/dev", "/proc/loadavg",
};
#define SYSTEM_FILES (sizeof(system_paths) / sizeof(system_paths[0]))

struct member {
	pid_t pid;
	int stat, statm, io, smaps_rollup;
	int64_t clock;
};

static struct member *members;
static size_t member_count, member_room;
static int system_fds[SYSTEM_FILES], loadavg = -1;
static bool has_stat, only_changed, with_pss, is_system;
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
	members[member_count++] = (struct member){
		.pid = pid,
		.stat = has_stat ? open_pid_file(pid, "stat") : -1,
		.statm = open_pid_file(pid, "statm"),
		.io = open_pid_file(pid, "io"),
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

void open_target(const struct target *target)
{
	raise_descriptor_limit();
	has_stat = strcmp(target->variant, "stat") == 0;
	only_changed = strcmp(target->variant, "changed") == 0;
	with_pss = target->with_pss;
	is_system = target->kind == KIND_SYSTEM;
	for (size_t i = 0; is_system && i < SYSTEM_FILES; i++)
		system_fds[i] = open_file(system_paths[i]);
	if (is_system)
		return;
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
	if (has_stat) {
		read_file(m->stat);
	} else {
		int64_t clock = read_cpu_clock_ns(m->pid, CLOCK_SCHED);

		if (only_changed && clock == m->clock)
			return;
		m->clock = clock;
		read_cpu_clock_ns(m->pid, CLOCK_PROF);
	}
	read_file(m->statm);
	read_file(m->io);
	if (with_pss)
		read_file(m->smaps_rollup);
}

int64_t sample_target(void)
{
	for (size_t i = 0; is_system && i < SYSTEM_FILES; i++)
		read_file(system_fds[i]);
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
