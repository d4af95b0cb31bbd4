/* SPDX-License-Identifier: MIT */
/* Making and removing a cgroup: v1, v2 and hybrid mounts, cgroups outside of what is mounted,
 * hierarchies that cannot be written to. */
#include "os/cgroup/cgroup_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/protocol/supervisor_protocol.h"
#include "children.h"
#include "suite.h"

#define OVERFLOW_UID 65534

/* An account that only one hierarchy has lies in a new directory below this one. */
static void check_made_below(uint32_t account, const char *parent)
{
	char expected[512], path[2048];
	struct stat st;

	snprintf(expected, sizeof(expected), "%s/rtrack-%d-", parent, getpid());
	ck_assert_int_eq(strncmp(cgroup_fixture_dir(account), expected, strlen(expected)), 0);
	snprintf(path, sizeof(path), "%s/%s", cgroups.root.root, cgroup_fixture_dir(account));
	ck_assert_int_eq(stat(path, &st), 0);
}

static bool exists(const char *path)
{
	char full[2048];
	struct stat st;

	snprintf(full, sizeof(full), "%s/%s", cgroups.root.root, path);
	return stat(full, &st) == 0;
}

static void remove_made(void)
{
	char path[RTI_CGROUP_DIRS_MAX][1024];
	uint32_t count = cgroups.group.count;

	for (uint32_t i = 0; i < count; i++)
		snprintf(path[i], sizeof(path[i]), "%s", cgroups.group.dir[i].path);
	rti_cgroup_remove(&cgroups.group);
	ck_assert_uint_eq(cgroups.group.count, 0);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_int_ne(access(path[i], F_OK), 0);
}

START_TEST(cgroup_on_hybrid_system_has_cpu_in_v2_and_the_rest_in_v1)
{
	cgroup_fixture_hybrid();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	ck_assert_uint_eq(cgroups.group.count, 4);
	ck_assert_uint_eq(cgroups.group.dir[0].hierarchy, 0);
	check_made_below(RTI_CGROUP_CPU, "v2");
	check_made_below(RTI_CGROUP_MEMORY, "v1/memory/m/n");
	check_made_below(RTI_CGROUP_IO, "v1/blkio");
	check_made_below(RTI_CGROUP_TASKS, "v1/pids");
	remove_made();
}
END_TEST

START_TEST(cgroup_on_v1_system_has_cpu_in_cpuacct)
{
	cgroup_fixture_v1();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	ck_assert_uint_eq(cgroups.group.count, 3);
	check_made_below(RTI_CGROUP_CPU, "v1/cpu,cpuacct/user");
	check_made_below(RTI_CGROUP_MEMORY, "v1/memory/user");
	check_made_below(RTI_CGROUP_TASKS, "v1/pids/user");
	ck_assert_str_eq(cgroup_fixture_dir(RTI_CGROUP_IO), "");
	remove_made();
}
END_TEST

START_TEST(cgroup_that_keeps_scheduling_is_not_made_where_cpu_is_scheduled)
{
	cgroup_fixture_v1();
	rti_cgroup_enclosing(&cgroups.enclosing, &cgroups.ctx);
	ck_assert_int_eq(rti_cgroup_make(&cgroups.group, &cgroups.enclosing, &cgroups.ctx,
	                                 RTI_CGROUP_KEEP_SCHEDULING),
	                 -EOPNOTSUPP);
	ck_assert_uint_eq(cgroups.group.count, 0);
	cgroup_fixture_hybrid();
	rti_cgroup_close(&cgroups.enclosing, &cgroups.ctx);
	rti_cgroup_enclosing(&cgroups.enclosing, &cgroups.ctx);
	ck_assert_int_eq(rti_cgroup_make(&cgroups.group, &cgroups.enclosing, &cgroups.ctx,
	                                 RTI_CGROUP_KEEP_SCHEDULING),
	                 0);
	remove_made();
	ck_assert_int_eq(
	    rti_cgroup_make(&cgroups.group, &cgroups.enclosing, &cgroups.ctx, RTI_CGROUP_V1_ALONE),
	    0);
	check_made_below(RTI_CGROUP_CPU, "v1/cpuacct");
	remove_made();
}
END_TEST

