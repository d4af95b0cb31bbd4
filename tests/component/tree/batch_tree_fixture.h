/* SPDX-License-Identifier: MIT */
/* A tracker of a tree of real processes that can be read by BPF in batches, with a clock that only
 * the test moves. */
#ifndef BATCH_TREE_FIXTURE_H
#define BATCH_TREE_FIXTURE_H

#include "api/tracker.h"
#include "family.h"
#include "suite.h"

#define TREE 16 /* members */
#define MIB (UINT64_C(1) << 20)
#define SECOND UINT64_C(1000000000)
#define SOON (SECOND / 50) /* only what is read in every sample is due */

struct batch_tree_fixture {
	struct family family;
	struct rt_tracker *tracker;
	uint64_t now_ns; /* time of the tracker */
};

extern struct batch_tree_fixture fix;

/* Returns whether this system has a BPF batch reader. */
bool has_bpf(void);

/* Add a test case, the tests of which have the fixture. */
TCase *add_batch_case(Suite *suite, const char *name);

/* Follow the family, instead of the tracker from before if there is one. Arguments are those of
 * struct rt_opts. */
void track_family(uint32_t max_fds, uint64_t want);

/* Take a sample, which has to succeed, after this time or after a second. */
struct rt_metrics take_sample_after(uint64_t ns);
struct rt_metrics take_sample(void);

/* Let two thirds of the members use CPU time, I/O and memory. */
void run_members(int round);

/* Read all members by BPF, and then stop them. Returns the last sample. */
struct rt_metrics stop_and_batch_read(void);

int32_t get_pid(size_t member);

/* Assert that all figures of two samples are equal. */
void check_equal(const struct rt_metrics *a, const struct rt_metrics *b);

#endif
