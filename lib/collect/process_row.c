/* SPDX-License-Identifier: MIT */
/* The figures of one process as a public row. */
#include "collect/process_row.h"

#include <string.h>

void rti_process_row_set_stat(const struct rti_pid_stat *stat, struct rt_process *out)
{
	out->ppid = stat->ppid;
	out->session = stat->session;
	out->pgrp = stat->pgrp;
	out->state = (unsigned char)stat->state;
	memcpy(out->comm, stat->comm, sizeof(out->comm));
}

void rti_process_row_set_start(uint64_t boot_ns, uint64_t tick_ns, struct rt_process *out)
{
	out->start_realtime_ns = out->start_ticks ? boot_ns + out->start_ticks * tick_ns : 0;
}

void rti_process_row_set_counters(const struct rti_figures *f, struct rt_process *out)
{
	out->cpu_user_ns = f->self[RTI_CPU_USER];
	out->cpu_system_ns = f->self[RTI_CPU_SYSTEM];
	out->reaped_cpu_user_ns = f->children[RTI_CPU_USER];
	out->reaped_cpu_system_ns = f->children[RTI_CPU_SYSTEM];
	out->read_bytes = f->self[RTI_READ_BYTES];
	out->write_bytes = f->self[RTI_WRITE_BYTES];
	out->cancelled_write_bytes = f->self[RTI_CANCELLED_BYTES];
	out->read_chars = f->self[RTI_READ_CHARS];
	out->write_chars = f->self[RTI_WRITE_CHARS];
	out->read_calls = f->self[RTI_READ_CALLS];
	out->write_calls = f->self[RTI_WRITE_CALLS];
	out->minor_faults = f->self[RTI_MINOR_FAULTS];
	out->major_faults = f->self[RTI_MAJOR_FAULTS];
	out->voluntary_switches = f->self[RTI_VOLUNTARY];
	out->involuntary_switches = f->self[RTI_INVOLUNTARY];
}

void rti_process_row_set(const struct rti_pid_stat *stat, const struct rti_figures *f,
                         struct rt_process *out)
{
	*out = f->row;
	out->size = sizeof(*out);
	out->pid = stat->pid;
	out->start_ticks = stat->starttime;
	out->valid = f->valid;
	out->partial = f->partial;
	out->estimated = f->estimated;
	rti_process_row_set_stat(stat, out);
	rti_process_row_set_counters(f, out);
}
