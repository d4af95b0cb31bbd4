/* SPDX-License-Identifier: MIT */
/* The ledger: what a tree of processes has used so far, from what was seen of its members. Pure
 * arithmetic: no I/O, no clock, no allocation.
 *
 * The kernel tells for each live process what its own threads used, and, apart from that, what
 * the children it waited for used (but folds their I/O into its own). When a member departs, its
 * use has therefore moved into its reaper's account, or is gone. The ledger tells the two apart
 * by page faults, which are counted exactly and which every process has: an account that grew by
 * at least the departed member's faults holds the member; one that did not grow at all does not.
 * Between the two (a parent that waited for some and lost others) nothing tells who is who, and
 * the ledger takes the reading that cannot count twice.
 *
 * Invariants: totals never fall; nothing that was seen is lost; nothing is counted in two
 * accounts. */
#ifndef RTI_LEDGER_H
#define RTI_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/counters.h"

/* One member's account. The caller keeps it as long as the member lives, and zeroes it first. */
struct rti_account {
	uint64_t self[RTI_COUNTERS]; /* as last read */
	/* as last read: CPU in whole ticks, faults exact, the rest unknown and 0 */
	uint64_t children[RTI_COUNTERS];
	uint64_t floor[RTI_COUNTERS]; /* what the reaped share is known to be at least */
	uint64_t closed_faults;       /* reaped faults at the end of the last sample */
	uint64_t attributed_faults;   /* of those since then: what departed members account for */
	uint64_t closed_cpu_ns;       /* reaped CPU time at the end of the last sample */
	uint64_t attributed_cpu_ns;   /* of that since then, by members without a fault */
	bool has_io;                  /* its I/O could be read, last time */
};

struct rti_ledger {
	uint64_t retained[RTI_COUNTERS]; /* of departed members that no tracked member has reaped */
	uint64_t total[RTI_COUNTERS];    /* as of the last rti_ledger_close() */
	uint64_t sum[RTI_COUNTERS];      /* while a sample is being summed */
	bool has_unwaited;               /* some member went unwaited for */
	bool has_exits;                  /* some member departed at all */
	/* the last claim covered all that members' accounts say */
	bool is_covered_by_cgroup;
	/* the tree is its root alone: reaped shares do not count */
	bool self_only;
};

/* A member departed whose parent still has its children; the parent was read again after that.
 * Call it, and those below, for a member before its ancestors. */
void rti_ledger_account_exit(struct rti_ledger *ledger, const struct rti_account *exited,
                             struct rti_account *parent);

/* A member departed whose parent had left its children by then. Whose account may hold it: one
 * that grew by at least the member's faults. If there is none, the member is lost, and its last
 * reading kept; if there is one, that absorbs it. */
bool rti_ledger_may_hold(const struct rti_ledger *ledger, const struct rti_account *reaper,
                         const struct rti_account *exited);
void rti_ledger_keep_last_seen(struct rti_ledger *ledger, const struct rti_account *exited);
void rti_ledger_merge_into_reaper(struct rti_ledger *ledger, const struct rti_account *exited,
                                  struct rti_account *reaper);

/* Let some of these faults explain the growth of an account. Returns how many did. */
uint64_t rti_ledger_attribute(struct rti_account *reaper, uint64_t faults);
uint64_t rti_ledger_faults(const struct rti_account *member);

/* Somebody was reaped into it since the last sample; or before that one ended. */
bool rti_ledger_has_grown(const struct rti_account *a);
bool rti_ledger_has_reaped(const struct rti_account *a);

/* A member departed, and whoever waited for it has seen to it that it was read once more before:
 * retain it all. */
void rti_ledger_keep_final(struct rti_ledger *ledger, const struct rti_account *exited);

/* Sum up a sample: open, add every live member, claim what else is known, close. */
void rti_ledger_open(struct rti_ledger *ledger);
void rti_ledger_add(struct rti_ledger *ledger, struct rti_account *member);
/* Another account of the whole tree, from no later than the members' own, says that it has used
 * this much CPU time. */
void rti_ledger_set_floor_from_cgroup(struct rti_ledger *ledger, uint64_t user_ns,
                                      uint64_t system_ns);
void rti_ledger_close(struct rti_ledger *ledger);

/* The kernel's exact account of what a member has reaped, where its reaper can be asked. I/O is
 * not part of it. */
void rti_ledger_raise_children(struct rti_account *member, const uint64_t reaped[RTI_COUNTERS]);

#endif
