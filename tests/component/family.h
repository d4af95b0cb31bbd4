/* SPDX-License-Identifier: MIT */
/* A real process tree of the test. Its members run only when the test says so, and block
 * otherwise. */
#ifndef FAMILY_H
#define FAMILY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FAMILY_MOST 40

/* member[0] is the root, which forks the others. */
struct family {
	struct family_member {
		pid_t pid; /* 0: it is not running */
		int fd, other_fd;
	} member[FAMILY_MOST];
	size_t count;
};

enum family_deed {
	FAMILY_RUN,    /* use this many ms of CPU time */
	FAMILY_FORK,   /* fork the child with this index */
	FAMILY_WAIT,   /* wait for any child */
	FAMILY_EXIT,   /* exit; there is no answer */
	FAMILY_GROW,   /* touch this many more MiB */
	FAMILY_SHRINK, /* free this many of them, the last ones */
	/* write to this many of them, the first ones: a forked member copies them */
	FAMILY_COPY,
	FAMILY_COPY_LAST, /* the same of the last ones */
	FAMILY_DROP,      /* free this many of them, the first ones */
	FAMILY_MAP,       /* map this many MiB of a file that no other process has */
	FAMILY_IGNORE,    /* ignore SIGCHLD */
	FAMILY_WRITE,     /* write this many bytes into a pipe of its own */
	FAMILY_THREADS,   /* start this many more threads, which sleep */
	/* execute a program; all memory is new; with 1, by a thread that is not the leader */
	FAMILY_EXEC,
};

/* Start a root with this many members in all. The caller becomes their subreaper. The root has
 * executed a program, so it shares no memory with the caller. The others share it with the root. */
void family_start(struct family *f, size_t count);

/* Make a member do something, and wait until it has done so. Returns its answer. */
int32_t family_tell(struct family *f, size_t member, enum family_deed deed, int32_t argument);

/* Make a member begin to do something, and do not wait for that. It answers nothing else. */
void family_begin(struct family *f, size_t member, enum family_deed deed, int32_t argument);

/* Make the root, or another member, fork one more member. Returns its index. */
size_t family_grow(struct family *f);
size_t family_fork_from(struct family *f, size_t parent);

/* Make a member other than the root exit, and the root wait for it. */
void family_shrink(struct family *f, size_t member);

/* Wait until a member that has answered sleeps. Then its CPU clock stands still. */
void family_await_sleep(const struct family *f, size_t member);

/* Stop or continue all members. When family_stop() returns, their CPU clocks stand still. */
void family_stop(const struct family *f);
void family_continue(const struct family *f);

/* Kill all members and reap them. */
void family_end(struct family *f);

/* Fork a child of the caller with this pid. Returns -EEXIST if another process has it by now, and
 * other negative errnos. Sleeps for two ticks first: start times are in ticks, and only the start
 * time distinguishes the child from the previous process with that pid. */
pid_t family_fork_as(pid_t pid);

#endif
