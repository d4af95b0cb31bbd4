/* SPDX-License-Identifier: MIT */
/* Helpers for tests of recorders. All of them fail the test if they cannot do their job. */
#ifndef RECORDING_H
#define RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#include "children.h"

#define MS UINT64_C(1000000)
#define INTERVAL (2 * MS)
#define NEVER (UINT64_C(1000000) * 1000 * MS)

/* Record a child that sleeps, until the test ends it. */
struct rt_recorder *record_child(struct child *child, struct rt_recorder_opts opts);

struct rt_recorder_totals totals_of(const struct rt_recorder *r);

/* Wait until so many samples were taken. */
void wait_until_taken(const struct rt_recorder *r, uint64_t taken);

/* Returns how many samples were read. */
size_t read_some(struct rt_recorder *r, struct rt_metrics *samples, size_t room);

#endif
