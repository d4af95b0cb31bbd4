/* SPDX-License-Identifier: MIT */
#include "family.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"
#include "suite.h"

#define PAGE 4096 /* the smallest page of any architecture */
#define MS 1000000u
#define MIB ((size_t)1 << 20)
#define ROOM (MIB * 256) /* a member may grow by this much */
/* In the environment of a member that executes this program: its index, and all descriptors. */
#define MEMBER_VARIABLE "RTRACK_TEST_FAMILY"

struct command {
	int32_t deed, argument;
};

static char *room;
static size_t used;

static void run_member(struct family *f, size_t self);

static int32_t fork_child(struct family *f, size_t child)
{
	pid_t pid = fork();

	if (pid == 0)
		run_member(f, child);
	return pid;
}

/* Write to each page, and read none before: a read of a page that was never written counts as a
 * fault, but not in RSS. The address sanitizer would read such pages of its own. */
__attribute__((no_sanitize("address"))) static void write_pages(char *start, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		*(volatile char *)(start + at) = 1;
}

static int32_t grow_memory(size_t bytes)
{
	write_pages(room + used, bytes);
	used += bytes;
	return 0;
}

static int32_t shrink_memory(size_t bytes)
{
	used -= bytes;
	return madvise(room + used, bytes, MADV_DONTNEED);
}

/* Of no other process. */
static int32_t map_file(size_t bytes)
{
	int fd = memfd_create("family", MFD_CLOEXEC);
	char *file;

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return -errno;
	file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		return -errno;
	write_pages(file, bytes);
	return close(fd);
}

static int32_t write_bytes(size_t count)
{
	static char bytes[65536];
	int ends[2];
	ssize_t written;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	written = write(ends[1], bytes, count);
	close(ends[0]);
	close(ends[1]);
	return (int32_t)written;
}

static void *sleep_forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int32_t start_threads(int32_t count)
{
	pthread_t thread;
	int err = 0;

	for (int32_t i = 0; i < count && err == 0; i++)
		err = pthread_create(&thread, NULL, sleep_forever, NULL);
	return -err;
}

static void execute_program(const struct family *f, size_t self)
{
	const char *program = getenv("RT_TEST_FAMILY");
	char text[(FAMILY_MOST + 1) * 12];
	int len = snprintf(text, sizeof(text), "%zu", self);

	for (size_t i = 0; i < FAMILY_MOST; i++) {
		fcntl(f->member[i].other_fd, F_SETFD, 0);
		len +=
		    snprintf(text + len, sizeof(text) - (size_t)len, " %d", f->member[i].other_fd);
	}
	setenv(MEMBER_VARIABLE, text, 1);
	execl(program ? program : "/proc/self/exe", "family", (char *)NULL);
	_exit(1);
}

struct execution {
	const struct family *family;
	size_t self;
};

static void *execute_in_thread(void *arg)
{
	const struct execution *e = arg;

	execute_program(e->family, e->self);
	return NULL;
}

/* The thread gets the pid, and the leader ends. */
static void execute_by_thread(const struct family *f, size_t self)
{
	struct execution e = { f, self };
	pthread_t thread;

	if (pthread_create(&thread, NULL, execute_in_thread, &e) == 0)
		sleep_forever(NULL);
}

