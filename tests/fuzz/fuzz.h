/* SPDX-License-Identifier: MIT */
/* What every fuzz target needs: the entry point, and checks that abort the process if they do not
 * hold. */
#ifndef FUZZ_H
#define FUZZ_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_STOP 77 /* a callback returns this to end a parser early */

/* The entry point for libFuzzer. replay.c calls it too. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define require(holds) require_at((holds), __FILE__, __LINE__)

static inline void require_at(bool holds, const char *file, int line)
{
	if (holds)
		return;
	fprintf(stderr, "# %s:%d does not hold\n", file, line);
	abort();
}

static inline void require_parser_result(int result)
{
	require(result == 0 || result == -EBADMSG);
}

static inline void require_string(const char *text, size_t size)
{
	require(memchr(text, '\0', size) != NULL);
}

/* Counts records. fuzz_count() returns FUZZ_STOP for the record with the number stop_at. 0: for
 * none. */
struct fuzz_count {
	size_t records, stop_at;
};

static inline int fuzz_count(struct fuzz_count *count)
{
	return ++count->records == count->stop_at ? FUZZ_STOP : 0;
}

/* Requires that a parser that had to stop at its last record did so, and there. */
static inline void require_stop(int result, const struct fuzz_count *count)
{
	require(count->stop_at == 0 || (result == FUZZ_STOP && count->records == count->stop_at));
}

#endif
