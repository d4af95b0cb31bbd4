/* SPDX-License-Identifier: MIT */
/* Parses durations, sizes and counts, and formats amounts for people to read. */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)

/* Parse a positive duration. E.g.: "0.1", "100us", "100ms", "2s", "5m", "1h", "1d"; also "ns".
 * Returns 0 or -EINVAL. */
int parse_duration(const char *s, int64_t *ns);

/* Parse a positive number of bytes. E.g.: "4096", "512M", "1.5G", "1GB", "2GiB". As in GNU
 * programs, K, M, G, T and P are powers of 1024, likewise with iB, and powers of 1000 with B. Upper
 * and lower case mean the same. Returns 0 or -EINVAL. */
int parse_size(const char *s, uint64_t *bytes);

/* Parse a positive whole number up to limit. Returns 0 or -EINVAL. */
int parse_count(const char *s, uint64_t limit, uint64_t *out);

double seconds(uint64_t ns);

/* An amount as text. It is returned by value, so no call allocates memory, and one printf() can use
 * several. */
struct amount {
	char s[24];
	bool is_zero;
};

struct amount human_bytes(uint64_t bytes);
struct amount human_time(uint64_t ns);
struct amount human_count(uint64_t n);

#endif
