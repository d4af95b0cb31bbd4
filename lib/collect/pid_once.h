/* SPDX-License-Identifier: MIT */
/* The figures of one process, each file of it read once.
 *
 * A process may exit between two files, and its pid may be reused. So one of the files, the anchor,
 * is opened before all others and read last. An open file stays with its process, so that it cannot
 * be read any more once that is reaped. If it can be read, the pid was its own all along. That
 * costs no system call more, while a directory handle would cost two, and a second look at stat
 * three and its text. */
#ifndef RTI_PID_ONCE_H
#define RTI_PID_ONCE_H

#include "collect/collector.h"

/* What can be read so. */
#define RTI_PID_ONCE_HAS                                                                           \
	(RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS | RT_HAS_IO | RT_HAS_IO_CALLS |    \
	 RT_HAS_FAULTS | RT_HAS_CTXSW | RT_HAS_THREADS | RT_HAS_VIRTUAL | RT_HAS_USS |             \
	 RT_HAS_IDS | RT_HAS_OPEN_FDS)

struct rti_pid_once {
	struct rti_pid_stat stat; /* all 0 except pid if stat was not read */
	struct rti_figures figures;
	bool has_clock; /* CPU time of the process itself is of its clock, not in whole ticks */
};

/* Read the figures that want names (RT_HAS_ bits) and no others. A figure that cannot be read has
 * no bit. Returns 0; -ESRCH if there is no such process, or pid is the id of a thread; -EACCES if
 * /proc hides it; or another -errno. *out is then unspecified. */
int rti_pid_once_read(const struct rti_context *ctx, int32_t pid, uint64_t want,
                      struct rti_pid_once *out);

#endif
