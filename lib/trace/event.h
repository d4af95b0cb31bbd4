/* SPDX-License-Identifier: MIT */
/* Makes public events of the records of a back end. */
#ifndef RTI_TRACE_EVENT_H
#define RTI_TRACE_EVENT_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "os/protocol/trace_record.h"
#include "trace/exe_cache.h"

/* Written by event.c only. */
struct rti_event_maker {
	bool has_live_children;  /* they are to be read */
	int64_t realtime_offset; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	struct rti_exe_cache *exe_cache;
};

/* Returns 0 or -ENOMEM. */
int rti_event_maker_init(struct rti_event_maker *maker, bool has_live_children);

/* Compare the clocks, before a series of records: CLOCK_REALTIME can be set. */
void rti_event_maker_set_time(struct rti_event_maker *maker);

/* All but the sequence. */
void rti_event_make(struct rti_event_maker *maker, const struct rti_trace_record *record,
                    struct rt_trace_event *out);

/* A maker that is all 0 is fine. */
void rti_event_maker_fini(struct rti_event_maker *maker);

#endif
