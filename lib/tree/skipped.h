/* SPDX-License-Identifier: MIT */
/* The processes that scans found and could not add: until all of them are members, something may be
 * missing. */
#ifndef RTI_SKIPPED_H
#define RTI_SKIPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "os/context.h"
#include "parse/parse.h"

struct rti_descendant_set;

/* Written by skipped.c only. Zeroed memory: nothing was skipped. */
struct rti_skipped {
	struct rti_descendant_set *pids; /* alive: skipped, and no member yet; NULL: none */
	uint64_t first_boottime_ns;      /* when the first of them was skipped */
	bool has_unknown;                /* it is not known which processes were skipped, too */
};

/* A process was skipped. pid 0: it is not known which one, or how many. */
void rti_skipped_note(struct rti_skipped *skipped, const struct rti_context *ctx, int32_t pid);

/* A process became a member. If it started after others were skipped, it is not known whether it
 * was one of these: another process may have had its pid. */
void rti_skipped_take(struct rti_skipped *skipped, const struct rti_context *ctx,
                      const struct rti_pid_stat *stat);

/* Whether some process that was skipped is no member yet, or has exited before it was one. */
bool rti_skipped_is_missing_any(const struct rti_skipped *skipped);

/* Forget what was skipped. */
void rti_skipped_free(struct rti_skipped *skipped);

#endif
