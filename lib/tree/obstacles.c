/* SPDX-License-Identifier: MIT */
/* Why figures of a tree are missing. */
#include "tree/obstacles.h"

#include <errno.h>

#include "os/pid_file.h"
#include "os/procfs_path.h"
#include "tree/tree.h"

void rti_obstacles_open(struct rti_tree *tree)
{
	tree->obstacles.status.met = 0;
}

void rti_obstacles_close(struct rti_tree *tree)
{
	tree->obstacles.of_members = tree->obstacles.status.met;
}

void rti_obstacles_add_lost(struct rti_tree *tree)
{
	tree->obstacles.status.met = tree->obstacles.of_members;
	rti_status_add(&tree->obstacles.status, &tree->obstacles.lost);
}

/* A member counts once for each domain, however often it is met. */
static void count_ever(struct rti_tree *tree, struct rti_member *m, uint64_t domains)
{
	for (uint64_t left = domains & ~m->obstacle.met; left; left &= left - 1)
		tree->obstacles.members_ever[rti_status_bit(left)]++;
	m->obstacle.met |= domains;
}

/* A collector that reports no error has found a file without the figure, or a part of it. */
static int error_of(const struct rti_figures *figures, size_t i, uint64_t has)
{
	if (figures->errors[i] < 0)
		return figures->errors[i];
	return figures->partial & has ? -ENODATA : -ENOENT;
}

void rti_obstacles_note_member(struct rti_tree *tree, struct rti_member *m, uint64_t unread)
{
	const struct rti_figures *figures = &m->values.figures;

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		uint64_t left = rti_pid_collectors[i]->provides & unread;

		for (; left; left &= left - 1) {
			uint64_t has = left & -left;

			rti_status_note_at(&tree->obstacles.status, has, error_of(figures, i, has),
			                   m->pid);
			rti_status_count(&tree->obstacles.status, has);
		}
	}
	count_ever(tree, m, unread);
}

void rti_obstacles_note_lost(struct rti_tree *tree, struct rti_member *m, uint64_t lost)
{
	const struct rti_figures *figures = &m->values.figures;

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		uint64_t has = rti_pid_collectors[i]->provides & lost;
		int err = figures->errors[i] < 0 ? figures->errors[i] : -ENODATA;

		if (has)
			rti_status_note_at(&tree->obstacles.lost, has, err, m->pid);
	}
	count_ever(tree, m, lost);
}

void rti_obstacles_note_unwaited(struct rti_tree *tree, struct rti_member *m)
{
	if (!tree->obstacles.unwaited_pid)
		tree->obstacles.unwaited_pid = m->pid;
	count_ever(tree, m, tree->domains.counters & tree->want);
}

/* Whether an error of PSS is that of a read, and not of the sum over all of them. */
static bool is_read_error(int err)
{
	return err < 0 && err != -EDQUOT && err != -EBUSY;
}

void rti_obstacles_note_pss(struct rti_tree *tree)
{
	struct rti_status *status = &tree->obstacles.status;
	const int rss = rti_status_bit(RT_HAS_RSS), pss = rti_status_bit(RT_HAS_PSS);
	int err = rti_status_get(status, RT_HAS_PSS);

	if (!is_read_error(err))
		return;
	if (status->met & RT_HAS_RSS) { /* without statm nothing is known of PSS, either */
		status->of[pss] = status->of[rss];
		tree->obstacles.members_ever[pss] = tree->obstacles.members_ever[rss];
		return;
	}
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		if (m->end.has_exited || !rti_memory_counts(&m->memory) || m->pss.error >= 0)
			continue;
		if (!status->of[pss].pid && m->pss.error == err)
			status->of[pss].pid = m->pid;
		rti_status_count(status, RT_HAS_PSS);
		count_ever(tree, m, RT_HAS_PSS);
	}
}

static const char *file_of(const struct rti_tree *tree, uint64_t has)
{
	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		if (rti_pid_collectors[i]->provides & has)
			return rti_pid_collectors[i]->file;
	}
	return tree->obstacles.status.met & RT_HAS_RSS ? "statm" : "smaps_rollup";
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

	out->cause = tree->memory.may_read ? RTI_CAUSE_PSS_SHARE : RTI_CAUSE_NO_PSS_READS;
	for (size_t i = 0; tree->memory.may_read && i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];
		uint64_t rss_bytes = rti_pages_to_bytes(tree, m->memory.look.rss_pages);

		if (!rti_memory_counts(&m->memory) ||
		    rti_pss_is_short(budget, rti_pss_predict(budget, rss_bytes)))
			continue;
		out->cause = RTI_CAUSE_PSS_HOLD;
		out->pid = out->pid ? out->pid : m->pid;
		out->members++;
	}
}

