/* SPDX-License-Identifier: MIT */
/* What a traced program has done, as it logs it itself in shared memory. A test compares the events
 * of a trace with it.
 *
 * The layout is the same for programs of 32 bits. */
#ifndef TRACED_LOG_H
#define TRACED_LOG_H

#include <stdint.h>

#define TRACED_CALLS_MAX 200000

struct traced_call {
	uint32_t tid;
	int32_t subject;      /* the first argument */
	int32_t result;       /* or a negative errno */
	uint32_t usage_bytes; /* of usage; 0: the call has returned none */
	uint8_t usage[144];
};

struct traced_log {
	uint32_t count;
	int32_t may_end; /* written by the test: "forever" ends now */
	/* Written by "signals" and the like: what the test is to see. */
	int32_t values[14];
	struct traced_call calls[TRACED_CALLS_MAX];
};

#define TRACED_LOG_FD 9
#define TRACED_LOG_FD_TEXT "9"

#endif