START_TEST(cgroup_with_account_shared_with_cpu_or_cpuset_is_made_without_it)
{
	static const char *const mounts[] = { "cgroup / cpumem rw,cpu,memory",
		                              "cgroup / setpids rw,cpuset,pids",
		                              "cgroup / cpuacct rw,cpuacct,blkio", NULL };

	cgroup_fixture_mount("3:cpu,memory:/\n2:cpuset,pids:/\n1:cpuacct,blkio:/\n", mounts);
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	ck_assert_uint_eq(cgroups.group.count, 1);
	check_made_below(RTI_CGROUP_CPU, "cpuacct");
	check_made_below(RTI_CGROUP_IO, "cpuacct");
	remove_made();
}
END_TEST

START_TEST(cgroup_on_v2_system_has_all_in_one)
{
	cgroup_fixture_v2();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	ck_assert_uint_eq(cgroups.group.count, 1);
	check_made_below(RTI_CGROUP_CPU, "v2/a/b");
	check_made_below(RTI_CGROUP_MEMORY, "v2/a/b");
	remove_made();
}
END_TEST

START_TEST(cgroup_in_mounted_subtree_is_made)
{
	static const char *const mounts[] = { "cgroup2 /sub/tree cg rw", NULL };

	cgroup_fixture_mount("0::/sub/tree/a\n", mounts);
	fixture_mkdir(&cgroups.root, "cg/a");
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	check_made_below(RTI_CGROUP_CPU, "cg/a");
	remove_made();
	fixture_write(&cgroups.root, "proc/self/cgroup", "0::/sub/tree\n");
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	check_made_below(RTI_CGROUP_CPU, "cg");
	remove_made();
}
END_TEST

START_TEST(cgroup_below_mount_with_escaped_root_is_made)
{
	static const char *const mounts[] = { "cgroup2 /sub\\040tree\\134x cg rw", NULL };

	cgroup_fixture_mount("0::/sub tree\\x/a\n", mounts);
	fixture_mkdir(&cgroups.root, "cg/a");
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	check_made_below(RTI_CGROUP_CPU, "cg/a");
	remove_made();
	fixture_write(&cgroups.root, "proc/self/cgroup", "0::/sub\\040tree\\134x/a\n");
	ck_assert_int_eq(cgroup_fixture_make(), -EOPNOTSUPP);
}
END_TEST

START_TEST(cgroup_below_escaped_mount_point_is_made)
{
	static const char *const mounts[] = { "cgroup2 / c\\040g rw", NULL };

	cgroup_fixture_mount("0::/a\n", mounts);
	fixture_mkdir(&cgroups.root, "c g/a");
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	check_made_below(RTI_CGROUP_CPU, "c g/a");
	remove_made();
}
END_TEST

START_TEST(cgroup_below_mount_point_without_slash_fails_with_eopnotsupp)
{
	cgroup_fixture_mount("0::/a\n", (const char *const[]){ NULL });
	fixture_write(&cgroups.root, "proc/self/mountinfo",
	              "30 1 0:26 / cg rw - cgroup2 cgroup2 rw\n");
	fixture_mkdir(&cgroups.root, "cg/a");
	ck_assert_int_eq(cgroup_fixture_make(), -EOPNOTSUPP);
}
END_TEST

START_TEST(cgroup_outside_mounted_subtree_fails_with_eopnotsupp)
{
	static const char *const mounts[] = { "cgroup2 /sub/tree cg rw", NULL };
	static const char *const outside[] = { "0::/sub/trees/a\n", "0::/\n", "0::/../other\n" };

	cgroup_fixture_mount("", mounts);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		fixture_write(&cgroups.root, "proc/self/cgroup", outside[i]);
		ck_assert_int_eq(cgroup_fixture_make(), -EOPNOTSUPP);
	}
}
END_TEST

