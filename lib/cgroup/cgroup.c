/* SPDX-License-Identifier: MIT */
/* The figures of a cgroup: the kernel's own account of it, and its members. */
#include "cgroup/cgroup.h"

#include <errno.h>

#include "collect/domains.h"
#include "util/visit.h"

/* What rows of members have. The sums over them are known, too, but lack what members used before
 * they came, and what former members used. */
#define OF_MEMBERS                                                                                 \
	(RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS | RT_HAS_IO | RT_HAS_IO_CALLS |    \
	 RT_HAS_FAULTS | RT_HAS_CTXSW | RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN |                 \
	 RT_HAS_THREADS | RT_HAS_VIRTUAL | RT_HAS_IDS | RT_HAS_OPEN_FDS | RTI_HAS_OF_MEMORY)
#define COUNTERS_OF_MEMBERS (RT_HAS_IO | RT_HAS_IO_CALLS | RT_HAS_FAULTS | RT_HAS_CTXSW)
/* Sums that lack the members which the pid namespace does not show. */
#define GAUGES_OF_MEMBERS (RT_HAS_RSS | RT_HAS_PSS | RT_HAS_THREADS | RTI_HAS_OF_MEMORY)
/* What is 0 once a cgroup has been removed. */
#define EMPTY_WHEN_REMOVED                                                                         \
	(RT_HAS_PROCESSES | RT_HAS_THREADS | RT_HAS_RSS | RT_HAS_PSS | RT_HAS_FOOTPRINT |          \
	 RT_HAS_NEEDED | RT_HAS_TREE_SWAP)
#define GAUGES_OF_CGROUP                                                                           \
	(RT_HAS_CGROUP_MEMORY | RT_HAS_CGROUP_MEMORY_KERNEL | RT_HAS_CGROUP_MEMORY_SLAB |          \
	 RT_HAS_CGROUP_SWAP | RT_HAS_CGROUP_TASKS)

uint64_t rti_cgroup_tracker_domains(void)
{
	return rti_cgroup_domains() | OF_MEMBERS;
}

/* --- Members. --- */

/* An rti_tree_list. A cgroup that has been removed has no processes. */
static int list_members(void *arg, int (*each)(void *each_arg, int32_t pid), void *each_arg)
{
	struct rti_cgroup_tracker *cgroup = arg;
	const struct rti_cgroup_place *place = &cgroup->places.place[cgroup->places.main];
	int err = rti_cgroup_members_list(&cgroup->members, cgroup->ctx, place, each, each_arg);

	if (err == -ENODEV)
		return 0;
	if (err == 0 && cgroup->members.walk_error)
		return cgroup->members.walk_error;
	return err == 0 && cgroup->members.is_cut ? -ENOSPC : err;
}

static int ignore_pid(void *arg, int32_t pid)
{
	(void)arg;
	(void)pid;
	return RTI_CONTINUE;
}

/* --- New and free. --- */

int rti_cgroup_tracker_init(struct rti_cgroup_tracker *cgroup, const struct rti_context *ctx,
                            const char *name, const struct rti_tree_opts *opts)
{
	struct rti_tree_opts tree_opts = *opts;
	int err;

	*cgroup = (struct rti_cgroup_tracker){ .ctx = ctx, .want = opts->want };
	rti_cgroup_members_init(&cgroup->members);
	err = rti_cgroup_find(&cgroup->places, ctx, name);
	if (err == 0)
		rti_cgroup_members_check_pids(&cgroup->members, ctx,
		                              &cgroup->places.place[cgroup->places.main]);
	if (err == 0)
		err = rti_cgroup_account_init(&cgroup->account, opts->want);
	tree_opts.want &= OF_MEMBERS;
	tree_opts.list = list_members;
	tree_opts.list_arg = cgroup;
	if (err == 0 && tree_opts.want)
		err = rti_tree_new(&cgroup->tree, ctx, &tree_opts);
	if (err == 0)
		err = list_members(cgroup, ignore_pid, NULL);
	if (err == 0 && cgroup->members.is_removed)
		err = -ENOENT;
	/* Figures that lack some of the members are marked. */
	if (err == -ENOSPC || (err < 0 && err == cgroup->members.walk_error))
		return 0;
	if (err < 0)
		rti_cgroup_tracker_free(cgroup);
	return err;
}

void rti_cgroup_tracker_free(struct rti_cgroup_tracker *cgroup)
{
	const struct rti_context *ctx = cgroup->ctx;

	rti_cgroup_account_free(&cgroup->account, ctx);
	if (cgroup->tree)
		rti_tree_free(cgroup->tree);
	rti_cgroup_members_free(&cgroup->members, ctx);
	rti_cgroup_places_close(&cgroup->places, ctx);
	*cgroup = (struct rti_cgroup_tracker){ 0 };
}

/* --- A sample. --- */

/* Returns the domains that lack, or may lack, members which the pid namespace does not show. */
static uint64_t hidden_domains(const struct rti_cgroup_tracker *cgroup)
{
	const struct rti_cgroup_members *members = &cgroup->members;

	if (members->may_leave_out || (members->is_threaded && members->hidden > 0))
		return GAUGES_OF_MEMBERS | RT_HAS_PROCESSES;
	return members->hidden > 0 ? GAUGES_OF_MEMBERS : 0;
}

