/* SPDX-License-Identifier: MIT */
/* What one sample asks of the system, call by call, of real processes: what the tables here
 * allow.
 *
 * They are exact. Whoever makes a sample cheaper lowers them; whoever has to raise one sees what
 * it costs. */
#include "family.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "meter.h"
#include "suite.h"
#include "tree/state.h"

#define TREE 20
#define SOON 20       /* ms: what is read every time */
#define SELDOM 100    /* ms: status, and the files of all threads */
#define REFRESH 1000  /* ms: RSS of those who do not run */
#define RENEWAL 10000 /* ms: PSS, though nothing has moved */
#define WIDE 500      /* a share that pays for every reading of a small tree */
#define NO_LIMIT 1000
#define TIMES 5  /* of every sample: the time of day by three clocks, and what it cost, twice */
#define GLANCE 3 /* of every glance: the time, and what it cost, twice */

#define LAST_PID "sys/kernel/ns_last_pid 1"

/* What a sample may cost. */
struct allowed {
	unsigned opens, reads, lists, clocks, times;
	const char *files;
	const char *twice; /* a file that is read twice, by the end of its path */
};

static struct family family;
static struct rt_tracker *tracker;
static struct rt_metrics m;

static void set_up(void)
{
	tracker = NULL;
	family.count = 0;
}

static void tear_down(void)
{
	rt_tracker_free(tracker);
	family_end(&family);
}

static void report(const char *situation)
{
	printf("# %-42s opens %3u  reads %3u  readdirs %2u  others %u  clocks %3u  times %2u  "
	       "allocations %u | %s%s%s\n",
	       situation, meter.opens, meter.reads, meter.lists, meter.looks, meter.clocks,
	       meter.times, meter.allocations, meter_files(), *meter.twice ? " | twice: " : "",
	       meter.twice);
	fflush(stdout);
}

static void check(const char *situation, const struct allowed *allowed)
{
	report(situation);
	ck_assert_str_eq(meter_files(), allowed->files);
	ck_assert_uint_eq(meter.opens, allowed->opens);
	ck_assert_uint_eq(meter.reads, allowed->reads);
	ck_assert_uint_eq(meter.lists, allowed->lists);
	ck_assert_uint_eq(meter.clocks, allowed->clocks);
	ck_assert_uint_eq(meter.times, allowed->times);
	ck_assert_uint_eq(meter.looks, 0);
	ck_assert_uint_eq(meter.allocations, 0);
	if (allowed->twice)
		ck_assert_ptr_nonnull(strstr(meter.twice, allowed->twice));
	else
		ck_assert_str_eq(meter.twice, "");
}

static void sample(void)
{
	int err;

	meter_start();
	err = rt_sample(tracker, &m, sizeof(m));
	meter_stop();
	ck_assert_int_eq(err, 0);
}

static void glance_after(uint64_t ms)
{
	int err;

	meter_pass(ms);
	meter_start();
	err = rt_tracker_glance(tracker);
	meter_stop();
	ck_assert_int_eq(err, 0);
}

static void track(uint32_t flags, uint64_t want, uint32_t share)
{
	struct rt_opts opts = { .size = sizeof(opts),
		                .flags = flags,
		                .want = want,
		                .max_fds = 1024,
		                .pss_share = share };

	ck_assert_int_eq(rti_tracker_new(&tracker, family.member[0].pid, &opts, &meter_ops), 0);
	meter_attach(tracker);
}

/* All of them are known, all files that stay open are, and nothing is overdue. */
static void settle(void)
{
	for (int i = 0; i < 3; i++) {
		meter_pass(RENEWAL);
		meter_see_fork();
		sample();
	}
}

/* All have been larger before, so that no new peak is looked for. */
static void have_family(size_t count)
{
	family_start(&family, count);
	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(family_tell(&family, i, FAMILY_GROW, 8), 0);
		ck_assert_int_eq(family_tell(&family, i, FAMILY_SHRINK, 8), 0);
	}
}

static void follow(size_t count, uint32_t flags, uint64_t want, uint32_t share)
{
	have_family(count);
	track(flags, want, share);
	settle();
}

static void run_member(size_t member)
{
	ck_assert_int_eq(family_tell(&family, member, FAMILY_RUN, 2), 0);
	meter_see_run(family.member[member].pid);
}

