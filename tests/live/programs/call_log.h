/* SPDX-License-Identifier: MIT */
/* What a program that makes traced calls writes down about them, in memory that it shares with the
 * test. It is laid out alike for 64-bit and 32-bit programs. */
#ifndef CALL_LOG_H
#define CALL_LOG_H

#include <stdint.h>

#define USAGE_WORDS 18 /* of the kernel's struct rusage: longs of the program */

struct call_row {
	uint64_t address; /* of the struct */
	uint64_t hash;    /* of the figures that the program got; 0: none */
	int64_t result;   /* as the kernel returned it */
	int32_t who;
	uint32_t call; /* RT_TRACE_CALL_ bit */
};

/* One thread. */
struct call_log {
	int32_t pid, tid;
	_Alignas(8) uint64_t rows;    /* written so far */
	_Alignas(8) uint64_t may_end; /* of the first log: the test sets it once it traces */
	struct call_row row[];
};

static inline uint64_t hash_words(const int64_t *words)
{
	uint64_t hash = 14695981039346656037u;

	for (int i = 0; i < USAGE_WORDS; i++)
		hash = (hash ^ (uint64_t)words[i]) * 1099511628211u;
	return hash;
}

/* Bytes of the log of one thread. */
static inline uint64_t call_log_bytes(uint64_t rows)
{
	return sizeof(struct call_log) + rows * sizeof(struct call_row);
}

#endif
