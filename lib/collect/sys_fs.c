/* SPDX-License-Identifier: MIT */
/* Space of file systems, from /proc/PID/mountinfo and statvfs(3).
 *
 * Each superblock is listed once, at its first mount that no later mount hides. Where statvfs(3)
 * may block, it runs on a separate thread: a server that stops answering costs that sample 25 ms
 * and later ones nothing, and one thread of the process, however many trackers there are. A system
 * with local file systems alone needs no thread.
 *
 * The total counts what is on storage. It excludes memory (tmpfs, ramdisk), overlay, and loop
 * devices. The bytes of a loop device are those of a file on another file system, and a squashfs or
 * ISO image always fills it to 100 %. Data sets of one ZFS pool share its free space, which is
 * counted once, with the first of them. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collector.h"
#include "collect/local_fs.h"
#include "collect/rows.h"
#include "os/worker.h"
#include "util/array.h"
#include "util/visit.h"

#define PROBE_WAIT_NS 25000000u   /* then the next mount is probed on another thread */
#define SAMPLE_WAIT_NS 100000000u /* for all mounts of one sample */

/* Documentation/admin-guide/devices.txt */
#define MAJOR_NONE 0
#define MAJOR_RAM 1
#define MAJOR_LOOP 7

enum kind {
	KIND_OTHER,
	KIND_PSEUDO,  /* has no blocks */
	KIND_NETWORK, /* depends on another host or process, so it may not answer */
	KIND_NEVER,   /* a probe would mount something */
	/* On storage, but with a device number that is not the storage's. Mounts of one source have
	 * the same space. */
	KIND_SHARED,
	KIND_POOLED, /* as KIND_SHARED, but only the free space is shared, by mounts of one pool */
};

static const struct {
	const char *type;
	enum kind kind;
} kinds[] = {
	{ "autofs", KIND_NEVER },      { "proc", KIND_PSEUDO },
	{ "sysfs", KIND_PSEUDO },      { "cgroup", KIND_PSEUDO },
	{ "cgroup2", KIND_PSEUDO },    { "devpts", KIND_PSEUDO },
	{ "mqueue", KIND_PSEUDO },     { "hugetlbfs", KIND_PSEUDO },
	{ "debugfs", KIND_PSEUDO },    { "tracefs", KIND_PSEUDO },
	{ "securityfs", KIND_PSEUDO }, { "pstore", KIND_PSEUDO },
	{ "bpf", KIND_PSEUDO },        { "configfs", KIND_PSEUDO },
	{ "fusectl", KIND_PSEUDO },    { "binfmt_misc", KIND_PSEUDO },
	{ "efivarfs", KIND_PSEUDO },   { "selinuxfs", KIND_PSEUDO },
	{ "rpc_pipefs", KIND_PSEUDO }, { "nsfs", KIND_PSEUDO },
	{ "nfs", KIND_NETWORK },       { "nfs4", KIND_NETWORK },
	{ "cifs", KIND_NETWORK },      { "smb3", KIND_NETWORK },
	{ "smbfs", KIND_NETWORK },     { "ceph", KIND_NETWORK },
	{ "glusterfs", KIND_NETWORK }, { "9p", KIND_NETWORK },
	{ "afs", KIND_NETWORK },       { "beegfs", KIND_NETWORK },
	{ "lustre", KIND_NETWORK },    { "gpfs", KIND_NETWORK },
	{ "ocfs2", KIND_NETWORK },     { "gfs2", KIND_NETWORK },
	{ "ncpfs", KIND_NETWORK },     { "coda", KIND_NETWORK },
	{ "orangefs", KIND_NETWORK },  { "pvfs2", KIND_NETWORK },
	{ "virtiofs", KIND_NETWORK },  { "vboxsf", KIND_NETWORK },
	{ "fuse", KIND_NETWORK },      { "btrfs", KIND_SHARED },
	{ "bcachefs", KIND_SHARED },   { "ubifs", KIND_SHARED },
	{ "zfs", KIND_POOLED },
};

/* The job of a thread. Owned by the mount; if it is stuck, by its thread. */
struct probe {
	struct rti_job job;
	int (*space)(const char *path, struct rti_space *out);
	struct rti_space answer;
	int err;
	char path[]; /* the root, then the mount point */
};

struct mount {
	struct rt_filesystem row;
	struct probe *probe;
	enum kind kind;
	/* A later mount has the same mount point, or an earlier one the same superblock. */
	bool is_hidden;
	bool is_stalled; /* the probe has not answered */
	bool is_local;   /* the probe waits for nothing, so it needs no thread */
	int err;         /* error of the last answer, or 0 */
};

