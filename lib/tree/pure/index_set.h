/* SPDX-License-Identifier: MIT */
/* A set of indexes into an array, a bit for each. */
#ifndef RTI_INDEX_SET_H
#define RTI_INDEX_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All 0 is an empty set. Written by index_set.c only. */
struct rti_index_set {
	uint64_t *words;
	size_t word_count;
	size_t count; /* of indexes in the set */
};

/* Make room for indexes below `size`. Returns 0 or -ENOMEM. */
int rti_index_set_reserve(struct rti_index_set *set, size_t size);
void rti_index_set_free(struct rti_index_set *set);
void rti_index_set_clear(struct rti_index_set *set);

/* There must be room for the index. */
void rti_index_set_add(struct rti_index_set *set, size_t index);
void rti_index_set_remove(struct rti_index_set *set, size_t index);

bool rti_index_set_has(const struct rti_index_set *set, size_t index);

/* The lowest index from `from` on, or the highest below `below`. SIZE_MAX: there is none. */
size_t rti_index_set_next(const struct rti_index_set *set, size_t from);
size_t rti_index_set_previous(const struct rti_index_set *set, size_t below);

#endif
