/* SPDX-License-Identifier: MIT */
/* Which cgroup a process went to: this process, by what the supervisor takes to be its cgroup. */
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"
#include "supervisor/cgroup_watch.h"

static struct rti_shared_stats *shared;

static void set_up(void)
{
	shared = calloc(1, RTI_SHARED_STATS_BYTES);
	ck_assert_ptr_nonnull(shared);
}

static void tear_down(void)
{
	rts_cgroup_watch_end();
	free(shared);
}

/* Returns which cgroup this process has left for, if that of the program is the directory. */
static uint32_t check_with_program_in(const char *directory)
{
	rts_cgroup_watch_begin(shared, directory);
	if (!shared->has_cgroup_paths)
		suite_skip_test("this process is in no cgroup v2");
	rts_cgroup_watch_check(getpid());
	return shared->left_cgroup;
}

START_TEST(process_in_the_cgroup_of_the_program_has_not_left)
{
	ck_assert_uint_eq(check_with_program_in(""), RTI_LEFT_NONE);
}
END_TEST

/* The program has one below. This process is where the supervisor is. */
START_TEST(process_in_the_cgroup_of_the_supervisor_left_for_ours)
{
	uint32_t left = check_with_program_in("/nowhere/rtrack-below");

	if (shared->has_cgroup_paths)
		ck_assert_uint_eq(left, RTI_LEFT_FOR_OURS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_watch");
	TCase *tcase = suite_case(suite, "cgroup_watch");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, process_in_the_cgroup_of_the_program_has_not_left);
	tcase_add_test(tcase, process_in_the_cgroup_of_the_supervisor_left_for_ours);
	return suite_run(suite);
}
