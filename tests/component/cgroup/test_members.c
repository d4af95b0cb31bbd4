/* SPDX-License-Identifier: MIT */
/* The members of a cgroup: the processes in it and in those below it. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cgroup/cgroup_root.h"
#include "faults.h"
#include "suite.h"

#define MEMBERS                                                                                    \
	(RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PSS | RT_HAS_THREADS | RT_HAS_PROCESSES | RT_HAS_IO |    \
	 RT_HAS_PEAK_RSS | RT_HAS_CTXSW)

#define INITIAL "pid:[4026531836]"

static void add_process(int pid, uint64_t rss_pages)
{
	const struct fake_process p = { .pid = pid,
		                        .ppid = 1,
		                        .comm = "worker",
		                        .state = 'S',
		                        .utime = 100,
		                        .starttime = 50,
		                        .rss_pages = rss_pages,
		                        .pss_kib = rss_pages * 2,
		                        .hwm_kib = rss_pages * 8,
		                        .read_bytes = 1000,
		                        .voluntary = 3,
		                        .children = "" };

	fake_process_write(&cgroup_root, &p);
}

static void set_up(void)
{
	cgroup_root_set_up();
	cgroup_root_v2();
	cgroup_root_write_v2();
	cgroup_root_write("a/b/cgroup.procs", "101\n102\n");
	add_process(101, 10);
	add_process(102, 20);
	add_process(103, 40);
}

static size_t list(const struct rt_tracker *t, struct rt_process rows[8])
{
	size_t count = 8;

	ck_assert_int_eq(rt_tracker_processes(t, rows, sizeof(*rows), &count), 0);
	ck_assert_uint_le(count, 8);
	return count;
}

START_TEST(members_are_listed_and_summed)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct rt_tracker *t = cgroup_root_track("/a/b", MEMBERS);
	struct rt_metrics m = cgroup_root_sample(t);
	struct rt_process rows[8];

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.threads, 2);
	ck_assert_uint_eq(m.rss_bytes, 30 * page);
	ck_assert_uint_eq(m.pss_bytes, 60 * 1024);
	/* CPU time is that of the cgroup, not the sum. */
	ck_assert_uint_eq(m.cpu_user_ns, 3000000000u);
	ck_assert_uint_eq(m.valid,
	                  RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PSS | RT_HAS_THREADS | RT_HAS_PROCESSES);
	ck_assert_uint_eq(m.estimated, RT_HAS_IO | RT_HAS_CTXSW);
	ck_assert_uint_eq(m.partial, RT_HAS_PEAK_RSS | RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(m.read_bytes, 2000);
	cgroup_root_check_missing(t, RT_HAS_IO, -ENODATA, "no account of this for a cgroup");
	ck_assert_uint_eq(list(t, rows), 2);
	ck_assert_int_eq(rows[0].pid, 101);
	ck_assert_int_eq(rows[1].pid, 102);
	ck_assert_uint_eq(rows[1].rss_bytes, 20 * page);
	ck_assert_uint_eq(rows[1].cpu_user_ns, 1000000000);
	rt_tracker_free(t);
}
END_TEST

/* A process above 1 GiB is too large to be read without a request. */
START_TEST(memory_of_members_is_read_on_request)
{
	struct rt_tracker *t = cgroup_root_track("/a/b", RT_HAS_FOOTPRINT | RT_HAS_CPU);
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), pages = (UINT64_C(1) << 30) / page;
	const struct fake_process p = { .pid = 102,
		                        .ppid = 1,
		                        .starttime = 50,
		                        .rss_pages = pages + 1,
		                        .shared_pages = pages / 2,
		                        .children = "" };
	struct rt_metrics m;

	fake_process_write(&cgroup_root, &p);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.estimated & RT_HAS_FOOTPRINT, RT_HAS_FOOTPRINT);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_FOOTPRINT), -EDQUOT);
	ck_assert_int_eq(rt_tracker_read_memory(t), 0);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.valid & RT_HAS_FOOTPRINT, RT_HAS_FOOTPRINT);
	ck_assert_uint_eq(m.footprint_bytes, (10 + pages + 1) * page);
	rt_tracker_free(t);
}
END_TEST

