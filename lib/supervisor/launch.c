/* SPDX-License-Identifier: MIT */
/* Starts the program. */
#include "supervisor/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "os/process/path_exec.h"
#include "os/protocol/supervisor_protocol.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

#define PLACES_MAX 8
/* How much more than that an exec may hand on: the pages that the kernel maps around one. */
#define UNCOUNTED_KIB 64

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
	bool is_clear; /* the child was made without handlers of signals */
	int64_t maxrss_kib;
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

/* Make the child as fork(2) does, with other flags too. */
static pid_t clone_plain(uint64_t flags, int cgroup)
{
	struct rti_clone_args args = { .flags = flags | CLONE_VFORK,
		                       .exit_signal = SIGCHLD,
		                       .cgroup = cgroup < 0 ? 0 : (unsigned)cgroup };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* Make the child, in v2 at once if the kernel can (since Linux 5.7). The parent sleeps until the
 * child has executed the program (CLONE_VFORK). The memory is not shared, so the program inherits
 * the peak of the copy, which has few pages, and not the parent's. Returns as fork(2). */
static pid_t make_child(const struct place *place, unsigned count, struct launch *launch)
{
	pid_t pid;

	if (count > 0 && place[0].kind == RTI_DIR_V2 && place[0].dir >= 0) {
		launch->placed = 1;
		launch->is_clear = true;
		pid = clone_plain(RTI_CLONE_INTO_CGROUP | RTI_CLONE_CLEAR_SIGHAND, place[0].dir);
		if (pid >= 0 || errno == EAGAIN || errno == ENOMEM)
			return pid;
		launch->placed = 0;
	}
	launch->is_clear = true;
	pid = clone_plain(RTI_CLONE_CLEAR_SIGHAND, -1);
	if (pid >= 0 || errno == EAGAIN || errno == ENOMEM)
		return pid;
	launch->is_clear = false;
	return (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
}

static void reset_signals(const struct rts_launch_opts *opts, bool is_clear)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	struct sigaction action;

	/* A handler of the parent must not run in the child once signals are no longer blocked. */
	for (int signal = 1; signal < NSIG && !is_clear; signal++)
		if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaction(signal, &by_default, NULL);
	sigaction(SIGCHLD, &by_default, NULL);
	sigaction(SIGPIPE, &by_default, NULL);
	sigprocmask(SIG_SETMASK, opts->mask, NULL);
}

/* In the child. Returns the errno of what has failed. */
static int execute(const struct rts_launch_opts *opts, struct launch *launch)
{
	if (*opts->cwd && chdir(opts->cwd) < 0)
		return errno;
	if (opts->has_new_session)
		setsid();
	else if (opts->has_new_group)
		setpgid(0, 0);
	reset_signals(opts, launch->is_clear);
	if (opts->envp)
		environ = opts->envp;
	return rti_path_exec(opts->argv, NULL, &launch->maxrss_kib);
}

/* The program is in the cgroup from its first instruction on. The supervisor is not in it, so what
 * the supervisor uses does not count for the program. */
static int launch_in(const struct rts_launch_opts *opts, struct launch *launch,
                     struct rts_launched *out)
{
	struct place place[PLACES_MAX];
	unsigned count = open_places(opts->dirs, place);

	out->pid = make_child(place, count, launch);
	if (out->pid == 0) {
		launch->place_error = enter_places(place, count, &launch->placed);
		if (!launch->place_error)
			launch->exec_error = execute(opts, launch);
		_exit(127);
	}
	launch->exec_error = out->pid < 0 ? errno : launch->exec_error;
	for (unsigned i = 0; i < count; i++) {
		if (place[i].dir >= 0)
			close(place[i].dir);
		if (place[i].tasks >= 0)
			close(place[i].tasks);
	}
	if (out->pid < 0)
		return -launch->exec_error;
	out->placed = launch->placed;
	out->inherited_maxrss_kib = launch->maxrss_kib + UNCOUNTED_KIB;
	if (launch->place_error || launch->exec_error)
		waitpid(out->pid, NULL, 0);
	if (launch->place_error)
		out->pid = -1;
	return launch->place_error ? -launch->place_error : -launch->exec_error;
}

int rts_launch(const struct rts_launch_opts *opts, struct rts_launched *out)
{
	struct launch *launch =
	    mmap(NULL, sizeof(*launch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err;

	out->pid = -1;
	if (launch == MAP_FAILED)
		return -errno;
	err = launch_in(opts, launch, out);
	munmap(launch, sizeof(*launch));
	return err;
}
