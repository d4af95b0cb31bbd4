/* SPDX-License-Identifier: MIT */
/* What the tests of refused arguments share. The helpers fail the test if they cannot do their
 * job. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <rtrack/rtrack.h>

/* The byte that a test fills an output with before a call, to see that the call does not write. */
#define FILLED 0x5A

/* The largest struct size that the library accepts. */
#define SIZE_LIMIT 4096

/* The size that a struct had in release 0.1, the smallest that the library accepts. E.g. rt_opts
 * ended with the field `reserved` then. */
#define END_OF(type, field) (offsetof(struct type, field) + sizeof(((struct type *)NULL)->field))
#define OPTS_0_1 END_OF(rt_opts, reserved)
#define COMMAND_OPTS_0_1 END_OF(rt_command_opts, reserved)
#define METRICS_0_1 END_OF(rt_metrics, zfs_pools)
#define DELTA_0_1 END_OF(rt_delta, pressure_io_full_ns)
#define PROCESS_0_1 END_OF(rt_process, threads)
#define CPU_0_1 END_OF(rt_cpu, guest_nice_ns)
#define OUTCOME_0_1 END_OF(rt_outcome, overhead_cpu_ns)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Return true if each byte has the value FILLED. */
bool is_filled(const void *data, size_t size);

/* The pid of a process that has exited and was reaped. No other process gets it until the kernel
 * has given out all other pids. */
pid_t make_exited_pid(void);

/* Make a tracker of the calling process, or of the system. The caller frees it. */
struct rt_tracker *new_self_tracker(void);
struct rt_tracker *new_system_tracker(void);

/* Take a sample. */
struct rt_metrics sample(struct rt_tracker *tracker);

#endif
