/* SPDX-License-Identifier: MIT */
/* The facts of a member that the read policy decides by: what is wanted, missing and due. */
#ifndef RTI_READ_FACTS_H
#define RTI_READ_FACTS_H

#include "tree/read_policy.h"
#include "tree/state.h"

/* The domains that a member is read for. */
uint64_t rti_wanted_of(const struct rti_tree *tree, const struct rti_member *m);

/* The CPU clock of a member now, against where it stood when its account was read. */
enum rti_clock_state rti_clock_state(const struct rti_member *m);

/* wanted is rti_wanted_of() of this member. */
struct rti_read_facts rti_gather_read_facts(const struct rti_tree *tree, const struct rti_member *m,
                                            uint64_t wanted);

/* Whether nothing is due of a member if its CPU clock stands still. Looks at its hot part alone. */
bool rti_is_idle(const struct rti_tree *tree, const struct rti_member *m);

/* When something is due next of a member if its CPU clock stands still; 0: in the next sample,
 * since something is missing. */
uint64_t rti_idle_until_ns(const struct rti_tree *tree, const struct rti_member *m,
                           uint64_t wanted);

/* Whether stat of a member could not be read when that was tried last. E.g.: for want of
 * descriptors. So it may have another parent since, or be a zombie, and its account may hold any
 * member that has exited since. */
bool rti_has_stale_stat(const struct rti_member *m);

#endif
