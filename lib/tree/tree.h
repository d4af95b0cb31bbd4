/* SPDX-License-Identifier: MIT */
/* One process tree: reads its members in an order that keeps the accounts straight, and sums
 * them up.
 *
 * All that other folders know of a tree. */
#ifndef RTI_TREE_H
#define RTI_TREE_H

#include "bpf/account/account.h"
#include "collect/collector.h"
#include "collect/status.h"
#include "os/cgroup/cgroup.h"
#include "tree/gpu/gpu_peak.h"
#include "tree/member/footprint.h"
#include "tree/member/member_list.h"
#include "tree/read/member_row.h"

struct rti_fork_tracker;
struct rti_reaped;
struct rti_tree_account;

struct rti_tree_opts {
	const int32_t *pids; /* of the roots; NULL: there is none, and list has the members */
	size_t pid_count;
	rti_tree_list *list; /* must live as long as the tree, as list_arg must; else NULL */
	void *list_arg;
	uint64_t want;        /* RT_HAS_ bits of every sample */
	bool reads_pss;       /* PSS is read, not estimated */
	uint32_t files_max;   /* cached descriptors */
	uint32_t pss_share;   /* as in rt_opts */
	uint32_t pss_hold_us; /* the same */
};

/* Follow a tree. ctx must live as long as the tree. Returns 0; -ESRCH if there is no such process;
 * -EACCES if it is hidden; -ENOMEM; or another -errno. */
int rti_tree_new(struct rti_tree **out, const struct rti_context *ctx,
                 const struct rti_tree_opts *opts);
void rti_tree_free(struct rti_tree *tree);

/* Fill the figures of a sample. Returns 0, or -ESRCH if no member is left, or only zombies are; out
 * holds the totals in both cases. */
int rti_tree_sample(struct rti_tree *tree, uint64_t now_ns, struct rt_metrics *out);

/* Say why a domain that is wanted is not complete in last, which is the last sample. Asks the
 * kernel where the error alone does not tell. */
void rti_tree_explain(const struct rti_tree *tree, const struct rt_metrics *last, uint64_t has,
                      struct rti_explanation *out);

/* Look for a peak of memory between two samples: sums RSS, and adds new members. */
void rti_tree_poll_peak(struct rti_tree *tree);

/* Set a mark, from which the largest figures are kept. label may be NULL. Returns 0, -ENOSPC, or
 * -ENOMEM. */
int rti_tree_mark(struct rti_tree *tree, const char *label, uint64_t *id);

/* The largest figures since a mark, up to now. Returns 0, or -ENOENT if it is not set. */
int rti_tree_since(struct rti_tree *tree, uint64_t id, struct rt_peaks *out);

/* Remove a mark. Returns 0, or -ENOENT if it is not set. */
int rti_tree_unmark(struct rti_tree *tree, uint64_t id);

/* The next sample reads what its figures of memory rest on, whatever that takes. */
void rti_tree_read_memory(struct rti_tree *tree);

/* CPU time that walking page tables has cost so far. */
uint64_t rti_tree_pss_cost_ns(const struct rti_tree *tree);

/* What was wanted of it: RT_HAS_ bits. */
uint64_t rti_tree_domains(const struct rti_tree *tree);

/* Members of the last sample, without our own supervisor. */
size_t rti_tree_count(const struct rti_tree *tree);

/* --- What a command adds: its supervisor, its cgroup, its end. --- */

struct rti_tree_command {
	int32_t root; /* takes the place of the root; 0: that stays */
	/* The root is our own supervisor; 0: the root is the program. */
	int32_t supervisor_pid;
	const struct rti_shared_stats *shared; /* what the supervisor counts; NULL: nothing */
	/* The caller is the supervisor, and has reaped so much; NULL: it is not. */
	const struct rti_reaped *reaped;
	/* BPF programs that count its processes; NULL: none. They stay the caller's. */
	struct rti_tree_account *account;
	const struct rti_cgroup *cgroup;       /* that the whole tree runs in; copied */
	struct rti_fork_tracker *fork_tracker; /* subscribed before the start; taken */
	/* Called with each member that exits, in the sample that finds that; may be NULL. */
	void (*on_exit)(void *arg, const struct rti_member_row *row);
	void *on_exit_arg;
};

