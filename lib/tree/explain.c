/* SPDX-License-Identifier: MIT */
/* What stands behind an obstacle: found out when the caller asks, by the error, the state of the
 * tree and, where these do not tell, the kernel. */
#include <errno.h>

#include "os/pid_file.h"
#include "os/procfs.h"
#include "tree/state/state.h"
#include "tree/tree.h"

#define OF_PEAKS (RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED)

/* What members map is read from smaps, and what they share of the rest from smaps_rollup. */
static const char *file_of_memory(const struct rti_tree *tree, uint64_t has)
{
	if (tree->obstacles.status.met & RT_HAS_RSS)
		return "statm";
	return has == RT_HAS_FOOTPRINT && tree->memory.reads.has_all ? "smaps" : "smaps_rollup";
}

static const char *file_of(const struct rti_tree *tree, uint64_t has)
{
	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		if (rti_pid_collectors[i]->provides & has)
			return rti_pid_collectors[i]->file ? rti_pid_collectors[i]->file : "";
	}
	return file_of_memory(tree, has);
}

/* hidepid=1 refuses the files of a process, and hidepid=2 does not show them. */
static bool is_hidden(const struct rti_context *ctx, int32_t pid)
{
	struct rti_path stat = rti_pid_path(pid, "stat");
	int err = rti_procfs_access(ctx->procfs, RTI_PROC, stat.text);

	return err == -EPERM || err == -EACCES || rti_pid_file_is_hidden(ctx, pid);
}

/* Whether processes have a file at all, as the caller's own shows. */
static bool has_file(const struct rti_context *ctx, const char *file)
{
	char path[32] = "self/";
	size_t at = 5;

	while (*file && at + 1 < sizeof(path))
		path[at++] = *file++;
	path[at] = '\0';
	return rti_procfs_access(ctx->procfs, RTI_PROC, path) == 0;
}

/* A single read may be too long, whatever has been saved. */
static void explain_budget(const struct rti_tree *tree, struct rti_explanation *out)
{
	const struct rti_pss_budget *budget = &tree->pss_budget;

	out->cause = tree->memory.may_read ? RTI_CAUSE_MEMORY_SHARE : RTI_CAUSE_NO_MEMORY_READS;
	for (size_t i = 0; tree->memory.may_read && i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];
		uint64_t rss_bytes = rti_pages_to_bytes(tree->ctx, m->memory.look.rss_pages);

		if (!rti_memory_counts(&m->memory) ||
		    rti_pss_is_short(budget, rti_pss_predict(budget, rss_bytes)))
			continue;
		out->cause = RTI_CAUSE_MEMORY_HOLD;
		out->pid = m->pid;
		return;
	}
}

/* A member that has exited is not counted in this sample. */
static enum rti_cause cause_of(const struct rti_context *ctx, const struct rti_explanation *out)
{
	switch (out->error) {
	case -EBUSY:
		return RTI_CAUSE_MEMORY_CHANGED;
	case -EACCES:
	case -EPERM:
		return out->pid && is_hidden(ctx, out->pid) ? RTI_CAUSE_HIDDEN : RTI_CAUSE_READ;
	case -ENOENT:
		return has_file(ctx, out->file) && out->members > 0 ? RTI_CAUSE_ENDED
		                                                    : RTI_CAUSE_NO_FIGURE;
	case -EOPNOTSUPP:
		return RTI_CAUSE_KERNEL_THREAD;
	case -ESRCH:
		return RTI_CAUSE_ENDED;
	case -ENODATA:
		return out->members > 0 ? RTI_CAUSE_THREAD_ENDED : RTI_CAUSE_ENDED;
	default:
		return RTI_CAUSE_READ;
	}
}

#define GPU_DOMAINS (RT_HAS_GPU | RT_HAS_GPU_MEMORY)

static void explain_error(const struct rti_tree *tree, uint64_t has, struct rti_explanation *out)
{
	if (has & GPU_DOMAINS) {
		/* What was refused is the list of descriptors; all else is what drivers say. */
		bool is_of_list = out->pid && (out->error == -EACCES || out->error == -EPERM ||
		                               rti_is_out_of_files(out->error));

		out->file = is_of_list ? "fd" : "";
		out->cause = is_of_list ? cause_of(tree->ctx, out) : RTI_CAUSE_GPU;
		return;
	}
	out->file = file_of(tree, has);
	if (out->error == -EDQUOT)
		explain_budget(tree, out);
	else
		out->cause = cause_of(tree->ctx, out);
	/* The file has no such line. */
	if (has & (RT_HAS_CTXSW | RT_HAS_IO_CALLS) &&
	    (out->error == -EOPNOTSUPP || (out->error == -ENOENT && has == RT_HAS_IO_CALLS)))
		out->cause = RTI_CAUSE_NO_FIGURE;
}

/* Of the number of processes so far. */
static void explain_events(const struct rti_tree *tree, uint32_t reasons,
                           struct rti_explanation *out)
{
	const struct rti_shared_stats *shared = tree->supervised.shared;

	if (tree->kernel_account.is_of_command) {
		out->cause = RTI_CAUSE_ACCOUNT_LOST;
	} else if (shared && shared->events == RTI_EVENTS_INTACT) {
		out->cause = RTI_CAUSE_EVENTS_LATE;
	} else if (reasons & RT_REASON_EVENTS_LOST ||
	           (shared && shared->events == RTI_EVENTS_LOST)) {
		out->cause = RTI_CAUSE_EVENTS_LOST;
		out->error = -ENOBUFS;
	} else if (tree->ctx->procfs->is_foreign) {
		out->cause = RTI_CAUSE_EVENTS_UNHEARD;
		out->error = -EOPNOTSUPP;
	} else if (tree->discovery.events_error == -EUSERS) {
		out->cause = RTI_CAUSE_EVENTS_MANY;
		out->error = -EUSERS;
	} else if (tree->discovery.events_error || shared) {
		out->cause = RTI_CAUSE_EVENTS_UNHEARD;
		out->error = tree->discovery.events_error;
	} else {
		out->cause = RTI_CAUSE_EVENTS_OFF;
	}
}

