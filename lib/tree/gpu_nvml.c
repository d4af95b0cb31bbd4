/* SPDX-License-Identifier: MIT */
/* What members use of the GPUs of NVIDIA, by the library of their driver. */
#include "tree/gpu_nvml.h"

#include <errno.h>

#include "tree/gpu_rows.h"
#include "tree/gpu_unknown.h"

/* A member that works on a GPU, as the library lists it. Returns NULL for any other process. */
static const struct rti_member *member_of(const struct rti_tree *tree,
                                          const struct rti_gpu_use *use)
{
	const struct rti_member *m = rti_member_find(&tree->table, use->pid);

	return m && !m->end.has_exited && !rti_is_supervisor(tree, m) ? m : NULL;
}

/* Whether members work on a device, or on a partition of it, which come right after it. */
static bool is_used(const struct rti_tree *tree, const struct rti_gpu_readings *nvml, size_t gpu)
{
	size_t last = gpu;

	while (!nvml->gpu[gpu].is_partition && last + 1 < nvml->gpu_count &&
	       nvml->gpu[last + 1].is_partition)
		last++;
	for (size_t i = 0; i < nvml->use_count; i++)
		if (nvml->use[i].gpu >= gpu && nvml->use[i].gpu <= last &&
		    member_of(tree, &nvml->use[i]))
			return true;
	return false;
}

static int add_use(struct rti_tree *tree, const struct rti_gpu_readings *nvml, size_t row,
                   const struct rti_gpu_use *use)
{
	const struct rti_member *m = member_of(tree, use);

	if (!m)
		return 0;
	rti_gpu_note_unknown(tree, RTI_GPU_TIME, use->has_busy ? 0 : -EOPNOTSUPP, m->pid);
	rti_gpu_note_unknown(tree, RTI_GPU_HELD, use->has_memory ? 0 : -EOPNOTSUPP, m->pid);
	return rti_gpu_rows_add_use(tree->gpu, row, m->starttime, use, nvml->at_ns);
}

static int add_device(struct rti_tree *tree, const struct rti_gpu_readings *nvml, size_t gpu)
{
	int row = rti_gpu_rows_add_device(tree->gpu, &nvml->gpu[gpu]), err = 0;

	if (row < 0)
		return row;
	if (!nvml->gpu[gpu].is_partition)
		rti_gpu_note_unknown(tree, RTI_GPU_HELD, nvml->gpu[gpu].err[RTI_GPU_MEMORY], 0);
	for (size_t i = 0; i < nvml->use_count && err == 0; i++)
		if (nvml->use[i].gpu == gpu)
			err = add_use(tree, nvml, (size_t)row, &nvml->use[i]);
	return err;
}

/* Returns the -errno for which a device cannot be asked at all, or 0. Then its processes are not
 * known. All devices know how much memory there is. E.g.: -ENODEV, if it is lost. */
static int error_of_device(const struct rti_gpu_reading *device)
{
	int err = device->err[RTI_GPU_MEMORY];

	return device->is_partition || err == -EOPNOTSUPP ? 0 : err;
}

static int add_devices(struct rti_tree *tree, const struct rti_gpu_readings *nvml)
{
	int unknown = nvml->use_err, err = 0;

	for (size_t i = 0; i < nvml->gpu_count && err == 0; i++) {
		if (unknown == 0)
			unknown = error_of_device(&nvml->gpu[i]);
		if (is_used(tree, nvml, i))
			err = add_device(tree, nvml, i);
	}
	return err < 0 ? err : unknown;
}

static bool has_users(const struct rti_gpu_files *files)
{
	for (size_t i = 0; i < files->member_count; i++)
		if (files->member[i].has_nvidia)
			return true;
	return false;
}

static void note_users(struct rti_tree *tree, int err)
{
	const struct rti_tree_gpu *gpu = tree->gpu;

	for (size_t i = 0; i < gpu->files.member_count; i++) {
		if (!gpu->files.member[i].has_nvidia)
			continue;
		rti_gpu_note_all_unknown(tree, err, gpu->files.member[i].pid);
	}
}

/* Below another root the library knows other processes. It has pids of the first pid namespace; in
 * another one, the same numbers are other processes, and NSpid in /proc only leads inwards. */
static int look(struct rti_tree *tree, const struct rti_gpu_readings **nvml)
{
	static const struct rti_nvml_want want = { .energy = false, .processes = true };
	const struct rti_context *ctx = tree->ctx;

	if (ctx->procfs->is_foreign)
		return -ENOENT;
	if (!rti_context_is_initial_pid_namespace(ctx->procfs))
		return -EXDEV;
	return rti_nvml_thread_look(&tree->gpu->nvml, ctx, tree->gpu->setup, want, nvml);
}

int rti_gpu_nvml_read(struct rti_tree *tree)
{
	const struct rti_gpu_readings *nvml;
	int err;

	if (!has_users(&tree->gpu->files))
		return 0;
	err = look(tree, &nvml);
	if (err == 0)
		err = add_devices(tree, nvml);
	note_users(tree, err);
	return err;
}
