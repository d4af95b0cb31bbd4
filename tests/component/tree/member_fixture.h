/* SPDX-License-Identifier: MIT */
/* A tracker of fake processes below a fixture root, with clocks that only the test moves. So a test
 * decides which member has run, and how much time has passed since the last sample. */
#ifndef MEMBER_FIXTURE_H
#define MEMBER_FIXTURE_H

#include "api/tracker.h"
#include "fake_process.h"
#include "faults.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define CHILDREN 6 /* at most */

/* Process 100 is the root, and 101 and up are its children. */
struct member_fixture {
	struct fixture root;
	struct rt_tracker *tracker;
	uint64_t now_ns;
	uint64_t step_ns;                /* each read of the monotonic clock alone takes this */
	uint64_t own_cpu_ns;             /* each read adds 10 us */
	uint64_t clock_ns[CHILDREN + 1]; /* CPU clocks of the root and its children */
};

extern struct member_fixture fix;

/* Add a test case, the tests of which have the fixture. */
TCase *add_member_case(Suite *suite, const char *name);

/* Returns child number i as write_tree() writes it. */
struct fake_process make_child(int i);

/* Write the root and this many children. */
void write_tree(int children);

/* Follow the root. The caller need not set size and root of the options. */
void track_tree(struct rt_opts opts);

/* Mark child number i as having run. */
void run_child(int i);

/* Child number i has no CPU clock any more, as when it was reaped. */
void end_cpu_clock(int i);

/* Let this much time pass and take a sample, which has to succeed. */
struct rt_metrics take_sample_after(uint64_t ns);

/* Returns the row of a member. Fails the test if there is none. */
struct rt_process get_row(int32_t pid);

uint64_t pages_to_bytes(uint64_t pages);

#endif
