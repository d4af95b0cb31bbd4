/* SPDX-License-Identifier: MIT */
/* A tracker of the system with RT_OPT_OWN_LIMITS: the cgroup of the caller, and the tightest limits
 * that hold for it. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "api/tracker.h"
#include "cgroup/cgroup_root.h"
#include "faults.h"
#include "suite.h"

#define OWN                                                                                        \
	(RT_HAS_CGROUP_CPU_TIME | RT_HAS_CGROUP_CPU | RT_HAS_CGROUP_MEMORY | RT_HAS_CGROUP_TASKS)
#define STAT "cpu  300 0 200 9000 0 0 0 0 0 0\ncpu0 300 0 200 9000 0 0 0 0 0 0\nctxt 1\nbtime 1\n"
#define IN_EACH_V1(name)                                                                           \
	"9:name=systemd:" name "\n8:pids:" name "\n7:blkio:" name "\n4:memory:" name               \
	"\n2:cpu,cpuacct:" name "\n"

/* Set which cgroups the caller is in. */
static void be_in(const char *lines)
{
	fixture_write(&cgroup_root, "proc/self/cgroup", lines);
}

static void mount_cgroups(const char *lines)
{
	fixture_write(&cgroup_root, "proc/1/mountinfo", lines);
}

static struct rt_tracker *track(uint32_t flags, uint64_t want)
{
	const struct rt_opts opts = {
		.size = sizeof(opts), .flags = flags, .root = cgroup_root.root, .want = want
	};
	struct rt_tracker *t;

	fixture_write(&cgroup_root, "proc/stat", STAT);
	ck_assert_int_eq(rti_tracker_new(&t, 0, &opts, &faults_ops), 0);
	return t;
}

static struct rt_metrics sample(struct rt_tracker *t)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(t, &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.kind, RT_KIND_SYSTEM);
	ck_assert_uint_eq(
	    (m.valid & m.partial) | (m.valid & m.estimated) | (m.partial & m.estimated), 0);
	return m;
}

static struct rt_metrics sample_once(uint64_t want)
{
	struct rt_tracker *t = track(RT_OPT_OWN_LIMITS, want);
	struct rt_metrics m = sample(t);

	rt_tracker_free(t);
	return m;
}

/* The least limits are 0.5 CPUs of a, and 8,000,000 bytes and 100 tasks of a. */
static void check_figures_of_a_b(const struct rt_metrics *m, uint64_t millicores)
{
	ck_assert_uint_eq(m->valid & OWN, OWN);
	ck_assert_uint_eq(m->cgroup_cpu_ns, UINT64_C(5000000000));
	ck_assert_uint_eq(m->cgroup_cpu_limit_millicores, millicores);
	ck_assert_uint_eq(m->cgroup_memory_bytes, 1000000);
	ck_assert_uint_eq(m->cgroup_memory_limit_bytes, 8000000);
	ck_assert_uint_eq(m->cgroup_tasks, 7);
	ck_assert_uint_eq(m->cgroup_tasks_limit, 100);
}

START_TEST(nested_limits_of_v2_are_the_tightest_and_the_system_stays)
{
	struct rt_metrics m;

	cgroup_root_v2();
	cgroup_root_write_v2();
	be_in("0::/a/b\n");
	m = sample_once(OWN | RT_HAS_CPU);
	check_figures_of_a_b(&m, 1000);
	ck_assert_uint_eq(m.valid & RT_HAS_CPU, RT_HAS_CPU);
	ck_assert_uint_eq(m.cpu_user_ns, UINT64_C(3000000000));
	ck_assert_uint_eq(m.cpu_system_ns, UINT64_C(2000000000));
	ck_assert_uint_eq(m.minor_faults, 0);
	ck_assert_uint_eq(m.cpu_resolution_ns, 10000000);
}
END_TEST

START_TEST(limits_of_v1_are_the_tightest)
{
	struct rt_metrics m;

	cgroup_root_v1();
	cgroup_root_write_v1();
	be_in(IN_EACH_V1("/a/b"));
	m = sample_once(OWN);
	check_figures_of_a_b(&m, 500);
}
END_TEST

/* The v2 of a hybrid system has CPU time, too, but of a cgroup that no quota holds for. */
START_TEST(cpu_time_is_that_of_the_cgroup_with_the_quota)
{
	struct rt_metrics m;

	cgroup_root_hybrid();
	cgroup_root_write_v1();
	cgroup_root_write("unified/s/cpu.stat", "usage_usec 7\nuser_usec 7\nsystem_usec 0\n");
	be_in(IN_EACH_V1("/a/b") "0::/s\n");
	m = sample_once(OWN);
	check_figures_of_a_b(&m, 500);
}
END_TEST

