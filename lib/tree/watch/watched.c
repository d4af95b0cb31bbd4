/* SPDX-License-Identifier: MIT */
/* Which members a sample has to look at, where programs in the kernel watch the tree. */
#include "tree/watch/watched.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/pid_stat.h"
#include "tree/scan/clock_read.h"
#include "tree/scan/discovery.h"
#include "tree/scan/new_members.h"
#include "tree/state/read_policy.h"
#include "util/arith.h"

#define TRIES_MAX 16
/* Each member is looked at this often though it has not run: its RSS may have changed. But so many
 * looks have to pay. E.g.: 20,000 members take 50 s. */
#define TURN_NS UINT64_C(10000000000)

/* From now on every sample looks at all members. */
static void stop(struct rti_watched *w, struct rti_member_table *table)
{
	rti_watch_close(w->watch);
	w->watch = NULL;
	w->stage = RTI_WATCH_NONE;
	w->is_partial = false;
	rti_watch_choice_begin(&w->choice, 0);
	rti_member_table_look_anew(table);
}

static void settle_again(struct rti_watched *w)
{
	w->stage = RTI_WATCH_SETTLING;
	w->tries = 0;
}

static int reserve(struct rti_watched *w, size_t count)
{
	struct rti_index_set *sets[] = { &w->now, &w->next, &w->unsettled };
	int err = 0;

	for (size_t i = 0; err == 0 && i < sizeof(sets) / sizeof(sets[0]); i++)
		err = rti_index_set_reserve(sets[i], count);
	if (err == 0 && !w->changes)
		w->changes = calloc(RTI_WATCH_ROOM_MIN, sizeof(*w->changes));
	return err == 0 && w->changes ? 0 : -ENOMEM;
}

/* Of the system since it was started; 0: not known. */
static uint64_t read_switches(struct rti_watched *w, const struct rti_context *ctx)
{
	struct rti_stat stat;

	if (rti_procfs_read_cached(ctx->procfs, RTI_PROC, "stat", RTI_SEQ_FILE, &w->stat,
	                           ctx->buf) < 0 ||
	    rti_parse_stat(ctx->buf->data, ctx->buf->len, &stat, NULL, NULL) < 0 || !stat.has_procs)
		return 0;
	return stat.context_switches;
}

/* What runs is read by the BPF reader, so that comes first where there is one. */
static void try_to_open(struct rti_tree *tree)
{
	const struct rti_batch_reader *reader = &tree->batch_reader;
	struct rti_watched *w = &tree->watched;

	if (w->is_unavailable || (!reader->batch && !reader->is_unavailable) ||
	    !rti_watch_choice_is_due(&w->choice, tree->table.count) ||
	    !rti_watch_choice_opens(&w->choice, tree->table.count, read_switches(w, tree->ctx)))
		return;
	w->is_unavailable = rti_watch_open(&w->watch) < 0;
	if (w->watch)
		settle_again(w);
}

/* Search the threads of the system. Returns how many had no mark, or -errno. */
static int search(struct rti_tree *tree, bool wants_members)
{
	const struct rti_platform *platform = tree->ctx->platform;
	struct rti_watched *w = &tree->watched;
	struct rti_now now;
	uint64_t cost_ns;
	int found;

	for (size_t i = 0; wants_members && i < tree->table.count; i++)
		rti_watch_want(w->watch, tree->table.members[i].pid);
	platform->now(&now);
	cost_ns = platform->thread_cpu_ns();
	/* The last sample, at this time of CLOCK_BOOTTIME, has found all members there. A process
	 * that has started since may have the pid of one. */
	found = rti_watch_search(w->watch, w->taken_ns + now.boottime_ns - now.monotonic_ns);
	cost_ns = platform->thread_cpu_ns() - cost_ns;
	w->check_due_ns = tree->now_ns + rti_watched_check_ns(cost_ns);
	return found;
}

/* A zombie is looked at in each sample. */
static bool are_all_marked(const struct rti_watched *w, const struct rti_member_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct rti_member *m = &table->members[i];

		if (!rti_pid_stat_is_zombie(&m->stat) && !rti_watch_is_marked(w->watch, m->pid))
			return false;
	}
	return true;
}