static int32_t execute(struct family *f, size_t self, const struct command *command)
{
	switch ((enum family_deed)command->deed) {
	case FAMILY_RUN:
		burn_cpu_ns((uint64_t)command->argument * MS);
		return 0;
	case FAMILY_FORK:
		return fork_child(f, (size_t)command->argument);
	case FAMILY_WAIT:
		return waitpid(-1, NULL, 0);
	case FAMILY_GROW:
		return grow_memory((size_t)command->argument * MIB);
	case FAMILY_SHRINK:
		return shrink_memory((size_t)command->argument * MIB);
	case FAMILY_COPY:
		write_pages(room, (size_t)command->argument * MIB);
		return 0;
	case FAMILY_COPY_LAST:
		write_pages(room + used - (size_t)command->argument * MIB,
		            (size_t)command->argument * MIB);
		return 0;
	case FAMILY_DROP:
		return madvise(room, (size_t)command->argument * MIB, MADV_DONTNEED);
	case FAMILY_MAP:
		return map_file((size_t)command->argument * MIB);
	case FAMILY_IGNORE:
		return signal(SIGCHLD, SIG_IGN) == SIG_ERR ? -1 : 0;
	case FAMILY_WRITE:
		return write_bytes((size_t)command->argument);
	case FAMILY_THREADS:
		return start_threads(command->argument);
	case FAMILY_EXEC:
		if (command->argument)
			execute_by_thread(f, self);
		execute_program(f, self);
		break;
	case FAMILY_EXIT:
		break;
	}
	_exit(0);
}

static void run_member(struct family *f, size_t self)
{
	int fd = f->member[self].other_fd;
	struct command command;
	int32_t answer;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		ssize_t len = recv(fd, &command, sizeof(command), 0);

		if (len < 0 && errno == EINTR)
			continue;
		if (len != sizeof(command))
			_exit(1);
		answer = execute(f, self, &command);
		if (send(fd, &answer, sizeof(answer), 0) != sizeof(answer))
			_exit(1);
	}
}

static int32_t await_answer(const struct family *f, size_t member)
{
	int32_t answer = 0;

	ck_assert_int_eq(recv(f->member[member].fd, &answer, sizeof(answer), 0), sizeof(answer));
	return answer;
}

void family_begin(struct family *f, size_t member, enum family_deed deed, int32_t argument)
{
	struct command command = { (int32_t)deed, argument };

	ck_assert_int_eq(send(f->member[member].fd, &command, sizeof(command), 0), sizeof(command));
}

int32_t family_tell(struct family *f, size_t member, enum family_deed deed, int32_t argument)
{
	family_begin(f, member, deed, argument);
	return deed == FAMILY_EXIT ? 0 : await_answer(f, member);
}

static void open_sockets(struct family *f)
{
	for (size_t i = 0; i < FAMILY_MOST; i++) {
		int ends[2];

		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
		f->member[i] = (struct family_member){ .fd = ends[0], .other_fd = ends[1] };
	}
}

static void map_room(void)
{
	room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	            -1, 0);
	if (room == MAP_FAILED || madvise(room, ROOM, MADV_NOHUGEPAGE) < 0)
		_exit(1);
}

/* A member that executes a program is this program once more, or another one with this file. It
 * begins here instead of in main(), and answers the command. */
__attribute__((constructor)) static void run_as_member(void)
{
	static struct family f;
	const int32_t answer = 0;
	char *text = getenv(MEMBER_VARIABLE);
	size_t self;

	if (!text)
		return;
	self = strtoul(text, &text, 10);
	for (size_t i = 0; i < FAMILY_MOST; i++)
		f.member[i].other_fd = (int)strtol(text, &text, 10);
	map_room();
	if (send(f.member[self].other_fd, &answer, sizeof(answer), 0) != sizeof(answer))
		_exit(1);
	run_member(&f, self);
}

void family_start(struct family *f, size_t count)
{
	open_sockets(f);
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	f->count = 1;
	f->member[0].pid = fork();
	ck_assert_int_ge(f->member[0].pid, 0);
	if (f->member[0].pid == 0)
		execute_program(f, 0);
	ck_assert_int_eq(await_answer(f, 0), 0);
	while (f->count < count)
		family_grow(f);
}

/* A child that answers has finished starting. */
size_t family_fork_from(struct family *f, size_t parent)
{
	size_t child = f->count++;

	ck_assert_uint_lt(child, FAMILY_MOST);
	f->member[child].pid = family_tell(f, parent, FAMILY_FORK, (int32_t)child);
	ck_assert_int_gt(f->member[child].pid, 0);
	ck_assert_int_eq(family_tell(f, child, FAMILY_RUN, 0), 0);
	return child;
}