START_TEST(cgroup_outside_cgroup_namespace_is_found_below_a_mount_that_shows_it)
{
	static const char *const inside[] = { "cgroup2 / cg rw", NULL };
	static const char *const above[] = { "cgroup2 /.. cg rw", NULL };

	cgroup_fixture_mount("0::/../other\n", inside);
	fixture_mkdir(&cgroups.root, "other");
	ck_assert_int_eq(cgroup_fixture_make(), -EOPNOTSUPP);
	cgroup_fixture_mount("0::/../other\n", above);
	fixture_mkdir(&cgroups.root, "cg/other");
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	check_made_below(RTI_CGROUP_CPU, "cg/other");
	remove_made();
	cgroup_fixture_mount("0::/\n", above);
	ck_assert_int_eq(cgroup_fixture_make(), -EOPNOTSUPP);
	cgroup_fixture_mount("0::/..dotted\n", inside);
	fixture_mkdir(&cgroups.root, "cg/..dotted");
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	remove_made();
}
END_TEST

START_TEST(cgroup_without_cpu_account_fails_with_eopnotsupp)
{
	static const char *const mounts[] = { "cgroup / v1/cpu rw,cpu",
		                              "cgroup / v1/memory rw,memory",
		                              "cgroup / v1/named rw,name=cpuacct", NULL };

	cgroup_fixture_mount("3:name=cpuacct:/\n2:memory:/\n1:cpu:/\n0::/a\n", mounts);
	ck_assert_int_eq(cgroup_fixture_make(), -EOPNOTSUPP);
	ck_assert(!exists("v1/memory/rtrack"));
	fixture_write(&cgroups.root, "proc/self/cgroup", "");
	ck_assert_int_eq(cgroup_fixture_make(), -EOPNOTSUPP);
	fixture_write(&cgroups.root, "proc/self/cgroup", "hostile");
	ck_assert_int_eq(cgroup_fixture_make(), -EOPNOTSUPP);
}
END_TEST

START_TEST(cgroup_prefers_mount_that_can_be_written_to)
{
	static const char *const mounts[] = { "cgroup2 / seen ro", "cgroup2 / own rw",
		                              "cgroup2 / other rw", NULL };

	cgroup_fixture_mount("0::/\n", mounts);
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	check_made_below(RTI_CGROUP_CPU, "own");
	remove_made();
}
END_TEST

/* The test may run as root, for which permissions do not count. */
static void make_unwritable(const char *path)
{
	char full[2048];

	snprintf(full, sizeof(full), "%s/%s", cgroups.root.root, path);
	ck_assert_int_eq(chmod(full, 0555), 0);
}

static int make_unprivileged(void)
{
	int err;

	ck_assert_int_eq(chmod(cgroups.root.root, 0755), 0);
	ck_assert(geteuid() != 0 || seteuid(OVERFLOW_UID) == 0);
	err = cgroup_fixture_make();
	ck_assert_int_eq(seteuid(getuid()), 0);
	return err;
}

static void make_writable(const char *path)
{
	char full[2048];

	snprintf(full, sizeof(full), "%s/%s", cgroups.root.root, path);
	ck_assert_int_eq(chmod(full, 0777), 0);
}

START_TEST(cgroup_where_only_some_hierarchies_are_writable_takes_those)
{
	cgroup_fixture_hybrid();
	make_unwritable("v2");
	make_unwritable("v1/blkio");
	make_unwritable("v1/pids");
	make_writable("v1/memory/m/n");
	make_writable("v1/cpuacct");
	ck_assert_int_eq(make_unprivileged(), 0);
	ck_assert_uint_eq(cgroups.group.count, 2);
	check_made_below(RTI_CGROUP_CPU, "v1/cpuacct");
	check_made_below(RTI_CGROUP_MEMORY, "v1/memory/m/n");
	remove_made();
}
END_TEST

