/* SPDX-License-Identifier: MIT */
/* The state of one process tree. Private to lib/tree: others see it through tree.h. */
#ifndef RTI_TREE_STATE_H
#define RTI_TREE_STATE_H

#include "collect/domains.h"
#include "collect/status.h"
#include "os/cgroup/cgroup.h"
#include "os/wakeup.h"
#include "tree/member/member_list.h"
#include "tree/member/member_table.h"
#include "tree/pure/pss_budget.h"
#include "tree/sources/batch_read.h"
#include "tree/sources/fork_tracker.h"
#include "tree/state/kernel_account_state.h"
#include "tree/state/memory_state.h"
#include "tree/state/watch_state.h"
#include "util/arith.h"

struct rti_member_row;
struct rti_tree_gpu;
struct rti_descendant_set;
struct rti_gpu_files;

/* Where the pid that the kernel allocated last is read. */
enum rti_last_pid_source { RTI_LAST_PID_NS_LAST_PID, RTI_LAST_PID_LOADAVG };

/* The processes that scans found and could not add: until all of them are members, something may be
 * missing. Written by new_members.c only. Zeroed memory: nothing was skipped. */
struct rti_skipped {
	struct rti_descendant_set *pids; /* alive: skipped, and no member yet; NULL: none */
	uint64_t first_boottime_ns;      /* when the first of them was skipped */
	bool has_unknown;                /* and others, unknown which */
};

/* Written by discovery.c, and what is skipped by new_members.c. The fork tracker in it is written
 * by fork_tracker.c; supervised.c puts the tracker of a command in its place. */
struct rti_discovery_state {
	bool is_followed;        /* descendants belong to the tree */
	bool has_children_files; /* the kernel has task/TID/children */
	bool has_many_roots;     /* it may have: any member may have a parent outside the tree */
	int32_t session;         /* that is followed; 0: none. Written by roots.c */
	bool was_scanned;        /* once: members older than the events are known */
	bool has_skipped;        /* the last scan may have missed a member */
	bool is_short_of_files;  /* we ran out of descriptors */
	int skip_error;          /* -errno of the first process of missing; 0: none */
	int32_t skip_pid;        /* that process; 0: unknown which */
	int events_error; /* why process events are not received: -errno; 0: they are unwanted */
	uint64_t skipped; /* members that the last scan found and could not add */
	struct rti_skipped missing; /* of all scans, and not members yet */
	size_t count_before;        /* members before the last scan */
	/* The pid that the kernel had allocated last: now, and at the last scan of /proc. 0:
	 * unknown. */
	uint64_t last_pid, scanned_last_pid;
	enum rti_last_pid_source last_pid_source;
	struct rti_file last_pid_file;
	struct rti_fork_tracker fork_tracker;
	struct rti_buf children; /* scratch: a children file */
	struct rti_candidate {
		int32_t pid, ppid, session;
	} * candidates; /* scratch: the processes of a scan of /proc */
	size_t candidate_count, candidate_capacity;
};

struct rti_reused_pid {
	int32_t pid;
	bool was_kept;     /* a sample has kept it once, since a member still had the pid */
	uint64_t noted_ns; /* CLOCK_BOOTTIME: the process of the fork was there then */
};

/* Written by new_members.c only. */
struct rti_reused_pids {
	struct rti_reused_pid *forked; /* with the pid of a member, which may be that process */
	size_t count, capacity;
	bool is_lacking; /* this sample lacks a process that has the pid of an exited member */
};

/* The largest footprint so far, or the largest that is needed. */
struct rti_peak {
	struct rti_bounds bounds;
	bool is_exact; /* bounds.bytes is of a moment that was exact, or of a member's own peak */
	/* Estimates since the last read that rest on copies: the largest, and its upper bound. */
	uint64_t suspected, suspected_high;
};

#define RTI_MARKS_MAX 64

/* The largest figures since a mark of the caller. peak_mark.c makes it; memory_peak.c raises it. */
struct rti_peak_mark {
	uint64_t id; /* 0: this one is free */
	uint64_t set_ns;
	char label[64];
	/* Largest VmHWM of a member when it was set: one that is larger is of a later time.
	 * UINT64_MAX: unknown. */
	uint64_t before_bytes;
	uint64_t rss_bytes; /* of one member */
	uint64_t processes; /* at the same time */
	struct rti_peak all, needed;
};

