/* SPDX-License-Identifier: MIT */
#include "call_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* In memory that all processes share. */
struct plan {
	unsigned at, calls;
	int kinds, error;
	pid_t owner; /* the process that has begun */
	bool is_on, is_reached;
	char name[64];
};

static struct plan alone, *plan = &alone;
static pid_t process; /* this one; of a child that was cloned, its parent */

static void map_plan(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *shared;

	if (fd < 0)
		return;
	shared = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shared != MAP_FAILED)
		plan = shared;
}

/* In a supervisor. */
__attribute__((constructor)) static void take_plan(void)
{
	const char *path = getenv(CALL_FAULTS_ENV);

	process = getpid();
	if (path)
		map_plan(path);
}

void call_faults_share(const char *dir)
{
	const struct plan none = { 0 };
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/plan", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, &none, sizeof(none)) != sizeof(none))
		abort();
	close(fd);
	setenv(CALL_FAULTS_ENV, path, 1);
	map_plan(path);
}

void call_faults_keep_to_itself(void)
{
	if (plan != &alone)
		munmap(plan, sizeof(*plan));
	plan = &alone;
}

void call_faults_begin(unsigned at, int kinds, int error)
{
	process = getpid();
	*plan = (struct plan){ .at = at, .kinds = kinds, .error = error, .owner = getpid() };
	__atomic_store_n(&plan->is_on, true, __ATOMIC_SEQ_CST);
}

bool call_faults_end(void)
{
	__atomic_store_n(&plan->is_on, false, __ATOMIC_SEQ_CST);
	return plan->is_reached;
}

/* A build that counts lines writes its counts after this, and allocates memory. */
__attribute__((destructor)) static void leave_plan(void)
{
	plan = &alone;
}

const char *call_faults_name(void)
{
	return plan->name;
}

static bool fails(int kind, const char *name)
{
	if (!__atomic_load_n(&plan->is_on, __ATOMIC_SEQ_CST) || !(plan->kinds & kind) ||
	    (plan->kinds & CALL_ELSEWHERE && plan->owner == getpid()) ||
	    __atomic_add_fetch(&plan->calls, 1, __ATOMIC_SEQ_CST) != plan->at)
		return false;
	plan->is_reached = true;
	snprintf(plan->name, sizeof(plan->name), "%s of %s", name,
	         plan->owner == getpid() ? "the library" : "another process");
	errno = plan->error;
	return true;
}

/* WRAP(kind, result, failed, name, (parameters), (arguments)) */
#define WRAP(kind, type, failed, name, parameters, arguments)                                      \
	type __real_##name parameters;                                                             \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return fails(kind, #name) ? failed : __real_##name arguments;                      \
	}

/* A child that was cloned allocates nothing. But a build that counts lines does so before an
 * exec. */