START_TEST(cgroup_where_no_cpu_account_is_writable_fails_with_eacces_and_leaves_nothing)
{
	cgroup_fixture_hybrid();
	make_unwritable("v2");
	make_unwritable("v1/cpuacct");
	make_writable("v1/memory/m/n");
	ck_assert_int_eq(make_unprivileged(), -EACCES);
	ck_assert_uint_eq(cgroups.group.count, 0);
	ck_assert_int_eq(
	    rmdir(strcat(strcpy((char[256]){ 0 }, cgroups.root.root), "/v1/memory/m/n")), 0);
}
END_TEST

START_TEST(cgroup_in_missing_directory_fails_with_enoent)
{
	static const char *const mounts[] = { "cgroup2 / cg rw", NULL };

	cgroup_fixture_mount("0::/gone (deleted)\n", mounts);
	ck_assert_int_eq(cgroup_fixture_make(), -ENOENT);
}
END_TEST

START_TEST(cgroup_left_by_exited_process_is_removed_in_every_hierarchy)
{
	char alive[512];

	cgroup_fixture_hybrid();
	fixture_mkdir(&cgroups.root, "v2/rtrack-4000000-17");
	fixture_mkdir(&cgroups.root, "v1/memory/m/n/rtrack-4000000-17/nested/deeper");
	fixture_mkdir(&cgroups.root, "v1/cpuacct/rtrack-4000000-18");
	fixture_mkdir(&cgroups.root, "v2/rtrack-notours");
	snprintf(alive, sizeof(alive), "v1/pids/rtrack-%d-1", getppid());
	fixture_mkdir(&cgroups.root, alive);
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	rti_cgroup_remove_stale(&cgroups.enclosing, &cgroups.ctx);
	ck_assert(!exists("v2/rtrack-4000000-17"));
	ck_assert(!exists("v1/memory/m/n/rtrack-4000000-17"));
	ck_assert(!exists("v1/cpuacct/rtrack-4000000-18"));
	ck_assert(exists("v2/rtrack-notours"));
	ck_assert(exists(alive));
	remove_made();
}
END_TEST

START_TEST(cgroup_left_by_exited_process_is_kept_while_a_process_runs_in_it)
{
	cgroup_fixture_hybrid();
	fixture_write(&cgroups.root, "v1/memory/m/n/rtrack-4000000-17/nested/cgroup.procs", "12\n");
	fixture_mkdir(&cgroups.root, "v1/memory/m/n/rtrack-4000000-17/other");
	fixture_write(&cgroups.root, "v2/rtrack-4000000-17/cgroup.events",
	              "populated 1\nfrozen 0\n");
	fixture_mkdir(&cgroups.root, "v2/rtrack-4000000-17/nested");
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	rti_cgroup_remove_stale(&cgroups.enclosing, &cgroups.ctx);
	ck_assert(exists("v1/memory/m/n/rtrack-4000000-17/other"));
	ck_assert(exists("v2/rtrack-4000000-17/nested"));
	remove_made();
}
END_TEST

START_TEST(cgroup_that_program_was_not_placed_in_is_removed)
{
	char pids[256];

	cgroup_fixture_hybrid();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	snprintf(pids, sizeof(pids), "%s", cgroup_fixture_dir(RTI_CGROUP_TASKS));
	ck_assert(exists(pids));
	for (uint32_t i = 0, placed = 0; i < 4; i++) {
		placed |= cgroups.group.dir[i].accounts & RTI_CGROUP_TASKS ? 0 : 1u << i;
		if (i == 3)
			rti_cgroup_keep_placed(&cgroups.group, placed);
	}
	ck_assert(!exists(pids));
	ck_assert_uint_eq(cgroups.group.count, 3);
	ck_assert_str_eq(cgroup_fixture_dir(RTI_CGROUP_TASKS), "");
	check_made_below(RTI_CGROUP_MEMORY, "v1/memory/m/n");
	remove_made();
}
END_TEST