/* A member may have come with what it had used elsewhere, and others may have gone unseen. */
static void sum_members(struct rti_cgroup_tracker *cgroup, uint64_t now_ns, struct rt_metrics *out)
{
	uint64_t known, lacking;

	if (!cgroup->tree) {
		list_members(cgroup, ignore_pid, NULL);
		return;
	}
	rti_tree_sample(cgroup->tree, now_ns, out);
	out->processes += cgroup->members.hidden;
	known = out->valid | out->partial | out->estimated;
	out->valid &= ~(COUNTERS_OF_MEMBERS | RT_HAS_PEAK_RSS | RT_HAS_CPU);
	out->partial &= ~(COUNTERS_OF_MEMBERS | RT_HAS_CPU);
	out->partial |= known & RT_HAS_PEAK_RSS;
	out->estimated &= ~(uint64_t)RT_HAS_CPU;
	out->estimated |= known & COUNTERS_OF_MEMBERS;
	out->cpu_user_ns = out->cpu_system_ns = out->cpu_resolution_ns = out->cpu_late_ns = 0;
	out->reasons &= RT_REASON_MEMBERS_SKIPPED;
	lacking = hidden_domains(cgroup);
	out->partial |= out->valid & lacking;
	out->valid &= ~lacking;
}

/* Keep the counters of a removed cgroup as they were read last. What it used after that is
 * unknown. */
static void make_final(struct rti_cgroup_tracker *cgroup)
{
	struct rt_metrics *last = &cgroup->last;
	uint64_t known = last->valid | last->partial | last->estimated;

	cgroup->is_removed = true;
	last->processes = last->threads = last->rss_bytes = last->pss_bytes = 0;
	last->footprint_bytes = last->footprint_low_bytes = last->footprint_high_bytes = 0;
	last->footprint_anon_bytes = last->footprint_shmem_bytes = 0;
	last->footprint_file_bytes = last->footprint_hugetlb_bytes = 0;
	last->needed_bytes = last->needed_low_bytes = last->needed_high_bytes = 0;
	last->swap_bytes = last->pss_age_ns = 0;
	last->pss_source = 0;
	last->cgroup_memory_bytes = last->cgroup_memory_anon_bytes = 0;
	last->cgroup_memory_file_bytes = last->cgroup_memory_shmem_bytes = 0;
	last->cgroup_memory_limit_bytes = last->cgroup_memory_high_bytes = 0;
	last->cgroup_memory_kernel_bytes = last->cgroup_swap_bytes = 0;
	last->cgroup_memory_slab_reclaimable_bytes = 0;
	last->cgroup_tasks = last->cgroup_tasks_limit = 0;
	last->valid = cgroup->want & EMPTY_WHEN_REMOVED;
	last->estimated &= COUNTERS_OF_MEMBERS;
	last->partial = known & ~last->valid & ~last->estimated & ~GAUGES_OF_CGROUP;
}

int rti_cgroup_tracker_sample(struct rti_cgroup_tracker *cgroup, uint64_t now_ns,
                              struct rt_metrics *out)
{
	if (cgroup->is_removed) {
		*out = cgroup->last;
		return -ESRCH;
	}
	cgroup->account.obstacles.met = 0;
	sum_members(cgroup, now_ns, out);
	if (!cgroup->members.is_removed &&
	    rti_cgroup_account_read(&cgroup->account, cgroup->ctx, &cgroup->places, cgroup->want,
	                            out))
		list_members(cgroup, ignore_pid, NULL);
	if (cgroup->members.is_removed) {
		make_final(cgroup);
		*out = cgroup->last;
		return -ESRCH;
	}
	/* Without the kernel's account, page faults come from the members that samples saw. These
	 * are fewer, so if one sample cannot read the account, its last figures are a lower
	 * bound. */
	cgroup->has_fault_account |= (out->valid & RT_HAS_FAULTS) != 0;
	if (cgroup->has_fault_account && !(out->valid & RT_HAS_FAULTS)) {
		out->minor_faults = cgroup->last.minor_faults;
		out->major_faults = cgroup->last.major_faults;
		out->estimated &= ~(uint64_t)RT_HAS_FAULTS;
		out->partial |= RT_HAS_FAULTS;
	}
	/* An account of the kernel stands in for a sum over members. */
	out->valid &= cgroup->want;
	out->partial &= cgroup->want & ~out->valid;
	out->estimated &= cgroup->want & ~out->valid & ~out->partial;
	cgroup->last = *out;
	return 0;
}

/* --- Why something is missing. --- */

void rti_cgroup_tracker_explain(const struct rti_cgroup_tracker *cgroup,
                                const struct rt_metrics *last, uint64_t has,
                                struct rti_explanation *out)
{
	*out = (struct rti_explanation){ .file = "" };
	if (last->valid & has)
		return;
	out->error = -ENODATA;
	if (cgroup->is_removed) {
		out->error = -ENODEV;
		out->cause = RTI_CAUSE_CGROUP_REMOVED;
	} else if (rti_cgroup_account_explain(&cgroup->account, has, out)) {
		return;
	} else if (has & hidden_domains(cgroup)) {
		out->cause = RTI_CAUSE_CGROUP_HIDDEN;
		out->error = -EXDEV;
	} else if (has == RT_HAS_CPU && last->reasons & RT_REASON_ACCOUNT_RESET) {
		out->cause = RTI_CAUSE_CGROUP_SET_BACK;
	} else if (cgroup->tree && !(last->estimated & has & COUNTERS_OF_MEMBERS) &&
	           has != RT_HAS_PEAK_RSS && has != RT_HAS_PROCESSES_SEEN) {
		rti_tree_explain(cgroup->tree, last, has, out);
	} else {
		out->cause = RTI_CAUSE_CGROUP_MEMBERS;
	}
}
