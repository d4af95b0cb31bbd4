/* SPDX-License-Identifier: MIT */
/* Format csv-v1: the columns, units and formulas of the first resource-tracker release, for a
 * process tree or for the system. */
#include <stdbool.h>

#include "cell.h"
#include "follow/figures.h"
#include "format.h"
#include "gpu.h"
#include "series_columns.h"
#include "text/units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GIB 1073741824.0

static const char *const process_columns[] = {
	"timestamp", "pid",        "children",    "utime",     "stime",    "cpu_usage",
	"pss",       "read_bytes", "write_bytes", "gpu_usage", "gpu_vram", "gpu_utilized",
};

static const char *const system_columns[] = {
	"timestamp",
	"processes",
	"utime",
	"stime",
	"cpu_usage",
	"memory_free",
	"memory_used",
	"memory_buffers",
	"memory_cached",
	"memory_active_anon",
	"memory_inactive_anon",
	"disk_read_bytes",
	"disk_write_bytes",
	"disk_space_total_gb",
	"disk_space_used_gb",
	"disk_space_free_gb",
	"net_recv_bytes",
	"net_sent_bytes",
	"gpu_usage",
	"gpu_vram",
	"gpu_utilized",
};

static void v1_head(struct text *out, const struct columns *columns)
{
	if (columns->kind == RT_KIND_SYSTEM)
		cell_names(out, system_columns, COUNT(system_columns));
	else
		cell_names(out, process_columns, COUNT(process_columns));
}

static void cpu_cells(struct text *out, const struct rt_delta *d)
{
	bool cpu = is_known(delta_marks(d), RT_HAS_CPU);

	cell_u64(out, cpu, d->cpu_user_ticks);
	cell_u64(out, cpu, d->cpu_system_ticks);
	cell_rounded(out, cpu && is_known(delta_marks(d), RT_HAS_RATE), d->cores_used, 4);
}

static void process_row(struct text *out, const struct row *row)
{
	const struct rt_metrics *m = row->process;
	const struct rt_delta *d = row->process_delta;

	cell_double(out, true, seconds(m->realtime_ns));
	cell_i64(out, true, row->pid);
	cell_i64(out, row->children >= 0, row->children);
	cpu_cells(out, d);
	cell_u64(out, is_informative(metrics_marks(m), RT_HAS_PSS, m->pss_bytes),
	         m->pss_bytes / 1024);
	cell_u64(out, is_informative(delta_marks(d), RT_HAS_IO, d->read_bytes), d->read_bytes);
	cell_u64(out, is_informative(delta_marks(d), RT_HAS_IO, d->write_bytes), d->write_bytes);
	gpu_cells(out, m, d, row->has_no_gpu);
}

/* As there, interrupts are neither system time nor use. */
static void system_cpu_cells(struct text *out, const struct rt_delta *d)
{
	bool cpu = is_known(delta_marks(d), RT_HAS_CPU | RT_HAS_CPU_MODES);
	bool rate = cpu && is_known(delta_marks(d), RT_HAS_RATE) && d->interval_ns > 0;

	cell_u64(out, cpu, d->cpu_user_ticks);
	cell_u64(out, cpu, (d->cpu_mode_system_ns * d->ticks_per_second + NS_PER_S / 2) / NS_PER_S);
	cell_rounded(
	    out, rate,
	    rate ? (double)(d->cpu_user_ns + d->cpu_mode_system_ns) / (double)d->interval_ns : 0,
	    4);
}

/* As there, used memory is all that is neither free nor in a cache. */
static void memory_cells(struct text *out, const struct rt_metrics *m)
{
	bool memory = is_known(metrics_marks(m), RT_HAS_MEMORY);
	uint64_t unused = m->memory_free_bytes + m->memory_buffers_bytes + m->memory_cached_bytes;

	cell_u64(out, memory, m->memory_free_bytes / 1024);
	cell_u64(out, memory,
	         unused < m->memory_total_bytes ? (m->memory_total_bytes - unused) / 1024 : 0);
	cell_u64(out, memory, m->memory_buffers_bytes / 1024);
	cell_u64(out, memory, m->memory_cached_bytes / 1024);
	cell_u64(out, memory, m->memory_active_anon_bytes / 1024);
	cell_u64(out, memory, m->memory_inactive_anon_bytes / 1024);
}

static void space_cells(struct text *out, const struct rt_metrics *m)
{
	bool space = is_known(metrics_marks(m), RT_HAS_FILESYSTEM);
	/* As there, space that is reserved for root counts as used. */
	uint64_t used = m->filesystem_total_bytes - m->filesystem_available_bytes;

	cell_rounded(out, space, (double)m->filesystem_total_bytes / GIB, 2);
	cell_rounded(out, space, (double)used / GIB, 2);
	cell_rounded(out, space, (double)m->filesystem_available_bytes / GIB, 2);
}

static void system_row(struct text *out, const struct row *row)
{
	const struct rt_metrics *m = row->system;
	const struct rt_delta *d = row->system_delta;
	bool disk = is_known(delta_marks(d), RT_HAS_DISK);
	bool network = is_known(delta_marks(d), RT_HAS_NETWORK);

	cell_double(out, true, seconds(m->realtime_ns));
	cell_u64(out, is_known(metrics_marks(m), RT_HAS_PROCESSES), m->processes);
	system_cpu_cells(out, d);
	memory_cells(out, m);
	cell_u64(out, disk, d->disk_read_bytes);
	cell_u64(out, disk, d->disk_write_bytes);
	space_cells(out, m);
	cell_u64(out, network, d->network_receive_bytes);
	cell_u64(out, network, d->network_transmit_bytes);
	gpu_cells(out, m, d, row->has_no_gpu);
}

static void v1_row(struct text *out, const struct columns *columns, const struct row *row)
{
	(void)columns;
	if (row->process)
		process_row(out, row);
	else
		system_row(out, row);
	cell_end_row(out);
}

const struct format format_csv_v1 = {
	.name = "csv-v1",
	.head = v1_head,
	.row = v1_row,
};
