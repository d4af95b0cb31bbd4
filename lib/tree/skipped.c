/* SPDX-License-Identifier: MIT */
/* The processes that scans found and could not add. */
#include "tree/skipped.h"

#include <stdlib.h>

#include "util/descendant_set.h"

void rti_skipped_note(struct rti_skipped *skipped, const struct rti_context *ctx, int32_t pid)
{
	struct rti_now now;

	if (!skipped->pids && pid) {
		skipped->pids = calloc(1, sizeof(*skipped->pids));
		ctx->platform->now(&now);
		skipped->first_boottime_ns = now.boottime_ns;
	}
	if (!skipped->pids || pid <= 0 || pid >= RTI_PIDS_MAX)
		skipped->has_unknown = true;
	else
		rti_descendant_set_add(skipped->pids, pid);
}

/* E.g.: pid 42 is skipped, exits, and is reused. Nothing is known of the first 42. */
void rti_skipped_take(struct rti_skipped *skipped, const struct rti_context *ctx,
                      const struct rti_pid_stat *stat)
{
	if (skipped->pids && stat->has_starttime &&
	    stat->starttime * ctx->platform->tick_ns <= skipped->first_boottime_ns)
		rti_descendant_set_exit(skipped->pids, stat->pid);
}

bool rti_skipped_is_missing_any(const struct rti_skipped *skipped)
{
	return skipped->has_unknown || (skipped->pids && skipped->pids->alive > 0);
}

void rti_skipped_free(struct rti_skipped *skipped)
{
	free(skipped->pids);
	*skipped = (struct rti_skipped){ 0 };
}
