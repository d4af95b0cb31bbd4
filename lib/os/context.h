/* SPDX-License-Identifier: MIT */
/* What all code that reads files shares: the procfs root, the clocks that fit it, and a buffer. */
#ifndef RTI_CONTEXT_H
#define RTI_CONTEXT_H

#include "os/platform.h"
#include "os/procfs.h"

/* Shared by all collectors of one tracker. Owned by the tracker. */
struct rti_context {
	const struct rti_procfs *procfs;
	const struct rti_platform *platform;
	struct rti_buf *buf; /* scratch for one read; the next read overwrites it */
	uint32_t flags;      /* RT_OPT_ bits */
	uint64_t want;       /* RT_HAS_ bits; 0 means all */
	int32_t own_pid;     /* of the caller, in a call without a handle; else 0 */
};

/* Whether a procfs is of the pid namespace of the caller, as far as it shows. */
bool rti_context_is_own_proc(const struct rti_procfs *procfs, int32_t own_pid);

/* Whether it has the pids of the first pid namespace, by which drivers know processes. */
bool rti_context_is_initial_pid_namespace(const struct rti_procfs *procfs);

/* Fill in the clocks and constants that fit a procfs. CPU clocks are only available if it has the
 * pids of the caller's pid namespace. */
void rti_context_platform(const struct rti_procfs *procfs, struct rti_platform *platform);

/* Check that pids mean the same processes in procfs and to the caller. platform must come from
 * rti_context_platform().
 *
 * Returns 0, or -EXDEV if they differ: the caller is in a pid namespace that kept the /proc of an
 * outer namespace. Returns 0 for a root that the caller asked for, since pids then mean those
 * below that root. */
int rti_context_check_pids(const struct rti_procfs *procfs, const struct rti_platform *platform);

#endif
