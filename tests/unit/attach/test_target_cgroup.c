/* SPDX-License-Identifier: MIT */
/* By how much the account of a cgroup has grown, if it is still that cgroup's. */
#include "attach/target_cgroup.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "suite.h"

static struct fixture files;

static void set_up(void)
{
	fixture_new(&files);
	fixture_write(&files, "cpu.stat", "usage_usec 5000\nuser_usec 1\n");
}

static void tear_down(void)
{
	fixture_free(&files);
}

/* As target_cgroup_init() leaves it, with the file of the test. */
static struct target_cgroup find_group(void)
{
	struct target_cgroup group = { .name = "/a", .start_ns = 1000000 };
	struct stat status;

	snprintf(group.cpu_stat, sizeof(group.cpu_stat), "%s/cpu.stat", files.root);
	ck_assert_int_eq(stat(group.cpu_stat, &status), 0);
	group.inode = status.st_ino;
	return group;
}

START_TEST(growth_is_what_was_used_since_the_start)
{
	struct target_cgroup group = find_group();

	ck_assert_uint_eq(target_cgroup_growth(&group), 4000000);
	group.start_ns = 6000000;
	ck_assert_uint_eq(target_cgroup_growth(&group), UINT64_MAX);
}
END_TEST

/* Its account begins anew, and may have more by now than the old one had. */
START_TEST(growth_of_a_cgroup_that_was_made_again_is_unknown)
{
	struct target_cgroup group = find_group();
	char made_again[1200];

	fixture_write(&files, "again", "usage_usec 5000\n");
	snprintf(made_again, sizeof(made_again), "%s/again", files.root);
	ck_assert_int_eq(rename(made_again, group.cpu_stat), 0);
	ck_assert_uint_eq(target_cgroup_growth(&group), UINT64_MAX);
	ck_assert_int_eq(unlink(group.cpu_stat), 0);
	ck_assert_uint_eq(target_cgroup_growth(&group), UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attach/target_cgroup");
	TCase *growth = suite_case(suite, "growth");

	tcase_add_checked_fixture(growth, set_up, tear_down);
	tcase_add_test(growth, growth_is_what_was_used_since_the_start);
	tcase_add_test(growth, growth_of_a_cgroup_that_was_made_again_is_unknown);
	return suite_run(suite);
}
