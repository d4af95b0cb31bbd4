/* SPDX-License-Identifier: MIT */
/* When a member that has exited is asked whether another process has its pid by now. */
#include "tree/exits/exit_accounting.h"

#include "fixture.h"
#include "suite.h"
#include "tree/scan/discovery.h"
#include "tree/state/state.h"

#define ROOT 100
#define EXITED 101

static struct fixture root;
static struct rti_procfs procfs;
static struct rti_buf buf;
static struct rti_platform platform;
static const struct rti_context ctx = { .procfs = &procfs, .platform = &platform, .buf = &buf };
static struct rti_tree tree;

static struct rti_member *add_member(int32_t pid, int32_t ppid)
{
	const struct rti_pid_stat stat = { .pid = pid,
		                           .ppid = ppid,
		                           .has_starttime = true,
		                           .starttime = 7,
		                           .num_threads = 1,
		                           .state = 'S' };
	ck_assert_int_eq(rti_member_table_add_take(&tree.table, &ctx, &stat, NULL), 0);
	return rti_member_find(&tree.table, pid);
}

/* A member has exited, and another child of the root has its pid, which has started later. */
static void set_up(void)
{
	struct rti_member *exited;

	fixture_new(&root);
	fixture_write(&root, "proc/101/stat",
	              "101 (c) S 100 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 8 0 0 0 0 0 0 0 0 0 0 0 0 "
	              "0 0 0 17 0 0 0 0 0\n");
	ck_assert_int_eq(rti_procfs_open(&procfs, root.root, &rti_procfs_linux), 0);
	rti_platform_init(&platform, false);
	platform.cpu_clock = NULL;
	tree = (struct rti_tree){ .ctx = &ctx };
	rti_discovery_init(&tree.discovery);
	ck_assert_int_eq(rti_member_table_init(&tree.table, 8), 0);
	add_member(ROOT, 1);
	exited = add_member(EXITED, ROOT);
	exited->end.has_exited = true;
}

static void tear_down(void)
{
	rti_discovery_free(&tree.discovery, tree.ctx);
	rti_member_table_free(&tree.table, &ctx);
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	fixture_free(&root);
}

/* A tree that is found by scans alone finds the other process by the next one. */
static const struct {
	bool needs_reconcile, is_followed, is_lacking;
} cases[] = {
	{ true, true, true },
	{ true, false, false },
	{ false, true, false },
	{ false, false, false },
};

START_TEST(reused_pid_is_lacking_if_members_have_exited_and_forks_are_followed)
{
	tree.needs_reconcile = cases[_i].needs_reconcile;
	tree.discovery.is_followed = cases[_i].is_followed;
	rti_exits_check_pids(&tree);
	ck_assert_int_eq(tree.reused_pids.is_lacking, cases[_i].is_lacking);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exit_accounting");
	TCase *tcase = suite_case(suite, "exit_accounting");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase,
	                    reused_pid_is_lacking_if_members_have_exited_and_forks_are_followed, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	return suite_run(suite);
}
