/* SPDX-License-Identifier: MIT */
/* Which thread has made a call, as /proc shows it.
 *
 * Name, parent, CPU and host name are read at each call. User id, namespaces and program are read
 * once: they change only by calls that the filter stops (see filter.c), and by an exec. Not even a
 * process with every right can change them for another one. The cgroup is looked up at each call:
 * another process may move this one. */
#include "tracer/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "os/process/pidfd.h"
#include "os/process/program_file.h"
#include "parse/parse.h"
#include "util/decimal.h"

#define FIRST_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO, include/linux/proc_ns.h */
#define NS_PER_S 1000000000u
#define SPARE_FDS 64 /* not used for files that stay open */
#define PATH_BYTES 128

static uint64_t tick_ns;
static int largest_kept_fd; /* of files that stay open */
static bool is_in_first_namespace;
static uint64_t own_uts_namespace;
static bool has_no_cgroup_ids; /* the kernel cannot answer by pidfd */

/* Write /proc/PID/NAME. */
static void make_path(char out[PATH_BYTES], int32_t pid, const char *name)
{
	memcpy(out, "/proc/", sizeof("/proc/"));
	out = rti_decimal(out + strlen(out), (uint64_t)pid);
	*out++ = '/';
	memcpy(out, name, strlen(name) + 1);
}

/* Returns how many bytes were read. The text ends in NUL. */
static size_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* The inode number of a namespace. E.g.: the link is "pid:[4026531836]". */
static uint64_t read_namespace(int32_t pid, const char *name)
{
	char path[PATH_BYTES], link[64];
	const char *number;
	ssize_t n;

	make_path(path, pid, name);
	n = readlink(path, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	number = strchr(link, '[');
	return number ? strtoull(number + 1, NULL, 10) : 0;
}

void rtt_identity_begin(void)
{
	struct rlimit files = { .rlim_cur = 256 };
	long ticks = sysconf(_SC_CLK_TCK);

	tick_ns = NS_PER_S / (uint64_t)(ticks > 0 ? ticks : 100);
	own_uts_namespace = read_namespace(getpid(), "ns/uts");
	is_in_first_namespace = read_namespace(getpid(), "ns/pid") == FIRST_PID_NAMESPACE;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
		getrlimit(RLIMIT_NOFILE, &files);
	}
	largest_kept_fd = files.rlim_cur > 65536 ? 65536 : (int)files.rlim_cur;
	largest_kept_fd -= SPARE_FDS;
}

/* Read the first number after a key of /proc/PID/status. */
static uint64_t value_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* The last number after the key, and how many there are: one for each pid namespace from that of
 * /proc inwards. E.g.: "\nNSpid:\t4711\t1\n". */
static uint32_t last_value_of(const char *text, const char *key, int32_t *value)
{
	const char *at = strstr(text, key);
	uint32_t count = 0;
	char *end;

	*value = 0;
	for (at = at ? at + strlen(key) : NULL; at && *at == '\t'; at = end, count++)
		*value = (int32_t)strtoul(at, &end, 10);
	return count;
}

/* Write the path of the stat of a thread. /proc/PID/stat would add up the times of all threads. */
static void make_stat_path(char out[PATH_BYTES], int32_t tgid, int32_t tid)
{
	char *at;

	make_path(out, tgid, "task/");
	at = rti_decimal(out + strlen(out), (uint64_t)tid);
	memcpy(at, "/stat", sizeof("/stat"));
}

static uint64_t read_start_ns(int32_t pid)
{
	char path[PATH_BYTES], text[1024];
	struct rti_pid_stat stat;
	size_t len;

	make_stat_path(path, pid, pid);
	len = read_file(path, text, sizeof(text));
	return rti_parse_pid_stat(text, len, &stat) == 0 ? stat.starttime * tick_ns : 0;
}

