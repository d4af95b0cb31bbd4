/* SPDX-License-Identifier: MIT */
/* Reads from file systems that another process or machine serves.
 *
 * The kernel adds what it fetches from storage to the account of the process that asks the block
 * layer for it. E.g.: a read through FUSE is in the account of the server (Linux, fs/fuse/file.c,
 * fuse_readahead(), since 5.8), and `read_bytes` of the reader is 0. Nothing in the files of the
 * reader shows that. So `read_bytes` is a lower bound once a member may have read in this way: its
 * calls have returned 1 MiB or more, or it had page faults that needed I/O, hardly anything of that
 * came from storage, and it has a file of such a file system open or mapped. What it maps may have
 * been read ahead, without such faults: likewise if it maps 4 MiB more of files, and one of those.
 * Of members that have ended, that such a file system is mounted has to do.
 *
 * Files are found by the number of their mount in `fdinfo`, and never by statfs(2): that asks the
 * server, which may not answer. */
#include "tree/read/served_reads.h"

#include <stdlib.h>
#include <string.h>

#include "os/procfs.h"
#include "parse/parse.h"
#include "parse/scan.h"
#include "tree/state/read_policy.h"
#include "util/arith.h"
#include "util/visit.h"

#define ENOUGH_BYTES ((uint64_t)1 << 20)
#define ENOUGH_MAPPED_BYTES ((uint64_t)4 << 20) /* most programs have less of libraries */
#define FAULT_BYTES 65536 /* by each fault that needs I/O, with what the kernel reads ahead */
#define STORAGE_SHARE 8   /* reads of which one part in so many came from storage are in order */
#define LOOKS_MAX 16      /* in one sample */
#define FILES_MAX 256     /* of one member */
#define MOUNTS_MAX 64
#define QUIET_NS 1000000000u /* where no such file system is mounted */

struct mounts {
	size_t count;
	struct served_mount {
		uint32_t id;
		char device[24]; /* as in maps: " 00:3f " */
	} of[MOUNTS_MAX];
	bool for_ended;
};

/* What a desktop or a container always has mounted proves nothing of members that have ended. */
static bool is_served(const char *type, bool for_ended)
{
	static const char *const types[] = {
		"fuse.lxcfs", "fuse.gvfsd-fuse", "fuse.portal", "fuse", "fuseblk", "virtiofs", "9p",
		"zfs",        "vboxsf",          "lustre",      "ceph", "beegfs",  "gpfs"
	};
	const size_t count = sizeof(types) / sizeof(types[0]);
	size_t i = 0;

	while (i < count && strcmp(type, types[i]) != 0)
		i++;
	if (i < 3)
		return i > 0 && !for_ended;
	return i < count || strncmp(type, "fuse.", 5) == 0;
}

/* Write separator and number, with two digits at least. Returns the end. */
static char *put_hex(char *at, char separator, uint32_t number)
{
	unsigned digits = 2;

	while (digits < 8 && number >> (4 * digits))
		digits++;
	*at++ = separator;
	while (digits-- > 0)
		*at++ = "0123456789abcdef"[number >> (4 * digits) & 15];
	return at;
}

static int add_mount(void *arg, const struct rti_mount *mount)
{
	struct mounts *mounts = arg;
	struct served_mount *at;
	char *end;

	if (!is_served(mount->type, mounts->for_ended))
		return RTI_CONTINUE;
	at = &mounts->of[mounts->count++];
	at->id = mount->id;
	end = put_hex(at->device, ' ', mount->major);
	end = put_hex(end, ':', mount->minor);
	memcpy(end, " ", 2);
	return mounts->count < MOUNTS_MAX ? RTI_CONTINUE : RTI_STOP;
}

/* pid 0: the caller. Returns false if there is none, or if that is unknown. */
static bool find_mounts(const struct rti_context *ctx, int32_t pid, struct mounts *out)
{
	struct rti_path path = rti_pid_path(pid, "mountinfo");
	struct rti_mount *mount;

	if (rti_procfs_read(ctx->procfs, RTI_PROC, pid ? path.text : "self/mountinfo", RTI_SEQ_FILE,
	                    ctx->buf) < 0)
		return false;
	mount = malloc(sizeof(*mount));
	if (mount)
		rti_parse_mountinfo(ctx->buf->data, ctx->buf->len, mount, add_mount, out);
	free(mount);
	return out->count > 0;
}

struct search {
	const struct rti_context *ctx;
	const struct mounts *mounts;
	int32_t pid;
	unsigned files;
	bool is_found;
};

static bool is_on_any(const struct rti_buf *fdinfo, const struct mounts *mounts)
{
	static const struct rti_scan_key keys[] = { RTI_SCAN_KEY("mnt_id:") };
	struct rti_scan s = rti_scan(fdinfo->data, fdinfo->len);
	uint64_t id;
	struct rti_scan_numbers numbers = { .keys = keys, .count = 1, .value = &id };
	bool has_id = rti_scan_all_keys(&s, &numbers);

	for (size_t i = 0; has_id && i < mounts->count; i++) {
		if (mounts->of[i].id == id)
			return true;
	}
	return false;
}