struct mounts {
	struct mount *mount;
	size_t count, room;
};

struct state {
	const char *path;
	struct rti_file file;
	struct rti_buf text; /* the mountinfo that mounts was made from */
	bool must_read;      /* read mountinfo even if it has not changed */
	struct mounts mounts;
	bool is_xfs_local; /* in this kernel */
	struct rti_worker *worker;
	struct rti_rows rows;
};

/* The state of one parse of the text. */
struct mount_parser {
	const struct rti_context *ctx;
	size_t root_len; /* offset of the mount point in each probe's path */
	struct mounts mounts;
};

static bool is_xfs_local(const struct rti_context *ctx)
{
	return rti_procfs_read(ctx->procfs, RTI_PROC, "sys/kernel/osrelease", RTI_ONE_LINE,
	                       ctx->buf) == 0 &&
	       !rti_fs_waits_in_release("xfs", ctx->buf->data);
}

static int fs_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	/* Below another root, the right mount namespace is that of process 1. */
	st->path = ctx->procfs->is_foreign ? "1/mountinfo" : "self/mountinfo";
	st->file = (struct rti_file)RTI_FILE_INIT;
	st->must_read = true;
	st->is_xfs_local = is_xfs_local(ctx);
	return rti_worker_new(&st->worker);
}

static enum kind find_kind(const char *type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(type, kinds[i].type) == 0)
			return kinds[i].kind;
	return strncmp(type, "fuse.", 5) == 0 ? KIND_NETWORK : KIND_OTHER;
}

static bool is_listed(const struct rti_mount *mount, enum kind kind, uint32_t flags)
{
	if (kind == KIND_NEVER || kind == KIND_PSEUDO || mount->is_cut)
		return false;
	return kind != KIND_NETWORK || flags & RT_OPT_NETWORK_FILESYSTEMS;
}

static void run_probe(struct rti_job *job)
{
	struct probe *probe = (struct probe *)job;

	probe->err = probe->space(probe->path, &probe->answer);
}

static void free_probe(struct rti_job *job)
{
	free(job);
}

/* Returns NULL if memory is short. */
static struct probe *new_probe(const struct rti_procfs *procfs, const char *mount_point)
{
	size_t root_len = strlen(procfs->root), len = strlen(mount_point);
	struct probe *probe = calloc(1, sizeof(*probe) + root_len + len + 1);

	if (!probe)
		return NULL;
	probe->job.run = run_probe;
	probe->job.free = free_probe;
	probe->job.thing = probe->path;
	probe->space = procfs->ops->space;
	memcpy(probe->path, procfs->root, root_len);
	memcpy(probe->path + root_len, mount_point, len + 1);
	return probe;
}

/* Returns NULL if memory is short. */
static struct mount *add_mount(struct mounts *mounts)
{
	struct mount *mount =
	    rti_array_grow(mounts->mount, &mounts->room, mounts->count + 1, sizeof(*mount));

	if (!mount)
		return NULL;
	mounts->mount = mount;
	mounts->mount[mounts->count] = (struct mount){ 0 };
	return &mounts->mount[mounts->count++];
}

/* Hide the earlier mounts on this mount point. */
static void hide_mounts_at(struct mount_parser *parser, const char *mount_point)
{
	struct mounts *mounts = &parser->mounts;

	for (size_t i = 0; i < mounts->count; i++)
		if (strcmp(mounts->mount[i].probe->path + parser->root_len, mount_point) == 0)
			mounts->mount[i].is_hidden = true;
}

static void fill_row(struct mount *mount, const struct rti_mount *from)
{
	struct rt_filesystem *row = &mount->row;

	row->size = sizeof(*row);
	row->flags = mount->kind == KIND_NETWORK ? RT_ITEM_NETWORK : 0;
	row->major = from->major;
	row->minor = from->minor;
	memcpy(row->type, from->type, sizeof(row->type));
	memcpy(row->source, from->source, sizeof(row->source));
	memcpy(row->mount_point, from->mount_point,
	       strnlen(from->mount_point, sizeof(row->mount_point) - 1));
}

