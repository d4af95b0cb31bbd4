/* SPDX-License-Identifier: MIT */
/* A root with cgroup mounts, for trackers of a cgroup. */
#ifndef CGROUP_ROOT_H
#define CGROUP_ROOT_H

#include <rtrack/rtrack.h>

#include "fake_process.h"
#include "fixture.h"

extern struct fixture cgroup_root;

/* For tcase_add_checked_fixture(). */
void cgroup_root_set_up(void);
void cgroup_root_tear_down(void);

/* Mount v2 alone at cg, v1 alone below cg, or both as on a hybrid system: v2 at cg/unified has no
 * controller, and memory, cpu with cpuacct, pids and blkio are in v1. */
void cgroup_root_v2(void);
void cgroup_root_v1(void);
void cgroup_root_hybrid(void);

/* Write a file below cg. */
void cgroup_root_write(const char *path, const char *text);

/* Write the files of /a/b of v2, with all controllers, or those of v1. */
void cgroup_root_write_v2(void);
void cgroup_root_write_v1(void);

/* Make a tracker, which must succeed. want 0: the default. */
struct rt_tracker *cgroup_root_track(const char *name, uint64_t want);

/* Take a sample, which must succeed. */
struct rt_metrics cgroup_root_sample(struct rt_tracker *t);

/* Check that a domain is missing, or a lower bound, with this error, and that its text has these
 * words. */
void cgroup_root_check_missing(const struct rt_tracker *t, uint64_t has, int error,
                               const char *words);

#endif
