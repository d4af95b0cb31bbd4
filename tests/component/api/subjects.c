/* SPDX-License-Identifier: MIT */
#include "subjects.h"

#include <string.h>

#include "cgroup/cgroup_root.h"
#include "fake_process.h"
#include "suite.h"
#include "system_files.h"

#define ROOT_PID 100
#define ROWS 16

static const char *const names[SUBJECTS] = {
	"tree", "system", "cgroup", "cgroup of v1", "system and own cgroup", "tree with GPUs"
};

static const struct fake_process root_process = {
	.pid = ROOT_PID,
	.ppid = 1,
	.comm = "sh",
	.utime = 5,
	.stime = 3,
	.cutime = 2,
	.minflt = 50,
	.cminflt = 4,
	.starttime = 1000,
	.rss_pages = 10,
	.pss_kib = 7,
	.hwm_kib = 44,
	.read_bytes = 4096,
	.write_bytes = 512,
	.voluntary = 9,
	.involuntary = 2,
	.children = "101 ",
};
static const struct fake_process child = {
	.pid = 101,
	.ppid = ROOT_PID,
	.comm = "a) R 1",
	.utime = 20,
	.stime = 10,
	.minflt = 70,
	.majflt = 3,
	.starttime = 1010,
	.rss_pages = 20,
	.pss_kib = 30,
	.hwm_kib = 100,
	.read_bytes = 1024,
	.write_bytes = 2048,
	.voluntary = 1,
	.involuntary = 1,
	.children = "102 ",
};
static const struct fake_process grandchild = {
	.pid = 102,
	.ppid = 101,
	.utime = 1,
	.stime = 1,
	.minflt = 5,
	.starttime = 1020,
	.rss_pages = 3,
	.pss_kib = 2,
	.hwm_kib = 12,
	.voluntary = 7,
	.children = "",
};

/* One member has two clients of a driver. */
static void write_gpu_clients(void)
{
	static const char *const clients[][2] = {
		{ "proc/101/fd/5", "proc/101/fdinfo/5" },
		{ "proc/101/fd/6", "proc/101/fdinfo/6" },
	};

	fixture_mkdir(&cgroup_root, "dev/dri");
	fixture_mkdir(&cgroup_root, "proc/100/fd");
	fixture_mkdir(&cgroup_root, "proc/102/fd");
	for (int i = 0; i < 2; i++) {
		fixture_link(&cgroup_root, clients[i][0], "/dev/dri/renderD128");
		fixture_printf(&cgroup_root, clients[i][1],
		               "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t%d\n"
		               "drm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t64 KiB\n"
		               "drm-engine-gfx:\t500 ns\n",
		               i + 1);
	}
	fixture_write(&cgroup_root, "sys/class/drm/card0/device/uevent",
	              "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n");
	fixture_mkdir(&cgroup_root, "sys/class/drm/card0/device/drm/renderD128");
	fixture_write(&cgroup_root, "sys/class/drm/card0/device/gpu_busy_percent", "40\n");
	fixture_write(&cgroup_root, "sys/class/drm/card0/device/mem_info_vram_used", "300\n");
	fixture_write(&cgroup_root, "sys/class/drm/card0/device/mem_info_vram_total", "900\n");
}

void subjects_set_up(void)
{
	cgroup_root_set_up();
	system_files_write(&cgroup_root);
	fake_process_write(&cgroup_root, &root_process);
	fake_process_write(&cgroup_root, &child);
	fake_process_write(&cgroup_root, &grandchild);
	cgroup_root_write_v2();
	cgroup_root_write("a/b/cgroup.procs", "100\n101\n");
	cgroup_root_write("a/b/cgroup.stat", "nr_descendants 1\n");
	cgroup_root_write("a/b/c/cgroup.procs", "102\n");
	cgroup_root_write_v1();
	fixture_write(&cgroup_root, "proc/self/cgroup", "0::/a/b\n");
	write_gpu_clients();
}

void subject_mount(int subject)
{
	if (subject == 3)
		cgroup_root_v1();
	else
		fixture_write(&cgroup_root, "proc/1/mountinfo",
		              "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
		              "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw,nsdelegate\n");
}

void subjects_tear_down(void)
{
	cgroup_root_tear_down();
}

const char *subject_name(int subject)
{
	return names[subject];
}

/* File systems are asked on threads, with a limit of time: they have tests of their own. */
static int open_tracker(int subject, const struct rti_procfs_ops *ops, struct rt_tracker **out)
{
	const struct rt_opts opts = {
		.size = sizeof(opts),
		.flags = subject == 4 ? RT_OPT_OWN_LIMITS : 0,
		.root = cgroup_root.root,
		.want = subject == 1   ? rt_default_domains(RT_KIND_SYSTEM) & ~RT_HAS_FILESYSTEM
		        : subject == 4 ? rt_domains(RT_KIND_SYSTEM) &
		                             (rt_domains(RT_KIND_CGROUP) | RT_HAS_CGROUP_CPU_TIME)
		        : subject == 5 ? RT_HAS_CPU | RT_HAS_RSS | RT_HAS_GPU | RT_HAS_GPU_MEMORY
		                       : 0,
		.pss_share = 1000,
	};

	if (subject == 2 || subject == 3)
		return rti_cgroup_tracker_new(out, "/a/b", &opts, ops);
	return rti_tracker_new(out, subject == 1 || subject == 4 ? 0 : ROOT_PID, &opts, ops);
}