START_TEST(member_that_moves_away_is_none_any_more)
{
	struct rt_tracker *t = cgroup_root_track("/a/b", MEMBERS);
	struct rt_process rows[8];
	struct rt_metrics m;

	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	cgroup_root_write("a/b/cgroup.procs", "102\n103\n");
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.pss_bytes, 120 * 1024);
	ck_assert_uint_eq(m.processes_seen, 3);
	ck_assert_uint_eq(m.read_bytes, 3000);
	ck_assert_uint_eq(list(t, rows), 2);
	ck_assert_int_eq(rows[0].pid, 102);
	ck_assert_int_eq(rows[1].pid, 103);
	rt_tracker_free(t);
}
END_TEST

START_TEST(member_that_exits_is_gone)
{
	struct rt_tracker *t = cgroup_root_track("/a/b", MEMBERS);
	struct rt_metrics m;

	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	cgroup_root_write("a/b/cgroup.procs", "102\n");
	fake_process_remove(&cgroup_root, 101);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert(m.valid & RT_HAS_RSS);
	rt_tracker_free(t);
}
END_TEST

START_TEST(empty_cgroup_has_no_processes)
{
	struct rt_tracker *t = cgroup_root_track("/a/b", MEMBERS);
	struct rt_process rows[8];
	struct rt_metrics m;

	cgroup_root_sample(t);
	cgroup_root_write("a/b/cgroup.procs", "");
	fake_process_remove(&cgroup_root, 101);
	fake_process_remove(&cgroup_root, 102);
	for (int i = 0; i < 5; i++) {
		m = cgroup_root_sample(t);
		ck_assert_uint_eq(m.processes | m.rss_bytes | m.pss_bytes | m.threads, 0);
		ck_assert(m.valid & RT_HAS_PROCESSES && m.valid & RT_HAS_CPU);
	}
	ck_assert_uint_eq(list(t, rows), 0);
	cgroup_root_write("a/b/cgroup.procs", "103\n");
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 1);
	rt_tracker_free(t);
}
END_TEST

START_TEST(cgroups_below_belong_to_it)
{
	struct rt_tracker *t;

	cgroup_root_write("a/b/cgroup.stat", "nr_descendants 2\n");
	cgroup_root_write("a/b/memory.x/cgroup.procs", "");
	cgroup_root_write("a/b/memory.x/deep/cgroup.procs", "103\n");
	t = cgroup_root_track("/a/b", MEMBERS);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 3);
	/* A new one shows in the number of them, as a removed one does. */
	add_process(104, 10);
	cgroup_root_write("a/b/new/cgroup.procs", "104\n");
	cgroup_root_write("a/b/cgroup.stat", "nr_descendants 3\n");
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 4);
	fixture_remove(&cgroup_root, "cg/a/b/memory.x");
	cgroup_root_write("a/b/cgroup.stat", "nr_descendants 1\n");
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 3);
	rt_tracker_free(t);
}
END_TEST

/* The number of them is the same when one is made and another one removed. */
START_TEST(cgroup_below_that_takes_the_place_of_another_is_found)
{
	struct rt_tracker *t;

	cgroup_root_write("a/b/cgroup.stat", "nr_descendants 1\n");
	cgroup_root_write("a/b/x/cgroup.procs", "");
	t = cgroup_root_track("/a/b", MEMBERS);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	faults_on_read("x/cgroup.procs", -ENODEV);
	cgroup_root_write("a/b/y/cgroup.procs", "103\n");
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 3);
	faults_on_read("x/cgroup.procs", 0);
	rt_tracker_free(t);
}
END_TEST

/* v1 does not say how many there are, so they are looked for each time. */
START_TEST(cgroups_below_belong_to_it_in_v1)
{
	struct rt_tracker *t;

	cgroup_root_v1();
	cgroup_root_write_v1();
	cgroup_root_write("cpu/a/b/cgroup.procs", "101\n");
	cgroup_root_write("cpu/a/b/x/cgroup.procs", "");
	cgroup_root_write("cpu/a/b/x/y/cgroup.procs", "102\n");
	t = cgroup_root_track("/a/b", MEMBERS);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	cgroup_root_write("cpu/a/b/x/z/cgroup.procs", "103\n");
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 3);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 3);
	fixture_remove(&cgroup_root, "cg/cpu/a/b/x/y");
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	rt_tracker_free(t);
	ck_assert_uint_eq(faults_open_files(), 0);
}
END_TEST

/* A cgroup of threads lists no processes: those are listed above it. */
START_TEST(threaded_cgroup_below_is_left_to_the_one_above)
{
	struct rt_tracker *t;

	cgroup_root_write("a/b/cgroup.stat", "nr_descendants 1\n");
	cgroup_root_write("a/b/t/cgroup.procs", "101\n");
	faults_on_read("t/cgroup.procs", -EOPNOTSUPP);
	t = cgroup_root_track("/a/b", MEMBERS);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	faults_on_read("t/cgroup.procs", 0);
	rt_tracker_free(t);
}
END_TEST

