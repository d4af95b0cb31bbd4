/* SPDX-License-Identifier: MIT */
/* Names, units and places of all public fields, for bindings. */
#include <errno.h>

#include <rtrack/rtrack.h>

#include "api/field_tables.h"
#include "api/struct_size.h"

static const struct rti_field_table *const tables[] = {
	[RT_STRUCT_RUSAGE] = &rti_rusage_table,
	[RT_STRUCT_METRICS] = &rti_metrics_table,
	[RT_STRUCT_DELTA] = &rti_delta_table,
	[RT_STRUCT_OUTCOME] = &rti_outcome_table,
	[RT_STRUCT_PROCESS] = &rti_process_table,
	[RT_STRUCT_CPU] = &rti_cpu_table,
	[RT_STRUCT_DISK] = &rti_disk_table,
	[RT_STRUCT_FILESYSTEM] = &rti_filesystem_table,
	[RT_STRUCT_NETWORK] = &rti_network_table,
	[RT_STRUCT_ZPOOL] = &rti_zpool_table,
	[RT_STRUCT_COMMAND_PROCESS] = &rti_command_process_table,
	[RT_STRUCT_OPTS] = &rti_opts_table,
	[RT_STRUCT_COMMAND_OPTS] = &rti_command_opts_table,
	[RT_STRUCT_CONSTANT] = &rti_constant_table,
	[RT_STRUCT_OBSTACLE] = &rti_obstacle_table,
	[RT_STRUCT_TRACE_OPTS] = &rti_trace_opts_table,
	[RT_STRUCT_TRACE_EVENT] = &rti_trace_event_table,
	[RT_STRUCT_TRACE_TOTALS] = &rti_trace_totals_table,
	[RT_STRUCT_GPU] = &rti_gpu_table,
	[RT_STRUCT_GPU_PROCESS] = &rti_gpu_process_table,
};

static const struct rti_field_table *find(uint32_t struct_id)
{
	static const struct rti_field_table none = { 0, 0, NULL };

	if (struct_id >= sizeof(tables) / sizeof(tables[0]) || !tables[struct_id])
		return &none;
	return tables[struct_id];
}

uint32_t rt_field_count(uint32_t struct_id)
{
	return find(struct_id)->count;
}

uint32_t rt_field_struct_size(uint32_t struct_id)
{
	return find(struct_id)->struct_size;
}

int rt_field_get(uint32_t struct_id, uint32_t index, struct rt_field *out, size_t out_size)
{
	const struct rti_field_table *table = find(struct_id);

	if (!out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_FIELD_V1) < 0 || index >= table->count)
		return -EINVAL;
	rti_struct_copy_out(out, out_size, &table->fields[index], sizeof(struct rt_field));
	return 0;
}
