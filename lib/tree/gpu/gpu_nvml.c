/* SPDX-License-Identifier: MIT */
/* What members use of the GPUs of NVIDIA, by the library of their driver. */
#include "tree/gpu/gpu_rows.h"

#include <errno.h>

#include "tree/state/state.h"

/* A member that works on a GPU, as the library lists it. Returns NULL for any other process. */
static const struct rti_member *member_of(const struct rti_member_table *table,
                                          const struct rti_supervised_state *supervised,
                                          const struct rti_gpu_use *use)
{
	const struct rti_member *m = rti_member_find(table, use->pid);

	return m && !m->end.has_exited && m->pid != supervised->pid ? m : NULL;
}

/* Whether members work on a device, or on a partition of it, which come right after it. */
static bool is_used(const struct rti_member_table *table,
                    const struct rti_supervised_state *supervised,
                    const struct rti_gpu_readings *nvml, size_t gpu)
{
	size_t last = gpu;

	while (!nvml->gpu[gpu].is_partition && last + 1 < nvml->gpu_count &&
	       nvml->gpu[last + 1].is_partition)
		last++;
	for (size_t i = 0; i < nvml->use_count; i++)
		if (nvml->use[i].gpu >= gpu && nvml->use[i].gpu <= last &&
		    member_of(table, supervised, &nvml->use[i]))
			return true;
	return false;
}

static int add_device(struct rti_tree *tree, const struct rti_gpu_readings *nvml, size_t gpu)
{
	int row = rti_gpu_rows_add_device(tree->gpu, &nvml->gpu[gpu]), err = 0;

	if (row < 0)
		return row;
	if (!nvml->gpu[gpu].is_partition)
		rti_gpu_note_unknown(tree->gpu, &tree->table, RTI_GPU_HELD,
		                     nvml->gpu[gpu].err[RTI_GPU_MEMORY], 0);
	for (size_t i = 0; i < nvml->use_count && err == 0; i++) {
		const struct rti_gpu_use *use = &nvml->use[i];
		const struct rti_member *m =
		    use->gpu == gpu ? member_of(&tree->table, &tree->supervised, use) : NULL;

		if (!m)
			continue;
		rti_gpu_note_unknown(tree->gpu, &tree->table, RTI_GPU_TIME,
		                     use->has_busy ? 0 : -EOPNOTSUPP, m->pid);
		rti_gpu_note_unknown(tree->gpu, &tree->table, RTI_GPU_HELD,
		                     use->has_memory ? 0 : -EOPNOTSUPP, m->pid);
		err = rti_gpu_rows_add_use(tree->gpu, (size_t)row, m->starttime, use, nvml->at_ns);
	}
	return err;
}

/* Returns the first -errno for which a device cannot be asked at all, or 0. Then its processes are
 * not known. All devices know how much memory there is. E.g.: -ENODEV, if it is lost. */
static int add_devices(struct rti_tree *tree, const struct rti_gpu_readings *nvml)
{
	int unknown = nvml->use_err, err = 0;

	for (size_t i = 0; i < nvml->gpu_count && err == 0; i++) {
		int device_err = nvml->gpu[i].err[RTI_GPU_MEMORY];

		if (unknown == 0 && !nvml->gpu[i].is_partition && device_err != -EOPNOTSUPP)
			unknown = device_err;
		if (is_used(&tree->table, &tree->supervised, nvml, i))
			err = add_device(tree, nvml, i);
	}
	return err < 0 ? err : unknown;
}

/* Below another root the library knows other processes. It has pids of the first pid namespace; in
 * another one, the same numbers are other processes, and NSpid in /proc only leads inwards. */
int rti_gpu_nvml_read(struct rti_tree *tree)
{
	static const struct rti_nvml_want want = { .energy = false, .processes = true };
	const struct rti_context *ctx = tree->ctx;
	const struct rti_gpu_files *files = &tree->gpu->files;
	const struct rti_gpu_readings *nvml;
	size_t users = 0;
	int err;

	for (size_t i = 0; i < files->member_count; i++)
		users += files->member[i].has_nvidia;
	if (users == 0)
		return 0;
	if (ctx->procfs->is_foreign)
		err = -ENOENT;
	else if (!rti_context_is_initial_pid_namespace(ctx->procfs))
		err = -EXDEV;
	else
		err = rti_nvml_thread_look(&tree->gpu->nvml, ctx, tree->gpu->setup, want, &nvml);
	if (err == 0)
		err = add_devices(tree, nvml);
	for (size_t i = 0; i < files->member_count; i++) {
		if (files->member[i].has_nvidia)
			rti_gpu_note_all_unknown(tree->gpu, &tree->table, err,
			                         files->member[i].pid);
	}
	return err;
}