START_TEST(threaded_cgroup_has_the_processes_of_its_threads)
{
	struct rt_tracker *t;

	cgroup_root_write("a/b/cgroup.threads", "101\n1021\n1022\n");
	fixture_write(&cgroup_root, "proc/1021/status", "Tgid:\t102\n");
	fixture_write(&cgroup_root, "proc/1022/status", "Tgid:\t102\n");
	fixture_write(&cgroup_root, "proc/101/status", "Tgid:\t101\nVmHWM: 8 kB\n");
	faults_on_read("cgroup.procs", -EOPNOTSUPP);
	t = cgroup_root_track("/a/b", RT_HAS_PROCESSES | RT_HAS_RSS);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	faults_on_read("cgroup.procs", 0);
	rt_tracker_free(t);
}
END_TEST

/* Threads that exit while they are listed, or that are in another pid namespace. */
START_TEST(thread_without_a_process_in_its_status_is_left_out)
{
	struct rt_tracker *t;

	cgroup_root_write("a/b/cgroup.threads", "101\n501\n502\n503\n504\n");
	fixture_write(&cgroup_root, "proc/101/status", "Tgid:\t101\n");
	fixture_write(&cgroup_root, "proc/502/status", "");
	fixture_write(&cgroup_root, "proc/503/status", "Name:\tx\n");
	fixture_write(&cgroup_root, "proc/504/status", "Tgid:\t0\n");
	faults_on_read("cgroup.procs", -EOPNOTSUPP);
	t = cgroup_root_track("/a/b", RT_HAS_PROCESSES | RT_HAS_RSS);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 1);
	faults_on_read("cgroup.procs", 0);
	rt_tracker_free(t);
}
END_TEST

#define MANY 80 /* more than have their list kept open */

START_TEST(cgroups_below_may_be_many)
{
	struct rt_tracker *t;
	unsigned open_files;
	char path[64];

	cgroup_root_write("a/b/cgroup.procs", "");
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "a/b/x%d/cgroup.procs", i);
		cgroup_root_write(path, i == MANY - 1 || i == 0 ? i ? "101\n" : "102\n" : "");
	}
	t = cgroup_root_track("/a/b", RT_HAS_PROCESSES | RT_HAS_RSS);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	open_files = faults_open_files();
	ck_assert_uint_lt(open_files, MANY);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	ck_assert_uint_eq(faults_open_files(), open_files);
	rt_tracker_free(t);
	ck_assert_uint_eq(faults_open_files(), 0);
}
END_TEST

static void write_thread(int tid, int pid)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "proc/%d/status", tid);
	snprintf(text, sizeof(text), "Tgid:\t%d\n", pid);
	fixture_write(&cgroup_root, path, text);
}

START_TEST(threaded_cgroup_has_the_threads_below)
{
	struct rt_tracker *t;

	cgroup_root_write("a/b/cgroup.stat", "nr_descendants 1\n");
	cgroup_root_write("a/b/cgroup.threads", "101\n");
	cgroup_root_write("a/b/x/cgroup.threads", "1021\n");
	write_thread(101, 101);
	write_thread(1021, 102);
	faults_on_read("cgroup.procs", -EOPNOTSUPP);
	t = cgroup_root_track("/a/b", RT_HAS_PROCESSES | RT_HAS_RSS);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 2);
	faults_on_read("cgroup.procs", 0);
	rt_tracker_free(t);
	ck_assert_uint_eq(faults_open_files(), 0);
}
END_TEST

/* They may be of one process, or each of another one. */
START_TEST(threads_of_another_pid_namespace_are_a_process_at_least)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_write("a/b/cgroup.threads", "0\n101\n0\n0\n");
	write_thread(101, 101);
	faults_on_read("cgroup.procs", -EOPNOTSUPP);
	t = cgroup_root_track("/a/b", RT_HAS_PROCESSES | RT_HAS_RSS);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert(m.partial & RT_HAS_PROCESSES);
	cgroup_root_check_missing(t, RT_HAS_PROCESSES, -EXDEV, "pid namespace");
	faults_on_read("cgroup.procs", 0);
	rt_tracker_free(t);
}
END_TEST

