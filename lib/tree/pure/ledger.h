/* SPDX-License-Identifier: MIT */
/* The ledger: what a tree of processes has used so far, from what was seen of its members. Pure
 * arithmetic: no I/O, no clock, no allocation.
 *
 * For each live process the kernel reports two things: what its own threads used, and what the
 * children that it waited for used (but it adds their I/O to the process's own). So when a
 * member exits, its usage has moved into its reaper's account, or is lost. The ledger
 * distinguishes the two by page faults, which are counted exactly and which every process has,
 * and by CPU time, which an account shows in ticks. An account that grew by less than was seen of
 * the exited member does not hold it. One that grew by as much may hold it, or others (a parent
 * that waited for some children and lost others): nothing tells them apart, and the ledger chooses
 * the reading that cannot count twice. If the growth does not suffice for all, that shows.
 *
 * Invariants: totals never fall; nothing that was seen is lost; nothing is counted in two
 * accounts. */
#ifndef RTI_LEDGER_H
#define RTI_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/counters.h"

/* One member's account. The caller zeroes it first and keeps it as long as the member lives.
 * Written by ledger.c only. */
struct rti_account {
	uint64_t self[RTI_COUNTERS]; /* as last read */
	/* As last read: CPU time in whole ticks, faults exact, the rest unknown and 0. */
	uint64_t children[RTI_COUNTERS];
	/* What the share of children is known to be at least. Of I/O only as long as its own count,
	 * which includes it, could never be read. */
	uint64_t floor[RTI_COUNTERS];
	uint64_t closed_faults;     /* children's faults at the end of the last sample */
	uint64_t attributed_faults; /* of those since then: what exited members explain */
	uint64_t closed_cpu_ns;     /* children's CPU time at the end of the last sample */
	uint64_t attributed_cpu_ns; /* of that since then: what exited members explain */
	bool has_io;                /* its I/O could be read once */
};

/* Written by ledger.c only, but for self_only. */
struct rti_ledger {
	uint64_t retained[RTI_COUNTERS]; /* of exited members that no tracked member has reaped */
	uint64_t total[RTI_COUNTERS];    /* as of the last rti_ledger_close() */
	uint64_t sum[RTI_COUNTERS];      /* of retained and of all members */
	/* Of the cgroup in this sample, with what its account has lost. */
	uint64_t cgroup_user_ns, cgroup_system_ns;
	uint64_t cgroup_read_ns; /* its account alone */
	uint64_t lost_user_ns, lost_system_ns;
	bool is_account_reset;  /* it was set back: what was used just before is unknown */
	uint64_t cgroup_lag_ns; /* by which its account may lag behind the clocks of members */
	bool has_cgroup;
	/* What the kernel accounts for exactly, in this sample: see rti_ledger_set_account(). */
	uint64_t account[RTI_COUNTERS];
	bool has_account, is_account_final;
	/* Members were seen to have used more than the cgroup: a process used CPU time outside of
	 * it. */
	bool has_left_cgroup;
	bool has_unwaited;         /* no process waited for some member */
	bool has_exits;            /* some member has exited */
	bool is_covered_by_cgroup; /* the cgroup's CPU time includes all of the members' */
	bool self_only;            /* the tree is its root alone: children do not count */
};

/* Store what was read of a range of counters: exactly, or only where it is larger than before. */
void rti_account_set(struct rti_account *account, struct rti_counter_range range,
                     const uint64_t self[RTI_COUNTERS], const uint64_t children[RTI_COUNTERS]);
void rti_account_raise(struct rti_account *account, struct rti_counter_range range,
                       const uint64_t self[RTI_COUNTERS]);
void rti_account_note_io(struct rti_account *account);

/* Raise what a member used itself to its CPU clock, or its faults, which were read after its
 * account. */
void rti_account_raise_cpu(struct rti_account *account, uint64_t user_ns, uint64_t system_ns);
void rti_account_raise_faults(struct rti_account *account, uint64_t minor, uint64_t major);

