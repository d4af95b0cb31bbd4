/* SPDX-License-Identifier: MIT */
/* The files of the simulated kernel: its /proc, and the CPU account of a cgroup. */
#include "simulated_kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define FILES_MAX 256
#define FD_ROOT 2
#define FD_PROC 3

enum entry {
	ENTRY_STAT,
	ENTRY_STATM,
	ENTRY_IO,
	ENTRY_STATUS,
	ENTRY_CHILDREN,
	ENTRY_TASKS,
	ENTRY_ROOT,
	ENTRY_CGROUP,
	ENTRY_LAST_PID,
	ENTRIES
};

static const char *const entry_names[ENTRIES] = { "stat",   "statm",    "io",
	                                          "status", "children", "task",
	                                          ".",      "cpu.stat", "sys/kernel/ns_last_pid" };

/* A descriptor belongs to its process or thread, even after the pid is reused. */
static struct file {
	bool is_open, is_listed;
	int tid;
	enum entry entry;
	uint64_t starttime;
} files[FILES_MAX];

static int find_entry(const char *name)
{
	int entry = 0;

	while (entry < ENTRIES && strcmp(name, entry_names[entry]) != 0)
		entry++;
	return entry < ENTRIES ? entry : -ENOENT;
}

/* Finds the process or thread of "PID/FILE" or "PID/task/TID/FILE". Sets *entry to FILE. */
static const struct sim_thread *find_thread(const char *path, const char **entry)
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

	while (fd < FILES_MAX && files[fd].is_open)
		fd++;
	if (fd == FILES_MAX)
		ck_abort_msg("too many open descriptors: they leak");
	files[fd] = (struct file){ .is_open = true, .entry = entry };
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
	sim_pass_time();
	if (dirfd == FD_ROOT)
		return strcmp(path, SIM_CGROUP "/cpu.stat") == 0 ? open_file(ENTRY_CGROUP, NULL)
		                                                 : -ENOENT;
	if (strcmp(path, ".") == 0)
		return open_file(ENTRY_ROOT, NULL);
	if (strcmp(path, entry_names[ENTRY_LAST_PID]) == 0)
		return sim.rules.has_last_pid_file ? open_file(ENTRY_LAST_PID, NULL) : -ENOENT;
	thread = find_thread(path, &name);
	entry = thread ? find_entry(name) : -ENOENT;
	return entry < 0 ? entry : open_file((enum entry)entry, thread);
}

static const struct sim_process *find_process(int fd, const struct sim_thread **thread)
{
	const struct sim_process *p = sim_find(files[fd].tid, thread);

	return p && (*thread)->starttime == files[fd].starttime ? p : NULL;
}

static char *write_text(char *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len);
	return at + len;
}

static char *write_number(char *at, uint64_t number)
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

/* do_task_stat(): a husk still has its pid, name and start time. */
static char *write_stat(char *at, const struct sim_process *p, const struct sim_thread *thread)
{
	const bool is_leader = thread == &p->leader;
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

	at = write_number(at, (uint64_t)thread->tid);
	at = write_text(at, p->execs % 2 ? "(p) x) " : "(p) ");
	at = write_text(at, p->is_husk || p->is_dead                              ? "X "
	                    : p->is_zombie || (is_leader && p->has_leader_exited) ? "Z "
	                                                                          : "S ");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		at = write_number(at, p->is_husk ? 0 : fields[i]);
	at = write_number(at, thread->starttime);
	at = write_text(at, "0 1 0 1 1 0 0 0 0 0 ");
	at = write_number(at, p->ignores_sigchld ? UINT64_C(1) << (SIGCHLD - 1) : 0);
	return write_text(at, is_leader ? "0 0 0 0 17\n" : "0 0 0 0 -1\n");
}

static char *write_children(char *at, int tid)
{
	for (int i = 0; i < sim.count; i++) {
		if (sim.p[i].parent_tid == tid && !sim.p[i].is_husk)
			at = write_number(at, (uint64_t)sim.p[i].leader.tid);
	}
	return at;
}

