/* SPDX-License-Identifier: MIT */
/* User, session and process group of a member. */
#include <errno.h>

#include "tree/member_fixture.h"

START_TEST(row_has_user_session_and_group)
{
	struct fake_process child = make_child(1);
	struct rt_process row;

	write_tree(1);
	child.uid = 4000000000u;
	child.pgrp = 90;
	child.session = 80;
	fake_process_write(&fix.root, &child);
	track_tree((struct rt_opts){ 0 });
	take_sample_after(SECOND);

	row = get_row(101);
	ck_assert_int_eq(RT_QUALITY(&row, RT_HAS_IDS), RT_QUALITY_EXACT);
	ck_assert_uint_eq(row.uid, 4000000000u);
	ck_assert_int_eq(row.pgrp, 90);
	ck_assert_int_eq(row.session, 80);
}
END_TEST

/* E.g.: a shell forks, and the child leads a group of its own a moment later. */
START_TEST(change_shows_once_the_process_has_run)
{
	struct fake_process child = make_child(1);

	write_tree(1);
	track_tree((struct rt_opts){ 0 });
	take_sample_after(SECOND);
	child.uid = 7;
	child.pgrp = child.session = 101;
	fake_process_write(&fix.root, &child);
	run_child(1);
	take_sample_after(SECOND);

	ck_assert_uint_eq(get_row(101).uid, 7);
	ck_assert_int_eq(get_row(101).pgrp, 101);
	ck_assert_int_eq(get_row(101).session, 101);
}
END_TEST

START_TEST(status_without_user_clears_the_bit)
{
	struct rt_metrics m;
	struct rt_process row;

	write_tree(1);
	fixture_write(&fix.root, "proc/101/status", "Tgid:\t101\nVmHWM:\t1 kB\n");
	track_tree((struct rt_opts){ 0 });
	m = take_sample_after(SECOND);

	row = get_row(101);
	ck_assert(!RT_IS_KNOWN(&row, RT_HAS_IDS));
	ck_assert_uint_eq(m.valid & RT_HAS_IDS, 0);
	ck_assert_uint_ne(m.partial & RT_HAS_IDS, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_IDS), -EBADMSG);
}
END_TEST

START_TEST(status_that_is_refused_clears_the_bit)
{
	struct rt_process row;

	write_tree(1);
	faults_on_open("101/status", -EACCES);
	track_tree((struct rt_opts){ .want = RT_HAS_IDS });
	take_sample_after(SECOND);

	row = get_row(101);
	ck_assert(!RT_IS_KNOWN(&row, RT_HAS_IDS));
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_IDS), -EACCES);
}
END_TEST

/* It has a user, though no memory that status would show. */
START_TEST(kernel_thread_has_a_user)
{
	struct rt_process row;

	write_tree(1);
	fixture_write(&fix.root, "proc/101/stat",
	              "101 (kworker) I 100 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0\n");
	fixture_write(&fix.root, "proc/101/status", "Tgid:\t101\nUid:\t3\t3\t3\t3\n");
	track_tree((struct rt_opts){ 0 });
	take_sample_after(SECOND);

	row = get_row(101);
	ck_assert_int_eq(RT_QUALITY(&row, RT_HAS_IDS), RT_QUALITY_EXACT);
	ck_assert_uint_eq(row.uid, 3);
	ck_assert(!RT_IS_KNOWN(&row, RT_HAS_VIRTUAL));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pid_ids");
	TCase *ids = add_member_case(suite, "ids");

	tcase_add_test(ids, row_has_user_session_and_group);
	tcase_add_test(ids, change_shows_once_the_process_has_run);
	tcase_add_test(ids, status_without_user_clears_the_bit);
	tcase_add_test(ids, status_that_is_refused_clears_the_bit);
	tcase_add_test(ids, kernel_thread_has_a_user);
	return suite_run(suite);
}
