/* SPDX-License-Identifier: MIT */
/* A tracker of a tree of real processes that the fake account seems to account for. */
#ifndef ACCOUNT_FIXTURE_H
#define ACCOUNT_FIXTURE_H

#include "api/tracker.h"
#include "children.h"
#include "fake_account.h"
#include "suite.h"

#define CHILDREN 3
#define SECOND_NS UINT64_C(1000000000)
#define CPU_NS (1000 * SECOND_NS) /* in the account: more than any process of the test uses */
#define COUNTERS (RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_CTXSW | RT_HAS_IO | RT_HAS_IO_CALLS)
#define WANT (COUNTERS | RT_HAS_PEAK_RSS | RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN)

/* Child 0 is the root. The others become members by events. */
struct account_fixture {
	struct child children[CHILDREN];
	struct rt_tracker *tracker;
};

extern struct account_fixture fix;

/* Add a test case, the tests of which have the fixture. */
TCase *add_account_case(Suite *suite, const char *name);

/* The work of a child. */
void do_nothing(void *arg);

/* Follow the root, with events. The second one returns 0 or -errno. */
void track(void);
int try_to_track(void);

/* Take a sample that has to succeed. */
struct rt_metrics take_sample(void);

/* The account has an event of the fork or the exit of a child. */
void fork_event(int child);
void exit_event(int child);

/* Let a child exit and reap it. Of several, the last one comes first: see tear_down(). */
void end_child(int child);

#endif
