/* SPDX-License-Identifier: MIT */
/* What the kernel accounts for in a cgroup: v2, v1, and both. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/tracker.h"
#include "cgroup/cgroup_root.h"
#include "faults.h"
#include "suite.h"

#define OF_V2                                                                                      \
	(RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_CGROUP_CPU | RT_HAS_CGROUP_MEMORY |                   \
	 RT_HAS_CGROUP_MEMORY_PEAK | RT_HAS_CGROUP_MEMORY_KERNEL | RT_HAS_CGROUP_MEMORY_EVENTS |   \
	 RT_HAS_CGROUP_OOM_KILLS | RT_HAS_CGROUP_SWAP | RT_HAS_CGROUP_IO | RT_HAS_CGROUP_TASKS |   \
	 RT_HAS_CGROUP_TASKS_PEAK | RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_MEMORY |                 \
	 RT_HAS_PRESSURE_IO | RT_HAS_CGROUP_MEMORY_SLAB)
#define ONLY_V2                                                                                    \
	(RT_HAS_CGROUP_MEMORY_SLAB | RT_HAS_CGROUP_MEMORY_EVENTS | RT_HAS_PRESSURE_CPU |           \
	 RT_HAS_PRESSURE_MEMORY | RT_HAS_PRESSURE_IO)
#define PARTIAL_IN_V1 (RT_HAS_CGROUP_OOM_KILLS | RT_HAS_CGROUP_IO)

static void check_common(const struct rt_metrics *m)
{
	ck_assert_uint_eq(m->cpu_user_ns, 3000000000u);
	ck_assert_uint_eq(m->cpu_system_ns, 2000000000u);
	ck_assert_uint_eq(m->minor_faults, 891);
	ck_assert_uint_eq(m->major_faults, 9);
	ck_assert_uint_eq(m->cgroup_memory_bytes, 1000000);
	ck_assert_uint_eq(m->cgroup_memory_anon_bytes, 600000);
	ck_assert_uint_eq(m->cgroup_memory_file_bytes, 300000);
	ck_assert_uint_eq(m->cgroup_memory_shmem_bytes, 50000);
	ck_assert_uint_eq(m->cgroup_memory_limit_bytes, 8000000);
	ck_assert_uint_eq(m->cgroup_memory_peak_bytes, 2000000);
	ck_assert_uint_eq(m->cgroup_memory_kernel_bytes, 100000);
	ck_assert_uint_eq(m->cgroup_swap_bytes, 4096);
	ck_assert_uint_eq(m->cgroup_oom_kills, 1);
	ck_assert_uint_eq(m->cgroup_cpu_periods, 70);
	ck_assert_uint_eq(m->cgroup_cpu_throttled_periods, 30);
	ck_assert_uint_eq(m->cgroup_read_bytes, 1536);
	ck_assert_uint_eq(m->cgroup_write_bytes, 2048);
	ck_assert_uint_eq(m->cgroup_tasks, 7);
	ck_assert_uint_eq(m->cgroup_tasks_limit, 100);
	ck_assert_uint_eq(m->cgroup_tasks_peak, 9);
	ck_assert_int_eq(m->rusage.ru_inblock, 3);
	ck_assert_int_eq(m->rusage.ru_oublock, 4);
	ck_assert_int_eq(m->rusage.ru_minflt, 891);
	ck_assert(m->rusage.ru_utime == 3.0 && m->rusage.ru_stime == 2.0);
}

START_TEST(v2_has_every_account)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v2();
	cgroup_root_write_v2();
	t = cgroup_root_track("/a/b", OF_V2);
	m = cgroup_root_sample(t);
	check_common(&m);
	ck_assert_uint_eq(m.valid, OF_V2);
	ck_assert_uint_eq(m.cgroup_memory_slab_reclaimable_bytes, 70000);
	ck_assert_uint_eq(m.cgroup_memory_high_bytes, 5000000);
	ck_assert_uint_eq(m.cgroup_memory_high_events, 4);
	ck_assert_uint_eq(m.cgroup_memory_max_events, 3);
	ck_assert_uint_eq(m.cgroup_memory_oom_events, 2);
	ck_assert_uint_eq(m.cgroup_cpu_throttled_ns, 4000000);
	ck_assert_uint_eq(m.cgroup_cpu_limit_millicores, 1000);
	ck_assert_uint_eq(m.pressure_cpu_some_ns, 11000);
	ck_assert_uint_eq(m.pressure_memory_full_ns, 10000);
	ck_assert_uint_eq(m.pressure_io_full_ns, 9000);
	ck_assert_uint_eq(m.cpu_resolution_ns, 1000);
	rt_tracker_free(t);
}
END_TEST

static uint64_t clock_of_slow_sample(void)
{
	return UINT64_MAX / 4;
}

/* The account is read after all members, which may have taken long. */
START_TEST(sample_has_the_time_of_the_read_of_the_account)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v2();
	cgroup_root_write_v2();
	t = cgroup_root_track("/a/b", RT_HAS_CPU);
	t->platform.monotonic_ns = clock_of_slow_sample;
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.monotonic_ns, UINT64_MAX / 4);
	ck_assert_uint_ge(m.boottime_ns, m.monotonic_ns);
	rt_tracker_free(t);
}
END_TEST

