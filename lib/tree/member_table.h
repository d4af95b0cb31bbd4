/* SPDX-License-Identifier: MIT */
/* Who belongs to a tree: taking members in, knowing them again, seeing them leave. No figures
 * are read here but stat, which tells identity.
 *
 * Owner: the tree sampler. It owns the members and their kept descriptors. Invariant: a member
 * is (pid, starttime). stat is read after everything else of a member, so that a matching start
 * time vouches for what was read by pid before it, and so that children whose use is already in
 * the process's I/O show in its faults too. */
#ifndef RTI_MEMBER_TABLE_H
#define RTI_MEMBER_TABLE_H

#include <stdbool.h>

#include "collect/collector.h"
#include "os/supervisor_protocol.h"
#include "tree/batch_read.h"
#include "tree/fork_tracker.h"
#include "tree/ledger.h"
#include "tree/pss_budget.h"

#define RTI_MEMBERS_MAX 65536
#define RTI_NEW_MEMBERS_MAX 16384 /* that one search takes in, lest a fork bomb keeps it going */

struct rti_member {
	int32_t pid;
	uint64_t starttime;
	struct rti_pid_stat stat; /* last read */
	struct rti_file stat_file, statm, io, children_file;
	int32_t memory_tid; /* a live thread to ask for memory when the leader has exited, or 0 */
	struct rti_figures figures; /* last read; counters also go into account */
	struct rti_account account;
	struct rti_cpu_clock clock; /* by the last survey, or read since then */
	bool has_clock;
	/* of the sweep that began this sample, where it has figures; or NULL */
	const struct rti_batch_row *row;
	uint64_t account_clock_ns;                   /* where it stood when the account was read */
	uint64_t status_clock_ns, switches_clock_ns; /* and when those files were */
	uint64_t scanned_pid, scanned_clock_ns;      /* when its children were searched for */
	bool needs_scan;
	uint64_t scanned_threads; /* how many it had then */
	bool has_reaped;          /* somebody, by the last sample */
	bool has_children;        /* or had some */
	uint64_t stat_pid;        /* the last that had been given away when stat was read */
	/* monotonic: when what is not read every time was read last; 0 is never */
	uint64_t rss_ns, stat_ns, status_ns, switches_ns;
	uint64_t files_used_at;          /* sample that last used its descriptors */
	uint64_t poll_rss_bytes;         /* by the last glance */
	uint64_t poll_ns, poll_clock_ns; /* when that was read, and where its clock stood */
	struct rti_pss pss;
	uint64_t peak_rss_bytes; /* largest seen: a zombie tells no more */
	/* Order of events within the tree; 0 is never. read_at: it was there; account_at: and
	 * its account was read. */
	uint64_t read_at, account_at, exited_at, revalidated_at;
	bool has_exited;       /* since this sample */
	int32_t previous_ppid; /* in the last sample */
	uint64_t mark;         /* of a walk over ancestors */
	bool is_unattributed;  /* gone, and no account has yet been found to have grown by it */
};

struct rti_member_table {
	struct rti_member *members; /* a parent stands before the children it was found by */
	size_t count, cap;
	uint32_t *slots; /* hash of pids: index + 1, or 0 */
	size_t slot_count;
	bool is_followed;        /* descendants belong to the tree */
	bool has_children_files; /* the kernel has task/TID/children */
	uint32_t files_cached, files_max;
	bool has_reserved;     /* since they were counted */
	uint64_t samples;      /* so far */
	size_t evict_next;     /* where the next one who must give up descriptors is looked for */
	uint64_t members_seen; /* distinct members so far */
	bool has_skipped;      /* the last search may have missed somebody */
	size_t count_before_scan;       /* the last search */
	uint64_t skipped;               /* that the last search found and could not take in */
	bool was_scanned;               /* since then, who joins is heard of */
	uint64_t last_pid, scanned_pid; /* given away by then; 0: unknown */
	/* somebody counts them for us; NULL: nobody does */
	const struct rti_shared_stats *fork_counts;
	uint64_t scans;
	struct rti_file last_pid_file;
	enum { LAST_PID_FROM_NS_LAST_PID, LAST_PID_FROM_LOADAVG } last_pid_source;
	struct rti_batch_reader batch_reader;
	struct rti_fork_tracker fork_tracker;
	bool is_short_of_files;  /* for want of descriptors */
	struct rti_buf children; /* scratch of the search by children files */
	struct candidate {
		int32_t pid, ppid;
	} * candidates; /* scratch of the search by parent pid */
	size_t candidate_count, candidate_cap;
};

/* Start a tree at pid. 0 or -errno: -ESRCH where there is none, -EACCES where it is hidden. */
int rti_member_table_init(struct rti_member_table *table, const struct rti_context *ctx,
                          int32_t pid, bool is_followed, uint32_t files_max);
void rti_member_table_free(struct rti_member_table *table, const struct rti_context *ctx);

/* stat of any process, through kept unless that is NULL. 0, or -errno as below. */
int rti_read_pid_stat(const struct rti_context *ctx, int32_t pid, struct rti_file *cached,
                      struct rti_pid_stat *out);

/* /proc answers for thread ids too; a tracker follows whole processes. */
bool rti_is_group_leader(const struct rti_context *ctx, const struct rti_pid_stat *stat);

/* Take somebody in, with the file that stat was read from, which is his from then on where it
 * may be kept, and the caller's otherwise; NULL: none. 0, or -errno, when he is passed over.
 * Members move in memory. */
int rti_member_add(struct rti_member_table *table, const struct rti_context *ctx,
                   const struct rti_pid_stat *stat, struct rti_file *file);

/* Somebody may be missing from the tree because of this error. */
void rti_member_table_note_skipped(struct rti_member_table *table, int err);

/* Children of it may have been passed over: the next discovery looks for them, whether it has
 * run or not. */
void rti_member_force_scan(struct rti_member *m);

/* Read stat of a member again. 0; -ESRCH when it is gone; -EACCES when it lives but is hidden;
 * other -errno. */
int rti_member_read_stat(struct rti_member_table *table, const struct rti_context *ctx,
                         struct rti_member *m);

/* Is its row of itself, and not of a stranger? */
bool rti_member_owns_row(const struct rti_member *m, uint64_t tick_ns);

/* What stat has, from its own row. */
void rti_member_apply_row(struct rti_member *m, uint64_t tick_ns);

/* Is it still there? Changes nothing that is known of it. */
bool rti_member_is_alive(const struct rti_context *ctx, struct rti_member *m);

/* A kept file says so: then it is sure to be there, and no zombie. 0 is no answer. */
bool rti_member_has_live_files(const struct rti_context *ctx, struct rti_member *m);

/* It has ended, and waits for its parent, or for the kernel to let go of it. */
bool rti_member_is_zombie(const struct rti_member *m);

/* The member with this pid, gone ones included, or NULL. */
struct rti_member *rti_member_find(const struct rti_member_table *table, int32_t pid);

/* Reserve room for the descriptors of a member, which may be that of somebody who has not been
 * read for a while. 0 when no more may be kept. */
bool rti_member_reserve_files(struct rti_member_table *table, const struct rti_context *ctx,
                              struct rti_member *m);

/* Count what is really kept, after a sample, if that may have changed. */
void rti_member_table_count_files(struct rti_member_table *table);

/* Close all kept descriptors and keep half as many from now on. */
void rti_member_table_drop_files(struct rti_member_table *table, const struct rti_context *ctx);

/* Forget the members that are gone. 1 when there were any; members move in memory. */
bool rti_member_table_remove_exited(struct rti_member_table *table, const struct rti_context *ctx);

#endif
