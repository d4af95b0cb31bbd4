/* SPDX-License-Identifier: MIT */
/* The memory of a tree at one moment. */
#include "tree/memory/memory.h"

#include <errno.h>

#include <rtrack/rtrack.h>

#include "os/procfs.h"
#include "parse/scan.h"
#include "tree/memory/memory_note.h"
#include "tree/read/image_read.h"
#include "tree/read/member_row.h"
#include "tree/read/pss_read.h"
#include "tree/watch/watched.h"
#include "util/arith.h"

/* If what was read contradicts the model for this long, the model is wrong. */
#define MODEL_IS_WRONG_NS 1000000000u
/* In so short a time a process can hardly fill a thousandth of a peak. */
#define ONE_MOMENT_NS 1000000u
/* A peak is new if it is this part of the last one above it: a hundredth. */
#define NEW_PEAK 100
#define OUTSIDE_NS UINT64_C(900000000) /* so that samples a second apart each read it */

void rti_memory_init(struct rti_tree *tree, uint64_t want, bool reads_pss)
{
	struct rti_memory_state *state = &tree->memory;

	state->is_modelled = want & RTI_HAS_OF_MEMORY;
	state->may_read = !(tree->ctx->flags & RT_OPT_NO_MEMORY_READS);
	state->reads_pss = reads_pss;
	state->copied_part = 1;
	state->root_pid = tree->table.count > 0 ? tree->table.members[0].pid : 0;
	tree->memory.changes++; /* nothing is summed up yet */
}

void rti_memory_set_root(struct rti_memory_state *memory, int32_t pid)
{
	memory->root_pid = pid;
}

void rti_memory_free(struct rti_memory_state *memory)
{
	rti_mapped_free(&memory->mapped);
}

/* E.g.: members that ran, and have neither mapped nor touched a page, leave all sums as they
 * were. */
static void sum_up(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;

	if (state->is_modelled && state->summed_changes == state->changes)
		return;
	state->summed_changes = state->changes;
	rti_memory_sum(&tree->table, &state->sums);
	if (!state->is_modelled)
		return;
	rti_images_sum(tree);
	rti_memory_sum_reads(tree, &state->reads);
}

/* What was read is not possible. If it still is not a second later, and no member has come, the
 * model is wrong, and it is learned from all the same. */
static bool is_contradicted(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;

	if (state->has_outside_sharer ||
	    rti_reads_are_possible(&state->reads, &state->sums, tree->ctx->platform->page_size)) {
		state->contradicted_ns = 0;
		return false;
	}
	if (!state->contradicted_ns || state->contradicted_added != tree->table.added) {
		state->contradicted_ns = tree->now_ns;
		state->contradicted_added = tree->table.added;
	}
	if (tree->now_ns - state->contradicted_ns >= MODEL_IS_WRONG_NS)
		return false;
	state->drift = rti_add_saturated(state->drift, state->sums.rss_pages); /* read it again */
	return true;
}

/* Read what is due. What was read of all at this moment corrects the model, which stands in until
 * the next time. */
static void read_due(struct rti_tree *tree, bool is_poll)
{
	struct rti_memory_state *state = &tree->memory;
	struct rti_memory_reads before;
	uint64_t anon, model, off;
	bool holds_still;

	if (rti_images_read_due(tree))
		sum_up(tree);
	before = state->reads;
	if (!rti_pss_read_due(tree, is_poll, &state->reads) || is_contradicted(tree))
		return;
	/* Members that run while they are read leave a doubt. A model that is further off is wrong
	 * all the same. So is one that grows while two reads in a row say the same. */
	anon = rti_anon_read(&state->reads);
	model = rti_pages_to_bytes(tree->ctx, state->sums.anon_pages);
	off = model > anon ? model - anon : anon - model;
	holds_still = before.has_all && model > anon && anon <= rti_anon_read(&before) + off / 2;
	if (state->reads.has_all && state->reads.oldest_ns == tree->now_ns &&
	    (rti_reads_are_within_doubt(&state->reads) || off > state->reads.doubt_bytes ||
	     holds_still))
		rti_memory_calibrate(&tree->table, &state->sums,
		                     anon / tree->ctx->platform->page_size, &state->copied_part);
	state->changes++;
	sum_up(tree);
}