/* Nothing of this is compared: it must not crash, nor keep what it has opened. */
static void ask_for_the_rest(struct rt_tracker *tracker, const struct rt_metrics *m)
{
	static struct rt_process processes[ROWS];
	static struct rt_disk disks[ROWS];
	static struct rt_gpu gpus[ROWS];
	struct rt_obstacle obstacle;
	size_t count = ROWS;

	rt_tracker_processes(tracker, processes, sizeof(processes[0]), &count);
	count = ROWS;
	rt_tracker_disks(tracker, disks, sizeof(disks[0]), &count);
	count = ROWS;
	rt_tracker_gpus(tracker, gpus, sizeof(gpus[0]), &count);
	for (int bit = 0; bit < 64; bit++)
		if (!(m->valid >> bit & 1))
			rt_tracker_obstacle(tracker, UINT64_C(1) << bit, &obstacle,
			                    sizeof(obstacle));
	rt_tracker_glance(tracker);
}

void subject_run(int subject, const struct rti_procfs_ops *ops, struct subject_run *out)
{
	struct rt_tracker *tracker = NULL;

	memset(out, 0, sizeof(*out));
	out->open_error = open_tracker(subject, ops, &tracker);
	if (out->open_error < 0)
		return;
	for (int i = 0; i < SUBJECT_SAMPLES; i++) {
		out->errors[i] = rt_sample(tracker, &out->samples[i], sizeof(out->samples[i]));
		out->samples[i].pss_age_ns = 0; /* a real time */
		ask_for_the_rest(tracker, &out->samples[i]);
	}
	rt_tracker_free(tracker);
}

static uint64_t number_at(const struct rt_metrics *m, const struct rt_field *field)
{
	uint64_t number;

	memcpy(&number, (const char *)m + field->offset, sizeof(number));
	return number;
}

/* Whether a figure that is marked as a lower bound is one. Others of its domain are upper bounds,
 * count what is missing, or are of the time since the last sample, which may have lacked more. */
static bool is_lower_bound(const struct rt_metrics *m, const struct rt_field *field)
{
	return (m->partial & field->has) == field->has && field->type == RT_TYPE_U64 &&
	       field->length == sizeof(uint64_t) && !strstr(field->name, "_high_") &&
	       !strstr(field->name, "_skipped") && strcmp(field->name, "gpus_used") != 0;
}

static void check_field(const struct rt_metrics *truth, const struct rt_metrics *m,
                        const struct rt_field *field, const char *what)
{
	if (memcmp((const char *)truth + field->offset, (const char *)m + field->offset,
	           field->length) == 0)
		return;
	ck_assert_msg((m->valid & field->has) != field->has, "%s: then %s differs and is valid",
	              what, field->name);
	if (is_lower_bound(m, field))
		ck_assert_msg(number_at(m, field) <= number_at(truth, field),
		              "%s: %s is above its true value and a lower bound", what,
		              field->name);
}

static void check_masks(const struct rt_metrics *m, const char *what)
{
	ck_assert_msg(!(m->valid & m->partial) && !(m->valid & m->estimated) &&
	                  !(m->partial & m->estimated),
	              "%s: a figure is in two masks", what);
}

void subject_check(const struct subject_run *truth, const struct subject_run *run, const char *what)
{
	struct rt_field field;

	if (run->open_error)
		return;
	for (int i = 0; i < SUBJECT_SAMPLES; i++) {
		if (run->errors[i] == 0)
			check_masks(&run->samples[i], what);
		for (uint32_t f = 0; run->errors[i] == 0 && f < rt_field_count(RT_STRUCT_METRICS);
		     f++) {
			ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, f, &field, sizeof(field)),
			                 0);
			if (field.has)
				check_field(&truth->samples[i], &run->samples[i], &field, what);
		}
	}
}

static void check_growth(const struct rt_metrics *from, const struct rt_metrics *to,
                         const struct rt_field *field, const char *what)
{
	const uint64_t first = from->valid | from->partial, last = to->valid | to->partial;

	if (field->role != RT_FIELD_COUNTER || field->length != sizeof(uint64_t) ||
	    (first & last & field->has) != field->has)
		return;
	ck_assert_msg(number_at(to, field) >= number_at(from, field), "%s: %s falls", what,
	              field->name);
}

void subject_check_sanity(const struct subject_run *run, const char *what)
{
	struct rt_field field;

	if (run->open_error)
		return;
	for (int i = 0; i < SUBJECT_SAMPLES; i++)
		if (run->errors[i] == 0)
			check_masks(&run->samples[i], what);
	for (uint32_t f = 0;
	     run->errors[0] == 0 && run->errors[1] == 0 && f < rt_field_count(RT_STRUCT_METRICS);
	     f++) {
		ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, f, &field, sizeof(field)), 0);
		if (field.has)
			check_growth(&run->samples[0], &run->samples[1], &field, what);
	}
}
