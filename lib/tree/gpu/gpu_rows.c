/* SPDX-License-Identifier: MIT */
/* The rows of GPUs, and of the members that use them: what one sample adds up, and what it does not
 * know. */
#include "tree/gpu/gpu_rows.h"

#include <errno.h>
#include <string.h>

#include "tree/state/state.h"
#include "util/arith.h"
#include "util/array.h"

static void add_to(uint64_t *sum, uint64_t value)
{
	*sum = rti_add_saturated(*sum, value);
}

static struct rt_gpu *row_at(const struct rti_tree_gpu *gpu, size_t row)
{
	return (struct rt_gpu *)gpu->gpus.data + row;
}

void rti_gpu_rows_begin(struct rti_tree_gpu *gpu)
{
	gpu->gpus.count = gpu->processes.count = 0;
	gpu->is_held_estimated = false;
	for (size_t i = 0; i < gpu->device_count; i++) {
		gpu->device[i].before_ns = gpu->device[i].busy_ns;
		gpu->device[i].sharers = 0;
	}
}

/* --- Devices --- */

/* Each row has one: rti_gpu_rows_add_device() makes it first. Returns NULL before that. */
static struct rti_gpu_device *find_device(const struct rti_tree_gpu *gpu, uint32_t id)
{
	for (size_t i = 0; i < gpu->device_count; i++)
		if (gpu->device[i].id == id)
			return &gpu->device[i];
	return NULL;
}

static int make_device(struct rti_tree_gpu *gpu, uint32_t id)
{
	struct rti_gpu_device *device;

	if (find_device(gpu, id))
		return 0;
	device =
	    rti_array_grow(gpu->device, &gpu->device_room, gpu->device_count + 1, sizeof(*device));
	if (!device)
		return -ENOMEM;
	gpu->device = device;
	gpu->device[gpu->device_count++] = (struct rti_gpu_device){ .id = id };
	return 0;
}

int rti_gpu_rows_add_device(struct rti_tree_gpu *gpu, const struct rti_gpu_reading *reading)
{
	struct rt_gpu added;

	if (rti_rows_reserve(&gpu->gpus, gpu->gpus.count + 1, sizeof(added)) < 0 ||
	    rti_gpu_table_add(&gpu->table, reading, &added) < 0 || make_device(gpu, added.id) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < gpu->gpus.count; i++)
		if (row_at(gpu, i)->id == added.id)
			return (int)i;
	/* The figures of the row are the machine's: members fill them anew. */
	added.valid = added.estimated = 0;
	added.busy_ns = added.energy_uj = added.memory_used_bytes = 0;
	added.busy_share = 0;
	if (reading->err[RTI_GPU_MEMORY] == 0)
		added.valid = RT_HAS_GPU_MEMORY;
	*row_at(gpu, gpu->gpus.count) = added;
	return (int)gpu->gpus.count++;
}

/* --- Members --- */

static struct rt_gpu_process *find_process(const struct rti_tree_gpu *gpu, uint32_t id, int32_t pid)
{
	struct rt_gpu_process *rows = gpu->processes.data;

	for (size_t i = 0; i < gpu->processes.count; i++)
		if (rows[i].gpu_id == id && rows[i].pid == pid)
			return &rows[i];
	return NULL;
}

/* Returns NULL if memory is short. */
static struct rt_gpu_process *add_process(struct rti_tree_gpu *gpu)
{
	if (rti_rows_reserve(&gpu->processes, gpu->processes.count + 1,
	                     sizeof(struct rt_gpu_process)) < 0)
		return NULL;
	return (struct rt_gpu_process *)gpu->processes.data + gpu->processes.count++;
}

/* A figure of a process is known if it is of all of its clients. */
static void add_client(struct rt_gpu_process *row, const struct rti_drm_client *client)
{
	uint64_t lost = 0, estimated = 0;

	if (!client->has_time)
		lost |= RT_HAS_GPU;
	else if (client->is_converted)
		estimated |= RT_HAS_GPU;
	if (!client->has_memory)
		lost |= RT_HAS_GPU_MEMORY;
	else if (client->may_share && row->clients > 0)
		estimated |= RT_HAS_GPU_MEMORY;
	row->estimated = (row->estimated | (row->valid & estimated)) & ~lost;
	row->valid &= ~(lost | estimated);
	row->clients++;
	add_to(&row->render_ns, client->ns[RTI_DRM_RENDER]);
	add_to(&row->compute_ns, client->ns[RTI_DRM_COMPUTE]);
	add_to(&row->copy_ns, client->ns[RTI_DRM_COPY]);
	add_to(&row->decode_ns, client->ns[RTI_DRM_DECODE]);
	add_to(&row->encode_ns, client->ns[RTI_DRM_ENCODE]);
	add_to(&row->other_ns, client->ns[RTI_DRM_OTHER]);
	add_to(&row->memory_bytes, client->device_memory_bytes);
}