/* Until all that share can be read: one that is suspected to have copied what it inherited. E.g.:
 * four workers map and unmap memory all the time, and reading them takes 30 ms. */
static void read_suspect(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;
	struct rti_member *m = rti_pss_read_suspect(tree);

	if (!m)
		return;
	rti_memory_calibrate_by(&tree->table, &m->memory, m->pss.anon_pages,
	                        m->pss.anon_bytes / tree->ctx->platform->page_size,
	                        &state->copied_part);
	state->has_corrected = true;
	state->changes++;
	sum_up(tree);
}

/* Whether the kernel has merged equal pages of processes. */
static bool is_merging(const struct rti_context *ctx)
{
	struct rti_scan s;
	uint64_t pages;

	if (rti_procfs_read(ctx->procfs, RTI_SYS, "kernel/mm/ksm/pages_sharing", RTI_ONE_LINE,
	                    ctx->buf) < 0)
		return false;
	s = rti_scan(ctx->buf->data, ctx->buf->len);
	return rti_scan_u64(&s, &pages) && pages > 0;
}

/* What no file of a member shows: shared memory and tmpfs that no process maps, which the cgroup of
 * the tree is charged for, and pages of several processes that the kernel has merged since they
 * are equal. That takes 40 us. */
static void look_outside(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;
	const struct rti_cgroup *cgroup = &tree->supervised.cgroup;
	struct rti_cgroup_memory charged;
	bool was_merging = state->is_merging;

	if (tree->now_ns < state->outside_until_ns && !state->is_merging && !state->is_forced &&
	    !tree->is_final)
		return;
	state->outside_until_ns = tree->now_ns + OUTSIDE_NS;
	if (rti_cgroup_dir_of(cgroup, RTI_CGROUP_MEMORY) && !(cgroup->left & RTI_CGROUP_MEMORY) &&
	    rti_cgroup_read_memory(cgroup, tree->ctx, &charged) == 0)
		state->charged_shmem_bytes = charged.shmem_bytes;
	state->is_merging = is_merging(tree->ctx);
	if (was_merging || state->is_merging)
		state->changes++;
}

static void measure(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;

	if (!state->is_modelled) {
		state->moment = (struct rti_footprint){
			.rss_bytes = rti_pages_to_bytes(tree->ctx, state->sums.rss_pages),
		};
		return;
	}
	state->moment = rti_footprint_of(&(struct rti_footprint_facts){
	    .reads = &state->reads,
	    .sums = &state->sums,
	    .mapped = &state->mapped_sum,
	    .charged_shmem_bytes = state->charged_shmem_bytes,
	    .is_merging = state->is_merging,
	    .now_ns = tree->now_ns,
	    .page_size = tree->ctx->platform->page_size,
	    .has_outside_sharer = state->has_outside_sharer,
	    .has_skipped = tree->discovery.has_skipped,
	    .lacks_reads = state->lacks_images || !state->may_read,
	    .mapped_error = state->images_error,
	});
}

/* Members were looked at up to so long after the time of the sample. */
static void note_duration(struct rti_memory_state *state, const struct rti_context *ctx,
                          uint64_t now_ns)
{
	state->took_ns = rti_subtract_saturated(ctx->platform->monotonic_ns(), now_ns);
	if (state->longest_ns < state->took_ns)
		state->longest_ns = state->took_ns;
}

static uint64_t rss_pages_of(const struct rti_member *m)
{
	return m->memory.is_present ? m->memory.look.rss_pages : 0;
}

/* Without a model, the sum is moved by what has changed of a member. */
static void note_member(struct rti_tree *tree, struct rti_member *m)
{
	uint64_t before = rss_pages_of(m);

	rti_memory_note_figures(tree, m);
	tree->memory.sums.rss_pages += rss_pages_of(m) - before;
}

/* --- Members are looked at one after the other. What one had, another may have by the time that it
 * is looked at: then their sum was never held. --- */

static bool is_above(const struct rti_bounds *now, const struct rti_bounds *peak)
{
	return now->low > rti_add_saturated(peak->low, peak->low / NEW_PEAK) ||
	       now->bytes > rti_add_saturated(peak->bytes, peak->bytes / NEW_PEAK);
}

