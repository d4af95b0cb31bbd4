/* SPDX-License-Identifier: MIT */
/* The rungs of accounting: which can be had here, and what the others lack. */
#ifndef ACCOUNTING_METHODS_H
#define ACCOUNTING_METHODS_H

#include <rtrack/rtrack.h>

/* Try a rung on a program that does nothing. 0 and its outcome, or -errno. */
int accounting_method_try(uint32_t accounting, struct rt_outcome *outcome);

/* What is missing where a rung was refused with -EOPNOTSUPP. Never NULL. */
const char *accounting_method_missing(uint32_t accounting);

#endif