static uint64_t later_ns;

static uint32_t count_64(void)
{
	return 64;
}

static uint64_t clock_of_test(void)
{
	return later_ns;
}

static struct rt_metrics sample_usage(struct rt_tracker *t, uint64_t usage_ns)
{
	char text[32];

	later_ns += 1000000000;
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)usage_ns);
	cgroup_root_write("cpu/a/b/cpuacct.usage", text);
	return cgroup_root_sample(t);
}

static struct rt_tracker *track_v1_cpu(void)
{
	struct rt_tracker *t;

	cgroup_root_v1();
	cgroup_root_write_v1();
	t = cgroup_root_track("/a/b", RT_HAS_CPU);
	later_ns = 0;
	t->platform.monotonic_ns = clock_of_test;
	return t;
}

/* What it was, plus what the account has since, as often as it is set back. */
START_TEST(cpu_account_that_is_set_back_goes_on_as_a_lower_bound)
{
	struct rt_tracker *t = track_v1_cpu();
	struct rt_obstacle obstacle;
	struct rt_metrics m = sample_usage(t, 5000000000);

	ck_assert_uint_eq(m.valid, RT_HAS_CPU);
	ck_assert_uint_eq(m.reasons, 0);
	for (uint64_t back = 1; back <= 2; back++) {
		m = sample_usage(t, 200000000);
		ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 4400000000 + back * 800000000);
		ck_assert_uint_eq(m.valid, 0);
		ck_assert_uint_eq(m.partial, RT_HAS_CPU);
		ck_assert_uint_eq(m.reasons, RT_REASON_ACCOUNT_RESET);
		m = sample_usage(t, 800000000);
		ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 5000000000 + back * 800000000);
		ck_assert_uint_eq(m.partial, RT_HAS_CPU);
	}
	ck_assert_int_eq(rt_tracker_obstacle(t, RT_HAS_CPU, &obstacle, sizeof(obstacle)), 0);
	ck_assert_ptr_nonnull(strstr(obstacle.text, "set back"));
	rt_tracker_free(t);
}
END_TEST

/* E.g.: the root of v2, which is summed up from CPUs that go on meanwhile. All CPUs have 64 s. */
START_TEST(cpu_account_that_falls_by_a_little_is_not_set_back)
{
	static const uint64_t fallen_ns[] = { 4995000000, 70000000000 };
	struct rt_tracker *t = track_v1_cpu();
	uint64_t before_ns = fallen_ns[_i] + (_i ? 1000000000 : 5000000);
	struct rt_metrics m;

	t->platform.cpu_count = count_64;
	sample_usage(t, before_ns);
	m = sample_usage(t, fallen_ns[_i]);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, before_ns);
	ck_assert_uint_eq(m.valid, RT_HAS_CPU);
	rt_tracker_free(t);
}
END_TEST

START_TEST(v1_has_what_means_the_same)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v1();
	cgroup_root_write_v1();
	t = cgroup_root_track("/a/b", OF_V2);
	m = cgroup_root_sample(t);
	check_common(&m);
	ck_assert_uint_eq(m.valid, OF_V2 & ~(ONLY_V2 | PARTIAL_IN_V1));
	ck_assert_uint_eq(m.partial, PARTIAL_IN_V1);
	ck_assert_uint_eq(m.cgroup_memory_high_bytes, UINT64_MAX);
	ck_assert_uint_eq(m.cgroup_cpu_throttled_ns, 4000);
	ck_assert_uint_eq(m.cgroup_cpu_limit_millicores, 500);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_MEMORY_EVENTS, -EOPNOTSUPP, "cgroup v1");
	cgroup_root_check_missing(t, RT_HAS_PRESSURE_CPU, -EOPNOTSUPP, "cgroup v2 has it");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_IO, -ENODATA, "not all of it");
	rt_tracker_free(t);
}
END_TEST

