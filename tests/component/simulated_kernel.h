/* SPDX-License-Identifier: MIT */
/* A kernel that is simulated: processes and threads that live by chance, the accounts that the
 * kernel keeps of them, its /proc, and what nobody outside can know: the truth. Time goes on
 * between any two calls of whoever looks at it.
 *
 * One world at a time, in this process. */
#ifndef SIMULATED_KERNEL_H
#define SIMULATED_KERNEL_H

#include "os/platform.h"
#include "os/procfs.h"

#define SIM_MOST 24   /* processes at a time */
#define SIM_THREADS 3 /* of one process, besides its leader */
/* pid of the root; the world has few pids, so that they are given away again soon */
#define SIM_ROOT 100
#define SIM_PIDS 40
#define SIM_PROGRAM 150 /* what a keeper starts */
#define SIM_CPUS 3
#define SIM_TICK_NS 10000000u
#define SIM_LEAF "leaf" /* the cgroup of the tree, where it has one; below the root */

struct sim_rules {
	/* the root is a keeper: it has started the program, and adopts and reaps what that
	 * leaves */
	int is_kept;
	int may_orphan;   /* processes end before their children do */
	int may_ignore;   /* processes ignore SIGCHLD */
	int may_adopt;    /* members make themselves subreapers */
	int has_file;     /* the tree has a cgroup to itself */
	int has_children; /* there are children files */
	int last_pid_source;
};

struct sim_thread {
	int tid;
	uint64_t starttime;
};

struct sim_process {
	struct sim_thread leader, threads[SIM_THREADS];
	int thread_count;     /* of threads, all alive */
	int ppid, parent_tid; /* children hang on the thread that forked them */
	int is_leader_gone;   /* it ended before the other threads */
	int is_zombie;
	/* its account was moved, and all can be read still; or the kernel has let go of all but
	 * its name */
	int is_dead, is_husk;
	int ignores_sigchld, is_subreaper, is_member, is_in_group, execs;
	uint64_t user_ns, system_ns, faults;
	uint64_t reaped_user_ns, reaped_system_ns, reaped_faults;
	uint64_t written; /* what was reaped is folded in */
};

struct sim_kernel {
	struct sim_rules rules;
	struct sim_process p[SIM_MOST];
	int count;
	unsigned seed, events_per_mille;
	uint64_t now;                     /* gives start times */
	int is_ending;                    /* nobody forks any more */
	uint64_t cpu_ns, faults, written; /* the truth: of all that ever was in the tree */
	int has_lost_events;              /* somebody's account went to nobody */
	uint64_t group_ns, leaf_ns;       /* used by all in the enclosing cgroup, and in the leaf */
	uint64_t baseline_ns;             /* of the group's account, before the tree began */
	uint64_t overhead_ns;             /* part of group_ns: ours and the keeper's */
	struct {
		int pid, is_in_leaf;
		uint64_t ns;
		/* what these have used since the last tick is in no cgroup's account yet */
	} running[SIM_CPUS];
};

extern struct sim_kernel sim;
extern const struct rti_procfs_ops sim_files;

void sim_begin(unsigned seed, const struct sim_rules *rules);
unsigned sim_pick(unsigned below);

/* Time goes on: by one event, or by as many as chance has it. */
void sim_happen(void);
void sim_go_on(void);

/* A process ends; and its parent waits for it, who for the root is us. */
void sim_stop(int pid);
void sim_end(int pid);

/* We have used this much. */
void sim_spend(uint64_t ns);

/* The process of which this is a thread, or NULL. thread may be NULL. */
struct sim_process *sim_find(int tid, const struct sim_thread **thread);

int sim_members(void);         /* that are there, zombies included, the root not */
int sim_is_tree_running(void); /* some member is not a zombie */

/* The group's account as it reads now, and by how much it lags. */
uint64_t sim_group_lag_ns(void);
uint64_t sim_group_account_ns(void);
uint64_t sim_leaf_account_ns(void);

/* For struct rti_platform. */
int sim_cpu_clock(int32_t pid, struct rti_cpu_clock *out);
void sim_now(struct rti_now *out);
uint64_t sim_thread_cpu_ns(void);

#endif
