/* SPDX-License-Identifier: MIT */
/* Grows arrays. */
#ifndef RTI_ARRAY_H
#define RTI_ARRAY_H

#include <stddef.h>

/* Make room for count elements of element_size bytes each. The capacity doubles, so that adding
 * elements one by one takes few reallocations.
 *
 * Returns the array, which may have moved, and updates *capacity. Returns NULL if memory is short;
 * the array and *capacity are then unchanged. The caller frees the array.
 *
 * E.g.: int *grown = rti_array_grow(ids, &capacity, count + 1, sizeof(*ids)); */
void *rti_array_grow(void *array, size_t *capacity, size_t count, size_t element_size);

#endif
