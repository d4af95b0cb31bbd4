/* SPDX-License-Identifier: MIT */
/* Lists the processes of a cgroup and of those below it. */
#ifndef RTI_CGROUP_MEMBERS_H
#define RTI_CGROUP_MEMBERS_H

#include "os/cgroup/cgroup_find.h"

struct rti_cgroup_below;

/* The cgroups that list the processes. Written by cgroup_members.c only. */
struct rti_cgroup_members {
	struct rti_file procs; /* v2: of the cgroup itself; with is_threaded, its threads */
	struct rti_file stat;  /* v2: how many cgroups are below */
	struct rti_cgroup_below *below;
	size_t count, capacity;
	int walk_error;      /* -errno: the last walk could not list one of them; 0: it could */
	bool is_walked;      /* below has all cgroups, as far as is known */
	bool is_threaded;    /* only threads belong to the cgroup, and to those below (v2) */
	bool is_cut;         /* there are more cgroups than are listed */
	bool is_removed;     /* the cgroup is gone for good */
	bool has_other_pids; /* pids in the lists mean others in /proc, so all are hidden */
	bool may_leave_out;  /* lists leave out hidden processes, and there may be some (v1) */
	/* Processes that the pid namespace of the reader, or of /proc, does not show. With
	 * is_threaded, 1 if there is any: the number of processes with such threads is unknown. */
	uint64_t hidden;
	struct rti_buf buf;
};

void rti_cgroup_members_init(struct rti_cgroup_members *members);
void rti_cgroup_members_free(struct rti_cgroup_members *members, const struct rti_context *ctx);

/* Find out which processes the lists of a place show. Before the first list. */
void rti_cgroup_members_check_pids(struct rti_cgroup_members *members,
                                   const struct rti_context *ctx,
                                   const struct rti_cgroup_place *place);

/* Call each() for every process. One may come twice, e.g. if it moves meanwhile. With
 * is_threaded, for each that has a thread in the cgroup.
 *
 * Returns 0; what stopped the list; -ENODEV if the cgroup has been removed; or another -errno. */
int rti_cgroup_members_list(struct rti_cgroup_members *members, const struct rti_context *ctx,
                            const struct rti_cgroup_place *place,
                            int (*each)(void *arg, int32_t pid), void *arg);

#endif
