/* SPDX-License-Identifier: MIT */
/* What one sample or peak poll costs in system calls, of real processes behind the meter. */
#ifndef COST_FIXTURE_H
#define COST_FIXTURE_H

#include "api/tracker.h"
#include "family.h"
#include "meter.h"
#include "suite.h"

/* Time between two samples, ms. */
#define SOON 20           /* only what is read every time is due */
#define SELDOM 100        /* status and the files of all threads are due */
#define REFRESH 1000      /* RSS of processes that do not run is due */
#define PSS_REFRESH 10000 /* PSS is due, even if no member has run */

/* PSS budgets, thousandths of a CPU. */
#define WIDE_SHARE 500 /* covers every read of a small tree */
#define NO_LIMIT 1000

#define SAMPLE_TIMES 5 /* in every sample: three clocks, and our own CPU time twice */
#define POLL_TIMES 3   /* in every peak poll: one clock, and our own CPU time twice */
#define FORK_TIMES 3   /* for each new member that was forked: the time, against its start */
#define LOOK_TIMES 1   /* after looks at members, if their memory is wanted: when it was done */
#define PSS_TIMES 1    /* for each read of PSS: our own CPU time after it */
/* In a sample that reads PSS: our own CPU time before the first read and at the end. */
#define ROUND_TIMES 2

#define LAST_PID "sys/kernel/ns_last_pid 1"
#define MERGED "kernel/mm/ksm/pages_sharing 1" /* of memory, about once a second */

struct cost_fixture {
	struct family family;
	struct rt_tracker *tracker;
	struct rt_metrics m; /* last sample */
};

extern struct cost_fixture fix;

/* What a sample or peak poll must cost, exactly. A change that makes it cheaper lowers the numbers
 * in the tests. One that has to raise them shows what it costs. */
struct cost {
	unsigned opens, reads, lists, clocks, times;
	const char *files; /* as from meter_files() */
	const char *twice; /* end of the path of a file that is read twice; NULL: there is none */
};

/* Add a test case, the tests of which have the fixture. */
TCase *add_cost_case(Suite *suite, const char *name);

/* Returns whether the kernel has children files (CONFIG_PROC_CHILDREN). */
bool has_children_files(void);

/* Start a family of this many members. Each has been larger before, so that no sample finds a new
 * peak of RSS. Each has mapped a file, so that what was read of PSS is good for 90 ms, however many
 * processes have mapped the libraries. */
void start_family(size_t count);

/* Follow the root of the family. flags, want and share are those of struct rt_opts. */
void make_tracker(uint32_t flags, uint64_t want, uint32_t share);

/* The same, and take samples until all members are known and nothing is overdue. */
void track_family(uint32_t flags, uint64_t want, uint32_t share);

/* start_family() and track_family(). */
void start_and_track_family(size_t count, uint32_t flags, uint64_t want, uint32_t share);

/* Take a sample behind the meter. */
void take_sample(void);

/* Let one member, or all members, use CPU time. */
void run_member(size_t member);
void run_all(void);

/* Let the root write a few bytes. */
void write_some(void);

/* Let all members run, and read everything that is read seldom. Afterwards it is not due, no
 * process has forked since the last sample, and all members are known to have one thread. */
void refresh_all(void);

/* Print what the meter has counted. */
void report_cost(const char *situation);

/* Assert what the meter has counted. */
void check_cost(const char *situation, struct cost expected);

/* Take a sample or peak poll after so many ms, and assert its cost. */
void check_sample_after(uint64_t ms, const char *situation, struct cost expected);
void check_peak_poll_after(uint64_t ms, const char *situation, struct cost expected);

#endif
