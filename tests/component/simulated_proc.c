/* SPDX-License-Identifier: MIT */
/* The files of the simulated kernel: its /proc, and the account of a cgroup. */
#include "simulated_kernel.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FILES 256
#define FD_ROOT 2
#define FD_PROC 3

enum entry {
	LEAF_STAT,
	LEAF_IO,
	LEAF_STATUS,
	LEAF_CHILDREN,
	LEAF_TASKS,
	LEAF_ALL,
	LEAF_CGROUP,
	LEAF_LAST_PID,
	LEAVES
};

static const char *const leaf_names[LEAVES] = {
	"stat", "io", "status", "children", "task", ".", "cpu.stat", "sys/kernel/ns_last_pid"
};

/* A descriptor stays with its process or thread, whoever has the number now. */
static struct file {
	int is_open, is_listed, tid;
	enum entry entry;
	uint64_t starttime;
} files[MOST_FILES];

static int find_leaf(const char *name)
{
	int entry = 0;

	while (entry < LEAVES && strcmp(name, leaf_names[entry]) != 0)
		entry++;
	return entry < LEAVES ? entry : -ENOENT;
}

/* "PID/leaf" or "PID/task/TID/leaf": whom it is about. */
static const struct sim_thread *look_up(const char *path, const char **entry)
{
	const struct sim_thread *thread = NULL;
	const struct sim_process *p;
	char *rest;

	p = sim_find((int)strtol(path, &rest, 10), &thread);
	if (!p || *rest != '/')
		return NULL;
	if (strncmp(rest, "/task/", 6) == 0 &&
	    sim_find((int)strtol(rest + 6, &rest, 10), &thread) != p)
		return NULL;
	*entry = rest + 1;
	return thread;
}

static int open_file(enum entry entry, const struct sim_thread *thread)
{
	int fd = FD_PROC + 1;

	while (fd < MOST_FILES && files[fd].is_open)
		fd++;
	if (fd == MOST_FILES)
		ck_abort_msg("descriptors leak");
	files[fd] = (struct file){ .is_open = 1, .entry = entry };
	if (thread) {
		files[fd].tid = thread->tid;
		files[fd].starttime = thread->starttime;
	}
	return fd;
}

static int sim_open(int dirfd, const char *path, int flags)
{
	const struct sim_thread *thread;
	const char *name = path;
	int entry;

	(void)flags;
	if (dirfd == AT_FDCWD)
		return FD_ROOT;
	if (dirfd == FD_ROOT && strcmp(path, "proc") == 0)
		return FD_PROC;
	sim_go_on();
	if (dirfd == FD_ROOT)
		return strcmp(path, SIM_LEAF "/cpu.stat") == 0 ? open_file(LEAF_CGROUP, NULL)
		                                               : -ENOENT;
	if (strcmp(path, ".") == 0)
		return open_file(LEAF_ALL, NULL);
	if (strcmp(path, leaf_names[LEAF_LAST_PID]) == 0)
		return sim.rules.last_pid_source ? open_file(LEAF_LAST_PID, NULL) : -ENOENT;
	thread = look_up(path, &name);
	entry = thread ? find_leaf(name) : -ENOENT;
	return entry < 0 ? entry : open_file((enum entry)entry, thread);
}

static const struct sim_process *process_of(int fd, const struct sim_thread **thread)
{
	const struct sim_process *p = sim_find(files[fd].tid, thread);

	return p && (*thread)->starttime == files[fd].starttime ? p : NULL;
}

static char *put_text(char *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len);
	return at + len;
}

static char *put_number(char *at, uint64_t number)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n > 0)
		*at++ = digits[--n];
	*at++ = ' ';
	return at;
}

/* do_task_stat(): what is left of a husk is who it was. */
static char *put_stat(char *at, const struct sim_process *p, const struct sim_thread *thread)
{
	const int is_leader = thread == &p->leader;
	const uint64_t fields[] = {
		(uint64_t)p->ppid,
		1,
		1,
		0,
		0,
		0,
		p->faults,
		p->reaped_faults,
		0,
		0,
		p->user_ns / SIM_TICK_NS,
		p->system_ns / SIM_TICK_NS,
		p->reaped_user_ns / SIM_TICK_NS,
		p->reaped_system_ns / SIM_TICK_NS,
		20,
		0,
		(uint64_t)p->thread_count + 1,
		0,
	};

	at = put_number(at, (uint64_t)thread->tid);
	at = put_text(at, p->execs % 2 ? "(p) x) " : "(p) ");
	at = put_text(at, p->is_husk || p->is_dead                           ? "X "
	                  : p->is_zombie || (is_leader && p->is_leader_gone) ? "Z "
	                                                                     : "S ");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		at = put_number(at, p->is_husk ? 0 : fields[i]);
	at = put_number(at, thread->starttime);
	at = put_text(at, "0 1 0 1 1 0 0 0 0 0 ");
	at = put_number(at, p->ignores_sigchld ? UINT64_C(1) << (SIGCHLD - 1) : 0);
	return put_text(at, is_leader ? "0 0 0 0 17\n" : "0 0 0 0 -1\n");
}

static char *put_children(char *at, int tid)
{
	for (int i = 0; i < sim.count; i++) {
		if (sim.p[i].parent_tid == tid && !sim.p[i].is_husk)
			at = put_number(at, (uint64_t)sim.p[i].leader.tid);
	}
	return at;
}

