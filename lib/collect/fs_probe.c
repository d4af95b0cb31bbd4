/* SPDX-License-Identifier: MIT */
/* Asks the file systems of a list of mounts for their space. */
#include "collect/fs_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/arith.h"

#define PROBE_WAIT_NS 25000000u   /* then the next mount is probed on another thread */
#define SAMPLE_WAIT_NS 100000000u /* for all mounts of one sample */

static void run_probe(struct rti_job *job)
{
	struct rti_fs_probe *probe = (struct rti_fs_probe *)job;

	probe->err = probe->space(probe->root, probe->path, &probe->answer);
}

static void free_probe(struct rti_job *job)
{
	free(job);
}

struct rti_fs_probe *rti_fs_probe_new(const struct rti_procfs *procfs, const char *mount_point)
{
	size_t root_len = strlen(procfs->root), len = strlen(mount_point);
	struct rti_fs_probe *probe = calloc(1, sizeof(*probe) + root_len + len + 1 + root_len + 1);
	char *root;

	if (!probe)
		return NULL;
	probe->job.run = run_probe;
	probe->job.free = free_probe;
	probe->job.thing = probe->path;
	probe->space = procfs->ops->space;
	memcpy(probe->path, procfs->root, root_len);
	memcpy(probe->path + root_len, mount_point, len + 1);
	root = probe->path + root_len + len + 1;
	memcpy(root, procfs->root, root_len);
	probe->root = root;
	return probe;
}

static void use_answer(struct rti_fs_mount *mount, struct rti_worker *worker, bool has_run)
{
	struct rt_filesystem *row = &mount->row;
	const struct rti_space *answer = &mount->probe->answer;

	mount->is_submitted =
	    mount->is_submitted && !rti_worker_is_idle(worker, &mount->probe->job);
	mount->is_stalled = !has_run || mount->is_submitted;
	row->flags &= ~(RT_ITEM_STALLED | RT_ITEM_IN_TOTAL);
	row->flags |= mount->is_stalled ? RT_ITEM_STALLED : 0;
	if (mount->is_stalled)
		return;
	mount->err = mount->probe->err;
	/* A later mount on a parent directory, or another root, may lead the path to another file
	 * system. That is unknown of one with a device number for each subvolume. */
	if (mount->err == 0 && mount->kind != RTI_FS_SHARED && (answer->major || answer->minor) &&
	    (row->major != answer->major || row->minor != answer->minor))
		mount->err = -ENOENT;
	if (mount->err < 0)
		return;
	row->total_bytes = answer->total_bytes;
	row->free_bytes = answer->free_bytes;
	row->available_bytes = answer->available_bytes;
	row->used_bytes = rti_subtract_saturated(answer->total_bytes, answer->free_bytes);
}

static bool is_id_of_another(const struct rti_mounts *mounts, const struct rti_fs_mount *mount)
{
	for (size_t i = 0; i < mounts->count; i++) {
		if (&mounts->mount[i] != mount &&
		    mounts->mount[i].probe->answer.id == mount->probe->answer.id)
			return true;
	}
	return false;
}

/* A path leads to another file system than before if a directory above the mount is renamed, which
 * is no change of mounts. That other file system has another id, unless it is a copy. E.g.: ext4
 * on a snapshot of a disk. So a copy is asked for its device in each sample, which is half of the
 * cost. */
static void compare_ids(struct rti_mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		struct rti_fs_mount *mount = &mounts->mount[i];

		if (mount->is_stalled || mount->probe->err < 0)
			return;
	}
	for (size_t i = 0; i < mounts->count; i++) {
		struct rti_fs_mount *mount = &mounts->mount[i];

		mount->has_own_id = mount->probe->answer.id && !is_id_of_another(mounts, mount);
	}
	mounts->are_ids_compared = true;
}

/* Returns true if threads have something to run. */
static bool submit_probes(struct rti_mounts *mounts, struct rti_worker *worker)
{
	bool is_any_submitted = false;

	for (size_t i = 0; i < mounts->count; i++) {
		struct rti_fs_mount *mount = &mounts->mount[i];
		struct rti_job *job = &mount->probe->job;

		/* One that led through another mount before may still wait for it. */
		mount->is_submitted = mount->is_submitted && !rti_worker_is_idle(worker, job);
		if (!mount->is_submitted && !mount->has_own_id)
			mount->probe->answer.id = 0;
		mount->is_local = mount->is_local && !mount->is_submitted;
		mount->is_submitted = !mount->is_local;
		if (mount->is_local)
			job->run(job);
		else
			rti_worker_submit(worker, job);
		is_any_submitted |= mount->is_submitted;
	}
	return is_any_submitted;
}

int rti_fs_probe_all(struct rti_mounts *mounts, struct rti_worker *worker)
{
	int err = submit_probes(mounts, worker)
	              ? rti_worker_run(worker, PROBE_WAIT_NS, SAMPLE_WAIT_NS)
	              : 0;

	for (size_t i = 0; i < mounts->count; i++)
		use_answer(&mounts->mount[i], worker, err == 0 || mounts->mount[i].is_local);
	if (err == 0 && !mounts->are_ids_compared)
		compare_ids(mounts);
	return err;
}
