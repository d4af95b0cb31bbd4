/* SPDX-License-Identifier: MIT */
/* What options of a tracker that are 0 mean: the defaults that the header documents. */
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"
#include "tree_inside.h"

#define FILES_DEFAULT_MAX 65536

static struct tree_options get_options(const struct rt_opts *opts)
{
	struct tree_options options;
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), opts), 0);
	options = get_tree_options(tracker);
	rt_tracker_free(tracker);
	return options;
}

/* Lower the limit of open files to this. Returns whether that worked. */
static bool limit_files(rlim_t limit)
{
	struct rlimit files;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = limit;
	return limit <= files.rlim_max && setrlimit(RLIMIT_NOFILE, &files) == 0;
}

START_TEST(no_options_and_options_of_zero_are_the_same)
{
	const struct rt_opts zero = { .size = sizeof(zero) };
	struct tree_options none = get_options(NULL), zeroes = get_options(&zero);

	ck_assert_int_eq(memcmp(&none, &zeroes, sizeof(none)), 0);
}
END_TEST

START_TEST(options_of_zero_follow_children_and_read_memory)
{
	struct tree_options options = get_options(NULL);

	ck_assert_uint_eq(options.follows_children, 1);
	ck_assert_uint_eq(options.flags, 0);
	ck_assert_uint_eq(options.want, rt_default_domains(RT_KIND_PID));
}
END_TEST

START_TEST(pss_options_of_zero_are_one_percent_and_fifty_milliseconds)
{
	const struct rt_opts same = { .size = sizeof(same), .pss_share = 10, .pss_hold_us = 50000 };
	struct tree_options options = get_options(NULL), explicit = get_options(&same);

	ck_assert_uint_eq(options.pss_share, 10);
	ck_assert_uint_eq(options.pss_hold_ns, UINT64_C(50000000));
	ck_assert_int_eq(memcmp(&options, &explicit, sizeof(options)), 0);
}
END_TEST

START_TEST(file_option_of_zero_is_a_quarter_or_half_of_the_limit)
{
	if (limit_files(4 * FILES_DEFAULT_MAX))
		ck_assert_uint_eq(get_options(NULL).files_max, FILES_DEFAULT_MAX);
	if (limit_files(4096))
		ck_assert_uint_eq(get_options(NULL).files_max, 2048);
	ck_assert(limit_files(1000));
	ck_assert_uint_eq(get_options(NULL).files_max, 250);
	ck_assert(limit_files(400));
	ck_assert_uint_eq(get_options(NULL).files_max, 100);
}
END_TEST

START_TEST(system_tracker_with_options_of_zero_wants_the_default_domains)
{
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_system_tracker_new(&tracker, NULL), 0);
	ck_assert_uint_eq(get_wanted(tracker), rt_default_domains(RT_KIND_SYSTEM));
	ck_assert_uint_eq(tracker->ctx.flags, 0);
	rt_tracker_free(tracker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("default_options");
	TCase *tree = suite_case(suite, "tree"), *system = suite_case(suite, "system");

	tcase_add_test(tree, no_options_and_options_of_zero_are_the_same);
	tcase_add_test(tree, options_of_zero_follow_children_and_read_memory);
	tcase_add_test(tree, pss_options_of_zero_are_one_percent_and_fifty_milliseconds);
	tcase_add_test(tree, file_option_of_zero_is_a_quarter_or_half_of_the_limit);
	tcase_add_test(system, system_tracker_with_options_of_zero_wants_the_default_domains);
	return suite_run(suite);
}
