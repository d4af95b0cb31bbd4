/* SPDX-License-Identifier: MIT */
/* The GPUs that a tracker has seen, and the processes on them, with their counters. */
#include "collect/gpu_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/arith.h"
#include "util/array.h"

#define PERCENT 100u
#define SAMPLED_EVERY_MAX_NS 1000000000u /* NVML: each 1/6 s to 1 s, depending on the product */

void rti_gpu_table_begin(struct rti_gpu_table *table)
{
	table->round++;
}

/* The files of DRM have no UUID, and no address tells partitions apart. So a device is its address,
 * unless it has another UUID; a device without an address is its name. */
static bool is_same_gpu(const struct rti_gpu_reading *a, const struct rti_gpu_reading *b)
{
	if (a->is_partition != b->is_partition || a->pci.domain != b->pci.domain ||
	    a->pci.bus != b->pci.bus || a->pci.device != b->pci.device ||
	    a->pci.function != b->pci.function)
		return false;
	if (a->is_partition || (a->uuid[0] && b->uuid[0]))
		return strcmp(a->uuid, b->uuid) == 0;
	return a->pci.domain != UINT32_MAX || strcmp(a->name, b->name) == 0;
}

static struct rti_known_gpu *find_gpu(const struct rti_gpu_table *table,
                                      const struct rti_gpu_reading *reading)
{
	/* Only its place in the list tells the device from others. A DRM card has a name of its
	 * own. */
	bool is_nameless =
	    reading->is_nvml && reading->pci.domain == UINT32_MAX && !reading->uuid[0];

	for (size_t i = 0; i < table->gpu_count; i++) {
		struct rti_known_gpu *gpu = &table->gpu[i];

		if (is_same_gpu(&gpu->last, reading) &&
		    !(is_nameless && gpu->round == table->round))
			return gpu;
	}
	return NULL;
}

/* Returns an entry for a new device, or NULL if memory is short. A full table replaces the device
 * that has been unlisted longest. */
static struct rti_known_gpu *new_gpu(struct rti_gpu_table *table)
{
	struct rti_known_gpu *gpu = table->gpu;

	for (size_t i = 1; i < table->gpu_count; i++)
		if (table->gpu[i].round < gpu->round)
			gpu = &table->gpu[i];
	if (table->gpu_count < RTI_GPUS_MAX || gpu->round == table->round) {
		gpu = rti_array_grow(table->gpu, &table->gpu_room, table->gpu_count + 1,
		                     sizeof(*gpu));
		if (!gpu)
			return NULL;
		table->gpu = gpu;
		gpu = &table->gpu[table->gpu_count++];
	}
	*gpu = (struct rti_known_gpu){ .id = table->next_id++ };
	return gpu;
}

/* Returns the time since the look before, and moves on. Returns 0 if the share was unknown then. */
static uint64_t advance_time(uint64_t *last_ns, uint64_t at_ns, bool is_known)
{
	uint64_t elapsed_ns = is_known && *last_ns && at_ns > *last_ns ? at_ns - *last_ns : 0;

	*last_ns = is_known ? at_ns : 0;
	return elapsed_ns;
}

static uint64_t share_of(uint64_t elapsed_ns, uint32_t percent)
{
	return elapsed_ns / PERCENT * percent + elapsed_ns % PERCENT * percent / PERCENT;
}

/* A partition is part of its device, so the totals leave it out. */
static void advance_gpu(struct rti_gpu_table *table, struct rti_known_gpu *gpu,
                        const struct rti_gpu_reading *reading)
{
	uint64_t elapsed_ns =
	    advance_time(&gpu->busy_at_ns, reading->at_ns, reading->err[RTI_GPU_BUSY] == 0);
	uint64_t busy_ns = share_of(elapsed_ns, reading->busy_percent), energy_uj = 0;

	if (reading->err[RTI_GPU_ENERGY] == 0) {
		/* A counter of 64 bits never wraps around. One that falls has begun anew, and what
		 * it counted before the last look is lost. */
		bool has_restarted = reading->energy_uj < gpu->energy_last_uj;

		energy_uj = reading->energy_uj - (has_restarted ? 0 : gpu->energy_last_uj);
		gpu->is_energy_low |= has_restarted;
		gpu->energy_last_uj = reading->energy_uj;
		gpu->energy_uj += energy_uj;
	}
	gpu->busy_ns += busy_ns;
	if (!reading->is_partition) {
		table->busy_total_ns += busy_ns;
		table->energy_total_uj += energy_uj;
		table->is_energy_low |= gpu->is_energy_low;
	}
}

