/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include "suite.h"
#include "tracking.h"

static void do_nothing(void *arg)
{
	(void)arg;
}

struct rt_recorder *record_child(struct child *child, struct rt_recorder_opts opts)
{
	struct rt_recorder *r;

	opts.size = sizeof(opts);
	child_start(child, do_nothing, NULL);
	ck_assert_int_eq(rt_recorder_new(&r, track(child->pid), &opts), 0);
	return r;
}

struct rt_recorder_totals totals_of(const struct rt_recorder *r)
{
	struct rt_recorder_totals totals;

	ck_assert_int_eq(rt_recorder_get_totals(r, &totals, sizeof(totals)), 0);
	return totals;
}

struct wish {
	const struct rt_recorder *r;
	uint64_t taken;
};

static int has_taken(void *arg)
{
	const struct wish *wish = arg;

	return totals_of(wish->r).taken >= wish->taken;
}

void wait_until_taken(const struct rt_recorder *r, uint64_t taken)
{
	struct wish wish = { r, taken };

	wait_until(has_taken, &wish);
}

size_t read_some(struct rt_recorder *r, struct rt_metrics *samples, size_t room)
{
	size_t count = room;

	ck_assert_int_eq(rt_recorder_read(r, samples, sizeof(*samples), &count), 0);
	return count;
}
