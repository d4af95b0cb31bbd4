/* SPDX-License-Identifier: MIT */
/* A set of indexes into an array. */
#include "tree/pure/index_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64u

static uint64_t bit_of(size_t index)
{
	return UINT64_C(1) << (index % WORD_BITS);
}

int rti_index_set_reserve(struct rti_index_set *set, size_t size)
{
	size_t word_count = (size + WORD_BITS - 1) / WORD_BITS;
	uint64_t *words;

	if (word_count <= set->word_count)
		return 0;
	words = realloc(set->words, word_count * sizeof(*words));
	if (!words)
		return -ENOMEM;
	memset(words + set->word_count, 0, (word_count - set->word_count) * sizeof(*words));
	set->words = words;
	set->word_count = word_count;
	return 0;
}

void rti_index_set_free(struct rti_index_set *set)
{
	free(set->words);
	*set = (struct rti_index_set){ 0 };
}

void rti_index_set_clear(struct rti_index_set *set)
{
	if (set->count)
		memset(set->words, 0, set->word_count * sizeof(*set->words));
	set->count = 0;
}

void rti_index_set_add(struct rti_index_set *set, size_t index)
{
	uint64_t *word = &set->words[index / WORD_BITS];

	set->count += !(*word & bit_of(index));
	*word |= bit_of(index);
}

void rti_index_set_remove(struct rti_index_set *set, size_t index)
{
	if (!rti_index_set_has(set, index))
		return;
	set->words[index / WORD_BITS] &= ~bit_of(index);
	set->count--;
}

bool rti_index_set_has(const struct rti_index_set *set, size_t index)
{
	return index / WORD_BITS < set->word_count && set->words[index / WORD_BITS] & bit_of(index);
}

size_t rti_index_set_next(const struct rti_index_set *set, size_t from)
{
	size_t word = from / WORD_BITS;
	uint64_t bits;

	if (word >= set->word_count || set->count == 0)
		return SIZE_MAX;
	bits = set->words[word] & ~(bit_of(from) - 1);
	while (!bits) {
		if (++word == set->word_count)
			return SIZE_MAX;
		bits = set->words[word];
	}
	return word * WORD_BITS + (size_t)__builtin_ctzll(bits);
}

size_t rti_index_set_previous(const struct rti_index_set *set, size_t below)
{
	size_t word = below / WORD_BITS;
	uint64_t bits = 0;

	if (set->count == 0)
		return SIZE_MAX;
	if (word < set->word_count)
		bits = set->words[word] & (bit_of(below) - 1);
	else
		word = set->word_count;
	while (!bits) {
		if (word-- == 0)
			return SIZE_MAX;
		bits = set->words[word];
	}
	return word * WORD_BITS + WORD_BITS - 1 - (size_t)__builtin_clzll(bits);
}