static void fill_gpu(const struct rti_known_gpu *gpu, struct rt_gpu *row)
{
	const struct rti_gpu_reading *last = &gpu->last;

	*row = (struct rt_gpu){
		.size = sizeof(*row),
		.flags = last->is_partition ? RT_ITEM_PARTITION : RT_ITEM_IN_TOTAL,
		.id = gpu->id,
		.source = last->is_nvml ? RT_GPU_NVML : RT_GPU_DRM,
		.pci_domain = last->pci.domain,
		.pci_bus = last->pci.bus,
		.pci_device = last->pci.device,
		.pci_function = last->pci.function,
		.busy_ns = gpu->busy_ns,
		.energy_uj = gpu->energy_uj,
	};
	memcpy(row->name, last->name, sizeof(row->name));
	memcpy(row->uuid, last->uuid, sizeof(row->uuid));
	memcpy(row->driver, last->driver, sizeof(row->driver));
	if (last->err[RTI_GPU_BUSY] == 0) {
		row->estimated |= RT_HAS_GPU;
		row->busy_share = last->busy_percent / (double)PERCENT;
	}
	if (last->err[RTI_GPU_MEMORY] == 0) {
		row->valid |= RT_HAS_GPU_MEMORY;
		row->memory_used_bytes = last->memory_used_bytes;
		row->memory_total_bytes = last->memory_total_bytes;
	}
	if (last->err[RTI_GPU_ENERGY] == 0 && gpu->is_energy_low)
		row->estimated |= RT_HAS_GPU_ENERGY;
	else if (last->err[RTI_GPU_ENERGY] == 0)
		row->valid |= RT_HAS_GPU_ENERGY;
}

int rti_gpu_table_add(struct rti_gpu_table *table, const struct rti_gpu_reading *reading,
                      struct rt_gpu *row)
{
	struct rti_known_gpu *gpu = find_gpu(table, reading);

	if (!gpu)
		gpu = new_gpu(table);
	if (!gpu)
		return -ENOMEM;
	advance_gpu(table, gpu, reading);
	gpu->last = *reading;
	gpu->round = table->round;
	fill_gpu(gpu, row);
	return 0;
}

static struct rti_known_use *find_use(const struct rti_gpu_table *table, uint32_t gpu_id,
                                      int32_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < table->use_count; i++) {
		struct rti_known_use *use = &table->use[i];

		if (use->gpu_id == gpu_id && use->last.pid == pid &&
		    use->start_ticks == start_ticks)
			return use;
	}
	return NULL;
}

static struct rti_known_use *new_use(struct rti_gpu_table *table)
{
	struct rti_known_use *use = table->use;

	for (size_t i = 1; i < table->use_count; i++)
		if (table->use[i].round < use->round)
			use = &table->use[i];
	if (table->use_count < RTI_GPU_PROCESSES_MAX || use->round == table->round) {
		use = rti_array_grow(table->use, &table->use_room, table->use_count + 1,
		                     sizeof(*use));
		if (!use)
			return NULL;
		table->use = use;
		use = &table->use[table->use_count++];
	}
	*use = (struct rti_known_use){ 0 };
	return use;
}

