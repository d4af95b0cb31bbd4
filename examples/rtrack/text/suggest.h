/* SPDX-License-Identifier: MIT */
/* What the user may have meant by an unknown word. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the words differ by one typing error: a character too many, a missing or wrong
 * one, or two that are swapped. E.g.: "runn", "atach", "sytsem". */
bool is_near(const char *word, const char *other);

/* The name of a figure that may be meant; an empty one at first. */
struct suggestion {
	size_t distance;
	char name[64];
};

/* Take this name if it is closer to the word than the one before. A name is close if it is near, or
 * if the word is a part of it. E.g.: "pss" and "pss_mb" are parts of "pss_bytes". */
void suggest_closer(struct suggestion *best, const char *word, const char *name);

#endif
