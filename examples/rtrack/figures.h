/* SPDX-License-Identifier: MIT */
/* Names of the library's bits and constants: domains, reasons, accounting methods, sources. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "text.h"

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

struct domain {
	uint64_t bit;
	const char *name;
	const char *about;
	/* Which kinds of tracker have it. If both are false, the outcome of a command
	 * or a cgroup does. */
	bool of_tree, of_system;
};

/* Returns the domain with this index, or NULL past the last. */
const struct domain *domain_at(size_t index);

struct reason {
	uint32_t bit;
	const char *name;
	const char *words;
};

/* Returns the reason with this index, or NULL past the last. */
const struct reason *reason_at(size_t index);

/* Returns the name that the option --accounting has for an RT_ACCOUNTING_ value, or NULL if the
 * value is unknown. */
const char *accounting_name(uint32_t accounting);

/* Return the name of an RT_PSS_ or RT_SOURCE_ value, or NULL if it is 0 or unknown. */
const char *pss_source_name(uint32_t pss_source);
const char *source_name(uint32_t source);

/* Write the names of all bits that are set, with gap between them. */
void text_domains(struct text *t, uint64_t bits, const char *gap);
void text_reasons(struct text *t, uint32_t bits, const char *gap);

/* Write a JSON array with the names of all bits that are set. */
void json_domains(struct text *t, const char *key, uint64_t bits);
void json_reasons(struct text *t, const char *key, uint32_t bits);

#endif
