/* SPDX-License-Identifier: MIT */
/* One process tree: the steps of a sample. */
#include "tree/tree.h"
#include "tree/memory/memory.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/pid_stat.h"
#include "tree/event_loop.h"
#include "tree/exits/exit_accounting.h"
#include "tree/gpu/gpu.h"
#include "tree/gpu/gpu_state.h"
#include "tree/listed_members.h"
#include "tree/memory/memory_peak.h"
#include "tree/memory/peak_mark.h"
#include "tree/read/member_change.h"
#include "tree/read/member_read.h"
#include "tree/read/member_row.h"
#include "tree/scan/discovery.h"
#include "tree/scan/kernel_account.h"
#include "tree/scan/new_members.h"
#include "tree/sum/tree_metrics.h"
#include "tree/watch/watched.h"

#define CACHE_LINE 64

static void set_domains(struct rti_tree *tree, uint64_t want)
{
	tree->domains = rti_pid_domains();
	tree->want = want;
	tree->wanted = rti_pid_domains_needed(want & tree->domains.all);
	if (want & RTI_HAS_OF_MEMORY)
		tree->wanted |= RT_HAS_RSS | RT_HAS_PEAK_RSS;
	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_pid_collector *c = rti_pid_collectors[i];

		if (c->add && c->provides & want)
			tree->gauges[tree->gauge_count++] = c;
		if (c->provides & tree->wanted)
			tree->row_request |= c->row_request;
		if (c->provides & tree->wanted & tree->domains.of_supervisor)
			tree->row_request_of_supervisor |= c->row_request;
	}
}

int rti_tree_new(struct rti_tree **out, const struct rti_context *ctx,
                 const struct rti_tree_opts *opts)
{
	struct rti_tree *tree = calloc(1, sizeof(*tree));
	int err;

	*out = NULL;
	if (!tree)
		return -ENOMEM;
	tree->ctx = ctx;
	tree->ledger.self_only = ctx->flags & RT_OPT_NO_CHILDREN;
	tree->supervised.cgroup = (struct rti_cgroup)RTI_CGROUP_INIT;
	rti_discovery_init(&tree->discovery);
	tree->watched = (struct rti_watched)RTI_WATCHED_INIT;
	rti_tree_loop_init(&tree->loop);
	tree->list = opts->list;
	tree->list_arg = opts->list_arg;
	set_domains(tree, opts->want);
	rti_pss_init(&tree->pss_budget, opts->pss_share, opts->pss_hold_us);
	err = rti_member_table_init(&tree->table, opts->files_max);
	if (err == 0 && !opts->list)
		err = rti_discover_roots(tree, opts->pids, opts->pid_count);
	if (err == 0)
		err = rti_tree_gpu_init(tree);
	if (err < 0) {
		rti_tree_free(tree);
		return err;
	}
	rti_memory_init(tree, opts->want, opts->reads_pss);
	*out = tree;
	return 0;
}

void rti_tree_free(struct rti_tree *tree)
{
	rti_cgroup_close(&tree->supervised.cgroup, tree->ctx);
	rti_tree_loop_free(&tree->loop);
	rti_kernel_account_free(&tree->kernel_account, &tree->discovery);
	rti_discovery_free(&tree->discovery, tree->ctx);
	rti_reused_pids_free(&tree->reused_pids);
	rti_batch_reader_free(&tree->batch_reader);
	rti_watched_free(&tree->watched, tree->ctx);
	rti_memory_free(&tree->memory);
	free(tree->peaks.marks);
	rti_tree_gpu_free(tree);
	rti_changes_free(tree);
	rti_member_table_free(&tree->table, tree->ctx);
	free(tree);
}

/* Set the time for the PSS budget, and for all figures that are not read in every sample. */
static void note_time(struct rti_tree *tree, uint64_t now_ns)
{
	tree->now_ns = now_ns;
	rti_pss_save(&tree->pss_budget, now_ns);
}

/* Children before their parents, so that a child that exits meanwhile shows in its parent's
 * account. The next member is fetched ahead if it has run: what is done with a row takes less time
 * than the memory needs for all of a member. */
static void read_members(struct rti_tree *tree)
{
	size_t next = SIZE_MAX;
	bool has_next = rti_watch_down(&tree->watched, &tree->table, &next);

	while (has_next) {
		struct rti_member *m = &tree->table.members[next], *ahead;

		has_next = rti_watch_down(&tree->watched, &tree->table, &next);
		ahead = has_next ? &tree->table.members[next] : m;
		if (ahead->clock.row) {
			for (size_t at = 0; at < sizeof(*ahead); at += CACHE_LINE)
				__builtin_prefetch((const char *)ahead + at, 1);
		}
		rti_read_member(tree, m);
	}
}

