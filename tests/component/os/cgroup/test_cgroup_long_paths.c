/* SPDX-License-Identifier: MIT */
/* Cgroups with names of each length around the longest path that the library takes. A path is whole
 * or not used: never does another directory have a part of it, and what was made is removed. */
#include "os/cgroup/cgroup_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/cgroup/cgroup_members.h"
#include "suite.h"

#define NAME_MIN 930
#define NAME_MAX_LEN 1030 /* beyond that nothing can be used */
#define COMPONENT 200
#define LEVELS 10 /* more than are looked at below a cgroup */
#define PATH_BYTES 4096

/* Write a name of this length, e.g. "/aaa/aaa". */
static void make_name(char *out, size_t len)
{
	for (size_t i = 0; i < len; i++)
		out[i] = i % COMPONENT == 0 && i + 1 < len ? '/' : 'a';
	out[len] = '\0';
}

/* Three hierarchies have the cgroup. What a killed supervisor has left is below. */
static void mount_long(const char *name)
{
	static const char *const mounts[] = { "cgroup / v1/cpuacct rw,cpuacct",
		                              "cgroup / v1/pids rw,pids", "cgroup2 / v2 rw", NULL };
	static const char *const points[] = { "v1/cpuacct", "v1/pids", "v2" };
	char text[PATH_BYTES + 64], path[PATH_BYTES];

	snprintf(text, sizeof(text), "5:pids:%s\n3:cpuacct:%s\n0::%s\n", name, name, name);
	cgroup_fixture_mount(text, mounts);
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		snprintf(path, sizeof(path), "%s%s/rtrack-2147483647-1/below", points[i], name);
		fixture_mkdir(&cgroups.root, path);
		snprintf(path, sizeof(path), "%s%s/rtrack-99999999999999999999-1", points[i], name);
		fixture_mkdir(&cgroups.root, path);
		snprintf(path, sizeof(path), "%s%s/cpu.stat", points[i], name);
		fixture_write(&cgroups.root, path, "usage_usec 5\nuser_usec 3\nsystem_usec 2\n");
	}
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void check_directories(const struct rti_cgroup *group)
{
	for (uint32_t i = 0; i < group->count; i++)
		ck_assert_msg(is_directory(group->dir[i].path), "no directory: %zu bytes",
		              strlen(group->dir[i].path));
}

/* Add cgroups below the made one, with a process in the last one that the library looks at. */
static void add_below(const struct rti_cgroup_dir *dir)
{
	char path[PATH_BYTES];
	int len = snprintf(path, sizeof(path), "%s", dir->path + strlen(cgroups.root.root) + 1);

	for (int i = 0; i < LEVELS; i++)
		len += snprintf(path + len, sizeof(path) - (size_t)len, "/%d", i);
	fixture_mkdir(&cgroups.root, path);
}

/* The kernel removes the files of a cgroup with its directory; here are none. */
static void remove_below(const struct rti_cgroup_dir *dir)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/0", dir->path + strlen(cgroups.root.root) + 1);
	fixture_remove(&cgroups.root, path);
}

static int count_made(const char *mount, const char *name)
{
	char path[PATH_BYTES], prefix[64];
	struct dirent *entry;
	int count = 0;
	DIR *list;

	snprintf(path, sizeof(path), "%s/%s%s", cgroups.root.root, mount, name);
	snprintf(prefix, sizeof(prefix), "rtrack-%d-", getpid());
	list = opendir(path);
	ck_assert_ptr_nonnull(list);
	while ((entry = readdir(list)))
		count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	closedir(list);
	return count;
}