static void run_all(void)
{
	for (size_t i = 0; i < family.count; i++) {
		if (family.member[i].pid)
			run_member(i);
	}
}

/* What is read seldom has just been read, and nobody has forked since all were known to have but
 * one thread. */
static void refresh_all(void)
{
	run_all();
	meter_pass(SELDOM);
	meter_see_fork();
	sample();
	run_all();
	sample();
}

static void expect_after(uint64_t ms, const char *situation, struct allowed allowed)
{
	meter_pass(ms);
	sample();
	check(situation, &allowed);
}

START_TEST(an_idle_process)
{
	follow(1, 0, 0, WIDE);
	expect_after(SOON, "one, idle", (struct allowed){ 0, 1, 0, 1, TIMES, LAST_PID });
	expect_after(REFRESH, "one, idle for a second",
	             (struct allowed){ 0, 2, 0, 1, TIMES, "PID/statm 1, " LAST_PID });
	expect_after(RENEWAL, "one, idle for ten seconds",
	             (struct allowed){ 1, 3, 0, 1, TIMES + 2,
	                               "PID/smaps_rollup 1, PID/statm 1, " LAST_PID });
	meter_see_fork();
	expect_after(SOON, "one, idle, somebody forked",
	             (struct allowed){ 0, 1, 0, 1, TIMES, LAST_PID });
}
END_TEST

#define OWN_FILES "PID/task 1, PID/task/TID/schedstat 1, PID/task/TID/stat 1, PID/task/TID/status 1"

START_TEST(a_process_that_ran)
{
	follow(1, 0, 0, WIDE);
	refresh_all();
	run_all();
	expect_after(
	    SOON, "one, ran",
	    (struct allowed){ 1, 5, 0, 1, TIMES + 2,
	                      "PID/io 1, PID/smaps_rollup 1, PID/stat 1, PID/statm 1, " LAST_PID });
	run_all();
	meter_see_fork();
	expect_after(SOON, "one, ran, somebody forked",
	             (struct allowed){ 1, 6, 0, 1, TIMES + 2,
	                               "PID/io 1, PID/smaps_rollup 1, PID/stat 1, PID/statm 1, "
	                               "PID/task/TID/children 1, " LAST_PID });
	run_all();
	sample();
	run_all();
	expect_after(
	    SELDOM, "one, ran, after 100 ms",
	    (struct allowed){
		7, 10, 2, 2, TIMES + 2,
		"PID/io 1, PID/smaps_rollup 1, PID/stat 2, PID/statm 1, PID/status 1, " OWN_FILES
		", " LAST_PID,
		"/stat" });
}
END_TEST

START_TEST(a_process_without_pss)
{
	follow(1, 0, RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO | RT_HAS_FAULTS, WIDE);
	refresh_all();
	expect_after(SOON, "one without PSS, idle",
	             (struct allowed){ 0, 1, 0, 1, TIMES, LAST_PID });
	run_all();
	expect_after(
	    SELDOM, "one without PSS, ran",
	    (struct allowed){ 0, 4, 0, 1, TIMES, "PID/io 1, PID/stat 1, PID/statm 1, " LAST_PID });
}
END_TEST

static void write_some(void)
{
	ck_assert_int_eq(family_tell(&family, 0, FAMILY_WRITE, 10), 10);
	meter_see_run(family.member[0].pid);
}

START_TEST(a_process_alone)
{
	follow(1, RT_OPT_NO_CHILDREN, RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO, WIDE);
	write_some();
	sample();
	expect_after(SOON, "alone, idle", (struct allowed){ 0, 0, 0, 1, TIMES, "" });
	run_all();
	meter_see_fork();
	expect_after(SOON, "alone, ran",
	             (struct allowed){ 0, 2, 0, 1, TIMES, "PID/io 1, PID/statm 1" });
	write_some();
	expect_after(
	    SOON, "alone, did I/O, there were forks",
	    (struct allowed){ 0, 4, 0, 1, TIMES, "PID/io 1, PID/stat 1, PID/statm 1, " LAST_PID });
	write_some();
	expect_after(SOON, "alone, did I/O, there were none",
	             (struct allowed){
			 1, 5, 0, 1, TIMES,
			 "PID/io 1, PID/stat 1, PID/statm 1, PID/task/TID/children 1, " LAST_PID });
	write_some();
	expect_after(SOON, "alone, did I/O, has no children",
	             (struct allowed){ 0, 3, 0, 1, TIMES, "PID/io 1, PID/statm 1, " LAST_PID });
	write_some();
	expect_after(SELDOM, "alone, did I/O, stat is due",
	             (struct allowed){
			 0, 5, 0, 1, TIMES,
			 "PID/io 1, PID/stat 1, PID/statm 1, PID/task/TID/children 1, " LAST_PID });
}
END_TEST

