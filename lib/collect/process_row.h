/* SPDX-License-Identifier: MIT */
/* The figures of one process as a public row. */
#ifndef RTI_PROCESS_ROW_H
#define RTI_PROCESS_ROW_H

#include "collect/collector.h"

/* Fill in a row: gauges from the row of the figures, counters as last read, identity from stat. */
void rti_process_row_set(const struct rti_pid_stat *stat, const struct rti_figures *f,
                         struct rt_process *out);

/* Set its start by the wall clock. boot_ns: when the system was booted, by that clock. */
void rti_process_row_set_start(uint64_t boot_ns, uint64_t tick_ns, struct rt_process *out);

/* Parts of it: the name, the state, the parent and the groups; and the counters. */
void rti_process_row_set_stat(const struct rti_pid_stat *stat, struct rt_process *out);
void rti_process_row_set_counters(const struct rti_figures *f, struct rt_process *out);

#endif