START_TEST(hybrid_without_directories_in_v1_names_the_controllers)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_hybrid();
	cgroup_root_write("unified/a/b/cgroup.procs", "");
	cgroup_root_write("unified/a/b/cpu.stat",
	                  "usage_usec 500\nuser_usec 300\nsystem_usec 200\n");
	t = cgroup_root_track("/a/b", OF_V2);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.valid, RT_HAS_CPU);
	ck_assert_uint_eq(m.cpu_user_ns, 300000);
	ck_assert_uint_eq(m.cgroup_memory_bytes, 0);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_MEMORY, -ENOENT, "controller memory is in");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_CPU, -ENOENT, "controller cpu is in");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_TASKS, -ENOENT, "controller pids is in");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_IO, -ENOENT, "controller io is in");
	rt_tracker_free(t);
}
END_TEST

/* CPU time comes from v2, which has it without a controller, and the rest from v1. */
START_TEST(hybrid_with_directories_has_the_figures_of_both)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_hybrid();
	cgroup_root_write_v1();
	cgroup_root_write("unified/a/b/cgroup.procs", "");
	cgroup_root_write("unified/a/b/cpu.stat",
	                  "usage_usec 500\nuser_usec 300\nsystem_usec 200\n");
	t = cgroup_root_track("/a/b", OF_V2);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.valid & (RT_HAS_CPU | RT_HAS_CGROUP_MEMORY | RT_HAS_CGROUP_CPU),
	                  RT_HAS_CPU | RT_HAS_CGROUP_MEMORY | RT_HAS_CGROUP_CPU);
	ck_assert_uint_eq(m.cpu_user_ns, 300000);
	ck_assert_uint_eq(m.cgroup_memory_bytes, 1000000);
	rt_tracker_free(t);
}
END_TEST

START_TEST(controller_that_is_not_enabled_is_named)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v2();
	cgroup_root_write("a/b/cgroup.procs", "");
	cgroup_root_write("a/b/cpu.stat", "usage_usec 500\nuser_usec 300\nsystem_usec 200\n");
	t = cgroup_root_track("/a/b", OF_V2);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.valid, RT_HAS_CPU);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_MEMORY, -ENOENT, "Write +memory to");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_MEMORY_PEAK, -ENOENT, "Write +memory to");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_CPU, -ENOENT, "Write +cpu to");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_TASKS, -ENOENT, "Write +pids to");
	cgroup_root_check_missing(t, RT_HAS_PRESSURE_IO, -ENOENT, "CONFIG_PSI");
	/* A controller that is enabled later is found. */
	cgroup_root_write_v2();
	ck_assert_uint_eq(cgroup_root_sample(t).valid, OF_V2);
	rt_tracker_free(t);
}
END_TEST

START_TEST(older_kernel_lacks_peaks_and_has_a_bound_of_kernel_memory)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v2();
	cgroup_root_write_v2();
	fixture_remove(&cgroup_root, "cg/a/b/memory.peak");
	fixture_remove(&cgroup_root, "cg/a/b/pids.peak");
	cgroup_root_write("a/b/memory.stat",
	                  "anon 600000\nfile 300000\nkernel_stack 30000\nshmem 1\nslab 40000\n");
	t = cgroup_root_track("/a/b", OF_V2);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(OF_V2 & ~m.valid, RT_HAS_CGROUP_MEMORY_PEAK | RT_HAS_CGROUP_TASKS_PEAK |
	                                        RT_HAS_CGROUP_MEMORY_KERNEL |
	                                        RT_HAS_CGROUP_MEMORY_SLAB | RT_HAS_FAULTS);
	ck_assert_uint_eq(m.partial, RT_HAS_CGROUP_MEMORY_KERNEL);
	ck_assert_uint_eq(m.cgroup_memory_kernel_bytes, 70000);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_MEMORY_PEAK, -ENOENT, "Linux 5.19");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_TASKS_PEAK, -ENOENT, "Linux 6.1");
	rt_tracker_free(t);
}
END_TEST