/* Whether a sum of this moment, or its lower bound, would be a new peak, perhaps since a mark. */
static bool has_new_peak(const struct rti_memory_state *memory, const struct rti_peak_state *peaks)
{
	const struct rti_bounds *now = &memory->moment.all;

	if (is_above(now, &peaks->all.bounds))
		return true;
	for (size_t i = 0; peaks->mark_count > 0 && i < RTI_MARKS_MAX; i++)
		if (peaks->marks[i].id && is_above(now, &peaks->marks[i].all.bounds))
			return true;
	return false;
}

/* What has not run since its clock was read, before it was looked at, has neither ended nor
 * released anything. To read the clock once more takes a 20th of the time that a look takes. The
 * clock of a process that runs lags by up to a tick, so after looks that took less it shows too
 * little. */
static bool may_have_run(const struct rti_context *ctx, const struct rti_memory_state *memory,
                         const struct rti_member *m)
{
	const struct rti_platform *platform = ctx->platform;
	struct rti_cpu_clock now = m->clock.now;

	return memory->took_ns < platform->tick_ns || !platform->cpu_clock || !m->clock.is_known ||
	       platform->cpu_clock(m->pid, &now) < 0 || now.total_ns != m->clock.now.total_ns;
}

/* What it has more than before it may have from a member that has ended by now. Returns whether
 * anything was taken back. */
static bool confirm_member(struct rti_tree *tree, struct rti_member *m)
{
	struct rti_memory_look look = m->memory.look;
	int err;

	if (!may_have_run(tree->ctx, &tree->memory, m))
		return false;
	err = rti_memory_look_again(tree, m, &look);
	if (err == -ESRCH || (err == 0 && look.rss_pages == 0)) {
		rti_memory_forget(&tree->memory, &tree->table, m);
		return true;
	}
	if (err < 0 || !look.is_torn || look.rss_pages > m->memory.look.rss_pages)
		return false;
	rti_memory_note(tree, m, &look);
	return true;
}

/* What one member alone had, no other can have had as well. */
static bool have_several_memory(const struct rti_member_table *table)
{
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++)
		count += rti_memory_counts(&table->members[i].memory);
	return count > 1;
}

/* Look at all members once more, and take back what some have no longer. Returns whether that has
 * changed any sum. For looks that took so long that they may be of different moments. */
static bool look_at_all_again(struct rti_tree *tree)
{
	bool has_changed = false;

	if (!have_several_memory(&tree->table))
		return false;
	for (size_t i = 0; i < tree->table.count; i++) {
		struct rti_member *m = &tree->table.members[i];

		if (rti_memory_counts(&m->memory))
			has_changed |= confirm_member(tree, m);
	}
	return has_changed;
}

static void confirm(struct rti_tree *tree)
{
	if (tree->memory.took_ns < ONE_MOMENT_NS || !has_new_peak(&tree->memory, &tree->peaks) ||
	    !look_at_all_again(tree))
		return;
	sum_up(tree);
	measure(tree);
}

void rti_memory_sample(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;

	state->took_ns = 0;
	if (tree->unchanged_samples == 0) {
		for (size_t i = SIZE_MAX; rti_watch_up(&tree->watched, &tree->table, &i);)
			note_member(tree, &tree->table.members[i]);
		if (!state->is_modelled && !tree->watched.is_partial)
			sum_up(tree);
		if (state->is_modelled && tree->table.count > 1)
			note_duration(state, tree->ctx, tree->now_ns);
	}
	if (state->is_modelled) {
		look_outside(tree);
		sum_up(tree);
		read_due(tree, false);
		read_suspect(tree);
	}
	measure(tree);
	if (state->is_modelled)
		confirm(tree);
	state->is_forced = false;
}

/* A read holds up the polls, so only a new peak is read that rests on what a read would show. */
void rti_memory_poll(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;

	sum_up(tree);
	measure(tree);
	state->took_ns = 0;
	if (!state->is_modelled || !has_new_peak(state, &tree->peaks))
		return;
	note_duration(state, tree->ctx, tree->now_ns);
	confirm(tree);
	if (state->moment.is_exact || !has_new_peak(state, &tree->peaks))
		return;
	rti_rows_keep(tree);
	rti_pss_keep_half(&tree->pss_budget, true);
	read_due(tree, true);
	rti_pss_keep_half(&tree->pss_budget, false);
	read_suspect(tree);
	state->rounds.next_try_ns = state->images_next_ns = 0; /* a sample may spend it */
	measure(tree);
}