static int add_if_listed(void *arg, const struct rti_mount *from)
{
	struct mount_parser *parser = arg;
	enum kind kind = find_kind(from->type);
	struct probe *probe;
	struct mount *mount;

	hide_mounts_at(parser, from->mount_point);
	if (!is_listed(from, kind, parser->ctx->flags))
		return RTI_CONTINUE;
	probe = new_probe(parser->ctx->procfs, from->mount_point);
	mount = probe ? add_mount(&parser->mounts) : NULL;
	if (!mount) {
		free(probe);
		return -ENOMEM;
	}
	mount->probe = probe;
	mount->kind = kind;
	fill_row(mount, from);
	return RTI_CONTINUE;
}

/* Subvolumes of one btrfs have different device numbers, so compare their source. */
static bool is_same_superblock(const struct mount *a, const struct mount *b)
{
	if (a->row.major == b->row.major && a->row.minor == b->row.minor)
		return true;
	return a->kind == KIND_SHARED && b->kind == KIND_SHARED &&
	       strcmp(a->row.source, b->row.source) == 0;
}

/* Hide every mount but the first visible one of each superblock. */
static void hide_repeated(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		for (size_t j = 0; j < i && !mounts->mount[i].is_hidden; j++)
			if (!mounts->mount[j].is_hidden &&
			    is_same_superblock(&mounts->mount[i], &mounts->mount[j]))
				mounts->mount[i].is_hidden = true;
}

static bool is_same_mount(const struct mount *a, const struct mount *b)
{
	return a->row.major == b->row.major && a->row.minor == b->row.minor &&
	       strcmp(a->row.type, b->row.type) == 0 && strcmp(a->row.source, b->row.source) == 0 &&
	       strcmp(a->probe->path, b->probe->path) == 0;
}

/* If the mount was there before, keep its probe, which may be stuck, and its last figures. */
static void keep_old_mount(struct mount *mount, struct mounts *before)
{
	for (size_t i = 0; i < before->count; i++) {
		struct mount *old = &before->mount[i];

		if (!is_same_mount(mount, old))
			continue;
		free(mount->probe);
		*mount = *old;
		*old = before->mount[--before->count];
		return;
	}
}

static void free_mounts(struct mounts *mounts, struct rti_worker *worker)
{
	for (size_t i = 0; i < mounts->count; i++)
		rti_worker_free_job(worker, &mounts->mount[i].probe->job);
	free(mounts->mount);
	*mounts = (struct mounts){ 0 };
}

/* Remove hidden mounts. The others keep what is known of them from before. */
static void merge_mounts(struct mounts *mounts, struct mounts *before)
{
	size_t visible = 0;

	hide_repeated(mounts);
	for (size_t i = 0; i < mounts->count; i++) {
		struct mount *mount = &mounts->mount[i];

		if (mount->is_hidden) {
			free(mount->probe);
			continue;
		}
		keep_old_mount(mount, before);
		mounts->mount[visible++] = *mount;
	}
	mounts->count = visible;
}

/* A local file system may have a quota to read, and its path may lead through one that blocks.
 * E.g.: a disk is mounted below a directory of a server. */
static int mark_waiting(void *arg, const struct rti_mount *from)
{
	bool has_quota = rti_fs_has_project_quota(from->super_options);
	bool blocks = !rti_fs_is_local(from->type) && find_kind(from->type) != KIND_PSEUDO;
	struct mounts *mounts = arg;

	for (size_t i = 0; i < mounts->count; i++) {
		struct mount *mount = &mounts->mount[i];

		if (has_quota && mount->row.major == from->major && mount->row.minor == from->minor)
			mount->is_local = false;
		if (blocks && rti_fs_leads_through(mount->probe->path, from->mount_point))
			mount->is_local = false;
	}
	return RTI_CONTINUE;
}

/* Below another root, what the path leads through is unknown. */
static void find_local(struct state *st, const struct rti_context *ctx)
{
	for (size_t i = 0; i < st->mounts.count; i++) {
		const char *type = st->mounts.mount[i].row.type;

		st->mounts.mount[i].is_local = !ctx->procfs->is_foreign && rti_fs_is_local(type) &&
		                               (st->is_xfs_local || strcmp(type, "xfs") != 0);
	}
	rti_parse_mountinfo(st->text.data, st->text.len, mark_waiting, &st->mounts);
}

static int parse_mounts(struct state *st, const struct rti_context *ctx)
{
	struct mount_parser parser = { .ctx = ctx, .root_len = strlen(ctx->procfs->root) };
	int err = rti_parse_mountinfo(st->text.data, st->text.len, add_if_listed, &parser);

	if (err < 0) {
		free_mounts(&parser.mounts, st->worker);
		return err;
	}
	merge_mounts(&parser.mounts, &st->mounts);
	free_mounts(&st->mounts, st->worker);
	st->mounts = parser.mounts;
	find_local(st, ctx);
	return 0;
}