/* What stays is read once. A thread that is being killed may have no file: that is tried again. */
static const struct rtt_constants *constants_of(struct rtt_tracee *tracee)
{
	struct rtt_constants *c = &tracee->constants;
	char path[PATH_BYTES], text[4096], exe[8];

	if (c->is_known)
		return c;
	make_path(path, tracee->tid, "status");
	if (!read_file(path, text, sizeof(text)))
		return c;
	/* No key can be in a name: the kernel writes its newlines as "\n". */
	c->tgid = (int32_t)value_of(text, "\nTgid:\t");
	c->uid = (uint32_t)value_of(text, "\nUid:\t");
	c->depth = last_value_of(text, "\nNStgid:", &c->ns_pid);
	last_value_of(text, "\nNSpid:", &c->ns_tid);
	c->process_start_ns = read_start_ns(c->tgid);
	c->mount_namespace = read_namespace(tracee->tid, "ns/mnt");
	c->uts_namespace = read_namespace(tracee->tid, "ns/uts");
	c->pid_namespace = read_namespace(tracee->tid, "ns/pid");
	if (rti_program_file(tracee->tid, &c->exe_device, &c->exe_inode, exe, sizeof(exe)) < 0)
		c->exe_device = c->exe_inode = 0;
	c->is_known = true;
	return c;
}

static bool read_stat(struct rtt_tracee *tracee, struct rti_pid_stat *out)
{
	char path[PATH_BYTES], text[1024];
	ssize_t n;

	if (tracee->stat_fd < 0) {
		make_stat_path(path, constants_of(tracee)->tgid, tracee->tid);
		tracee->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (tracee->stat_fd < 0)
		return false;
	n = pread(tracee->stat_fd, text, sizeof(text), 0);
	if (n <= 0 || tracee->stat_fd > largest_kept_fd) {
		close(tracee->stat_fd);
		tracee->stat_fd = -1;
	}
	return n > 0 && rti_parse_pid_stat(text, (size_t)n, out) == 0;
}

/* Before Linux 6.13: the inode number of the directory that /proc/PID/cgroup names for v2. E.g.:
 * the line is "0::/user.slice". A directory of v1 lies where v2 does if there is no v1. */
static uint64_t find_cgroup_directory(int32_t pid)
{
	const char *mount = "/sys/fs/cgroup";
	char path[PATH_BYTES], text[8192], dir[8192], *line, *end;
	struct stat info;

	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) < 0)
		mount = "/sys/fs/cgroup/unified";
	make_path(path, pid, "cgroup");
	if (!read_file(path, text, sizeof(text)))
		return 0;
	line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	line = line ? strchr(line, '/') : NULL;
	end = line ? strchr(line, '\n') : NULL;
	if (!end || strlen(mount) + (size_t)(end - line) >= sizeof(dir))
		return 0;
	*end = '\0';
	memcpy(dir, mount, strlen(mount) + 1);
	memcpy(dir + strlen(mount), line, (size_t)(end - line) + 1);
	return stat(dir, &info) == 0 ? info.st_ino : 0;
}

static uint64_t find_cgroup(struct rtt_tracee *tracee, int32_t pid)
{
	uint64_t id = 0;
	int err;

	if (has_no_cgroup_ids)
		return find_cgroup_directory(pid);
	if (tracee->pidfd < 0)
		tracee->pidfd = rti_pidfd_open(pid);
	err = rti_pidfd_cgroup_id(tracee->pidfd, &id);
	has_no_cgroup_ids = tracee->pidfd >= 0 && err == -EOPNOTSUPP;
	if (err < 0 || tracee->pidfd > largest_kept_fd) {
		rti_pidfd_close(tracee->pidfd);
		tracee->pidfd = -1;
	}
	return err == 0 ? id : find_cgroup_directory(pid);
}

/* The parent changes when it ends. It is in the same pid namespace or an enclosing one, so the two
 * are equal if they are equally deep. */
