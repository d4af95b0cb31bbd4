/* SPDX-License-Identifier: MIT */
/* Templates of a summary: '{wall_seconds} {peak_tree_bytes}', or '%e %M' as GNU time has it. */
#ifndef TEMPLATE_H
#define TEMPLATE_H

#include <stddef.h>

#include "text/text.h"
#include "usage.h"

enum { TEMPLATE_PROBLEM_BYTES = 200 };

/* Returns true if a template has only names and letters that exist for these USAGE_ kinds.
 * Otherwise returns false and says in words what is wrong. */
bool template_check(const char *pattern, unsigned kinds, char problem[TEMPLATE_PROBLEM_BYTES]);

/* How texts of other origin are written. E.g.: a command line, a label. */
enum template_texts {
	TEMPLATE_PRINTABLE, /* as in the summary in words: a control character cannot be one */
	TEMPLATE_ASCII,     /* likewise, and without what is not ASCII */
	TEMPLATE_RAW        /* byte by byte */
};

/* Add a checked template with the values of a usage, and a line feed. */
void template_fill(struct text *out, const char *pattern, const struct usage *u,
                   enum template_texts texts);

/* Add the names that a template of these kinds may have, one a line, with their units. */
void template_list_names(struct text *out, unsigned kinds);

#endif