static void take_change(struct rti_tree *tree, const struct rti_watch_change *change,
                        bool adds_members)
{
	struct rti_watched *w = &tree->watched;
	const struct rti_member *m = rti_member_find(&tree->table, change->pid);

	if (m) {
		rti_index_set_add(&w->now, (size_t)(m - tree->table.members));
		rti_index_set_add(&w->next, (size_t)(m - tree->table.members));
	}
	/* What runs is any process of the system. A new member is a change of its own. */
	if (!m && adds_members && !change->is_running) {
		if (change->is_forked)
			rti_add_forked_before(tree, change->pid, w->changes_ns);
		else
			rti_add_by_parent(tree, change->pid);
	} else if (change->is_forked) {
		rti_reused_pids_note_fork(tree, change->pid);
	}
}

/* Returns 0 or -errno. */
static int take_changes(struct rti_tree *tree, bool adds_members)
{
	struct rti_watched *w = &tree->watched;
	int count, err = reserve(w, tree->table.capacity);
	bool has_more = true;
	struct rti_now now;

	while (err == 0 && has_more) {
		count = rti_watch_take(w->watch, w->changes, RTI_WATCH_ROOM_MIN, &has_more);
		tree->ctx->platform->now(&now);
		w->changes_ns = now.boottime_ns;
		err = count < 0 ? count : 0;
		for (int i = 0; err == 0 && i < count; i++) {
			take_change(tree, &w->changes[i], adds_members);
			/* Members that are found make room for themselves. */
			err = reserve(w, tree->table.capacity);
		}
	}
	return err;
}

/* From now on nothing is due of a member that does not run, so each is read once more. */
static void begin_partial_samples(struct rti_watched *w, struct rti_member_table *table,
                                  uint64_t now_ns)
{
	struct rti_watch_counts counts;

	rti_watch_count(w->watch, &counts);
	w->stage = RTI_WATCH_SETTLED;
	w->turned_ns = w->refreshed_ns = now_ns;
	w->unmarked = counts.unmarked;
	w->reclaims = counts.reclaims;
	rti_watch_choice_begin(&w->choice, counts.switches);
	rti_member_table_look_anew(table);
}

/* The programs have watched all threads of all members since the sample before, and that sample has
 * looked at all of them. */
static void settle(struct rti_tree *tree)
{
	struct rti_watched *w = &tree->watched;
	int found = take_changes(tree, true);

	/* Full samples read RSS each second. */
	if (w->tries == 0)
		rti_member_table_look_anew(&tree->table);
	if (found == 0)
		found = search(tree, true);
	if (found < 0 || ++w->tries > TRIES_MAX) {
		stop(w, &tree->table);
		w->is_unavailable |= found < 0;
	} else if (found == 0 && w->tries > 1 && are_all_marked(w, &tree->table)) {
		begin_partial_samples(w, &tree->table, tree->now_ns);
	}
}

static bool may_be_partial(struct rti_tree *tree)
{
	struct rti_watched *w = &tree->watched;
	struct rti_watch_counts counts;

	if (w->stage != RTI_WATCH_SETTLED)
		return false;
	rti_watch_count(w->watch, &counts);
	/* A hook has missed a thread, or a process that has run does not show. */
	if (counts.unmarked != w->unmarked ||
	    (tree->now_ns >= w->check_due_ns && search(tree, false) != 0)) {
		w->unmarked = counts.unmarked;
		settle_again(w);
		return false;
	}
	return !tree->is_final && !tree->discovery.has_skipped &&
	       reserve(w, tree->table.capacity) == 0;
}

/* It saves nothing until it has settled. */
static bool is_to_end(struct rti_watched *w, size_t members)
{
	struct rti_watch_counts counts;

	if (w->stage != RTI_WATCH_SETTLED)
		return false;
	rti_watch_count(w->watch, &counts);
	return rti_watch_choice_closes(&w->choice, members, counts.switches);
}

