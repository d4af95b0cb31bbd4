/* SPDX-License-Identifier: MIT */
/* All members read at once at the start of a sample, by the batch reader where that can be had
 * and pays.
 *
 * Owner: the proctree. A row belongs to the sweep and lasts until the next. */
#ifndef RTI_BATCH_READ_H
#define RTI_BATCH_READ_H

#include <stdbool.h>

#include "bpf/loader.h"

struct rti_member;

/* What is to be asked of a member, as those who want figures know. */
struct rti_batch_plan {
	void (*send_request)(const void *arg, const struct rti_member *m,
	                     struct rti_batch_request *out);
	const void *arg;
};

struct rti_batch_reader {
	struct rti_batch_plan plan;             /* of the next sweep */
	struct rti_batch *batch;                /* NULL while there is none */
	bool is_refused;                        /* it cannot be had */
	uint64_t text_readings, clock_readings; /* of members, so far */
	struct rti_batch_request *requests;
	struct rti_batch_row *rows;
	size_t request_cap, row_cap;
};

void rti_batch_reader_free(struct rti_batch_reader *batch_reader);

/* Give every member its row, which has all that was asked for or says that it is idle; or NULL
 * where the files have to be read. Ancestors come last, as in any sample. */
void rti_batch_reader_read(struct rti_batch_reader *batch_reader, struct rti_member *members,
                           size_t count);

#endif