/* That of a reaped child is none of its own. */
START_TEST(a_process_alone_that_has_a_child)
{
	uint64_t write_chars;

	follow(2, RT_OPT_NO_CHILDREN, RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO, WIDE);
	write_some();
	sample();
	write_some();
	expect_after(SOON, "alone, did I/O, has a child",
	             (struct allowed){
			 1, 5, 0, 1, TIMES,
			 "PID/io 1, PID/stat 1, PID/statm 1, PID/task/TID/children 1, " LAST_PID });
	write_chars = m.write_chars;
	family_tell(&family, 1, FAMILY_WRITE, 5000);
	family_shrink(&family, 1);
	run_member(0);
	sample();
	ck_assert_uint_lt(m.write_chars, write_chars + 5000);
	run_member(0);
	expect_after(SELDOM, "alone, has reaped: I/O by threads",
	             (struct allowed){ 5, 6, 2, 2, TIMES,
	                               "PID/stat 2, PID/statm 1, PID/task 1, PID/task/TID/io 1, "
	                               "PID/task/TID/schedstat 1, PID/task/TID/stat 1",
	                               "/stat" });
}
END_TEST

START_TEST(a_process_with_threads)
{
	have_family(1);
	ck_assert_int_eq(family_tell(&family, 0, FAMILY_THREADS, 3), 0);
	track(0, 0, WIDE);
	settle();
	refresh_all();
	run_all();
	expect_after(
	    SOON, "four threads, ran",
	    (struct allowed){ 1, 5, 0, 1, TIMES + 2,
	                      "PID/io 1, PID/smaps_rollup 1, PID/stat 1, PID/statm 1, " LAST_PID });
	run_all();
	meter_see_fork();
	expect_after(
	    SOON, "four threads, ran, somebody forked",
	    (struct allowed){ 6, 9, 2, 1, TIMES + 2,
	                      "PID/io 1, PID/smaps_rollup 1, PID/stat 1, PID/statm 1, PID/task 1, "
	                      "PID/task/TID/children 4, " LAST_PID });
	run_all();
	expect_after(
	    SELDOM, "four threads, ran, after 100 ms",
	    (struct allowed){
		16, 19, 2, 2, TIMES + 2,
		"PID/io 1, PID/smaps_rollup 1, PID/stat 2, PID/statm 1, PID/status 1, PID/task 1, "
		"PID/task/TID/schedstat 4, PID/task/TID/stat 4, PID/task/TID/status 4, " LAST_PID,
		"/stat" });
}
END_TEST

START_TEST(an_idle_tree)
{
	follow(TREE, 0, 0, WIDE);
	expect_after(SOON, "tree, idle", (struct allowed){ 0, 1, 0, TREE, TIMES, LAST_PID });
	meter_see_fork();
	expect_after(SOON, "tree, idle, somebody forked",
	             (struct allowed){ 0, 1, 0, TREE, TIMES, LAST_PID });
	expect_after(REFRESH, "tree, idle for a second",
	             (struct allowed){ 0, 1 + TREE, 0, TREE, TIMES, "PID/statm 20, " LAST_PID });
}
END_TEST

/* The parent's children file is read until nothing comes. */
START_TEST(a_tree_of_which_one_ran)
{
	follow(TREE, 0, 0, WIDE);
	refresh_all();
	run_member(7);
	expect_after(
	    SOON, "tree, one ran",
	    (struct allowed){ 1, 5, 0, TREE, TIMES + 2,
	                      "PID/io 1, PID/smaps_rollup 1, PID/stat 1, PID/statm 1, " LAST_PID });
	run_member(7);
	meter_see_fork();
	expect_after(SOON, "tree, one ran, somebody forked",
	             (struct allowed){ 1, 8, 0, TREE, TIMES + 2,
	                               "PID/io 1, PID/smaps_rollup 1, PID/stat 1, PID/statm 1, "
	                               "PID/task/TID/children 2, " LAST_PID });
}
END_TEST

