/* SPDX-License-Identifier: MIT */
/* Finds out which accounting methods work here, and what the others lack. */
#ifndef ACCOUNTING_METHODS_H
#define ACCOUNTING_METHODS_H

#include <rtrack/rtrack.h>

/* Run a program that does nothing with this accounting method. Returns 0 and the outcome of the
 * program, or a negative errno value. */
int accounting_method_try(uint32_t accounting, struct rt_outcome *outcome);

/* Returns what is missing for a method that failed with -EOPNOTSUPP. Never NULL. */
const char *accounting_method_missing(uint32_t accounting);

#endif
