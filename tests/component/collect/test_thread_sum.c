/* SPDX-License-Identifier: MIT */
/* Sums over the threads of a process, from a fixture with two of them. */
#include "collect/thread_sum.h"

#include <errno.h>
#include <stdio.h>

#include "fixture.h"
#include "suite.h"

#define BOTH (RTI_THREAD_SUM_SWITCHES | RTI_THREAD_SUM_IO)

static struct fixture f;
static struct rti_procfs procfs;
static struct rti_platform platform;
static struct rti_buf buf;
static struct rti_context ctx;

static int answer_cpu_clock(int32_t pid, struct rti_cpu_clock *out)
{
	(void)pid;
	(void)out;
	return 0;
}

static void write_stat(const char *path, unsigned faults)
{
	fixture_printf(&f, path,
	               "100 (two) S 1 1 1 0 -1 0 %u 0 0 0 1 2 0 0 20 0 2 0 1000 4096000 9 1 "
	               "0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n",
	               faults);
}

/* Each figure of the second thread is 100 times that of the first. */
static void write_thread(int tid, unsigned factor)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/100/task/%d/status", tid);
	fixture_printf(&f, path,
	               "Name:\ttwo\nvoluntary_ctxt_switches:\t%u\n"
	               "nonvoluntary_ctxt_switches:\t%u\n",
	               1 * factor, 2 * factor);
	snprintf(path, sizeof(path), "proc/100/task/%d/io", tid);
	fixture_printf(&f, path,
	               "rchar: %u\nwchar: %u\nsyscr: %u\nsyscw: %u\nread_bytes: %u\n"
	               "write_bytes: %u\ncancelled_write_bytes: %u\n",
	               3 * factor, 4 * factor, 5 * factor, 6 * factor, 7 * factor, 8 * factor,
	               9 * factor);
	snprintf(path, sizeof(path), "proc/100/task/%d/stat", tid);
	write_stat(path, factor);
}

static void open_fixture(void)
{
	fixture_new(&f);
	ck_assert_int_eq(rti_procfs_open(&procfs, f.root, &rti_procfs_linux), 0);
	rti_platform_init(&platform, true);
	ctx = (struct rti_context){ .procfs = &procfs, .platform = &platform, .buf = &buf };
	write_stat("proc/100/stat", 101);
	write_thread(100, 1);
	write_thread(101, 100);
}

static void close_fixture(void)
{
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	fixture_free(&f);
}

START_TEST(each_figure_is_the_sum_of_both_threads)
{
	struct rti_thread_sum sum;

	ck_assert_int_eq(rti_thread_sum_read(&ctx, 100, BOTH, &sum), 0);
	ck_assert_uint_eq(sum.voluntary, 101);
	ck_assert_uint_eq(sum.involuntary, 202);
	ck_assert_uint_eq(sum.io.rchar, 303);
	ck_assert_uint_eq(sum.io.wchar, 404);
	ck_assert(sum.io.has_calls);
	ck_assert_uint_eq(sum.io.syscr, 505);
	ck_assert_uint_eq(sum.io.syscw, 606);
	ck_assert_uint_eq(sum.io.read_bytes, 707);
	ck_assert_uint_eq(sum.io.write_bytes, 808);
	ck_assert_uint_eq(sum.io.cancelled_write_bytes, 909);
	ck_assert(sum.is_complete);
}
END_TEST

START_TEST(faults_that_no_thread_has_show_that_one_exited)
{
	struct rti_thread_sum sum;

	write_stat("proc/100/stat", 102);
	ck_assert_int_eq(rti_thread_sum_read(&ctx, 100, BOTH, &sum), 0);
	ck_assert_uint_eq(sum.voluntary, 101);
	ck_assert(!sum.is_complete);
}
END_TEST

static int used_1000_ns(int32_t pid, struct rti_cpu_clock *out)
{
	(void)pid;
	*out = (struct rti_cpu_clock){ .total_ns = 1000 };
	return 0;
}

