/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sends the path of each program once, before its first call.
 *
 * For BPF programs. reserve() must be defined. */
#ifndef RTI_TRACE_PATH_H
#define RTI_TRACE_PATH_H

#include "kernel.h"

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "trace.h"

#define PATH_PARTS_MAX 64 /* and mounts */
#define PART_BYTES_MAX 128
#define FILES_MAX 1024

struct program_file {
	__u64 device, inode;
};

/* Programs with a path that was sent. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FILES_MAX);
	__type(key, struct program_file);
	__type(value, __u32);
} files SEC(".maps");

/* A walk from a file to the root of its mount namespace. */
struct walk {
	struct dentry *dentry;
	struct vfsmount *mount;
	struct rti_trace_path *path;
	__u32 used;       /* of the parts, in bytes */
	bool is_complete; /* the root was reached */
};

/* Go on in the file system that holds the mount point. Returns 1 at the root of all. */
static long leave_mount(struct walk *walk)
{
	struct mount *mount = (void *)walk->mount - bpf_core_field_offset(struct mount, mnt);
	struct mount *above = BPF_CORE_READ(mount, mnt_parent);

	if (above == mount) {
		walk->is_complete = true;
		return 1;
	}
	walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
	walk->mount = (void *)above + bpf_core_field_offset(struct mount, mnt);
	return 0;
}

/* Returns 0 to go on. A part that is cut, or a file that has no path, ends the walk. So does a file
 * that is being released along with its process: it has no dentry. */
static long write_part(__u32 i, struct walk *walk)
{
	struct dentry *dentry = walk->dentry, *parent = BPF_CORE_READ(dentry, d_parent);
	struct vfsmount *mount = walk->mount;
	__u32 used = walk->used;
	long got;

	if (!dentry)
		return 1;
	if (dentry == BPF_CORE_READ(mount, mnt_root))
		return leave_mount(walk);
	if (dentry == parent || used > RTI_PATH_PARTS_BYTES - PART_BYTES_MAX)
		return 1;
	got = bpf_probe_read_kernel_str(&walk->path->parts[used], PART_BYTES_MAX,
	                                BPF_CORE_READ(dentry, d_name.name));
	if (got <= 1 || got >= PART_BYTES_MAX)
		return 1;
	walk->used = used + (__u32)got;
	walk->dentry = parent;
	return 0;
}

/* Once for each program: the path would be unknown if all its processes ended before one of their
 * events is read. Global, so that the verifier looks at it once in each program: then it takes the
 * address as a number. */
__noinline int send_path(__u64 file_address)
{
	struct file *file = (void *)file_address;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	const __u64 generation = BPF_CORE_READ(inode, i_generation);
	const struct program_file key = { BPF_CORE_READ(inode, i_sb, s_dev) | generation << 32,
		                          BPF_CORE_READ(inode, i_ino) };
	const __u32 sent = 1;
	struct walk walk = { .dentry = BPF_CORE_READ(file, f_path.dentry),
		             .mount = BPF_CORE_READ(file, f_path.mnt) };
	struct rti_trace_path *path;

	if (bpf_map_update_elem(&files, &key, &sent, BPF_NOEXIST) < 0)
		return 0;
	path = reserve(sizeof(*path));
	if (!path) {
		bpf_map_delete_elem(&files, &key);
		return 0;
	}
	path->kind = RTI_RING_PATH;
	path->device = key.device;
	path->inode = key.inode;
	walk.path = path;
	bpf_loop(PATH_PARTS_MAX, write_part, &walk, 0);
	path->length = walk.used;
	/* It is needed no sooner than the next event. */
	if (walk.is_complete)
		bpf_ringbuf_submit(path, BPF_RB_NO_WAKEUP);
	else
		bpf_ringbuf_discard(path, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
