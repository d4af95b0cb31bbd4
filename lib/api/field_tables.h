/* SPDX-License-Identifier: MIT */
/* Tables of the fields of public structs. Each group names its file. */
#ifndef RTI_FIELD_TABLES_H
#define RTI_FIELD_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

struct rti_field_table {
	uint32_t struct_size, count;
	const struct rt_field *fields;
};

/* fields_metrics.c */
extern const struct rti_field_table rti_metrics_table;

/* fields_delta.c */
extern const struct rti_field_table rti_delta_table;

/* fields_rows.c */
extern const struct rti_field_table rti_process_table;
extern const struct rti_field_table rti_cpu_table;
extern const struct rti_field_table rti_disk_table;
extern const struct rti_field_table rti_filesystem_table;
extern const struct rti_field_table rti_network_table;
extern const struct rti_field_table rti_zpool_table;
extern const struct rti_field_table rti_command_process_table;
extern const struct rti_field_table rti_gpu_table;
extern const struct rti_field_table rti_gpu_process_table;

/* fields_results.c */
extern const struct rti_field_table rti_rusage_table;
extern const struct rti_field_table rti_outcome_table;
extern const struct rti_field_table rti_constant_table;
extern const struct rti_field_table rti_obstacle_table;

/* fields_trace.c */
extern const struct rti_field_table rti_trace_event_table;
extern const struct rti_field_table rti_trace_totals_table;

/* fields_opts.c */
extern const struct rti_field_table rti_opts_table;
extern const struct rti_field_table rti_command_opts_table;
extern const struct rti_field_table rti_trace_opts_table;

/* One field: its struct and its name, RT_TYPE_ value, RT_FIELD_ value, RT_HAS_ bits and unit. */
#define FIELD(of, field, kind, part, bit, measure)                                                 \
	{                                                                                          \
		.size = sizeof(struct rt_field), .offset = offsetof(struct rt_##of, field),        \
		.length = sizeof(((struct rt_##of *)NULL)->field), .type = (kind), .role = (part), \
		.has = (bit), .name = #field, .unit = measure                                      \
	}

/* One figure of a cgroup, which is an integer: without what its type, name and bit begin with. */
#define CGROUP(of, field, kind, bit, measure)                                                      \
	FIELD(of, cgroup_##field, RT_TYPE_U64, RT_FIELD_##kind, RT_HAS_CGROUP_##bit, measure)

/* The table of struct rt_OF, made from the array OF_fields. */
#define FIELD_TABLE(of)                                                                            \
	const struct rti_field_table rti_##of##_table = {                                          \
		sizeof(struct rt_##of), sizeof(of##_fields) / sizeof(of##_fields[0]), of##_fields  \
	}

#endif
