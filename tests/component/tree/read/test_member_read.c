/* SPDX-License-Identifier: MIT */
/* What is read of a member again and when, and how descriptors are cached meanwhile. */
#include "tree/member_fixture.h"

#include "tree/tree_inside.h"

#define ROOT_FDS 3 /* descriptors of the tracker that are not those of members */

/* Returns a child in which all figures differ from make_child(). */
static struct fake_process make_changed_child(int i)
{
	struct fake_process child = make_child(i);

	child.rss_pages = 15;
	child.pss_kib = 11;
	child.hwm_kib = 99;
	child.read_bytes = 5000;
	child.voluntary = 8;
	child.minflt = 9;
	return child;
}

START_TEST(process_that_does_not_run_keeps_its_figures)
{
	struct fake_process child = make_changed_child(1);
	struct rt_metrics first, m;
	struct rt_process before, row;

	write_tree(2);
	track_tree((struct rt_opts){ 0 });
	first = take_sample_after(0);
	before = get_row(101);
	fake_process_write(&fix.root, &child);

	for (int i = 0; i < 9; i++) {
		m = take_sample_after(100 * MS);

		row = get_row(101);
		/* Other processes change its PSS, too. */
		row.pss_bytes = before.pss_bytes;
		row.pss_age_ns = before.pss_age_ns;
		row.pss_source = before.pss_source;
		ck_assert_mem_eq(&row, &before, sizeof(row));
		ck_assert_uint_eq(m.read_bytes, first.read_bytes);
		ck_assert_uint_eq(m.rss_bytes, first.rss_bytes);
		ck_assert_uint_eq(m.valid, first.valid);
	}
}
END_TEST

START_TEST(process_that_ran_is_read_again_and_its_sibling_is_not)
{
	struct fake_process ran = make_changed_child(1), idle = make_changed_child(2);
	struct rt_process row;

	write_tree(2);
	track_tree((struct rt_opts){ 0 });
	take_sample_after(0);
	take_sample_after(900 * MS);
	fake_process_write(&fix.root, &ran);
	fake_process_write(&fix.root, &idle);
	run_child(1);

	take_sample_after(1);

	row = get_row(101);
	ck_assert_uint_eq(row.read_bytes, 5000);
	ck_assert_uint_eq(row.rss_bytes, pages_to_bytes(15));
	ck_assert_uint_eq(row.peak_rss_bytes, 99 * 1024);
	ck_assert_uint_eq(row.voluntary_switches, 8);
	ck_assert_uint_eq(row.minor_faults, 9);
	ck_assert_uint_eq(get_row(102).read_bytes, 1000);
}
END_TEST

START_TEST(rss_of_process_that_does_not_run_is_read_each_second)
{
	struct fake_process child = make_changed_child(1);
	struct rt_metrics m;

	write_tree(1);
	track_tree((struct rt_opts){ 0 });
	take_sample_after(0);
	fake_process_write(&fix.root, &child);

	take_sample_after(SECOND - 1);
	ck_assert_uint_eq(get_row(101).rss_bytes, pages_to_bytes(20));

	m = take_sample_after(1);
	ck_assert_uint_eq(get_row(101).rss_bytes, pages_to_bytes(15));
	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(25));
	ck_assert_uint_eq(get_row(101).read_bytes, 1000);
	ck_assert_uint_eq(get_row(101).minor_faults, 5);
}
END_TEST

/* Sets the peak that status shows of child 1, and its RSS, and marks it as having run. */
static void raise_peak(uint64_t hwm_kib, uint64_t rss_pages)
{
	struct fake_process child = make_child(1);

	child.hwm_kib = hwm_kib;
	child.rss_pages = rss_pages;
	fake_process_write(&fix.root, &child);
	run_child(1);
}

START_TEST(status_is_read_when_rss_exceeds_the_peak)
{
	struct rt_metrics m;

	write_tree(1);
	track_tree((struct rt_opts){ 0 });
	take_sample_after(0);

	raise_peak(90, 20);
	take_sample_after(50 * MS);
	ck_assert_uint_eq(get_row(101).peak_rss_bytes, 80 * 1024);

	raise_peak(95, 80 / 4 + 1);
	m = take_sample_after(20 * MS);
	ck_assert_uint_eq(get_row(101).peak_rss_bytes, 95 * 1024);
	ck_assert_uint_eq(m.peak_rss_bytes, 95 * 1024);
}
END_TEST

/* A read at a new peak of RSS counts: the next is due 100 ms after it. */
START_TEST(status_of_process_that_runs_is_read_ten_times_a_second)
{
	struct rt_metrics m;

	write_tree(1);
	track_tree((struct rt_opts){ 0 });
	take_sample_after(0);
	raise_peak(95, 80 / 4 + 1);
	take_sample_after(70 * MS);

	raise_peak(96, 20);
	take_sample_after(99 * MS);
	ck_assert_uint_eq(get_row(101).peak_rss_bytes, 95 * 1024);

	run_child(1);
	m = take_sample_after(1 * MS);
	ck_assert_uint_eq(get_row(101).peak_rss_bytes, 96 * 1024);
	ck_assert_uint_ne(m.valid & RT_HAS_PEAK_RSS, 0);
}
END_TEST