static const struct rtt_parent *parent_of(struct rtt_tracee *tracee, int32_t pid)
{
	struct rtt_parent *parent = &tracee->parent;
	char path[PATH_BYTES], text[4096];

	if (parent->pid == pid)
		return parent;
	*parent = (struct rtt_parent){ .pid = pid, .start_ns = read_start_ns(pid) };
	make_path(path, pid, "status");
	read_file(path, text, sizeof(text));
	if (last_value_of(text, "\nNStgid:", &parent->ns_pid) != tracee->constants.depth)
		parent->ns_pid = 0;
	return parent;
}

/* Returns 0, or -1 if the namespace is another one and this process has no right to enter it, or
 * its own one again. E.g.: a user namespace has rights over those made in it alone. */
static int read_host_name(const struct rtt_tracee *tracee, struct utsname *out)
{
	bool is_own = tracee->constants.uts_namespace == own_uts_namespace;
	int own = -1, other = -1, err = -1;
	char path[PATH_BYTES];

	if (is_own)
		return uname(out);
	make_path(path, tracee->tid, "ns/uts");
	other = open(path, O_RDONLY | O_CLOEXEC);
	own = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
	if (other >= 0 && own >= 0 && setns(own, CLONE_NEWUTS) == 0 &&
	    setns(other, CLONE_NEWUTS) == 0) {
		err = uname(out);
		setns(own, CLONE_NEWUTS);
	}
	if (other >= 0)
		close(other);
	if (own >= 0)
		close(own);
	return err;
}

void rtt_identity_fill(struct rtt_tracee *tracee, struct rti_trace_record *out)
{
	const struct rtt_constants *c = constants_of(tracee);
	const struct rtt_parent *parent;
	struct rti_pid_stat stat;
	struct utsname host;

	out->pid = c->tgid;
	out->tid = tracee->tid;
	out->ns_pid = c->ns_pid;
	out->ns_tid = c->ns_tid;
	out->process_start_ns = c->process_start_ns;
	out->uid = c->is_known ? c->uid : UINT32_MAX;
	out->mount_namespace = (uint32_t)c->mount_namespace;
	out->pid_namespace = (uint32_t)c->pid_namespace;
	out->exe_device = c->exe_device;
	out->exe_inode = c->exe_inode;
	out->cgroup_id = find_cgroup(tracee, c->tgid);
	out->cpu = UINT32_MAX;
	if (read_stat(tracee, &stat)) {
		parent = parent_of(tracee, stat.ppid);
		out->ppid = stat.ppid;
		out->ns_ppid = parent->ns_pid;
		out->parent_start_ns = parent->start_ns;
		out->cpu = (uint32_t)stat.processor;
		out->thread_start_ns = stat.starttime * tick_ns;
		memcpy(out->comm, stat.comm, sizeof(out->comm) - 1);
	}
	if (c->is_known && read_host_name(tracee, &host) == 0)
		memcpy(out->host_name, host.nodename, sizeof(out->host_name) - 1);
	/* NSpid of /proc/PID/status shows no namespace outside the one that /proc is of. */
	if (is_in_first_namespace) {
		out->host_pid = out->pid;
		out->host_tid = out->tid;
		out->host_ppid = out->ppid;
	}
}

int32_t rtt_identity_tgid(struct rtt_tracee *tracee)
{
	return constants_of(tracee)->tgid;
}

void rtt_identity_forget(struct rtt_tracee *tracee)
{
	tracee->constants.is_known = false;
	tracee->parent.pid = 0;
	if (tracee->stat_fd >= 0)
		close(tracee->stat_fd);
	tracee->stat_fd = -1;
}

int32_t rtt_identity_tracer_of(int32_t pid)
{
	char path[PATH_BYTES], text[4096];

	make_path(path, pid, "status");
	return read_file(path, text, sizeof(text)) ? (int32_t)value_of(text, "\nTracerPid:\t") : 0;
}
