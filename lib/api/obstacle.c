/* SPDX-License-Identifier: MIT */
/* Why a domain of the last sample is not complete: rt_tracker_status(). */
#include <errno.h>

#include "api/kind.h"
#include "api/tracker.h"

static void explain(const struct rt_tracker *t, uint64_t has, struct rti_explanation *out)
{
	if (t->kind == RT_KIND_PID)
		rti_tree_explain(t->tree, &t->last, has, out);
	else
		rti_system_explain(&t->system, &t->last, has, out);
}

/* Returns 0 if there is a sample to explain. */
static int try_explain(const struct rt_tracker *t, uint64_t has, struct rti_explanation *out)
{
	int err = -ENODATA;

	if (!(has & rti_known_domains()) || has & (has - 1))
		return -EINVAL;
	if (!(t->want & has))
		return -EOPNOTSUPP;
	rti_lock_take(t->lock);
	if (t->samples > 0) {
		explain(t, has, out);
		err = 0;
	}
	rti_lock_release(t->lock);
	return err;
}

int rt_tracker_status(const struct rt_tracker *t, uint64_t has)
{
	struct rti_explanation explanation;
	int err;

	if (!t)
		return -EFAULT;
	err = try_explain(t, has, &explanation);
	return err < 0 ? err : explanation.error;
}
