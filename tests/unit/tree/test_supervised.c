/* SPDX-License-Identifier: MIT */
/* When members are looked at that may have left the cgroup of their command. */
#include "fixture.h"
#include "os/protocol/supervisor_protocol.h"
#include "suite.h"
#include "tree/state/state.h"
#include "tree/tree.h"

#define PID 100
#define CHECK_NS UINT64_C(10000000) /* time for one */

static struct fixture root;
static struct rti_procfs procfs;
static struct rti_buf buf;
static const struct rti_context ctx = { .procfs = &procfs, .buf = &buf };
static struct rti_shared_stats shared;
static struct rti_member member;
static struct rti_tree tree;

static void set_up(void)
{
	fixture_new(&root);
	fixture_write(&root, "proc/100/cgroup", "0::/elsewhere\n");
	ck_assert_int_eq(rti_procfs_open(&procfs, root.root, &rti_procfs_linux), 0);
	shared = (struct rti_shared_stats){ .has_cgroup_paths = 1,
		                            .cgroup_of_supervisor = "/ours",
		                            .cgroup_of_program = "/ours/program" };
	member = (struct rti_member){ .pid = PID,
		                      .clock = { .now = { .total_ns = 1 }, .is_known = true } };
	tree = (struct rti_tree){ .ctx = &ctx,
		                  .table = { .members = &member, .count = 1 },
		                  .supervised = { .shared = &shared, .cgroup_checked_ns = 1 } };
}

static void tear_down(void)
{
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	fixture_free(&root);
}

static uint32_t check_after(uint64_t ns)
{
	tree.now_ns = 1 + ns;
	rti_tree_check_cgroups(&tree);
	return tree.supervised.left_cgroup;
}

/* However quickly samples follow each other. */
START_TEST(member_is_looked_at_every_10_ms)
{
	for (uint64_t ns = CHECK_NS / 8; ns < CHECK_NS; ns += CHECK_NS / 8)
		ck_assert_uint_eq(check_after(ns), RTI_LEFT_NONE);
	ck_assert_uint_eq(check_after(CHECK_NS), RTI_LEFT_OURS);
}
END_TEST

START_TEST(member_in_the_cgroup_of_the_supervisor_has_left_that_of_the_program)
{
	fixture_write(&root, "proc/100/cgroup", "0::/ours/other\n");
	ck_assert_uint_eq(check_after(CHECK_NS), RTI_LEFT_FOR_OURS);
}
END_TEST

START_TEST(member_below_the_cgroup_of_the_program_has_not_left_it)
{
	fixture_write(&root, "proc/100/cgroup", "0::/ours/program/below\n");
	ck_assert_uint_eq(check_after(CHECK_NS), RTI_LEFT_NONE);
}
END_TEST

/* Whatever is read of others later. */
START_TEST(member_that_has_left_both_cgroups_has_done_so_for_good)
{
	ck_assert_uint_eq(check_after(CHECK_NS), RTI_LEFT_OURS);
	fixture_write(&root, "proc/100/cgroup", "0::/ours/other\n");
	ck_assert_uint_eq(check_after(2 * CHECK_NS), RTI_LEFT_OURS);
}
END_TEST

/* E.g.: it has ended, or the system has no hierarchy of v2. */
START_TEST(member_with_an_unknown_cgroup_has_not_left_it)
{
	if (_i == 0)
		fixture_remove(&root, "proc/100/cgroup");
	else
		fixture_write(&root, "proc/100/cgroup", "4:cpu,cpuacct:/elsewhere\n");
	ck_assert_uint_eq(check_after(CHECK_NS), RTI_LEFT_NONE);
}
END_TEST

START_TEST(exit_of_a_root_that_is_no_member_changes_nothing)
{
	const struct rt_rusage use = { .ru_utime = 1 };

	ck_assert_int_eq(rti_member_table_init(&tree.table, 0), 0);
	rti_tree_account_root_exit(&tree, PID, &use, 0);
	ck_assert(!tree.ledger.has_exits);
	ck_assert_uint_eq(tree.events, 0);
	rti_member_table_free(&tree.table, &ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("supervised");
	TCase *tcase = suite_case(suite, "cgroups of members");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, member_is_looked_at_every_10_ms);
	tcase_add_test(tcase, member_in_the_cgroup_of_the_supervisor_has_left_that_of_the_program);
	tcase_add_test(tcase, member_below_the_cgroup_of_the_program_has_not_left_it);
	tcase_add_test(tcase, member_that_has_left_both_cgroups_has_done_so_for_good);
	tcase_add_loop_test(tcase, member_with_an_unknown_cgroup_has_not_left_it, 0, 2);
	tcase_add_test(tcase, exit_of_a_root_that_is_no_member_changes_nothing);
	return suite_run(suite);
}