/* Written by memory_peak.c only, but for the marks. */
struct rti_peak_state {
	uint64_t rss_bytes; /* sum over the members */
	uint64_t pss_bytes; /* all of it read */
	struct rti_peak all, needed;
	struct rti_peak_mark *marks; /* RTI_MARKS_MAX of them; NULL before the first */
	size_t mark_count;           /* those that are set */
	uint64_t last_mark;          /* id */
	uint64_t charged_bytes;      /* to the tree's own cgroup, at most, when it was last read */
	struct rti_footprint parts;  /* the largest footprint that was seen */
};

/* The sums over all members, as of the last sample that summed them up. Written by tree_metrics.c
 * only. */
struct rti_sums {
	struct rt_metrics figures;     /* the gauges, and the domains that all members have */
	bool is_final_account_current; /* the supervisor's has all that it has reaped */
	bool has_reaped;               /* some other member has reaped children that count */
	bool has_reaped_faults;        /* and they had page faults */
	bool is_in_us;                 /* what a member has reaped was read in whole microseconds */
	bool has_zombie;               /* some member is one */
	uint64_t times_in_ticks;       /* CPU times in the totals that are in whole clock ticks */
	uint64_t ended_run_ns;         /* CPU time of threads that have ended, as far as known */
	bool is_regular;               /* all is known of every member */
	bool have_shares;              /* each member knows its share in them */
};

/* The members that the last sample had are the first so many of the table: polls add others behind
 * them, and only a sample removes any. Written by member_row.c only. */
struct rti_rows_state {
	size_t count;
	bool are_kept; /* what polls move of their rows is in values.figures.row */
};

/* A member that had ended by the last sample, or was waited for since. */
struct rti_ended_row {
	struct rt_process row; /* as last read */
	struct rti_before_part before;
};

/* Written by member_change.c only. */
struct rti_ended_state {
	struct rti_ended_row *rows;
	size_t count, room;
	size_t sampled;  /* so many of them had ended by the last sample */
	uint64_t sample; /* number of the one that a read or an end now belongs to */
};

/* Our own process at the root of a command's tree, which starts the program and reaps what it
 * leaves behind. Written by supervised.c only. */
struct rti_supervised_state {
	int32_t pid;                           /* 0: there is none */
	const struct rti_shared_stats *shared; /* what it counts, in shared memory; NULL: nothing */
	/* It is the caller, which has reaped so much; NULL: it is a process of its own. */
	const struct rti_reaped *reaped;
	/* What the kernel says that it has reaped, once it has been asked. It may include members
	 * that the sample before still had, so it is applied after their exits. */
	bool has_final_rusage;
	uint64_t final_rusage[RTI_COUNTERS];
	uint64_t final_peak_bytes; /* no process that it has reaped had a larger peak */
	struct rti_cgroup cgroup;  /* that the whole tree runs in, if it does; tree.c empties it */
	/* By how much its account may lag behind. The count of the CPUs that it comes from is
	 * taken once, since the C library opens a file for it. */
	uint64_t cgroup_lag_ns;
	uint32_t left_cgroup; /* RTI_LEFT_ value, by the members that were looked at */
	size_t cgroup_next;   /* member to look at next */
	uint64_t cgroup_checked_ns;
	/* Where rows of members go when they exit; NULL: nowhere. */
	void (*on_exit)(void *arg, const struct rti_member_row *row);
	void *on_exit_arg;
};

/* For the event loop of a host. Written by event_loop.c only. */
struct rti_tree_loop_state {
	struct rti_wakeup wakeup;
	int root; /* pidfd; -1 while closed */
};

/* Why figures are missing. Written by obstacles.c only. */
struct rti_obstacles {
	struct rti_status status;  /* of the last sample */
	uint64_t of_members;       /* domains that status has from the sums over all members */
	uint64_t members_ever[64]; /* by bit number: members that an obstacle was met at so far */
	/* Domains in which a counter of an exited member may be in no account, since its own
	 * or its reaper's could not be read. */
	struct rti_status lost;
	int32_t unwaited_pid; /* the first member that no process waited for; 0: none */
	/* As the last sample found them in rti_discovery_state, which peak polls change. */
	bool has_skipped;
	int skip_error;
	int32_t skip_pid;
};

/* What the tree used before the account began. Written by marks.c; of a command, which has no past,
 * by supervised.c. */