START_TEST(processes_of_another_pid_namespace_are_counted)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_write("a/b/cgroup.procs", "0\n101\n0\n");
	t = cgroup_root_track("/a/b", MEMBERS);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.processes, 3);
	ck_assert(m.valid & RT_HAS_PROCESSES);
	ck_assert_uint_eq(m.partial & (RT_HAS_RSS | RT_HAS_PSS | RT_HAS_THREADS),
	                  RT_HAS_RSS | RT_HAS_PSS | RT_HAS_THREADS);
	cgroup_root_check_missing(t, RT_HAS_RSS, -EXDEV, "pid namespace");
	rt_tracker_free(t);
}
END_TEST

/* v1 leaves them out (kernel/cgroup/cgroup-v1.c, pidlist_array_load()), so nothing shows whether
 * there are any. */
START_TEST(members_of_v1_are_a_bound_in_another_pid_namespace)
{
	const uint64_t bounds = RT_HAS_PROCESSES | RT_HAS_RSS | RT_HAS_THREADS;
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v1();
	cgroup_root_write_v1();
	cgroup_root_write("cpu/a/b/cgroup.procs", "101\n");
	fixture_link(&cgroup_root, "proc/self/ns/pid", _i ? "pid:[4026532000]" : INITIAL);
	t = cgroup_root_track("/a/b", MEMBERS);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.partial & bounds, _i ? bounds : 0);
	ck_assert_uint_eq(m.valid & (bounds | RT_HAS_CPU), _i ? RT_HAS_CPU : RT_HAS_CPU | bounds);
	if (_i)
		cgroup_root_check_missing(t, RT_HAS_PROCESSES, -EXDEV, "pid namespace");
	rt_tracker_free(t);
}
END_TEST

/* E.g.: a container with a pid namespace of its own that has /proc of the host at /host/proc. 101
 * of the list is not 101 there. */
START_TEST(processes_are_not_mistaken_for_others_of_another_proc)
{
	struct rt_tracker *t;
	struct rt_metrics m;
	struct rt_process rows[8];
	char other[16];

	snprintf(other, sizeof(other), "%d", getpid() + 1);
	fixture_link(&cgroup_root, "proc/self", other);
	t = cgroup_root_track("/a/b", MEMBERS);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.rss_bytes, 0);
	ck_assert(m.valid & RT_HAS_PROCESSES && m.partial & RT_HAS_RSS);
	ck_assert_uint_eq(list(t, rows), 0);
	cgroup_root_check_missing(t, RT_HAS_RSS, -EXDEV, "pid namespace");
	rt_tracker_free(t);
}
END_TEST

START_TEST(list_that_cannot_be_read_makes_lower_bounds)
{
	struct rt_tracker *t = cgroup_root_track("/a/b", MEMBERS);
	struct rt_metrics m;

	cgroup_root_sample(t);
	faults_on_read("cgroup.procs", -EACCES);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.valid, RT_HAS_CPU);
	ck_assert(m.partial & RT_HAS_PROCESSES);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.reasons, RT_REASON_MEMBERS_SKIPPED);
	faults_on_read("cgroup.procs", 0);
	ck_assert(cgroup_root_sample(t).valid & RT_HAS_PROCESSES);
	rt_tracker_free(t);
}
END_TEST

/* Whether there are cgroups below it is not known. */
START_TEST(cgroup_below_that_cannot_be_listed_makes_lower_bounds)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_write("a/b/cgroup.stat", "nr_descendants 2\n");
	cgroup_root_write("a/b/x/cgroup.procs", "");
	cgroup_root_write("a/b/x/y/cgroup.procs", "103\n");
	faults_on_open("x/", -EACCES);
	t = cgroup_root_track("/a/b", MEMBERS);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.valid & (RT_HAS_RSS | RT_HAS_PROCESSES), 0);
	ck_assert_uint_eq(m.partial & (RT_HAS_RSS | RT_HAS_PROCESSES),
	                  RT_HAS_RSS | RT_HAS_PROCESSES);
	cgroup_root_check_missing(t, RT_HAS_PROCESSES, -EACCES, "");
	faults_on_open("x/", 0);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.processes, 3);
	ck_assert_uint_eq(m.valid & (RT_HAS_RSS | RT_HAS_PROCESSES), RT_HAS_RSS | RT_HAS_PROCESSES);
	rt_tracker_free(t);
}
END_TEST

