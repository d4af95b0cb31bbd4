/* SPDX-License-Identifier: MIT */
/* Marks of a tracker: peaks since a moment. */
#include <errno.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"
#include "api/tracker.h"

/* Returns 0 with the lock held and the cost clock started. */
static int begin(struct rt_tracker *t, uint64_t *started_ns)
{
	int err;

	if (t->kind != RT_KIND_PID || !(t->want & RT_HAS_RSS))
		return -EOPNOTSUPP;
	err = rti_tracker_take(t);
	if (err == 0)
		*started_ns = rti_tracker_cost_clock_ns(t);
	return err;
}

static void end(struct rt_tracker *t, uint64_t started_ns)
{
	rti_tracker_charge_since(t, started_ns);
	rti_lock_release(t->lock);
}

int rt_tracker_mark(struct rt_tracker *t, const char *label, uint64_t *id)
{
	struct rt_metrics first;
	uint64_t started_ns;
	int err;

	if (!t || !id)
		return -EFAULT;
	err = begin(t, &started_ns);
	if (err < 0)
		return err;
	if (!t->samples) {
		rti_tracker_sample(t, &first, sizeof(first));
		started_ns = rti_tracker_cost_clock_ns(t);
	}
	err = rti_tree_mark(t->tree, label, id);
	end(t, started_ns);
	return err;
}

int rt_tracker_since(struct rt_tracker *t, uint64_t id, struct rt_peaks *out, size_t out_size)
{
	struct rt_peaks peaks;
	uint64_t started_ns;
	int err;

	if (!t || !out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_PEAKS_V1) < 0)
		return -EINVAL;
	err = begin(t, &started_ns);
	if (err < 0)
		return err;
	err = rti_tree_since(t->tree, id, &peaks);
	end(t, started_ns);
	if (err == 0)
		rti_struct_copy_out(out, out_size, &peaks, sizeof(peaks));
	return err;
}

int rt_tracker_unmark(struct rt_tracker *t, uint64_t id)
{
	uint64_t started_ns;
	int err;

	if (!t)
		return -EFAULT;
	err = begin(t, &started_ns);
	if (err < 0)
		return err;
	err = rti_tree_unmark(t->tree, id);
	end(t, started_ns);
	return err;
}
