/* SPDX-License-Identifier: MIT */
/* The descendants of a process, listed once. */
#include "collect/descendants.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/children.h"
#include "collect/pid_stat.h"
#include "os/pid_file.h"
#include "os/procfs.h"
#include "util/array.h"
#include "util/descendant_set.h"
#include "util/visit.h"

/* A process that exits during a pass hands its children to an ancestor, which may have been read
 * by then. So another pass follows, up to this many. */
#define PASSES_MAX 3

struct entry {
	int32_t pid;
	int32_t ppid;
	uint64_t starttime;
};

struct walk {
	const struct rti_context *ctx;
	struct rti_descendant_set *known; /* the pids of entries */
	struct rti_buf buf;               /* for children files */
	struct entry *entries;            /* the root first, parents before their children */
	size_t count, capacity;
	struct entry *candidates; /* all processes, for a kernel without children files */
	size_t candidate_count, candidate_capacity;
	bool has_vanished; /* a process has exited during this pass */
};

static int append(struct entry **array, size_t *count, size_t *capacity, struct entry entry)
{
	struct entry *grown = rti_array_grow(*array, capacity, *count + 1, sizeof(**array));

	if (!grown)
		return -ENOMEM;
	*array = grown;
	grown[(*count)++] = entry;
	return 0;
}

static int add_entry(struct walk *walk, struct entry entry)
{
	if (walk->count > RTI_DESCENDANTS_MAX)
		return -E2BIG;
	rti_descendant_set_add(walk->known, entry.pid);
	return append(&walk->entries, &walk->count, &walk->capacity, entry);
}

static void forget(struct walk *walk, int32_t pid)
{
	rti_descendant_set_fork(walk->known, 0, pid);
}

/* Each pid is taken once, so a file that names an ancestor makes no circle. */
static int add_child(void *arg, int32_t pid)
{
	struct walk *walk = arg;
	int err;

	if (rti_descendant_set_has(walk->known, pid))
		return RTI_CONTINUE;
	err = add_entry(walk, (struct entry){ .pid = pid });
	return err < 0 ? err : RTI_CONTINUE;
}

/* Read stat through a file that is opened before the children are listed: then they are children of
 * this process. A process that /proc hides is a child even so, but its own children cannot be
 * known. */
static int visit(struct walk *walk, size_t i)
{
	const struct rti_context *ctx = walk->ctx;
	int32_t pid = walk->entries[i].pid;
	struct rti_file file = RTI_FILE_INIT;
	size_t first_child = walk->count;
	struct rti_pid_stat stat;
	uint32_t threads;
	int found, err = rti_pid_file_open(ctx, pid, "stat", &file);

	if (err == -EPERM || err == -EACCES || (err == -ENOENT && rti_pid_file_is_hidden(ctx, pid)))
		return i == 0 ? -EACCES : 0;
	if (err < 0 && err != -ENOENT && err != -ESRCH)
		return err;
	found = rti_children_list(ctx, pid, &walk->buf, add_child, walk, &threads);
	err = file.fd < 0 ? -ESRCH : rti_pid_stat_read(ctx, pid, &file, &stat);
	rti_procfs_close_file(ctx->procfs, &file);
	/* It is no descendant if its parent has exited since, or if its pid has been reused. */
	if (err == 0 && (stat.state == 'X' || !rti_pid_stat_is_leader(ctx, &stat) ||
	                 (i > 0 && !rti_descendant_set_has(walk->known, stat.ppid))))
		err = -ESRCH;
	if (err != -ESRCH || i == 0)
		return err < 0 ? err : found;
	/* Remove it, and its children, which are the last entries. */
	while (walk->count > first_child)
		forget(walk, walk->entries[--walk->count].pid);
	forget(walk, pid);
	walk->entries[i].pid = 0;
	walk->has_vanished = true;
	return found == -ENOMEM ? found : 0;
}

