/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sends the path of each program once, before its first call.
 *
 * For BPF programs. `ring` must be defined. */
#ifndef RTI_TRACE_PATH_H
#define RTI_TRACE_PATH_H

#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "trace.h"

#define PATH_PART_MAX 128
#define PATH_AREA_MAX (RTI_PATH_PARTS_BYTES - PATH_PART_MAX)
#include "bpf/path_walk.h"

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

/* Once for each program: the path would be unknown if all its processes ended before one of their
 * events is read. Not for a deleted file: the library reads that path from /proc, if it can. Global
 * functions are verified once in each program, and then take the address as a number. */
__noinline int send_path(__u64 file_address)
{
	struct file *file = (void *)file_address;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	const __u64 generation = BPF_CORE_READ(inode, i_generation);
	const struct program_file key = { BPF_CORE_READ(inode, i_sb, s_dev) | generation << 32,
		                          BPF_CORE_READ(inode, i_ino) };
	const __u32 sent = 1;
	struct path_walk walk = { .dentry = BPF_CORE_READ(file, f_path.dentry),
		                  .mount = BPF_CORE_READ(file, f_path.mnt) };
	struct rti_trace_path *path;

	if (is_deleted(&walk) || bpf_map_update_elem(&files, &key, &sent, BPF_NOEXIST) < 0)
		return 0;
	path = bpf_ringbuf_reserve(&ring, sizeof(*path), 0);
	if (!path) {
		bpf_map_delete_elem(&files, &key);
		return 0;
	}
	path->kind = RTI_RING_PATH;
	path->device = key.device;
	path->inode = key.inode;
	walk.area = path->parts;
	write_path(&walk);
	path->length = walk.used;
	/* It is needed no sooner than the next event. */
	if (walk.is_complete) {
		bpf_ringbuf_submit(path, BPF_RB_NO_WAKEUP);
	} else {
		bpf_ringbuf_discard(path, BPF_RB_NO_WAKEUP);
		bpf_map_delete_elem(&files, &key);
	}
	return 0;
}

#endif