START_TEST(a_tree_that_ran)
{
	follow(TREE, 0, 0, WIDE);
	refresh_all();
	run_all();
	expect_after(SOON, "tree, all ran",
	             (struct allowed){
			 TREE, 1 + 4 * TREE, 0, TREE, TIMES + 2 * TREE,
			 "PID/io 20, PID/smaps_rollup 20, PID/stat 20, PID/statm 20, " LAST_PID });
	run_all();
	meter_see_fork();
	expect_after(SOON, "tree, all ran, somebody forked",
	             (struct allowed){ TREE, 1 + 5 * TREE + 1, 0, TREE, TIMES + 2 * TREE,
	                               "PID/io 20, PID/smaps_rollup 20, PID/stat 20, PID/statm 20, "
	                               "PID/task/TID/children 20, " LAST_PID });
	run_all();
	sample();
	run_all();
	expect_after(
	    SELDOM, "tree, all ran, after 100 ms",
	    (struct allowed){
		7 * TREE, 1 + 9 * TREE, 2 * TREE, 2 * TREE, TIMES + 2 * TREE,
		"PID/io 20, PID/smaps_rollup 20, PID/stat 40, PID/statm 20, PID/status 20, "
		"PID/task 20, PID/task/TID/schedstat 20, PID/task/TID/stat 20, "
		"PID/task/TID/status 20, " LAST_PID,
		"/stat" });
}
END_TEST

/* A child ends and is waited for, and another is forked. */
static void change(size_t victim)
{
	int32_t exited = family.member[victim].pid;

	family_shrink(&family, victim);
	family_grow(&family);
	meter_see_run(exited);
	meter_see_run(family.member[0].pid);
	meter_see_fork();
}

/* Of the one that ended, 3 files say so. Of the newcomer, who it is: stat and status; that its
 * parent is there: stat; then all that is read of anybody. Since the root has reaped somebody,
 * the others are looked at again: stat. */
START_TEST(a_tree_that_changes)
{
	follow(TREE, 0, 0, WIDE);
	for (size_t round = 0; round < 3; round++) {
		refresh_all();
		change(4 + round);
		expect_after(
		    SOON, "tree, one ended and one came",
		    (struct allowed){
			13, 42, 2, TREE + 3, TIMES + 2 * 2 + 2,
			"PID/io 3, PID/smaps_rollup 2, PID/stat 5, PID/statm 23, PID/status 1, "
			"PID/task 1, PID/task/TID/children 3, PID/task/TID/schedstat 1, "
			"PID/task/TID/stat 1, PID/task/TID/status 1, " LAST_PID,
			"/stat" });
	}
}
END_TEST

START_TEST(a_tree_without_a_budget_for_pss)
{
	follow(TREE, 0, 0, 10);
	refresh_all();
	run_all();
	tracker->tree->pss.saved_ns = 0;
	expect_after(1, "tree, all ran, nothing saved for PSS",
	             (struct allowed){ 0, 1 + 3 * TREE, 0, TREE, TIMES,
	                               "PID/io 20, PID/stat 20, PID/statm 20, " LAST_PID });
	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
}
END_TEST

START_TEST(a_tree_without_a_limit_for_pss)
{
	follow(TREE, 0, 0, NO_LIMIT);
	refresh_all();
	for (int i = 0; i < 2; i++) {
		run_all();
		expect_after(
		    1, "tree, all ran, no limit for PSS",
		    (struct allowed){
			TREE, 1 + 4 * TREE, 0, TREE, TIMES + 2 * TREE,
			"PID/io 20, PID/smaps_rollup 20, PID/stat 20, PID/statm 20, " LAST_PID });
		ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	}
	expect_after(1, "tree, idle, no limit for PSS",
	             (struct allowed){ 0, 1, 0, TREE, TIMES, LAST_PID });
}
END_TEST

START_TEST(a_glance)
{
	follow(TREE, 0, 0, WIDE);
	refresh_all();
	glance_after(SOON);
	check("glance, first",
	      &(struct allowed){ 0, 1 + TREE, 0, TREE, GLANCE, "PID/statm 20, " LAST_PID });
	glance_after(SOON);
	check("glance, idle", &(struct allowed){ 0, 1, 0, TREE, GLANCE, LAST_PID });
	run_all();
	glance_after(SOON);
	check("glance, all ran",
	      &(struct allowed){ 0, 1 + TREE, 0, TREE, GLANCE, "PID/statm 20, " LAST_PID });
}
END_TEST