static int add_candidate(void *arg, const char *name)
{
	struct walk *walk = arg;
	int32_t pid = rti_path_number(name);
	struct rti_pid_stat stat;
	int err;

	if (pid == 0)
		return RTI_CONTINUE;
	err = rti_pid_stat_read(walk->ctx, pid, NULL, &stat);
	if (err == -ENOMEM || rti_is_out_of_files(err))
		return err;
	if (err < 0 || stat.state == 'X')
		return RTI_CONTINUE;
	return append(&walk->candidates, &walk->candidate_count, &walk->candidate_capacity,
	              (struct entry){ pid, stat.ppid, stat.starttime });
}

/* Returns true if neither pid has been reused since all processes were listed. Reads the child
 * first: then the parent that it names is the one that is read after it. */
static bool is_still_child(const struct walk *walk, const struct entry *child)
{
	const struct entry *parent = walk->entries;
	struct rti_pid_stat stat;

	while (parent->pid != child->ppid)
		parent++;
	return rti_pid_stat_read(walk->ctx, child->pid, NULL, &stat) == 0 &&
	       stat.ppid == child->ppid && stat.starttime == child->starttime &&
	       rti_pid_stat_read(walk->ctx, parent->pid, NULL, &stat) == 0 &&
	       stat.starttime == parent->starttime;
}

/* Take the candidates that name a known parent. */
static int add_round(struct walk *walk, bool *was_added)
{
	*was_added = false;
	for (size_t i = 0; i < walk->candidate_count; i++) {
		const struct entry *c = &walk->candidates[i];
		int err;

		if (!rti_descendant_set_has(walk->known, c->ppid) ||
		    rti_descendant_set_has(walk->known, c->pid))
			continue;
		if (!is_still_child(walk, c)) {
			walk->has_vanished = true;
			continue;
		}
		err = add_entry(walk, *c);
		if (err < 0)
			return err;
		*was_added = true;
	}
	return 0;
}

/* Pids mostly rise from parent to child, so one round finds most. */
static int walk_all(struct walk *walk, int32_t root)
{
	struct rti_pid_stat stat;
	bool was_added;
	int err = rti_pid_stat_read(walk->ctx, root, NULL, &stat);

	if (err == 0 && !rti_pid_stat_is_leader(walk->ctx, &stat))
		err = -ESRCH;
	if (err == 0)
		err = add_entry(walk, (struct entry){ root, stat.ppid, stat.starttime });
	if (err == 0)
		err = rti_procfs_list(walk->ctx->procfs, RTI_PROC, ".", add_candidate, walk);
	if (err < 0)
		return err;
	do
		err = add_round(walk, &was_added);
	while (err == 0 && was_added);
	return err;
}

/* By the children files, level by level. A kernel without them lists all processes. */
static int walk_once(struct walk *walk, int32_t root)
{
	const struct rti_procfs *procfs = walk->ctx->procfs;
	int err;

	while (walk->count > 0)
		forget(walk, walk->entries[--walk->count].pid);
	walk->candidate_count = 0;
	walk->has_vanished = false;
	if (rti_procfs_access(procfs, RTI_PROC, rti_task_path(root, root, "children").text) < 0)
		return walk_all(walk, root);
	err = add_entry(walk, (struct entry){ .pid = root });
	for (size_t i = 0; err == 0 && i < walk->count; i++)
		err = visit(walk, i);
	return err;
}

static int copy_out(const struct walk *walk, struct rti_descendants *out)
{
	out->count = 0;
	out->pids = calloc(walk->count, sizeof(*out->pids));
	if (!out->pids)
		return -ENOMEM;
	for (size_t i = 1; i < walk->count; i++) {
		if (walk->entries[i].pid)
			out->pids[out->count++] = walk->entries[i].pid;
	}
	return 0;
}

int rti_descendants_list(const struct rti_context *ctx, int32_t pid, struct rti_descendants *out)
{
	struct walk walk = { .ctx = ctx, .has_vanished = true };
	int err = 0;

	walk.known = calloc(1, sizeof(*walk.known));
	if (!walk.known)
		return -ENOMEM;
	for (int i = 0; i < PASSES_MAX && err == 0 && walk.has_vanished; i++)
		err = walk_once(&walk, pid);
	if (err == 0)
		err = copy_out(&walk, out);
	rti_buf_free(&walk.buf);
	free(walk.candidates);
	free(walk.entries);
	free(walk.known);
	return err;
}