bool rti_watched_begin(struct rti_tree *tree)
{
	struct rti_watched *w = &tree->watched;

	w->is_partial = false;
	w->must_sum_all = false;
	if (!tree->discovery.is_followed || !tree->ctx->platform->cpu_clock)
		return false;
	if (!w->watch)
		try_to_open(tree);
	else if (is_to_end(w, tree->table.count))
		stop(w, &tree->table);
	if (w->stage == RTI_WATCH_SETTLING)
		settle(tree);
	w->is_partial = may_be_partial(tree);
	return w->is_partial;
}

uint64_t rti_watched_check_ns(uint64_t cost_ns)
{
	return rti_pays_from(&rti_strategies[RTI_SEARCH_THREADS], cost_ns);
}

uint64_t rti_watched_turn_ns(size_t members)
{
	return rti_max(TURN_NS / (members + 1) + 1,
	               rti_pays_from(&rti_strategies[RTI_LOOK_IN_TURN], RTI_LOOK_NS));
}

/* RSS changes without a run: the kernel reclaims pages. Then all members are looked at, each second
 * at most. Other changes pass no hook, e.g. if a mapped file is cut, or another process writes to
 * the memory: so members are looked at in turn. */
static void add_turns(struct rti_watched *w, const struct rti_member_table *table, uint64_t now_ns)
{
	uint64_t each_ns = rti_watched_turn_ns(table->count),
		 turns = (now_ns - w->turned_ns) / each_ns;
	struct rti_watch_counts counts;

	rti_watch_count(w->watch, &counts);
	w->turned_ns += turns * each_ns;
	if (counts.reclaims != w->reclaims && now_ns - w->refreshed_ns >= RTI_WHILE_IDLE_NS) {
		w->reclaims = counts.reclaims;
		w->refreshed_ns = now_ns;
		turns = table->count;
	}
	for (uint64_t i = 0; i < turns && i < table->count; i++) {
		if (w->turn_next >= table->count)
			w->turn_next = 0;
		rti_index_set_add(&w->now, w->turn_next++);
	}
}

void rti_watched_discover(struct rti_tree *tree, rti_batch_ask *ask)
{
	struct rti_watched *w = &tree->watched;
	struct rti_index_set now = w->now;
	int err;

	/* What is due, and what has changed since the last sample looked again. */
	w->now = w->next;
	w->next = now;
	rti_index_set_clear(&w->next);
	tree->discovery.count_before = tree->table.count;
	rti_discovery_update_last_pid(&tree->discovery, tree->ctx);
	rti_discovery_take_events(tree);
	err = take_changes(tree, true);
	if (err < 0) {
		/* E.g.: after a fork the watch is the parent's. */
		stop(w, &tree->table);
		w->is_unavailable = true;
		rti_discover_members(tree, ask);
		return;
	}
	rti_index_set_clear(&w->next);
	/* What peak polls have added is behind the members of the last sample. */
	for (size_t i = w->known; i < tree->table.count; i++)
		rti_index_set_add(&w->now, i);
	add_turns(w, &tree->table, tree->now_ns);
	w->looks = w->now.count;
	rti_read_clocks_of(tree, &w->now, ask);
}

void rti_watched_look_again(struct rti_tree *tree)
{
	struct rti_watched *w = &tree->watched;

	if (!w->is_partial || take_changes(tree, false) == 0)
		return;
	for (size_t i = 0; i < tree->table.count; i++)
		rti_index_set_add(&w->now, i);
	w->looks = tree->table.count;
	settle_again(w);
}

/* Whether something of it is due in the next sample though it does not run: a figure was put off or
 * is missing, or it waits for its parent. */
static bool is_due_next(const struct rti_member *m)
{
	return m->read.idle_until_ns != UINT64_MAX || rti_pid_stat_is_zombie(&m->stat);
}

