/* SPDX-License-Identifier: MIT */
/* A tracker with the samples that belong together: the base line, the one before, and the last. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "format.h"
#include "history.h"
#include "options.h"

struct follow {
	struct rt_tracker *tracker;
	int32_t pid;         /* the caller's to set, as is_alone; 0 for the machine */
	bool is_alone;       /* descendants are not followed */
	int64_t interval_ns; /* that samples are meant to have */
	struct rt_metrics base, before, now;
	struct rt_delta delta; /* from before to now */
	uint64_t samples;
	uint64_t members_skipped; /* in the worst sample */
	bool has_ended;           /* all that was followed has */
	bool has_failed;          /* a sample could not be taken, and that has been told */
	struct history cores, memory;
};

/* RT_OPT_ bits of a tracker of processes. Events are heard where they can be. */
uint32_t follow_flags(const struct options *options);

/* Begin with a first sample, which is the base line. 0 or -errno. */
int follow_start(struct follow *f, struct rt_tracker *tracker, int64_t interval_ns);

/* Begin with a command that has just been started, at this CLOCK_MONOTONIC time: all its
 * counters were 0 then, so the first sample already is a difference. */
void follow_start_from_zero(struct follow *f, struct rt_tracker *tracker, int64_t interval_ns,
                            int64_t start_ns);

/* Take the next sample. 0, also when all has ended and the sample holds the last totals; or
 * -errno, and nothing has changed: the next sample makes up for it. The first failure is told. */
int follow_sample(struct follow *f);

/* The last sample as a row. */
struct row follow_row(const struct follow *f, const struct follow *system);

/* The memory to show: PSS where it can be read, else RSS; of the machine, what is in use.
 * Whether there is any. */
bool follow_memory(const struct follow *f, uint64_t *bytes);

#endif
