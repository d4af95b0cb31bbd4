/* SPDX-License-Identifier: MIT */
/* The names of cgroups: what finds one, and what is refused. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/tracker.h"
#include "cgroup/cgroup_root.h"
#include "faults.h"
#include "suite.h"

#define CPU_STAT(us) "usage_usec " us "\nuser_usec " us "\nsystem_usec 0\n"

/* Returns the error of a name. */
static int try_name(const char *name, char message[256])
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .root = cgroup_root.root,
		                      .message = message,
		                      .message_size = 256 };
	struct rt_tracker *t;
	int err;

	message[0] = '\0';
	err = rti_cgroup_tracker_new(&t, name, &opts, &faults_ops);
	if (err < 0)
		ck_assert_ptr_null(t);
	else
		rt_tracker_free(t);
	return err;
}

/* The CPU time of a cgroup shows which one was found. */
static uint64_t cpu_us_of(const char *name)
{
	struct rt_tracker *t = cgroup_root_track(name, RT_HAS_CPU);
	struct rt_metrics m = cgroup_root_sample(t);

	rt_tracker_free(t);
	return m.valid & RT_HAS_CPU ? m.cpu_user_ns / 1000 : UINT64_MAX;
}

static void add_cgroup(const char *path, const char *cpu_stat)
{
	char file[512];

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	cgroup_root_write(file, "");
	snprintf(file, sizeof(file), "%s/cpu.stat", path);
	cgroup_root_write(file, cpu_stat);
}

START_TEST(name_in_each_form_finds_the_cgroup)
{
	cgroup_root_v2();
	add_cgroup("a/b", CPU_STAT("7"));
	add_cgroup(".", CPU_STAT("9"));
	ck_assert_uint_eq(cpu_us_of("/a/b"), 7);
	ck_assert_uint_eq(cpu_us_of("//a/./b/"), 7);
	ck_assert_uint_eq(cpu_us_of("/cg/a/b"), 7);
	ck_assert_uint_eq(cpu_us_of("0::/a/b"), 7);
	ck_assert_uint_eq(cpu_us_of("0::/a/b\n"), 7);
	ck_assert_uint_eq(cpu_us_of("/"), 9);
	ck_assert_uint_eq(cpu_us_of("/cg"), 9);
	ck_assert_uint_eq(cpu_us_of("0::/"), 9);
}
END_TEST

