/* SPDX-License-Identifier: MIT */
/* Names for the bits that come with figures: domains, reasons, rungs of accounting. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/* Whether there is a figure at all. A lower bound is one. */
bool is_known(uint64_t valid, uint64_t partial, uint64_t bits);

/* Whether a table should have this figure: a lower bound of 0 says nothing, and looks like a
 * figure. */
bool is_informative(uint64_t valid, uint64_t partial, uint64_t bits, uint64_t figure);

struct domain {
	uint64_t bit;
	const char *name;
	const char *about;
	/* which kinds of tracker have it; neither, and only the outcome of a command has */
	bool of_tree, of_system;
};

/* Whether a tracker of this RT_KIND_ can have all these bits. Bits that are not known here may
 * be anybody's. */
bool domains_apply_to(uint64_t bits, uint32_t kind);

/* The domain with this index, or NULL past the last. */
const struct domain *domain_at(size_t index);

struct reason {
	uint32_t bit;
	const char *name;
	const char *words;
};

/* The reason with this index, or NULL past the last. */
const struct reason *reason_at(size_t index);

/* RT_ACCOUNTING_ value as the option --accounting has it. NULL for an unknown one. */
const char *accounting_name(uint32_t accounting);

/* RT_PSS_ and RT_SOURCE_ values in a word. NULL for none or an unknown one. */
const char *pss_source_name(uint32_t pss_source);
const char *source_name(uint32_t source);

/* JSON arrays of the names of all bits that are set. */
void json_domains(struct text *t, const char *key, uint64_t bits);
void json_reasons(struct text *t, const char *key, uint32_t bits);

#endif