static int check_descriptor(void *arg, const char *name)
{
	struct search *search = arg;
	struct rti_buf *buf = search->ctx->buf;
	char file[32] = "fdinfo/";

	if (search->files++ == FILES_MAX)
		return RTI_STOP;
	strncat(file, name, sizeof(file) - 8);
	if (rti_procfs_read(search->ctx->procfs, RTI_PROC, rti_pid_path(search->pid, file).text,
	                    RTI_SEQ_FILE, buf) == 0)
		search->is_found = is_on_any(buf, search->mounts);
	return search->is_found ? RTI_STOP : RTI_CONTINUE;
}

static bool maps_any(const struct rti_context *ctx, int32_t pid, const struct mounts *mounts)
{
	if (rti_procfs_read(ctx->procfs, RTI_PROC, rti_pid_path(pid, "maps").text, RTI_SEQ_FILE,
	                    ctx->buf) < 0)
		return false;
	for (size_t i = 0; i < mounts->count; i++) {
		if (strstr(ctx->buf->data, mounts->of[i].device))
			return true;
	}
	return false;
}

/* Without is_open, files that are mapped count alone. */
static bool uses_any(const struct rti_context *ctx, int32_t pid, bool is_open, bool *has_mounts)
{
	struct mounts mounts = { 0 };
	struct search search = { .ctx = ctx, .mounts = &mounts, .pid = pid };

	*has_mounts = find_mounts(ctx, pid, &mounts);
	if (!*has_mounts)
		return false;
	if (is_open)
		rti_procfs_list(ctx->procfs, RTI_PROC, rti_pid_path(pid, "fdinfo").text,
		                check_descriptor, &search);
	return search.is_found || maps_any(ctx, pid, &mounts);
}

static uint64_t bytes_read(uint64_t chars, uint64_t major_faults, uint64_t before)
{
	return rti_subtract_saturated(chars + major_faults * FAULT_BYTES, before);
}

/* Most trees have no such file system: they are looked at once a second, and at their end. */
static bool is_quiet(const struct rti_tree *tree)
{
	const struct rti_served_reads *served = &tree->served_reads;

	return served->is_seen || !(tree->want & RT_HAS_IO) ||
	       (tree->now_ns < served->quiet_until_ns && !tree->is_final);
}

void rti_served_reads_look(struct rti_tree *tree, struct rti_member *m)
{
	struct rti_served_reads *served = &tree->served_reads;
	const uint64_t *self = m->values.figures.self;
	/* Else its I/O has what children that it has reaped have read. */
	bool is_own = tree->ledger.self_only || (!m->family.has_children && m->stat.cminflt == 0);
	uint64_t fetched = rti_subtract_saturated(self[RTI_READ_BYTES], m->served.fetched),
		 shared = m->values.figures.shared_bytes, read = 0, mapped;
	bool is_fresh, has_mounts;

	if (is_own)
		read = bytes_read(self[RTI_READ_CHARS], self[RTI_MAJOR_FAULTS], m->served.bytes);
	m->served.mapped = rti_min(m->served.mapped, shared);
	mapped = shared - m->served.mapped;
	/* What was found stands for a while, unless it maps more. E.g.: a program loads its
	 * libraries, and then maps a file. */
	is_fresh = !tree->is_final && mapped < ENOUGH_MAPPED_BYTES && m->served.at_ns &&
	           tree->now_ns - m->served.at_ns < RTI_SELDOM_NS;
	if (is_quiet(tree) || (read < ENOUGH_BYTES && mapped < ENOUGH_MAPPED_BYTES))
		return;
	if (served->looked_at_ns != tree->now_ns)
		served->looks = 0;
	served->looked_at_ns = tree->now_ns;
	if (fetched < (read + mapped) / STORAGE_SHARE && !is_fresh) {
		if (served->looks++ >= LOOKS_MAX)
			return;
		m->served.at_ns = tree->now_ns;
		served->is_seen = uses_any(tree->ctx, m->pid, read >= ENOUGH_BYTES, &has_mounts);
		served->quiet_until_ns = has_mounts ? 0 : tree->now_ns + QUIET_NS;
	}
	m->served.bytes += read;
	if (!is_fresh)
		m->served.mapped = shared;
	m->served.fetched += fetched;
	served->bytes += read;
	served->fetched += is_own ? fetched : 0;
}

void rti_served_reads_look_at_ended(struct rti_tree *tree, const struct rt_metrics *totals)
{
	struct rti_served_reads *served = &tree->served_reads;
	uint64_t bytes = bytes_read(totals->read_chars, totals->major_faults, served->bytes),
		 fetched = rti_subtract_saturated(totals->read_bytes, served->fetched);
	int32_t pid = tree->table.count > 0 ? tree->table.members[0].pid : 0;
	struct mounts mounts = { .for_ended = true };

	if (is_quiet(tree) || bytes < ENOUGH_BYTES)
		return;
	/* The supervisor, or another member, shows the mounts of the ended. */
	if (fetched < bytes / STORAGE_SHARE) {
		served->is_seen =
		    find_mounts(tree->ctx, pid, &mounts) || find_mounts(tree->ctx, 0, &mounts);
		served->quiet_until_ns = tree->now_ns + QUIET_NS;
	}
	served->bytes += bytes;
	served->fetched += fetched;
}
