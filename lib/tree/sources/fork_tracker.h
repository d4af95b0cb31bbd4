/* SPDX-License-Identifier: MIT */
/* The subscription of one tree to process events: which processes joined it, and which have exited.
 * The events come from the proc connector, or from BPF programs that account for the tree.
 *
 * Owner: the tree. Events wait in the socket, or the ring, until they are polled. One counter
 * for the whole process limits how many trackers subscribe by default. */
#ifndef RTI_FORK_TRACKER_H
#define RTI_FORK_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/pure/reap_proof.h"

struct rti_descendant_set;
struct rti_tree_account;

/* Written by fork_tracker.c only. */
struct rti_fork_tracker {
	int fd;                           /* of the proc connector; -1 while it is not used */
	struct rti_tree_account *account; /* that has the events instead; NULL: none */
	uint64_t lost_events;             /* of the account, so far */
	int64_t ahead_ns;     /* our clock, of that of the events: see rti_events_open() */
	bool is_default;      /* one of the subscriptions that are limited in number */
	int32_t owner;        /* pid of the subscriber: a forked child would share its socket */
	bool has_lost_events; /* so that nothing is sure any more; the subscription is closed */
	/* The subscriber got another child, which may belong to the tree (CLONE_PARENT). */
	bool has_other_child;
	/* A member exited that has no parent in the tree: no process of the tree waited for it. */
	bool has_unwaited_exit;
	int32_t root;
	struct rti_descendant_set *descendants; /* NULL while there are no events */
	int32_t *new_pids;                      /* that joined and were not taken yet */
	size_t count, capacity;
	struct rti_reap_proof proof; /* of events of the proc connector */
};

#define RTI_FORK_TRACKER_INIT                                                                      \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Subscribe to process events. Returns 0, or -errno if there are none for us. */
int rti_fork_tracker_subscribe(struct rti_fork_tracker *tracker);
/* The same for a tracker that was not asked to, at a lower cost for all others (RTI_EVENTS_CHEAP),
 * and for eight of a process at most. Returns -EUSERS to the ninth. */
int rti_fork_tracker_subscribe_by_default(struct rti_fork_tracker *tracker);
/* The same in two steps. The second can wait until the root has been started: from then on
 * no events of threads are received. */
int rti_fork_tracker_subscribe_to_all(struct rti_fork_tracker *tracker);
void rti_fork_tracker_filter(struct rti_fork_tracker *tracker);

/* Take the events from an account, which must live until rti_fork_tracker_forget_account(). Returns
 * 0 or -ENOMEM. */
int rti_fork_tracker_use_account(struct rti_fork_tracker *tracker,
                                 struct rti_tree_account *account);
/* The account is about to be closed. Events are lost from then on, if they came from it. */
void rti_fork_tracker_forget_account(struct rti_fork_tracker *tracker);

/* A descriptor that is readable while events wait, or -1. It stays the tracker's. There is none by
 * default: each fork on the system would wake a host that has not asked for that. */
int rti_fork_tracker_fd(const struct rti_fork_tracker *tracker);

/* Whether events wait though the descriptor does not show them: it becomes readable again only when
 * all were taken. E.g.: a process was forked while the last poll ended. */
bool rti_fork_tracker_has_more(const struct rti_fork_tracker *tracker);

/* Set the root of the tree, before the first poll. The root may have been started since the
 * subscription. */
void rti_fork_tracker_set_root(struct rti_fork_tracker *tracker, int32_t root);

void rti_fork_tracker_close(struct rti_fork_tracker *tracker);

/* Whether all that joined and exited so far is known. */
bool rti_fork_tracker_is_complete(const struct rti_fork_tracker *tracker);

/* Receive the events that wait. */
void rti_fork_tracker_poll(struct rti_fork_tracker *tracker);

/* Whether some have joined since the next function was called last. */
bool rti_fork_tracker_has_new(const struct rti_fork_tracker *tracker);

/* Call each() for the processes that joined since the last call, in that order. A process with a
 * received exit event may still be a zombie. */
void rti_fork_tracker_take_new(struct rti_fork_tracker *tracker,
                               void (*each)(void *arg, int32_t pid, bool has_exited), void *arg);

/* Add a process that was found to be a member without an event. */
void rti_fork_tracker_add(struct rti_fork_tracker *tracker, int32_t pid);

/* How long processes lived that no event proves were waited for by a member. */
uint64_t rti_fork_tracker_unproven_ns(const struct rti_fork_tracker *tracker);

/* How many processes of the tree there have been, by events; 0 if there are none. */
uint64_t rti_fork_tracker_processes(const struct rti_fork_tracker *tracker);

#endif
