/* SPDX-License-Identifier: MIT */
/* rt_row_diff: what happened between two rows of one item. Pure arithmetic, by the field tables. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "api/fields.h"
#include "api/struct_size.h"

union row {
	uint32_t size;
	char bytes[1];
	struct rt_process process;
	struct rt_cpu cpu;
	struct rt_disk disk;
	struct rt_filesystem filesystem;
	struct rt_network network;
	struct rt_zpool zpool;
	struct rt_gpu gpu;
	struct rt_gpu_process gpu_process;
};

struct place {
	uint16_t offset, length;
};

/* A list. The offsets of its masks are 0 if its rows have none. */
struct kind {
	uint32_t struct_id;
	uint16_t row_size, v1_size;
	struct place identity[3]; /* what is the same in both rows if they are of one item */
	uint16_t valid, partial, estimated;
};

#define PLACE(of, field)                                                                           \
	{                                                                                          \
		offsetof(struct rt_##of, field), sizeof(((struct rt_##of *)NULL)->field)           \
	}
#define MASKS(of)                                                                                  \
	.valid = offsetof(struct rt_##of, valid), .partial = offsetof(struct rt_##of, partial),    \
	.estimated = offsetof(struct rt_##of, estimated)

static const struct kind kinds[] = {
	{ RT_STRUCT_PROCESS,
	  sizeof(struct rt_process),
	  RTI_PROCESS_V1,
	  { PLACE(process, pid), PLACE(process, start_ticks) },
	  MASKS(process) },
	{ RT_STRUCT_CPU, sizeof(struct rt_cpu), RTI_CPU_V1, { PLACE(cpu, id) }, MASKS(cpu) },
	{ RT_STRUCT_DISK, sizeof(struct rt_disk), RTI_DISK_V1, { PLACE(disk, name) } },
	{ RT_STRUCT_FILESYSTEM,
	  sizeof(struct rt_filesystem),
	  RTI_FILESYSTEM_V1,
	  { PLACE(filesystem, major), PLACE(filesystem, minor) } },
	{ RT_STRUCT_NETWORK, sizeof(struct rt_network), RTI_NETWORK_V1, { PLACE(network, name) } },
	{ RT_STRUCT_ZPOOL, sizeof(struct rt_zpool), RTI_ZPOOL_V1, { PLACE(zpool, name) } },
	{ RT_STRUCT_GPU, sizeof(struct rt_gpu), RTI_GPU_V1, { PLACE(gpu, id) }, MASKS(gpu) },
	{ RT_STRUCT_GPU_PROCESS,
	  sizeof(struct rt_gpu_process),
	  RTI_GPU_PROCESS_V1,
	  { PLACE(gpu_process, gpu_id), PLACE(gpu_process, pid), PLACE(gpu_process, start_ticks) },
	  MASKS(gpu_process) },
};

static const struct kind *find_kind(uint32_t struct_id)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].struct_id == struct_id)
			return &kinds[i];
	return NULL;
}

static uint64_t *number_at(union row *row, size_t offset)
{
	return (uint64_t *)(void *)(row->bytes + offset);
}

static uint64_t get(const union row *row, size_t offset)
{
	return *(const uint64_t *)(const void *)(row->bytes + offset);
}

static bool has_number(const union row *row, size_t offset)
{
	return row->size >= offset + sizeof(uint64_t);
}

static bool are_of_one_item(const struct kind *kind, const union row *from, const union row *to)
{
	for (size_t i = 0; i < 3; i++) {
		struct place at = kind->identity[i];

		if (memcmp(from->bytes + at.offset, to->bytes + at.offset, at.length) != 0)
			return false;
	}
	return true;
}

static void raise_part(uint64_t *part, uint64_t *other, uint64_t before)
{
	uint64_t lacks = *part < before ? before - *part : 0;

	if (lacks > *other)
		return;
	*part += lacks;
	*other -= lacks;
}

/* The kernel counts user and system time in ticks, which divide an exact sum: so one may fall by
 * less than a tick while the sum rises. */
