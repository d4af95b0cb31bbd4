/* SPDX-License-Identifier: MIT */
/* The PSS of members: which ones to read now, and what is known of them since. */
#ifndef RTI_PSS_READ_H
#define RTI_PSS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rti_tree;
struct rti_member;

/* A read this old is made again. */
#define RTI_PSS_REFRESH_NS UINT64_C(10000000000)

/* Read the PSS of all members for which it is not known well enough, if the budget allows that. If
 * it can never pay for all of them, read some, to learn from. Returns true if any was read. */
bool rti_pss_read_due(struct rti_tree *tree);

/* The PSS of a member now: as read, and moved by what it has mapped or released since. */
uint64_t rti_pss_now(const struct rti_tree *tree, const struct rti_member *m);

/* The sum over all members by what was read. */
struct rti_pss_sum {
	bool has_all;          /* every member was read */
	size_t known, unknown; /* members that could be looked at, and others */
	uint64_t bytes;
	uint64_t anon_bytes;
	bool has_kinds;
	uint64_t doubt_bytes; /* how far members' sharing may have moved since */
	uint64_t oldest_ns;   /* when the oldest of the reads was made */
	int error;            /* why one could not be read; 0: none */
};
void rti_pss_sum(const struct rti_tree *tree, struct rti_pss_sum *out);

/* Whether the sum is as good as if it had been read just now: within a hundredth. */
#define RTI_PSS_DOUBT 100
bool rti_pss_is_within_doubt(const struct rti_pss_sum *sum);

#endif
