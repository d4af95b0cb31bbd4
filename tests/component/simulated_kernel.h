/* SPDX-License-Identifier: MIT */
/* A simulated kernel: processes and threads that fork, run and exit at random. It keeps their
 * accounts, shows them in its /proc, and knows the true totals, which no program outside can know.
 * Time passes between any two calls of the program under test. A test process has one simulated
 * system at a time. */
#ifndef SIMULATED_KERNEL_H
#define SIMULATED_KERNEL_H

#include "os/platform.h"
#include "os/procfs.h"

#define SIM_PROCESSES_MAX 24 /* processes at a time */
#define SIM_THREADS_MAX 3    /* of one process, besides its leader */
#define SIM_ROOT 100         /* pid of the root */
#define SIM_PIDS 40          /* few, so that the kernel reuses them soon */
#define SIM_PROGRAM 150      /* the program that a supervisor starts */
#define SIM_CPUS 3
#define SIM_TICK_NS 10000000u
#define SIM_CGROUP "tree" /* below the root: the cgroup of the tree, if it has one */

struct sim_rules {
	/* The root is a supervisor: it has started the program, and adopts and reaps the orphans of
	 * the program. */
	bool is_supervised;
	bool may_orphan;        /* processes may exit before their children do */
	bool may_ignore;        /* processes may ignore SIGCHLD */
	bool may_adopt;         /* members may become subreapers */
	bool may_hide_io;       /* processes may refuse access to their I/O */
	bool has_cgroup;        /* the tree runs in a separate cgroup */
	bool never_reuses_pids; /* each process and thread has a pid that no other has had */
	bool has_children;      /* /proc has children files */
	bool has_last_pid_file; /* /proc has sys/kernel/ns_last_pid */
};

struct sim_thread {
	int tid;
	uint64_t starttime;
};

struct sim_process {
	struct sim_thread leader, threads[SIM_THREADS_MAX];
	int thread_count;       /* of live threads */
	int ppid, parent_tid;   /* the thread that forked it */
	bool has_leader_exited; /* it exited before the other threads */
	bool is_zombie;
	bool is_dead; /* its account has moved to its parent, and all of it can still be read */
	bool is_husk; /* the same, and the kernel has released all but its name */
	bool ignores_sigchld, is_subreaper, hides_io, is_member, is_in_group;
	int execs;
	uint64_t user_ns, system_ns, faults;
	uint64_t reaped_user_ns, reaped_system_ns, reaped_faults;
	uint64_t written; /* includes that of reaped children */
};

struct sim_kernel {
	struct sim_rules rules;
	struct sim_process p[SIM_PROCESSES_MAX];
	int count;
	unsigned seed, events_per_mille;
	uint64_t now;   /* the source of start times */
	int tids;       /* that were given out, if none is reused */
	bool is_ending; /* no process forks any more */
	/* True totals of all processes that were ever in the tree. */
	uint64_t cpu_ns, faults, written;
	bool has_lost_account; /* the account of some process moved to no other account */
	uint64_t group_ns;     /* used by all processes in the enclosing cgroup, the "group" */
	uint64_t cgroup_ns;    /* used by all processes in the cgroup of the tree */
	uint64_t baseline_ns;  /* account of the group before the tree began */
	uint64_t overhead_ns;  /* part of group_ns: used by the library and the supervisor */
	struct {
		int pid;
		bool is_in_cgroup;
		uint64_t ns; /* used since the last tick: in no cgroup account yet */
	} running[SIM_CPUS];
};

extern struct sim_kernel sim;
extern const struct rti_procfs_ops sim_files;

/* Start the simulation anew. The same seed and rules give the same history. */
void sim_begin(unsigned seed, const struct sim_rules *rules);

/* Returns a random number from 0 to below - 1. */
unsigned sim_pick(unsigned below);

/* Let one random event happen. */
void sim_step(void);

/* Let time pass: a random number of events, which may be 0. */
void sim_pass_time(void);

/* Make a process exit. */
void sim_stop(int pid);

/* Make a process exit, and its parent wait for it. For the root, the caller is the parent. */
void sim_end(int pid);

/* Record that the library has used this much CPU time. */
void sim_use_overhead(uint64_t ns);

/* Returns the process that has this thread, or NULL. Sets *thread to the thread unless it is
 * NULL. */
struct sim_process *sim_find(int tid, const struct sim_thread **thread);

/* Returns the number of present members. Includes zombies, but not the root. */
int sim_count_members(void);

/* Returns the account of the group as it reads now. */
uint64_t sim_group_account_ns(void);

/* Returns by how much the account of the group lags behind the true usage. */
uint64_t sim_group_lag_ns(void);

/* Returns the account of the tree's cgroup as it reads now. */
uint64_t sim_cgroup_account_ns(void);

/* Clocks for struct rti_platform. */
int sim_cpu_clock(int32_t pid, struct rti_cpu_clock *out);
void sim_now(struct rti_now *out);
uint64_t sim_thread_cpu_ns(void);

#endif