/* Its stat is read once to find it and once for its account. PSS of all is read, since the sum of
 * RSS has never been so large. */
START_TEST(a_glance_after_a_fork)
{
	follow(TREE, 0, 0, WIDE);
	refresh_all();
	family_grow(&family);
	meter_see_run(family.member[0].pid);
	meter_see_fork();
	glance_after(SOON);
	check(
	    "glance, one came",
	    &(struct allowed){
		4 + TREE, 29 + TREE, 0, TREE + 1, GLANCE + 2 * (TREE + 1),
		"PID/smaps_rollup 21, PID/stat 2, PID/statm 22, PID/task/TID/children 2, " LAST_PID,
		"/stat" });
}
END_TEST

/* The ledger lives on faults, so that stat is read whatever is wanted. */
static const struct {
	const char *name;
	uint64_t want;
	struct allowed ran, idle;
} domains[] = {
	{ "CPU",
	  RT_HAS_CPU,
	  { 0, 4, 0, 3, TIMES, "PID/stat 3, " LAST_PID, NULL },
	  { 0, 1, 0, 3, TIMES, LAST_PID, NULL } },
	{ "RSS",
	  RT_HAS_RSS,
	  { 0, 7, 0, 3, TIMES, "PID/stat 3, PID/statm 3, " LAST_PID, NULL },
	  { 0, 4, 0, 3, TIMES, "PID/statm 3, " LAST_PID, NULL } },
	{ "PSS",
	  RT_HAS_PSS,
	  { 3, 10, 0, 3, TIMES + 6, "PID/smaps_rollup 3, PID/stat 3, PID/statm 3, " LAST_PID,
	    NULL },
	  { 0, 4, 0, 3, TIMES, "PID/statm 3, " LAST_PID, NULL } },
	{ "peak RSS",
	  RT_HAS_PEAK_RSS,
	  { 3, 7, 0, 3, TIMES, "PID/stat 3, PID/status 3, " LAST_PID, NULL },
	  { 0, 1, 0, 3, TIMES, LAST_PID, NULL } },
	{ "I/O",
	  RT_HAS_IO,
	  { 0, 7, 0, 3, TIMES, "PID/io 3, PID/stat 3, " LAST_PID, NULL },
	  { 0, 1, 0, 3, TIMES, LAST_PID, NULL } },
	{ "faults",
	  RT_HAS_FAULTS,
	  { 0, 4, 0, 3, TIMES, "PID/stat 3, " LAST_PID, NULL },
	  { 0, 1, 0, 3, TIMES, LAST_PID, NULL } },
	{ "switches",
	  RT_HAS_CTXSW,
	  { 15, 16, 6, 6, TIMES,
	    "PID/stat 6, PID/task 3, PID/task/TID/schedstat 3, PID/task/TID/stat 3, "
	    "PID/task/TID/status 3, " LAST_PID,
	    "/stat" },
	  { 0, 1, 0, 3, TIMES, LAST_PID, NULL } },
	{ "processes",
	  RT_HAS_PROCESSES,
	  { 0, 4, 0, 3, TIMES, "PID/stat 3, " LAST_PID, NULL },
	  { 0, 1, 0, 3, TIMES, LAST_PID, NULL } },
	{ "threads",
	  RT_HAS_THREADS,
	  { 0, 4, 0, 3, TIMES, "PID/stat 3, " LAST_PID, NULL },
	  { 0, 1, 0, 3, TIMES, LAST_PID, NULL } },
};

#define DOMAINS ((int)(sizeof(domains) / sizeof(domains[0])))

START_TEST(one_domain_of_a_tree)
{
	char situation[64];

	follow(3, 0, domains[_i].want, WIDE);
	refresh_all();
	run_all();
	snprintf(situation, sizeof(situation), "three, ran, %s alone", domains[_i].name);
	expect_after(REFRESH, situation, domains[_i].ran);
	ck_assert_uint_eq(m.valid, domains[_i].want);
	snprintf(situation, sizeof(situation), "three, idle, %s alone", domains[_i].name);
	expect_after(REFRESH, situation, domains[_i].idle);
	ck_assert_uint_eq(m.valid, domains[_i].want);
}
END_TEST

