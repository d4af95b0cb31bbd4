/* SPDX-License-Identifier: MIT */
/* Names of the library's bits and constants: domains, reasons, accounting methods, sources. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "text/text.h"

/* How sure the figures of a struct are: RT_HAS_ bits of those that are complete, of lower bounds,
 * and of estimates. */
struct marks {
	uint64_t valid, partial, estimated;
};
struct marks metrics_marks(const struct rt_metrics *m);
struct marks delta_marks(const struct rt_delta *d);

/* Returns the marks of one, with those of other for these bits. */
struct marks marks_replaced(struct marks marks, struct marks other, uint64_t bits);

/* Returns true if all these domains have a value. A lower bound and an estimate are values. */
bool is_known(struct marks marks, uint64_t bits);

/* Returns true if a table should show this figure. A lower bound of 0 is not shown: it carries no
 * information, and looks like a measured 0. */
bool is_informative(struct marks marks, uint64_t bits, uint64_t figure);

/* A bit of the library, as rt_constant_get() has it. E.g.: RT_HAS_CPU is "cpu", CPU time. */
struct named_bit {
	uint64_t bit;
	char name[48];
	char about[144];
};

/* Get the next bit of a group (RT_CONSTANTS_HAS, RT_CONSTANTS_REASON) from *index on, which begins
 * with 0. Returns false past the last. */
bool next_bit(uint32_t group, uint32_t *index, struct named_bit *bit);

/* Returns the name that the option --accounting has for an RT_ACCOUNTING_ value, or NULL if the
 * value is unknown. */
const char *accounting_name(uint32_t accounting);

/* Return the name of an RT_PSS_ or RT_SOURCE_ value, or NULL if it is 0 or unknown. */
const char *pss_source_name(uint32_t pss_source);
const char *source_name(uint32_t source);

/* Write the names of all bits of a group that are set, with gap between them. */
void text_bits(struct text *t, uint32_t group, uint64_t bits, const char *gap);

/* Write a JSON array of them. */
void json_bits(struct text *t, uint32_t group, const char *key, uint64_t bits);

#endif