/* The controller is enabled, and other files of it are there. */
START_TEST(kernel_without_swap_accounts_names_what_it_needs)
{
	struct rt_tracker *t;

	cgroup_root_v2();
	cgroup_root_write_v2();
	fixture_remove(&cgroup_root, "cg/a/b/memory.swap.current");
	t = cgroup_root_track("/a/b", OF_V2);
	ck_assert_uint_eq(cgroup_root_sample(t).valid, OF_V2 & ~RT_HAS_CGROUP_SWAP);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_SWAP, -ENOENT, "swapaccount=1");
	rt_tracker_free(t);
	cgroup_root_v1();
	cgroup_root_write_v1();
	cgroup_root_write("memory/a/b/memory.stat",
	                  "hierarchical_memory_limit 1\ntotal_cache 1\ntotal_rss 1\n"
	                  "total_shmem 1\ntotal_pgfault 1\ntotal_pgmajfault 1\n");
	t = cgroup_root_track("/a/b", OF_V2);
	ck_assert_uint_eq(cgroup_root_sample(t).valid & RT_HAS_CGROUP_SWAP, 0);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_SWAP, -ENOENT, "swapaccount=1");
	rt_tracker_free(t);
}
END_TEST

START_TEST(root_cgroup_lacks_most_accounts)
{
	struct rt_tracker *t;

	cgroup_root_v2();
	cgroup_root_write("cgroup.procs", "");
	cgroup_root_write("cpu.stat", "usage_usec 500\nuser_usec 300\nsystem_usec 200\n");
	t = cgroup_root_track("/", OF_V2);
	ck_assert_uint_eq(cgroup_root_sample(t).valid, RT_HAS_CPU);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_MEMORY, -ENOENT, "root cgroup");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_CPU, -ENOENT, "root cgroup");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_TASKS, -ENOENT, "rt_system_tracker_new()");
	rt_tracker_free(t);
}
END_TEST

/* How many files a domain keeps open, besides those of the members and the directories. */
static const struct {
	bool is_v1;
	uint64_t has;
	unsigned files;
} domains[] = {
	{ false, RT_HAS_CGROUP_IO, 1 },
	{ false, RT_HAS_CGROUP_MEMORY_PEAK, 1 },
	{ false, RT_HAS_CGROUP_MEMORY_KERNEL, 1 },
	{ false, RT_HAS_CGROUP_MEMORY_SLAB, 1 },
	{ false, RT_HAS_CGROUP_MEMORY_EVENTS, 1 },
	{ false, RT_HAS_CGROUP_OOM_KILLS, 1 },
	{ false, RT_HAS_CGROUP_SWAP, 2 },
	{ false, RT_HAS_CGROUP_TASKS_PEAK, 2 },
	{ false, RT_HAS_PRESSURE_CPU, 1 },
	{ false, RT_HAS_PRESSURE_MEMORY, 1 },
	{ false, RT_HAS_PRESSURE_IO, 1 },
	{ true, RT_HAS_CGROUP_MEMORY_PEAK, 1 },
	{ true, RT_HAS_CGROUP_MEMORY_KERNEL, 2 },
	{ true, RT_HAS_CGROUP_SWAP, 1 },
	{ true, RT_HAS_CGROUP_TASKS_PEAK, 2 },
};

START_TEST(domain_that_is_wanted_alone_reads_its_files_alone)
{
	bool is_v1 = domains[_i].is_v1;
	struct rt_tracker *t;
	unsigned others = is_v1 ? 8 : 6;

	if (is_v1) {
		cgroup_root_v1();
		cgroup_root_write_v1();
	} else {
		cgroup_root_v2();
		cgroup_root_write_v2();
	}
	t = cgroup_root_track("/a/b", domains[_i].has);
	ck_assert_uint_eq(cgroup_root_sample(t).valid, domains[_i].has);
	ck_assert_uint_eq(faults_open_files() - others, domains[_i].files);
	rt_tracker_free(t);
}
END_TEST