START_TEST(cpu_time_of_a_cgroup_with_another_name_is_unknown)
{
	struct rt_metrics m;

	mount_cgroups("32 1 0:32 / /cg/cpu rw - cgroup cgroup rw,cpu\n"
	              "33 1 0:33 / /cg/cpuacct rw - cgroup cgroup rw,cpuacct\n");
	cgroup_root_write("cpu/a/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_time 0\n");
	cgroup_root_write("cpu/a/cpu.cfs_quota_us", "50000\n");
	cgroup_root_write("cpu/a/cpu.cfs_period_us", "100000\n");
	cgroup_root_write("cpuacct/b/cpuacct.usage", "8000\n");
	cgroup_root_write("cpuacct/b/cpuacct.stat", "user 1\nsystem 0\n");
	be_in("5:cpu:/a\n6:cpuacct:/b\n");
	m = sample_once(OWN);
	ck_assert_uint_eq(m.valid & OWN, RT_HAS_CGROUP_CPU);
	ck_assert_uint_eq(m.partial | m.estimated, 0);
	ck_assert_uint_eq(m.cgroup_cpu_limit_millicores, 500);
	cgroup_root_write("cpuacct/a/cpuacct.usage", "9000\n");
	cgroup_root_write("cpuacct/a/cpuacct.stat", "user 1\nsystem 0\n");
	be_in("5:cpu:/a\n6:cpuacct:/a\n");
	m = sample_once(OWN);
	ck_assert_uint_eq(m.valid & OWN, RT_HAS_CGROUP_CPU | RT_HAS_CGROUP_CPU_TIME);
	ck_assert_uint_eq(m.cgroup_cpu_ns, 9000);
}
END_TEST

