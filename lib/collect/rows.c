/* SPDX-License-Identifier: MIT */
/* The rows of one list that a collector hands out. */
#include "collect/rows.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 16

int rti_rows_reserve(struct rti_rows *rows, size_t count, size_t row_size)
{
	size_t room = rows->room ? rows->room : FIRST_ROOM;
	void *data;

	if (count <= rows->room)
		return 0;
	while (room < count)
		room *= 2;
	data = realloc(rows->data, room * row_size);
	if (!data)
		return -ENOMEM;
	rows->data = data;
	rows->room = room;
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