START_TEST(removed_cgroup_is_gone_for_good)
{
	struct rt_tracker *t = cgroup_root_track("/a/b", 0);
	struct rt_metrics before = cgroup_root_sample(t), after;

	faults_on_read("cgroup.procs", -ENODEV);
	ck_assert_int_eq(rt_sample(t, &after, sizeof(after)), -ESRCH);
	ck_assert_uint_eq(after.cpu_user_ns, before.cpu_user_ns);
	ck_assert_uint_eq(after.cgroup_oom_kills, 1);
	ck_assert_uint_eq(after.cgroup_memory_peak_bytes, 2000000);
	ck_assert_uint_eq(after.processes | after.rss_bytes | after.cgroup_memory_bytes, 0);
	ck_assert(after.partial & RT_HAS_CPU && after.partial & RT_HAS_CGROUP_OOM_KILLS);
	ck_assert_uint_eq((after.valid | after.partial | after.estimated) & RT_HAS_CGROUP_MEMORY,
	                  0);
	cgroup_root_check_missing(t, RT_HAS_CPU, -ENODEV, "has been removed");
	faults_on_read("cgroup.procs", 0); /* another one gets the name */
	ck_assert_int_eq(rt_sample(t, &after, sizeof(after)), -ESRCH);
	ck_assert_uint_eq(after.processes, 0);
	rt_tracker_free(t);
}
END_TEST

START_TEST(tracker_that_wants_no_members_reads_none)
{
	struct rt_tracker *t = cgroup_root_track("/a/b", RT_HAS_CGROUP_MEMORY);
	size_t count = 0;

	ck_assert_uint_eq(cgroup_root_sample(t).valid, RT_HAS_CGROUP_MEMORY);
	ck_assert_int_eq(rt_tracker_processes(t, NULL, sizeof(struct rt_process), &count),
	                 -EOPNOTSUPP);
	faults_on_read("cgroup.procs", -ENODEV);
	ck_assert_int_eq(rt_sample(t, &(struct rt_metrics){ 0 }, sizeof(struct rt_metrics)),
	                 -ESRCH);
	faults_on_read("cgroup.procs", 0);
	rt_tracker_free(t);
}
END_TEST

START_TEST(sample_opens_no_file_again)
{
	struct rt_tracker *t = cgroup_root_track("/a/b", MEMBERS & ~(RT_HAS_PSS | RT_HAS_CTXSW));
	unsigned opens;

	for (int i = 0; i < 3; i++)
		cgroup_root_sample(t);
	opens = faults_opens();
	cgroup_root_sample(t);
	ck_assert_uint_le(faults_opens() - opens, 2 * 2); /* status of each member at most */
	rt_tracker_free(t);
	ck_assert_uint_eq(faults_open_files(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_members");
	TCase *members = suite_case(suite, "members");

	tcase_add_checked_fixture(members, set_up, cgroup_root_tear_down);
	tcase_add_test(members, members_are_listed_and_summed);
	tcase_add_test(members, memory_of_members_is_read_on_request);
	tcase_add_test(members, member_that_moves_away_is_none_any_more);
	tcase_add_test(members, member_that_exits_is_gone);
	tcase_add_test(members, empty_cgroup_has_no_processes);
	tcase_add_test(members, cgroups_below_belong_to_it);
	tcase_add_test(members, cgroup_below_that_takes_the_place_of_another_is_found);
	tcase_add_test(members, cgroups_below_belong_to_it_in_v1);
	tcase_add_test(members, threaded_cgroup_below_is_left_to_the_one_above);
	tcase_add_test(members, threaded_cgroup_has_the_processes_of_its_threads);
	tcase_add_test(members, threaded_cgroup_has_the_threads_below);
	tcase_add_test(members, thread_without_a_process_in_its_status_is_left_out);
	tcase_add_test(members, cgroups_below_may_be_many);
	tcase_add_test(members, threads_of_another_pid_namespace_are_a_process_at_least);
	tcase_add_test(members, processes_of_another_pid_namespace_are_counted);
	tcase_add_loop_test(members, members_of_v1_are_a_bound_in_another_pid_namespace, 0, 2);
	tcase_add_test(members, processes_are_not_mistaken_for_others_of_another_proc);
	tcase_add_test(members, list_that_cannot_be_read_makes_lower_bounds);
	tcase_add_test(members, cgroup_below_that_cannot_be_listed_makes_lower_bounds);
	tcase_add_test(members, removed_cgroup_is_gone_for_good);
	tcase_add_test(members, tracker_that_wants_no_members_reads_none);
	tcase_add_test(members, sample_opens_no_file_again);
	return suite_run(suite);
}
