/* SPDX-License-Identifier: MIT */
/* Space of file systems, from /proc/PID/mountinfo and statvfs(3).
 *
 * Each superblock is listed once, at its first mount that no later mount hides. Where statvfs(3)
 * may block, it runs on a separate thread: a server that stops answering costs that sample 25 ms
 * and later ones nothing, and one thread of the process, however many trackers there are. A system
 * with local file systems alone needs no thread.
 *
 * The total counts what is on storage. It excludes memory (tmpfs, ramdisk), overlay, and loop
 * devices. A loop device has its bytes in a file on another file system, and a squashfs or ISO
 * image always fills it to 100 %. Data sets of one ZFS pool share its free space, which is counted
 * once, with the first of them. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collector.h"
#include "collect/fs_probe.h"
#include "collect/local_fs.h"
#include "collect/rows.h"
#include "os/thread/worker.h"
#include "util/array.h"
#include "util/visit.h"

/* Documentation/admin-guide/devices.txt */
#define MAJOR_NONE 0
#define MAJOR_RAM 1
#define MAJOR_LOOP 7

static const struct {
	const char *type;
	enum rti_fs_kind kind;
} kinds[] = {
	{ "autofs", RTI_FS_NEVER },      { "proc", RTI_FS_PSEUDO },
	{ "sysfs", RTI_FS_PSEUDO },      { "cgroup", RTI_FS_PSEUDO },
	{ "cgroup2", RTI_FS_PSEUDO },    { "devpts", RTI_FS_PSEUDO },
	{ "mqueue", RTI_FS_PSEUDO },     { "hugetlbfs", RTI_FS_PSEUDO },
	{ "debugfs", RTI_FS_PSEUDO },    { "tracefs", RTI_FS_PSEUDO },
	{ "securityfs", RTI_FS_PSEUDO }, { "pstore", RTI_FS_PSEUDO },
	{ "bpf", RTI_FS_PSEUDO },        { "configfs", RTI_FS_PSEUDO },
	{ "fusectl", RTI_FS_PSEUDO },    { "binfmt_misc", RTI_FS_PSEUDO },
	{ "efivarfs", RTI_FS_PSEUDO },   { "selinuxfs", RTI_FS_PSEUDO },
	{ "rpc_pipefs", RTI_FS_PSEUDO }, { "nsfs", RTI_FS_PSEUDO },
	{ "nfs", RTI_FS_NETWORK },       { "nfs4", RTI_FS_NETWORK },
	{ "cifs", RTI_FS_NETWORK },      { "smb3", RTI_FS_NETWORK },
	{ "smbfs", RTI_FS_NETWORK },     { "ceph", RTI_FS_NETWORK },
	{ "glusterfs", RTI_FS_NETWORK }, { "9p", RTI_FS_NETWORK },
	{ "afs", RTI_FS_NETWORK },       { "beegfs", RTI_FS_NETWORK },
	{ "lustre", RTI_FS_NETWORK },    { "gpfs", RTI_FS_NETWORK },
	{ "ocfs2", RTI_FS_NETWORK },     { "gfs2", RTI_FS_NETWORK },
	{ "ncpfs", RTI_FS_NETWORK },     { "coda", RTI_FS_NETWORK },
	{ "orangefs", RTI_FS_NETWORK },  { "pvfs2", RTI_FS_NETWORK },
	{ "virtiofs", RTI_FS_NETWORK },  { "vboxsf", RTI_FS_NETWORK },
	{ "fuse", RTI_FS_NETWORK },      { "btrfs", RTI_FS_SHARED },
	{ "bcachefs", RTI_FS_SHARED },   { "ubifs", RTI_FS_SHARED },
	{ "zfs", RTI_FS_POOLED },
};

struct state {
	const char *path;
	struct rti_file file;
	struct rti_buf text; /* the mountinfo that mounts was made from */
	bool must_read;      /* read mountinfo even if it has not changed */
	struct rti_mounts mounts;
	bool is_xfs_local; /* in this kernel */
	struct rti_worker *worker;
	struct rti_rows rows;
};

/* The state of one parse of the text. */
struct mount_parser {
	const struct rti_context *ctx;
	size_t root_len; /* offset of the mount point in each probe's path */
	struct rti_mounts mounts;
};

