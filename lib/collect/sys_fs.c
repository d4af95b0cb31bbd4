/* SPDX-License-Identifier: MIT */
/* Space of file systems: /proc/PID/mountinfo says which there are, statvfs(3) how full they are.
 *
 * Each superblock is listed once, at its first mount that no later mount hides. statvfs(3) runs
 * on a thread of its own: a dead server costs the sample in which it dies 25 ms, and later ones
 * nothing. In the total stands what lies on storage: not memory (tmpfs, ramdisk), not overlay,
 * and nothing on a loop device, whose bytes are those of a file on another file system and which
 * a squashfs or ISO image fills to 100 % always. Data sets of one ZFS pool share its free space,
 * which is counted once, with the first of them. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collector.h"
#include "collect/rows.h"
#include "os/worker.h"
#include "util/array.h"

#define PATIENCE_EACH_NS 25000000u /* after which the next one is asked on another thread */
#define PATIENCE_NS 100000000u     /* of one sample, for all of them */

/* Documentation/admin-guide/devices.txt */
#define MAJOR_NONE 0
#define MAJOR_RAM 1
#define MAJOR_LOOP 7

enum kind {
	KIND_OTHER,
	KIND_PSEUDO,  /* holds no blocks */
	KIND_NETWORK, /* may not answer for want of another machine or process */
	KIND_NEVER,   /* asking would mount something */
	/* on storage, though without a device number; mounts of one source have the same space */
	KIND_SHARED,
	KIND_POOLED, /* likewise; mounts of one pool share their free space */
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

/* What a thread works on. Owned by the mount; a stuck one by its thread. */
struct probe {
	struct rti_job job;
	int (*space)(const char *path, struct rti_space *out);
	struct rti_space answer;
	int err;
	char path[]; /* with the root */
};

struct mount {
	struct rt_filesystem row;
	struct probe *probe;
	enum kind kind;
	/* by a later mount on the same place, or as a further mount of the same superblock */
	bool is_hidden;
	bool is_stalled;
	int err; /* why the last answer had no figures */
};

struct mounts {
	struct mount *mount;
	size_t count, room;
};

struct state {
	const char *path;
	struct rti_file file;
	struct rti_buf text; /* of which mounts is made */
	int must_read;
	struct mounts mounts;
	struct rti_worker *worker;
	struct rti_rows rows;
};

/* What one pass over the text works on. */
struct reading {
	const struct rti_context *ctx;
	size_t root_len; /* of which every path is longer than its mount point */
	struct mounts mounts;
};

static int fs_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	/* Below another root it is process 1 that sees the mounts that are meant. */
	st->path = ctx->procfs->is_foreign ? "1/mountinfo" : "self/mountinfo";
	st->file = (struct rti_file)RTI_FILE_INIT;
	st->must_read = 1;
	return rti_worker_new(&st->worker);
}

static enum kind kind_of(const char *type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(type, kinds[i].type) == 0)
			return kinds[i].kind;
	return strncmp(type, "fuse.", 5) == 0 ? KIND_NETWORK : KIND_OTHER;
}

static bool is_wanted(const struct rti_mount *mount, enum kind kind, uint32_t flags)
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

static struct probe *new_probe(const struct rti_procfs *procfs, const char *mount_point)
{
	size_t root_len = strlen(procfs->root), len = strlen(mount_point);
	struct probe *probe = calloc(1, sizeof(*probe) + root_len + len + 1);

	if (!probe)
		return NULL;
	probe->job.run = run_probe;
	probe->job.free = free_probe;
	probe->space = procfs->ops->space;
	memcpy(probe->path, procfs->root, root_len);
	memcpy(probe->path + root_len, mount_point, len + 1);
	return probe;
}

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

static void hide_below(struct reading *reading, const char *mount_point)
{
	struct mounts *mounts = &reading->mounts;

	for (size_t i = 0; i < mounts->count; i++)
		if (strcmp(mounts->mount[i].probe->path + reading->root_len, mount_point) == 0)
			mounts->mount[i].is_hidden = true;
}

static void describe(struct mount *mount, const struct rti_mount *from)
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

static int add_if_counted(void *arg, const struct rti_mount *from)
{
	struct reading *reading = arg;
	enum kind kind = kind_of(from->type);
	struct probe *probe;
	struct mount *mount;

	hide_below(reading, from->mount_point);
	if (!is_wanted(from, kind, reading->ctx->flags))
		return 0;
	probe = new_probe(reading->ctx->procfs, from->mount_point);
	mount = probe ? add_mount(&reading->mounts) : NULL;
	if (!mount) {
		free(probe);
		return -ENOMEM;
	}
	mount->probe = probe;
	mount->kind = kind;
	describe(mount, from);
	return 0;
}

