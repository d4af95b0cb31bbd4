/* SPDX-License-Identifier: MIT */
/* The rows of one list that a collector hands out. */
#include "collect/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

int rti_rows_reserve(struct rti_rows *rows, size_t count, size_t row_size)
{
	void *data = rti_array_grow(rows->data, &rows->room, count, row_size);

	if (!data && count > 0)
		return -ENOMEM;
	rows->data = data;
	return 0;
}

const void *rti_rows_get(const struct rti_rows *rows, size_t *count)
{
	*count = rows->count;
	return rows->count ? rows->data : NULL;
}

void rti_rows_free(struct rti_rows *rows)
{
	free(rows->data);
	*rows = (struct rti_rows){ 0 };
}
