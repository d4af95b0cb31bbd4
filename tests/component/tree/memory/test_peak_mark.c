/* SPDX-License-Identifier: MIT */
/* What raises the peaks since a mark, and what is of an earlier time. */
#include "pool_fixture.h"

#include <errno.h>

static uint64_t set_mark(void)
{
	uint64_t id;

	ck_assert_int_eq(rt_tracker_mark(fix.tracker, "mark", &id), 0);
	return id;
}

static struct rt_peaks since(uint64_t id)
{
	struct rt_peaks peaks;

	ck_assert_int_eq(rt_tracker_since(fix.tracker, id, &peaks, sizeof(peaks)), 0);
	return peaks;
}

static void ck_since(uint64_t id, uint64_t anon, uint64_t files)
{
	struct rt_peaks peaks = since(id);

	ck_assert_uint_eq(peaks.peak_footprint_bytes, pages_to_bytes(anon + files));
	ck_assert_uint_eq(peaks.peak_needed_bytes, pages_to_bytes(anon));
	ck_assert_uint_eq(peaks.peak_rss_bytes, pages_to_bytes(anon + files));
	ck_assert_uint_eq(peaks.partial, RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED |
	                                     RT_HAS_PEAK_RSS | RT_HAS_PROCESSES_PEAK);
	ck_assert_uint_eq(peaks.valid | peaks.estimated, 0);
	ck_assert_uint_eq(peaks.processes_peak, 1);
}

static void hold(uint64_t anon)
{
	set_pages(ROOT, anon, FILES, 1);
	run_and_write(ROOT);
	fix.now_ns += SECOND;
}

/* With the peak that the kernel has of it. */
static void track_root(uint64_t high)
{
	write_pool(0);
	processes[ROOT].hwm_kib = kib(high);
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1 });
	take_sample_after(0);
}

START_TEST(mark_begins_with_what_is_there)
{
	uint64_t id;

	track_root(9000);
	id = set_mark();
	ck_since(id, ANON, FILES);
	ck_assert_uint_eq(since(id).monotonic_ns, fix.now_ns);
}
END_TEST

START_TEST(each_mark_has_the_peak_since_its_own_time)
{
	uint64_t first, second, third;

	track_root(9000);
	first = set_mark();
	hold(ANON + 500);
	take_sample_after(0);
	second = set_mark();
	hold(ANON + 100);
	third = set_mark();
	hold(ANON + 200);
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	hold(ANON);
	ck_since(first, ANON + 500, FILES);
	ck_since(second, ANON + 500, FILES); /* it was there when it was set */
	ck_since(third, ANON + 200, FILES);
}
END_TEST

/* Nothing saw it but the kernel. */
START_TEST(highest_rss_of_the_kernel_counts_if_it_has_grown)
{
	uint64_t id;

	track_root(5000);
	id = set_mark();
	ck_since(id, ANON, FILES);
	processes[ROOT].hwm_kib = kib(6000);
	run_and_write(ROOT);
	ck_assert_uint_eq(since(id).peak_rss_bytes, pages_to_bytes(6000));
	ck_assert_uint_eq(since(id).peak_footprint_bytes, pages_to_bytes(6000));
	ck_assert_uint_eq(since(id).peak_needed_bytes, pages_to_bytes(ANON));
	ck_assert_uint_eq(since(set_mark()).peak_rss_bytes, pages_to_bytes(ANON + FILES));
}
END_TEST

/* The kernel's peak has grown since the last sample, but before the mark. */
START_TEST(highest_rss_is_read_when_a_mark_is_set)
{
	uint64_t id;

	track_root(5000);
	processes[ROOT].hwm_kib = kib(7000);
	write_process(ROOT);
	id = set_mark();
	ck_since(id, ANON, FILES);
	fix.now_ns += SECOND;
	run_child(0);
	take_sample_after(SECOND); /* reads it, too */
	ck_since(id, ANON, FILES);
}
END_TEST