static void fill_use(const struct rti_known_use *use, struct rt_gpu_process *row)
{
	*row = (struct rt_gpu_process){
		.size = sizeof(*row),
		.gpu_id = use->gpu_id,
		.pid = use->last.pid,
		.start_ticks = use->start_ticks,
		.valid = use->last.has_memory ? RT_HAS_GPU_MEMORY : 0,
		.estimated = use->last.has_busy ? RT_HAS_GPU : 0,
		.decode_ns = use->decode_ns,
		.encode_ns = use->encode_ns,
		.memory_bytes = use->last.has_memory ? use->last.memory_bytes : 0,
	};
	if (use->last.is_compute)
		row->compute_ns = use->busy_ns;
	else
		row->render_ns = use->busy_ns;
}

/* The driver samples a process less often than looks may come. E.g.: an H100, five times a second.
 * A look that finds no new sample, while the next one is not overdue yet, goes by the last. */
static void hold_sample(struct rti_known_use *use, struct rti_gpu_use *now, uint64_t at_ns)
{
	uint64_t hold_ns = SAMPLED_EVERY_MAX_NS;
	uint64_t gap_ns = (now->sampled_at_us - use->sampled_at_us) * 1000;

	if (now->sampled_at_us) {
		if (use->sampled_at_us && now->sampled_at_us > use->sampled_at_us &&
		    (!use->sampled_every_ns || gap_ns < use->sampled_every_ns))
			use->sampled_every_ns = gap_ns;
		use->sampled_at_us = now->sampled_at_us;
		use->sampled_at_ns = at_ns;
		return;
	}
	if (use->sampled_every_ns)
		hold_ns = rti_min(hold_ns, use->sampled_every_ns / 2 * 3);
	if (!now->has_busy || !use->sampled_at_ns || at_ns - use->sampled_at_ns >= hold_ns)
		return;
	now->busy_percent = use->last.busy_percent;
	now->encode_percent = use->last.encode_percent;
	now->decode_percent = use->last.decode_percent;
}

int rti_gpu_table_add_use(struct rti_gpu_table *table, const struct rti_gpu_use *reading,
                          const struct rt_gpu *gpu, uint64_t start_ticks, uint64_t at_ns,
                          struct rt_gpu_process *row)
{
	struct rti_known_use *use = find_use(table, gpu->id, reading->pid, start_ticks);
	bool was_compute = use && use->last.is_compute;
	struct rti_gpu_use now = *reading;
	uint64_t elapsed_ns, busy_ns, encode_ns, decode_ns;

	if (!use)
		use = new_use(table);
	if (!use)
		return -ENOMEM;
	hold_sample(use, &now, at_ns);
	elapsed_ns = advance_time(&use->busy_at_ns, at_ns, now.has_busy);
	busy_ns = share_of(elapsed_ns, now.busy_percent);
	encode_ns = share_of(elapsed_ns, now.encode_percent);
	decode_ns = share_of(elapsed_ns, now.decode_percent);
	use->busy_ns += busy_ns;
	use->encode_ns += encode_ns;
	use->decode_ns += decode_ns;
	table->use_total_ns += busy_ns + encode_ns + decode_ns;
	use->last = now;
	/* A process that has computed stays one: its time would move to another field, and fall. */
	use->last.is_compute |= was_compute;
	use->gpu_id = gpu->id;
	use->start_ticks = start_ticks;
	use->round = table->round;
	fill_use(use, row);
	return 0;
}

void rti_gpu_table_end(struct rti_gpu_table *table, bool is_nvml_late)
{
	for (size_t i = 0; i < table->gpu_count; i++) {
		struct rti_known_gpu *gpu = &table->gpu[i];

		if (gpu->round != table->round && !(gpu->last.is_nvml && is_nvml_late))
			gpu->busy_at_ns = 0;
	}
	for (size_t i = 0; i < table->use_count && !is_nvml_late; i++)
		if (table->use[i].round != table->round)
			table->use[i].busy_at_ns = 0;
}

void rti_gpu_table_free(struct rti_gpu_table *table)
{
	free(table->gpu);
	free(table->use);
	*table = (struct rti_gpu_table){ 0 };
}
