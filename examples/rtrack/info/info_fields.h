/* SPDX-License-Identifier: MIT */
/* rtrack info --fields: the fields that a series can have. */
#ifndef INFO_FIELDS_H
#define INFO_FIELDS_H

#include <stdbool.h>

/* Print them as text, or as one JSON array. Returns the exit code. */
int show_fields(bool as_json);

#endif