/* Room for more than one sample costs nothing either. */
START_TEST(what_a_sample_leaves_behind_costs_nothing)
{
	struct rt_process rows[TREE];
	struct rt_metrics before;
	struct rt_delta delta;
	size_t count = TREE;

	follow(TREE, 0, 0, WIDE);
	before = m;
	run_all();
	meter_pass(SOON);
	sample();
	meter_start();
	rt_diff(&before, &m, &delta, sizeof(delta));
	rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count);
	rt_tracker_status(tracker, RT_HAS_CPU);
	meter_stop();
	ck_assert_uint_eq(count, TREE);
	ck_assert_uint_gt(delta.cpu_user_ns + delta.cpu_system_ns, 0);
	check("difference, list of processes, status", &(struct allowed){ .files = "" });
}
END_TEST

/* Put in its place by hand, as after some thousand readings. 0: it cannot be had here. */
static int have_sweep(void)
{
	tracker->tree->batch_reader.text_reads = UINT32_MAX;
	sample();
	sample();
	if (!tracker->tree->batch_reader.batch)
		printf("# SKIP a tree read by BPF: it cannot be had here\n");
	fflush(stdout);
	return tracker->tree->batch_reader.batch != NULL;
}

START_TEST(a_tree_read_by_bpf)
{
	follow(TREE, 0,
	       RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PEAK_RSS | RT_HAS_IO | RT_HAS_FAULTS | RT_HAS_CTXSW,
	       0);
	if (!have_sweep())
		return;
	ck_assert_uint_eq(m.source, RT_SOURCE_BPF);
	refresh_all();
	run_all();
	expect_after(SELDOM, "tree by BPF, all ran",
	             (struct allowed){ 0, 1, 0, 0, TIMES, LAST_PID });
	run_all();
	meter_see_fork();
	expect_after(SELDOM, "tree by BPF, all ran, somebody forked",
	             (struct allowed){ 0, 1 + TREE + 1, 0, 0, TIMES,
	                               "PID/task/TID/children 20, " LAST_PID });
	glance_after(SOON);
	check("glance by BPF", &(struct allowed){ 0, 1, 0, 0, GLANCE, LAST_PID });
}
END_TEST

START_TEST(a_tree_read_by_bpf_with_pss)
{
	follow(TREE, 0, 0, NO_LIMIT);
	if (!have_sweep())
		return;
	refresh_all();
	run_all();
	expect_after(SELDOM, "tree by BPF with PSS, all ran",
	             (struct allowed){ TREE, 1 + TREE, 0, 0, TIMES + 2 * TREE,
	                               "PID/smaps_rollup 20, " LAST_PID });
}
END_TEST

/* What the machine's collectors read, and which domain wants it. A file whose records may be
 * long is read until nothing comes. */
static const struct {
	uint64_t want;
	const char *file;
	unsigned reads;
} machine_files[] = {
	{ RT_HAS_CPU | RT_HAS_CPU_MODES | RT_HAS_ACTIVITY, "stat", 1 },
	{ RT_HAS_MEMORY | RT_HAS_MEMORY_AVAILABLE | RT_HAS_SWAP, "meminfo", 1 },
	{ RT_HAS_DISK, "diskstats", 2 },
	{ RT_HAS_NETWORK, "net/dev", 1 },
	{ RT_HAS_LOAD | RT_HAS_THREADS, "loadavg", 1 },
	{ RT_HAS_PRESSURE_CPU, "pressure/cpu", 1 },
	{ RT_HAS_PRESSURE_MEMORY, "pressure/memory", 1 },
	{ RT_HAS_PRESSURE_IO, "pressure/io", 1 },
};

#define MACHINE_FILES (sizeof(machine_files) / sizeof(machine_files[0]))

/* 0: it cannot be read. */
static size_t bytes_in_one_read(const char *file)
{
	char path[64], bytes[4096];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s", file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : 0;
	if (fd >= 0)
		close(fd);
	return got > 0 ? (size_t)got : 0;
}

static unsigned count_mounts(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	unsigned lines = 0;

	ck_assert_ptr_nonnull(file);
	for (int c = getc(file); c != EOF; c = getc(file))
		lines += c == '\n';
	fclose(file);
	return lines;
}

