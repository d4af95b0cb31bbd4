/* SPDX-License-Identifier: MIT */
/* Durations and counts as people write them, and amounts as people like to read them. */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)

/* "0.1", "100ms", "2s", "5m", "1h", "1d"; also "us" and "ns". 0, or -1 when it is no positive
 * duration. */
int parse_duration(const char *s, int64_t *ns);

/* A positive whole number up to limit. 0 or -1. */
int parse_count(const char *s, uint64_t limit, uint64_t *out);

double seconds(uint64_t ns);

/* An amount as text in a buffer of its own size: no call allocates, several fit into one
 * printf(). */
struct amount {
	char s[24];
	bool is_zero;
};

struct amount human_bytes(uint64_t bytes);
struct amount human_time(uint64_t ns);
struct amount human_count(uint64_t n);

#endif
