/* SPDX-License-Identifier: MIT */
/* Finding the members of a tree: those who are heard of, and otherwise the children of those who
 * may have forked. */
#ifndef RTI_DISCOVERY_H
#define RTI_DISCOVERY_H

#include <stdbool.h>

#include "tree/member_table.h"

/* Take in descendants that have come since the last time, and read the clocks of all members.
 * Members move in memory. */
void rti_discover_members(struct rti_member_table *table, const struct rti_context *ctx);

/* The last pid that was given away, to whomever: as long as it stands still nobody has forked,
 * nor made a thread. 0: nobody tells. */
uint64_t rti_read_last_pid(struct rti_member_table *table, const struct rti_context *ctx);

/* 0 when it has none that run or can be waited for. Of who has many threads that is not found
 * out. */
bool rti_member_has_children(struct rti_member_table *table, const struct rti_context *ctx,
                             struct rti_member *m);

#endif
