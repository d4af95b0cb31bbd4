/* SPDX-License-Identifier: MIT */
/* The limit of CPU time of a cgroup, and how that throttled it: cpu.max and cpu.stat (v2), or
 * cpu.cfs_quota_us, cpu.cfs_period_us and cpu.stat (v1). */
#include <errno.h>

#include "collect/cgroup_collector.h"
#include "parse/cgroup_stat.h"
#include "util/arith.h"

#define MILLICORES 1000u

static const struct rti_cgroup_source stat_source = { RTI_CONTROLLER_CPU, "cpu.stat", "cpu.stat" };
static const struct rti_cgroup_source max_source = { RTI_CONTROLLER_CPU, "cpu.max", NULL };
static const struct rti_cgroup_source quota_source = { RTI_CONTROLLER_CPU, NULL,
	                                               "cpu.cfs_quota_us" };
static const struct rti_cgroup_source period_source = { RTI_CONTROLLER_CPU, NULL,
	                                                "cpu.cfs_period_us" };

struct state {
	struct rti_file stat;
	struct rti_cgroup_levels limits, periods; /* periods: v1 alone */
};

static void quota_open(void *state)
{
	struct state *st = state;

	st->stat = (struct rti_file)RTI_FILE_INIT;
	rti_cgroup_levels_init(&st->limits);
	rti_cgroup_levels_init(&st->periods);
}

/* In thousandths of a CPU. */
static uint64_t limit_of(uint64_t quota_us, uint64_t period_us)
{
	return quota_us == RTI_NO_LIMIT ? RTI_NO_LIMIT
	                                : rti_multiply_saturated(quota_us, MILLICORES) / period_us;
}

static int parse_max(const char *data, size_t len, uint64_t *millicores)
{
	struct rti_cgroup_cpu_max max;
	int err = rti_parse_cgroup_cpu_max(data, len, &max);

	if (err == 0)
		*millicores = limit_of(max.quota_us, max.period_us);
	return err;
}

/* v1 has quota and period in files of their own. */
static int read_limit_v1(struct state *st, struct rti_cgroup_look *look, uint64_t *least)
{
	const struct rti_buf *buf = look->ctx->buf;

	*least = RTI_NO_LIMIT;
	for (unsigned i = 0;; i++) {
		uint64_t quota_us, period_us = 1, limit;
		int err =
		    rti_cgroup_read_level(look, &quota_source, i, &st->limits, RT_HAS_CGROUP_CPU);

		if (err == -ENOENT)
			return 0;
		if (err == 0)
			err = rti_parse_cgroup_limit(buf->data, buf->len, &quota_us);
		if (err == 0 && quota_us != RTI_NO_LIMIT) {
			err = rti_cgroup_read_level(look, &period_source, i, &st->periods,
			                            RT_HAS_CGROUP_CPU);
			if (err == 0)
				err = rti_parse_cgroup_limit(buf->data, buf->len, &period_us);
			if (err == 0 && period_us == 0)
				err = -EBADMSG;
		}
		if (err < 0) {
			rti_cgroup_note(look, &quota_source, RT_HAS_CGROUP_CPU, RTI_CAUSE_READ,
			                err);
			return err;
		}
		limit = limit_of(quota_us, period_us);
		*least = rti_min(limit, *least);
	}
}

/* In v2, cpu.stat lacks the lines if the controller is not enabled, as in the root. */
static void note_missing_lines(struct rti_cgroup_look *look)
{
	const struct rti_cgroup_place *place =
	    rti_cgroup_place_of(look->places, RTI_CONTROLLER_CPU);

	if (!place->is_v2)
		rti_cgroup_note(look, &stat_source, RT_HAS_CGROUP_CPU, RTI_CAUSE_READ, -EBADMSG);
	else if (place->depth == 0)
		rti_cgroup_note(look, &max_source, RT_HAS_CGROUP_CPU, RTI_CAUSE_CGROUP_ROOT,
		                -ENOENT);
	else
		rti_cgroup_note(look, &max_source, RT_HAS_CGROUP_CPU, RTI_CAUSE_CGROUP_CONTROLLER,
		                -ENOENT);
}

static void quota_collect(void *state, struct rti_cgroup_look *look)
{
	struct state *st = state;
	struct rti_cgroup_throttle throttle;
	struct rt_metrics *out = look->out;
	uint64_t millicores;
	int err;

	if (rti_cgroup_read(look, &stat_source, &st->stat, RT_HAS_CGROUP_CPU) < 0)
		return;
	if (rti_parse_cgroup_throttle(look->ctx->buf->data, look->ctx->buf->len, &throttle) < 0) {
		note_missing_lines(look);
		return;
	}
	if (rti_cgroup_is_v1(look, RTI_CONTROLLER_CPU))
		err = read_limit_v1(st, look, &millicores);
	else
		err = rti_cgroup_read_least(look, &max_source, &st->limits, RT_HAS_CGROUP_CPU,
		                            parse_max, &millicores);
	if (err < 0)
		return;
	out->cgroup_cpu_periods = throttle.periods;
	out->cgroup_cpu_throttled_periods = throttle.throttled_periods;
	out->cgroup_cpu_throttled_ns = throttle.throttled_ns;
	out->cgroup_cpu_limit_millicores = millicores;
	out->valid |= RT_HAS_CGROUP_CPU;
}

static void quota_close(void *state, const struct rti_context *ctx)
{
	struct state *st = state;

	rti_procfs_close_file(ctx->procfs, &st->stat);
	rti_cgroup_levels_close(&st->limits, ctx);
	rti_cgroup_levels_close(&st->periods, ctx);
}

const struct rti_cgroup_collector rti_cgroup_quota = {
	.provides = RT_HAS_CGROUP_CPU,
	.state_size = sizeof(struct state),
	.open = quota_open,
	.collect = quota_collect,
	.close = quota_close,
};
