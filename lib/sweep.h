/* SPDX-License-Identifier: MIT */
/* All members read at once at the start of a sample, by the batch reader where that can be had and pays.
 *
 * Owner: the proctree. A row belongs to the sweep and lasts until the next. */
#ifndef RTI_SWEEP_H
#define RTI_SWEEP_H

#include "batch.h"

struct rti_member;

struct rti_sweep {
	struct rti_batch *batch; /* NULL while there is none */
	int is_refused;          /* it cannot be had */
	uint64_t text_readings;  /* of members, so far */
	int32_t *pids;
	struct rti_batch_row *rows;
	size_t cap;
};

void rti_sweep_free(struct rti_sweep *sweep);

/* Give every member its row, or NULL where the files have to be read. Ancestors come last, as in any sample. */
void rti_sweep(struct rti_sweep *sweep, struct rti_member *members, size_t count);

#endif