START_TEST(files_put_off_while_the_process_ran_are_read_when_due)
{
	struct fake_process child = make_child(1);
	struct rt_metrics m;

	write_tree(1);
	track_tree((struct rt_opts){ 0 });
	take_sample_after(0);
	child.hwm_kib = 500;
	child.voluntary = 77;
	child.ignores_sigchld = true;
	fake_process_write(&fix.root, &child);

	run_child(1);
	take_sample_after(50 * MS);
	ck_assert_uint_eq(get_row(101).peak_rss_bytes, 80 * 1024);

	m = take_sample_after(50 * MS); /* the child has not run since */
	ck_assert_uint_eq(get_row(101).peak_rss_bytes, 500 * 1024);
	ck_assert_uint_eq(get_row(101).voluntary_switches, 77);
	ck_assert_uint_eq(m.reasons, RT_REASON_SIGCHLD_IGNORED);
}
END_TEST

START_TEST(ignored_sigchld_is_reported_within_100_ms_with_any_domain_wanted)
{
	static const uint64_t wanted[] = { 0, RT_HAS_CPU };
	struct fake_process child = make_child(1);
	struct rt_metrics m;

	write_tree(1);
	track_tree((struct rt_opts){ .want = wanted[_i] });
	m = take_sample_after(0);
	ck_assert_uint_eq(m.reasons, 0);
	child.ignores_sigchld = true;
	fake_process_write(&fix.root, &child);

	for (int ms = 0; ms < 100; ms += 10) {
		run_child(1);
		m = take_sample_after(10 * MS);
	}

	ck_assert_uint_eq(m.reasons, RT_REASON_SIGCHLD_IGNORED);
}
END_TEST

/* A sample after a quick one is measured by the wall clock, which costs less to read. If it takes
 * more than 100 us of wall time it is charged 100 us, and the next one is measured by the CPU
 * clock. By the CPU clock each sample here takes 10 us. */
START_TEST(sample_after_a_quick_sample_is_charged_its_wall_time)
{
	static const struct {
		uint64_t wall_ns, charged_ns;
	} samples[] = {
		{ SECOND, 10000 }, { 3000, 3000 }, { SECOND, 100000 },
		{ SECOND, 10000 }, { 4000, 4000 },
	};
	uint64_t before_ns = 0;

	write_tree(0);
	track_tree((struct rt_opts){ .want = RT_HAS_CPU });

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct rt_metrics m;

		fix.step_ns = samples[i].wall_ns;
		m = take_sample_after(SECOND);
		ck_assert_uint_eq(m.self_cpu_ns - before_ns, samples[i].charged_ns);
		before_ns = m.self_cpu_ns;
	}
}
END_TEST

/* Sets how much child number i has read, and marks it as having run. */
static void run_and_read(int i, uint64_t read_bytes)
{
	struct fake_process child = make_child(i);

	child.read_bytes = read_bytes;
	fake_process_write(&fix.root, &child);
	run_child(i);
}

static bool is_running_in(int round, int child)
{
	return (round + child) % 3 != 0;
}

START_TEST(cached_descriptors_stay_below_any_limit)
{
	static const uint32_t limits[] = { 1, 3, 4, 7, 8, 1024 };
	uint32_t limit = limits[_i];

	write_tree(CHILDREN);
	track_tree((struct rt_opts){ .max_fds = limit });

	for (uint64_t round = 0; round < 20; round++) {
		for (int i = 1; i <= CHILDREN; i++) {
			if (is_running_in((int)round, i))
				run_and_read(i, 1000 + round);
		}
		take_sample_after(10 * MS);

		/* One more shows the pid that the kernel has given out last. */
		ck_assert_uint_le(faults_open_files(), ROOT_FDS + 1 + limit);
		for (int i = 1; i <= CHILDREN; i++) {
			if (is_running_in((int)round, i))
				ck_assert_uint_eq(get_row(100 + i).read_bytes, 1000 + round);
		}
	}
	if (limit >= 4)
		ck_assert_uint_gt(faults_open_files(), ROOT_FDS);
}
END_TEST

/* Lets two children run before each of four samples. */
static void run_pair(int first, int second, uint64_t read_bytes)
{
	for (int round = 0; round < 4; round++) {
		run_and_read(first, read_bytes);
		run_and_read(second, read_bytes);
		take_sample_after(10 * MS);
	}
}