/* Subvolumes of one btrfs have device numbers of their own. */
static bool is_same_superblock(const struct mount *a, const struct mount *b)
{
	if (a->row.major == b->row.major && a->row.minor == b->row.minor)
		return true;
	return a->kind == KIND_SHARED && b->kind == KIND_SHARED &&
	       strcmp(a->row.source, b->row.source) == 0;
}

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

/* A mount that stays keeps its probe, which may be stuck, and its last figures. */
static void copy_probe(struct mount *mount, struct mounts *before)
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

/* Hidden ones go, the rest takes over what is known from before. */
static void settle(struct mounts *mounts, struct mounts *before)
{
	size_t cached = 0;

	hide_repeated(mounts);
	for (size_t i = 0; i < mounts->count; i++) {
		struct mount *mount = &mounts->mount[i];

		if (mount->is_hidden) {
			free(mount->probe);
			continue;
		}
		copy_probe(mount, before);
		mounts->mount[cached++] = *mount;
	}
	mounts->count = cached;
}

static int parse_mounts(struct state *st, const struct rti_context *ctx)
{
	struct reading reading = { .ctx = ctx, .root_len = strlen(ctx->procfs->root) };
	int err = rti_parse_mountinfo(st->text.data, st->text.len, add_if_counted, &reading);

	if (err < 0) {
		free_mounts(&reading.mounts, st->worker);
		return err;
	}
	settle(&reading.mounts, &st->mounts);
	free_mounts(&st->mounts, st->worker);
	st->mounts = reading.mounts;
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
	st->must_read = 1;
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

/* A later mount on one of its parent directories, or another root, may lead its path to another
 * file system. Of those with a device number for each subvolume this cannot be told. */
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

/* 0 or why nobody could be asked. */
static int send_request(struct state *st)
{
	int err;

	for (size_t i = 0; i < st->mounts.count; i++)
		rti_worker_submit(st->worker, &st->mounts.mount[i].probe->job);
	err = rti_worker_run(st->worker, PATIENCE_EACH_NS, PATIENCE_NS);
	for (size_t i = 0; i < st->mounts.count; i++)
		use_answer(&st->mounts.mount[i], st->worker, err == 0);
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

/* "tank/home" is a data set of the pool "tank". */
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
	out->filesystem_total_bytes = 0;
	out->filesystem_used_bytes = 0;
	out->filesystem_free_bytes = 0;
	out->filesystem_available_bytes = 0;
	out->filesystems = 0;
	out->filesystems_skipped = 0;
}

/* 0, or why the total lacks a file system that belongs in it. */
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
		/* one that is not to be reached is not there for us */
		first = first || err == -ENOENT ? first : err;
	}
	return first;
}

/* One without blocks is of a kind that kinds[] does not know yet. */
static int fill_rows(struct state *st)
{
	const struct mounts *mounts = &st->mounts;
	struct rt_filesystem *row;

	if (rti_rows_reserve(&st->rows, mounts->count, sizeof(*row)) < 0)
		return -ENOMEM;
	row = st->rows.data;
	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *mount = &mounts->mount[i];

		if (mount->is_stalled || (mount->err == 0 && mount->row.total_bytes > 0))
			row[st->rows.count++] = mount->row;
	}
	return 0;
}

/* What the threads were at when this process was forked off is lost with them. */
static int start_anew(struct state *st)
{
	struct rti_worker *worker;
	int err = rti_worker_new(&worker);

	if (err < 0)
		return err;
	free_mounts(&st->mounts, st->worker);
	rti_worker_free(st->worker);
	st->worker = worker;
	st->text.len = 0;
	st->must_read = 1;
	return 0;
}

static int fs_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	int err = rti_worker_is_here(st->worker) ? 0 : start_anew(st);
	int asked;

	st->rows.count = 0;
	if (err == 0)
		err = refresh_mounts(st, ctx);
	if (err < 0)
		return err;
	asked = send_request(st);
	err = set_total(&st->mounts, out);
	if (fill_rows(st) < 0)
		return -ENOMEM;
	err = asked < 0 ? asked : err;
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

static const void *fs_rows(const void *state, size_t *count)
{
	const struct state *st = state;

	return rti_rows_get(&st->rows, count);
}

const struct rti_sys_collector rti_sys_fs = {
	.name = "sys_fs",
	.provides = RT_HAS_FILESYSTEM,
	.state_size = sizeof(struct state),
	.open = fs_open,
	.collect = fs_collect,
	.close = fs_close,
	.rows = fs_rows,
};