/* Returns whether a cgroup could be made. */
static bool make_and_remove(void)
{
	struct rti_cgroup *group = &cgroups.group;
	char described[8192];
	int err = cgroup_fixture_make();

	check_directories(&cgroups.enclosing);
	check_directories(group);
	if (err < 0) {
		ck_assert_uint_eq(group->count, 0);
		ck_assert_msg(err == -ENAMETOOLONG || err == -EOPNOTSUPP, "%d", err);
		return false;
	}
	ck_assert_int_eq(rti_cgroup_describe(group, described, sizeof(described)), 0);
	for (size_t room = strlen(described) + 1; room > 0; room -= room > 40 ? 40 : 1)
		ck_assert_int_eq(rti_cgroup_describe(group, described, room - 1), -ENAMETOOLONG);
	for (uint32_t i = 0; i < group->count; i++)
		add_below(&group->dir[i]);
	ck_assert(!rti_cgroup_is_populated(group, &cgroups.ctx, true));
	ck_assert_int_eq(rti_cgroup_kill(group, &cgroups.ctx), 0);
	for (uint32_t i = 0; i < group->count; i++)
		remove_below(&group->dir[i]);
	rti_cgroup_remove_stale(&cgroups.enclosing, &cgroups.ctx);
	rti_cgroup_remove(group);
	return true;
}

START_TEST(cgroup_with_a_name_of_any_length_is_made_whole_or_not_at_all)
{
	unsigned made = 0, refused = 0;
	char name[NAME_MAX_LEN + 1];

	for (size_t len = NAME_MIN; len <= NAME_MAX_LEN; len++) {
		make_name(name, len);
		mount_long(name);
		if (make_and_remove())
			made++;
		else
			refused++;
		ck_assert_int_eq(count_made("v2", name), 0);
		ck_assert_int_eq(count_made("v1/cpuacct", name), 0);
		ck_assert_int_eq(count_made("v1/pids", name), 0);
		fixture_remove(&cgroups.root, "v1");
		fixture_remove(&cgroups.root, "v2");
	}
	ck_assert_uint_gt(made, 10);
	ck_assert_uint_gt(refused, 10);
}
END_TEST

static int count_pid(void *arg, int32_t pid)
{
	ck_assert_int_eq(pid, 42);
	++*(unsigned *)arg;
	return 0;
}

/* The first and the last one have a process. */
static void write_members(const char *name)
{
	char path[PATH_BYTES + 32];

	fixture_write(&cgroups.root, "v2/top/cgroup.procs", "42\n");
	for (size_t len = 1; name[len - 1]; len++) {
		if (name[len] && name[len] != '/')
			continue;
		snprintf(path, sizeof(path), "v2/top%.*s/cgroup.procs", (int)len, name);
		fixture_write(&cgroups.root, path, name[len] ? "" : "42\n");
	}
}

static void list_below(size_t len, bool *is_cut)
{
	struct rti_cgroup_place place = { .dir = RTI_FILE_INIT, .is_v2 = true };
	struct rti_cgroup_members members;
	char name[PATH_BYTES], path[256];
	unsigned found = 0;

	make_name(name, len);
	write_members(name);
	snprintf(path, sizeof(path), "%s/v2/top", cgroups.root.root);
	ck_assert_int_eq(rti_procfs_open_dir(&cgroups.procfs, RTI_ROOT, path + 1, &place.dir), 0);
	rti_cgroup_members_init(&members);
	ck_assert_int_eq(rti_cgroup_members_list(&members, &cgroups.ctx, &place, count_pid, &found),
	                 0);
	*is_cut = members.is_cut;
	ck_assert_uint_eq(found, *is_cut ? 1 : 2);
	rti_cgroup_members_free(&members, &cgroups.ctx);
	rti_procfs_close_file(&cgroups.procfs, &place.dir);
	fixture_remove(&cgroups.root, "v2/top");
}

START_TEST(member_of_a_cgroup_with_a_long_name_is_listed_or_the_list_is_cut)
{
	bool is_cut = false, was_cut;

	for (size_t len = NAME_MIN; len <= NAME_MAX_LEN; len++) {
		was_cut = is_cut;
		list_below(len, &is_cut);
		ck_assert(is_cut || !was_cut);
	}
	ck_assert(is_cut);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("long paths of cgroups");
	TCase *tests = suite_case(suite, "paths");

	tcase_add_checked_fixture(tests, cgroup_fixture_set_up, cgroup_fixture_tear_down);
	tcase_add_test(tests, cgroup_with_a_name_of_any_length_is_made_whole_or_not_at_all);
	tcase_add_test(tests, member_of_a_cgroup_with_a_long_name_is_listed_or_the_list_is_cut);
	return suite_run(suite);
}
