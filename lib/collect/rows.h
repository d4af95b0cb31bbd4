/* SPDX-License-Identifier: MIT */
/* The rows of one list that a collector hands out.
 *
 * Owner: the state of one collector. Zeroed memory is a valid start. */
#ifndef RTI_ROWS_H
#define RTI_ROWS_H

#include <stddef.h>

/* Rows of one public struct, used again by each sample. */
struct rti_rows {
	void *data;
	size_t count, room;
};

/* Room for count rows; those there are stay. 0 or -ENOMEM. */
int rti_rows_reserve(struct rti_rows *rows, size_t count, size_t row_size);

/* What rti_sys_collector.rows() returns. */
const void *rti_rows_get(const struct rti_rows *rows, size_t *count);

void rti_rows_free(struct rti_rows *rows);

#endif