/* Of a counter that lacks processes that no sample saw. */
static void explain_unseen(const struct rti_tree *tree, uint32_t reasons,
                           struct rti_explanation *out)
{
	if (!(reasons & RT_REASON_ORPHANS_UNSEEN))
		out->cause = RTI_CAUSE_THREADS;
	else if (rti_fork_tracker_is_complete(&tree->discovery.fork_tracker))
		out->cause = RTI_CAUSE_UNPROVEN;
	else
		explain_events(tree, reasons, out);
}

/* What no read failed for. */
static void explain_state(const struct rti_tree *tree, const struct rt_metrics *last, uint64_t has,
                          struct rti_explanation *out)
{
	const struct rti_kernel_account *account = &tree->kernel_account;
	const struct rti_obstacles *obstacles = &tree->obstacles;
	const uint64_t counters = tree->domains.counters;

	/* A scan that skips processes makes every figure of its sample a lower bound. Later ones
	 * lack what was missed meanwhile, in counters alone. */
	if (obstacles->skip_error && (obstacles->has_skipped || has & counters)) {
		out->error = obstacles->skip_error;
		out->pid = obstacles->skip_pid;
		out->file = out->pid ? "stat" : "";
		out->cause = out->error == -EACCES ? RTI_CAUSE_HIDDEN : RTI_CAUSE_SKIPPED;
	} else if (has == RT_HAS_IO && tree->served_reads.is_seen) {
		out->cause = RTI_CAUSE_READS_SERVED;
	} else if (has == RT_HAS_GPU_MEMORY) {
		out->cause = RTI_CAUSE_GPU_SHARED;
	} else if (has & GPU_DOMAINS) {
		out->cause = last->estimated & has ? RTI_CAUSE_GPU : RTI_CAUSE_GPU_CLOSED;
	} else if (account->has_counted && has & counters && account->error < 0) {
		out->cause = RTI_CAUSE_ACCOUNT_UNREAD;
		out->error = account->error;
	} else if (account->has_counted && has & counters) {
		out->cause = account->has_lost ? RTI_CAUSE_ACCOUNT_LOST : RTI_CAUSE_ACCOUNT_BEHIND;
	} else if (last->reasons & RT_REASON_UNWAITED && has & (counters | RT_HAS_PEAK_RSS)) {
		out->cause = RTI_CAUSE_UNWAITED;
		out->pid = obstacles->unwaited_pid;
	} else if (last->reasons & RT_REASON_SIGCHLD_IGNORED &&
	           has & (counters | RT_HAS_PEAK_RSS)) {
		out->cause = RTI_CAUSE_SIGCHLD;
	} else if (last->reasons & RT_REASON_CLOCK_TICKS && has == RT_HAS_CPU) {
		out->cause = RTI_CAUSE_TICKS;
	} else if (last->since_partial & has) {
		explain_unseen(tree, last->reasons, out);
	} else if (last->since_valid & has) {
		out->cause = RTI_CAUSE_PAST;
	} else if (has & (RT_HAS_CTXSW | RT_HAS_PEAK_RSS)) {
		out->cause = RTI_CAUSE_UNREPORTED;
	} else if (has == RT_HAS_PROCESSES_SEEN) {
		explain_events(tree, last->reasons, out);
	} else if (has == RT_HAS_PSS) {
		out->cause = RTI_CAUSE_PSS_UNWANTED;
	} else if (has & (RT_HAS_FOOTPRINT | RT_HAS_NEEDED)) {
		out->cause = RTI_CAUSE_PAGES_SHARED;
	} else if (has & OF_PEAKS && last->estimated & has) {
		out->cause = RTI_CAUSE_PAGES_SHARED;
	} else if (has & OF_PEAKS) {
		out->cause = RTI_CAUSE_BETWEEN_SAMPLES;
	}
}

/* A peak of the tree is estimated for as long as its figure is, and not known before RSS is.
 * Returns the domain that stands in its way, or has. */
static uint64_t obstacle_of(uint64_t met, const struct rt_metrics *last, uint64_t has)
{
	uint64_t source = has == RT_HAS_PEAK_NEEDED ? RT_HAS_NEEDED : RT_HAS_FOOTPRINT;

	if (!(has & OF_PEAKS) || last->partial & has)
		return has;
	if (met & RT_HAS_RSS && !(last->estimated & has))
		return RT_HAS_RSS;
	return met & source ? source : has;
}

void rti_tree_explain(const struct rti_tree *tree, const struct rt_metrics *last, uint64_t has,
                      struct rti_explanation *out)
{
	uint64_t of = obstacle_of(tree->obstacles.status.met, last, has);

	*out = (struct rti_explanation){
		.file = "",
		.has_account = tree->kernel_account.programs != NULL,
		/* BPF programs see the processes of the running system alone. */
		.account_error =
		    tree->ctx->procfs->is_foreign ? -EXDEV : tree->kernel_account.error,
		.members_ever = tree->obstacles.members_ever[rti_status_bit(has)],
		.pss_share = tree->pss_budget.share,
		.pss_hold_us = (uint32_t)(tree->pss_budget.hold_ns / 1000),
	};
	if (last->valid & has)
		return;
	rti_status_explain(&tree->obstacles.status, of, out);
	if (out->error < 0)
		explain_error(tree, of, out);
	else
		explain_state(tree, last, has, out);
	if (!out->error)
		out->error = -ENODATA;
}
