/* SPDX-License-Identifier: MIT */
/* GPUs of the machine: by the library of NVIDIA's driver, and by the files of the others.
 *
 * Below another root, the library is not asked: it knows the GPUs of this system alone. If both
 * know a card, the library's reading counts, which says more. */
#include "collect/sys_gpu.h"

#include <errno.h>

#include "collect/collector.h"
#include "collect/gpu_table.h"
#include "collect/nvml_thread.h"
#include "collect/pid_stat.h"
#include "collect/rows.h"
#include "gpu/drm_card.h"

#define ALL (RT_HAS_GPU | RT_HAS_GPU_MEMORY | RT_HAS_GPU_ENERGY)

static const struct rti_nvml_setup default_setup = { RTI_NVML_NAME, UINT64_C(1000000000),
	                                             UINT64_C(100000000) };

struct state {
	const struct rti_nvml_setup *setup;
	struct rti_nvml_thread nvml;
	struct rti_drm_cards cards;
	struct rti_gpu_readings drm;
	struct rti_gpu_table table;
	struct rti_rows gpus, processes;
	bool had_nvml;            /* there have been devices */
	int err[RTI_GPU_FIGURES]; /* why figures are missing in the last sample; 0 or -errno */
	int process_err;
};

/* The sums of one figure over the devices. */
struct sums {
	unsigned known, missing;
	int err; /* the first; of a whole source before one of a device */
};

void rti_sys_gpu_set_up(void *state, const struct rti_nvml_setup *setup)
{
	struct state *st = state;

	st->setup = setup;
}

/* Opens nothing: a GPU is not woken before the first sample. */
static int gpu_open(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	(void)ctx;
	st->setup = &default_setup;
	return 0;
}

static bool is_in(const struct rti_gpu_readings *readings, const struct rti_pci_address *pci)
{
	for (size_t i = 0; i < readings->gpu_count; i++) {
		const struct rti_pci_address *other = &readings->gpu[i].pci;

		if (pci->domain != UINT32_MAX && pci->domain == other->domain &&
		    pci->bus == other->bus && pci->device == other->device)
			return true;
	}
	return false;
}

static int add_row(struct state *st, const struct rti_gpu_reading *reading)
{
	struct rt_gpu *row;

	if (rti_rows_reserve(&st->gpus, st->gpus.count + 1, sizeof(*row)) < 0)
		return -ENOMEM;
	row = (struct rt_gpu *)st->gpus.data + st->gpus.count;
	if (rti_gpu_table_add(&st->table, reading, row) < 0)
		return -ENOMEM;
	st->gpus.count++;
	return 0;
}

/* NVML's come first, so that the row of a process has the index of its reading. */
static int add_rows(struct state *st, const struct rti_gpu_readings *nvml)
{
	int err = 0;

	st->gpus.count = 0;
	rti_gpu_table_begin(&st->table);
	for (size_t i = 0; i < nvml->gpu_count && err == 0; i++)
		err = add_row(st, &nvml->gpu[i]);
	for (size_t i = 0; i < st->drm.gpu_count && err == 0; i++)
		if (!is_in(nvml, &st->drm.gpu[i].pci))
			err = add_row(st, &st->drm.gpu[i]);
	return err;
}

/* NVML has pids of the initial namespace. In another one the same numbers are other processes, and
 * NSpid in /proc only leads inwards. An empty list proves nothing there: some drivers hide what is
 * outside of a container. */
static int add_processes(struct state *st, const struct rti_context *ctx,
                         const struct rti_gpu_readings *nvml)
{
	if (!rti_context_is_initial_pid_namespace(ctx->procfs))
		return -EXDEV;
	if (nvml->use_err < 0)
		return nvml->use_err;
	for (size_t i = 0; i < nvml->use_count; i++) {
		const struct rti_gpu_use *use = &nvml->use[i];
		const struct rt_gpu *gpu = (const struct rt_gpu *)st->gpus.data + use->gpu;
		struct rt_gpu_process *row;
		struct rti_pid_stat stat;
		int err = rti_pid_stat_read(ctx, use->pid, NULL, &stat);
		uint64_t start_ticks = err == 0 ? stat.starttime : 0; /* 0: it is hidden */

		/* Leave out a process that has ended meanwhile. */
		if (err == -ESRCH)
			continue;
		if (rti_rows_reserve(&st->processes, st->processes.count + 1, sizeof(*row)) < 0)
			return -ENOMEM;
		row = (struct rt_gpu_process *)st->processes.data + st->processes.count;
		if (rti_gpu_table_add_use(&st->table, use, gpu, start_ticks, nvml->at_ns, row) < 0)
			return -ENOMEM;
		st->processes.count++;
	}
	return 0;
}

static void miss(struct sums *sums, int err)
{
	sums->missing++;
	if (sums->err == 0)
		sums->err = err;
}

/* A library or a directory that is not there is no loss, unless it was there before. */
static struct sums sum_figure(const struct state *st, const struct rti_gpu_readings *nvml,
                              enum rti_gpu_figure figure, int nvml_err, int drm_err)
{
	struct sums sums = { 0 };

