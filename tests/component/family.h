/* SPDX-License-Identifier: MIT */
/* A real process tree of the test's own, whose members do as they are told and are blocked
 * otherwise. */
#ifndef FAMILY_H
#define FAMILY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FAMILY_MOST 40

/* member[0] is the root, and forks the others. */
struct family {
	struct family_member {
		pid_t pid; /* 0: it does not live */
		int fd, other_fd;
	} member[FAMILY_MOST];
	size_t count;
};

enum family_deed {
	FAMILY_RUN,     /* use CPU time, this many ms */
	FAMILY_FORK,    /* the root alone: have the child with this index */
	FAMILY_WAIT,    /* the root alone: wait for any child */
	FAMILY_EXIT,    /* without an answer */
	FAMILY_GROW,    /* touch this many MiB more */
	FAMILY_SHRINK,  /* let go of them */
	FAMILY_IGNORE,  /* SIGCHLD */
	FAMILY_WRITE,   /* this many bytes into a pipe of its own */
	FAMILY_THREADS, /* have this many more, which sleep */
};

/* Start a root with so many members in all. The caller becomes their subreaper. */
void family_start(struct family *f, size_t count);

/* Have a member do something, and wait until it has. Its answer. */
int32_t family_tell(struct family *f, size_t member, enum family_deed deed, int32_t argument);

/* The root forks one more. Its index. */
size_t family_grow(struct family *f);

/* A member but the root ends, and the root waits for it. */
void family_shrink(struct family *f, size_t member);

/* Stop or go on with all of them. Their clocks stand still when the first returns. */
void family_stop(const struct family *f);
void family_continue(const struct family *f);

/* End them all and reap them. */
void family_end(struct family *f);

/* A child of the caller that has this pid; -EEXIST when another has it by now, and other -errno.
 * Two ticks pass first: a process is told from the one that had its pid before by its start time,
 * which is in ticks. */
pid_t family_fork_as(pid_t pid);

#endif
