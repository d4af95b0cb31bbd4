/* SPDX-License-Identifier: MIT */
/* Files of members that cannot be read or parsed, and a shortage of descriptors. */
#include "tree_fixture.h"

#include <errno.h>

#include "tree_inside.h"

#define ROOT_FDS 3 /* descriptors of the tracker that are not those of members */

START_TEST(one_member_with_unreadable_files_makes_sums_partial)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	faults_on_open("101/io", -EACCES);

	m = take_sample();

	ck_assert_uint_eq(m.valid & RT_HAS_IO, 0);
	ck_assert_uint_eq(m.partial, RT_HAS_IO | RT_HAS_IO_CALLS | RT_HAS_PEAK_FOOTPRINT |
	                                 RT_HAS_PEAK_NEEDED | RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(m.read_bytes, 4096);
	ck_assert_uint_eq(m.cpu_user_ns, 1026 * TICK_NS);
	ck_assert_uint_eq(m.members_unreadable, 1);
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_IO), -EACCES);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_CPU), 0);
}
END_TEST

START_TEST(one_member_with_unreadable_file_invalidates_its_row_alone)
{
	struct rt_process rows[3];
	size_t count = 3;

	write_family();
	track_process(100, 0);
	faults_on_open("101/io", -EACCES);
	take_sample();

	ck_assert_int_eq(rt_tracker_processes(fix.tracker, rows, sizeof(rows[0]), &count), 0);

	ck_assert_uint_eq(rows[1].valid & RT_HAS_IO, 0);
	ck_assert_uint_ne(rows[2].valid & RT_HAS_IO, 0);
}
END_TEST

START_TEST(only_member_with_unreadable_file_leaves_no_figure)
{
	struct rt_metrics m;

	fake_process_write(&fix.root, &shell);
	track_process(100, RT_OPT_NO_CHILDREN);
	faults_on_open("100/io", -EACCES);

	m = take_sample();

	ck_assert_uint_eq((m.valid | m.partial) & RT_HAS_IO, 0);
	ck_assert_uint_eq(m.read_bytes, 0);
}
END_TEST

START_TEST(member_that_becomes_unreadable_keeps_its_counters)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	faults_on_read("101/io", -EACCES);
	faults_on_open("101/io", -EACCES);

	m = take_sample();

	ck_assert_uint_eq(m.read_bytes, 5120);
	ck_assert_uint_eq(m.partial, RT_HAS_IO | RT_HAS_IO_CALLS | RT_HAS_PEAK_FOOTPRINT |
	                                 RT_HAS_PEAK_NEEDED | RT_HAS_PROCESSES_SEEN);
}
END_TEST

START_TEST(file_that_cannot_be_parsed_reports_ebadmsg)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	fixture_write(&fix.root, "proc/101/io", "no such line\n");

	m = take_sample();

	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_IO), -EBADMSG);
	ck_assert_uint_eq(m.partial, RT_HAS_IO | RT_HAS_IO_CALLS | RT_HAS_PEAK_FOOTPRINT |
	                                 RT_HAS_PEAK_NEEDED | RT_HAS_PROCESSES_SEEN);
}
END_TEST

START_TEST(sample_with_one_free_descriptor_reads_all_files)
{
	struct rt_metrics m;

	write_family();
	track_with_cached_files(100, 0);
	take_sample();
	faults_limit_files(faults_open_files() + 1);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 3);
	ck_assert_uint_eq(m.valid & RT_HAS_IO, RT_HAS_IO);
	ck_assert_uint_eq(m.read_bytes, 5120);

	faults_limit_files(0);
	m = take_sample();
	ck_assert_uint_eq(m.valid | m.partial, get_wanted(fix.tracker));
	ck_assert_uint_eq(m.partial,
	                  RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED | RT_HAS_PROCESSES_SEEN);
}
END_TEST

/* A member caches four descriptors or none, so a limit of five is one member. */
START_TEST(cached_descriptors_stay_below_the_limit)
{
	struct rt_metrics m;

	write_family();
	track_with_cached_files(100, 5);

	m = take_sample();

	ck_assert_uint_eq(faults_open_files(), ROOT_FDS + 5);
	ck_assert_uint_eq(m.read_bytes, 5120);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("read errors");
	TCase *unreadable = add_tree_case(suite, "unreadable files"),
	      *descriptors = add_tree_case(suite, "descriptors");

	tcase_add_test(unreadable, one_member_with_unreadable_files_makes_sums_partial);
	tcase_add_test(unreadable, one_member_with_unreadable_file_invalidates_its_row_alone);
	tcase_add_test(unreadable, only_member_with_unreadable_file_leaves_no_figure);
	tcase_add_test(unreadable, member_that_becomes_unreadable_keeps_its_counters);
	tcase_add_test(unreadable, file_that_cannot_be_parsed_reports_ebadmsg);
	tcase_add_test(descriptors, sample_with_one_free_descriptor_reads_all_files);
	tcase_add_test(descriptors, cached_descriptors_stay_below_the_limit);
	return suite_run(suite);
}