/* A kernel without schedstat, or with one that cannot be used: the faults alone decide. */
START_TEST(run_time_that_is_no_number_decides_nothing)
{
	struct rti_thread_sum sum;

	platform.cpu_clock = used_1000_ns;
	fixture_write(&f, "proc/100/task/100/schedstat", "999 0 1\n");
	fixture_write(&f, "proc/100/task/101/schedstat", "0 0 1\n");
	ck_assert_int_eq(rti_thread_sum_read(&ctx, 100, BOTH, &sum), 0);
	ck_assert(!sum.is_complete);
	fixture_write(&f, "proc/100/task/101/schedstat", "what\n");
	ck_assert_int_eq(rti_thread_sum_read(&ctx, 100, BOTH, &sum), 0);
	ck_assert(sum.is_complete);
}
END_TEST

START_TEST(name_that_is_no_thread_is_not_added)
{
	struct rti_thread_sum sum;

	fixture_mkdir(&f, "proc/100/task/other");
	ck_assert_int_eq(rti_thread_sum_read(&ctx, 100, BOTH, &sum), 0);
	ck_assert_uint_eq(sum.voluntary, 101);
	ck_assert(sum.is_complete);
}
END_TEST

START_TEST(leader_is_alone_if_it_has_run_all_the_time)
{
	struct rti_cpu_clock clock = { 0 };
	struct rti_target target = { .pid = 100, .clock = &clock };

	platform.cpu_clock = used_1000_ns;
	ck_assert(!rti_thread_sum_is_leader_alone(&ctx, &target));
	fixture_write(&f, "proc/100/schedstat", "999 5 6\n");
	ck_assert(!rti_thread_sum_is_leader_alone(&ctx, &target));
	fixture_write(&f, "proc/100/schedstat", "1000 5 6\n");
	ck_assert(rti_thread_sum_is_leader_alone(&ctx, &target));
}
END_TEST

START_TEST(process_that_exits_before_its_threads_are_listed_is_gone)
{
	struct rti_thread_sum sum;

	fixture_remove(&f, "proc/100/task");
	ck_assert_int_eq(rti_thread_sum_read(&ctx, 100, BOTH, &sum), -ESRCH);
}
END_TEST

START_TEST(process_that_is_gone_before_its_stat_is_read_is_gone)
{
	struct rti_thread_sum sum;

	fixture_remove(&f, "proc/100");
	platform.cpu_clock = NULL;
	ck_assert_int_eq(rti_thread_sum_read(&ctx, 100, BOTH, &sum), -ESRCH);
}
END_TEST

/* hidepid=invisible: its directory is missing, but its CPU clock answers. */
START_TEST(process_that_proc_hides_is_not_gone)
{
	struct rti_thread_sum sum;

	fixture_remove(&f, "proc/100");
	platform.cpu_clock = answer_cpu_clock;
	ck_assert_int_eq(rti_thread_sum_read(&ctx, 100, BOTH, &sum), -EACCES);
}
END_TEST

START_TEST(run_time_of_a_leader_without_schedstat_is_an_error)
{
	struct rti_target target = { .pid = 100 };
	uint64_t run_ns = 77;

	ck_assert_int_lt(rti_thread_sum_read_leader_run_ns(&ctx, &target, &run_ns), 0);
	ck_assert_uint_eq(run_ns, 77);
	fixture_write(&f, "proc/100/schedstat", "1234 5 6\n");
	ck_assert_int_eq(rti_thread_sum_read_leader_run_ns(&ctx, &target, &run_ns), 0);
	ck_assert_uint_eq(run_ns, 1234);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread_sum");
	TCase *tcase = suite_case(suite, "thread_sum");

	tcase_add_checked_fixture(tcase, open_fixture, close_fixture);
	tcase_add_test(tcase, each_figure_is_the_sum_of_both_threads);
	tcase_add_test(tcase, faults_that_no_thread_has_show_that_one_exited);
	tcase_add_test(tcase, run_time_that_is_no_number_decides_nothing);
	tcase_add_test(tcase, name_that_is_no_thread_is_not_added);
	tcase_add_test(tcase, leader_is_alone_if_it_has_run_all_the_time);
	tcase_add_test(tcase, process_that_exits_before_its_threads_are_listed_is_gone);
	tcase_add_test(tcase, process_that_is_gone_before_its_stat_is_read_is_gone);
	tcase_add_test(tcase, process_that_proc_hides_is_not_gone);
	tcase_add_test(tcase, run_time_of_a_leader_without_schedstat_is_an_error);
	return suite_run(suite);
}
