/* SPDX-License-Identifier: MIT */
/* Finding a cgroup to work in: v1, v2, hybrid mounts, several of them, and groups outside what
 * is mounted. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/cgroup.h"
#include "suite.h"

static struct fixture root;
static struct rti_procfs procfs;
static struct rti_platform platform;
static struct rti_buf buf;
static struct rti_context ctx = { &procfs, &platform, &buf, 0 };
static struct rti_cgroup group;

static void set_up(void)
{
	fixture_new(&root);
	fixture_mkdir(&root, "cg/a/b");
	fixture_mkdir(&root, "v1/a/b");
	ck_assert_int_eq(rti_procfs_open(&procfs, root.root, &rti_procfs_linux), 0);
	rti_platform_init(&platform, 0);
}

static void tear_down(void)
{
	rti_cgroup_remove(&group);
	rti_cgroup_close(&group, &ctx);
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	fixture_free(&root);
}

static void write_mounts(const char *mounted_root)
{
	fixture_printf(&root, "proc/self/mountinfo",
	               "22 1 0:21 / /proc rw - proc proc rw\n"
	               "32 1 0:29 / %s/v1 rw - cgroup cgroup rw,cpu\n"
	               "41 1 0:38 %s %s/cg rw - cgroup2 cgroup2 rw\n",
	               root.root, mounted_root, root.root);
}

static int make(const char *own)
{
	struct rti_cgroup enclosing;

	fixture_write(&root, "proc/self/cgroup", own);
	rti_cgroup_enclosing(&enclosing, &ctx);
	return rti_cgroup_make(&group, &enclosing, &ctx);
}

static void check_made_below(const char *dir)
{
	char parent[512];
	struct stat st;

	snprintf(parent, sizeof(parent), "%s%s/rtrack-%d-", root.root, dir, getpid());
	ck_assert_int_eq(strncmp(group.path, parent, strlen(parent)), 0);
	ck_assert_int_eq(stat(group.path, &st), 0);
	rti_cgroup_remove(&group);
	ck_assert_str_eq(group.path, "");
}

START_TEST(a_hybrid_machine_has_one_unified_hierarchy)
{
	write_mounts("/");
	ck_assert_int_eq(make("9:name=systemd:/x\n1:cpu:/y\n0::/a/b\n"), 0);
	check_made_below("/cg/a/b");
}
END_TEST

START_TEST(the_mounted_part_may_be_a_subtree)
{
	write_mounts("/sub/tree");
	ck_assert_int_eq(make("0::/sub/tree/a\n"), 0);
	check_made_below("/cg/a");
	ck_assert_int_eq(make("0::/sub/tree\n"), 0);
	check_made_below("/cg");
}
END_TEST

START_TEST(a_group_outside_the_mounted_tree_is_out_of_reach)
{
	write_mounts("/sub/tree");
	ck_assert_int_eq(make("0::/sub/trees/a\n"), -EOPNOTSUPP);
	ck_assert_int_eq(make("0::/\n"), -EOPNOTSUPP);
	ck_assert_int_eq(make("0::/../other\n"), -EOPNOTSUPP);
}
END_TEST

START_TEST(version_1_alone_will_not_do)
{
	fixture_printf(&root, "proc/self/mountinfo",
	               "32 1 0:29 / %s/v1 rw - cgroup cgroup rw,cpu\n", root.root);
	ck_assert_int_eq(make("1:cpu:/a\n"), -EOPNOTSUPP);
	ck_assert_int_eq(make("1:cpu:/a\n0::/a\n"), -EOPNOTSUPP);
	ck_assert_int_eq(make(""), -EOPNOTSUPP);
}
END_TEST

START_TEST(what_the_dead_left_behind_is_removed)
{
	struct stat st;
	char alive[512];

	/* The mounts are found below the made-up root, and named from the real one. */
	procfs.ops->close(procfs.fd[RTI_ROOT]);
	procfs.fd[RTI_ROOT] = procfs.ops->open(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY);
	write_mounts("/");
	fixture_mkdir(&root, "cg/a/rtrack-4000000-17");
	fixture_mkdir(&root, "cg/a/rtrack-notours");
	snprintf(alive, sizeof(alive), "cg/a/rtrack-%d-1", getppid());
	fixture_mkdir(&root, alive);
	ck_assert_int_eq(make("0::/a\n"), 0);
	ck_assert_int_eq(chdir(root.root), 0);
	ck_assert_int_eq(stat("cg/a/rtrack-4000000-17", &st), -1);
	ck_assert_int_eq(stat("cg/a/rtrack-notours", &st), 0);
	ck_assert_int_eq(stat(alive, &st), 0);
	check_made_below("/cg/a");
}
END_TEST

START_TEST(a_missing_directory_is_an_error)
{
	write_mounts("/");
	ck_assert_int_eq(make("0::/gone\n"), -ENOENT);
}
END_TEST

START_TEST(cpu_time_is_read_and_may_vanish)
{
	uint64_t user, system;

	group = (struct rti_cgroup){ "/cg/a", RTI_FILE_INIT };
	ck_assert_int_eq(rti_cgroup_read_cpu(&group, &ctx, &user, &system), -ENOENT);
	fixture_write(&root, "cg/a/cpu.stat",
	              "usage_usec 3000\nuser_usec 2000\nsystem_usec 1000\nnice_usec 0\n");
	ck_assert_int_eq(rti_cgroup_read_cpu(&group, &ctx, &user, &system), 0);
	ck_assert_uint_eq(user, 2000000);
	ck_assert_uint_eq(system, 1000000);
	fixture_write(&root, "cg/a/cpu.stat", "usage_usec 3000\n");
	ck_assert_int_eq(rti_cgroup_read_cpu(&group, &ctx, &user, &system), -EBADMSG);
	fixture_write(&root, "cg/a/memory.peak", "12345678\n");
	ck_assert_int_eq(rti_cgroup_read_number(&group, &ctx, "/memory.peak", &user), 0);
	ck_assert_uint_eq(user, 12345678);
	group.path[0] = '\0';
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup");
	TCase *tcase = suite_case(suite, "cgroup");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_hybrid_machine_has_one_unified_hierarchy);
	tcase_add_test(tcase, the_mounted_part_may_be_a_subtree);
	tcase_add_test(tcase, a_group_outside_the_mounted_tree_is_out_of_reach);
	tcase_add_test(tcase, version_1_alone_will_not_do);
	tcase_add_test(tcase, what_the_dead_left_behind_is_removed);
	tcase_add_test(tcase, a_missing_directory_is_an_error);
	tcase_add_test(tcase, cpu_time_is_read_and_may_vanish);
	return suite_run(suite);
}
