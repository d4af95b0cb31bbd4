/* SPDX-License-Identifier: MIT */
/* Sums over the live threads of a process, for figures that the kernel only reports per thread.
 *
 * These are context switches, and I/O without the I/O of reaped children. Threads that have exited
 * are missing from such a sum, and nothing reports that directly. But their page faults and run
 * time are still in the totals of the process, so a sum of these that falls short reveals them. */
#ifndef RTI_THREAD_SUM_H
#define RTI_THREAD_SUM_H

#include <stdbool.h>

#include "collect/collector.h"

struct rti_thread_sum {
	uint64_t voluntary, involuntary;
	struct rti_pid_io io;
	uint64_t ended_run_ns; /* CPU time of the process that live threads do not have */
	bool is_complete;      /* no thread has exited, as far as faults and run time show */
};

#define RTI_THREAD_SUM_SWITCHES (1u << 0)
#define RTI_THREAD_SUM_IO (1u << 1)

/* Sum what want asks for (RTI_THREAD_SUM_ bits) over the live threads. Returns 0; -ESRCH if the
 * process has exited; -EACCES if /proc hides it; or the -errno of the first thread that could not
 * be read. */
int rti_thread_sum_read(const struct rti_context *ctx, int32_t pid, unsigned want,
                        struct rti_thread_sum *out);

/* Read the CPU time of the leader from schedstat, the only file that has it in ns. Returns 0 or
 * -errno.
 *
 * If the CPU clock of the process is read after that and shows the same, no other thread has made a
 * context switch so far. Each switch adds what the thread has used to the clock. A thread that
 * exits before a switch or a tick may add nothing: its faults and its I/O may be missing. */
int rti_thread_sum_read_leader_run_ns(const struct rti_context *ctx,
                                      const struct rti_target *target, uint64_t *run_ns);

/* Whether no other thread has made a switch so far, found out so. The target needs a clock. */
bool rti_thread_sum_is_leader_alone(const struct rti_context *ctx, const struct rti_target *target);

/* Read the I/O of a leader for which that is true. Its faults are compared with the faults of the
 * process, which were read before. Returns 0 or -errno. */
int rti_thread_sum_read_leader_io(const struct rti_context *ctx, const struct rti_target *target,
                                  struct rti_thread_sum *out);

#endif
