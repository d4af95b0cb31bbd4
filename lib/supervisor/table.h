/* SPDX-License-Identifier: MIT */
/* Tables that are indexed by pid: large, but few of their pages are used. */
#ifndef RTS_TABLE_H
#define RTS_TABLE_H

#include <stddef.h>

/* Returns zeroed memory, or NULL if memory is short. Only the pages that are written to exist. */
void *rts_table_new(size_t bytes);
void rts_table_free(void *table, size_t bytes);

#endif