/* Give a tree to a command, before the first sample. Allocates nothing; a file that cannot be
 * opened is no failure. Returns 0, or -ESRCH if there is no process with the pid of the root,
 * which is a member all the same. */
int rti_tree_attach_command(struct rti_tree *tree, const struct rti_tree_command *command);

/* The samples from now on are the last: nothing is put off. */
void rti_tree_begin_final(struct rti_tree *tree);

/* Apply what the kernel says exactly of all that the supervisor has reaped. Later samples
 * include it. inherited_maxrss_kib: the peak that an exec of the supervisor hands on. */
void rti_tree_apply_final_rusage(struct rti_tree *tree, const struct rt_rusage *reaped,
                                 int64_t inherited_maxrss_kib);

/* Whether the last sample found nothing that the supervisor has reaped since. */
bool rti_tree_is_final_account_current(const struct rti_tree *tree);

/* The supervisor does not answer any more: what it said before completes nothing. */
void rti_tree_drop_final_rusage(struct rti_tree *tree);

/* Account for the exit of the root, which the caller has reaped right after a sample, so that
 * nothing of it is lost. use: what wait4(2) says of it and of all that it has reaped; NULL:
 * unknown. inherited_maxrss_kib: the peak that an exec of the caller hands on. */
void rti_tree_account_root_exit(struct rti_tree *tree, int32_t pid, const struct rt_rusage *use,
                                int64_t inherited_maxrss_kib);

/* What BPF programs have counted, as the last sample read it; all 0 if there are none, or if it
 * could not be read. */
const struct rti_account_totals *rti_tree_account_totals(const struct rti_tree *tree);

/* Look at the cgroups of some members: at a hundred a second at most. */
void rti_tree_check_cgroups(struct rti_tree *tree);

/* Kill all members but our own supervisor, and what they fork meanwhile. Returns 0 or
 * -errno. */
int rti_tree_kill(struct rti_tree *tree);

/* What is known of a tree besides its figures. */
struct rti_tree_facts {
	/* Members that are no zombies, without our own supervisor. At the end also processes that
	 * fork and exit too fast to become members. */
	size_t running;
	uint64_t members_skipped_max; /* in one sample */
	uint64_t supervisor_cpu_ns;
	bool is_self_only;    /* the tree is its root alone */
	bool has_threads;     /* some member had more than one */
	bool sees_every_fork; /* by events, so far */
	bool has_other_child; /* we got another child, which may be the tree's */
	/* Most processes at the same time, by the supervisor's count. Unknown if a process ran
	 * on without its leader, which counts as its exit. */
	bool knows_alive_peak;
	uint64_t alive_peak;
	uint64_t accounted_cpu_ns; /* by the accounts of members alone, without the cgroup's */
	uint64_t cgroup_cpu_ns;    /* by the cgroup's account alone; 0: it was not read */
	uint64_t cgroup_lag_ns;    /* by how much the account of any cgroup may lag behind */
	/* the cgroup's CPU time holds all that members' accounts do */
	bool is_covered_by_cgroup;
	bool is_rss_counted_once;             /* no member is known to map pages several times */
	struct rti_footprint footprint_parts; /* of the largest footprint that was seen */
	uint32_t left_cgroup; /* RTI_LEFT_ value: members that have left the program's cgroup */
	struct rti_gpu_peak gpu_memory_peak;
};
void rti_tree_get_facts(const struct rti_tree *tree, struct rti_tree_facts *out);

/* The rows of GPUs, and of the members that use them, of the last sample. Returns NULL and *count 0
 * if there are none. */
const void *rti_tree_gpus(const struct rti_tree *tree, size_t *count);
const void *rti_tree_gpu_processes(const struct rti_tree *tree, size_t *count);

/* The cgroup that the tree runs in; its path is empty if there is none. */
struct rti_cgroup *rti_tree_cgroup(struct rti_tree *tree);

#endif
