/* SPDX-License-Identifier: MIT */
/* Helpers for tests that track processes. All of them fail the test if they cannot do their job. */
#ifndef TRACKING_H
#define TRACKING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <rtrack/rtrack.h>

/* Map zeroed memory that the test shares with the children that it forks. */
void *map_shared(size_t size);

/* Make a tracker of a process and its descendants. */
struct rt_tracker *track(pid_t pid);

/* Likewise, and its samples read PSS. */
struct rt_tracker *track_with_pss(pid_t pid);

/* Take a sample of a tree that has at least one process left. */
struct rt_metrics sample(struct rt_tracker *tracker);

/* Take a sample of a tree of which every process has exited. It has the last totals. */
struct rt_metrics sample_ended(struct rt_tracker *tracker);

/* For wait_until(): whether a sample of a tracker finds two processes. */
int has_two_processes(void *tracker);

/* User and system CPU time together. */
uint64_t get_sampled_ns(const struct rt_metrics *m);
uint64_t get_outcome_ns(const struct rt_outcome *outcome);
uint64_t get_rusage_ns(const struct rusage *usage);

/* Work for a child: write a temporary file of this size to storage, and remove it. */
void write_file(int mib);

#endif
