/* SPDX-License-Identifier: MIT */
/* Tables that are indexed by pid: large, but of which few pages are used. */
#ifndef RTS_TABLE_H
#define RTS_TABLE_H

#include <stddef.h>

/* Memory that is 0, of which only the pages that are written to exist. Returns NULL if there is
 * none. */
void *rts_table_new(size_t bytes);
void rts_table_free(void *table, size_t bytes);

#endif