/* The caller may be in another cgroup in each hierarchy. */
START_TEST(each_hierarchy_of_v1_has_a_name_of_its_own)
{
	struct rt_metrics m;

	cgroup_root_v1();
	cgroup_root_write_v1();
	cgroup_root_write("cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
	cgroup_root_write("cpu/cpuacct.usage", "9000000000\n");
	cgroup_root_write("cpu/cpuacct.stat", "user 1\nsystem 0\n");
	be_in("2:cpu,cpuacct:/\n4:memory:/a/b\n");
	m = sample_once(OWN);
	ck_assert_uint_eq(m.cgroup_cpu_ns, UINT64_C(9000000000));
	ck_assert_uint_eq(m.cgroup_cpu_limit_millicores, UINT64_MAX);
	ck_assert_uint_eq(m.cgroup_memory_limit_bytes, 8000000);
	ck_assert_uint_eq(m.valid & OWN, OWN & ~RT_HAS_CGROUP_TASKS);
}
END_TEST

START_TEST(cgroup_without_a_limit_says_that_there_is_none)
{
	struct rt_metrics m;

	cgroup_root_v2();
	cgroup_root_write_v2();
	cgroup_root_write("a/b/cpu.max", "max 100000\n");
	cgroup_root_write("a/cpu.max", "max 100000\n");
	cgroup_root_write("a/memory.max", "max\n");
	be_in("0::/a/b\n");
	m = sample_once(OWN);
	ck_assert_uint_eq(m.valid & OWN, OWN);
	ck_assert_uint_eq(m.cgroup_cpu_limit_millicores, UINT64_MAX);
	ck_assert_uint_eq(m.cgroup_memory_limit_bytes, UINT64_MAX);
}
END_TEST

/* In a cgroup namespace, the mount shows the cgroup of the container as its root. */
START_TEST(root_of_a_cgroup_namespace_has_its_limits)
{
	struct rt_metrics m;

	mount_cgroups("30 1 0:26 / /cg/a/b ro - cgroup2 cgroup ro\n");
	cgroup_root_write_v2();
	be_in("0::/\n");
	m = sample_once(OWN);
	ck_assert_uint_eq(m.valid & OWN, OWN);
	ck_assert_uint_eq(m.cgroup_cpu_limit_millicores, 1500);
	ck_assert_uint_eq(m.cgroup_tasks_limit, UINT64_MAX);
}
END_TEST

/* Without a cgroup namespace, the mount shows a part of the hierarchy under its full name. */
START_TEST(mount_of_the_own_part_shows_the_limits)
{
	struct rt_metrics m;

	mount_cgroups("30 1 0:26 /docker/id /cg/a rw - cgroup2 cgroup rw\n");
	cgroup_root_write_v2();
	be_in("0::/docker/id/b\n");
	m = sample_once(OWN);
	check_figures_of_a_b(&m, 1000);
}
END_TEST

static void sample_and_free(int err, struct rt_tracker *t, struct rt_metrics *m)
{
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(rt_sample(t, m, sizeof(*m)), 0);
	rt_tracker_free(t);
}

/* The file calls of a root let no ".." lead out of a directory. */
START_TEST(limits_of_cgroups_above_are_found_below_another_root)
{
	struct rt_opts opts = { .size = sizeof(opts), .root = cgroup_root.root, .want = OWN };
	struct rt_tracker *t;
	struct rt_metrics m;
	int err;

	cgroup_root_v2();
	cgroup_root_write_v2();
	be_in("0::/a/b\n");
	fixture_write(&cgroup_root, "proc/stat", STAT);
	err = rt_cgroup_tracker_new(&t, "/a/b", &opts);
	sample_and_free(err, t, &m);
	ck_assert_uint_eq(m.cgroup_cpu_limit_millicores, 1000);
	ck_assert_uint_eq(m.cgroup_memory_limit_bytes, 8000000);
	opts.flags = RT_OPT_OWN_LIMITS;
	err = rt_system_tracker_new(&t, &opts);
	sample_and_free(err, t, &m);
	check_figures_of_a_b(&m, 1000);
}
END_TEST

static void check_nothing_known(const char *why)
{
	struct rt_tracker *t = track(RT_OPT_OWN_LIMITS, OWN | RT_HAS_CPU);
	struct rt_metrics m = sample(t);

	ck_assert_msg((m.valid | m.partial | m.estimated) == RT_HAS_CPU, "%s: %llx", why,
	              (unsigned long long)(m.valid | m.partial | m.estimated));
	for (uint64_t left = OWN; left; left &= left - 1)
		ck_assert_msg(rt_tracker_status(t, left & -left) < 0, "%s", why);
	rt_tracker_free(t);
}

/* None of these shows the cgroup of the caller, and each shows the one of others. */
START_TEST(hidden_hierarchy_shows_nothing_of_others)
{
	cgroup_root_write_v2();
	cgroup_root_write("cpu.stat", "usage_usec 7\nuser_usec 7\nsystem_usec 0\n");
	cgroup_root_write("memory.current", "1\n");
	mount_cgroups("30 1 0:26 /.. /cg rw - cgroup2 cgroup rw\n");
	be_in("0::/\n");
	check_nothing_known("a mount from outside of the cgroup namespace");
	mount_cgroups("30 1 0:26 / /cg rw - cgroup2 cgroup rw\n");
	be_in("0::/../a/b\n");
	check_nothing_known("a cgroup outside of the namespace");
	mount_cgroups("30 1 0:26 /docker/other /cg rw - cgroup2 cgroup rw\n");
	be_in("0::/docker/id\n");
	check_nothing_known("a mount of another part");
	mount_cgroups("30 1 0:26 / /cg rw - cgroup2 cgroup rw\n");
	be_in("0::/a/b (deleted)\n");
	check_nothing_known("a cgroup that was removed");
}
END_TEST

START_TEST(system_without_cgroups_has_its_other_figures)
{
	cgroup_root_write_v2();
	mount_cgroups("22 1 0:21 / /proc rw - proc proc rw\n");
	be_in("0::/a/b\n");
	check_nothing_known("no mount");
	be_in("");
	check_nothing_known("no cgroup");
	cgroup_root_v2();
	faults_on_open("self/cgroup", -ENOENT);
	check_nothing_known("no /proc/self/cgroup");
	faults_on_open("self/cgroup", 0);
}
END_TEST

START_TEST(hostile_contents_are_unknown)
{
	static const char *const lines[] = {
		"0:/a/b\n",      ":\n", "0::a/b\n", "\n\n\n", "99999999999999999999::/a/b\n",
		"0::/a/../a/b\n"
	};
	static const char *const limits[] = { "",        "x",          "50000 0\n",
		                              "max max", "50000\n100", "0x10 100000" };

	cgroup_root_v2();
	cgroup_root_write_v2();
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		be_in(lines[i]);
		check_nothing_known(lines[i]);
	}
	be_in("0::/a/b\n");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rt_metrics m;

		cgroup_root_write("a/cpu.max", limits[i]);
		m = sample_once(OWN);
		ck_assert_msg(!((m.valid | m.partial | m.estimated) & RT_HAS_CGROUP_CPU),
		              "\"%s\": %llu", limits[i],
		              (unsigned long long)m.cgroup_cpu_limit_millicores);
		ck_assert_uint_eq(m.valid & RT_HAS_CGROUP_MEMORY, RT_HAS_CGROUP_MEMORY);
	}
}
END_TEST

