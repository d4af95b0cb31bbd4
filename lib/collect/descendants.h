/* SPDX-License-Identifier: MIT */
/* The descendants of a process, listed once. A tree that is followed finds them with
 * tree/scan/discovery.c, which remembers what it has read. */
#ifndef RTI_DESCENDANTS_H
#define RTI_DESCENDANTS_H

#include "os/context.h"

/* How many a list has at most. A tree that forks faster than it can be read ends there. */
#define RTI_DESCENDANTS_MAX 65536

struct rti_descendants {
	int32_t *pids; /* parents before their children; the root is not among them */
	size_t count;
};

/* List the descendants of a process. Returns 0, and the caller frees pids; -ESRCH if there is no
 * such process; -EACCES if it is hidden; -E2BIG beyond RTI_DESCENDANTS_MAX; or another -errno. */
int rti_descendants_list(const struct rti_context *ctx, int32_t pid, struct rti_descendants *out);

#endif
