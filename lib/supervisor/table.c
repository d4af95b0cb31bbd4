/* SPDX-License-Identifier: MIT */
/* Tables that are indexed by pid: large, but few of their pages are used. */
#include "supervisor/table.h"

#include <sys/mman.h>

void *rts_table_new(size_t bytes)
{
	void *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return table == MAP_FAILED ? NULL : table;
}

void rts_table_free(void *table, size_t bytes)
{
	if (table)
		munmap(table, bytes);
}