static unsigned count_of(const char *file)
{
	for (size_t i = 0; i < meter.files; i++) {
		if (strcmp(meter.file[i].name, file) == 0)
			return meter.file[i].count;
	}
	return 0;
}

/* A directory is opened anew each time, since a list has no beginning to go back to by pread().
 * Whether a mount has come is asked by poll(). */
static void check_machine(uint64_t want)
{
	unsigned files = 0, reads = 0;

	for (size_t i = 0; i < MACHINE_FILES; i++) {
		unsigned expected =
		    machine_files[i].want & want && bytes_in_one_read(machine_files[i].file) > 0;

		ck_assert_uint_eq(count_of(machine_files[i].file), expected);
		files += expected;
		reads += expected * machine_files[i].reads;
	}
	ck_assert_uint_eq(count_of("."), (want & RT_HAS_PROCESSES) != 0);
	ck_assert_uint_eq(meter.files, files + count_of("."));
	ck_assert_uint_eq(meter.opens, count_of("."));
	if (want & RT_HAS_NETWORK && bytes_in_one_read("net/dev") >= 2048) /* many interfaces */
		ck_assert_uint_gt(meter.reads, reads);
	else
		ck_assert_uint_eq(meter.reads, reads);
	ck_assert_int_eq(meter.lists > 0, count_of(".") > 0);
	ck_assert_uint_eq(meter.looks, (want & RT_HAS_FILESYSTEM) != 0);
	ck_assert_uint_le(meter.spaces, want & RT_HAS_FILESYSTEM ? count_mounts() : 0);
	ck_assert_uint_eq(meter.clocks, 0);
	ck_assert_uint_le(meter.times, TIMES);
	ck_assert_uint_eq(meter.allocations, 0);
	ck_assert_str_eq(meter.twice, "");
}

static void track_machine(uint64_t want)
{
	struct rt_opts opts = { .size = sizeof(opts), .want = want };

	ck_assert_int_eq(rti_tracker_new(&tracker, 0, &opts, &meter_ops), 0);
	meter_attach(tracker);
	for (int i = 0; i < 3; i++) {
		meter_pass(SOON);
		sample();
	}
}

START_TEST(the_machine)
{
	track_machine(0);
	report("machine");
	check_machine(tracker->want);
}
END_TEST

/* Bit by bit; some are none of the machine's. */
START_TEST(one_domain_of_the_machine)
{
	uint64_t want = UINT64_C(1) << _i;
	char situation[64];

	if (!(want & rti_system_domains()))
		return;
	track_machine(want);
	snprintf(situation, sizeof(situation), "machine, bit %d alone", _i);
	report(situation);
	check_machine(want);
}
END_TEST

static int has_children_files(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	return access(path, F_OK) == 0;
}

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *tcase = suite_case(suite, name);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("cost");
	TCase *one = add_case(suite, "one"), *tree = add_case(suite, "tree"),
	      *system = add_case(suite, "machine");

	if (!has_children_files())
		return suite_skip("this kernel has no children files (CONFIG_PROC_CHILDREN)");
	tcase_add_test(one, an_idle_process);
	tcase_add_test(one, a_process_that_ran);
	tcase_add_test(one, a_process_without_pss);
	tcase_add_test(one, a_process_alone);
	tcase_add_test(one, a_process_alone_that_has_a_child);
	tcase_add_test(one, a_process_with_threads);
	tcase_add_test(tree, an_idle_tree);
	tcase_add_test(tree, a_tree_of_which_one_ran);
	tcase_add_test(tree, a_tree_that_ran);
	tcase_add_test(tree, a_tree_that_changes);
	tcase_add_test(tree, a_tree_without_a_budget_for_pss);
	tcase_add_test(tree, a_tree_without_a_limit_for_pss);
	tcase_add_test(tree, a_glance);
	tcase_add_test(tree, a_glance_after_a_fork);
	tcase_add_loop_test(tree, one_domain_of_a_tree, 0, DOMAINS);
	tcase_add_test(tree, what_a_sample_leaves_behind_costs_nothing);
	tcase_add_test(tree, a_tree_read_by_bpf);
	tcase_add_test(tree, a_tree_read_by_bpf_with_pss);
	tcase_add_test(system, the_machine);
	tcase_add_loop_test(system, one_domain_of_the_machine, 0, 32);
	return suite_run(suite);
}