START_TEST(want_and_flag_choose_what_is_read)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v2();
	cgroup_root_write_v2();
	be_in("0::/a/b\n");
	t = track(0, OWN | RT_HAS_CPU);
	m = sample(t);
	ck_assert_uint_eq(m.valid | m.partial | m.estimated, RT_HAS_CPU);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_CGROUP_CPU), -EOPNOTSUPP);
	rt_tracker_free(t);
	m = sample_once(0);
	ck_assert_uint_eq(m.valid & OWN, OWN);
	ck_assert_uint_eq(m.valid & RT_HAS_CGROUP_OOM_KILLS, RT_HAS_CGROUP_OOM_KILLS);
	ck_assert_uint_eq((m.valid | m.partial | m.estimated) & RT_HAS_FAULTS, 0);
	m = sample_once(RT_HAS_CGROUP_MEMORY);
	ck_assert_uint_eq(m.valid | m.partial | m.estimated, RT_HAS_CGROUP_MEMORY);
}
END_TEST

START_TEST(refused_file_is_named_and_nothing_stays_open)
{
	unsigned before = faults_open_files();
	struct rt_obstacle why;
	struct rt_tracker *t;

	cgroup_root_v2();
	cgroup_root_write_v2();
	be_in("0::/a/b\n");
	t = track(RT_OPT_OWN_LIMITS, OWN);
	faults_on_open("cpu.stat", -EACCES);
	sample(t);
	faults_on_open("cpu.stat", 0);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_CGROUP_CPU), -EACCES);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_CGROUP_CPU_TIME), -EACCES);
	ck_assert_int_eq(rt_tracker_obstacle(t, RT_HAS_CGROUP_CPU_TIME, &why, sizeof(why)), 0);
	ck_assert_str_eq(why.file, "cpu.stat");
	ck_assert_uint_eq(why.kind, RT_OBSTACLE_RIGHTS);
	ck_assert_int_eq(rt_tracker_status(t, RT_HAS_CGROUP_MEMORY), 0);
	rt_tracker_free(t);
	ck_assert_uint_eq(faults_open_files(), before);
}
END_TEST

START_TEST(difference_has_the_cpu_time)
{
	struct rt_metrics from, to;
	struct rt_tracker *t;
	struct rt_delta d;

	cgroup_root_v2();
	cgroup_root_write_v2();
	be_in("0::/a/b\n");
	t = track(RT_OPT_OWN_LIMITS, OWN);
	from = sample(t);
	cgroup_root_write("a/b/cpu.stat", "usage_usec 5000700\nuser_usec 3000700\nsystem_usec "
	                                  "2000000\nnr_periods 70\nnr_throttled 30\n"
	                                  "throttled_usec 4000\n");
	to = sample(t);
	ck_assert_int_eq(rt_diff(&from, &to, &d, sizeof(d)), 0);
	ck_assert_uint_eq(d.valid & RT_HAS_CGROUP_CPU_TIME, RT_HAS_CGROUP_CPU_TIME);
	ck_assert_uint_eq(d.cgroup_cpu_ns, 700000);
	rt_tracker_free(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_own_limits");
	TCase *limits = suite_case(suite, "own_limits");

	tcase_add_checked_fixture(limits, cgroup_root_set_up, cgroup_root_tear_down);
	tcase_add_test(limits, nested_limits_of_v2_are_the_tightest_and_the_system_stays);
	tcase_add_test(limits, limits_of_v1_are_the_tightest);
	tcase_add_test(limits, cpu_time_is_that_of_the_cgroup_with_the_quota);
	tcase_add_test(limits, cpu_time_of_a_cgroup_with_another_name_is_unknown);
	tcase_add_test(limits, each_hierarchy_of_v1_has_a_name_of_its_own);
	tcase_add_test(limits, cgroup_without_a_limit_says_that_there_is_none);
	tcase_add_test(limits, root_of_a_cgroup_namespace_has_its_limits);
	tcase_add_test(limits, mount_of_the_own_part_shows_the_limits);
	tcase_add_test(limits, limits_of_cgroups_above_are_found_below_another_root);
	tcase_add_test(limits, hidden_hierarchy_shows_nothing_of_others);
	tcase_add_test(limits, system_without_cgroups_has_its_other_figures);
	tcase_add_test(limits, hostile_contents_are_unknown);
	tcase_add_test(limits, want_and_flag_choose_what_is_read);
	tcase_add_test(limits, refused_file_is_named_and_nothing_stays_open);
	tcase_add_test(limits, difference_has_the_cpu_time);
	return suite_run(suite);
}