static int fs_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	/* Below another root, process 1 has the right mount namespace. */
	st->path = ctx->procfs->is_foreign ? "1/mountinfo" : "self/mountinfo";
	st->file = (struct rti_file)RTI_FILE_INIT;
	st->must_read = true;
	st->is_xfs_local = rti_procfs_read(ctx->procfs, RTI_PROC, "sys/kernel/osrelease",
	                                   RTI_ONE_LINE, ctx->buf) == 0 &&
	                   !rti_fs_waits_in_release("xfs", ctx->buf->data);
	return rti_worker_new(&st->worker);
}

static enum rti_fs_kind find_kind(const char *type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(type, kinds[i].type) == 0)
			return kinds[i].kind;
	return strncmp(type, "fuse.", 5) == 0 ? RTI_FS_NETWORK : RTI_FS_OTHER;
}

static void fill_row(struct rti_fs_mount *mount, const struct rti_mount *from)
{
	struct rt_filesystem *row = &mount->row;

	row->size = sizeof(*row);
	row->flags = mount->kind == RTI_FS_NETWORK ? RT_ITEM_NETWORK : 0;
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
	struct rti_mounts *mounts = &parser->mounts;
	enum rti_fs_kind kind = find_kind(from->type);
	bool is_wanted = kind != RTI_FS_NETWORK || parser->ctx->flags & RT_OPT_NETWORK_FILESYSTEMS;
	struct rti_fs_mount *mount;

	/* It hides the earlier mounts on this mount point. */
	for (size_t i = 0; i < mounts->count; i++)
		if (strcmp(mounts->mount[i].probe->path + parser->root_len, from->mount_point) == 0)
			mounts->mount[i].is_hidden = true;
	if (!is_wanted || kind == RTI_FS_NEVER || kind == RTI_FS_PSEUDO || from->is_cut)
		return RTI_CONTINUE;
	mount = rti_array_grow(mounts->mount, &mounts->room, mounts->count + 1, sizeof(*mount));
	if (!mount)
		return -ENOMEM;
	mounts->mount = mount;
	mount = &mounts->mount[mounts->count];
	*mount = (struct rti_fs_mount){
		.kind = kind,
		.probe = rti_fs_probe_new(parser->ctx->procfs, from->mount_point),
	};
	if (!mount->probe)
		return -ENOMEM;
	mounts->count++;
	fill_row(mount, from);
	return RTI_CONTINUE;
}

/* Subvolumes of one btrfs have different device numbers, so compare their source. */
static bool is_same_superblock(const struct rti_fs_mount *a, const struct rti_fs_mount *b)
{
	if (a->row.major == b->row.major && a->row.minor == b->row.minor)
		return true;
	return a->kind == RTI_FS_SHARED && b->kind == RTI_FS_SHARED &&
	       strcmp(a->row.source, b->row.source) == 0;
}

/* If the mount was there before, keep its probe, which may be stuck, and its last figures. */
static void keep_old_mount(struct rti_fs_mount *mount, struct rti_mounts *before)
{
	const struct rt_filesystem *row = &mount->row;

	for (size_t i = 0; i < before->count; i++) {
		struct rti_fs_mount *old = &before->mount[i];

		if (row->major != old->row.major || row->minor != old->row.minor ||
		    strcmp(row->type, old->row.type) != 0 ||
		    strcmp(row->source, old->row.source) != 0 ||
		    strcmp(mount->probe->path, old->probe->path) != 0)
			continue;
		free(mount->probe);
		*mount = *old;
		*old = before->mount[--before->count];
		return;
	}
}

static void free_mounts(struct rti_mounts *mounts, struct rti_worker *worker)
{
	for (size_t i = 0; i < mounts->count; i++)
		rti_worker_free_job(worker, &mounts->mount[i].probe->job);
	free(mounts->mount);
	*mounts = (struct rti_mounts){ 0 };
}

/* Remove hidden mounts, and all but the first visible one of each superblock. The others keep what
 * is known of them from before. */
