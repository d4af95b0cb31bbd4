/* SPDX-License-Identifier: MIT */
/* The tables of the collectors of processes and of the system. */
#include "collect/collector.h"

#define PID(name) extern const struct rti_pid_collector rti_pid_##name;
#define SYS(name) extern const struct rti_sys_collector rti_sys_##name;
#include "collect/collectors.def"

const struct rti_pid_collector *const rti_pid_collectors[] = {
#define PID(name) &rti_pid_##name,
#include "collect/collectors.def"
};

const struct rti_sys_collector *const rti_sys_collectors[] = {
#define SYS(name) &rti_sys_##name,
#include "collect/collectors.def"
};

const size_t rti_pid_collector_count = sizeof(rti_pid_collectors) / sizeof(rti_pid_collectors[0]);
const size_t rti_sys_collector_count = sizeof(rti_sys_collectors) / sizeof(rti_sys_collectors[0]);