START_TEST(memory_stat_without_the_lines_of_a_figure_has_none)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v1();
	cgroup_root_write_v1();
	cgroup_root_write("memory/a/b/memory.stat", "total_cache 300000\ntotal_rss 600000\n");
	t = cgroup_root_track("/a/b", RT_HAS_CGROUP_MEMORY);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq((m.valid | m.partial) & RT_HAS_CGROUP_MEMORY, 0);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_MEMORY, -EBADMSG, "format");
	rt_tracker_free(t);

	cgroup_root_v2();
	cgroup_root_write_v2();
	cgroup_root_write("a/b/memory.stat", "anon 600000\nfile 300000\nshmem 50000\n");
	t = cgroup_root_track("/a/b", RT_HAS_CGROUP_MEMORY_KERNEL);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq((m.valid | m.partial) & RT_HAS_CGROUP_MEMORY_KERNEL, 0);
	rt_tracker_free(t);
}
END_TEST

START_TEST(swap_of_the_root_is_not_accounted_for)
{
	struct rt_tracker *t;

	cgroup_root_v2();
	cgroup_root_write("cgroup.procs", "");
	cgroup_root_write("memory.stat", "anon 600000\nfile 300000\nshmem 50000\n");
	t = cgroup_root_track("/", RT_HAS_CGROUP_SWAP);
	ck_assert_uint_eq(cgroup_root_sample(t).valid, 0);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_SWAP, -ENOENT, "root cgroup");
	rt_tracker_free(t);
}
END_TEST

/* A kernel never shows that. The limit would be a division by it. */
START_TEST(quota_of_no_period_is_no_limit)
{
	struct rt_tracker *t;

	cgroup_root_v2();
	cgroup_root_write_v2();
	cgroup_root_write("a/b/cpu.max", "150000 0\n");
	t = cgroup_root_track("/a/b", RT_HAS_CGROUP_CPU);
	ck_assert_uint_eq(cgroup_root_sample(t).valid, 0);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_CPU, -EBADMSG, "format");
	rt_tracker_free(t);

	cgroup_root_v1();
	cgroup_root_write_v1();
	cgroup_root_write("cpu/a/b/cpu.cfs_quota_us", "50000\n");
	cgroup_root_write("cpu/a/b/cpu.cfs_period_us", "0\n");
	t = cgroup_root_track("/a/b", RT_HAS_CGROUP_CPU);
	ck_assert_uint_eq(cgroup_root_sample(t).valid, 0);
	rt_tracker_free(t);
}
END_TEST

/* As with containers in containers. */
/* What the members have had is less: it lacks those that are gone. */
START_TEST(faults_do_not_fall_to_those_of_the_members)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v2();
	cgroup_root_write_v2();
	t = cgroup_root_track("/a/b", OF_V2);
	ck_assert_uint_eq(cgroup_root_sample(t).minor_faults, 891);
	faults_on_read("memory.stat", -EMFILE);
	m = cgroup_root_sample(t);
	faults_on_read("memory.stat", 0);
	ck_assert_uint_eq(m.minor_faults, 891);
	ck_assert_uint_eq(m.major_faults, 9);
	ck_assert(m.partial & RT_HAS_FAULTS);
	ck_assert(cgroup_root_sample(t).valid & RT_HAS_FAULTS);
	rt_tracker_free(t);
}
END_TEST

START_TEST(limit_of_a_cgroup_far_above_counts)
{
	char dir[128] = "", path[160];
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v2();
	for (int level = 0; level < 20; level++) {
		snprintf(dir + strlen(dir), sizeof(dir) - strlen(dir), "/c%d", level);
		snprintf(path, sizeof(path), "%s/pids.max", dir + 1);
		cgroup_root_write(path, level == 0 ? "50\n" : "max\n");
	}
	snprintf(path, sizeof(path), "%s/pids.current", dir + 1);
	cgroup_root_write(path, "7\n");
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir + 1);
	cgroup_root_write(path, "");
	t = cgroup_root_track(dir, RT_HAS_CGROUP_TASKS);
	for (int i = 0; i < 2; i++) {
		m = cgroup_root_sample(t);
		ck_assert_uint_eq(m.valid, RT_HAS_CGROUP_TASKS);
		ck_assert_uint_eq(m.cgroup_tasks_limit, 50);
	}
	rt_tracker_free(t);
	ck_assert_uint_eq(faults_open_files(), 0);
}
END_TEST

