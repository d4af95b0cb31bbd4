/* SPDX-License-Identifier: MIT */
/* The number of processes, from the numeric names in /proc. */
#include <errno.h>
#include <stdbool.h>

#include "collect/collector.h"
#include "os/procfs_path.h"
#include "util/visit.h"

struct state {
	uint64_t count;
	bool has_init;
};

static int count_name(void *arg, const char *name)
{
	struct state *st = arg;
	int32_t pid = rti_path_number(name);

	st->count += pid > 0;
	st->has_init |= pid == 1;
	return RTI_CONTINUE;
}

/* Process 1 always exists. If it is not listed, hidepid= also hides others: the count is then a
 * lower bound. */
static int procs_collect(void *state, const struct rti_context *ctx, struct rt_metrics *out)
{
	struct state *st = state;
	int err;

	*st = (struct state){ 0 };
	err = rti_procfs_list(ctx->procfs, RTI_PROC, ".", count_name, st);
	if (err < 0)
		return err;
	out->processes = st->count;
	if (!st->has_init) {
		out->partial |= RT_HAS_PROCESSES;
		return -EACCES;
	}
	out->valid |= RT_HAS_PROCESSES;
	return 0;
}

const struct rti_sys_collector rti_sys_procs = {
	.provides = RT_HAS_PROCESSES,
	.files = { "" },
	.state_size = sizeof(struct state),
	.collect = procs_collect,
};
