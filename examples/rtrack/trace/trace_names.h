/* SPDX-License-Identifier: MIT */
/* Names of calls, of their arguments and of their errors. */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include <stdint.h>

#include "text/text.h"

/* Returns the name of an RT_TRACE_CALL_ bit. E.g.: "getrusage". */
const char *trace_call_name(uint32_t call);

/* Returns the bit for a name, or 0. */
uint32_t trace_call_by_name(const char *name, size_t len);

/* Add the argument of getrusage(2). E.g.: RUSAGE_SELF, or 7 if it has no name. */
void trace_add_scope(struct text *out, int32_t scope);

/* Add the first argument of waitid(2). E.g.: P_PID. */
void trace_add_idtype(struct text *out, int32_t idtype);

/* Add the options of wait4(2) or waitid(2). E.g.: WNOHANG|WEXITED, or 0. */
void trace_add_wait_options(struct text *out, uint32_t call, uint32_t options);

/* Add a positive error number. E.g.: EINVAL (Invalid argument). */
void trace_add_error(struct text *out, int64_t error);

#endif
