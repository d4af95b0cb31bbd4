/* SPDX-License-Identifier: MIT */
/* The GPUs that a tracker has seen, and the processes on them, with their counters.
 *
 * Drivers say which share of the last moments a GPU was busy. Its time is the sum of these shares,
 * each times the time since the look before. */
#ifndef RTI_GPU_TABLE_H
#define RTI_GPU_TABLE_H

#include <rtrack/rtrack.h>

#include "gpu/reading.h"

/* At this number, the one that has been unlisted longest is replaced. */
#define RTI_GPUS_MAX 512
#define RTI_GPU_PROCESSES_MAX 4096

/* Kept while it is unlisted, so that nothing is counted twice if it comes back. */
struct rti_known_gpu {
	struct rti_gpu_reading last;
	uint32_t id;
	uint64_t round;      /* the look in which it was last listed */
	uint64_t busy_at_ns; /* when its share was last known; 0: not in the look before */
	uint64_t busy_ns;
	uint64_t energy_uj, energy_last_uj;
	bool is_energy_low; /* its counter began anew, so a part of its energy is missing */
};

struct rti_known_use {
	struct rti_gpu_use last;
	uint32_t gpu_id;
	uint64_t start_ticks;
	uint64_t round, busy_at_ns; /* as in struct rti_known_gpu */
	/* The newest sample of the driver: by its own clock, when it was seen, and the least time
	 * between two of them; 0: there was none. */
	uint64_t sampled_at_us, sampled_at_ns, sampled_every_ns;
	uint64_t busy_ns, encode_ns, decode_ns;
};

/* Owned by the state of one collector. Zeroed memory is a valid start. Invariant: the totals grow
 * only by the growth of devices. So they keep the share of devices that are gone. */
struct rti_gpu_table {
	struct rti_known_gpu *gpu;
	size_t gpu_count, gpu_room;
	struct rti_known_use *use;
	size_t use_count, use_room;
	uint64_t round;
	uint32_t next_id;
	uint64_t busy_total_ns, energy_total_uj;
	uint64_t use_total_ns; /* of all processes, on all kinds of engines */
	bool is_energy_low;    /* of any device */
};

/* Begin a look. */
void rti_gpu_table_begin(struct rti_gpu_table *table);

/* Take in one reading, and fill in its row. Returns 0 or -ENOMEM. */
int rti_gpu_table_add(struct rti_gpu_table *table, const struct rti_gpu_reading *gpu,
                      struct rt_gpu *row);

/* Take in what one process uses at at_ns of the GPU of this row, and fill in its own row. Returns 0
 * or -ENOMEM. */
int rti_gpu_table_add_use(struct rti_gpu_table *table, const struct rti_gpu_use *use,
                          const struct rt_gpu *gpu, uint64_t start_ticks, uint64_t at_ns,
                          struct rt_gpu_process *row);

/* End a look. A device or process that it has not listed accrues no time until it is listed again.
 * If NVML is late, that shows nothing about its devices, so they keep accruing. */
void rti_gpu_table_end(struct rti_gpu_table *table, bool is_nvml_late);

void rti_gpu_table_free(struct rti_gpu_table *table);

#endif