START_TEST(name_that_is_none_is_refused)
{
	static const char *const names[] = { "",       "a/b",  "..",    "/../a",         "/a/..",
		                             "0:/a",   "0::a", ":",     "0::/a\n1:x:/a", "/a/../b",
		                             "cpu:/a", "\n",   "-1::/a" };
	char message[256];

	cgroup_root_v2();
	add_cgroup("a/b", CPU_STAT("7"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_msg(try_name(names[i], message) == -EINVAL, "%s", names[i]);
		ck_assert_msg(strstr(message, "below the mounts"), "%s", message);
	}
}
END_TEST

START_TEST(cgroup_that_is_missing_is_named)
{
	char message[256], name[4096];

	cgroup_root_v2();
	add_cgroup("a/b", CPU_STAT("7"));
	ck_assert_int_eq(try_name("/a/c", message), -ENOENT);
	ck_assert_msg(strstr(message, "no cgroup /a/c in"), "%s", message);
	ck_assert_int_eq(try_name("/a/b/cpu.stat", message), -ENOENT);
	ck_assert_int_eq(try_name("/cgx/a", message), -ENOENT);
	ck_assert_int_eq(try_name("4:memory:/a/b", message), -ENOENT);
	memset(name, 'x', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(try_name(name, message), -ENOENT);
	name[300] = '\0';
	ck_assert_int_eq(try_name(name, message), -ENOENT);
}
END_TEST

START_TEST(name_with_any_bytes_is_found)
{
	cgroup_root_v2();
	add_cgroup("x \\x2d\xff;'\"$(a)", CPU_STAT("7"));
	add_cgroup("...", CPU_STAT("8"));
	ck_assert_uint_eq(cpu_us_of("/x \\x2d\xff;'\"$(a)"), 7);
	ck_assert_uint_eq(cpu_us_of("0::/x \\x2d\xff;'\"$(a)"), 7);
	ck_assert_uint_eq(cpu_us_of("/..."), 8);
}
END_TEST

/* E.g.: in a container without a cgroup namespace of its own. */
START_TEST(mount_of_a_part_shows_names_in_both_forms)
{
	char message[256];

	fixture_write(&cgroup_root, "proc/1/mountinfo",
	              "30 1 0:26 /docker/my\\040id /c\\040g rw - cgroup2 cgroup2 rw\n");
	fixture_write(&cgroup_root, "c g/a/cgroup.procs", "");
	fixture_write(&cgroup_root, "c g/a/cpu.stat", CPU_STAT("7"));
	ck_assert_uint_eq(cpu_us_of("/docker/my id/a"), 7);
	ck_assert_uint_eq(cpu_us_of("/a"), 7);
	ck_assert_uint_eq(cpu_us_of("/c g/a"), 7);
	ck_assert_int_eq(try_name("/docker/other/a", message), -ENOENT);
}
END_TEST

/* Of v1, each mount may show another part. */
START_TEST(path_below_a_mount_of_a_part_has_the_same_name_in_other_hierarchies)
{
	fixture_write(&cgroup_root, "proc/1/mountinfo",
	              "32 1 0:32 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
	              "33 1 0:33 /docker/id /cg/memory rw - cgroup cgroup rw,memory\n");
	cgroup_root_write("memory/a/cgroup.procs", "");
	cgroup_root_write("cpu/a/cpuacct.usage", "8000\n");
	cgroup_root_write("cpu/a/cpuacct.stat", "user 1\nsystem 0\n");
	cgroup_root_write("cpu/docker/id/a/cpuacct.usage", "7000\n");
	cgroup_root_write("cpu/docker/id/a/cpuacct.stat", "user 1\nsystem 0\n");
	ck_assert_uint_eq(cpu_us_of("/cg/memory/a"), 7);
}
END_TEST

/* What no name or path can lead to: a mount point and a part that are longer than either. */
START_TEST(mount_that_no_name_fits_is_passed_over)
{
	static const char *const lines[] = {
		"30 1 0:26 / /%s rw - cgroup2 cgroup2 rw\n",
		"30 1 0:26 /%s /cg rw - cgroup2 cgroup2 rw\n",
	};
	char message[256], text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fixture_printf(&cgroup_root, "proc/1/mountinfo", lines[_i], text);
	cgroup_root_write("a/cgroup.procs", "");
	ck_assert_int_eq(try_name("/cg/a", message), _i ? -ENOENT : -EOPNOTSUPP);
}
END_TEST

/* One more than there is room for. All have one minor number. */
START_TEST(hierarchies_beyond_the_most_are_left_out)
{
	char text[2048] = "", path[64];
	const struct fake_process member = { .pid = 101, .ppid = 1 };
	struct rt_tracker *t;
	size_t len = 0;

	for (int i = 0; i < 17; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		                        "%d 1 %d:26 / /cg/h%d rw - cgroup cgroup rw,%s\n", 30 + i,
		                        i, i, i == 1 || i == 16 ? "cpu,cpuacct" : "name=x");
		snprintf(path, sizeof(path), "h%d/a/cpuacct.usage", i);
		cgroup_root_write(path, i == 1 ? "7000\n" : "8000\n");
		snprintf(path, sizeof(path), "h%d/a/cpuacct.stat", i);
		cgroup_root_write(path, "user 1\nsystem 0\n");
		snprintf(path, sizeof(path), "h%d/a/cgroup.procs", i);
		cgroup_root_write(path, i == 2 ? "101\n" : "");
	}
	fake_process_write(&cgroup_root, &member);
	fixture_write(&cgroup_root, "proc/1/mountinfo", text);
	ck_assert_uint_eq(cpu_us_of("/a"), 7);
	ck_assert_uint_eq(cpu_us_of("/cg/h1/a"), 7);
	t = cgroup_root_track("/cg/h2/a", RT_HAS_PROCESSES);
	ck_assert_uint_eq(cgroup_root_sample(t).processes, 1);
	rt_tracker_free(t);
}
END_TEST

/* A line of v1 without a controller names none, as that of v2 does. */
START_TEST(line_without_a_controller_is_that_of_v2)
{
	cgroup_root_v2();
	add_cgroup("a/b", CPU_STAT("7"));
	ck_assert_uint_eq(cpu_us_of("5::/a/b"), 7);
}
END_TEST

START_TEST(line_of_a_hierarchy_chooses_it)
{
	struct rt_tracker *t;
	struct rt_metrics m;
	char message[256];

	cgroup_root_hybrid();
	cgroup_root_write_v1();
	ck_assert_int_eq(try_name("0::/a/b", message), -ENOENT);
	ck_assert_int_eq(try_name("4:memory:/a/b", message), 0);
	ck_assert_int_eq(try_name("1:name=systemd:/a/b", message), 0);
	ck_assert_int_eq(try_name("2:cpu,cpuacct:/a/b", message), 0);
	ck_assert_int_eq(try_name("9:freezer:/a/b", message), -ENOENT);
	fixture_remove(&cgroup_root, "cg/memory/a/b");
	ck_assert_int_eq(try_name("4:memory:/a/b", message), -ENOENT);
	ck_assert_int_eq(try_name("/cg/memory/a/b", message), -ENOENT);
	/* The other hierarchies are searched for the same name. */
	t = cgroup_root_track("/cg/pids/a/b", RT_HAS_CPU | RT_HAS_CGROUP_MEMORY);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.valid, RT_HAS_CPU);
	rt_tracker_free(t);
}
END_TEST