START_TEST(refused_file_takes_out_its_domain_alone)
{
	struct rt_tracker *t;

	cgroup_root_v2();
	cgroup_root_write_v2();
	t = cgroup_root_track("/a/b", OF_V2);
	faults_on_open("memory.events", -EACCES);
	ck_assert_uint_eq(OF_V2 & ~cgroup_root_sample(t).valid,
	                  RT_HAS_CGROUP_MEMORY_EVENTS | RT_HAS_CGROUP_OOM_KILLS);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_OOM_KILLS, -EACCES, "may not read");
	faults_on_open("memory.events", 0);
	ck_assert_uint_eq(cgroup_root_sample(t).valid, OF_V2);
	rt_tracker_free(t);
}
END_TEST

START_TEST(malformed_files_are_no_figures)
{
	static const char *const files[] = { "cpu.stat",     "cpu.max",         "memory.current",
		                             "memory.stat",  "memory.max",      "memory.high",
		                             "memory.peak",  "memory.events",   "io.stat",
		                             "pids.current", "memory.pressure", "pids.max" };
	struct rt_tracker *t;
	struct rt_metrics m;
	char path[64];

	cgroup_root_v2();
	cgroup_root_write_v2();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "a/b/%s", files[i]);
		cgroup_root_write(path, "\xff\x01 rbytes=x -7\nusage_usec\nanon \n");
	}
	t = cgroup_root_track("/a/b", OF_V2);
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.valid, RT_HAS_PRESSURE_CPU | RT_HAS_PRESSURE_IO);
	ck_assert_uint_eq(m.partial, 0);
	ck_assert_uint_eq(m.estimated, RT_HAS_FAULTS); /* of the members, of which there are none */
	cgroup_root_check_missing(t, RT_HAS_CPU, -EBADMSG, "format");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_MEMORY, -EBADMSG, "format");
	cgroup_root_check_missing(t, RT_HAS_CGROUP_IO, -EBADMSG, "io.stat of the cgroup");
	rt_tracker_free(t);
}
END_TEST

/* A device that goes takes its line along. */
START_TEST(io_never_falls)
{
	struct rt_tracker *t;
	struct rt_metrics before, after;
	struct rt_delta delta;

	cgroup_root_v2();
	cgroup_root_write_v2();
	t = cgroup_root_track("/a/b", OF_V2);
	before = cgroup_root_sample(t);
	cgroup_root_write("a/b/io.stat", "8:16 rbytes=512 wbytes=0 rios=1 wios=0\n");
	after = cgroup_root_sample(t);
	ck_assert_uint_eq(after.cgroup_read_bytes, 1536);
	ck_assert_uint_eq(after.partial, RT_HAS_CGROUP_IO);
	cgroup_root_check_missing(t, RT_HAS_CGROUP_IO, -ENODATA, "device");
	ck_assert_int_eq(rt_diff(&before, &after, &delta, sizeof(delta)), 0);
	ck_assert_uint_eq(delta.cgroup_read_bytes, 0);
	ck_assert_uint_eq(delta.partial, RT_HAS_CGROUP_IO);
	rt_tracker_free(t);
}
END_TEST

START_TEST(io_of_a_device_that_goes_is_missed_although_others_work)
{
	struct rt_tracker *t;
	struct rt_metrics m;

	cgroup_root_v2();
	cgroup_root_write_v2();
	t = cgroup_root_track("/a/b", OF_V2);
	cgroup_root_sample(t);
	cgroup_root_write("a/b/io.stat", "8:16 rbytes=9000 wbytes=9000 rios=1 wios=1\n");
	m = cgroup_root_sample(t);
	ck_assert_uint_eq(m.cgroup_read_bytes, 9000);
	ck_assert_uint_eq(m.partial, RT_HAS_CGROUP_IO);
	rt_tracker_free(t);
}
END_TEST

START_TEST(v1_without_a_device_does_not_know_of_io)
{
	struct rt_tracker *t;

	cgroup_root_v1();
	cgroup_root_write_v1();
	cgroup_root_write("blkio/a/b/blkio.throttle.io_service_bytes_recursive", "Total 0\n");
	t = cgroup_root_track("/a/b", OF_V2);
	ck_assert_uint_eq(
	    (cgroup_root_sample(t).valid | cgroup_root_sample(t).partial) & RT_HAS_CGROUP_IO, 0);
	rt_tracker_free(t);
}
END_TEST