/* What was there before it is not known, so no peak that the kernel has is of a later time. */
START_TEST(mark_set_without_the_highest_rss_has_what_is_seen)
{
	uint64_t id;

	track_root(5000);
	processes[ROOT].hwm_kib = kib(7000);
	write_process(ROOT);
	faults_on_open("/status", -EMFILE);
	faults_on_read("/status", -EMFILE);
	id = set_mark();
	faults_on_open("/status", 0);
	faults_on_read("/status", 0);
	ck_since(id, ANON, FILES);
	hold(ANON + 300);
	ck_since(id, ANON + 300, FILES);
}
END_TEST

/* It has not run since by its clock, which may lag by a tick. */
START_TEST(memory_that_was_freed_before_a_mark_is_not_of_it)
{
	uint64_t id;

	track_root(5000);
	hold(ANON + 500);
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	set_pages(ROOT, ANON, FILES, 1);
	write_process(ROOT);
	id = set_mark();
	ck_since(id, ANON, FILES);
}
END_TEST

/* A child ends while the other one is looked at, and has handed its memory on: what both showed was
 * never there, though it is less than an earlier peak. */
static void end_other(void *arg)
{
	(void)arg;
	fake_process_remove(&fix.root, 101);
	end_cpu_clock(1);
	fix.now_ns += 20 * MS;
}

START_TEST(sum_that_was_never_held_raises_no_mark)
{
	struct rt_peaks peaks;
	uint64_t id;

	write_pool(2);
	for (int i = 1; i <= 2; i++) {
		make_process(i, false);
		set_pages(i, 10 * ANON, FILES, 1);
		write_process(i);
	}
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS, .max_fds = 1 });
	take_sample_after(0); /* the largest peak of all */
	for (int i = 1; i <= 2; i++) {
		set_pages(i, 10, FILES, 1);
		run_and_write(i);
	}
	fix.now_ns += SECOND;
	id = set_mark();
	for (int i = 1; i <= 2; i++) {
		set_pages(i, 5 * ANON, FILES, 1);
		run_and_write(i);
	}
	fix.now_ns += SECOND;
	faults_before_open("102/statm", end_other, NULL);
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	peaks = since(id);
	ck_assert_uint_ge(peaks.peak_footprint_bytes, pages_to_bytes(5 * ANON));
	ck_assert_uint_lt(peaks.peak_footprint_bytes, pages_to_bytes(7 * ANON));
}
END_TEST

START_TEST(estimate_at_the_peak_is_marked_as_one)
{
	uint64_t id;

	track_pool(1);
	take_savings();
	id = set_mark();
	ck_assert_uint_ne(since(id).estimated & RT_HAS_PEAK_FOOTPRINT, 0);
	ck_assert_uint_eq(since(id).partial & RT_HAS_PEAK_FOOTPRINT, 0);
	ck_assert_uint_eq(since(id).processes_peak, 2);
}
END_TEST

START_TEST(mark_without_wanted_peaks_has_those_of_rss)
{
	struct rt_peaks peaks;
	uint64_t id;

	write_pool(0);
	track_tree((struct rt_opts){ .want = RT_HAS_RSS });
	id = set_mark(); /* takes the first sample */
	hold(ANON + 300);
	peaks = since(id);
	ck_assert_uint_eq(peaks.partial, RT_HAS_PEAK_RSS | RT_HAS_PROCESSES_PEAK);
	ck_assert_uint_eq(peaks.estimated, 0);
	ck_assert_uint_eq(peaks.peak_footprint_bytes, 0);
	ck_assert_uint_ge(peaks.peak_rss_bytes, pages_to_bytes(ANON + 300 + FILES));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peak_mark");
	TCase *tc = add_member_case(suite, "peak_mark");

	tcase_add_test(tc, mark_begins_with_what_is_there);
	tcase_add_test(tc, each_mark_has_the_peak_since_its_own_time);
	tcase_add_test(tc, highest_rss_of_the_kernel_counts_if_it_has_grown);
	tcase_add_test(tc, highest_rss_is_read_when_a_mark_is_set);
	tcase_add_test(tc, mark_set_without_the_highest_rss_has_what_is_seen);
	tcase_add_test(tc, memory_that_was_freed_before_a_mark_is_not_of_it);
	tcase_add_test(tc, sum_that_was_never_held_raises_no_mark);
	tcase_add_test(tc, estimate_at_the_peak_is_marked_as_one);
	tcase_add_test(tc, mark_without_wanted_peaks_has_those_of_rss);
	return suite_run(suite);
}
