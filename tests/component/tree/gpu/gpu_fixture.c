/* SPDX-License-Identifier: MIT */
#include "gpu_fixture.h"

#include <inttypes.h>
#include <stdio.h>

#include "tree/gpu/gpu.h"
#include "tree/tree_inside.h"

struct gpu_fixture fix;

static uint64_t fake_now_ns;

/* The thread of NVML asks, too. */
static uint64_t fake_monotonic_ns(void)
{
	return __atomic_load_n(&fake_now_ns, __ATOMIC_SEQ_CST);
}

static void fake_now(struct rti_now *now)
{
	now->monotonic_ns = now->boottime_ns = now->realtime_ns = fake_monotonic_ns();
}

static void set_up(void)
{
	fixture_new(&fix.root);
	fix.tracker = NULL;
	fake_now_ns = 1000 * SECOND_NS;
}

static void tear_down(void)
{
	rt_tracker_free(fix.tracker);
	fixture_free(&fix.root);
	ck_assert_uint_eq(faults_open_files(), 0);
}

TCase *add_gpu_case(Suite *suite, const char *name)
{
	TCase *tcase = suite_case(suite, name);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	return tcase;
}

void install_driver(void)
{
	fixture_mkdir(&fix.root, "dev/dri");
}

static struct fake_process process(int pid, int ppid, const char *children)
{
	return (struct fake_process){ .pid = pid,
		                      .ppid = ppid,
		                      .comm = "draw",
		                      .starttime = 1000 + (uint64_t)pid,
		                      .minflt = 10,
		                      .utime = 1,
		                      .rss_pages = 10,
		                      .children = children };
}

void write_process(int pid, int ppid, const char *children)
{
	struct fake_process p = process(pid, ppid, children);
	char path[40];

	fake_process_write(&fix.root, &p);
	snprintf(path, sizeof(path), "proc/%d/fd", pid);
	fixture_mkdir(&fix.root, path);
}

void grow_process(int pid, int ppid, uint64_t more_pages)
{
	struct fake_process p = process(pid, ppid, "");

	p.size_pages = 1000 + more_pages;
	fake_process_write(&fix.root, &p);
}

void write_zombie(int pid, int ppid)
{
	struct fake_process p = process(pid, ppid, "");
	char path[40];

	p.is_zombie = true;
	fake_process_write(&fix.root, &p);
	snprintf(path, sizeof(path), "proc/%d/fd", pid);
	fixture_remove(&fix.root, path);
}

void write_without_leader(int pid, int ppid, int tid)
{
	char path[60];

	write_zombie(pid, ppid);
	snprintf(path, sizeof(path), "proc/%d/fdinfo", pid);
	fixture_remove(&fix.root, path);
	snprintf(path, sizeof(path), "proc/%d/stat", pid);
	fixture_printf(&fix.root, path,
	               "%d (draw) Z %d 1 1 0 -1 0 10 0 0 0 1 0 0 0 20 0 2 0 %d 0 0\n", pid, ppid,
	               1000 + pid);
	snprintf(path, sizeof(path), "proc/%d/task/%d/stat", pid, tid);
	fixture_printf(&fix.root, path,
	               "%d (draw) S %d 1 1 0 -1 0 10 0 0 0 1 0 0 0 20 0 2 0 %d 0 0\n", tid, ppid,
	               1000 + pid);
	snprintf(path, sizeof(path), "proc/%d/task/%d/statm", pid, tid);
	fixture_write(&fix.root, path, "1000 10 0 1 0 100 0\n");
}

void open_fd(int pid, int fd, const char *target, const char *text)
{
	char path[60];

	snprintf(path, sizeof(path), "proc/%d/fd/%d", pid, fd);
	fixture_link(&fix.root, path, target);
	snprintf(path, sizeof(path), "proc/%d/fdinfo/%d", pid, fd);
	fixture_write(&fix.root, path, text ? text : "pos:\t0\nflags:\t02\n");
}

