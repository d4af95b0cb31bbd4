/* SPDX-License-Identifier: MIT */
/* The memory of a tree at one moment. */
#include "tree/memory/memory.h"

#include <errno.h>

#include <rtrack/rtrack.h>

#include "tree/memory/memory_note.h"
#include "tree/read/member_read.h"
#include "tree/read/member_row.h"
#include "tree/read/memory_figures.h"
#include "tree/read/pss_read.h"
#include "tree/scan/discovery.h"
#include "tree/watch/watched.h"
#include "util/arith.h"

/* If what was read contradicts the model for this long, the model is wrong. */
#define MODEL_IS_WRONG_NS 1000000000u
/* In so short a time a process can hardly fill a thousandth of a peak. */
#define ONE_MOMENT_NS 1000000u
/* A peak is new if it is this part of the last one above it: a hundredth. */
#define NEW_PEAK 100
/* Peak polls read PSS only after so long without. */
#define SAMPLES_ARE_RARE_NS UINT64_C(2000000000)

void rti_memory_init(struct rti_tree *tree, uint64_t want)
{
	struct rti_memory_state *state = &tree->memory;

	state->is_modelled = want & (RT_HAS_PSS | RT_HAS_PEAK_TREE);
	state->may_read = want & RT_HAS_PSS && !(tree->ctx->flags & RT_OPT_NO_PSS_READS);
	state->root_pid = tree->table.count > 0 ? tree->table.members[0].pid : 0;
	tree->memory.changes++; /* nothing is summed up yet */
}

void rti_memory_set_root(struct rti_memory_state *memory, int32_t pid)
{
	memory->root_pid = pid;
}

void rti_memory_free(struct rti_memory_state *memory)
{
	rti_executables_free(&memory->executables);
}

/* E.g.: members that ran, and have neither mapped nor touched a page, leave all sums as they
 * were. */
static void sum_model(struct rti_memory_state *state, struct rti_member_table *table)
{
	if (state->is_modelled && state->summed_changes == state->changes)
		return;
	state->summed_changes = state->changes;
	rti_memory_sum(table, &state->sums);
	rti_executables_open(&state->executables);
	for (size_t i = 0; i < table->count; i++) {
		const struct rti_memory_part *m = &table->members[i].memory;

		if (rti_memory_counts(m))
			rti_executables_add(&state->executables, m->executable,
			                    m->look.shared_pages);
	}
}

static void sum_reads(struct rti_tree *tree, struct rti_pss_sum *out)
{
	struct rti_memory_state *state = &tree->memory;

	if (!state->are_reads_lasting || state->reads_changes != tree->memory.changes ||
	    state->reads_drift != tree->memory.drift) {
		rti_pss_sum(tree, &state->reads);
		state->reads_changes = tree->memory.changes;
		state->reads_drift = tree->memory.drift;
		/* What could not be read is tried again, and a tree without memory is not old. */
		state->are_reads_lasting =
		    state->reads.has_all && state->reads.oldest_ns < tree->now_ns;
	}
	*out = state->reads;
}

/* Learn from the members that were read at this moment, unless they have changed meanwhile. */
static void learn_sharing(struct rti_memory_state *memory, const struct rti_member_table *table,
                          const struct rti_context *ctx, uint64_t now_ns,
                          const struct rti_pss_sum *sum)
{
	struct rti_executables *executables = &memory->executables;

	for (size_t i = 0; i < table->count; i++) {
		const struct rti_member *m = &table->members[i];
		const struct rti_pss_part *pss = &m->pss;

		if (!rti_memory_counts(&m->memory) || pss->at_ns != now_ns || !pss->has_kinds ||
		    rti_pages_to_bytes(ctx, memory->drift - pss->drift) >
		        sum->bytes / RTI_PSS_DOUBT)
			continue;
		rti_executables_measure(executables, m->memory.executable,
		                        m->memory.look.shared_pages,
		                        rti_subtract_saturated(pss->pss_bytes, pss->anon_bytes) /
		                            ctx->platform->page_size);
	}
	rti_executables_learn(executables);
}

/* The members together have less than what one of them has mapped. */
static void learn_outside_shmem(struct rti_memory_state *memory, const struct rti_context *ctx,
                                const struct rti_pss_sum *sum)
{
	uint64_t shmem = rti_pages_to_bytes(ctx, memory->sums.shmem_pages_max);

	memory->has_outside_shmem =
	    rti_subtract_saturated(sum->bytes, sum->anon_bytes) < shmem - shmem / RTI_PSS_DOUBT;
}

