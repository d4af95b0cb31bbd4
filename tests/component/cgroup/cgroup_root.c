/* SPDX-License-Identifier: MIT */
/* A root with cgroup mounts, for trackers of a cgroup. */
#include "cgroup/cgroup_root.h"

#include <stdio.h>
#include <string.h>

#include "api/tracker.h"
#include "faults.h"
#include "suite.h"

struct fixture cgroup_root;

void cgroup_root_set_up(void)
{
	fixture_new(&cgroup_root);
	fixture_write(&cgroup_root, "proc/loadavg", "0.00 0.00 0.00 1/2 300\n");
}

void cgroup_root_tear_down(void)
{
	fixture_free(&cgroup_root);
}

void cgroup_root_write(const char *path, const char *text)
{
	char below[512];

	snprintf(below, sizeof(below), "cg/%s", path);
	fixture_write(&cgroup_root, below, text);
}

static void mount_all(const char *text)
{
	fixture_write(&cgroup_root, "proc/1/mountinfo", text);
}

void cgroup_root_v2(void)
{
	mount_all("22 1 0:21 / /proc rw - proc proc rw\n"
	          "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw,nsdelegate\n");
}

#define V1_MOUNTS                                                                                  \
	"22 1 0:21 / /proc rw - proc proc rw\n"                                                    \
	"31 1 0:31 / /cg/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"                       \
	"32 1 0:32 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"                                  \
	"33 1 0:33 / /cg/memory rw - cgroup cgroup rw,memory\n"                                    \
	"34 1 0:34 / /cg/pids rw - cgroup cgroup rw,pids\n"                                        \
	"35 1 0:35 / /cg/blkio rw - cgroup cgroup rw,blkio\n"

void cgroup_root_v1(void)
{
	mount_all(V1_MOUNTS);
}

void cgroup_root_hybrid(void)
{
	mount_all(V1_MOUNTS "36 1 0:36 / /cg/unified rw - cgroup2 cgroup2 rw\n");
}

void cgroup_root_write_v2(void)
{
	static const char *const files[][2] = {
		{ "cgroup.procs", "" },
		{ "cgroup.stat", "nr_descendants 0\nnr_dying_descendants 1\n" },
		{ "cpu.stat", "usage_usec 5000000\nuser_usec 3000000\nsystem_usec 2000000\n"
		              "nr_periods 70\nnr_throttled 30\nthrottled_usec 4000\n" },
		{ "cpu.max", "150000 100000\n" },
		{ "memory.current", "1000000\n" },
		{ "memory.peak", "2000000\n" },
		{ "memory.max", "max\n" },
		{ "memory.high", "5000000\n" },
		{ "memory.stat",
		  "anon 600000\nfile 300000\nkernel 100000\nshmem 50000\n"
		  "slab_reclaimable 70000\nslab 80000\npgfault 900\npgmajfault 9\n" },
		{ "memory.events", "low 0\nhigh 4\nmax 3\noom 2\noom_kill 1\n" },
		{ "memory.swap.current", "4096\n" },
		{ "io.stat", "8:0 rbytes=1024 wbytes=2048 rios=1 wios=2\n"
		             "8:16 rbytes=512 wbytes=0 rios=1 wios=0\n" },
		{ "pids.current", "7\n" },
		{ "pids.max", "max\n" },
		{ "pids.peak", "9\n" },
		{ "cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=11\n" },
		{ "memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"
		                     "full avg10=0.00 avg60=0.00 avg300=0.00 total=10\n" },
		{ "io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=13\n"
		                 "full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n" },
	};
	char path[128];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "a/b/%s", files[i][0]);
		cgroup_root_write(path, files[i][1]);
	}
	cgroup_root_write("a/memory.max", "8000000\n");
	cgroup_root_write("a/memory.high", "max\n");
	cgroup_root_write("a/cpu.max", "50000 50000\n");
	cgroup_root_write("a/pids.max", "100\n");
}

void cgroup_root_write_v1(void)
{
	static const char *const files[][2] = {
		{ "systemd/a/b/cgroup.procs", "" },
		{ "cpu/a/b/cgroup.procs", "" },
		{ "memory/a/b/cgroup.procs", "" },
		{ "pids/a/b/cgroup.procs", "" },
		{ "blkio/a/b/cgroup.procs", "" },
		{ "cpu/a/b/cpuacct.usage", "5000000000\n" },
		{ "cpu/a/b/cpuacct.stat", "user 300\nsystem 200\n" },
		{ "cpu/a/b/cpu.stat", "nr_periods 70\nnr_throttled 30\nthrottled_time 4000\n" },
		{ "cpu/a/b/cpu.cfs_quota_us", "-1\n" },
		{ "cpu/a/b/cpu.cfs_period_us", "100000\n" },
		{ "cpu/a/cpu.cfs_quota_us", "25000\n" },
		{ "cpu/a/cpu.cfs_period_us", "50000\n" },
		{ "cpu/cpu.cfs_quota_us", "-1\n" },
		{ "memory/a/b/memory.usage_in_bytes", "1000000\n" },
		{ "memory/a/b/memory.max_usage_in_bytes", "2000000\n" },
		{ "memory/a/b/memory.kmem.usage_in_bytes", "100000\n" },
		{ "memory/a/b/memory.stat",
		  "cache 1\nrss 2\nhierarchical_memory_limit 8000000\ntotal_cache 300000\n"
		  "total_rss 600000\ntotal_shmem 50000\ntotal_swap 4096\ntotal_pgfault 900\n"
		  "total_pgmajfault 9\n" },
		{ "memory/a/b/memory.oom_control",
		  "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n" },
		{ "pids/a/b/pids.current", "7\n" },
		{ "pids/a/b/pids.max", "max\n" },
		{ "pids/a/pids.max", "100\n" },
		{ "pids/a/b/pids.peak", "9\n" },
		{ "blkio/a/b/blkio.throttle.io_service_bytes_recursive",
		  "8:0 Read 1536\n8:0 Write 2048\n8:0 Total 3584\nTotal 3584\n" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		cgroup_root_write(files[i][0], files[i][1]);
}

struct rt_tracker *cgroup_root_track(const char *name, uint64_t want)
{
	char message[256] = "";
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .root = cgroup_root.root,
		                      .want = want,
		                      .message = message,
		                      .message_size = sizeof(message) };
	struct rt_tracker *t;
	int err = rti_cgroup_tracker_new(&t, name, &opts, &faults_ops);

	ck_assert_msg(err == 0, "%d: %s", err, message);
	return t;
}

struct rt_metrics cgroup_root_sample(struct rt_tracker *t)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(t, &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.kind, RT_KIND_CGROUP);
	ck_assert_uint_eq(
	    (m.valid & m.partial) | (m.valid & m.estimated) | (m.partial & m.estimated), 0);
	return m;
}

void cgroup_root_check_missing(const struct rt_tracker *t, uint64_t has, int error,
                               const char *words)
{
	struct rt_obstacle why;

	ck_assert_int_eq(rt_tracker_obstacle(t, has, &why, sizeof(why)), 0);
	ck_assert_msg(why.error == error && why.kind != 0, "%d, kind %u: %s", why.error, why.kind,
	              why.text);
	ck_assert_int_eq(rt_tracker_status(t, has), error);
	ck_assert_msg(strstr(why.text, words), "%s: no \"%s\"", why.text, words);
}
