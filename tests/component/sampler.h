/* SPDX-License-Identifier: MIT */
/* One system collector by itself: what the tracker does around it, without the tracker. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stdlib.h>

#include "collect/collector.h"
#include "suite.h"

struct sampler {
	const struct rti_sys_collector *collector;
	struct rti_procfs procfs;
	struct rti_platform platform;
	struct rti_buf buf;
	struct rti_context ctx;
	void *state;
	uint64_t at_ns;        /* time of the next sample; 0: unknown */
	struct rt_metrics out; /* of the last sample */
};

/* Returns the result of open(). root NULL: the running system. ops NULL: the real file calls. */
static inline int sampler_open_with(struct sampler *s, const struct rti_sys_collector *collector,
                                    const char *root, const struct rti_procfs_ops *ops,
                                    uint32_t flags)
{
	*s = (struct sampler){ .collector = collector };
	ck_assert_int_eq(rti_procfs_open(&s->procfs, root, ops ? ops : &rti_procfs_linux), 0);
	rti_platform_init(&s->platform, root != NULL);
	s->platform.tick_ns = 10000000;
	s->ctx = (struct rti_context){
		.procfs = &s->procfs, .platform = &s->platform, .buf = &s->buf, .flags = flags
	};
	s->state = calloc(1, collector->state_size);
	ck_assert_ptr_nonnull(s->state);
	return collector->open ? collector->open(s->state, &s->ctx) : 0;
}

static inline void sampler_open(struct sampler *s, const struct rti_sys_collector *collector,
                                const char *root)
{
	ck_assert_int_eq(sampler_open_with(s, collector, root, NULL, 0), 0);
}

/* Returns the result of collect(). */
static inline int sampler_take(struct sampler *s)
{
	s->out = (struct rt_metrics){ .monotonic_ns = s->at_ns };
	return s->collector->collect(s->state, &s->ctx, &s->out);
}

static inline const void *sampler_rows(const struct sampler *s, size_t *count)
{
	return s->collector->rows(s->state, count);
}

/* To be called after an open() that succeeded. */
static inline void sampler_close(struct sampler *s)
{
	if (s->collector->close)
		s->collector->close(s->state, &s->ctx);
	free(s->state);
	rti_buf_free(&s->buf);
	rti_procfs_close(&s->procfs);
}

#endif