START_TEST(cgroup_description_has_a_line_for_each_directory)
{
	char text[4096], expected[4096];

	cgroup_fixture_v1();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	ck_assert_int_eq(rti_cgroup_describe(&cgroups.group, text, sizeof(text)), 0);
	snprintf(expected, sizeof(expected), "%c%s\n%c%s\n%c%s", RTI_DIR_V1,
	         cgroups.group.dir[0].path, RTI_DIR_V1, cgroups.group.dir[1].path,
	         RTI_DIR_V1_NEEDED, cgroups.group.dir[2].path);
	ck_assert_str_eq(text, expected);
	ck_assert_int_eq(rti_cgroup_describe(&cgroups.group, text, strlen(expected)),
	                 -ENAMETOOLONG);
	remove_made();
}
END_TEST

/* Writes where the process 42 is, on a hybrid system; below is that of the cgroup's name. */
static void write_process(const char *v2_below, const char *memory_below, const char *pids,
                          const char *stat)
{
	const char *name = strrchr(cgroups.group.dir[0].path, '/');

	fixture_printf(&cgroups.root, "proc/42/cgroup",
	               "8:pids:%s\n7:blkio:%s\n4:memory:/m/n%s%s\n0::%s%s\n", *pids ? pids : name,
	               name, name, memory_below, name, v2_below);
	fixture_printf(&cgroups.root, "proc/42/stat", "42 (x) %s 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n",
	               stat);
}

static uint32_t left_by_process(const char *v2_below, const char *memory_below, const char *pids,
                                const char *stat, uint64_t start_ticks)
{
	cgroups.group.left = 0;
	write_process(v2_below, memory_below, pids, stat);
	rti_cgroup_check_process(&cgroups.group, &cgroups.ctx, 42, start_ticks);
	return cgroups.group.left;
}

#define RUNNING "S 1 1 1 0 -1 4194304 0"
#define EXITING "R 1 1 1 0 -1 4194308 0"
#define ZOMBIE "Z 1 1 1 0 -1 4194304 0"

START_TEST(process_that_leaves_one_hierarchy_has_left_that_alone)
{
	cgroup_fixture_hybrid();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	ck_assert_uint_eq(left_by_process("", "", "", RUNNING, 77), 0);
	ck_assert_uint_eq(left_by_process("/nested", "/nested/deep", "", RUNNING, 77), 0);
	ck_assert_uint_eq(left_by_process("", "", "/", RUNNING, 77), RTI_CGROUP_TASKS);
	ck_assert_uint_eq(left_by_process("", "5", "", RUNNING, 77), RTI_CGROUP_MEMORY);
	ck_assert_uint_eq(left_by_process("0", "", "", RUNNING, 77), RTI_CGROUP_CPU);
	ck_assert_uint_eq(left_by_process("0", "0", "/x", RUNNING, 77),
	                  RTI_CGROUP_CPU | RTI_CGROUP_MEMORY | RTI_CGROUP_TASKS);
	remove_made();
}
END_TEST

START_TEST(process_that_exits_or_is_another_has_left_nothing)
{
	cgroup_fixture_hybrid();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	ck_assert_uint_eq(left_by_process("", "", "/", EXITING, 77), 0);
	ck_assert_uint_eq(left_by_process("", "", "/", ZOMBIE, 77), 0);
	ck_assert_uint_eq(left_by_process("", "", "/", RUNNING, 76), 0);
	rti_cgroup_check_process(&cgroups.group, &cgroups.ctx, 43, 77);
	ck_assert_uint_eq(cgroups.group.left, 0);
	ck_assert(!rti_cgroup_dir_has(cgroups.group.dir, &cgroups.ctx, 43)); /* nor is it there */
	remove_made();
}
END_TEST