static int read_mountinfo(struct state *st, const struct rti_context *ctx)
{
	int err = rti_procfs_read_cached(ctx->procfs, RTI_PROC, st->path, RTI_SEQ_FILE, &st->file,
	                                 ctx->buf);

	if (err == -ENOENT && ctx->procfs->is_foreign)
		err = rti_procfs_read_cached(ctx->procfs, RTI_PROC, "self/mountinfo", RTI_SEQ_FILE,
		                             &st->file, ctx->buf);
	return err;
}

static bool is_same_text(const struct rti_buf *a, const struct rti_buf *b)
{
	return a->len == b->len && a->len > 0 && memcmp(a->data, b->data, a->len) == 0;
}

static int refresh_mounts(struct state *st, const struct rti_context *ctx)
{
	int err;

	if (!rti_procfs_has_changed(ctx->procfs, &st->file) && !st->must_read)
		return 0;
	st->must_read = true;
	err = read_mountinfo(st, ctx);
	if (err == 0 && !is_same_text(&st->text, ctx->buf)) {
		err = rti_buf_reserve(&st->text, ctx->buf->len);
		if (err < 0)
			return err;
		st->text.len = ctx->buf->len;
		memcpy(st->text.data, ctx->buf->data, ctx->buf->len);
		err = parse_mounts(st, ctx);
		if (err < 0)
			st->text.len = 0;
	}
	st->must_read = err < 0;
	return err;
}

/* Returns true if the path of a mount led to it. A later mount on a parent directory, or another
 * root, may lead the path to another file system. Returns true for those with a device number for
 * each subvolume, since it is unknown there. */
static bool is_reached(const struct mount *mount, const struct rti_space *answer)
{
	if (mount->kind == KIND_SHARED || (answer->major == 0 && answer->minor == 0))
		return true;
	return mount->row.major == answer->major && mount->row.minor == answer->minor;
}

static void use_answer(struct mount *mount, struct rti_worker *worker, bool has_run)
{
	struct rt_filesystem *row = &mount->row;
	const struct rti_space *answer = &mount->probe->answer;

	mount->is_stalled = !has_run || !rti_worker_is_idle(worker, &mount->probe->job);
	row->flags &= ~(RT_ITEM_STALLED | RT_ITEM_IN_TOTAL);
	row->flags |= mount->is_stalled ? RT_ITEM_STALLED : 0;
	if (mount->is_stalled)
		return;
	mount->err = mount->probe->err < 0       ? mount->probe->err
	             : is_reached(mount, answer) ? 0
	                                         : -ENOENT;
	if (mount->err < 0)
		return;
	row->total_bytes = answer->total_bytes;
	row->free_bytes = answer->free_bytes;
	row->available_bytes = answer->available_bytes;
	row->used_bytes =
	    answer->total_bytes > answer->free_bytes ? answer->total_bytes - answer->free_bytes : 0;
}

/* Probe all mounts. Returns 0, or the -errno for which those that may block could not be probed. */
static int probe_mounts(struct state *st)
{
	int err;

	for (size_t i = 0; i < st->mounts.count; i++) {
		struct mount *mount = &st->mounts.mount[i];
		struct rti_job *job = &mount->probe->job;

		/* One that led through another mount before may still wait for it. */
		mount->is_local = mount->is_local && rti_worker_is_idle(st->worker, job);
		if (mount->is_local)
			job->run(job);
		else
			rti_worker_submit(st->worker, job);
	}
	err = rti_worker_run(st->worker, PROBE_WAIT_NS, SAMPLE_WAIT_NS);
	for (size_t i = 0; i < st->mounts.count; i++)
		use_answer(&st->mounts.mount[i], st->worker,
		           err == 0 || st->mounts.mount[i].is_local);
	return err;
}

static bool is_on_storage(const struct mount *mount)
{
	if (mount->kind != KIND_OTHER)
		return mount->kind == KIND_SHARED || mount->kind == KIND_POOLED;
	return mount->row.major != MAJOR_NONE && mount->row.major != MAJOR_RAM &&
	       mount->row.major != MAJOR_LOOP &&
	       strncmp(mount->row.source, "/dev/zram", strlen("/dev/zram")) != 0;
}

/* E.g.: "tank/home" is a data set of the pool "tank". */
static bool is_same_pool(const struct mount *a, const struct mount *b)
{
	size_t len = strcspn(a->row.source, "/");

	return a->kind == KIND_POOLED && b->kind == KIND_POOLED &&
	       strcspn(b->row.source, "/") == len && memcmp(a->row.source, b->row.source, len) == 0;
}