static char *put_status(char *at, const struct sim_process *p, const struct sim_thread *thread)
{
	at = put_number(put_text(at, "Tgid:\t"), (uint64_t)p->leader.tid);
	if (!p->is_zombie && !(p->is_leader_gone && thread == &p->leader))
		at = put_text(at, "\nVmHWM:\t400 kB");
	return put_text(at, p->ignores_sigchld ? "\nSigIgn:\t0000000000010000\n"
	                                       : "\nSigIgn:\t0000000000000000\n");
}

static char *put_io(char *at, const struct sim_process *p)
{
	at = put_text(at, "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: ");
	return put_text(put_number(at, p->written) - 1, "\ncancelled_write_bytes: 0\n");
}

static char *put_cgroup(char *at)
{
	uint64_t us = sim_leaf_account_ns() / 1000;

	at = put_number(put_text(at, "usage_usec "), us) - 1;
	at = put_number(put_text(at, "\nuser_usec "), us - us / 3) - 1;
	return put_text(put_number(put_text(at, "\nsystem_usec "), us / 3) - 1, "\n");
}

/* The file as the kernel would write it now. NULL when its process is gone. */
static char *put_file(char *at, int fd)
{
	const struct sim_thread *thread;
	const struct sim_process *p;

	if (files[fd].entry == LEAF_CGROUP)
		return put_cgroup(at);
	/* numbers are few here, so that this would come round too soon */
	if (files[fd].entry == LEAF_LAST_PID)
		return put_number(at, sim.now);
	p = process_of(fd, &thread);
	if (!p)
		return files[fd].entry == LEAF_CHILDREN ? at : NULL;
	switch (files[fd].entry) {
	case LEAF_STAT:
		return put_stat(at, p, thread);
	case LEAF_IO:
		return put_io(at, p);
	case LEAF_STATUS:
		return put_status(at, p, thread);
	default:
		return put_children(at, thread->tid);
	}
}

static ssize_t sim_pread(int fd, void *buf, size_t len, off_t offset)
{
	char text[1024];
	const char *end;
	ssize_t size;

	sim_go_on();
	end = put_file(text, fd);
	if (!end)
		return -ESRCH;
	size = end - text - offset;
	if (size <= 0)
		return 0;
	if ((size_t)size > len)
		ck_abort_msg("a short buffer is not simulated");
	memcpy(buf, text + offset, (size_t)size);
	return size;
}

static char *put_entry(char *at, int number)
{
	struct dirent64 *entry = (void *)at;

	entry->d_reclen = 32;
	*put_number(entry->d_name, (uint64_t)number) = '\0';
	*strchr(entry->d_name, ' ') = '\0';
	return at + entry->d_reclen;
}

static ssize_t sim_getdents(int fd, void *buf, size_t len)
{
	const struct sim_thread *thread;
	const struct sim_process *p;
	char *at = buf;

	sim_go_on();
	if (files[fd].is_listed || len < 32 * (SIM_MOST + SIM_THREADS))
		return 0;
	files[fd].is_listed = 1;
	for (int i = 0; files[fd].entry == LEAF_ALL && i < sim.count; i++)
		at = put_entry(at, sim.p[i].leader.tid);
	p = files[fd].entry == LEAF_TASKS ? process_of(fd, &thread) : NULL;
	if (p)
		at = put_entry(at, p->leader.tid);
	for (int i = 0; p && i < p->thread_count; i++)
		at = put_entry(at, p->threads[i].tid);
	return at - (char *)buf;
}

static ssize_t sim_readlink(int dirfd, const char *path, char *buf, size_t len)
{
	(void)dirfd;
	(void)path;
	(void)buf;
	(void)len;
	return -ENOENT;
}

static int sim_access(int dirfd, const char *path)
{
	const char *entry;

	(void)dirfd;
	if (strcmp(path, "self") == 0)
		return 0;
	sim_go_on();
	if (!look_up(path, &entry))
		return -ENOENT;
	return strcmp(entry, "children") != 0 || sim.rules.has_children ? 0 : -ENOENT;
}

static int sim_space(const char *path, struct rti_space *out)
{
	(void)path;
	(void)out;
	return -ENOENT;
}

static int sim_close(int fd)
{
	if (fd > FD_PROC)
		files[fd].is_open = 0;
	return 0;
}

const struct rti_procfs_ops sim_files = {
	.open = sim_open,
	.pread = sim_pread,
	.getdents = sim_getdents,
	.readlink = sim_readlink,
	.access = sim_access,
	.space = sim_space,
	.close = sim_close,
};

/* Of a whole process, by its leader's number alone. */
int sim_cpu_clock(int32_t pid, struct rti_cpu_clock *out)
{
	const struct sim_thread *thread;
	const struct sim_process *p;

	sim_go_on();
	p = sim_find(pid, &thread);
	if (!p || p->is_husk || thread != &p->leader)
		return -ESRCH;
	*out = (struct rti_cpu_clock){ p->user_ns + p->system_ns, p->user_ns,
		                       p->user_ns + p->system_ns };
	return 0;
}

void sim_now(struct rti_now *out)
{
	*out = (struct rti_now){ sim.now, sim.now, sim.now };
}

uint64_t sim_thread_cpu_ns(void)
{
	return sim.overhead_ns;
}
