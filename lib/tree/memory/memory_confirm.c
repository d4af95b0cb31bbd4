/* SPDX-License-Identifier: MIT */
/* Confirms a new peak of a tree: looks at its members once more. */
#include "tree/memory/memory_confirm.h"

#include <errno.h>

#include "tree/memory/memory_note.h"
#include "tree/read/member_read.h"
#include "util/arith.h"

/* A peak is new if it is this part of the last one above it: a hundredth. */
#define NEW_PEAK 100

static uint64_t above(uint64_t peak)
{
	return rti_add_saturated(peak, peak / NEW_PEAK);
}

uint64_t rti_memory_peak_bytes(const struct rti_peak_state *peaks)
{
	return rti_max(peaks->bytes, peaks->recent_bytes);
}

uint64_t rti_memory_new_peak_bytes(const struct rti_peak_state *peaks)
{
	return above(rti_memory_peak_bytes(peaks));
}

bool rti_memory_has_new_peak(const struct rti_memory_state *memory,
                             const struct rti_peak_state *peaks)
{
	const struct rti_memory_moment *moment = &memory->moment;

	return moment->low_bytes > above(peaks->low_bytes) ||
	       moment->bytes > rti_memory_new_peak_bytes(peaks);
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
		rti_memory_forget(tree, m);
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

bool rti_memory_confirm(struct rti_tree *tree)
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