/* What was read at this moment corrects the model, which stands in until the next time. */
static void learn(struct rti_tree *tree, const struct rti_pss_sum *sum)
{
	struct rti_memory_state *state = &tree->memory;
	uint64_t file_pages = rti_executables_pages(&state->executables);

	learn_sharing(state, &tree->table, tree->ctx, tree->now_ns, sum);
	if (sum->has_all && sum->has_kinds && sum->oldest_ns == tree->now_ns &&
	    rti_memory_is_within_doubt(sum)) {
		learn_outside_shmem(state, tree->ctx, sum);
		state->was_calibrated = true;
		state->excess_copied_bytes = rti_pages_to_bytes(
		    tree->ctx,
		    rti_memory_calibrate(&tree->table, &state->sums,
		                         sum->anon_bytes / tree->ctx->platform->page_size));
	}
	tree->memory.changes++;
	sum_model(state, &tree->table);
	state->excess_file_bytes = rti_pages_to_bytes(
	    tree->ctx,
	    rti_subtract_saturated(file_pages, rti_executables_pages(&state->executables)));
}

/* What was read is not possible. If it still is not a second later, and no member has come, the
 * model is wrong. */
static bool is_contradicted(struct rti_tree *tree, const struct rti_pss_sum *sum)
{
	struct rti_memory_state *state = &tree->memory;

	if (state->has_outside_sharer || tree->ledger.self_only ||
	    rti_memory_is_possible(sum, &state->sums, tree->ctx->platform->page_size)) {
		state->contradicted_ns = 0;
		return false;
	}
	if (!state->contradicted_ns || state->contradicted_added != tree->table.added) {
		state->contradicted_ns = tree->now_ns;
		state->contradicted_added = tree->table.added;
	}
	if (tree->now_ns - state->contradicted_ns >= MODEL_IS_WRONG_NS)
		return false;
	tree->memory.drift =
	    rti_add_saturated(tree->memory.drift, state->sums.rss_pages); /* read it all again */
	return true;
}

/* Returns whether what was read is impossible. */
static bool take_read(struct rti_tree *tree, const struct rti_pss_sum *sum)
{
	if (is_contradicted(tree, sum))
		return true;
	learn(tree, sum);
	return false;
}

static void measure(struct rti_tree *tree, const struct rti_pss_sum *sum, bool is_impossible)
{
	struct rti_memory_state *state = &tree->memory;

	state->moment = rti_memory_judge(&(struct rti_memory_facts){
	    .read = sum,
	    .sums = &state->sums,
	    .file_pages = rti_executables_pages(&state->executables),
	    .now_ns = tree->now_ns,
	    .page_size = tree->ctx->platform->page_size,
	    .needs_fresh_reads = state->needs_fresh_reads,
	    .has_outside_shmem = state->has_outside_shmem,
	    .is_contradicted = is_impossible,
	    .has_skipped = tree->discovery.has_skipped,
	});
}

static void measure_rss(struct rti_memory_state *state, const struct rti_context *ctx)
{
	state->moment = rti_memory_judge_rss(&state->sums, ctx->platform->page_size);
}

/* Nothing has to be read again yet if nothing has changed. If processes were skipped, there was no
 * upper bound. */
static bool is_recent(const struct rti_memory_state *memory, uint64_t now_ns)
{
	const struct rti_memory_moment *moment = &memory->moment;

	return moment->is_exact && moment->high_bytes == moment->bytes &&
	       now_ns < moment->exact_until_ns && now_ns - moment->oldest_ns < RTI_PSS_REFRESH_NS;
}

