/* SPDX-License-Identifier: MIT */
/* Memory that a workload holds, and what it knows of it. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* What a process may still add to its memory after it has measured it: stack, copied pages. */
#define PROCESS_SLACK_BYTES ((uint64_t)64 * 1024)

/* Map private memory, and touch all of it. */
char *fill_memory(uint64_t bytes);

/* The same in huge pages, as far as the kernel has them. */
char *fill_huge_memory(uint64_t bytes);

/* Resident memory of this process now, from its page tables. */
uint64_t read_resident_bytes(void);

/* Resident memory that no other process maps. */
uint64_t read_private_bytes(void);

/* The time of CLOCK_MONOTONIC. */
uint64_t now_ns(void);

/* Report that from a time until now the memory of the tree was from low to high. */
void report_phase(uint64_t begin_ns, uint64_t low, uint64_t high);

/* Report the peak of this process: it holds that much more than its base, and has just measured
 * all that is resident. */
void report_own_peak(uint64_t held, uint64_t resident);

#endif
