/* SPDX-License-Identifier: MIT */
/* The limits of a command: finds out which one is passed first, and by what. */
#ifndef RUN_LIMITS_H
#define RUN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "options/options.h"
#include "summary/usage.h"

enum limit { LIMIT_NONE, LIMIT_TIMEOUT, LIMIT_MEMORY, LIMIT_CPU_TIME, LIMIT_PROCESSES };

struct limits {
	const struct options *options;
	struct rt_tracker *tracker;
	struct rt_tracker *account; /* of the memory of its cgroup; NULL: there is none */
	int64_t next_account_ns;    /* when a look at that is due, or NEVER */
	int64_t start_ns;           /* when the command was started */
	int64_t timeout_at;         /* or NEVER */
	int64_t next_look_ns;       /* when the next look at the figures is due, or NEVER */
	int64_t pause_ns;           /* between two looks: many times what one costs */
	uint64_t processes;         /* of the last look */
	int64_t read_at_ns;         /* when the memory of all processes was read last */
	int64_t read_cost_ns;       /* CPU time of that */
	bool was_memory_freed;      /* that has shown less than the figures before it */
	unsigned warned_of;         /* bits by enum limit: its figure is not known */
	enum limit passed;          /* the first one that is passed */
	enum limit late;            /* the one that was passed unseen, by the final figures */
	uint64_t value;             /* that passed it: ns, bytes, or a number of processes */
	char reason[200];           /* the same in words */
	bool is_far_above;          /* it goes on: twice as much memory, or as many processes */
};

/* Begin with a command that was started at this time. Times are those of clock_now(). */
void limits_init(struct limits *l, const struct options *options, struct rt_command *command,
                 int64_t start_ns);
void limits_free(struct limits *l);

/* Returns when limits_look() is due, or NEVER. */
int64_t limits_due(const struct limits *l);

/* Check the figures of a sample, and so put off the next look. */
void limits_check(struct limits *l, const struct rt_metrics *now);

/* Look at what is due. Once a limit is passed, find out whether the command goes far above it. */
void limits_look(struct limits *l);

/* The command has ended: find out whether the kernel has killed a process for its memory. */
void limits_note_end(struct limits *l);

/* Fill in the limits, and which one was passed; if none was, which one was passed unseen. */
void limits_set_usage(struct limits *l, struct usage *usage);

#endif