START_TEST(cgroup_is_populated_if_a_process_runs_in_any_hierarchy)
{
	char nested[64];

	cgroup_fixture_hybrid();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	ck_assert(!rti_cgroup_is_populated(&cgroups.group, &cgroups.ctx, true));
	cgroup_fixture_write(RTI_CGROUP_CPU, "cgroup.events", "populated 0\nfrozen 0\n");
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "cgroup.procs", "");
	ck_assert(!rti_cgroup_is_populated(&cgroups.group, &cgroups.ctx, true));
	cgroup_fixture_write(RTI_CGROUP_CPU, "cgroup.events", "populated 1\nfrozen 0\n");
	ck_assert(rti_cgroup_is_populated(&cgroups.group, &cgroups.ctx, true));
	cgroup_fixture_write(RTI_CGROUP_CPU, "cgroup.events", "frozen 1\npopulated 0\n");
	snprintf(nested, sizeof(nested), "nested/deep/cgroup.procs");
	cgroup_fixture_write(RTI_CGROUP_MEMORY, nested, "12\n");
	ck_assert(rti_cgroup_is_populated(&cgroups.group, &cgroups.ctx, true));
	/* v2 has all, if none has left it. */
	ck_assert(!rti_cgroup_is_populated(&cgroups.group, &cgroups.ctx, false));
	cgroup_fixture_write(RTI_CGROUP_CPU, "cgroup.events", "frozen 1\npopulated 1\n");
	ck_assert(rti_cgroup_is_populated(&cgroups.group, &cgroups.ctx, false));
}
END_TEST

static unsigned lists, looks;

static ssize_t counted_getdents(int fd, void *buf, size_t len)
{
	lists++;
	return rti_procfs_linux.getdents(fd, buf, len);
}

static int counted_access(int dirfd, const char *path)
{
	looks++;
	return rti_procfs_linux.access(dirfd, path);
}

START_TEST(cgroup_of_v2_that_does_not_say_is_not_populated)
{
	cgroup_fixture_v2();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	cgroup_fixture_write(RTI_CGROUP_CPU, "cgroup.events", "frozen 0\n");
	ck_assert(!rti_cgroup_is_populated(&cgroups.group, &cgroups.ctx, false));
	cgroup_fixture_write(RTI_CGROUP_CPU, "cgroup.events", "frozen 0\npopulated 1\n");
	ck_assert(rti_cgroup_is_populated(&cgroups.group, &cgroups.ctx, false));
}
END_TEST

START_TEST(cgroup_without_any_below_is_not_listed)
{
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct stat st;

	cgroup_fixture_hybrid();
	ck_assert_int_eq(stat(cgroups.root.root, &st), 0);
	if (st.st_nlink < 3) {
		suite_skip_test("this file system does not count directories");
		return;
	}
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "cgroup.procs", "");
	ops.getdents = counted_getdents;
	ops.access = counted_access;
	cgroups.procfs.ops = &ops;
	ck_assert(!rti_cgroup_is_populated(&cgroups.group, &cgroups.ctx, true));
	ck_assert_uint_eq(lists, 0);
	cgroup_fixture_write(RTI_CGROUP_MEMORY, "nested/cgroup.procs", "");
	ck_assert(!rti_cgroup_is_populated(&cgroups.group, &cgroups.ctx, true));
	ck_assert_uint_gt(lists, 0);
	/* The list says which entries are directories. */
	ck_assert_uint_eq(looks, 0);
	cgroups.procfs.ops = &rti_procfs_linux;
}
END_TEST

/* A child that sleeps, and the files that show where it is. */
static pid_t start_child(uint32_t account)
{
	char text[16], path[64];
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		for (;;)
			pause();
	snprintf(text, sizeof(text), "%d\n", pid);
	cgroup_fixture_write(account, "nested/cgroup.procs", text);
	snprintf(path, sizeof(path), "proc/%d/cgroup", pid);
	fixture_printf(&cgroups.root, path, "4:memory:/m/n%s/nested\n",
	               strrchr(cgroups.group.dir[0].path, '/'));
	return pid;
}