static char *write_status(char *at, const struct sim_process *p, const struct sim_thread *thread)
{
	at = write_number(write_text(at, "Tgid:\t"), (uint64_t)p->leader.tid);
	at = write_text(at, "\nUid:\t0\t0\t0\t0");
	if (!p->is_zombie && !(p->has_leader_exited && thread == &p->leader))
		at = write_text(at, "\nVmHWM:\t400 kB");
	return write_text(at, p->ignores_sigchld ? "\nSigIgn:\t0000000000010000\n"
	                                         : "\nSigIgn:\t0000000000000000\n");
}

static char *write_io(char *at, const struct sim_process *p)
{
	at = write_text(at, "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: ");
	return write_text(write_number(at, p->written) - 1, "\ncancelled_write_bytes: 0\n");
}

static char *write_cgroup(char *at)
{
	uint64_t us = sim_cgroup_account_ns() / 1000;

	at = write_number(write_text(at, "usage_usec "), us) - 1;
	at = write_number(write_text(at, "\nuser_usec "), us - us / 3) - 1;
	return write_text(write_number(write_text(at, "\nsystem_usec "), us / 3) - 1, "\n");
}

/* Writes the current contents of the file. Returns the end of the text, or NULL if the process of
 * the file has been removed. */
static char *write_file(char *at, int fd, bool *is_refused)
{
	const struct sim_thread *thread;
	const struct sim_process *p;

	if (files[fd].entry == ENTRY_CGROUP)
		return write_cgroup(at);
	/* There are few pids here, so that the last one would repeat too soon. */
	if (files[fd].entry == ENTRY_LAST_PID)
		return write_number(at, sim.now);
	p = find_process(fd, &thread);
	if (!p)
		return files[fd].entry == ENTRY_CHILDREN ? at : NULL;
	*is_refused = files[fd].entry == ENTRY_IO && p->hides_io;
	switch (files[fd].entry) {
	case ENTRY_STAT:
		return write_stat(at, p, thread);
	case ENTRY_STATM:
		return write_text(at, p->is_zombie ? "0 0 0 0 0 0 0\n" : "200 100 50 1 0 80 0\n");
	case ENTRY_IO:
		return write_io(at, p);
	case ENTRY_STATUS:
		return write_status(at, p, thread);
	default:
		return write_children(at, thread->tid);
	}
}

static ssize_t sim_pread(int fd, void *buf, size_t len, off_t offset)
{
	bool is_refused = false;
	char text[1024];
	const char *end;
	ssize_t size;

	sim_pass_time();
	end = write_file(text, fd, &is_refused);
	if (is_refused)
		return -EACCES;
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

static char *write_dirent(char *at, int number)
{
	struct dirent64 *entry = (void *)at;

	entry->d_reclen = 32;
	*write_number(entry->d_name, (uint64_t)number) = '\0';
	*strchr(entry->d_name, ' ') = '\0';
	return at + entry->d_reclen;
}

static ssize_t sim_getdents(int fd, void *buf, size_t len)
{
	const struct sim_thread *thread;
	const struct sim_process *p;
	char *at = buf;

	sim_pass_time();
	if (files[fd].is_listed || len < 32 * (SIM_PROCESSES_MAX + SIM_THREADS_MAX))
		return 0;
	files[fd].is_listed = true;
	for (int i = 0; files[fd].entry == ENTRY_ROOT && i < sim.count; i++)
		at = write_dirent(at, sim.p[i].leader.tid);
	p = files[fd].entry == ENTRY_TASKS ? find_process(fd, &thread) : NULL;
	if (p)
		at = write_dirent(at, p->leader.tid);
	for (int i = 0; p && i < p->thread_count; i++)
		at = write_dirent(at, p->threads[i].tid);
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
	sim_pass_time();
	if (!find_thread(path, &entry))
		return -ENOENT;
	return strcmp(entry, "children") != 0 || sim.rules.has_children ? 0 : -ENOENT;
}

static int sim_space(const char *root, const char *path, struct rti_space *out)
{
	(void)root;
	(void)path;
	(void)out;
	return -ENOENT;
}

static int sim_close(int fd)
{
	if (fd > FD_PROC)
		files[fd].is_open = false;
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

/* The CPU clock of a whole process. Only the pid of the leader finds it. */
int sim_cpu_clock(int32_t pid, struct rti_cpu_clock *out)
{
	const struct sim_thread *thread;
	const struct sim_process *p;

	sim_pass_time();
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
