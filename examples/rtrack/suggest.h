/* SPDX-License-Identifier: MIT */
/* What the user may have meant by an unknown word. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stdbool.h>

/* Returns true if the words differ by one typing error: a character too many, a missing or wrong
 * one, or two that are swapped. E.g.: "runn", "atach", "sytsem". */
bool is_near(const char *word, const char *other);

#endif
