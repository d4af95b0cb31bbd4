/* SPDX-License-Identifier: MIT */
/* Finding a cgroup to work in: v1, v2 and hybrid mounts, several mounts, and cgroups outside the
 * mounted tree. */
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

static struct {
	struct fixture root;
	struct rti_procfs procfs;
	struct rti_platform platform;
	struct rti_buf buf;
	struct rti_context ctx;
	struct rti_cgroup group; /* under test */
} fix;

static void set_up(void)
{
	fix.group = (struct rti_cgroup)RTI_CGROUP_INIT;
	fix.ctx = (struct rti_context){ &fix.procfs, &fix.platform, &fix.buf, 0 };
	fixture_new(&fix.root);
	fixture_mkdir(&fix.root, "cg/a/b");
	fixture_mkdir(&fix.root, "v1/a/b");
	ck_assert_int_eq(rti_procfs_open(&fix.procfs, fix.root.root, &rti_procfs_linux), 0);
	rti_platform_init(&fix.platform, false);
}

static void tear_down(void)
{
	rti_cgroup_remove(&fix.group);
	rti_cgroup_close(&fix.group, &fix.ctx);
	rti_procfs_close(&fix.procfs);
	rti_buf_free(&fix.buf);
	fixture_free(&fix.root);
}

static void write_mounts(const char *mounted_root)
{
	fixture_printf(&fix.root, "proc/self/mountinfo",
	               "22 1 0:21 / /proc rw - proc proc rw\n"
	               "32 1 0:29 / %s/v1 rw - cgroup cgroup rw,cpu\n"
	               "41 1 0:38 %s %s/cg rw - cgroup2 cgroup2 rw\n",
	               fix.root.root, mounted_root, fix.root.root);
}

static int make_cgroup(const char *own_cgroup)
{
	struct rti_cgroup enclosing;

	fixture_write(&fix.root, "proc/self/cgroup", own_cgroup);
	rti_cgroup_enclosing(&enclosing, &fix.ctx);
	return rti_cgroup_make(&fix.group, &enclosing, &fix.ctx);
}

/* Sets a cgroup that the test did not make. Tests set "" at their end, so that none is removed. */
static void set_group(const char *path)
{
	snprintf(fix.group.path, sizeof(fix.group.path), "%s", path);
}

static void check_made_below(const char *dir)
{
	char parent[512];
	struct stat st;

	snprintf(parent, sizeof(parent), "%s%s/rtrack-%d-", fix.root.root, dir, getpid());
	ck_assert_int_eq(strncmp(fix.group.path, parent, strlen(parent)), 0);
	ck_assert_int_eq(stat(fix.group.path, &st), 0);
	rti_cgroup_remove(&fix.group);
	ck_assert_str_eq(fix.group.path, "");
}

START_TEST(cgroup_on_hybrid_system_is_made_in_the_unified_hierarchy)
{
	write_mounts("/");
	ck_assert_int_eq(make_cgroup("9:name=systemd:/x\n1:cpu:/y\n0::/a/b\n"), 0);
	check_made_below("/cg/a/b");
}
END_TEST

START_TEST(cgroup_in_mounted_subtree_is_made)
{
	write_mounts("/sub/tree");
	ck_assert_int_eq(make_cgroup("0::/sub/tree/a\n"), 0);
	check_made_below("/cg/a");
	ck_assert_int_eq(make_cgroup("0::/sub/tree\n"), 0);
	check_made_below("/cg");
}
END_TEST

START_TEST(cgroup_outside_mounted_subtree_fails_with_eopnotsupp)
{
	write_mounts("/sub/tree");
	ck_assert_int_eq(make_cgroup("0::/sub/trees/a\n"), -EOPNOTSUPP);
	ck_assert_int_eq(make_cgroup("0::/\n"), -EOPNOTSUPP);
	ck_assert_int_eq(make_cgroup("0::/../other\n"), -EOPNOTSUPP);
}
END_TEST

START_TEST(cgroup_on_v1_only_system_fails_with_eopnotsupp)
{
	fixture_printf(&fix.root, "proc/self/mountinfo",
	               "32 1 0:29 / %s/v1 rw - cgroup cgroup rw,cpu\n", fix.root.root);
	ck_assert_int_eq(make_cgroup("1:cpu:/a\n"), -EOPNOTSUPP);
	ck_assert_int_eq(make_cgroup("1:cpu:/a\n0::/a\n"), -EOPNOTSUPP);
	ck_assert_int_eq(make_cgroup(""), -EOPNOTSUPP);
}
END_TEST