/* The process is not alone with what it has, but tracked alone: its children come and go unseen. */
static bool has_unseen_sharers(struct rti_tree *tree)
{
	struct rti_member *root = tree->table.members;

	if (tree->memory.has_outside_sharer)
		return true;
	return tree->ledger.self_only && tree->table.count > 0 &&
	       (root->stat.cminflt + root->stat.cmajflt > 0 ||
	        rti_discovery_has_children(tree, root));
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

/* Without a model, the sums are moved by what has changed of a member. The most that one member
 * shares is for the peak alone, which does not fall. */
static void note_member(struct rti_tree *tree, struct rti_member *m)
{
	struct rti_memory_sums *sums = &tree->memory.sums;
	uint64_t before = rss_pages_of(m);

	rti_memory_note_figures(tree, m);
	sums->rss_pages += rss_pages_of(m) - before;
	if (m->memory.is_present)
		sums->shared_pages_max =
		    rti_max(sums->shared_pages_max, m->memory.look.shared_pages);
}

/* --- Members are looked at one after the other. What one had, another may have by the time that it
 * is looked at: then their sum was never held. --- */

static uint64_t above(uint64_t peak)
{
	return rti_add_saturated(peak, peak / NEW_PEAK);
}

uint64_t rti_memory_peak_bytes(const struct rti_peak_state *peaks)
{
	return rti_max(peaks->bytes, peaks->recent_bytes);
}

/* A sum above this is a new peak that is worth a read of PSS, and is confirmed. */
static uint64_t new_peak_bytes(const struct rti_peak_state *peaks)
{
	return above(rti_memory_peak_bytes(peaks));
}

/* Whether a sum of this moment, or its lower bound, would be a new peak. */
static bool has_new_peak(const struct rti_memory_state *memory, const struct rti_peak_state *peaks)
{
	const struct rti_memory_moment *moment = &memory->moment;

	return moment->low_bytes > above(peaks->low_bytes) || moment->bytes > new_peak_bytes(peaks);
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

static void confirm(struct rti_tree *tree, struct rti_pss_sum *sum, bool is_impossible)
{
	if (tree->memory.took_ns < ONE_MOMENT_NS || !has_new_peak(&tree->memory, &tree->peaks) ||
	    !look_at_all_again(tree))
		return;
	sum_model(&tree->memory, &tree->table);
	sum_reads(tree, sum);
	measure(tree, sum, is_impossible);
}

static bool needs_shares(const struct rti_tree *tree)
{
	return tree->wants_rows || tree->supervised.on_exit;
}

void rti_memory_sample(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;
	struct rti_pss_sum sum;
	bool is_impossible;

	state->was_calibrated = false;
	if (tree->unchanged_samples == 0) {
		for (size_t i = SIZE_MAX; rti_watch_up(&tree->watched, &tree->table, &i);)
			note_member(tree, &tree->table.members[i]);
		if (state->is_modelled || !tree->watched.is_partial)
			sum_model(state, &tree->table);
	}
	if (!state->is_modelled) {
		measure_rss(state, tree->ctx);
		return;
	}
	state->took_ns = 0;
	if (tree->unchanged_samples == 0 && tree->table.count > 1)
		note_duration(state, tree->ctx, tree->now_ns);
	state->needs_fresh_reads = has_unseen_sharers(tree);
	if (tree->unchanged_samples > 0 && !state->needs_fresh_reads &&
	    is_recent(state, tree->now_ns)) {
		if (state->moment.source == RT_PSS_READ)
			state->moment.source = RT_PSS_CACHED;
		return;
	}
	sum_reads(tree, &sum);
	is_impossible = rti_pss_read_due(tree, &sum) && take_read(tree, &sum);
	measure(tree, &sum, is_impossible);
	confirm(tree, &sum, is_impossible);
	state->has_share_scale = false;
	if (needs_shares(tree))
		rti_memory_scale_shares(state, &tree->table, state->moment.is_exact);
}

static bool are_samples_rare(const struct rti_tree *tree)
{
	return tree->now_ns - tree->sampled_ns >= SAMPLES_ARE_RARE_NS &&
	       tree->now_ns - tree->memory.rounds.tried_ns >= SAMPLES_ARE_RARE_NS;
}

void rti_memory_poll(struct rti_tree *tree)
{
	struct rti_memory_state *state = &tree->memory;
	struct rti_pss_sum sum;

	state->was_calibrated = false;
	sum_model(state, &tree->table);
	if (!state->is_modelled) {
		measure_rss(state, tree->ctx);
		return;
	}
	if (needs_shares(tree))
		rti_memory_count_relatives(&tree->table);
	sum_reads(tree, &sum);
	measure(tree, &sum, false);
	state->took_ns = 0;
	if (has_new_peak(state, &tree->peaks))
		note_duration(state, tree->ctx, tree->now_ns);
	confirm(tree, &sum, false);
	if (state->moment.is_exact || state->moment.bytes <= new_peak_bytes(&tree->peaks) ||
	    !are_samples_rare(tree))
		return;
	rti_rows_keep(tree);
	if (rti_pss_read_due(tree, &sum))
		measure(tree, &sum, take_read(tree, &sum));
}
