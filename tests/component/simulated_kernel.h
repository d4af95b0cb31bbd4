/* SPDX-License-Identifier: MIT */
/* A simulated kernel: processes and threads that fork, run and exit at random, the accounts that
 * the kernel keeps of them, its /proc, and the true totals, which no program outside can know. Time
 * passes between any two calls of the program under test. There is one simulated system at a time
 * in a process. */
#ifndef SIMULATED_KERNEL_H
#define SIMULATED_KERNEL_H

#include "os/platform.h"
#include "os/procfs.h"

#define SIM_MOST 24   /* processes at a time */
#define SIM_THREADS 3 /* of one process, besides its leader */
/* pid of the root; there are few pids, so that they are reused soon */
#define SIM_ROOT 100
#define SIM_PIDS 40
#define SIM_PROGRAM 150 /* the program that a supervisor starts */
#define SIM_CPUS 3
#define SIM_TICK_NS 10000000u
#define SIM_LEAF "leaf" /* the cgroup of the tree, if it has one; below the root */

struct sim_rules {
	/* the root is a supervisor: it has started the program, and adopts and reaps the orphans of
	 * the program */
	bool is_kept;
	bool may_orphan;   /* processes may exit before their children do */
	bool may_ignore;   /* processes may ignore SIGCHLD */
	bool may_adopt;    /* members may become subreapers */
	bool has_file;     /* the tree has a cgroup of its own */
	bool has_children; /* there are children files */
	bool last_pid_source;
};

struct sim_thread {
	int tid;
	uint64_t starttime;
};

struct sim_process {
	struct sim_thread leader, threads[SIM_THREADS];
	int thread_count;     /* of live threads */
	int ppid, parent_tid; /* the thread that forked it */
	bool is_leader_gone;  /* it exited before the other threads */
	bool is_zombie;
	/* is_dead: its account has moved to its parent, and all of it can still be read. is_husk:
	 * the kernel has released all but its name. */
	bool is_dead, is_husk;
	bool ignores_sigchld, is_subreaper, is_member, is_in_group;
	int execs;
	uint64_t user_ns, system_ns, faults;
	uint64_t reaped_user_ns, reaped_system_ns, reaped_faults;
	uint64_t written; /* includes that of reaped children */
};

struct sim_kernel {
	struct sim_rules rules;
	struct sim_process p[SIM_MOST];
	int count;
	unsigned seed, events_per_mille;
	uint64_t now;   /* the source of start times */
	bool is_ending; /* no process forks any more */
	/* true totals of all processes that were ever in the tree */
	uint64_t cpu_ns, faults, written;
	bool has_lost_events; /* the account of some process was lost */
	/* used by all processes in the enclosing cgroup, and in that of the tree */
	uint64_t group_ns, leaf_ns;
	uint64_t baseline_ns; /* of the account of the group, before the tree began */
	uint64_t overhead_ns; /* part of group_ns: used by the library and the supervisor */
	struct {
		int pid;
		bool is_in_leaf;
		uint64_t ns;
		/* used since the last tick: in no cgroup account yet */
	} running[SIM_CPUS];
};

extern struct sim_kernel sim;
extern const struct rti_procfs_ops sim_files;

void sim_begin(unsigned seed, const struct sim_rules *rules);
unsigned sim_pick(unsigned below);

/* Let time pass: by one event, or by a random number of events. */
void sim_happen(void);
void sim_go_on(void);

/* sim_stop() makes a process exit. sim_end() does so too, and then its parent waits for it. For the
 * root, the caller is the parent. */
void sim_stop(int pid);
void sim_end(int pid);

/* The library has used this much CPU time. */
void sim_spend(uint64_t ns);

/* Returns the process that has this thread, or NULL. thread may be NULL. */
struct sim_process *sim_find(int tid, const struct sim_thread **thread);

int sim_members(void);         /* present members, with zombies, without the root */
int sim_is_tree_running(void); /* returns 1 if some member is not a zombie */

/* The account of the group as it reads now, and how far it lags behind. */
uint64_t sim_group_lag_ns(void);
uint64_t sim_group_account_ns(void);
uint64_t sim_leaf_account_ns(void);

/* Clocks for struct rti_platform. */
int sim_cpu_clock(int32_t pid, struct rti_cpu_clock *out);
void sim_now(struct rti_now *out);
uint64_t sim_thread_cpu_ns(void);

#endif
