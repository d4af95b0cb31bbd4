/* SPDX-License-Identifier: MIT */
/* Where a tree begins: at a process, at several, or at all processes of a session. */
#include "tree/scan/roots.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/pid_stat.h"
#include "os/procfs.h"
#include "tree/state/state.h"
#include "util/array.h"
#include "util/visit.h"

#define DEPTH_MAX 4096u /* of a chain of parents, which may change while it is read */

struct root {
	struct rti_pid_stat stat;
	size_t depth;
};

struct roots {
	const struct rti_context *ctx;
	struct root *list;
	size_t count, capacity;
	int32_t session; /* that is looked for */
};

/* Returns 0; -ESRCH if it has ended or is a thread; or another -errno. */
static int read_leader(const struct rti_context *ctx, int32_t pid, struct rti_pid_stat *out)
{
	int err = rti_pid_stat_read(ctx, pid, NULL, out);

	return err == 0 && (out->state == 'X' || !rti_pid_stat_is_leader(ctx, out)) ? -ESRCH : err;
}

static int add_root(struct roots *roots, const struct rti_pid_stat *stat)
{
	struct root *grown =
	    rti_array_grow(roots->list, &roots->capacity, roots->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	roots->list = grown;
	grown[roots->count++] = (struct root){ .stat = *stat };
	return 0;
}

/* How many processes are above it. */
static size_t depth_of(const struct rti_context *ctx, const struct rti_pid_stat *stat)
{
	struct rti_pid_stat up = *stat;
	size_t depth = 0;

	while (up.ppid > 0 && depth < DEPTH_MAX && rti_pid_stat_read(ctx, up.ppid, NULL, &up) == 0)
		depth++;
	return depth;
}

static int compare_depths(const void *a, const void *b)
{
	const struct root *x = a, *y = b;

	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return (x->stat.pid > y->stat.pid) - (x->stat.pid < y->stat.pid);
}

/* A parent stands before its children in the table of members. */
static int add_members(struct rti_tree *tree, struct roots *roots)
{
	int err = roots->count > 0 ? 0 : -ESRCH;

	for (size_t i = 0; roots->count > 1 && i < roots->count; i++)
		roots->list[i].depth = depth_of(roots->ctx, &roots->list[i].stat);
	if (roots->count > 1)
		qsort(roots->list, roots->count, sizeof(*roots->list), compare_depths);
	for (size_t i = 0; err == 0 && i < roots->count; i++) {
		const struct rti_pid_stat *stat = &roots->list[i].stat;

		if (rti_member_find(&tree->table, stat->pid))
			continue;
		err = rti_member_table_add_take(&tree->table, tree->ctx, stat, NULL);
		rti_fork_tracker_add(&tree->discovery.fork_tracker, stat->pid);
	}
	if (err == 0)
		rti_fork_tracker_set_root(&tree->discovery.fork_tracker, roots->list[0].stat.pid);
	free(roots->list);
	return err;
}

int rti_add_roots(struct rti_tree *tree, const int32_t *pids, size_t count)
{
	struct roots roots = { .ctx = tree->ctx };
	struct rti_pid_stat stat;
	int err = 0;

	for (size_t i = 0; err == 0 && i < count; i++) {
		err = read_leader(tree->ctx, pids[i], &stat);
		if (err == 0)
			err = add_root(&roots, &stat);
		else if (err == -ESRCH)
			err = 0;
	}
	if (err < 0) {
		free(roots.list);
		return err;
	}
	return add_members(tree, &roots);
}

static int look_for_session(void *arg, const char *name)
{
	struct roots *roots = arg;
	struct rti_pid_stat stat;
	int32_t pid = rti_path_number(name);

	if (pid == 0 || read_leader(roots->ctx, pid, &stat) < 0 || stat.session != roots->session)
		return RTI_CONTINUE;
	return add_root(roots, &stat);
}

/* The leader of a session may have ended. No process gets its number while the session lives. */
int rti_add_session(struct rti_tree *tree, int32_t pid)
{
	struct roots roots = { .ctx = tree->ctx, .session = pid };
	struct rti_pid_stat stat;
	int err = read_leader(tree->ctx, pid, &stat);

	if (err == 0 && stat.session > 0)
		roots.session = stat.session;
	tree->discovery.session = roots.session;
	err = rti_procfs_list_dirs(tree->ctx->procfs, RTI_PROC, look_for_session, &roots);
	if (err < 0) {
		free(roots.list);
		return err;
	}
	return add_members(tree, &roots);
}
