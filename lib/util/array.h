/* SPDX-License-Identifier: MIT */
/* Arrays that grow. */
#ifndef RTI_ARRAY_H
#define RTI_ARRAY_H

#include <stddef.h>

/* Make room for count elements of element_size bytes each. The room doubles, so that adding
 * elements one by one costs few calls.
 *
 * Returns the array, which may have moved, and updates *capacity. Returns NULL if memory is
 * short: the array and *capacity are then as they were.
 *
 * E.g.: int *grown = rti_array_grow(ids, &capacity, count + 1, sizeof(*ids)); */
void *rti_array_grow(void *array, size_t *capacity, size_t count, size_t element_size);

#endif
