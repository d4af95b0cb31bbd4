/* SPDX-License-Identifier: MIT */
/* What a caller that is its own supervisor has reaped of a tree. */
#include "tree/pure/reaped.h"

#include <string.h>

#include "collect/collector.h"

void rti_reaped_keep(const struct rti_reaped *reaped, struct rti_figures *figures)
{
	const uint64_t io = RT_HAS_IO | RT_HAS_IO_CALLS;

	memcpy(figures->children, reaped->counters, RTI_VOLUNTARY * sizeof(reaped->counters[0]));
	figures->is_reaped_in_ticks = false;
	figures->is_reaped_in_us = true;
	for (unsigned i = RTI_READ_BYTES; i < RTI_COUNTERS; i++)
		figures->self[i] = reaped->counters[i];
	if (reaped->has_unread_io) {
		figures->partial |= figures->valid & io;
		figures->valid &= ~io;
	}
}