START_TEST(kill_in_v1_reaches_nested_cgroups_and_ends_though_files_do_not_change)
{
	int status;
	pid_t pid;

	cgroup_fixture_hybrid();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	pid = start_child(RTI_CGROUP_MEMORY);
	cgroup_fixture_write(RTI_CGROUP_TASKS, "pids.max", "7\n");
	ck_assert_int_eq(rti_cgroup_kill(&cgroups.group, &cgroups.ctx), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

START_TEST(kill_in_v1_spares_a_process_that_is_listed_but_has_left)
{
	char path[64];
	int status;
	pid_t pid;

	cgroup_fixture_hybrid();
	ck_assert_int_eq(cgroup_fixture_make(), 0);
	pid = start_child(RTI_CGROUP_MEMORY);
	snprintf(path, sizeof(path), "proc/%d/cgroup", pid);
	fixture_write(&cgroups.root, path, "4:memory:/m/n/other\n");
	ck_assert_int_eq(rti_cgroup_kill(&cgroups.group, &cgroups.ctx), 0);
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
	kill_process(pid, SIGKILL);
	waitpid(pid, &status, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup");
	TCase *makes = suite_case(suite, "makes"), *finds = suite_case(suite, "finds");
	TCase *ends = suite_case(suite, "ends");

	tcase_add_checked_fixture(makes, cgroup_fixture_set_up, cgroup_fixture_tear_down);
	tcase_add_checked_fixture(finds, cgroup_fixture_set_up, cgroup_fixture_tear_down);
	tcase_add_checked_fixture(ends, cgroup_fixture_set_up, cgroup_fixture_tear_down);
	tcase_add_test(makes, cgroup_on_hybrid_system_has_cpu_in_v2_and_the_rest_in_v1);
	tcase_add_test(makes, cgroup_on_v1_system_has_cpu_in_cpuacct);
	tcase_add_test(makes, cgroup_that_keeps_scheduling_is_not_made_where_cpu_is_scheduled);
	tcase_add_test(makes, cgroup_with_account_shared_with_cpu_or_cpuset_is_made_without_it);
	tcase_add_test(makes, cgroup_on_v2_system_has_all_in_one);
	tcase_add_test(makes, cgroup_where_only_some_hierarchies_are_writable_takes_those);
	tcase_add_test(
	    makes, cgroup_where_no_cpu_account_is_writable_fails_with_eacces_and_leaves_nothing);
	tcase_add_test(makes, cgroup_in_missing_directory_fails_with_enoent);
	tcase_add_test(makes, cgroup_that_program_was_not_placed_in_is_removed);
	tcase_add_test(makes, cgroup_description_has_a_line_for_each_directory);
	tcase_add_test(finds, cgroup_in_mounted_subtree_is_made);
	tcase_add_test(finds, cgroup_below_mount_with_escaped_root_is_made);
	tcase_add_test(finds, cgroup_below_escaped_mount_point_is_made);
	tcase_add_test(finds, cgroup_outside_mounted_subtree_fails_with_eopnotsupp);
	tcase_add_test(finds, cgroup_below_mount_point_without_slash_fails_with_eopnotsupp);
	tcase_add_test(finds, cgroup_outside_cgroup_namespace_is_found_below_a_mount_that_shows_it);
	tcase_add_test(finds, cgroup_without_cpu_account_fails_with_eopnotsupp);
	tcase_add_test(finds, cgroup_prefers_mount_that_can_be_written_to);
	tcase_add_test(finds, process_that_leaves_one_hierarchy_has_left_that_alone);
	tcase_add_test(finds, process_that_exits_or_is_another_has_left_nothing);
	tcase_add_test(ends, cgroup_left_by_exited_process_is_removed_in_every_hierarchy);
	tcase_add_test(ends, cgroup_left_by_exited_process_is_kept_while_a_process_runs_in_it);
	tcase_add_test(ends, cgroup_is_populated_if_a_process_runs_in_any_hierarchy);
	tcase_add_test(ends, cgroup_of_v2_that_does_not_say_is_not_populated);
	tcase_add_test(ends, cgroup_without_any_below_is_not_listed);
	tcase_add_test(ends, kill_in_v1_reaches_nested_cgroups_and_ends_though_files_do_not_change);
	tcase_add_test(ends, kill_in_v1_spares_a_process_that_is_listed_but_has_left);
	return suite_run(suite);
}
