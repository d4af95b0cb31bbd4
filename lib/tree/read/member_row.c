/* SPDX-License-Identifier: MIT */
/* Members as the lists of processes have them. */
#include "tree/read/member_row.h"
#include "tree/read/memory_figures.h"

#include <string.h>

#include "collect/pid_stat.h"
#include "collect/process_row.h"
#include "os/cpu_time.h"
#include "tree/state/state.h"
#include "util/visit.h"

/* What a poll leaves alone. The gauges are in the row already; the counters are as last read. */
static void fill_counters(const struct rti_member *m, struct rt_process *out)
{
	out->size = sizeof(*out);
	out->pid = m->pid;
	out->start_ticks = m->starttime;
	rti_process_row_set_counters(&m->values.figures, out);
}

/* What a poll moves: it reads stat and memory anew, and new members move the estimates of the
 * others. */
static void fill_moving(const struct rti_tree *tree, const struct rti_member *m,
                        struct rt_process *out)
{
	rti_process_row_set_stat(&m->stat, out);
	out->valid = m->values.figures.valid;
	out->partial = m->values.figures.partial;
	out->estimated = m->values.figures.estimated;
	out->pss_bytes = out->pss_age_ns = out->pss_source = 0;
	out->uss_bytes = out->swap_bytes = 0;
	rti_memory_set_row(tree, m, out);
}

/* The row of the last sample; what the account has, and what a peak poll may have seen since. */
static struct rti_member_row row_of(const struct rti_tree *tree, const struct rti_member *m)
{
	const uint64_t *self = m->account.self;
	const struct rti_cpu_clock *clock = &m->clock.now;
	struct rti_member_row row = {
		.process = m->values.figures.row,
		.known = m->values.figures.valid | m->values.figures.partial,
		.cpu_user_ns = self[RTI_CPU_USER],
		.cpu_system_ns = self[RTI_CPU_SYSTEM],
		.read_bytes = self[RTI_READ_BYTES],
		.write_bytes = self[RTI_WRITE_BYTES],
		.peak_rss_bytes = m->values.peak_rss_bytes,
		.is_running = !m->end.has_exited && !rti_pid_stat_is_zombie(&m->stat),
	};

	fill_counters(m, &row.process);
	fill_moving(tree, m, &row.process);
	if (clock->total_ns > row.cpu_user_ns + row.cpu_system_ns) {
		rti_split_cpu(clock->total_ns, clock->user_part_ns, clock->both_parts_ns,
		              &row.cpu_user_ns, &row.cpu_system_ns);
		row.known |= RT_HAS_CPU;
	}
	if (!row.peak_rss_bytes)
		row.known &= ~RT_HAS_PEAK_RSS;
	return row;
}

void rti_report_exit(const struct rti_tree *tree, const struct rti_member *m)
{
	struct rti_member_row row;

	if (!tree->supervised.on_exit || m->pid == tree->supervised.pid)
		return;
	row = row_of(tree, m);
	row.is_running = false;
	tree->supervised.on_exit(tree->supervised.on_exit_arg, &row);
}

void rti_tree_each(const struct rti_tree *tree,
                   int (*each)(void *arg, const struct rti_member_row *row), void *arg)
{
	for (size_t i = 0; i < tree->table.count; i++) {
		const struct rti_member *m = &tree->table.members[i];
		struct rti_member_row row;

		if (m->pid == tree->supervised.pid)
			continue;
		row = row_of(tree, m);
		if (each(arg, &row) != RTI_CONTINUE)
			return;
	}
}

void rti_rows_begin(struct rti_tree *tree)
{
	tree->rows = (struct rti_rows_state){ .count = tree->table.count };
}

/* Once between two samples at most: a poll of a tree in which no member has run moves nothing. */
void rti_rows_keep(struct rti_tree *tree)
{
	if (tree->rows.are_kept)
		return;
	for (size_t i = 0; i < tree->rows.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		fill_moving(tree, m, &m->values.figures.row);
	}
	tree->rows.are_kept = true;
}

static void set_sampled_row(const struct rti_tree *tree, const struct rti_member *m,
                            struct rt_process *out)
{
	*out = m->values.figures.row;
	fill_counters(m, out);
	if (!tree->rows.are_kept)
		fill_moving(tree, m, out);
}

void rti_tree_each_sampled(const struct rti_tree *tree,
                           int (*each)(void *arg, const struct rt_process *row), void *arg)
{
	for (size_t i = 0; i < tree->rows.count; i++) {
		const struct rti_member *m = &tree->table.members[i];
		struct rt_process row;

		if (m->pid == tree->supervised.pid)
			continue;
		set_sampled_row(tree, m, &row);
		if (each(arg, &row) != RTI_CONTINUE)
			return;
	}
}

/* Set the row of the sample before. If a process was not yet a member, what it had used by then is
 * unknown. */
static void set_row_before(const struct rti_tree *tree, const struct rti_before_part *before,
                           uint64_t since_ns, struct rt_process *from, struct rt_process *to)
{
	uint64_t counters = tree->domains.counters, began_ns;
	struct rti_figures figures = { 0 };

	*from = *to;
	if (before->at_sample != tree->table.samples)
		return;
	if (before->is_new) {
		from->valid |= to->partial | to->estimated;
		from->partial = from->estimated = 0;
		began_ns = to->start_ticks * tree->ctx->platform->tick_ns;
		if (began_ns + tree->ctx->platform->tick_ns <= since_ns) {
			to->partial |= to->valid & counters;
			to->valid &= ~counters;
			return;
		}
	} else {
		from->valid = before->valid;
		from->partial = before->partial;
		from->estimated = before->estimated;
	}
	memcpy(figures.self, before->self, sizeof(before->self));
	figures.children[RTI_CPU_USER] = before->reaped_user_ns;
	figures.children[RTI_CPU_SYSTEM] = before->reaped_system_ns;
	rti_process_row_set_counters(&figures, from);
}

void rti_tree_each_change(const struct rti_tree *tree, uint64_t since_ns,
                          void (*each)(void *arg, const struct rt_process *from,
                                       const struct rt_process *to),
                          void *arg)
{
	struct rt_process from, to;

	for (size_t i = 0; i < tree->rows.count; i++) {
		const struct rti_member *m = &tree->table.members[i];

		if (m->pid == tree->supervised.pid)
			continue;
		set_sampled_row(tree, m, &to);
		set_row_before(tree, &m->before, since_ns, &from, &to);
		each(arg, &from, &to);
	}
	for (size_t i = 0; i < tree->ended.count; i++) {
		to = tree->ended.rows[i].row;
		set_row_before(tree, &tree->ended.rows[i].before, since_ns, &from, &to);
		each(arg, &from, &to);
	}
}

bool rti_tree_is_running(const struct rti_tree *tree, int32_t pid)
{
	const struct rti_member *m = rti_member_find(&tree->table, pid);

	return m && !rti_pid_stat_is_zombie(&m->stat);
}
