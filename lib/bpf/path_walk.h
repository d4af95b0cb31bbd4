/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The path of a file as the reader sees it, and as /proc/PID/exe and cwd show it.
 *
 * For BPF programs. PATH_AREA_MAX and PATH_PART_MAX must be defined. */
#ifndef RTI_PATH_WALK_H
#define RTI_PATH_WALK_H

#include "kernel.h"

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define PATH_PARTS_MAX 1024 /* and mounts */

/* The root of the reader. Set by note_own_root(). */
__u64 own_root_mount, own_root_dentry;

static void note_own_root(struct task_struct *reader)
{
	own_root_mount = (__u64)BPF_CORE_READ(reader, fs, root.mnt);
	own_root_dentry = (__u64)BPF_CORE_READ(reader, fs, root.dentry);
}

/* A walk from a file to the root. Its parts lie one after another, the last part of the path first,
 * each with a NUL: the area has PATH_PART_MAX bytes more than PATH_AREA_MAX. */
struct path_walk {
	struct dentry *dentry;
	struct vfsmount *mount;
	char *area;
	__u32 used; /* of the area, in bytes */
	bool is_complete;
};

/* Go on in the file system that holds the mount point. Returns 1 at the root of a mount namespace,
 * or if the file system is mounted no longer: then the walk is not complete. */
static long leave_file_system(struct path_walk *walk)
{
	struct mount *mount = (void *)walk->mount - bpf_core_field_offset(struct mount, mnt);
	struct mount *above = BPF_CORE_READ(mount, mnt_parent);

	if (above == mount) {
		walk->is_complete = BPF_CORE_READ(mount, mnt_ns) != NULL;
		return 1;
	}
	walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
	walk->mount = (void *)above + bpf_core_field_offset(struct mount, mnt);
	return 0;
}

/* Returns 0 to go on. As prepend_path() of fs/d_path.c: a file that is not below the reader's root
 * has its path in its own mount namespace. These end the walk: a part that is cut; a file without a
 * path; one that is being released along with its process, which has no dentry; and one that is
 * renamed meanwhile, since name and parent may not belong together. */
static long write_part(__u32 i, struct path_walk *walk)
{
	struct dentry *dentry = walk->dentry, *parent = BPF_CORE_READ(dentry, d_parent);
	struct vfsmount *mount = walk->mount;
	unsigned int sequence = BPF_CORE_READ(dentry, d_seq.seqcount.sequence);
	__u32 used = walk->used;
	long got;

	if (!dentry)
		return 1;
	if ((__u64)dentry == own_root_dentry && (__u64)mount == own_root_mount) {
		walk->is_complete = true;
		return 1;
	}
	if (dentry == BPF_CORE_READ(mount, mnt_root))
		return leave_file_system(walk);
	if (dentry == parent || used > PATH_AREA_MAX)
		return 1;
	got = bpf_probe_read_kernel_str(&walk->area[used], PATH_PART_MAX,
	                                BPF_CORE_READ(dentry, d_name.name));
	if (got <= 1 || got >= PATH_PART_MAX || sequence & 1 ||
	    BPF_CORE_READ(dentry, d_parent) != parent ||
	    BPF_CORE_READ(dentry, d_seq.seqcount.sequence) != sequence)
		return 1;
	walk->used = used + (__u32)got;
	walk->dentry = parent;
	return 0;
}

/* Whether a file was deleted, as d_unlinked() has it (include/linux/dcache.h). */
static bool is_deleted(const struct path_walk *walk)
{
	struct dentry *dentry = walk->dentry;

	return !BPF_CORE_READ(dentry, d_hash.pprev) && dentry != BPF_CORE_READ(dentry, d_parent);
}

static void write_path(struct path_walk *walk)
{
	bpf_loop(PATH_PARTS_MAX, write_part, walk, 0);
}

#endif
