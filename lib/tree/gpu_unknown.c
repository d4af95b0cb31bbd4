/* SPDX-License-Identifier: MIT */
/* What is not known of the GPUs of a tree, and why. */
#include "tree/gpu_unknown.h"

/* Each member counts once, on however many devices its figure is missing. */
void rti_gpu_note_unknown(struct rti_tree *tree, enum rti_gpu_domain domain, int err, int32_t pid)
{
	struct rti_gpu_unknown *unknown = &tree->gpu->unknown[domain];
	struct rti_member *m = rti_member_find(&tree->table, pid);

	if (err == 0)
		return;
	if (unknown->err == 0) {
		unknown->err = err;
		unknown->pid = pid;
	}
	if (!m || m->gpu.unknown_at[domain] == tree->table.samples)
		return;
	m->gpu.unknown_at[domain] = tree->table.samples;
	unknown->members++;
}

void rti_gpu_note_all_unknown(struct rti_tree *tree, int err, int32_t pid)
{
	rti_gpu_note_unknown(tree, RTI_GPU_TIME, err, pid);
	rti_gpu_note_unknown(tree, RTI_GPU_HELD, err, pid);
}