void close_fd(int pid, int fd)
{
	char path[60];

	snprintf(path, sizeof(path), "proc/%d/fd/%d", pid, fd);
	fixture_remove(&fix.root, path);
	snprintf(path, sizeof(path), "proc/%d/fdinfo/%d", pid, fd);
	fixture_remove(&fix.root, path);
}

void open_amdgpu(int pid, int fd, int client, uint64_t gfx_ns, uint64_t vram_kib)
{
	char text[400];

	snprintf(text, sizeof(text),
	         "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t%d\ndrm-pdev:\t0000:03:00.0\n"
	         "drm-memory-vram:\t%" PRIu64 " KiB\ndrm-memory-gtt:\t2048 KiB\n"
	         "drm-shared-vram:\t0\ndrm-engine-gfx:\t%" PRIu64 " ns\n",
	         client, vram_kib, gfx_ns);
	open_fd(pid, fd, "/dev/dri/renderD128", text);
}

int try_to_track(int pid, uint32_t flags)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = flags,
		                      .root = fix.root.root,
		                      .max_fds = 1,
		                      .want = RT_HAS_CPU | RT_HAS_RSS | GPU_DOMAINS };

	int err = rti_tracker_new(&fix.tracker, pid, &opts, &faults_ops);

	if (err < 0)
		return err;
	get_platform(fix.tracker)->now = fake_now;
	get_platform(fix.tracker)->monotonic_ns = fake_monotonic_ns;
	begin_final_sample(fix.tracker);
	return 0;
}

void track(int pid, uint32_t flags)
{
	ck_assert_int_eq(try_to_track(pid, flags), 0);
}

static int frozen_clock(int32_t pid, struct rti_cpu_clock *out)
{
	(void)pid;
	*out = (struct rti_cpu_clock){ .total_ns = 5 };
	return 0;
}

void freeze_clocks(void)
{
	get_platform(fix.tracker)->cpu_clock = frozen_clock;
}

struct rt_metrics take_sample(void)
{
	return take_sample_after(SECOND_NS);
}

struct rt_metrics take_sample_after(uint64_t ns)
{
	struct rt_metrics m;

	__atomic_fetch_add(&fake_now_ns, ns, __ATOMIC_SEQ_CST);
	ck_assert_int_eq(rt_sample(fix.tracker, &m, sizeof(m)), 0);
	return m;
}

void use_nvml(const struct rti_nvml_setup *setup)
{
	fix.tracker->procfs.is_foreign = false;
	rti_tree_gpu_set_up(fix.tracker->tree, setup);
}

/* NVML is not asked below another root. */
void track_with_nvml(int pid, const struct rti_nvml_setup *setup)
{
	fixture_link(&fix.root, "proc/self/ns/pid", "pid:[4026531836]");
	track(pid, 0);
	use_nvml(setup);
}

void expect_masks(const struct rt_metrics *m, uint64_t valid, uint64_t partial, uint64_t estimated)
{
	ck_assert_uint_eq(m->valid & GPU_DOMAINS, valid);
	ck_assert_uint_eq(m->partial & GPU_DOMAINS, partial);
	ck_assert_uint_eq(m->estimated & GPU_DOMAINS, estimated);
}

struct rti_gpu_peak get_peak(void)
{
	return rti_tree_gpu_peak(fix.tracker->tree);
}

const struct rt_gpu *list_gpus(size_t expected)
{
	static struct rt_gpu rows[8];
	size_t count = 8;

	ck_assert_int_eq(rt_tracker_gpus(fix.tracker, rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_eq(count, expected);
	return rows;
}

const struct rt_gpu_process *list_users(size_t expected)
{
	static struct rt_gpu_process rows[8];
	size_t count = 8;

	ck_assert_int_eq(rt_tracker_gpu_processes(fix.tracker, rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_eq(count, expected);
	return rows;
}
