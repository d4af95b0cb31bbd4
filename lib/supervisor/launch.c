/* SPDX-License-Identifier: MIT */
/* Starts the program. */
#include "supervisor/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "os/path_exec.h"
#include "os/supervisor_protocol.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

#define PLACES_MAX 8

/* A session has a process group of its own. */
static short start_flags(const struct rts_launch_opts *opts)
{
	short flags = POSIX_SPAWN_SETSIGMASK;

	if (opts->has_new_session)
		flags |= POSIX_SPAWN_SETSID;
	else if (opts->has_new_group)
		flags |= POSIX_SPAWN_SETPGROUP;
	return flags;
}

int rts_launch_here(const struct rts_launch_opts *opts, pid_t *pid)
{
	posix_spawnattr_t attr;
	int err = posix_spawnattr_init(&attr);

	if (err)
		return -err;
	err = posix_spawnattr_setsigmask(&attr, opts->mask);
	if (err == 0)
		err = posix_spawnattr_setpgroup(&attr, 0);
	if (err == 0)
		err = posix_spawnattr_setflags(&attr, start_flags(opts));
	if (err == 0)
		err = posix_spawnp(pid, opts->argv[0], NULL, &attr, opts->argv, environ);
	posix_spawnattr_destroy(&attr);
	return -err;
}

/* A directory of the cgroup, and what the child writes to for being placed there. */
struct place {
	char kind; /* RTI_DIR_ letter */
	int dir;   /* v2: its descriptor, for clone3() */
	int tasks; /* -1 if it cannot be opened */
	int error; /* why not */
};

/* What the child tells its parent: they share no other memory. */
struct launch {
	int place_error, exec_error;
	uint32_t placed;
};

/* Open a file of the directory that a list begins with. Returns a descriptor or -1. */
static int open_in(const char *dir, const char *name, int flags)
{
	size_t len = strcspn(dir, "\n");
	char path[1100];

	if (len + strlen(name) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(path, dir, len);
	memcpy(path + len, name, strlen(name) + 1);
	return open(path, flags | O_CLOEXEC);
}

/* Open each directory in a list. Returns how many there are.
 *
 * The child places itself by `tasks` in v1, which moves one thread: it has no other. That takes
 * 0.1 ms, and cgroup.procs 10 ms, since it waits for all CPUs (cgroup_threadgroup_rwsem). */
static unsigned open_places(const char *dirs, struct place place[PLACES_MAX])
{
	unsigned count = 0;

	for (const char *at = dirs; at && *at && count < PLACES_MAX; count++) {
		struct place *p = &place[count];

		*p = (struct place){ .kind = *at, .dir = -1 };
		if (p->kind == RTI_DIR_V2)
			p->dir = open_in(at + 1, "", O_RDONLY | O_DIRECTORY);
		p->tasks =
		    open_in(at + 1, p->kind == RTI_DIR_V2 ? "/cgroup.procs" : "/tasks", O_WRONLY);
		p->error = p->tasks < 0 ? errno : 0;
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return count;
}

static void close_places(const struct place *place, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (place[i].dir >= 0)
			close(place[i].dir);
		if (place[i].tasks >= 0)
			close(place[i].tasks);
	}
}

/* In the child: enter the directories that it is not in yet. Returns 0, or the errno of one that is
 * needed. */
static int enter_places(const struct place *place, unsigned count, uint32_t *placed)
{
	for (unsigned i = 0; i < count; i++) {
		int error = place[i].error;

		if (*placed >> i & 1)
			continue;
		if (!error && write(place[i].tasks, "0", 1) < 0)
			error = errno;
		if (!error)
			*placed |= 1u << i;
		else if (place[i].kind != RTI_DIR_V1)
			return error;
	}
	return 0;
}

/* Make the child, in v2 at once if the kernel can (since Linux 5.7). The parent sleeps until the
 * child has executed the program (CLONE_VFORK). Returns as fork(2). */
static pid_t make_child(const struct place *place, unsigned count, uint32_t *placed)
{
	if (count > 0 && place[0].kind == RTI_DIR_V2 && place[0].dir >= 0) {
		struct rti_clone_args args = { .flags = RTI_CLONE_INTO_CGROUP | CLONE_VFORK,
			                       .exit_signal = SIGCHLD,
			                       .cgroup = (unsigned)place[0].dir };
		pid_t pid;

		*placed = 1;
		pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		if (pid >= 0 || errno == EAGAIN || errno == ENOMEM)
			return pid;
		*placed = 0;
	}
	return (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
}

/* The program is in the cgroup from its first instruction on. The supervisor is not in it, so what
 * the supervisor uses does not count for the program. */
int rts_launch_in_cgroup(const struct rts_launch_opts *opts, const char *dirs, pid_t *pid,
                         uint32_t *placed)
{
	struct place place[PLACES_MAX];
	unsigned count;
	struct launch *launch =
	    mmap(NULL, sizeof(*launch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*pid = -1;
	if (launch == MAP_FAILED)
		return -errno;
	count = open_places(dirs, place);
	*pid = make_child(place, count, &launch->placed);
	if (*pid == 0) {
		launch->place_error = enter_places(place, count, &launch->placed);
		if (launch->place_error)
			_exit(127);
		if (opts->has_new_session)
			setsid();
		else if (opts->has_new_group)
			setpgid(0, 0);
		sigprocmask(SIG_SETMASK, opts->mask, NULL);
		launch->exec_error = rti_path_exec(opts->argv);
		_exit(127);
	}
	if (*pid < 0)
		return -errno;
	close_places(place, count);
	*placed = launch->placed;
	if (launch->place_error || launch->exec_error)
		waitpid(*pid, NULL, 0);
	if (launch->place_error) {
		*pid = -1;
		return -launch->place_error;
	}
	return -launch->exec_error;
}
