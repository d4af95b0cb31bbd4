/* SPDX-License-Identifier: MIT */
/* How long processes lived that nothing proves were waited for by a process of the tree, by process
 * events. Pure: no I/O, no clock.
 *
 * This is about processes that begin and end between two looks at the tree: a look makes members of
 * those that it finds, and the ledger knows where a member's usage is. What such a process has used
 * is lost in two cases:
 *
 *   - The kernel reaps it by itself, since its parent ignores SIGCHLD or has SA_NOCLDWAIT. The
 *     report of its exit then names no parent: see supervisor/wait_proof.h. So do the reports of a
 *     few that were waited for at once.
 *   - It is a zombie, and its parent exits without waiting for it. Then a process outside of the
 *     tree reaps it, and no event says so. A parent that runs at a look has reaped what is gone.
 *
 * E.g.: a shell runs a program of 2 ms and exits. If a look came between the two exits, all is
 * proven. Otherwise 2 ms are unproven, although nearly every shell waits. */
#ifndef RTI_REAP_PROOF_H
#define RTI_REAP_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process that has forked, or was forked, since the last look but one. */
struct rti_unseen {
	int32_t pid; /* 0: the slot is free */
	bool has_ended;
	uint64_t start_ns; /* when it was forked; 0: a look has found it */
	/* The lives of its children that have ended, since the last look and before it. */
	uint64_t at_risk_ns, before_ns;
};

/* All 0 is an empty one. Written by reap_proof.c only. */
struct rti_reap_proof {
	struct rti_unseen *slots, *spare; /* a hash table, and room for the next one */
	size_t capacity, count;
	uint64_t looked_ns;
	uint64_t unproven_ns; /* UINT64_MAX: memory ran out, and nothing is proven */
};

void rti_reap_proof_free(struct rti_reap_proof *proof);

/* Times are those of the events. A member has forked another one. */
void rti_reap_proof_fork(struct rti_reap_proof *proof, int32_t pid, uint64_t at_ns);

/* A member has exited. parent: by the event; 0: none is named. */
void rti_reap_proof_exit(struct rti_reap_proof *proof, int32_t pid, int32_t parent, uint64_t at_ns);

/* A look has found this process. */
void rti_reap_proof_see(struct rti_reap_proof *proof, int32_t pid);

/* The look at all that events have reported is over. */
void rti_reap_proof_end_look(struct rti_reap_proof *proof, uint64_t now_ns);

#endif
