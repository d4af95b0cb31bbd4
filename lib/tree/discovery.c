/* SPDX-License-Identifier: MIT */
/* Finding the members of a tree: those who are heard of, and otherwise the children of those who may have forked. */
#include "tree/discovery.h"

#include <errno.h>
#include <stdlib.h>

#include "parse/scan.h"
#include "os/procfs_path.h"

#define BELIEVED_SEARCHES 16

/* Both may have died since they were found, and their pids been given to strangers: the child must name the parent, and
 * after that the parent must still be the one that we know. The child's may even be that of a thread by now. */
static int take_in(struct rti_proctree *tree, const struct rti_context *ctx, int32_t parent,
                   const struct rti_pid_stat *child, struct rti_file *file)
{
	struct rti_member *known = rti_proctree_find(tree, parent);

	if (!known || child->ppid != parent || !rti_proctree_is_leader(ctx, child) || !rti_proctree_is_alive(ctx, known))
		return 0;
	return rti_proctree_add(tree, ctx, child, file) == 0;
}

/* Who has gone is nobody's loss, whoever else cannot be read may be. */
static int look_up(struct rti_proctree *tree, const struct rti_context *ctx, int32_t pid, struct rti_file *file,
                   struct rti_pid_stat *out)
{
	int err = rti_proctree_look_up(ctx, pid, file, out);

	if (err < 0 && err != -ESRCH)
		rti_proctree_note_skipped(tree, err);
	return err;
}

/* Before anything is read of who cannot be taken in. */
static int pass_over(struct rti_proctree *tree)
{
	if (tree->count < RTI_MEMBERS_MAX && tree->count < tree->count_before + RTI_NEW_MEMBERS_MAX)
		return 0;
	tree->skipped++;
	tree->has_skipped = 1;
	return 1;
}

struct children_search {
	struct rti_proctree *tree;
	const struct rti_context *ctx;
	int32_t parent;
	uint64_t threads;
	int is_unsure; /* somebody may have been passed over */
};

static int take_child(void *arg, int32_t pid)
{
	struct children_search *search = arg;
	const struct rti_member *known = rti_proctree_find(search->tree, pid);
	struct rti_file file = RTI_FILE_INIT;
	struct rti_pid_stat stat;

	if (known) {
		/* Unless that one has gone, and its pid is this child's now. */
		search->is_unsure |= known->stat.ppid != search->parent;
		return 0;
	}
	if (pass_over(search->tree))
		return 0;
	if (look_up(search->tree, search->ctx, pid, &file, &stat) == 0)
		take_in(search->tree, search->ctx, search->parent, &stat, &file);
	rti_procfs_close_file(search->ctx->procfs, &file);
	return 0;
}

static void search_thread(struct children_search *search, int32_t tid, struct rti_file *cached)
{
	const struct rti_procfs *procfs = search->ctx->procfs;
	struct rti_buf *children = &search->tree->children;
	struct rti_path path = rti_task_path(search->parent, tid, "children");
	int err;

	if (cached)
		err = rti_procfs_read_cached(procfs, RTI_PROC, path.text, RTI_SEQ_FILE, cached, children);
	else
		err = rti_procfs_read(procfs, RTI_PROC, path.text, RTI_SEQ_FILE, children);
	if (err == 0)
		rti_parse_children(children->data, children->len, take_child, search);
	else if (err != -ENOENT && err != -ESRCH)
		rti_proctree_note_skipped(search->tree, err);
}

int rti_proctree_has_children(struct rti_proctree *tree, const struct rti_context *ctx, struct rti_member *m)
{
	struct rti_path path = rti_task_path(m->pid, m->pid, "children");

	return !tree->has_children_files || m->stat.num_threads != 1 || !rti_proctree_may_keep(tree, ctx, m) ||
	       rti_procfs_read_cached(ctx->procfs, RTI_PROC, path.text, RTI_SINGLE_RECORD, &m->children_file, ctx->buf) < 0 ||
	       ctx->buf->len > 0;
}

