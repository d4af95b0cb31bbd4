/* SPDX-License-Identifier: MIT */
/* Where the PSS of a sample comes from, and how old it is: read in this sample, carried on from an
 * earlier read, or estimated from RSS. */
#include "member_fixture.h"

#include "tree_inside.h"

START_TEST(pss_within_the_budget_is_read)
{
	struct rt_metrics m;

	write_tree(1);
	track_tree((struct rt_opts){ .pss_share = 1 });

	m = take_sample_after(0);

	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	ck_assert_uint_eq(m.pss_age_ns, 0);
	ck_assert_uint_eq(m.pss_bytes, 37 * 1024);
}
END_TEST

START_TEST(pss_beyond_the_budget_is_the_last_value_moved_by_the_change_of_rss)
{
	struct fake_process child = make_child(1);
	struct rt_metrics m;
	struct rt_process row;

	write_tree(1);
	track_tree((struct rt_opts){ .pss_share = 1 });
	take_sample_after(0);
	child.rss_pages = 21; /* one page more */
	child.pss_kib = 32;   /* is not read */
	fake_process_write(&fix.root, &child);
	run_child(1);
	set_pss_savings(fix.tracker, 0);

	m = take_sample_after(5 * MS);

	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(m.pss_age_ns, 5 * MS);
	ck_assert_uint_eq(m.pss_bytes, 37 * 1024 + pages_to_bytes(1));
	ck_assert_uint_ne(m.valid & RT_HAS_PSS, 0);
	row = get_row(101);
	ck_assert_uint_eq(row.pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(row.pss_age_ns, 5 * MS);
	ck_assert_uint_eq(row.pss_bytes, 30 * 1024 + pages_to_bytes(1));
}
END_TEST

START_TEST(pss_of_process_that_did_not_run_is_cached_and_ages)
{
	struct rt_metrics m;

	write_tree(1);
	track_tree((struct rt_opts){ .pss_share = 1000 });
	m = take_sample_after(0);
	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);

	m = take_sample_after(5 * MS);
	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(m.pss_age_ns, 5 * MS);
	ck_assert_uint_eq(get_row(101).pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(get_row(101).pss_age_ns, 5 * MS);

	run_child(1);
	m = take_sample_after(5 * MS);
	ck_assert_uint_eq(get_row(101).pss_source, RT_PSS_READ);
	ck_assert_uint_eq(get_row(101).pss_age_ns, 0);
	ck_assert_uint_eq(m.pss_age_ns, 10 * MS); /* that of the root */
}
END_TEST

START_TEST(pss_that_was_never_read_is_estimated_from_rss)
{
	struct rt_metrics m;
	struct rt_process row;

	write_tree(2);
	track_tree((struct rt_opts){ .pss_share = 1 });
	set_pss_savings(fix.tracker, 0);

	m = take_sample_after(0);

	ck_assert_uint_eq(m.pss_source, RT_PSS_ESTIMATED);
	ck_assert_uint_eq(m.pss_bytes, m.rss_bytes);
	ck_assert_uint_eq(m.valid & RT_HAS_PSS, 0);
	ck_assert_uint_eq(m.partial, RT_HAS_PSS);
	ck_assert_uint_eq(m.pss_age_ns, 0);
	ck_assert_uint_eq(m.members_unreadable, 3);
	ck_assert_int_lt(rt_tracker_status(fix.tracker, RT_HAS_PSS), 0);
	row = get_row(102);
	ck_assert_uint_eq(row.pss_source, RT_PSS_ESTIMATED);
	ck_assert_uint_eq(row.pss_bytes, pages_to_bytes(20));
	ck_assert_uint_eq(row.valid & RT_HAS_PSS, 0);
}
END_TEST

START_TEST(pss_that_was_estimated_is_read_once_the_budget_covers_it)
{
	struct rt_metrics m;

	write_tree(2);
	track_tree((struct rt_opts){ .pss_share = 1 });
	set_pss_savings(fix.tracker, 0);
	m = take_sample_after(0);
	ck_assert_uint_eq(m.pss_source, RT_PSS_ESTIMATED);
	set_pss_savings(fix.tracker, SECOND);

	m = take_sample_after(SECOND);

	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	ck_assert_uint_eq(m.pss_bytes, 67 * 1024);
	ck_assert_uint_ne(m.valid & RT_HAS_PSS, 0);
}
END_TEST

/* After a second 102 is looked at as well. As its RSS has not changed, its PSS is not read. */
START_TEST(pss_of_sum_has_the_weakest_source_and_the_oldest_age)
{
	struct rt_metrics m;

	write_tree(2);
	track_tree((struct rt_opts){ .pss_share = 500 });
	take_sample_after(0);
	fix.clock_ns[0]++;
	run_child(1);

	m = take_sample_after(SECOND);

	ck_assert_uint_eq(get_row(100).pss_source, RT_PSS_READ);
	ck_assert_uint_eq(get_row(101).pss_source, RT_PSS_READ);
	ck_assert_uint_eq(get_row(102).pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(get_row(102).pss_age_ns, SECOND);
	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(m.pss_age_ns, SECOND);
}
END_TEST

START_TEST(pss_that_is_not_wanted_has_no_source)
{
	struct rt_metrics m;

	write_tree(1);
	track_tree((struct rt_opts){ .want = RT_HAS_CPU | RT_HAS_RSS });

	m = take_sample_after(0);

	ck_assert_uint_eq(m.pss_source, 0);
	ck_assert_uint_eq(m.pss_age_ns, 0);
	ck_assert_uint_eq(m.pss_bytes, 0);
	ck_assert_uint_eq(get_row(101).pss_source, 0);
	ck_assert_uint_eq(m.source, RT_SOURCE_PROC);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("PSS source");
	TCase *tcase = add_member_case(suite, "PSS source");

	tcase_add_test(tcase, pss_within_the_budget_is_read);
	tcase_add_test(tcase, pss_beyond_the_budget_is_the_last_value_moved_by_the_change_of_rss);
	tcase_add_test(tcase, pss_of_process_that_did_not_run_is_cached_and_ages);
	tcase_add_test(tcase, pss_that_was_never_read_is_estimated_from_rss);
	tcase_add_test(tcase, pss_that_was_estimated_is_read_once_the_budget_covers_it);
	tcase_add_test(tcase, pss_of_sum_has_the_weakest_source_and_the_oldest_age);
	tcase_add_test(tcase, pss_that_is_not_wanted_has_no_source);
	return suite_run(suite);
}
