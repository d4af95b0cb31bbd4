/* SPDX-License-Identifier: MIT */
/* One process tree: reads its members in an order that keeps the accounts straight, and sums them up. */
#ifndef RTI_TREE_H
#define RTI_TREE_H

#include "collector.h"
#include "proctree.h"
#include "status.h"

struct rti_tree {
	struct rti_proctree members;
	struct rti_ledger ledger;
	uint64_t events; /* orders reads and departures */
	uint64_t peak_rss_bytes, peak_tree_rss_bytes, peak_tree_pss_bytes;
	uint32_t reasons;
	int is_settled; /* the kernel's final account of the root is in the ledger */
};

int rti_tree_init(struct rti_tree *tree, const struct rti_context *ctx, int32_t pid, uint32_t most_files);
void rti_tree_free(struct rti_tree *tree, const struct rti_context *ctx);

/* Fill the figures of a sample. 0, or -ESRCH when no member is left; out holds the totals in both cases. */
int rti_tree_sample(struct rti_tree *tree, const struct rti_context *ctx, uint64_t want, struct rti_status *status,
                    struct rt_metrics *out);

/* The root was reaped by its owner, right after a sample: take the kernel's account of it, or NULL where that is not
 * wanted, and let the root go. bequeathed_kib: peak of whoever started it, which an exec hands on in ru_maxrss. */
void rti_tree_reap_root(struct rti_tree *tree, const struct rti_context *ctx, int32_t pid,
                        const struct rt_rusage *final, int64_t bequeathed_kib);

/* Row of a member of the last sample. */
void rti_tree_row(const struct rti_member *m, struct rt_process *out);

#endif