static int search_task(void *arg, const char *name)
{
	struct children_search *search = arg;
	int32_t tid = rti_path_number(name);

	if (tid)
		search_thread(search, tid, NULL);
	search->threads += tid != 0;
	return 0;
}

/* A thread that it made since stat was read may have forked, and have ended by the next reading: then its child hangs on the
 * first thread, and no pid has been given away since. */
static int may_have_had_threads(const struct rti_proctree *tree, const struct rti_member *m)
{
	return tree->last_pid != m->stat_pid;
}

/* It has but one thread, as far as is known. */
static void search_as_one(struct children_search *search, struct rti_member *m)
{
	struct rti_file cached = m->children_file;

	m->searched_threads = 1;
	if (may_have_had_threads(search->tree, m))
		m->searched_pid = 0;
	search_thread(search, search->parent, &cached);
	rti_proctree_find(search->tree, search->parent)->children_file = cached; /* members may have moved */
}

static void search_all_threads(struct children_search *search)
{
	struct rti_path tasks = rti_pid_path(search->parent, "task");
	int err = rti_procfs_list(search->ctx->procfs, RTI_PROC, tasks.text, search_task, search);

	if (err < 0 && err != -ENOENT && err != -ESRCH)
		rti_proctree_note_skipped(search->tree, err);
	rti_proctree_find(search->tree, search->parent)->searched_threads = search->threads;
}

/* Children hang on the thread that forked them, so every thread's file is read; those of a thread that ends go to another.
 * 1 when it has to be done again. */
static int search_children_files(struct rti_proctree *tree, const struct rti_context *ctx, struct rti_member *m)
{
	struct children_search search = { .tree = tree, .ctx = ctx, .parent = m->pid };

	if (m->stat.num_threads == 1 && rti_proctree_may_keep(tree, ctx, m))
		search_as_one(&search, m);
	else
		search_all_threads(&search);
	return search.is_unsure;
}

struct parent_search {
	struct rti_proctree *tree;
	const struct rti_context *ctx;
};

static int note_candidate(void *arg, const char *name)
{
	const struct parent_search *search = arg;
	struct rti_proctree *tree = search->tree;
	int32_t pid = rti_path_number(name);
	struct rti_pid_stat stat;

	if (pid == 0 || rti_proctree_find(tree, pid) || rti_proctree_look_up(search->ctx, pid, NULL, &stat) < 0)
		return 0;
	if (tree->candidate_count == tree->candidate_cap) {
		size_t cap = tree->candidate_cap ? tree->candidate_cap * 2 : 256;
		void *grown = realloc(tree->candidates, cap * sizeof(*tree->candidates));

		if (!grown)
			return -ENOMEM;
		tree->candidates = grown;
		tree->candidate_cap = cap;
	}
	tree->candidates[tree->candidate_count++] = (struct candidate){ pid, stat.ppid };
	return 0;
}

static int adopt_candidates(struct rti_proctree *tree, const struct rti_context *ctx)
{
	int found = 0;

	for (size_t i = 0; i < tree->candidate_count; i++) {
		struct candidate c = tree->candidates[i];
		struct rti_pid_stat stat;

		if (!rti_proctree_find(tree, c.ppid) || rti_proctree_find(tree, c.pid) || pass_over(tree))
			continue;
		if (rti_proctree_look_up(ctx, c.pid, NULL, &stat) == 0)
			found += take_in(tree, ctx, c.ppid, &stat, NULL);
	}
	return found;
}

/* Where the kernel has no children files. Pids mostly rise from parent to child, so that one round finds all. */
static void search_parent_pids(struct rti_proctree *tree, const struct rti_context *ctx)
{
	struct parent_search search = { tree, ctx };
	int err;

	tree->candidate_count = 0;
	err = rti_procfs_list(ctx->procfs, RTI_PROC, ".", note_candidate, &search);
	if (err < 0)
		rti_proctree_note_skipped(tree, err);
	while (adopt_candidates(tree, ctx))
		;
}