/* There are descriptors for three members. The root needs some in each scan. */
START_TEST(process_that_does_not_run_loses_its_descriptors_to_one_that_runs)
{
	write_tree(4);
	track_tree((struct rt_opts){ .max_fds = 12 });

	run_pair(1, 2, 2000);
	ck_assert_uint_gt(open_files_of(fix.tracker, 100), 0);
	ck_assert_uint_gt(open_files_of(fix.tracker, 101), 0);
	ck_assert_uint_gt(open_files_of(fix.tracker, 102), 0);
	ck_assert_uint_eq(open_files_of(fix.tracker, 103), 0);
	ck_assert_uint_eq(open_files_of(fix.tracker, 104), 0);

	run_pair(3, 4, 3000);
	ck_assert_uint_eq(open_files_of(fix.tracker, 101), 0);
	ck_assert_uint_eq(open_files_of(fix.tracker, 102), 0);
	ck_assert_uint_gt(open_files_of(fix.tracker, 103), 0);
	ck_assert_uint_gt(open_files_of(fix.tracker, 104), 0);
	ck_assert_uint_eq(get_row(104).read_bytes, 3000);
}
END_TEST

/* Two members have room for six files each. Of five members, four have room for three. */
START_TEST(files_that_are_read_seldom_give_way_to_the_others)
{
	write_tree(1);
	track_tree((struct rt_opts){ .max_fds = 12 });
	run_and_read(1, 2000);
	take_sample_after(SECOND);
	ck_assert_uint_gt(open_seldom_files_of(fix.tracker, 100), 0);
	ck_assert_uint_gt(open_seldom_files_of(fix.tracker, 101), 0);

	write_tree(4);
	for (int round = 0; round < 4; round++) {
		for (int i = 1; i <= 4; i++)
			run_and_read(i, 3000);
		take_sample_after(SECOND);
	}

	for (int i = 0; i <= 4; i++)
		ck_assert_uint_eq(open_seldom_files_of(fix.tracker, 100 + i), 0);
	ck_assert_uint_eq(get_row(104).read_bytes, 3000);
}
END_TEST

static struct rt_metrics run_all_and_sample(uint64_t read_bytes)
{
	for (int i = 1; i <= CHILDREN; i++)
		run_and_read(i, read_bytes);
	return take_sample_after(SECOND);
}

/* A tracker that has cached many files takes some samples to adapt to few. */
static void check_sample_with_few_files(unsigned free_files)
{
	uint64_t read_bytes = 1000 + free_files;
	struct rt_metrics m;

	faults_limit_files(ROOT_FDS + free_files);
	m = run_all_and_sample(read_bytes);
	for (int i = 0; i < 12 && m.read_bytes != CHILDREN * read_bytes; i++)
		m = run_all_and_sample(read_bytes);
	ck_assert_uint_eq(m.processes, CHILDREN + 1);
	ck_assert_uint_eq(m.read_bytes, CHILDREN * read_bytes);
	ck_assert_uint_le(faults_open_files(), ROOT_FDS + free_files);
}

START_TEST(samples_with_few_free_descriptors_read_all_members)
{
	struct rt_metrics m;

	write_tree(CHILDREN);
	track_tree((struct rt_opts){ .flags = RT_OPT_PSS_READS, .max_fds = 1024 });
	take_sample_after(0);

	for (unsigned free_files = 3; free_files <= 12; free_files++)
		check_sample_with_few_files(free_files);

	faults_limit_files(0);
	run_all_and_sample(9000);
	m = run_all_and_sample(9000);
	ck_assert_uint_eq(m.valid | m.partial, get_wanted(fix.tracker));
	ck_assert_uint_eq(m.members_unreadable, 0);
	ck_assert_uint_eq(m.read_bytes, CHILDREN * 9000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("member read");
	TCase *due = add_member_case(suite, "what is due"),
	      *cost = add_member_case(suite, "cost of a sample"),
	      *files = add_member_case(suite, "cached descriptors");

	tcase_add_test(due, process_that_does_not_run_keeps_its_figures);
	tcase_add_test(due, process_that_ran_is_read_again_and_its_sibling_is_not);
	tcase_add_test(due, rss_of_process_that_does_not_run_is_read_each_second);
	tcase_add_test(due, status_is_read_when_rss_exceeds_the_peak);
	tcase_add_test(due, status_of_process_that_runs_is_read_ten_times_a_second);
	tcase_add_test(due, files_put_off_while_the_process_ran_are_read_when_due);
	tcase_add_loop_test(due, ignored_sigchld_is_reported_within_100_ms_with_any_domain_wanted,
	                    0, 2);
	tcase_add_test(cost, sample_after_a_quick_sample_is_charged_its_wall_time);
	tcase_add_loop_test(files, cached_descriptors_stay_below_any_limit, 0, 6);
	tcase_add_test(files, process_that_does_not_run_loses_its_descriptors_to_one_that_runs);
	tcase_add_test(files, files_that_are_read_seldom_give_way_to_the_others);
	tcase_add_test(files, samples_with_few_free_descriptors_read_all_members);
	return suite_run(suite);
}
