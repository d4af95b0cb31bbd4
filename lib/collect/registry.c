/* SPDX-License-Identifier: MIT */
/* The collectors that there are. Adding one edits this file: its declaration and its line. */
#include "collect/collector.h"

extern const struct rti_pid_collector rti_pid_cpu;
extern const struct rti_pid_collector rti_pid_ctxsw;
extern const struct rti_pid_collector rti_pid_faults;
extern const struct rti_pid_collector rti_pid_io;
extern const struct rti_pid_collector rti_pid_mem;
extern const struct rti_pid_collector rti_pid_peak;
extern const struct rti_pid_collector rti_pid_threads;

extern const struct rti_sys_collector rti_sys_cpu;
extern const struct rti_sys_collector rti_sys_disk;
extern const struct rti_sys_collector rti_sys_fs;
extern const struct rti_sys_collector rti_sys_gpu;
extern const struct rti_sys_collector rti_sys_load;
extern const struct rti_sys_collector rti_sys_mem;
extern const struct rti_sys_collector rti_sys_net;
extern const struct rti_sys_collector rti_sys_procs;
extern const struct rti_sys_collector rti_sys_psi;
extern const struct rti_sys_collector rti_sys_zfs;

/* In the order in which one sample reads them. A collector stands behind those that it needs, and
 * those with after_stat stand last, as stat is read last. */
const struct rti_pid_collector *const rti_pid_collectors[] = {
	&rti_pid_mem,
	&rti_pid_peak,
	&rti_pid_io,
	&rti_pid_ctxsw,
	/* after stat */
	&rti_pid_cpu,
	&rti_pid_faults,
	&rti_pid_threads,
};

const struct rti_sys_collector *const rti_sys_collectors[] = {
	&rti_sys_cpu,  &rti_sys_procs, &rti_sys_mem, &rti_sys_disk, &rti_sys_net,
	&rti_sys_load, &rti_sys_psi,   &rti_sys_fs,  &rti_sys_zfs,  &rti_sys_gpu,
};

const size_t rti_pid_collector_count = sizeof(rti_pid_collectors) / sizeof(rti_pid_collectors[0]);
const size_t rti_sys_collector_count = sizeof(rti_sys_collectors) / sizeof(rti_sys_collectors[0]);

_Static_assert(sizeof(rti_pid_collectors) / sizeof(rti_pid_collectors[0]) <= RTI_PID_COLLECTORS_MAX,
               "a member has room for that many stamps");