static void merge_mounts(struct rti_mounts *mounts, struct rti_mounts *before)
{
	size_t visible = 0;

	for (size_t i = 0; i < mounts->count; i++) {
		struct rti_fs_mount *mount = &mounts->mount[i];

		for (size_t j = 0; j < visible && !mount->is_hidden; j++)
			mount->is_hidden = is_same_superblock(mount, &mounts->mount[j]);
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
	bool blocks = !rti_fs_is_local(from->type) && find_kind(from->type) != RTI_FS_PSEUDO;
	struct rti_mounts *mounts = arg;

	for (size_t i = 0; i < mounts->count; i++) {
		struct rti_fs_mount *mount = &mounts->mount[i];

		if (has_quota && mount->row.major == from->major && mount->row.minor == from->minor)
			mount->is_local = false;
		if (blocks && rti_fs_leads_through(mount->probe->path, from->mount_point))
			mount->is_local = false;
	}
	return RTI_CONTINUE;
}

static int parse_mounts(struct state *st, const struct rti_context *ctx)
{
	struct mount_parser parser = { .ctx = ctx, .root_len = strlen(ctx->procfs->root) };
	struct rti_mount line;
	int err = rti_parse_mountinfo(st->text.data, st->text.len, &line, add_if_listed, &parser);

	if (err < 0) {
		free_mounts(&parser.mounts, st->worker);
		return err;
	}
	merge_mounts(&parser.mounts, &st->mounts);
	free_mounts(&st->mounts, st->worker);
	st->mounts = parser.mounts;
	for (size_t i = 0; i < st->mounts.count; i++) {
		struct rti_fs_mount *mount = &st->mounts.mount[i];

		/* Below another root, what the path leads through is unknown. */
		mount->is_local = !ctx->procfs->is_foreign && rti_fs_is_local(mount->row.type) &&
		                  (st->is_xfs_local || strcmp(mount->row.type, "xfs") != 0);
		mount->has_own_id = false;
	}
	rti_parse_mountinfo(st->text.data, st->text.len, &line, mark_waiting, &st->mounts);
	return 0;
}

/* Read and parse mountinfo if it has changed. */
static int refresh_mounts(struct state *st, const struct rti_context *ctx)
{
	struct rti_buf *text = &st->text;
	int err;

	if (!rti_procfs_has_changed(ctx->procfs, &st->file) && !st->must_read)
		return 0;
	st->must_read = true;
	err = rti_procfs_read_cached(ctx->procfs, RTI_PROC, st->path, RTI_SEQ_FILE, &st->file,
	                             ctx->buf);
	if (err == -ENOENT && ctx->procfs->is_foreign)
		err = rti_procfs_read_cached(ctx->procfs, RTI_PROC, "self/mountinfo", RTI_SEQ_FILE,
		                             &st->file, ctx->buf);
	if (err == 0 && (text->len == 0 || text->len != ctx->buf->len ||
	                 memcmp(text->data, ctx->buf->data, text->len) != 0)) {
		err = rti_buf_reserve(text, ctx->buf->len);
		if (err < 0)
			return err;
		text->len = ctx->buf->len;
		memcpy(text->data, ctx->buf->data, text->len);
		err = parse_mounts(st, ctx);
		if (err < 0)
			text->len = 0;
	}
	st->must_read = err < 0;
	return err;
}

static bool is_on_storage(const struct rti_fs_mount *mount)
{
	if (mount->kind != RTI_FS_OTHER)
		return mount->kind == RTI_FS_SHARED || mount->kind == RTI_FS_POOLED;
	return mount->row.major != MAJOR_NONE && mount->row.major != MAJOR_RAM &&
	       mount->row.major != MAJOR_LOOP &&
	       strncmp(mount->row.source, "/dev/zram", strlen("/dev/zram")) != 0;
}

/* E.g.: "tank/home" is a data set of the pool "tank". */
static bool is_pool_counted(const struct rti_mounts *mounts, const struct rti_fs_mount *mount)
{
	const char *source = mount->row.source;
	size_t len = strcspn(source, "/");

	if (mount->kind != RTI_FS_POOLED)
		return false;
	for (const struct rti_fs_mount *other = mounts->mount; other < mount; other++)
		if (other->row.flags & RT_ITEM_IN_TOTAL && other->kind == RTI_FS_POOLED &&
		    strcspn(other->row.source, "/") == len &&
		    memcmp(other->row.source, source, len) == 0)
			return true;
	return false;
}

static void add_to_total(const struct rti_mounts *mounts, struct rti_fs_mount *mount,
                         struct rt_metrics *out)
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

/* Sum the file systems on storage. Returns 0, or the -errno for which the first missing one could
 * not be added. */
static int set_total(struct rti_mounts *mounts, struct rt_metrics *out)
{
	int first = 0;

	out->filesystem_total_bytes = out->filesystem_used_bytes = 0;
	out->filesystem_free_bytes = out->filesystem_available_bytes = 0;
	out->filesystems = out->filesystems_skipped = 0;
	for (size_t i = 0; i < mounts->count; i++) {
		struct rti_fs_mount *mount = &mounts->mount[i];
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
	const struct rti_mounts *mounts = &st->mounts;
	struct rt_filesystem *row = st->rows.data;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct rti_fs_mount *mount = &mounts->mount[i];

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
	probed = rti_fs_probe_all(&st->mounts, st->worker);
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
