/* SPDX-License-Identifier: MIT */
/* Process events of one tree: who joins it, and who has come and gone.
 *
 * Owner: the tree's proctree. Events wait in the socket until somebody listens. */
#ifndef RTI_FORK_TRACKER_H
#define RTI_FORK_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rti_descendant_set;

struct rti_fork_tracker {
	int fd; /* -1 while there are no events */
	/* pid of the process that opened it: after a fork, two would share what comes */
	int32_t owner;
	bool has_lost_events; /* some: nothing is sure any more, and nobody listens */
	/* we got another child, which may be the tree's (CLONE_PARENT) */
	bool has_other_child;
	/* somebody ended whose parent is no member: nobody in the tree waited for him */
	bool has_unwaited_exit;
	int32_t root;
	struct rti_descendant_set *descendants; /* NULL while there are no events */
	int32_t *new_pids; /* pids that have joined since they were taken last */
	size_t count, cap;
};

#define RTI_FORK_TRACKER_INIT                                                                      \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* 0, or -errno where there are no events for us. */
int rti_fork_tracker_subscribe(struct rti_fork_tracker *fork_tracker);
/* Of what comes, this one's tree is meant, who may have been started since. Before the rest. */
void rti_fork_tracker_set_root(struct rti_fork_tracker *fork_tracker, int32_t root);
void rti_fork_tracker_close(struct rti_fork_tracker *fork_tracker);

/* All that joined and left so far is known. */
bool rti_fork_tracker_is_complete(const struct rti_fork_tracker *fork_tracker);

/* Take in what has happened. */
void rti_fork_tracker_poll(struct rti_fork_tracker *fork_tracker);

/* Call each() for newcomers in the order in which they came, and forget them. One that has ended,
 * as far as was heard, may be a zombie still. */
void rti_fork_tracker_take_new(struct rti_fork_tracker *fork_tracker,
                               void (*each)(void *arg, int32_t pid, bool has_ended), void *arg);

/* Somebody was found to be a member without having been heard of. */
void rti_fork_tracker_add(struct rti_fork_tracker *fork_tracker, int32_t pid);

#endif
