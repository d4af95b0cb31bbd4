/* SPDX-License-Identifier: MIT */
/* A tracker of a small process tree below a fixture root: a shell and its two children. */
#ifndef TREE_FIXTURE_H
#define TREE_FIXTURE_H

#include "api/tracker.h"
#include "fake_process.h"
#include "faults.h"
#include "suite.h"

#define TICK_NS UINT64_C(10000000)

struct tree_fixture {
	struct fixture root;
	struct rt_tracker *tracker;
};

extern struct tree_fixture fix;

/* The shell has the pid 100, its children have 101 and 102. A test that changes one of them writes
 * a changed copy. */
extern const struct fake_process shell, first_child, second_child;

/* Add a test case, the tests of which have the fixture. */
TCase *add_tree_case(Suite *suite, const char *name);

/* Write the files of the shell and its two children. */
void write_family(void);

/* Follow a process. flags are those of struct rt_opts. The tracker caches no descriptors and puts
 * off no reads, so that a test can change files between two given reads. */
void track_process(int pid, uint32_t flags);

/* Follow a process, and cache this many descriptors at most. 0: the default. */
void track_with_cached_files(int pid, uint32_t max_fds);

/* Take a sample that has to succeed. */
struct rt_metrics take_sample(void);

/* Take a sample. Returns the result of rt_sample(). */
int try_sample(struct rt_metrics *out);

/* Returns what wait4(2) shows of a process, with this peak. */
struct rt_rusage rusage_of(const struct fake_process *process, int64_t maxrss_kib);

uint64_t pages_to_bytes(uint64_t pages);

#endif
