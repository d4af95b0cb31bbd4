/* SPDX-License-Identifier: MIT */
/* The collectors there are. Adding one edits this file and no other. */
#include "collect/collector.h"

extern const struct rti_pid_collector rti_pid_cpu, rti_pid_peak, rti_pid_faults, rti_pid_ctxsw;
extern const struct rti_sys_collector rti_sys_cpu, rti_sys_procs, rti_sys_mem, rti_sys_disk,
    rti_sys_fs, rti_sys_net, rti_sys_load, rti_sys_psi, rti_sys_zfs;

/* In the order in which one sample reads them: those made of stat come last, as stat does. */
const struct rti_pid_collector *const rti_pid_collectors[] = {
	&rti_pid_mem,   &rti_pid_pss, &rti_pid_peak,   &rti_pid_io,
	&rti_pid_ctxsw, &rti_pid_cpu, &rti_pid_faults,
};

const struct rti_sys_collector *const rti_sys_collectors[] = {
	&rti_sys_cpu,  &rti_sys_procs, &rti_sys_mem, &rti_sys_disk, &rti_sys_net,
	&rti_sys_load, &rti_sys_psi,   &rti_sys_fs,  &rti_sys_zfs,
};

const size_t rti_pid_collector_count = sizeof(rti_pid_collectors) / sizeof(rti_pid_collectors[0]);
const size_t rti_sys_collector_count = sizeof(rti_sys_collectors) / sizeof(rti_sys_collectors[0]);