size_t family_grow(struct family *f)
{
	return family_fork_from(f, 0);
}

void family_shrink(struct family *f, size_t member)
{
	family_tell(f, member, FAMILY_EXIT, 0);
	ck_assert_int_eq(family_tell(f, 0, FAMILY_WAIT, 0), f->member[member].pid);
	f->member[member].pid = 0;
}

static uint64_t get_cpu_clock(pid_t pid)
{
	struct timespec ts = { 0 };
	clockid_t id;

	ck_assert_int_eq(clock_getcpuclockid(pid, &id), 0);
	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
}

/* A thread may be preempted after it has entered its state, and before it has left the CPU: its
 * file `syscall` waits for that. */
static bool is_thread_still(pid_t pid, pid_t tid, char wanted)
{
	char path[64], text[64];
	int fd;

	if (thread_state(pid, tid) != wanted)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		while (read(fd, text, sizeof(text)) < 0 && errno == EINTR)
			;
		close(fd);
	}
	return thread_state(pid, tid) == wanted;
}

/* Whether all threads have a state in which the CPU clock stands still. E.g.: 'T', stopped. */
static bool are_threads_still(pid_t pid, char wanted)
{
	char path[32];
	DIR *list;
	struct dirent *entry;
	bool are_still = true;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	list = opendir(path);
	ck_assert_ptr_nonnull(list);
	while (are_still && (entry = readdir(list)) != NULL) {
		pid_t tid = atoi(entry->d_name);

		are_still = tid == 0 || is_thread_still(pid, tid, wanted);
	}
	closedir(list);
	return are_still;
}

static int is_still(pid_t pid, char wanted)
{
	const struct timespec nap = { .tv_nsec = 2 * MS };
	uint64_t clock_ns = get_cpu_clock(pid);

	ck_assert_int_ne(thread_state(pid, pid), 0);
	if (!are_threads_still(pid, wanted))
		return 0;
	nanosleep(&nap, NULL);
	return get_cpu_clock(pid) == clock_ns;
}

static int is_stopped(void *pid)
{
	return is_still(*(const pid_t *)pid, 'T');
}

static int is_asleep(void *pid)
{
	return is_still(*(const pid_t *)pid, 'S');
}

void family_await_sleep(const struct family *f, size_t member)
{
	pid_t pid = f->member[member].pid;

	wait_until(is_asleep, &pid);
}

void family_stop(const struct family *f)
{
	for (size_t i = 0; i < f->count; i++) {
		pid_t pid = f->member[i].pid;

		if (!pid)
			continue;
		ck_assert_int_eq(kill_process(pid, SIGSTOP), 0);
		wait_until(is_stopped, &pid);
	}
}

void family_continue(const struct family *f)
{
	for (size_t i = 0; i < f->count; i++) {
		if (f->member[i].pid)
			ck_assert_int_eq(kill_process(f->member[i].pid, SIGCONT), 0);
	}
}

/* The other members are killed when the root exits, and are reparented to this process. */
void family_end(struct family *f)
{
	if (f->count)
		kill_process(f->member[0].pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	for (size_t i = 0; f->count && i < FAMILY_MOST; i++) {
		close(f->member[i].fd);
		close(f->member[i].other_fd);
	}
	f->count = 0;
}

pid_t family_fork_as(pid_t pid)
{
	const struct timespec two_ticks = { .tv_nsec = 2 * 1000000000L / sysconf(_SC_CLK_TCK) };
	uint64_t arguments[10] = { 0 }; /* struct clone_args, with set_tid */
	pid_t child;

	nanosleep(&two_ticks, NULL);
	arguments[4] = SIGCHLD;
	arguments[8] = (uintptr_t)&pid;
	arguments[9] = 1;
	child = (pid_t)syscall(SYS_clone3, arguments, sizeof(arguments));
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return child < 0 ? -errno : child;
}