static void discover(struct rti_tree *tree)
{
	bool is_partial;

	rti_reused_pids_take(tree);
	is_partial = !tree->list && rti_watched_begin(tree);
	rti_begin_reads(tree);
	if (tree->list) {
		rti_update_listed(tree, rti_ask_for_sample);
	} else if (is_partial) {
		rti_watched_discover(tree, rti_ask_for_sample);
	} else {
		rti_discover_members(tree, rti_ask_for_sample);
	}
}

/* A supervisor is about to reap the zombies of its tree, and a cgroup may get new members. */
static bool has_ended(const struct rti_tree *tree)
{
	if (tree->reused_pids.is_lacking)
		return false;
	if (!tree->sums.has_zombie || tree->list || tree->supervised.pid)
		return rti_tree_count(tree) == 0;
	for (size_t i = 0; i < tree->table.count; i++)
		if (!rti_pid_stat_is_zombie(&tree->table.members[i].stat))
			return false;
	return true;
}

int rti_tree_sample(struct rti_tree *tree, uint64_t now_ns, struct rt_metrics *out)
{
	rti_tree_loop_begin(&tree->loop);
	tree->needs_reconcile = false;
	tree->unchanged_samples++;
	note_time(tree, now_ns);
	tree->sampled_ns = now_ns;
	tree->discovery.count_before = tree->table.count;
	rti_member_table_begin_sample(&tree->table);
	rti_changes_begin(tree);
	discover(tree);
	rti_tree_check_cgroups(tree);
	read_members(tree);
	rti_exits_reconcile(tree);
	rti_exits_account(tree);
	rti_kernel_account_sample(tree);
	rti_memory_sample(tree);
	rti_tree_gpu_sample(tree);
	rti_exits_check_pids(tree);
	rti_tree_sum_up(tree, out);
	if (tree->needs_reconcile) {
		rti_watch_remove_exited(&tree->watched, &tree->table);
		rti_member_table_remove_exited(&tree->table, tree->ctx);
	}
	rti_watched_end(&tree->watched, &tree->table, tree->now_ns, tree->clocks_ns);
	rti_member_table_count_files(&tree->table);
	rti_rows_begin(tree);
	rti_changes_end(tree);
	if (tree->is_final)
		tree->runaways = rti_discovery_count_runaways(tree);
	if (tree->kernel_account.programs)
		out->source = RT_SOURCE_BPF_ACCOUNT;
	else
		out->source = tree->batch_reader.batch ? RT_SOURCE_BPF : RT_SOURCE_PROC;
	rti_tree_loop_end(tree);
	return has_ended(tree) ? -ESRCH : 0;
}

void rti_tree_begin_final(struct rti_tree *tree)
{
	tree->is_final = true;
}

static void begin_poll(struct rti_tree *tree)
{
	rti_tree_loop_begin(&tree->loop);
	note_time(tree, tree->ctx->platform->monotonic_ns());
}

void rti_tree_poll_peak(struct rti_tree *tree)
{
	begin_poll(tree);
	rti_memory_peak_poll(tree);
	rti_tree_loop_end(tree);
}

int rti_tree_mark(struct rti_tree *tree, const char *label, uint64_t *id)
{
	int err;

	begin_poll(tree);
	err = rti_peak_mark_set(tree, label, id);
	rti_tree_loop_end(tree);
	return err;
}

int rti_tree_since(struct rti_tree *tree, uint64_t id, struct rt_peaks *out)
{
	int err;

	begin_poll(tree);
	err = rti_peak_mark_get(tree, id, out);
	rti_tree_loop_end(tree);
	return err;
}

int rti_tree_unmark(struct rti_tree *tree, uint64_t id)
{
	return rti_peak_mark_remove(&tree->peaks, id);
}

void rti_tree_read_memory(struct rti_tree *tree)
{
	tree->memory.is_forced = tree->memory.may_read;
	tree->unchanged_samples = 0;
}

uint64_t rti_tree_pss_cost_ns(const struct rti_tree *tree)
{
	return tree->pss_budget.spent_ns;
}

uint64_t rti_tree_domains(const struct rti_tree *tree)
{
	return tree->want;
}

size_t rti_tree_count(const struct rti_tree *tree)
{
	size_t count = tree->rows.count;

	if (tree->supervised.pid && rti_member_find(&tree->table, tree->supervised.pid))
		count--;
	return count;
}

const void *rti_tree_gpus(const struct rti_tree *tree, size_t *count)
{
	*count = 0;
	return tree->gpu ? rti_rows_get(&tree->gpu->gpus, count) : NULL;
}

const void *rti_tree_gpu_processes(const struct rti_tree *tree, size_t *count)
{
	*count = 0;
	return tree->gpu ? rti_rows_get(&tree->gpu->processes, count) : NULL;
}
