/* SPDX-License-Identifier: MIT */
/* GPUs of a tree: the time of their engines that members used, and the memory that members hold. */
#include "tree/gpu/gpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree/gpu/gpu_files.h"
#include "tree/gpu/gpu_rows.h"
#include "tree/state/obstacles.h"

static const struct rti_nvml_setup default_setup = { RTI_NVML_NAME, UINT64_C(1000000000),
	                                             UINT64_C(100000000) };
static const uint64_t bit_of[RTI_GPU_DOMAINS] = { RT_HAS_GPU, RT_HAS_GPU_MEMORY };

int rti_tree_gpu_init(struct rti_tree *tree)
{
	if (!(tree->want & (RT_HAS_GPU | RT_HAS_GPU_MEMORY)))
		return 0;
	tree->gpu = calloc(1, sizeof(*tree->gpu));
	if (!tree->gpu)
		return -ENOMEM;
	tree->gpu->setup = &default_setup;
	return 0;
}

void rti_tree_gpu_set_up(struct rti_tree *tree, const struct rti_nvml_setup *setup)
{
	tree->gpu->setup = setup;
}

void rti_tree_gpu_free(struct rti_tree *tree)
{
	struct rti_tree_gpu *gpu = tree->gpu;

	if (!gpu)
		return;
	rti_nvml_thread_stop(&gpu->nvml);
	rti_gpu_files_free(&gpu->files);
	rti_drm_clients_free(&gpu->clients);
	rti_drm_cards_free(&gpu->cards, tree->ctx);
	rti_gpu_readings_free(&gpu->drm);
	rti_gpu_table_free(&gpu->table);
	rti_rows_free(&gpu->gpus);
	rti_rows_free(&gpu->processes);
	free(gpu->info);
	free(gpu->device);
	free(gpu);
	tree->gpu = NULL;
}

/* --- Sample --- */

void rti_tree_gpu_sample(struct rti_tree *tree)
{
	struct rti_tree_gpu *gpu = tree->gpu;

	if (!gpu)
		return;
	memset(gpu->unknown, 0, sizeof(gpu->unknown));
	gpu->elapsed_ns = gpu->sampled_at_ns ? tree->now_ns - gpu->sampled_at_ns : 0;
	gpu->sampled_at_ns = tree->now_ns;
	rti_gpu_rows_begin(gpu);
	rti_gpu_files_update(tree);
	if (!gpu->files.was_present)
		return;
	rti_gpu_table_begin(&gpu->table);
	rti_drm_clients_begin(&gpu->clients);
	for (size_t i = 0; i < gpu->files.member_count; i++) {
		const struct rti_gpu_member *known = &gpu->files.member[i];
		int err = known->has_unreported ? -EOPNOTSUPP : known->err;

		rti_gpu_note_all_unknown(tree->gpu, &tree->table, err, known->pid);
	}
	rti_gpu_drm_read(tree);
	gpu->has_lost |= rti_drm_clients_end(&gpu->clients);
	rti_gpu_table_end(&gpu->table, rti_gpu_nvml_read(tree) == -ETIMEDOUT);
}

/* --- Figures --- */

static void make_partial(struct rt_metrics *out, uint64_t has)
{
	out->partial |= out->valid & has;
	out->valid &= ~has;
}

static void make_estimated(struct rt_metrics *out, uint64_t has)
{
	out->estimated |= (out->valid | out->partial) & has;
	out->valid &= ~has;
}

/* What is known of no member at all is in no mask. */
static void set_bit(struct rti_tree_gpu *gpu, uint64_t want, enum rti_gpu_domain domain,
                    struct rt_metrics *out)
{
	const struct rti_gpu_unknown *unknown = &gpu->unknown[domain];
	uint64_t has = bit_of[domain] & want;

	if (out->processes > unknown->members)
		gpu->was_known[domain] = true;
	if (!gpu->was_known[domain])
		return;
	out->valid |= has;
	if (unknown->err)
		make_partial(out, has);
}

static void set_bits(struct rti_tree *tree, struct rt_metrics *out)
{
	struct rti_tree_gpu *gpu = tree->gpu;
	uint64_t found = tree->table.added - (tree->supervised.pid != 0);
	/* A process that has gone may have used a GPU after it was looked at, or before it was
	 * found. */
	bool has_departed =
	    !tree->ledger.self_only &&
	    (tree->ledger.has_exits || tree->sums.has_reaped || out->processes_seen > found);

	set_bit(tree->gpu, tree->want, RTI_GPU_TIME, out);
	set_bit(tree->gpu, tree->want, RTI_GPU_HELD, out);
	if (gpu->has_lost || (gpu->files.was_present && has_departed))
		make_partial(out, RT_HAS_GPU);
	if (gpu->is_estimated)
		make_estimated(out, RT_HAS_GPU);
	if (gpu->is_held_estimated && !gpu->unknown[RTI_GPU_HELD].err)
		make_estimated(out, RT_HAS_GPU_MEMORY);
}

void rti_tree_gpu_set_figures(struct rti_tree *tree, struct rt_metrics *out)
{
	struct rti_tree_gpu *gpu = tree->gpu;

	if (!gpu)
		return;
	set_bits(tree, out);
	rti_gpu_rows_end(gpu, (out->valid & RT_HAS_GPU) != 0);
	rti_gpu_rows_sum(gpu, out);
	if (gpu->memory_peak_bytes < out->gpu_memory_bytes)
		gpu->memory_peak_bytes = out->gpu_memory_bytes;
	gpu->was_held_estimated |= (out->estimated & RT_HAS_GPU_MEMORY) != 0;
	for (int domain = 0; domain < RTI_GPU_DOMAINS; domain++) {
		const struct rti_gpu_unknown *unknown = &gpu->unknown[domain];
		uint64_t has = bit_of[domain] & tree->want;

		if (has && unknown->err)
			rti_obstacles_note_gpu(tree, has, unknown->err, unknown->pid,
			                       unknown->members);
	}
}

struct rti_gpu_peak rti_tree_gpu_peak(const struct rti_tree *tree)
{
	const struct rti_tree_gpu *gpu = tree->gpu;
	struct rti_gpu_peak peak = { 0 };
	uint64_t has = tree->want & RT_HAS_GPU_MEMORY;

	if (!gpu || !gpu->was_known[RTI_GPU_HELD])
		return peak;
	peak.bytes = gpu->memory_peak_bytes;
	if (gpu->was_held_estimated)
		peak.estimated = has;
	else if (gpu->files.was_present)
		peak.partial = has;
	else
		peak.valid = has;
	return peak;
}