/* No file has to be opened to know that. */
static int has_left(const struct rti_context *ctx, int32_t pid)
{
	struct rti_cpu_clock clock = { 0 };

	return ctx->platform->cpu_clock && ctx->platform->cpu_clock(pid, &clock) < 0;
}

/* Its fork was heard of, so it belongs here, whatever its parent is by now. Once it has ended, its
 * parent may never wait for it, and then nothing but the zombie tells what it used. The account of
 * one in state X was moved already. */
static void add_new_member(void *arg, int32_t pid, int has_ended)
{
	struct children_search *search = arg;
	struct rti_file file = RTI_FILE_INIT;
	struct rti_pid_stat stat;

	if (rti_proctree_find(search->tree, pid) || (has_ended && has_left(search->ctx, pid)) ||
	    pass_over(search->tree))
		return;
	if (look_up(search->tree, search->ctx, pid, &file, &stat) == 0 &&
	    (stat.state == 'Z' || (!has_ended && stat.state != 'X')))
		rti_proctree_add(search->tree, search->ctx, &stat, &file);
	rti_procfs_close_file(search->ctx->procfs, &file);
}

/* ns_last_pid is asked first, since loadavg may be somebody else's invention (lxcfs). */
uint64_t rti_proctree_last_pid(struct rti_proctree *tree, const struct rti_context *ctx)
{
	struct rti_loadavg loadavg;
	struct rti_scan scan;
	uint64_t pid = 0;

	if (tree->tells_last_pid != TOLD_BY_LOADAVG &&
	    rti_procfs_read_cached(ctx->procfs, RTI_PROC, "sys/kernel/ns_last_pid", RTI_SINGLE_RECORD, &tree->last_pid_file, ctx->buf) == 0) {
		scan = rti_scan(ctx->buf->data, ctx->buf->len);
		rti_scan_u64(&scan, &pid);
		return pid;
	}
	tree->tells_last_pid = TOLD_BY_LOADAVG;
	if (rti_procfs_read_cached(ctx->procfs, RTI_PROC, "loadavg", RTI_SINGLE_RECORD, &tree->last_pid_file, ctx->buf) < 0 ||
	    rti_parse_loadavg(ctx->buf->data, ctx->buf->len, &loadavg) < 0)
		return 0;
	return loadavg.last_pid;
}

/* Who counts for us is a moment late, and may be stopped or killed: he is not always believed. 0: not now. */
static uint64_t counted_forks(const struct rti_proctree *tree)
{
	if (!tree->fork_counts || tree->fork_counts->events != RTI_EVENTS_INTACT || tree->searches % BELIEVED_SEARCHES == 0)
		return 0;
	return tree->fork_counts->processes + 1;
}

/* Who has not run since his children were searched for has not forked; nor has anybody where no pid was given away. */
static int may_have_forked(const struct rti_proctree *tree, const struct rti_member *m)
{
	if (tree->last_pid && m->searched_pid == tree->last_pid && !m->has_reaped)
		return 0;
	return !m->has_clock || m->clock.total_ns != m->searched_clock_ns;
}

/* Those whom a child that nobody has seen left behind are adopted, without his doing, by someone above who forked it. */
static void mark_searched(struct rti_proctree *tree, struct rti_member *m)
{
	for (size_t steps = tree->count; m && !m->is_to_be_searched && steps > 0; steps--) {
		m->is_to_be_searched = 1;
		m = rti_proctree_find(tree, m->stat.ppid);
	}
	if (tree->count)
		tree->members[0].is_to_be_searched = 1;
}

