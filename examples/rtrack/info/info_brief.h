/* SPDX-License-Identifier: MIT */
/* The first lines of rtrack info: what is missing here, and what that costs. */
#ifndef INFO_BRIEF_H
#define INFO_BRIEF_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "text/text.h"

struct brief {
	/* RT_ACCOUNTING_ value that a command has by default; AUTO: none works */
	uint32_t accounting;
	bool has_events, has_bpf, can_trace_by_bpf, can_trace_by_ptrace;
	bool has_silent_gpu; /* there is one, and no interface shows it */
	/* The names of figures that are missing, separated by commas. */
	struct text of_trees, of_commands, of_system;
};

void brief_free(struct brief *brief);

/* Add at most five lines of 80 columns. is_all: all that is missing, and the rest follows. */
void brief_add(struct text *out, const struct brief *brief, bool is_all);

#endif
