/* SPDX-License-Identifier: MIT */
/* One process tree: reads its members in an order that keeps the accounts straight, and sums
 * them up. */
#ifndef RTI_TREE_H
#define RTI_TREE_H

#include <stdbool.h>

#include "collect/collector.h"
#include "collect/status.h"
#include "os/cgroup.h"
#include "os/supervisor_protocol.h"
#include "tree/member_table.h"
#include "tree/pss_budget.h"

struct rti_process_list;

struct rti_tree {
	struct rti_member_table table;
	struct rti_ledger ledger;
	uint64_t events; /* orders reads and departures */
	uint64_t peak_rss_bytes, peak_tree_rss_bytes, peak_tree_pss_bytes;
	uint64_t rss_with_pss_bytes; /* largest sum of RSS when PSS was summed too */
	uint32_t reasons;
	uint64_t want;           /* of the sample */
	uint64_t now_ns;         /* monotonic, at the start of a sample or glance */
	uint64_t sampled_ns;     /* and of the last sample */
	bool has_removed_member; /* in that */
	bool needs_reconcile;    /* in this one: somebody is gone, or was reaped */
	bool is_peak_polled;     /* between samples: peaks matter */
	bool is_final;           /* nothing is left for later: there is no later */
	struct rti_pss_budget pss;
	/* What the keeper said last that all it reaped has used. It may hold members that the
	 * sample before still had, so it is taken once their departure is booked. */
	bool has_final_rusage;
	uint64_t final_rusage[RTI_COUNTERS];
	/* A process of our own at the root, 0 for none: it starts the program and reaps what
	 * that leaves behind. What it reaped belongs to the tree; what it uses itself is
	 * overhead, its I/O at the start taken off what it reaps. */
	int32_t supervisor_pid;
	uint64_t supervisor_cpu_ns;
	const struct rti_shared_stats *shared; /* in memory that it shares */
	/* where members that depart are listed; NULL: nowhere */
	struct rti_process_list *process_list;
	uint64_t most_skipped;
	struct rti_cgroup cgroup; /* that the whole tree runs in, if it does */
};

int rti_tree_init(struct rti_tree *tree, const struct rti_context *ctx, int32_t pid,
                  uint32_t files_max);
void rti_tree_free(struct rti_tree *tree, const struct rti_context *ctx);

/* Fill the figures of a sample, of which out has the time. 0, or -ESRCH when no member is left;
 * out holds the totals in both cases. */
int rti_tree_sample(struct rti_tree *tree, const struct rti_context *ctx, uint64_t want,
                    struct rti_status *status, struct rt_metrics *out);

/* What time it is to the budget, and to all that is read seldom. */
void rti_tree_note_time(struct rti_tree *tree, uint64_t now_ns);

/* The root is a keeper. Before the first sample. */
void rti_tree_set_supervisor(struct rti_tree *tree, int32_t pid,
                             const struct rti_shared_stats *shared);

/* Every fork so far was heard of, by a keeper or by ourselves. */
bool rti_tree_sees_every_fork(const struct rti_tree *tree);
/* If so: most members at the same time. */
uint64_t rti_tree_most_alive(const struct rti_tree *tree);

/* The keeper says exactly what all that it reaped has used. Later samples hold it. */
void rti_tree_apply_final_rusage(struct rti_tree *tree, const struct rt_rusage *reaped,
                                 int64_t inherited_maxrss_kib);

/* The root was reaped by us, right after a sample, so that nothing of it is lost: let it go. use
 * is what the kernel said that it and all those whom it had waited for have used; NULL: not
 * known. */
void rti_tree_account_root_exit(struct rti_tree *tree, const struct rti_context *ctx, int32_t pid,
                                const struct rt_rusage *use);

/* Members that are not a keeper, and those of them that are no zombies. */
size_t rti_tree_count(const struct rti_tree *tree);
size_t rti_tree_count_running(const struct rti_tree *tree);

/* Row of a member of the last sample. */
void rti_tree_row(const struct rti_tree *tree, const struct rti_member *m, struct rt_process *out);

#endif
