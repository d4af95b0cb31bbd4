/* SPDX-License-Identifier: MIT */
/* Asks the file systems of a list of mounts for their space. */
#ifndef RTI_FS_PROBE_H
#define RTI_FS_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include <rtrack/rtrack.h>

#include "os/procfs.h"
#include "os/thread/worker.h"

enum rti_fs_kind {
	RTI_FS_OTHER,
	RTI_FS_PSEUDO,  /* has no blocks */
	RTI_FS_NETWORK, /* depends on another host or process, so it may not answer */
	RTI_FS_NEVER,   /* a probe would mount something */
	/* On storage, but with a device number that is not the storage's. Mounts of one source have
	 * the same space. */
	RTI_FS_SHARED,
	/* As RTI_FS_SHARED, but only the free space is shared, by mounts of one pool. */
	RTI_FS_POOLED,
};

/* The job of a thread. Owned by the mount; if it is stuck, by its thread. */
struct rti_fs_probe {
	struct rti_job job;
	int (*space)(const char *root, const char *path, struct rti_space *out);
	struct rti_space answer;
	int err;
	const char *root; /* behind the path */
	char path[];      /* the root, then the mount point */
};

struct rti_fs_mount {
	struct rt_filesystem row;
	struct rti_fs_probe *probe;
	enum rti_fs_kind kind;
	/* A later mount has the same mount point, or an earlier one the same superblock. */
	bool is_hidden;
	bool is_local; /* the probe waits for nothing, so it needs no thread */

	/* Written by fs_probe.c. */
	bool is_stalled;   /* the probe has not answered */
	bool is_submitted; /* the probe may be with a thread */
	bool has_own_id;   /* no other mount has the id of its file system */
	int err;           /* error of the last answer, or 0 */
};

struct rti_mounts {
	struct rti_fs_mount *mount;
	size_t count, room;
	bool are_ids_compared; /* written by fs_probe.c, and false for a new list */
};

/* Returns a probe of the file system at a mount point, or NULL if memory is short. */
struct rti_fs_probe *rti_fs_probe_new(const struct rti_procfs *procfs, const char *mount_point);

/* Probe all mounts, and write what they answer to their rows. Returns 0, or -errno if the mounts
 * that may block could not be probed. */
int rti_fs_probe_all(struct rti_mounts *mounts, struct rti_worker *worker);

#endif