int rti_gpu_rows_add_client(struct rti_tree_gpu *gpu, size_t row, int32_t pid, uint64_t start_ticks,
                            const struct rti_drm_look *look)
{
	const struct rti_drm_client *client = look->client;
	struct rt_gpu *device_row = row_at(gpu, row);
	struct rti_gpu_device *device = find_device(gpu, device_row->id);
	struct rt_gpu_process *process = find_process(gpu, device_row->id, pid);

	add_to(&device->busy_ns, look->grown_ns);
	add_to(&gpu->total_ns, look->grown_ns);
	gpu->is_estimated |= client->is_converted;
	if (!look->is_first)
		return 0;
	if (!process) {
		process = add_process(gpu);
		if (!process)
			return -ENOMEM;
		*process = (struct rt_gpu_process){ .size = sizeof(*process),
			                            .gpu_id = device_row->id,
			                            .pid = pid,
			                            .start_ticks = start_ticks,
			                            .valid = RT_HAS_GPU | RT_HAS_GPU_MEMORY };
	}
	add_client(process, client);
	add_to(&device_row->memory_used_bytes, client->device_memory_bytes);
	device->is_estimated |= client->is_converted;
	/* What two clients of one device share is in the memory of both. */
	if (client->may_share && ++device->sharers >= 2) {
		gpu->is_held_estimated = true;
		device_row->estimated |= device_row->valid & RT_HAS_GPU_MEMORY;
		device_row->valid &= ~RT_HAS_GPU_MEMORY;
	}
	return 0;
}

int rti_gpu_rows_add_use(struct rti_tree_gpu *gpu, size_t row, uint64_t start_ticks,
                         const struct rti_gpu_use *use, uint64_t at_ns)
{
	struct rt_gpu *used = row_at(gpu, row), *device_row = used;
	uint64_t before_ns = gpu->table.use_total_ns;
	struct rt_gpu_process *process = add_process(gpu);
	struct rti_gpu_device *device;

	if (!process)
		return -ENOMEM;
	if (rti_gpu_table_add_use(&gpu->table, use, used, start_ticks, at_ns, process) < 0) {
		gpu->processes.count--;
		return -ENOMEM;
	}
	/* What a partition has is part of its device, which has a row before it. */
	while (device_row > row_at(gpu, 0) && device_row->flags & RT_ITEM_PARTITION)
		device_row--;
	device = find_device(gpu, device_row->id);
	add_to(&device->busy_ns, gpu->table.use_total_ns - before_ns);
	add_to(&gpu->total_ns, gpu->table.use_total_ns - before_ns);
	device->is_estimated = true;
	gpu->is_estimated |= use->has_busy;
	if (!use->has_memory)
		return 0;
	add_to(&device_row->memory_used_bytes, use->memory_bytes);
	if (used != device_row)
		add_to(&used->memory_used_bytes, use->memory_bytes);
	return 0;
}

void rti_gpu_rows_end(struct rti_tree_gpu *gpu, bool is_whole)
{
	for (size_t i = 0; i < gpu->gpus.count; i++) {
		struct rt_gpu *row = row_at(gpu, i);
		const struct rti_gpu_device *device = find_device(gpu, row->id);

		if (row->flags & RT_ITEM_PARTITION)
			continue;
		row->busy_ns = device->busy_ns;
		if (gpu->elapsed_ns)
			row->busy_share =
			    (double)(device->busy_ns - device->before_ns) / (double)gpu->elapsed_ns;
		if (device->is_estimated || !is_whole)
			row->estimated |= RT_HAS_GPU;
		else
			row->valid |= RT_HAS_GPU;
	}
}

void rti_gpu_rows_sum(const struct rti_tree_gpu *gpu, struct rt_metrics *out)
{
	out->gpu_busy_ns = gpu->total_ns;
	out->gpu_memory_bytes = out->gpu_memory_total_bytes = out->gpus = out->gpus_used = 0;
	for (size_t i = 0; i < gpu->gpus.count; i++) {
		const struct rt_gpu *row = row_at(gpu, i);

		if (!(row->flags & RT_ITEM_IN_TOTAL))
			continue;
		add_to(&out->gpu_memory_bytes, row->memory_used_bytes);
		add_to(&out->gpu_memory_total_bytes, row->memory_total_bytes);
		out->gpus++;
		out->gpus_used += row->busy_share > 0;
	}
}

/* --- What is not known --- */

/* Each member counts once, on however many devices its figure is missing. */
void rti_gpu_note_unknown(struct rti_tree_gpu *gpu, const struct rti_member_table *table,
                          enum rti_gpu_domain domain, int err, int32_t pid)
{
	struct rti_gpu_unknown *unknown = &gpu->unknown[domain];
	struct rti_member *m = rti_member_find(table, pid);

	if (err == 0)
		return;
	if (unknown->err == 0) {
		unknown->err = err;
		unknown->pid = pid;
	}
	if (!m || m->gpu.unknown_at[domain] == table->samples)
		return;
	m->gpu.unknown_at[domain] = table->samples;
	unknown->members++;
}

void rti_gpu_note_all_unknown(struct rti_tree_gpu *gpu, const struct rti_member_table *table,
                              int err, int32_t pid)
{
	rti_gpu_note_unknown(gpu, table, RTI_GPU_TIME, err, pid);
	rti_gpu_note_unknown(gpu, table, RTI_GPU_HELD, err, pid);
}