/* A member that has exited is not counted in this sample. */
static enum rti_cause cause_of(const struct rti_tree *tree, const struct rti_explanation *out)
{
	const struct rti_context *ctx = tree->ctx;

	switch (out->error) {
	case -EBUSY:
		return RTI_CAUSE_PSS_CHANGED;
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

static void explain_error(const struct rti_tree *tree, uint64_t has, struct rti_explanation *out)
{
	out->file = file_of(tree, has);
	if (out->error == -EDQUOT)
		explain_budget(tree, out);
	else
		out->cause = cause_of(tree, out);
	/* The file has no such line. */
	if (has & (RT_HAS_CTXSW | RT_HAS_IO_CALLS) &&
	    (out->error == -EOPNOTSUPP || (out->error == -ENOENT && has == RT_HAS_IO_CALLS)))
		out->cause = RTI_CAUSE_NO_FIGURE;
}

static void explain_skipped(const struct rti_tree *tree, const struct rt_metrics *last,
                            struct rti_explanation *out)
{
	const struct rti_discovery_state *d = &tree->discovery;

	out->error = d->skip_error;
	out->pid = d->skip_pid;
	out->file = "stat";
	out->cause = d->skip_error == -EACCES ? RTI_CAUSE_HIDDEN : RTI_CAUSE_SKIPPED;
	out->members = last->members_skipped;
	if (out->members_ever < tree->members_skipped_max)
		out->members_ever = tree->members_skipped_max;
}

/* Of the number of processes so far. */
static void explain_events(const struct rti_tree *tree, uint32_t reasons,
                           struct rti_explanation *out)
{
	const struct rti_shared_stats *shared = tree->supervised.shared;

	if (shared && shared->events == RTI_EVENTS_INTACT) {
		out->cause = RTI_CAUSE_EVENTS_LATE;
	} else if (reasons & RT_REASON_EVENTS_LOST ||
	           (shared && shared->events == RTI_EVENTS_LOST)) {
		out->cause = RTI_CAUSE_EVENTS_LOST;
		out->error = -ENOBUFS;
	} else if (reasons & RT_REASON_EVENTS_UNHEARD || shared) {
		out->cause = RTI_CAUSE_EVENTS_UNHEARD;
		out->error = tree->discovery.events_error;
	} else {
		out->cause = RTI_CAUSE_EVENTS_OFF;
	}
}

/* What no read failed for. */
static void explain_state(const struct rti_tree *tree, const struct rt_metrics *last, uint64_t has,
                          struct rti_explanation *out)
{
	if (last->reasons & RT_REASON_MEMBERS_SKIPPED && tree->discovery.skip_error) {
		explain_skipped(tree, last, out);
	} else if (last->reasons & RT_REASON_UNWAITED && has & tree->domains.counters) {
		out->cause = RTI_CAUSE_UNWAITED;
		out->pid = tree->obstacles.unwaited_pid;
	} else if (has & (RT_HAS_CTXSW | RT_HAS_PEAK_RSS)) {
		out->cause = RTI_CAUSE_UNREPORTED;
	} else if (has == RT_HAS_PROCESSES_SEEN) {
		explain_events(tree, last->reasons, out);
	} else if (has == RT_HAS_PEAK_TREE && last->estimated & has && !(tree->want & RT_HAS_PSS)) {
		out->cause = RTI_CAUSE_PSS_UNWANTED;
	} else if (has == RT_HAS_PEAK_TREE) {
		out->cause = RTI_CAUSE_BETWEEN_SAMPLES;
	}
}

void rti_tree_explain(const struct rti_tree *tree, const struct rt_metrics *last, uint64_t has,
                      struct rti_explanation *out)
{
	uint64_t of = has;

	/* The peak is estimated for as long as PSS is. */
	if (has == RT_HAS_PEAK_TREE && last->estimated & has &&
	    tree->obstacles.status.met & RT_HAS_PSS)
		of = RT_HAS_PSS;
	*out = (struct rti_explanation){
		.file = "",
		.members_ever = tree->obstacles.members_ever[rti_status_bit(of)],
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
