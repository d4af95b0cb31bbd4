/* SPDX-License-Identifier: MIT */
/* Grows arrays. */
#include "util/array.h"

#include <stdint.h>
#include <stdlib.h>

#define FIRST_CAPACITY 16

void *rti_array_grow(void *array, size_t *capacity, size_t count, size_t element_size)
{
	size_t larger = *capacity ? *capacity : FIRST_CAPACITY;
	void *grown;

	if (count <= *capacity)
		return array;
	if (count > SIZE_MAX / 2 / element_size)
		return NULL;
	while (larger < count)
		larger *= 2;
	grown = realloc(array, larger * element_size);
	if (grown)
		*capacity = larger;
	return grown;
}
