/* SPDX-License-Identifier: MIT */
/* Lists the processes of a cgroup and of those below it. */
#include "os/cgroup/cgroup_members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/procfs.h"
#include "parse/cgroup_stat.h"
#include "parse/parse.h"
#include "util/array.h"
#include "util/visit.h"

#define BELOW_MAX 4096 /* cgroups below */
#define PATH_SIZE 1024
#define FILES_KEPT 64 /* cgroups below that have their list kept open */

struct rti_cgroup_below {
	struct rti_file procs;
	char *path; /* of its list, below the directory of the cgroup */
};

void rti_cgroup_members_init(struct rti_cgroup_members *members)
{
	*members = (struct rti_cgroup_members){ .procs = RTI_FILE_INIT, .stat = RTI_FILE_INIT };
}

/* v2 lists a process of another pid namespace as 0; v1 leaves it out (kernel/cgroup/cgroup-v1.c,
 * pidlist_array_load()). The lists have the pids of the reader's namespace, whichever /proc it
 * reads. E.g.: a container that reads /host/proc. */
void rti_cgroup_members_check_pids(struct rti_cgroup_members *members,
                                   const struct rti_context *ctx,
                                   const struct rti_cgroup_place *place)
{
	char name[2];

	members->has_other_pids = !rti_context_is_own_proc(ctx->procfs, ctx->platform->getpid());
	members->may_leave_out =
	    !place->is_v2 &&
	    rti_procfs_readlink(ctx->procfs, RTI_PROC, "self/ns/pid", name, sizeof(name)) > 0 &&
	    !rti_context_is_initial_pid_namespace(ctx->procfs);
}

/* Forget the cgroups below from number first on. */
static void forget_below(struct rti_cgroup_members *members, const struct rti_context *ctx,
                         size_t first)
{
	for (size_t i = first; i < members->count; i++) {
		rti_procfs_close_file(ctx->procfs, &members->below[i].procs);
		free(members->below[i].path);
	}
	members->count = first < members->count ? first : members->count;
}

void rti_cgroup_members_free(struct rti_cgroup_members *members, const struct rti_context *ctx)
{
	forget_below(members, ctx, 0);
	free(members->below);
	rti_procfs_close_file(ctx->procfs, &members->procs);
	rti_procfs_close_file(ctx->procfs, &members->stat);
	rti_buf_free(&members->buf);
	rti_cgroup_members_init(members);
}

/* Read a list of processes. In v1 the kernel keeps the list of a file that stays open, for a second
 * after each read (kernel/cgroup/cgroup-v1.c, cgroup_pidlist_start()). So it is opened anew: else a
 * sample each half second would never see a process come. */
static int read_list(struct rti_cgroup_members *members, const struct rti_context *ctx,
                     const struct rti_cgroup_place *place, const char *path, struct rti_file *file)
{
	int err =
	    rti_procfs_read_in(ctx->procfs, &place->dir, path, RTI_SEQ_FILE, file, &members->buf);

	if (!place->is_v2)
		rti_procfs_close_file(ctx->procfs, file);
	return err;
}

/* The file that lists what belongs to a cgroup. */
static const char *list_file(const struct rti_cgroup_members *members)
{
	return members->is_threaded ? "cgroup.threads" : "cgroup.procs";
}

/* --- The cgroups below. --- */

struct walk {
	struct rti_cgroup_members *members;
	const struct rti_context *ctx;
	const struct rti_cgroup_place *place;
	size_t found; /* cgroups below so far */
	size_t len;   /* of path */
	char path[PATH_SIZE];
};

/* Append text to the path of a walk. Returns false, and leaves it as it is, if it does not fit. */
static bool append(struct walk *walk, const char *text)
{
	size_t len = strlen(text);

	if (walk->len + len >= sizeof(walk->path))
		return false;
	memcpy(walk->path + walk->len, text, len + 1);
	walk->len += len;
	return true;
}

static void cut_to(struct walk *walk, size_t len)
{
	walk->len = len;
	walk->path[len] = '\0';
}

/* The kernel lists directories in the same order each time. So as long as nothing has changed, the
 * next one that is found is the next one that is known, and nothing is allocated. */
