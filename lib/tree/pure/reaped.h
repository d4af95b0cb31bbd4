/* SPDX-License-Identifier: MIT */
/* What a caller that is its own supervisor has reaped of a tree. */
#ifndef RTI_REAPED_H
#define RTI_REAPED_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/counters.h"

struct rti_reaped {
	uint64_t counters[RTI_COUNTERS]; /* without context switches */
	bool has_unread_io;              /* of some it could not be read */
};

struct rti_figures;

/* Reduce the figures of the caller to what it has reaped. It knows that exactly, while /proc adds
 * its own I/O, and that of other children. */
void rti_reaped_keep(const struct rti_reaped *reaped, struct rti_figures *figures);

#endif