#define MAY_ALLOCATE (process == getpid() ? CALL_MAKES : 0)
WRAP(MAY_ALLOCATE, void *, NULL, malloc, (size_t size), (size))
WRAP(MAY_ALLOCATE, void *, NULL, calloc, (size_t count, size_t size), (count, size))
WRAP(MAY_ALLOCATE, void *, NULL, realloc, (void *p, size_t size), (p, size))
WRAP(CALL_MAKES, int, ENOMEM, posix_memalign, (void **out, size_t to, size_t size), (out, to, size))
WRAP(CALL_MAKES, int, -1, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(CALL_MAKES, int, -1, socketpair, (int domain, int type, int protocol, int fds[2]),
     (domain, type, protocol, fds))
WRAP(CALL_MAKES, int, -1, pipe2, (int fds[2], int flags), (fds, flags))
WRAP(CALL_MAKES, int, -1, epoll_create1, (int flags), (flags))
WRAP(CALL_MAKES, int, -1, epoll_ctl, (int fd, int what, int of, struct epoll_event *event),
     (fd, what, of, event))
WRAP(CALL_MAKES, int, -1, timerfd_create, (int clock, int flags), (clock, flags))
WRAP(CALL_MAKES, int, -1, signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
WRAP(CALL_MAKES, void *, MAP_FAILED, mmap64,
     (void *at, size_t len, int protection, int flags, int fd, off_t offset),
     (at, len, protection, flags, fd, offset))
WRAP(CALL_MAKES | CALL_WAITS, int, -1, fallocate64, (int fd, int mode, off_t offset, off_t len),
     (fd, mode, offset, len))
WRAP(CALL_MAKES, int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(CALL_MAKES, int, plan->error, posix_spawn,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attr, char *const argv[], char *const envp[]),
     (pid, path, actions, attr, argv, envp))
WRAP(CALL_MAKES, int, plan->error, posix_spawnp,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attr, char *const argv[], char *const envp[]),
     (pid, path, actions, attr, argv, envp))
WRAP(CALL_MAKES, int, ENOMEM, posix_spawn_file_actions_init, (posix_spawn_file_actions_t * actions),
     (actions))
WRAP(CALL_MAKES, int, ENOMEM, posix_spawnattr_init, (posix_spawnattr_t * attr), (attr))
WRAP(CALL_MAKES, int, ENOMEM, posix_spawn_file_actions_adddup2,
     (posix_spawn_file_actions_t * actions, int fd, int to), (actions, fd, to))
WRAP(CALL_MAKES, int, plan->error, posix_spawn_file_actions_addopen,
     (posix_spawn_file_actions_t * actions, int fd, const char *path, int flags, mode_t mode),
     (actions, fd, path, flags, mode))
WRAP(CALL_MAKES, int, plan->error, posix_spawn_file_actions_addclose,
     (posix_spawn_file_actions_t * actions, int fd), (actions, fd))
WRAP(CALL_MAKES, int, plan->error, posix_spawnattr_setsigmask,
     (posix_spawnattr_t * attr, const sigset_t *mask), (attr, mask))
WRAP(CALL_MAKES, int, plan->error, posix_spawnattr_setsigdefault,
     (posix_spawnattr_t * attr, const sigset_t *mask), (attr, mask))
WRAP(CALL_MAKES, int, plan->error, posix_spawnattr_setpgroup,
     (posix_spawnattr_t * attr, pid_t group), (attr, group))
WRAP(CALL_MAKES, int, plan->error, posix_spawnattr_setflags,
     (posix_spawnattr_t * attr, short flags), (attr, flags))
WRAP(CALL_MAKES, int, -1, dup2, (int fd, int to), (fd, to))
WRAP(CALL_MAKES, int, -1, dup3, (int fd, int to, int flags), (fd, to, flags))
WRAP(CALL_MAKES, int, -1, chdir, (const char *path), (path))
WRAP(CALL_MAKES, int, -1, setsockopt,
     (int fd, int level, int name, const void *value, socklen_t len), (fd, level, name, value, len))
WRAP(CALL_MAKES, int, -1, eventfd, (unsigned count, int flags), (count, flags))
WRAP(CALL_MAKES, int, -1, bind, (int fd, const struct sockaddr *address, socklen_t len),
     (fd, address, len))
WRAP(CALL_READS, FILE *, NULL, fopen64, (const char *path, const char *mode), (path, mode))
WRAP(CALL_READS, char *, NULL, fgets, (char *line, int size, FILE *file), (line, size, file))
WRAP(CALL_WAITS | CALL_READS, ssize_t, -1, read, (int fd, void *buf, size_t len), (fd, buf, len))
WRAP(CALL_WAITS | CALL_READS, ssize_t, -1, pread64, (int fd, void *buf, size_t len, off_t offset),
     (fd, buf, len, offset))
WRAP(CALL_READS, ssize_t, -1, process_vm_readv,
     (pid_t pid, const struct iovec *to, unsigned long to_count, const struct iovec *from,
      unsigned long from_count, unsigned long flags),
     (pid, to, to_count, from, from_count, flags))
WRAP(CALL_READS, ssize_t, -1, readlink, (const char *path, char *out, size_t size),
     (path, out, size))
WRAP(CALL_READS, ssize_t, -1, readlinkat, (int dir, const char *path, char *out, size_t size),
     (dir, path, out, size))
WRAP(CALL_READS, int, -1, faccessat, (int dir, const char *path, int mode, int flags),
     (dir, path, mode, flags))
WRAP(CALL_READS, int, -1, getrusage, (int subject, struct rusage *usage), (subject, usage))
WRAP(CALL_READS, ssize_t, -1, write, (int fd, const void *data, size_t len), (fd, data, len))
WRAP(CALL_MAKES | CALL_WAITS, ssize_t, -1, send, (int fd, const void *buf, size_t len, int flags),
     (fd, buf, len, flags))
WRAP(CALL_WAITS, ssize_t, -1, recv, (int fd, void *buf, size_t len, int flags),
     (fd, buf, len, flags))
WRAP(CALL_WAITS | CALL_READS, ssize_t, -1, recvfrom,
     (int fd, void *buf, size_t len, int flags, struct sockaddr *from, socklen_t *from_len),
     (fd, buf, len, flags, from, from_len))
WRAP(CALL_WAITS | CALL_READS, ssize_t, -1, recvmsg, (int fd, struct msghdr *message, int flags),
     (fd, message, flags))
WRAP(CALL_WAITS, int, -1, recvmmsg,
     (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
     (fd, messages, count, flags, timeout))
WRAP(CALL_WAITS, int, -1, poll, (struct pollfd * fds, nfds_t count, int timeout_ms),
     (fds, count, timeout_ms))
WRAP(CALL_WAITS, int, -1, ppoll,
     (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
     (fds, count, timeout, mask))

/* Only a call that waits can be interrupted. */
#define MAY_WAIT(options) ((options)&WNOHANG ? 0 : CALL_WAITS)
WRAP(MAY_WAIT(options), pid_t, -1, waitpid, (pid_t pid, int *status, int options),
     (pid, status, options))
WRAP(MAY_WAIT(options), int, -1, waitid, (idtype_t type, id_t id, siginfo_t *info, int options),
     (type, id, info, options))
WRAP(MAY_WAIT(options), pid_t, -1, wait4, (pid_t pid, int *status, int options, struct rusage *use),
     (pid, status, options, use))

/* --- Those with a variable number of arguments. --- */

long __real_ptrace(enum __ptrace_request request, ...);
long __wrap_ptrace(enum __ptrace_request request, ...);

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_openat64(int dirfd, const char *path, int flags, ...);
int __wrap_openat64(int dirfd, const char *path, int flags, ...);
int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

int __wrap_open64(const char *path, int flags, ...)
{
	return fails(CALL_MAKES | CALL_WAITS | CALL_READS, path) ? -1 : __real_open64(path, flags);
}

int __wrap_openat64(int dirfd, const char *path, int flags, ...)
{
	return fails(CALL_MAKES | CALL_WAITS | CALL_READS, path)
	           ? -1
	           : __real_openat64(dirfd, path, flags);
}

__attribute__((no_sanitize("address"))) int __wrap_fcntl64(int fd, int command, ...)
{
	va_list arguments;
	long argument;

	va_start(arguments, command);
	argument = va_arg(arguments, long);
	va_end(arguments);
	return fails(CALL_MAKES, "fcntl") ? -1 : __real_fcntl64(fd, command, argument);
}

/* A request fails if the thread was killed before it. So it is. */
long __wrap_ptrace(enum __ptrace_request request, ...)
{
	va_list arguments;
	void *address, *data;
	char name[32];
	pid_t tid;

	va_start(arguments, request);
	tid = va_arg(arguments, pid_t);
	address = va_arg(arguments, void *);
	data = va_arg(arguments, void *);
	va_end(arguments);
	snprintf(name, sizeof(name), "ptrace %#x", (unsigned)request);
	if (tid > 0 && fails(CALL_TRACES, name))
		kill(tid, SIGKILL);
	return __real_ptrace(request, tid, address, data);
}

/* It takes all arguments that there can be, whether or not they were given, as libc does. */
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	long argument[6];
	va_list arguments;
	char name[32];

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(arguments, long);
	va_end(arguments);
	snprintf(name, sizeof(name), "syscall %ld", number);
	return fails(CALL_MAKES, name)
	           ? -1
	           : __real_syscall(number, argument[0], argument[1], argument[2], argument[3],
	                            argument[4], argument[5]);
}