static void keep_parts_rising(const struct rt_process *from, struct rt_process *to)
{
	raise_part(&to->cpu_user_ns, &to->cpu_system_ns, from->cpu_user_ns);
	raise_part(&to->cpu_system_ns, &to->cpu_user_ns, from->cpu_system_ns);
	raise_part(&to->reaped_cpu_user_ns, &to->reaped_cpu_system_ns, from->reaped_cpu_user_ns);
	raise_part(&to->reaped_cpu_system_ns, &to->reaped_cpu_user_ns, from->reaped_cpu_system_ns);
}

/* Subtract the counters from those of to. Returns the domains of those that went backwards, or that
 * a row does not have: it is of an older library. */
static uint64_t subtract_counters(const struct kind *kind, const union row *from, union row *to,
                                  uint64_t *of_counters)
{
	uint64_t lost = 0;
	uint32_t count;
	const struct rti_field *fields = rti_fields_of(kind->struct_id, &count);

	for (uint32_t i = 0; i < count; i++) {
		size_t at = fields[i].offset;
		uint64_t before, now;

		if (fields[i].role != RT_FIELD_COUNTER)
			continue;
		*of_counters |= fields[i].has;
		before = get(from, at);
		now = get(to, at);
		if (!has_number(from, at) || !has_number(to, at) || now < before)
			lost |= fields[i].has;
		*number_at(to, at) = now < before ? 0 : now - before;
	}
	return lost;
}

static void clear_counters(const struct kind *kind, union row *row, uint64_t unknown)
{
	uint32_t count;
	const struct rti_field *fields = rti_fields_of(kind->struct_id, &count);

	for (uint32_t i = 0; i < count; i++)
		if (fields[i].role == RT_FIELD_COUNTER && fields[i].has & unknown)
			*number_at(row, fields[i].offset) = 0;
}

/* Counters are as sure as in rt_diff(), gauges as in the later row. */
static void set_masks(const struct kind *kind, const union row *from, union row *to,
                      uint64_t of_counters, uint64_t lost)
{
	uint64_t valid = get(from, kind->valid) & get(to, kind->valid);
	uint64_t from_partial = get(from, kind->partial), to_partial = get(to, kind->partial);
	uint64_t doubtful = get(from, kind->estimated) | get(to, kind->estimated) | from_partial;
	uint64_t known = (get(from, kind->valid) | from_partial | get(from, kind->estimated)) &
	                 (get(to, kind->valid) | to_partial | get(to, kind->estimated)) & ~lost;
	uint64_t estimated = known & doubtful, counters = of_counters;

	*number_at(to, kind->valid) &= ~counters | (valid & known);
	*number_at(to, kind->estimated) &= ~counters;
	*number_at(to, kind->estimated) |= counters & estimated;
	*number_at(to, kind->partial) &= ~counters;
	*number_at(to, kind->partial) |= counters & known & ~valid & ~estimated;
	clear_counters(kind, to, counters & ~known);
}

static bool has_masks(const struct kind *kind, const union row *row)
{
	return kind->valid && has_number(row, kind->valid);
}

int rt_row_diff(uint32_t struct_id, const void *from, const void *to, void *out, size_t out_size)
{
	const struct kind *kind = find_kind(struct_id);
	union row before, now;
	uint64_t of_counters = 0, lost;

	if (!from || !to || !out)
		return -EFAULT;
	if (!kind || rti_struct_check_size(out_size, kind->v1_size) < 0 ||
	    rti_struct_copy_sample_in(&before, sizeof(before), from, kind->v1_size) < 0 ||
	    rti_struct_copy_sample_in(&now, sizeof(now), to, kind->v1_size) < 0)
		return -EINVAL;
	if (!are_of_one_item(kind, &before, &now))
		return -ESTALE;
	if (struct_id == RT_STRUCT_PROCESS)
		keep_parts_rising(&before.process, &now.process);
	lost = subtract_counters(kind, &before, &now, &of_counters);
	if (has_masks(kind, &before) && has_masks(kind, &now))
		set_masks(kind, &before, &now, of_counters, lost);
	rti_struct_copy_out(out, out_size, &now, kind->row_size);
	return 0;
}