static bool is_pool_counted(const struct mounts *mounts, const struct mount *mount)
{
	for (const struct mount *other = mounts->mount; other < mount; other++)
		if (other->row.flags & RT_ITEM_IN_TOTAL && is_same_pool(other, mount))
			return true;
	return false;
}

static void add_to_total(const struct mounts *mounts, struct mount *mount, struct rt_metrics *out)
{
	const struct rt_filesystem *row = &mount->row;
	bool is_free_counted = is_pool_counted(mounts, mount);

	out->filesystem_total_bytes += is_free_counted ? row->used_bytes : row->total_bytes;
	out->filesystem_used_bytes += row->used_bytes;
	out->filesystem_free_bytes += is_free_counted ? 0 : row->free_bytes;
	out->filesystem_available_bytes += is_free_counted ? 0 : row->available_bytes;
	out->filesystems++;
	mount->row.flags |= RT_ITEM_IN_TOTAL;
}

static void zero_total(struct rt_metrics *out)
{
	out->filesystem_total_bytes = out->filesystem_used_bytes = 0;
	out->filesystem_free_bytes = out->filesystem_available_bytes = 0;
	out->filesystems = out->filesystems_skipped = 0;
}

/* Sum the file systems on storage. Returns 0, or the -errno for which the first missing one could
 * not be added. */
static int set_total(struct mounts *mounts, struct rt_metrics *out)
{
	int first = 0;

	zero_total(out);
	for (size_t i = 0; i < mounts->count; i++) {
		struct mount *mount = &mounts->mount[i];
		int err = mount->is_stalled ? -ETIMEDOUT : mount->err;

		out->filesystems_skipped += mount->is_stalled != 0;
		if (!is_on_storage(mount))
			continue;
		if (err == 0 && mount->row.total_bytes > 0)
			add_to_total(mounts, mount, out);
		/* A file system that no path leads to does not belong in the total. */
		first = first || err == -ENOENT ? first : err;
	}
	return first;
}

/* Leave out file systems without blocks: they are pseudo file systems that kinds[] lacks. */
static void fill_rows(struct state *st)
{
	const struct mounts *mounts = &st->mounts;
	struct rt_filesystem *row = st->rows.data;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *mount = &mounts->mount[i];

		if (mount->is_stalled || (mount->err == 0 && mount->row.total_bytes > 0))
			row[st->rows.count++] = mount->row;
	}
}

/* Start again after a fork: the threads and their probes only exist in the parent. Returns 0 or
 * -errno. */
static int restart_worker(struct state *st)
{
	struct rti_worker *worker;
	int err = rti_worker_new(&worker);

	if (err < 0)
		return err;
	free_mounts(&st->mounts, st->worker);
	rti_worker_free(st->worker);
	st->worker = worker;
	st->text.len = 0;
	st->must_read = true;
	return 0;
}

static int fs_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	int err = rti_worker_is_here(st->worker) ? 0 : restart_worker(st);
	int probed;

	st->rows.count = 0;
	st->rows.is_due = false;
	if (err == 0)
		err = refresh_mounts(st, ctx);
	if (err < 0)
		return err;
	probed = probe_mounts(st);
	err = set_total(&st->mounts, out);
	if (rti_rows_reserve(&st->rows, st->mounts.count, sizeof(struct rt_filesystem)) < 0)
		return -ENOMEM;
	st->rows.is_due = true;
	err = probed < 0 ? probed : err;
	if (err < 0)
		out->partial |= RT_HAS_FILESYSTEM;
	else
		out->valid |= RT_HAS_FILESYSTEM;
	return err;
}

static void fs_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->file);
	free_mounts(&st->mounts, st->worker);
	rti_worker_free(st->worker);
	rti_buf_free(&st->text);
	rti_rows_free(&st->rows);
}

static const void *fs_rows(void *state, size_t *count)
{
	struct state *st = state;

	if (st->rows.is_due)
		fill_rows(st);
	st->rows.is_due = false;
	return rti_rows_get(&st->rows, count);
}

const struct rti_sys_collector rti_sys_fs = {
	.provides = RT_HAS_FILESYSTEM,
	.files = { "self/mountinfo" },
	.state_size = sizeof(struct state),
	.open = fs_open,
	.collect = fs_collect,
	.close = fs_close,
	.rows = fs_rows,
};
