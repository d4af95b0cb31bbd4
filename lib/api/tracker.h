/* SPDX-License-Identifier: MIT */
/* The handle behind struct rt_tracker. */
#ifndef RTI_TRACKER_H
#define RTI_TRACKER_H

#include <errno.h>
#include <stdbool.h>

#include "cgroup/cgroup.h"
#include "cgroup/own_limits.h"
#include "os/thread/lock.h"
#include "system/system.h"
#include "tree/tree.h"

struct rt_tracker {
	/* The lock of the command or recorder that owns the tracker, set by command.c and
	 * recorder.c. Several threads use such a tracker at the same time. Others have one user at
	 * a time, and no lock: NULL. */
	struct rti_lock *lock;
	/* The process that has made a recorder for it; 0: there is none. Written by recorder.c. */
	_Atomic int32_t recorder_pid;
	struct rt_recorder *recorder; /* or NULL */
	int32_t command_pid;          /* the process that has started its command; 0: it has none */
	uint32_t kind;
	uint64_t id;
	struct rti_procfs procfs;
	struct rti_platform platform;
	struct rti_buf buf;
	struct rti_context ctx;
	uint64_t want, self_cpu_ns, samples;
	bool is_quick; /* the last sample or peak poll was */
	struct rt_metrics last;
	uint64_t before_boottime_ns; /* of the sample before */
	uint64_t boot_ns;            /* when the system was booted, by the wall clock */
	struct rti_tree *tree;       /* RT_KIND_PID, and of the system with a list; else NULL */
	struct rti_system system;    /* RT_KIND_SYSTEM */
	struct rti_own_limits *own_limits; /* with RT_OPT_OWN_LIMITS; else NULL */
	struct rti_cgroup_tracker *cgroup; /* RT_KIND_CGROUP; else NULL */
};

/* Returns -EBUSY if it has a recorder, -ECHILD in a forked child of the process that has it, or
 * 0. */
static inline int rti_tracker_check_recorder(const struct rt_tracker *t)
{
	int32_t pid = t->recorder_pid;

	if (!pid)
		return 0;
	return pid == t->platform.getpid() ? -EBUSY : -ECHILD;
}

/* Take the lock. Returns 0, or -ECHILD: the thread of the recorder may have had the lock. */
static inline int rti_tracker_take(const struct rt_tracker *t)
{
	if (rti_tracker_check_recorder(t) == -ECHILD)
		return -ECHILD;
	rti_lock_take(t->lock);
	return 0;
}

/* rt_sample() for a recorder, and for a command that may have one. */
int rti_tracker_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size);

/* The clock that measures the library's own cost, and what it has advanced since. */
uint64_t rti_tracker_cost_clock_ns(const struct rt_tracker *t);
void rti_tracker_charge_since(struct rt_tracker *t, uint64_t started_ns);

/* The tree of its processes; NULL if it has none. */
static inline struct rti_tree *rti_tracker_tree(const struct rt_tracker *t)
{
	return t->kind == RT_KIND_CGROUP ? t->cgroup->tree : t->tree;
}

/* What rt_pid_tracker_new() says of these options, and a copy of them in our own layout, with the
 * defaults for NULL. */
int rti_tracker_check_opts(const struct rt_opts *opts, struct rt_opts *known);

/* rt_pid_tracker_new() (pid > 0) and rt_system_tracker_new() (pid 0), with other file calls. */
int rti_tracker_new(struct rt_tracker **out, int32_t pid, const struct rt_opts *opts,
                    const struct rti_procfs_ops *ops);

/* rt_cgroup_tracker_new(), with other file calls. */
int rti_cgroup_tracker_new(struct rt_tracker **out, const char *name, const struct rt_opts *opts,
                           const struct rti_procfs_ops *ops);

#endif