/* Account for a member that has exited while its parent still has its children; the parent was
 * read again after that. To be called for a member before its ancestors. Returns false if the
 * parent's account does not hold it. */
bool rti_ledger_account_exit(struct rti_ledger *ledger, const struct rti_account *exited,
                             struct rti_account *parent);

/* The same for a member that its parent has left behind. Whether an account may hold it: one
 * that grew by at least its faults and its CPU time, as last seen. If there is none, the last
 * values that were seen are kept; if there is one, the member is merged into it. */
bool rti_ledger_may_hold(const struct rti_ledger *ledger, const struct rti_account *reaper,
                         const struct rti_account *exited);
void rti_ledger_keep_last_seen(struct rti_ledger *ledger, const struct rti_account *exited);
void rti_ledger_merge_into_reaper(const struct rti_account *exited, struct rti_account *reaper);

/* What a member has used, with its children: the evidence of where its account went. */
struct rti_evidence {
	uint64_t faults, cpu_ns;
};
struct rti_evidence rti_ledger_evidence(const struct rti_account *member);

/* Attribute what there is of it to the growth of an account, and leave the rest in *missing.
 * Returns whether nothing is left. CPU time that the ticks of the account may hide is not
 * missing. */
bool rti_ledger_attribute(struct rti_account *reaper, struct rti_evidence *missing);

/* Some member has exited; no process waited for it. */
void rti_ledger_note_exit(struct rti_ledger *ledger);
void rti_ledger_note_unwaited(struct rti_ledger *ledger);

/* Whether a member has reaped children since the last sample; and whether it had by then. */
bool rti_ledger_has_grown(const struct rti_account *account);
bool rti_ledger_has_reaped(const struct rti_account *account);

/* Whether an exact account of what a member has reaped is at least as new as the last read of the
 * member. */
bool rti_ledger_is_covered_by(const struct rti_account *member,
                              const uint64_t reaped[RTI_COUNTERS]);

/* A member has exited that was read once more right before the caller reaped it: keep all of it. */
void rti_ledger_keep_final(struct rti_ledger *ledger, const struct rti_account *exited);

/* Sum up a sample: open, add every live member, set the floor, close. If no account has changed
 * since the last sample, set the floor and close will do. */
void rti_ledger_open(struct rti_ledger *ledger);
void rti_ledger_add(struct rti_ledger *ledger, struct rti_account *member);
/* What rti_ledger_add() would add of a member, and taking that out of an open sum. */
void rti_ledger_get_share(const struct rti_ledger *ledger, const struct rti_account *member,
                          uint64_t share[RTI_COUNTERS]);
void rti_ledger_subtract(struct rti_ledger *ledger, const uint64_t share[RTI_COUNTERS]);
/* The cgroup of the whole tree has used this much CPU time, by an account that may lag behind the
 * members' own by this much. */
void rti_ledger_set_floor_from_cgroup(struct rti_ledger *ledger, uint64_t user_ns,
                                      uint64_t system_ns, uint64_t lag_ns);
/* An exact account of the whole tree by the kernel. is_final: no member is left, so that nothing
 * can be missing or be counted twice, whatever was seen of members. */
void rti_ledger_set_account(struct rti_ledger *ledger, const uint64_t account[RTI_COUNTERS],
                            bool is_final);
void rti_ledger_close(struct rti_ledger *ledger);

/* Raise the share of children of a member to the kernel's exact account, which its reaper can
 * ask for. I/O is not part of it. */
void rti_ledger_raise_children(struct rti_account *member, const uint64_t reaped[RTI_COUNTERS]);

/* The same from the account of a member and of all that it has reaped, in one sum, as wait4(2) has
 * it. I/O is raised to it, too. */
void rti_ledger_raise_to_sum(struct rti_account *member, const uint64_t sum[RTI_COUNTERS]);

#endif