START_TEST(differences_have_the_counters)
{
	struct rt_tracker *t;
	struct rt_metrics before, after;
	struct rt_delta delta;

	cgroup_root_v2();
	cgroup_root_write_v2();
	t = cgroup_root_track("/a/b", OF_V2);
	before = cgroup_root_sample(t);
	cgroup_root_write("a/b/cpu.stat",
	                  "usage_usec 7000000\nuser_usec 4000000\nsystem_usec 3000000\n"
	                  "nr_periods 80\nnr_throttled 35\nthrottled_usec 4500\n");
	cgroup_root_write("a/b/memory.events", "low 0\nhigh 4\nmax 5\noom 3\noom_kill 4\n");
	cgroup_root_write("a/b/io.stat", "8:0 rbytes=10240 wbytes=4096 rios=1 wios=2\n");
	after = cgroup_root_sample(t);
	ck_assert_int_eq(rt_diff(&before, &after, &delta, sizeof(delta)), 0);
	ck_assert_uint_eq(delta.kind, RT_KIND_CGROUP);
	ck_assert_uint_eq(delta.cpu_user_ns, 1000000000);
	ck_assert_uint_eq(delta.cpu_system_ns, 1000000000);
	ck_assert_uint_eq(delta.cgroup_cpu_periods, 10);
	ck_assert_uint_eq(delta.cgroup_cpu_throttled_periods, 5);
	ck_assert_uint_eq(delta.cgroup_cpu_throttled_ns, 500000);
	ck_assert_uint_eq(delta.cgroup_memory_max_events, 2);
	ck_assert_uint_eq(delta.cgroup_memory_oom_events, 1);
	ck_assert_uint_eq(delta.cgroup_oom_kills, 3);
	ck_assert_uint_eq(delta.cgroup_read_bytes, 10240 - 1536);
	ck_assert_int_eq(delta.rusage.ru_inblock, 17);
	ck_assert_int_eq(delta.rusage.ru_oublock, 4);
	rt_tracker_free(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cgroup_accounts");
	TCase *accounts = suite_case(suite, "accounts");

	tcase_add_checked_fixture(accounts, cgroup_root_set_up, cgroup_root_tear_down);
	tcase_add_test(accounts, v2_has_every_account);
	tcase_add_test(accounts, sample_has_the_time_of_the_read_of_the_account);
	tcase_add_test(accounts, cpu_account_that_is_set_back_goes_on_as_a_lower_bound);
	tcase_add_loop_test(accounts, cpu_account_that_falls_by_a_little_is_not_set_back, 0, 2);
	tcase_add_test(accounts, v1_has_what_means_the_same);
	tcase_add_test(accounts, hybrid_without_directories_in_v1_names_the_controllers);
	tcase_add_test(accounts, hybrid_with_directories_has_the_figures_of_both);
	tcase_add_test(accounts, controller_that_is_not_enabled_is_named);
	tcase_add_test(accounts, older_kernel_lacks_peaks_and_has_a_bound_of_kernel_memory);
	tcase_add_test(accounts, kernel_without_swap_accounts_names_what_it_needs);
	tcase_add_test(accounts, root_cgroup_lacks_most_accounts);
	tcase_add_loop_test(accounts, domain_that_is_wanted_alone_reads_its_files_alone, 0,
	                    sizeof(domains) / sizeof(domains[0]));
	tcase_add_test(accounts, memory_stat_without_the_lines_of_a_figure_has_none);
	tcase_add_test(accounts, swap_of_the_root_is_not_accounted_for);
	tcase_add_test(accounts, quota_of_no_period_is_no_limit);
	tcase_add_test(accounts, faults_do_not_fall_to_those_of_the_members);
	tcase_add_test(accounts, limit_of_a_cgroup_far_above_counts);
	tcase_add_test(accounts, refused_file_takes_out_its_domain_alone);
	tcase_add_test(accounts, malformed_files_are_no_figures);
	tcase_add_test(accounts, io_never_falls);
	tcase_add_test(accounts, io_of_a_device_that_goes_is_missed_although_others_work);
	tcase_add_test(accounts, v1_without_a_device_does_not_know_of_io);
	tcase_add_test(accounts, differences_have_the_counters);
	return suite_run(suite);
}
