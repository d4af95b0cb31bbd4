/* SPDX-License-Identifier: MIT */
/* Sizes of public structs: the only code that copies a struct from or to the caller. The caller's
 * layout may be older or newer.
 *
 * Invariant: everything else works with the newest layout; this file converts. */
#ifndef RTI_STRUCT_SIZE_H
#define RTI_STRUCT_SIZE_H

#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

/* The size of each struct in the release that brought it: the end of its last field then. Never
 * changes. */
#define RTI_END_OF(type, field)                                                                    \
	(offsetof(struct type, field) + sizeof(((struct type *)NULL)->field))
#define RTI_OPTS_V1 RTI_END_OF(rt_opts, reserved)
#define RTI_COMMAND_OPTS_V1 RTI_END_OF(rt_command_opts, reserved)
#define RTI_METRICS_V1 RTI_END_OF(rt_metrics, zfs_pools)
#define RTI_DELTA_V1 RTI_END_OF(rt_delta, pressure_io_full_ns)
#define RTI_OUTCOME_V1 RTI_END_OF(rt_outcome, overhead_cpu_ns)
#define RTI_FIELD_V1 RTI_END_OF(rt_field, unit)
#define RTI_CONSTANT_V1 RTI_END_OF(rt_constant, text)
#define RTI_OBSTACLE_V1 RTI_END_OF(rt_obstacle, text)
#define RTI_PROCESS_V1 RTI_END_OF(rt_process, threads)
#define RTI_CPU_V1 RTI_END_OF(rt_cpu, guest_nice_ns)
#define RTI_DISK_V1 RTI_END_OF(rt_disk, in_flight)
#define RTI_FILESYSTEM_V1 RTI_END_OF(rt_filesystem, available_bytes)
#define RTI_NETWORK_V1 RTI_END_OF(rt_network, transmit_drops)
#define RTI_ZPOOL_V1 RTI_END_OF(rt_zpool, free_bytes)
#define RTI_COMMAND_INFO_V1 RTI_END_OF(rt_command_info, start_ns)
#define RTI_COMMAND_PROCESS_V1 RTI_END_OF(rt_command_process, comm)
#define RTI_GPU_V1 RTI_END_OF(rt_gpu, partial)
#define RTI_GPU_PROCESS_V1 RTI_END_OF(rt_gpu_process, partial)
#define RTI_TRACE_OPTS_V1 RTI_END_OF(rt_trace_opts, reserved)
#define RTI_TRACE_EVENT_V1 RTI_END_OF(rt_trace_event, exe)
#define RTI_TRACE_TOTALS_V1 RTI_END_OF(rt_trace_totals, ring_bytes)
#define RTI_RECORDER_OPTS_V1 RTI_END_OF(rt_recorder_opts, reserved)
#define RTI_RECORDER_TOTALS_V1 RTI_END_OF(rt_recorder_totals, missed)
#define RTI_PEAKS_V1 RTI_END_OF(rt_peaks, label)

/* Whether a caller may have compiled an output struct with this size. Returns 0 or -EINVAL. */
int rti_struct_check_size(size_t out_size, size_t v1_size);

/* Copy a struct to the caller: as much as both know, zeros in the rest of the caller's, and the
 * copied length as its size. */
void rti_struct_copy_out(void *out, size_t out_size, const void *in, size_t in_size);

/* Copy a struct from the caller, which starts with its size; fields that it lacks are 0. Returns
 * 0; -EINVAL if it is shorter than its first version; -E2BIG if it is longer than we know and
 * the rest is not 0. */
int rti_struct_copy_in(void *out, size_t out_size, const void *in, size_t v1_size);

/* Copy a sample from the caller that this library, older or newer, has filled. Returns 0 or
 * -EINVAL. */
int rti_struct_copy_sample_in(void *out, size_t out_size, const void *in, size_t v1_size);

#endif