START_TEST(cgroup_left_by_exited_process_is_removed)
{
	struct stat st;
	char alive[512];

	/* The mounts are found below the fixture root, and named from the real one. */
	fix.procfs.ops->close(fix.procfs.fd[RTI_ROOT]);
	fix.procfs.fd[RTI_ROOT] = fix.procfs.ops->open(AT_FDCWD, "/", O_RDONLY | O_DIRECTORY);
	write_mounts("/");
	fixture_mkdir(&fix.root, "cg/a/rtrack-4000000-17");
	fixture_mkdir(&fix.root, "cg/a/rtrack-notours");
	snprintf(alive, sizeof(alive), "cg/a/rtrack-%d-1", getppid());
	fixture_mkdir(&fix.root, alive);
	ck_assert_int_eq(make_cgroup("0::/a\n"), 0);
	ck_assert_int_eq(chdir(fix.root.root), 0);
	ck_assert_int_eq(stat("cg/a/rtrack-4000000-17", &st), -1);
	ck_assert_int_eq(stat("cg/a/rtrack-notours", &st), 0);
	ck_assert_int_eq(stat(alive, &st), 0);
	check_made_below("/cg/a");
}
END_TEST

START_TEST(cgroup_in_missing_directory_fails_with_enoent)
{
	write_mounts("/");
	ck_assert_int_eq(make_cgroup("0::/gone\n"), -ENOENT);
}
END_TEST

START_TEST(cgroup_without_cpu_stat_fails_with_enoent)
{
	uint64_t user, system;

	set_group("/cg/a");
	ck_assert_int_eq(rti_cgroup_read_cpu(&fix.group, &fix.ctx, &user, &system), -ENOENT);
	set_group("");
}
END_TEST

START_TEST(cgroup_with_cpu_stat_yields_ns)
{
	uint64_t user, system;

	set_group("/cg/a");
	fixture_write(&fix.root, "cg/a/cpu.stat",
	              "usage_usec 3000\nuser_usec 2000\nsystem_usec 1000\nnice_usec 0\n");
	ck_assert_int_eq(rti_cgroup_read_cpu(&fix.group, &fix.ctx, &user, &system), 0);
	ck_assert_uint_eq(user, 2000000);
	ck_assert_uint_eq(system, 1000000);
	set_group("");
}
END_TEST

START_TEST(cgroup_with_incomplete_cpu_stat_fails_with_ebadmsg)
{
	uint64_t user, system;

	set_group("/cg/a");
	fixture_write(&fix.root, "cg/a/cpu.stat",
	              "usage_usec 3000\nuser_usec 2000\nsystem_usec 1000\nnice_usec 0\n");
	ck_assert_int_eq(rti_cgroup_read_cpu(&fix.group, &fix.ctx, &user, &system), 0);

	fixture_write(&fix.root, "cg/a/cpu.stat", "usage_usec 3000\n");
	ck_assert_int_eq(rti_cgroup_read_cpu(&fix.group, &fix.ctx, &user, &system), -EBADMSG);
	set_group("");
}
END_TEST

START_TEST(cgroup_file_with_one_number_yields_it)
{
	uint64_t number;

	set_group("/cg/a");
	fixture_write(&fix.root, "cg/a/memory.peak", "12345678\n");
	ck_assert_int_eq(rti_cgroup_read_number(&fix.group, &fix.ctx, "/memory.peak", &number), 0);
	ck_assert_uint_eq(number, 12345678);
	set_group("");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup");
	TCase *tests = suite_case(suite, "cgroup");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, cgroup_on_hybrid_system_is_made_in_the_unified_hierarchy);
	tcase_add_test(tests, cgroup_in_mounted_subtree_is_made);
	tcase_add_test(tests, cgroup_outside_mounted_subtree_fails_with_eopnotsupp);
	tcase_add_test(tests, cgroup_on_v1_only_system_fails_with_eopnotsupp);
	tcase_add_test(tests, cgroup_left_by_exited_process_is_removed);
	tcase_add_test(tests, cgroup_in_missing_directory_fails_with_enoent);
	tcase_add_test(tests, cgroup_without_cpu_stat_fails_with_enoent);
	tcase_add_test(tests, cgroup_with_cpu_stat_yields_ns);
	tcase_add_test(tests, cgroup_with_incomplete_cpu_stat_fails_with_ebadmsg);
	tcase_add_test(tests, cgroup_file_with_one_number_yields_it);
	return suite_run(suite);
}