void rti_watched_end(struct rti_watched *w, const struct rti_member_table *table, uint64_t now_ns,
                     uint64_t clocks_ns)
{
	size_t count = table->count;

	/* A watch that has yet to settle saves nothing. */
	if (w->is_partial)
		rti_watch_choice_count_saved(&w->choice, count > w->looks ? count - w->looks : 0);
	else if (!w->watch)
		rti_watch_choice_count(&w->choice, count, w->ran, clocks_ns);
	w->ran = 0;
	w->taken_ns = now_ns;
	w->known = count;
	if (w->stage == RTI_WATCH_NONE)
		return;
	/* All members have been looked at. */
	if (!w->is_partial && reserve(w, table->capacity) == 0) {
		rti_index_set_clear(&w->now);
		rti_index_set_clear(&w->next);
		rti_index_set_clear(&w->unsettled);
		for (size_t i = 0; i < count; i++)
			rti_index_set_add(&w->now, i);
	}
	for (size_t i = SIZE_MAX; (i = rti_watch_next_unsettled(w, i)) != SIZE_MAX;) {
		const struct rti_member *m = &table->members[i];

		if (is_due_next(m))
			rti_index_set_add(&w->next, i);
		/* Its values in the sums are of this sample alone: by the next one it has reaped
		 * nothing, or it has had its parent before. */
		if (m->family.has_reaped || m->family.ppid != m->former.ppid)
			rti_index_set_add(&w->unsettled, i);
		else
			rti_index_set_remove(&w->unsettled, i);
	}
	if (!w->is_partial)
		w->looks = w->now.count;
	rti_index_set_clear(&w->now);
}

void rti_watched_free(struct rti_watched *w, const struct rti_context *ctx)
{
	rti_watch_close(w->watch);
	rti_index_set_free(&w->now);
	rti_index_set_free(&w->next);
	rti_index_set_free(&w->unsettled);
	free(w->changes);
	rti_procfs_close_file(ctx->procfs, &w->stat);
}

/* --- The members of a sample. --- */

void rti_watch_touch(struct rti_watched *w, const struct rti_member_table *table,
                     const struct rti_member *m)
{
	const size_t i = (size_t)(m - table->members);

	if (!w->is_partial)
		return;
	w->looks += !rti_index_set_has(&w->now, i);
	rti_index_set_add(&w->now, i);
}

void rti_watch_note_idle(struct rti_watched *w, const struct rti_member_table *table,
                         const struct rti_member *m)
{
	if (w->is_partial && !is_due_next(m))
		rti_index_set_remove(&w->now, (size_t)(m - table->members));
}

bool rti_watch_up(const struct rti_watched *w, const struct rti_member_table *table, size_t *i)
{
	if (w->is_partial)
		*i = rti_index_set_next(&w->now, *i + 1);
	else
		*i = *i + 1 < table->count ? *i + 1 : SIZE_MAX;
	return *i != SIZE_MAX;
}

bool rti_watch_down(const struct rti_watched *w, const struct rti_member_table *table, size_t *i)
{
	size_t below = *i < table->count ? *i : table->count;

	if (w->is_partial)
		*i = rti_index_set_previous(&w->now, below);
	else
		*i = below ? below - 1 : SIZE_MAX;
	return *i != SIZE_MAX;
}

size_t rti_watch_next_unsettled(const struct rti_watched *w, size_t i)
{
	const size_t now = rti_index_set_next(&w->now, i + 1);
	const size_t unsettled = rti_index_set_next(&w->unsettled, i + 1);

	return now < unsettled ? now : unsettled;
}

void rti_watch_remove_exited(struct rti_watched *w, const struct rti_member_table *table)
{
	struct rti_index_set *sets[] = { &w->now, &w->next, &w->unsettled };
	size_t kept = 0, next = w->turn_next;

	if (!w->is_partial)
		return;
	for (size_t i = 0; i < table->count; i++) {
		bool has_exited = table->members[i].end.has_exited;

		for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
			if ((!has_exited && kept == i) || !rti_index_set_has(sets[k], i))
				continue;
			rti_index_set_remove(sets[k], i);
			if (!has_exited)
				rti_index_set_add(sets[k], kept);
		}
		kept += !has_exited;
		w->turn_next -= has_exited && i < next;
	}
}

void rti_watch_note_run(struct rti_watched *w)
{
	w->ran++;
}

void rti_watch_note_exit(struct rti_watched *w, const struct rti_member_table *table,
                         const struct rti_member *m)
{
	rti_watch_touch(w, table, m);
	w->must_sum_all = true;
}