/* A row without figures is spent with this. A stranger has no clock that would say anything of the member. */
static void take_clock(const struct rti_context *ctx, struct rti_member *m)
{
	m->has_clock = rti_proctree_is_own_row(m, ctx->platform->tick_ns);
	if (m->has_clock && !(m->row->has & RTI_BATCH_IDLE)) {
		rti_batch_clock(m->row, &m->clock);
		return;
	}
	if (m->has_clock)
		m->clock.total_ns = m->row->cpu_ns;
	m->row = NULL;
}

static void read_clock(const struct rti_context *ctx, struct rti_member *m)
{
	m->is_to_be_searched = 0;
	if (m->row)
		take_clock(ctx, m);
	else
		m->has_clock = ctx->platform->cpu_clock && ctx->platform->cpu_clock(m->pid, &m->clock) == 0;
}

static void read_clocks(struct rti_proctree *tree, const struct rti_context *ctx, size_t first)
{
	for (size_t i = first; i < tree->count; i++)
		read_clock(ctx, &tree->members[i]);
}

static void read_all_clocks(struct rti_proctree *tree, const struct rti_context *ctx)
{
	if (ctx->platform->cpu_clock) /* elsewhere pids are not ours */
		rti_batch_reader_read(&tree->batch_reader, tree->members, tree->count);
	read_clocks(tree, ctx, 0);
}

/* Those who are found are searched in turn. */
static void search_below(struct rti_proctree *tree, const struct rti_context *ctx)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (may_have_forked(tree, &tree->members[i]))
			mark_searched(tree, &tree->members[i]);
	}
	for (size_t i = 0; i < tree->count; i++) {
		struct rti_member *m = &tree->members[i];
		size_t known = tree->count;

		if (!m->is_to_be_searched)
			continue;
		m->searched_pid = tree->last_pid;
		m->searched_clock_ns = m->clock.total_ns;
		if (search_children_files(tree, ctx, m))
			rti_proctree_search_again(&tree->members[i]);
		read_clocks(tree, ctx, known);
		for (; known < tree->count; known++)
			tree->members[known].is_to_be_searched = 1;
	}
}

static void search_all_anew(struct rti_proctree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		rti_proctree_search_again(&tree->members[i]);
	tree->searched_pid = 0;
}

static void search(struct rti_proctree *tree, const struct rti_context *ctx)
{
	struct children_search new_pids = { .tree = tree, .ctx = ctx };
	int is_searched = 0;

	tree->is_short_of_files = 0;
	tree->count_before = tree->count;
	rti_fork_tracker_take_new(&tree->fork_tracker, add_new_member, &new_pids);
	if (!rti_fork_tracker_is_complete(&tree->fork_tracker) || !tree->is_searched || tree->has_skipped) {
		if (tree->has_skipped)
			search_all_anew(tree);
		tree->has_skipped = 0;
		tree->skipped = 0;
		tree->is_searched = is_searched = 1;
		tree->searches++;
		tree->last_pid = counted_forks(tree) ? counted_forks(tree) : rti_proctree_last_pid(tree, ctx);
		if (!tree->has_children_files && (!tree->last_pid || tree->searched_pid != tree->last_pid))
			search_parent_pids(tree, ctx);
		tree->searched_pid = tree->last_pid;
	}
	read_all_clocks(tree, ctx);
	if (is_searched && tree->has_children_files)
		search_below(tree, ctx);
}

void rti_proctree_discover(struct rti_proctree *tree, const struct rti_context *ctx)
{
	int is_first = !tree->is_searched;

	if (!tree->is_followed || tree->count == 0) {
		read_all_clocks(tree, ctx);
		return;
	}
	if (!is_first)
		rti_fork_tracker_poll(&tree->fork_tracker);
	search(tree, ctx);
	/* Whom those forked who were there before us can be told only once they are known. */
	if (is_first && rti_fork_tracker_is_complete(&tree->fork_tracker)) {
		rti_fork_tracker_poll(&tree->fork_tracker);
		search(tree, ctx);
	}
	if (tree->is_short_of_files && tree->files_kept > 0) {
		rti_proctree_drop_files(tree, ctx);
		search(tree, ctx);
	}
}