static int add_below(struct walk *walk)
{
	struct rti_cgroup_members *members = walk->members;
	struct rti_cgroup_below *grown;
	char *path;

	if (walk->found < members->count &&
	    strcmp(members->below[walk->found].path, walk->path) == 0) {
		walk->found++;
		return RTI_CONTINUE;
	}
	forget_below(members, walk->ctx, walk->found);
	grown =
	    rti_array_grow(members->below, &members->capacity, members->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	members->below = grown;
	path = strdup(walk->path);
	if (!path)
		return -ENOMEM;
	members->below[members->count++] = (struct rti_cgroup_below){ RTI_FILE_INIT, path };
	walk->found++;
	return RTI_CONTINUE;
}

static int walk_into(void *arg, const char *name)
{
	struct walk *walk = arg;
	size_t len = walk->len;
	int err = RTI_CONTINUE;

	if (walk->found < BELOW_MAX && append(walk, name) && append(walk, "/") &&
	    append(walk, list_file(walk->members)))
		err = add_below(walk);
	else
		walk->members->is_cut = true;
	cut_to(walk, len);
	return err;
}

/* Find the cgroups right below one. A directory that has been removed meanwhile is no error. If one
 * cannot be listed, the others still are. */
static int walk_level(struct walk *walk)
{
	int err = rti_procfs_list_dirs_in(walk->ctx->procfs, &walk->place->dir,
	                                  walk->len ? walk->path : ".", walk_into, walk);

	if (err == -ENOMEM || rti_is_out_of_files(err))
		return err;
	if (err < 0 && err != -ENOENT && err != -ENODEV && err != -ENOTDIR &&
	    !walk->members->walk_error)
		walk->members->walk_error = err;
	return 0;
}

/* Level by level, since the stack of the host's thread may be small. */
static int walk_below(struct rti_cgroup_members *members, const struct rti_context *ctx,
                      const struct rti_cgroup_place *place)
{
	struct walk walk = { .members = members, .ctx = ctx, .place = place };
	int err;

	members->is_cut = false;
	members->walk_error = 0;
	err = walk_level(&walk);
	for (size_t i = 0; i < walk.found && err == 0; i++) {
		const char *path = members->below[i].path;

		cut_to(&walk, 0);
		if (append(&walk, path) && walk.len > strlen(list_file(members)))
			cut_to(&walk, walk.len - strlen(list_file(members)));
		err = walk_level(&walk);
	}
	forget_below(members, ctx, walk.found);
	members->is_walked = err == 0;
	return err;
}

/* v2 says how many there are. Reading a cgroup shows whether it was removed. So if the number is
 * the same and all can be read, they are the same. */
static bool is_walk_due(struct rti_cgroup_members *members, const struct rti_context *ctx,
                        const struct rti_cgroup_place *place)
{
	uint64_t there = 0;

	if (!place->is_v2 ||
	    rti_procfs_read_in(ctx->procfs, &place->dir, "cgroup.stat", RTI_SINGLE_RECORD,
	                       &members->stat, &members->buf) < 0 ||
	    rti_parse_cgroup_descendants(members->buf.data, members->buf.len, &there) < 0)
		return true;
	return !members->is_walked || members->walk_error || there != members->count;
}

/* --- The processes. --- */

struct listing {
	struct rti_cgroup_members *members;
	const struct rti_context *ctx;
	int (*each)(void *arg, int32_t pid);
	void *arg;
};

static int visit_process(void *arg, int32_t pid)
{
	struct listing *listing = arg;
	struct rti_cgroup_members *members = listing->members;

	if (pid == 0 || members->has_other_pids) {
		if (!members->is_threaded || members->hidden == 0)
			members->hidden++;
		return RTI_CONTINUE;
	}
	return listing->each(listing->arg, pid);
}

/* A thread that has exited meanwhile is no error. */
static int visit_thread(void *arg, int32_t tid)
{
	struct listing *listing = arg;
	const struct rti_context *ctx = listing->ctx;
	struct rti_pid_status status = { 0 };

	if (tid == 0 || listing->members->has_other_pids)
		return visit_process(arg, 0);
	if (rti_procfs_read(ctx->procfs, RTI_PROC, rti_pid_path(tid, "status").text,
	                    RTI_SINGLE_RECORD, ctx->buf) < 0 ||
	    rti_parse_pid_status(ctx->buf->data, ctx->buf->len, &status) < 0 ||
	    !(status.has & RTI_STATUS_TGID) || status.tgid <= 0)
		return RTI_CONTINUE;
	return visit_process(arg, status.tgid);
}

static int visit_list(struct listing *listing)
{
	struct rti_cgroup_members *members = listing->members;

	return rti_parse_cgroup_procs(members->buf.data, members->buf.len,
	                              members->is_threaded ? visit_thread : visit_process, listing);
}

/* List the cgroup itself. A threaded cgroup refuses to list processes (EOPNOTSUPP). */
static int list_own(struct listing *listing, const struct rti_cgroup_place *place)
{
	struct rti_cgroup_members *members = listing->members;
	int err;

	err = read_list(members, listing->ctx, place, list_file(members), &members->procs);
	if (err == -EOPNOTSUPP && !members->is_threaded) {
		members->is_threaded = true;
		members->is_walked = false;
		err = read_list(members, listing->ctx, place, list_file(members), &members->procs);
	}
	if (err == -ENODEV || err == -ENOENT) {
		members->is_removed = true;
		return -ENODEV;
	}
	if (err < 0)
		return err;
	return visit_list(listing);
}

/* Processes of a threaded cgroup below one that is not are listed by a cgroup above it, which is
 * ours or below ours. */
static int list_below(struct listing *listing, const struct rti_cgroup_place *place, size_t i)
{
	struct rti_cgroup_members *members = listing->members;
	struct rti_cgroup_below *below = &members->below[i];
	int err = read_list(members, listing->ctx, place, below->path, &below->procs);

	if (i >= FILES_KEPT)
		rti_procfs_close_file(listing->ctx->procfs, &below->procs);
	if (err == -EOPNOTSUPP || err == -ENOTDIR)
		return RTI_CONTINUE;
	if (err == -ENODEV || err == -ENOENT) {
		members->is_walked = false;
		return RTI_CONTINUE;
	}
	if (err < 0)
		return err;
	return visit_list(listing);
}

static int list_all(struct listing *listing, const struct rti_cgroup_place *place)
{
	struct rti_cgroup_members *members = listing->members;
	int err;

	members->hidden = 0;
	err = list_own(listing, place);
	if (err == RTI_CONTINUE && is_walk_due(members, listing->ctx, place))
		err = walk_below(members, listing->ctx, place);
	for (size_t i = 0; i < members->count && err == RTI_CONTINUE; i++)
		err = list_below(listing, place, i);
	return err;
}

int rti_cgroup_members_list(struct rti_cgroup_members *members, const struct rti_context *ctx,
                            const struct rti_cgroup_place *place,
                            int (*each)(void *arg, int32_t pid), void *arg)
{
	struct listing listing = { members, ctx, each, arg };
	int err;

	if (members->is_removed)
		return -ENODEV;
	err = list_all(&listing, place);
	/* One below has been removed. Another one may have come for it. */
	if (err == RTI_CONTINUE && members->count > 0 && !members->is_walked)
		err = list_all(&listing, place);
	return err;
}
