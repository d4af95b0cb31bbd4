/* SPDX-License-Identifier: MIT */
/* The state of one process tree. Private to lib/tree: others see it through tree.h. */
#ifndef RTI_TREE_STATE_H
#define RTI_TREE_STATE_H

#include "collect/domains.h"
#include "collect/status.h"
#include "os/cgroup.h"
#include "tree/batch_read.h"
#include "tree/fork_tracker.h"
#include "tree/member_table.h"

struct rti_member_row;

/* Where the pid that the kernel gave out last is read. */
enum rti_last_pid_source { RTI_LAST_PID_NS_LAST_PID, RTI_LAST_PID_LOADAVG };

/* Written by discovery.c only, but for the fork tracker, which has a file of its own. */
struct rti_discovery_state {
	bool is_followed;        /* descendants belong to the tree */
	bool has_children_files; /* the kernel has task/TID/children */
	bool was_scanned;        /* since then, new members are received as events */
	bool has_skipped;        /* the last scan may have missed a member */
	bool is_short_of_files;  /* for want of descriptors */
	uint64_t skipped;        /* members that the last scan found and could not add */
	size_t count_before;     /* members before the last scan */
	uint64_t scans;          /* so far */
	/* The pid that the kernel had given out last: now, and at the last scan of /proc. 0:
	 * unknown. */
	uint64_t last_pid, scanned_last_pid;
	enum rti_last_pid_source last_pid_source;
	struct rti_file last_pid_file;
	struct rti_fork_tracker fork_tracker;
	struct rti_buf children; /* scratch: a children file */
	struct rti_candidate {
		int32_t pid, ppid;
	} * candidates; /* scratch: the processes of a scan of /proc */
	size_t candidate_count, candidate_capacity;
};

/* Written by memory_peak.c only. */
struct rti_peak_state {
	uint64_t tree_rss_bytes, tree_pss_bytes;
	uint64_t rss_with_pss_bytes; /* largest sum of RSS at which PSS was summed too */
	bool is_polled;              /* between samples, so peaks matter to the caller */
};

/* Our own process at the root of a command's tree, which starts the program and reaps what it
 * leaves behind. Written by supervised.c only. */
struct rti_supervised_state {
	int32_t pid;                           /* 0: there is none */
	const struct rti_shared_stats *shared; /* what it counts, in shared memory; NULL: nothing */
	/* What the kernel says that it has reaped, once it has been asked. It may include members
	 * that the sample before still had, so it is applied after their exits. */
	bool has_final_rusage;
	uint64_t final_rusage[RTI_COUNTERS];
};

/* Everything else is written by tree.c and tree_metrics.c. */
struct rti_tree {
	const struct rti_context *ctx; /* the tracker's */
	struct rti_member_table table;
	struct rti_discovery_state discovery;
	struct rti_batch_reader batch_reader; /* written by batch_read.c */
	struct rti_ledger ledger;             /* written by ledger.c */
	struct rti_pss_budget pss;            /* written by pss_budget.c */
	struct rti_peak_state peaks;
	struct rti_supervised_state supervised;
	struct rti_cgroup cgroup; /* that the whole tree runs in, if it does */

	struct rti_pid_domains domains; /* what the collectors say of themselves */
	/* The collectors of gauges that are wanted. */
	const struct rti_pid_collector *gauges[RTI_PID_COLLECTORS_MAX];
	size_t gauge_count;
	/* RTI_BATCH_ bits that the batch reader is asked for. */
	uint32_t row_request, row_request_of_supervisor;

	uint64_t want;                /* RT_HAS_ bits of every sample */
	uint64_t wanted;              /* of members: want, and all that it needs */
	uint64_t now_ns;              /* monotonic, at the start of this sample or peak poll */
	uint64_t sampled_ns;          /* at the start of the last sample */
	uint64_t events;              /* orders reads and exits within the tree */
	bool is_final;                /* nothing is put off, for there is no later sample */
	bool needs_reconcile;         /* a member has exited or was reaped in this sample */
	bool has_lost_members;        /* in the last sample */
	uint32_t reasons;             /* RT_REASON_ bits so far */
	uint64_t peak_rss_bytes;      /* largest peak of a single member */
	uint64_t supervisor_cpu_ns;   /* what our own supervisor has used */
	uint64_t members_skipped_max; /* in one sample */
	/* Where rows of members go when they exit; NULL: nowhere. */
	void (*on_exit)(void *arg, const struct rti_member_row *row);
	void *on_exit_arg;
};

/* Whether a member is our own supervisor. */
static inline bool rti_is_supervisor(const struct rti_tree *tree, const struct rti_member *m)
{
	return m->pid == tree->supervised.pid;
}

#endif
