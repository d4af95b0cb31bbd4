/* SPDX-License-Identifier: MIT */
/* What rt_tracker_obstacle() says of figures that were not read in the last sample. */
#include "tree/member_fixture.h"

#include <errno.h>
#include <string.h>

#include "tree/tree_inside.h"

static struct rt_obstacle get_obstacle(uint64_t has)
{
	struct rt_obstacle o;

	ck_assert_int_eq(rt_tracker_obstacle(fix.tracker, has, &o, sizeof(o)), 0);
	ck_assert_int_eq(o.error, rt_tracker_status(fix.tracker, has));
	return o;
}

/* status is read ten times a second at most. */
START_TEST(refused_file_stays_the_reason_while_it_is_not_read_again)
{
	write_tree(2);
	track_tree((struct rt_opts){ 0 });
	faults_on_open("101/status", -EACCES);

	for (int i = 0; i < 9; i++) {
		struct rt_obstacle o;

		take_sample_after(i % 2 ? 5 * MS : 101 * MS);
		run_child(1);
		o = get_obstacle(RT_HAS_PEAK_RSS);
		ck_assert_int_eq(o.error, -EACCES);
		ck_assert_int_eq(o.pid, 101);
		ck_assert_uint_eq(o.members, 1);
		ck_assert_uint_eq(o.members_ever, 1);
	}
}
END_TEST

START_TEST(budget_that_is_used_up_names_the_option)
{
	struct rt_obstacle o;

	write_tree(2);
	track_tree((struct rt_opts){ .flags = RT_OPT_PSS_READS, .pss_share = 7 });
	set_pss_savings(fix.tracker, 0);
	take_sample_after(0);

	o = get_obstacle(RT_HAS_PSS);

	ck_assert_uint_eq(o.kind, RT_OBSTACLE_OPTIONS);
	ck_assert_int_eq(o.error, -EDQUOT);
	ck_assert_int_eq(o.pid, 0);
	ck_assert_msg(strstr(o.text, "7 thousandths") && strstr(o.text, "rt_opts.pss_share"), "%s",
	              o.text);
}
END_TEST

START_TEST(process_that_is_too_large_to_read_is_named_with_the_option)
{
	struct rt_obstacle o;

	write_tree(2);
	track_tree((struct rt_opts){ .flags = RT_OPT_PSS_READS, .pss_hold_us = 3 });
	take_sample_after(0);

	o = get_obstacle(RT_HAS_PSS);

	ck_assert_uint_eq(o.kind, RT_OBSTACLE_OPTIONS);
	ck_assert_int_eq(o.error, -EDQUOT);
	ck_assert_int_eq(o.pid, 100);
	ck_assert_msg(strstr(o.text, "3 us") && strstr(o.text, "rt_opts.pss_hold_us"), "%s",
	              o.text);
}
END_TEST

/* The first member is a zombie: it has nothing to read. */
START_TEST(process_that_is_too_large_to_read_is_the_first_with_memory)
{
	const struct fake_process root = {
		.pid = 100, .ppid = 1, .starttime = 1000, .is_zombie = true, .children = "101 102 "
	};
	struct rt_obstacle o;

	write_tree(2);
	fake_process_write(&fix.root, &root);
	track_tree((struct rt_opts){ .flags = RT_OPT_PSS_READS, .pss_hold_us = 3 });
	take_sample_after(0);

	o = get_obstacle(RT_HAS_PSS);

	ck_assert_int_eq(o.error, -EDQUOT);
	ck_assert_int_eq(o.pid, 101);
}
END_TEST

START_TEST(flag_that_forbids_reads_is_named)
{
	struct rt_obstacle o;

	write_tree(2);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS | RT_OPT_PSS_READS });
	take_sample_after(0);

	o = get_obstacle(RT_HAS_PSS);
	ck_assert_uint_eq(o.kind, RT_OBSTACLE_OPTIONS);
	ck_assert_msg(strstr(o.text, "RT_OPT_NO_MEMORY_READS") != NULL, "%s", o.text);
}
END_TEST

START_TEST(pss_that_was_not_asked_for_names_the_option)
{
	struct rt_obstacle o;

	write_tree(2);
	track_tree((struct rt_opts){ 0 });
	take_sample_after(0);

	o = get_obstacle(RT_HAS_PSS);

	ck_assert_uint_eq(o.kind, RT_OBSTACLE_OPTIONS);
	ck_assert_msg(strstr(o.text, "add RT_HAS_PSS to rt_opts.want, or set RT_OPT_PSS_READS") !=
	                  NULL,
	              "%s", o.text);
}
END_TEST

START_TEST(peak_that_was_read_is_a_lower_bound_without_an_obstacle)
{
	struct rt_metrics m;
	struct rt_obstacle o;

	write_tree(2);
	track_tree((struct rt_opts){ 0 });
	m = take_sample_after(0);
	ck_assert_uint_ne(m.partial & RT_HAS_PEAK_FOOTPRINT, 0);

	o = get_obstacle(RT_HAS_PEAK_FOOTPRINT);

	ck_assert_uint_eq(o.kind, RT_OBSTACLE_UNSEEN);
	ck_assert_int_eq(o.error, -ENODATA);
	ck_assert_str_ne(o.text, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("obstacles_put_off");
	TCase *tests = add_member_case(suite, "obstacles_put_off");

	tcase_add_test(tests, refused_file_stays_the_reason_while_it_is_not_read_again);
	tcase_add_test(tests, budget_that_is_used_up_names_the_option);
	tcase_add_test(tests, process_that_is_too_large_to_read_is_named_with_the_option);
	tcase_add_test(tests, process_that_is_too_large_to_read_is_the_first_with_memory);
	tcase_add_test(tests, flag_that_forbids_reads_is_named);
	tcase_add_test(tests, pss_that_was_not_asked_for_names_the_option);
	tcase_add_test(tests, peak_that_was_read_is_a_lower_bound_without_an_obstacle);
	return suite_run(suite);
}
