/* SPDX-License-Identifier: MIT */
/* What a process's own live threads used, where the kernel tells it only thread by thread.
 *
 * Context switches are told per thread alone, and the process's I/O holds that of its reaped
 * children. Threads that have exited are missing from such sums, and nothing says so directly;
 * their page faults and run time, which the process's totals still hold, give them away. */
#ifndef RTI_THREAD_SUM_H
#define RTI_THREAD_SUM_H

#include <stdbool.h>

#include "collect/collector.h"

struct rti_thread_sum {
	uint64_t voluntary, involuntary;
	struct rti_pid_io io;
	bool is_complete; /* no thread has exited, as far as faults and run time can tell */
};

#define RTI_THREAD_SUM_SWITCHES (1u << 0)
#define RTI_THREAD_SUM_IO (1u << 1)

/* Sum over the live threads. 0 or -errno: of the first thread that could not be read, or -ESRCH. */
int rti_thread_sum_read(const struct rti_context *ctx, int32_t pid, unsigned want,
                        struct rti_thread_sum *out);

#endif
