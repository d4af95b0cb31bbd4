/* SPDX-License-Identifier: MIT */
/* How long rtrack waits for what a signal that ends does not end. The caller has the clock. */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* What is left after the warning. */
#define PATIENCE_LEFT_S 30

enum patience_step {
	PATIENCE_WAITS,
	PATIENCE_WARNS, /* once: say what does not end */
	PATIENCE_ENDS,
};

struct patience {
	int64_t since;  /* when the signal was sent; 0: it was not */
	int64_t warned; /* 0: not yet */
};

/* Begin, unless that was done before. */
void patience_begin(struct patience *p, int64_t now);

/* Returns what is to be done. has_signal: the user asks rtrack to end, after the signal above. */
enum patience_step patience_step(struct patience *p, int64_t now, bool has_signal);

#endif