	if (nvml_err < 0 && (nvml_err != -ENOENT || st->had_nvml))
		miss(&sums, nvml_err);
	if (drm_err < 0 && drm_err != -ENOENT)
		miss(&sums, drm_err);
	for (size_t i = 0; i < nvml->gpu_count + st->drm.gpu_count; i++) {
		const struct rti_gpu_reading *gpu =
		    i < nvml->gpu_count ? &nvml->gpu[i] : &st->drm.gpu[i - nvml->gpu_count];

		if (gpu->is_partition || (i >= nvml->gpu_count && is_in(nvml, &gpu->pci)))
			continue;
		if (gpu->err[figure] == 0)
			sums.known++;
		else
			miss(&sums, gpu->err[figure]);
	}
	if (sums.known == 0 && sums.missing == 0)
		sums.err = -ENOENT;
	return sums;
}

static void set_gauges(const struct state *st, struct rt_metrics *out)
{
	const struct rt_gpu *row = st->gpus.data;

	out->gpu_memory_bytes = out->gpu_memory_total_bytes = out->gpus = out->gpus_used = 0;
	for (size_t i = 0; i < st->gpus.count; i++) {
		if (!(row[i].flags & RT_ITEM_IN_TOTAL))
			continue;
		out->gpu_memory_bytes += row[i].memory_used_bytes;
		out->gpu_memory_total_bytes += row[i].memory_total_bytes;
		out->gpus++;
		out->gpus_used += row[i].busy_share > 0;
	}
	out->gpu_busy_ns = st->table.busy_total_ns;
	out->gpu_energy_uj = st->table.energy_total_uj;
}

static void set_bit(const struct state *st, const struct sums *sums, uint64_t has,
                    struct rt_metrics *out)
{
	bool is_low = has == RT_HAS_GPU_ENERGY && st->table.is_energy_low;

	if (sums->known == 0)
		return;
	if (has == RT_HAS_GPU)
		out->estimated |= has;
	else if (sums->missing == 0 && !is_low)
		out->valid |= has;
	else
		out->partial |= has;
}

/* Returns 0, or the first reason for which something is missing. */
static int set_figures(struct state *st, const struct rti_gpu_readings *nvml, int nvml_err,
                       int drm_err, struct rt_metrics *out)
{
	static const uint64_t bits[RTI_GPU_FIGURES] = { RT_HAS_GPU, RT_HAS_GPU_MEMORY,
		                                        RT_HAS_GPU_ENERGY };
	int err = 0;

	set_gauges(st, out);
	for (int figure = 0; figure < RTI_GPU_FIGURES; figure++) {
		struct sums sums =
		    sum_figure(st, nvml, (enum rti_gpu_figure)figure, nvml_err, drm_err);

		set_bit(st, &sums, bits[figure], out);
		st->err[figure] = sums.err;
		if (err == 0)
			err = sums.err;
	}
	return err;
}

static int gpu_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	const struct rti_nvml_want want = {
		.energy = !ctx->want || ctx->want & RT_HAS_GPU_ENERGY,
		.processes = !ctx->want || ctx->want & (RT_HAS_GPU | RT_HAS_GPU_MEMORY),
	};
	static const struct rti_gpu_readings nothing;
	const struct rti_gpu_readings *nvml = &nothing;
	int nvml_err = -ENOENT, drm_err, err;

	if (!ctx->procfs->is_foreign)
		nvml_err = rti_nvml_thread_look(&st->nvml, ctx, st->setup, want, &nvml);
	st->had_nvml |= nvml_err == 0;
	rti_gpu_readings_clear(&st->drm);
	drm_err = rti_drm_cards_read(&st->cards, ctx, ctx->platform->monotonic_ns(), &st->drm);
	st->processes.count = 0;
	st->process_err = nvml_err;
	err = add_rows(st, nvml);
	if (err < 0)
		drm_err = err;
	if (nvml_err == 0)
		st->process_err = err < 0 ? err : add_processes(st, ctx, nvml);
	rti_gpu_table_end(&st->table, nvml_err == -ETIMEDOUT);
	return set_figures(st, nvml, nvml_err, drm_err, out);
}

static int gpu_error_of(const void *state, uint64_t has)
{
	const struct state *st = state;

	return st->err[has == RT_HAS_GPU          ? RTI_GPU_BUSY
	               : has == RT_HAS_GPU_MEMORY ? RTI_GPU_MEMORY
	                                          : RTI_GPU_ENERGY];
}

static void gpu_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_nvml_thread_stop(&st->nvml);
	rti_drm_cards_free(&st->cards, ctx);
	rti_gpu_readings_free(&st->drm);
	rti_gpu_table_free(&st->table);
	rti_rows_free(&st->gpus);
	rti_rows_free(&st->processes);
}

static const void *gpu_rows(void *state, size_t *count)
{
	const struct state *st = state;

	return rti_rows_get(&st->gpus, count);
}

static int gpu_processes(const void *state, const void **rows, size_t *count)
{
	const struct state *st = state;

	*rows = rti_rows_get(&st->processes, count);
	return st->process_err;
}

const struct rti_sys_collector rti_sys_gpu = {
	.provides = ALL,
	.state_size = sizeof(struct state),
	.open = gpu_open,
	.collect = gpu_collect,
	.close = gpu_close,
	.rows = gpu_rows,
	.processes = gpu_processes,
	.error_of = gpu_error_of,
};
