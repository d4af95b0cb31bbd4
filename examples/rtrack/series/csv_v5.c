/* SPDX-License-Identifier: MIT */
/* Format csv-v5: the 32 combined columns of resource-tracker 0.5, for the system and a process
 * tree. */
#include <stdbool.h>

#include "cell.h"
#include "follow/figures.h"
#include "format.h"
#include "gpu.h"
#include "series_columns.h"
#include "text/units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GB 1e9

enum { SYSTEM_CELLS = 20, PROCESS_CELLS = 11 };

static const char *const columns[] = {
	"timestamp",
	"system_processes",
	"system_utime",
	"system_stime",
	"system_cpu_usage",
	"system_memory_free_mib",
	"system_memory_used_mib",
	"system_memory_buffers_mib",
	"system_memory_cached_mib",
	"system_memory_active_mib",
	"system_memory_inactive_mib",
	"system_disk_read_bytes",
	"system_disk_write_bytes",
	"system_disk_space_total_gb",
	"system_disk_space_used_gb",
	"system_disk_space_free_gb",
	"system_net_recv_bytes",
	"system_net_sent_bytes",
	"system_gpu_usage",
	"system_gpu_vram_mib",
	"system_gpu_utilized",
	"process_pid",
	"process_children",
	"process_utime",
	"process_stime",
	"process_cpu_usage",
	"process_memory_mib",
	"process_disk_read_bytes",
	"process_disk_write_bytes",
	"process_gpu_usage",
	"process_gpu_vram_mib",
	"process_gpu_utilized",
};

_Static_assert(COUNT(columns) == 1 + SYSTEM_CELLS + PROCESS_CELLS, "one name for each cell");

static void v5_head(struct text *out, const struct columns *unused)
{
	(void)unused;
	cell_names(out, columns, COUNT(columns));
}

/* Times are not rounded, so the rows add up to the total. */
static void cpu_cells(struct text *out, const struct rt_delta *d)
{
	bool cpu = is_known(delta_marks(d), RT_HAS_CPU);

	cell_double(out, cpu, seconds(d->cpu_user_ns));
	cell_double(out, cpu, seconds(d->cpu_system_ns));
	cell_rounded(out, cpu && is_known(delta_marks(d), RT_HAS_RATE), d->cores_used, 4);
}

/* As there, interrupts are neither system time nor use. */
static void system_cpu_cells(struct text *out, const struct rt_delta *d)
{
	bool cpu = is_known(delta_marks(d), RT_HAS_CPU | RT_HAS_CPU_MODES);
	bool rate = cpu && is_known(delta_marks(d), RT_HAS_RATE) && d->interval_ns > 0;

	cell_double(out, cpu, seconds(d->cpu_user_ns));
	cell_double(out, cpu, seconds(d->cpu_mode_system_ns));
	cell_rounded(
	    out, rate,
	    rate ? (double)(d->cpu_user_ns + d->cpu_mode_system_ns) / (double)d->interval_ns : 0,
	    4);
}

static void mib_cell(struct text *out, bool known, uint64_t bytes)
{
	cell_rounded(out, known, (double)bytes / MIB, 4);
}

static void memory_cells(struct text *out, const struct rt_metrics *m)
{
	bool memory = is_known(metrics_marks(m), RT_HAS_MEMORY);

	mib_cell(out, memory, m->memory_free_bytes);
	mib_cell(out, is_known(metrics_marks(m), RT_HAS_MEMORY_AVAILABLE), m->memory_used_bytes);
	mib_cell(out, memory, m->memory_buffers_bytes);
	mib_cell(out, memory, m->memory_cached_slab_bytes);
	mib_cell(out, memory, m->memory_active_bytes);
	mib_cell(out, memory, m->memory_inactive_bytes);
}

static void storage_cells(struct text *out, const struct rt_metrics *m, const struct rt_delta *d)
{
	bool disk = is_known(delta_marks(d), RT_HAS_DISK);
	bool space = is_known(metrics_marks(m), RT_HAS_FILESYSTEM);
	/* As there, space that is reserved for root counts as used. */
	uint64_t used = m->filesystem_total_bytes - m->filesystem_available_bytes;

	cell_u64(out, disk, d->disk_read_bytes);
	cell_u64(out, disk, d->disk_write_bytes);
	cell_rounded(out, space, (double)m->filesystem_total_bytes / GB, 2);
	cell_rounded(out, space, (double)used / GB, 2);
	cell_rounded(out, space, (double)m->filesystem_available_bytes / GB, 2);
}

static void system_cells(struct text *out, const struct row *row)
{
	const struct rt_metrics *m = row->system;
	const struct rt_delta *d = row->system_delta;
	bool network = is_known(delta_marks(d), RT_HAS_NETWORK);

	cell_u64(out, is_known(metrics_marks(m), RT_HAS_PROCESSES), m->processes);
	system_cpu_cells(out, d);
	memory_cells(out, m);
	storage_cells(out, m, d);
	cell_u64(out, network, d->network_receive_bytes);
	cell_u64(out, network, d->network_transmit_bytes);
	gpu_cells(out, m, d, row->has_no_gpu);
}

static void process_cells(struct text *out, const struct row *row)
{
	const struct rt_metrics *m = row->process;
	const struct rt_delta *d = row->process_delta;

	cell_i64(out, true, row->pid);
	cell_i64(out, row->children >= 0, row->children);
	cpu_cells(out, d);
	/* There is no column that could say that a value is an estimate. */
	mib_cell(out, (m->valid & RT_HAS_PSS) != 0, m->pss_bytes);
	cell_u64(out, is_informative(delta_marks(d), RT_HAS_IO, d->read_bytes), d->read_bytes);
	cell_u64(out, is_informative(delta_marks(d), RT_HAS_IO, d->write_bytes), d->write_bytes);
	gpu_cells(out, m, d, row->has_no_gpu);
}

static void v5_row(struct text *out, const struct columns *unused, const struct row *row)
{
	(void)unused;
	cell_rounded(out, true, seconds(row_sample(row)->realtime_ns), 3);
	if (row->system)
		system_cells(out, row);
	else
		cell_unknown(out, SYSTEM_CELLS);
	if (row->process)
		process_cells(out, row);
	else
		cell_unknown(out, PROCESS_CELLS);
	cell_end_row(out);
}

const struct format format_csv_v5 = {
	.name = "csv-v5",
	.wants_system = true,
	.head = v5_head,
	.row = v5_row,
};