struct rti_past {
	bool is_known;              /* nothing is missing */
	bool was_looked_at;         /* by the first sample */
	uint64_t start_realtime_ns; /* of the account; 0: unknown */
};

/* Reads that another process serves. Written by served_reads.c only. */
struct rti_served_reads {
	bool is_seen; /* there may be some, in no account of a member: from now on */
	/* What was looked at so far, of members and of what has ended. */
	uint64_t bytes, fetched;
	uint64_t looked_at_ns;   /* the sample of the last look */
	unsigned looks;          /* in that sample */
	uint64_t quiet_until_ns; /* no such file system was mounted */
};

struct rti_tree {
	const struct rti_context *ctx; /* the tracker's */
	struct rti_member_table table;
	struct rti_discovery_state discovery;
	struct rti_reused_pids reused_pids;   /* written by new_members.c */
	struct rti_batch_reader batch_reader; /* written by batch_read.c */
	struct rti_watched watched;
	struct rti_ledger ledger;         /* written by ledger.c; self_only by tree.c */
	struct rti_pss_budget pss_budget; /* written by pss_budget.c */
	struct rti_memory_state memory;
	struct rti_peak_state peaks;
	struct rti_sums sums;
	struct rti_rows_state rows;
	struct rti_ended_state ended;
	struct rti_supervised_state supervised;
	struct rti_kernel_account kernel_account;
	struct rti_tree_loop_state loop;
	struct rti_obstacles obstacles;
	struct rti_served_reads served_reads;
	struct rti_past past;
	struct rti_tree_gpu *gpu; /* written by gpu.c; NULL: no figure of GPUs is wanted */

	/* Written by tree.c. */
	rti_tree_list *list; /* of the members; NULL: they are the descendants of a root */
	void *list_arg;
	struct rti_pid_domains domains; /* what the collectors say of themselves */
	/* The collectors of gauges that are wanted. */
	const struct rti_pid_collector *gauges[RTI_PID_COLLECTORS_MAX];
	size_t gauge_count;
	/* RTI_BATCH_ bits that the batch reader is asked for. */
	uint32_t row_request, row_request_of_supervisor;
	uint64_t want;       /* RT_HAS_ bits of every sample */
	uint64_t wanted;     /* of members: want, and all that it needs */
	uint64_t now_ns;     /* monotonic, at the start of this sample or peak poll */
	uint64_t sampled_ns; /* at the start of the last sample */
	uint32_t runaways;   /* at the end: processes that fork and exit too fast to be members */
	bool is_final;       /* nothing is put off, for there is no later sample */

	bool is_of_command; /* its own child, or under a supervisor; written by supervised.c */

	/* Written by member_read.c. */
	uint64_t supervisor_cpu_ns; /* what our own supervisor has used */
	/* A member has exited or was reaped in this sample, or may have been, since its stat
	 * or its reaper's is stale. Cleared by tree.c. */
	bool needs_reconcile;
	/* The batch read of this sample says whether members that have not run have another RSS
	 * than before: once a second, and of each that a partial sample looks at. */
	bool compares_rss;
	uint64_t rss_compared_ns;

	bool is_kept_in_us; /* wait4(2) has said what the root used; written by supervised.c */

	/* Written by exit_accounting.c: CPU times in whole clock ticks of exited members that no
	 * tracked member has reaped. */
	uint64_t kept_in_ticks;
	uint64_t kept_ended_run_ns; /* likewise: CPU time of threads that had ended */

	/* Written by clock_read.c: the CPU time that the last look at the clocks of all members
	 * took, if that may decide whether the tree is watched. */
	uint64_t clocks_ns;

	/* Written by tree_metrics.c. */
	uint64_t members_skipped_max; /* in one sample */
	bool has_threads;             /* some member had more than one */
	bool has_forked;              /* some member has a child, or has reaped one since */

	/* In a row, with this one: 0 once a member, or what is known of it, has changed. Counted up
	 * by tree.c. */
	uint64_t unchanged_samples;
	uint64_t events;         /* orders reads and exits within the tree */
	uint64_t peak_rss_bytes; /* largest peak of a single member */
	uint32_t reasons;        /* RT_REASON_ bits so far */
};

#define rti_pages_to_bytes(ctx, pages) rti_multiply_saturated(pages, (ctx)->platform->page_size)

#endif
