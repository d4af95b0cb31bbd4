/* SPDX-License-Identifier: MIT */
/* The ledger: what a tree of processes has used so far, from what was seen of its members. Pure arithmetic: no I/O, no
 * clock, no allocation.
 *
 * The kernel tells for each live process what its own threads used, and, apart from that, what the children it waited for
 * used (but folds their I/O into its own). When a member departs, its use has therefore moved into its reaper's
 * account, or is gone. The ledger tells the two apart by page faults, which are counted exactly and which every process
 * has: an account that grew by at least the departed member's faults holds the member; one that did not grow at all does
 * not. Between the two (a parent that waited for some and lost others) nothing tells who is who, and the ledger takes
 * the reading that cannot count twice.
 *
 * Invariants: totals never fall; nothing that was seen is lost; nothing is counted in two accounts. */
#ifndef RTI_LEDGER_H
#define RTI_LEDGER_H

#include <stdint.h>

enum rti_use {
	RTI_CPU_USER,   /* ns */
	RTI_CPU_SYSTEM, /* ns */
	RTI_MINOR_FAULTS,
	RTI_MAJOR_FAULTS,
	RTI_VOLUNTARY,
	RTI_INVOLUNTARY,
	RTI_READ_BYTES, /* from here on the kernel folds what was reaped into the process's own count */
	RTI_WRITE_BYTES,
	RTI_CANCELLED_BYTES,
	RTI_READ_CHARS,
	RTI_WRITE_CHARS,
	RTI_COUNTERS
};

/* One member's account. The caller keeps it as long as the member lives, and zeroes it first. */
struct rti_account {
	uint64_t own[RTI_COUNTERS];    /* as last read */
	uint64_t reaped[RTI_COUNTERS]; /* as last read: CPU in whole ticks, faults exact, the rest unknown and 0 */
	uint64_t floor[RTI_COUNTERS];  /* what the reaped share is known to be at least */
	uint64_t closed_faults;        /* reaped faults at the end of the last sample */
	uint64_t explained_faults;     /* of those since then: what departed members account for */
	int has_io;                    /* its I/O could be read, last time */
};

struct rti_ledger {
	uint64_t retained[RTI_COUNTERS]; /* of departed members that no tracked member has reaped */
	uint64_t total[RTI_COUNTERS];    /* as of the last rti_ledger_close() */
	uint64_t sum[RTI_COUNTERS];      /* while a sample is being summed */
	int has_unwaited;                /* some member went unwaited for */
	int has_departed;                /* some member departed at all */
	int is_claimed;                  /* the last claim covered all that members' accounts say */
	int own_only;                    /* the tree is its root alone: reaped shares do not count */
};

/* A member departed. reaper is the nearest ancestor that lives still, read again after the member was gone, or NULL.
 * Call it for a parent before its children. Returns 0 when the reaper's account does not hold the member, so that those
 * whom the member had reaped are not in there either; 1 when it does, or may. */
int rti_ledger_depart(struct rti_ledger *ledger, const struct rti_account *gone, struct rti_account *reaper);

/* Two members departed, the one an ancestor of the other: 1 when the ancestor's last reading may hold the other already,
 * so that it is to be sought in that account; 0 when nothing had been reaped by then. Call it for all such pairs, those
 * further down and nearer first, before rti_ledger_depart() decides about the rest. */
int rti_ledger_depart_together(struct rti_ledger *ledger, const struct rti_account *gone,
                               struct rti_account *ancestor);

/* A member departed, and whoever waited for it has seen to it that it was read once more before: retain it all. */
void rti_ledger_retire(struct rti_ledger *ledger, const struct rti_account *gone);

/* Sum up a sample: open, add every live member, claim what else is known, close. */
void rti_ledger_open(struct rti_ledger *ledger);
void rti_ledger_add(struct rti_ledger *ledger, struct rti_account *member);
/* Another account of the whole tree, from no later than the members' own, says that it has used this much CPU time. */
void rti_ledger_claim(struct rti_ledger *ledger, uint64_t user_ns, uint64_t system_ns);
void rti_ledger_close(struct rti_ledger *ledger);

/* The kernel's exact account of what a member has reaped, where its reaper can be asked. I/O is not part of it. */
void rti_ledger_raise(struct rti_account *member, const uint64_t reaped[RTI_COUNTERS]);

/* Split an exact CPU time into user and system in the ratio that ticks have sampled, as the kernel does. */
void rti_split_cpu(uint64_t total_ns, uint64_t user_part, uint64_t both_parts, uint64_t *user_ns,
                   uint64_t *system_ns);

#endif
