/* SPDX-License-Identifier: MIT */
/* Why a domain of the last sample is not complete: rt_tracker_status(), rt_tracker_obstacle(). */
#include <errno.h>
#include <string.h>

#include "api/kind.h"
#include "api/obstacle_text.h"
#include "api/struct_size.h"
#include "api/tracker.h"

static void explain(const struct rt_tracker *t, uint64_t has, struct rti_explanation *out)
{
	if (t->kind == RT_KIND_PID)
		rti_tree_explain(t->tree, &t->last, has, out);
	else if (t->kind == RT_KIND_CGROUP)
		rti_cgroup_tracker_explain(t->cgroup, &t->last, has, out);
	else if (t->own_limits && has & rti_own_limits_domains())
		rti_own_limits_explain(t->own_limits, &t->last, has, out);
	else
		rti_system_explain(&t->system, &t->last, has, out);
}

/* Returns 0 if there is a sample to explain. */
static int try_explain(const struct rt_tracker *t, uint64_t has, struct rti_explanation *out)
{
	int err;

	if (!(has & rti_known_domains()) || has & (has - 1))
		return -EINVAL;
	if (!(t->want & has))
		return -EOPNOTSUPP;
	err = rti_tracker_take(t);
	if (err < 0)
		return err;
	if (t->samples > 0)
		explain(t, has, out);
	else
		err = -ENODATA;
	rti_lock_release(t->lock);
	return err;
}

int rt_tracker_status(const struct rt_tracker *t, uint64_t has)
{
	struct rti_explanation why;
	int err;

	if (!t)
		return -EFAULT;
	err = try_explain(t, has, &why);
	return err < 0 ? err : why.error;
}

static uint32_t kind_of_error(int err)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		return RT_OBSTACLE_RIGHTS;
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -EAGAIN:
	case -ENOSPC:
		return RT_OBSTACLE_LIMIT;
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENOSYS:
		return RT_OBSTACLE_KERNEL;
	case -ETIMEDOUT:
		return RT_OBSTACLE_SLOW;
	case -EBADMSG:
		return RT_OBSTACLE_FORMAT;
	default:
		return RT_OBSTACLE_ERROR;
	}
}

/* Of causes that are obstacles. RT_OBSTACLE_ERROR: that depends on the error. */
static const uint32_t kinds[] = {
#define OBSTACLE(name, kind, text) [RTI_CAUSE_##name] = RT_OBSTACLE_##kind,
#include "util/sentences.def"
};

static uint32_t kind_of(const struct rti_explanation *why)
{
	uint32_t kind = kinds[why->cause];

	if (!why->error)
		return 0;
	if (why->cause == RTI_CAUSE_GPU && why->error == -ENODATA)
		return RT_OBSTACLE_UNSEEN;
	if (kind == RT_OBSTACLE_ERROR)
		kind = kind_of_error(why->error);
	/* E.g.: a kernel without CONFIG_PROC_EVENTS has no such protocol. */
	if (kind == RT_OBSTACLE_ERROR && why->cause == RTI_CAUSE_EVENTS_UNHEARD)
		kind = RT_OBSTACLE_KERNEL;
	return kind;
}

int rt_tracker_obstacle(const struct rt_tracker *t, uint64_t has, struct rt_obstacle *out,
                        size_t out_size)
{
	struct rt_obstacle obstacle = { .size = sizeof(obstacle), .has = has };
	struct rti_explanation why;
	int err;

	if (!t || !out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_OBSTACLE_V1) < 0)
		return -EINVAL;
	err = try_explain(t, has, &why);
	if (err < 0)
		return err;
	obstacle.kind = kind_of(&why);
	obstacle.error = why.error;
	obstacle.pid = why.pid;
	obstacle.members = why.members;
	obstacle.members_ever = why.members_ever;
	if (why.error)
		strncat(obstacle.file, why.file, sizeof(obstacle.file) - 1);
	rti_obstacle_describe(&why, has, obstacle.text, sizeof(obstacle.text));
	rti_struct_copy_out(out, out_size, &obstacle, sizeof(obstacle));
	return 0;
}
