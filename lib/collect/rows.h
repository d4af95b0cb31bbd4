/* SPDX-License-Identifier: MIT */
/* The rows of one list that a collector hands out. */
#ifndef RTI_ROWS_H
#define RTI_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* Rows of one public struct, reused by each sample. Owned by the state of one collector. Zeroed
 * memory is a valid start. */
struct rti_rows {
	void *data;
	size_t count, room;
	/* The last sample has rows, which are filled when they are first asked for: few callers
	 * ask, and to write them costs up to a tenth of a sample. */
	bool is_due;
};

/* Make room for count rows of row_size bytes. Existing rows stay. Returns 0 or -ENOMEM. */
int rti_rows_reserve(struct rti_rows *rows, size_t count, size_t row_size);

/* Returns the rows and sets their count, as rti_sys_collector.rows() does. Returns NULL if there
 * are none. */
const void *rti_rows_get(const struct rti_rows *rows, size_t *count);

void rti_rows_free(struct rti_rows *rows);

#endif