START_TEST(system_without_cgroups_says_so)
{
	char message[256];

	fixture_write(&cgroup_root, "proc/1/mountinfo", "22 1 0:21 / /proc rw - proc proc rw\n");
	ck_assert_int_eq(try_name("/a", message), -EOPNOTSUPP);
	ck_assert_msg(strstr(message, "No cgroup file system"), "%s", message);
}
END_TEST

START_TEST(refused_directory_is_no_missing_cgroup)
{
	char message[256];

	cgroup_root_v2();
	add_cgroup("a/b", CPU_STAT("7"));
	faults_on_open("a/b", -EACCES);
	ck_assert_int_eq(try_name("/a/b", message), -EACCES);
	ck_assert_msg(strstr(message, "may not look into the cgroup /a/b"), "%s", message);
	faults_on_open("a/b", 0);
}
END_TEST

START_TEST(failure_leaves_no_descriptor_open)
{
	char message[256];
	unsigned before = faults_open_files();

	cgroup_root_hybrid();
	cgroup_root_write_v1();
	ck_assert_int_eq(try_name("/a/b", message), 0);
	ck_assert_int_eq(try_name("0::/a/b", message), -ENOENT);
	faults_on_open("cgroup.procs", -EMFILE);
	ck_assert_int_eq(try_name("/a/b", message), -EMFILE);
	faults_on_open("cgroup.procs", 0);
	ck_assert_uint_eq(faults_open_files(), before);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_names");
	TCase *names = suite_case(suite, "names");

	tcase_add_checked_fixture(names, cgroup_root_set_up, cgroup_root_tear_down);
	tcase_add_test(names, name_in_each_form_finds_the_cgroup);
	tcase_add_test(names, name_that_is_none_is_refused);
	tcase_add_test(names, cgroup_that_is_missing_is_named);
	tcase_add_test(names, name_with_any_bytes_is_found);
	tcase_add_test(names, mount_of_a_part_shows_names_in_both_forms);
	tcase_add_test(names, path_below_a_mount_of_a_part_has_the_same_name_in_other_hierarchies);
	tcase_add_loop_test(names, mount_that_no_name_fits_is_passed_over, 0, 2);
	tcase_add_test(names, hierarchies_beyond_the_most_are_left_out);
	tcase_add_test(names, line_without_a_controller_is_that_of_v2);
	tcase_add_test(names, line_of_a_hierarchy_chooses_it);
	tcase_add_test(names, system_without_cgroups_says_so);
	tcase_add_test(names, refused_directory_is_no_missing_cgroup);
	tcase_add_test(names, failure_leaves_no_descriptor_open);
	return suite_run(suite);
}
