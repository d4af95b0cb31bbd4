/* SPDX-License-Identifier: MIT */
/* Each allocation for the GPUs of the system fails, once or from then on: the figures are right or
 * missing, and nothing stays allocated. */
#include <stdbool.h>
#include <stdio.h>

#include "allocation_faults.h"
#include "collect/sys_gpu.h"
#include "gpu/nvml_fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_gpu;

#define SECOND_NS UINT64_C(1000000000)
#define ALLOCATIONS_MAX 300
#define SAMPLES 3

static struct nvml_fixture f;
static struct rti_nvml_setup setup;
static struct sampler s;

/* What one run has given. */
struct run {
	struct rt_metrics samples[SAMPLES];
	size_t processes[SAMPLES];
	int process_errors[SAMPLES];
	int blocks; /* allocated less freed, after the collector was opened */
};

static void write_card(int number, int bus)
{
	static const char *const files[][2] = { { "gpu_busy_percent", "40\n" },
		                                { "mem_info_vram_used", "300\n" },
		                                { "mem_info_vram_total", "900\n" } };
	char path[80];

	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/uevent", number);
	fixture_printf(&f.files, path, "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:%02x:00.0\n", bus);
	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/drm/renderD128", number);
	fixture_mkdir(&f.files, path);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "sys/class/drm/card%d/device/%s", number, files[i][0]);
		fixture_write(&f.files, path, files[i][1]);
	}
}

static void set_up(void)
{
	nvml_fixture_new(&f);
	write_card(0, 3);
	write_card(1, 4);
	fixture_link(&f.files, "proc/self/ns/pid", "pid:[4026531836]");
	fixture_write(&f.files, "proc/101/stat",
	              "101 (user) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n");
	nvml_fixture_script(&f, "gpu 3b 50 1000 9000 7 H200\ngpu 5e 20 2000 9000 7 H200\n"
	                        "instance 0 300 4000\nprocess 1 c 101 50\n"
	                        "sample 1 101 1000 40 10 0\n");
	setup = (struct rti_nvml_setup){ nvml_fixture_library(3), 90 * SECOND_NS, 90 * SECOND_NS };
}

static void tear_down(void)
{
	nvml_fixture_free(&f);
}

/* Returns whether the allocation was reached. */
static bool run_with_fault(unsigned at, bool is_lasting, struct run *out)
{
	bool is_reached;

	ck_assert_int_eq(sampler_open_with(&s, &rti_sys_gpu, f.files.root, NULL, 0), 0);
	s.procfs.is_foreign = false;
	rti_sys_gpu_set_up(s.state, &setup);
	allocation_faults_begin(at, is_lasting);
	for (int i = 0; i < SAMPLES; i++) {
		const void *users;
		size_t count;

		sampler_take(&s);
		out->samples[i] = s.out;
		sampler_rows(&s, &count);
		out->process_errors[i] = rti_sys_gpu.processes(s.state, &users, &out->processes[i]);
	}
	sampler_close(&s);
	is_reached = allocation_faults_end();
	out->blocks = allocation_faults_blocks();
	return is_reached;
}

/* What is not in the sums is missing or marked. */
static void check_sample(const struct rt_metrics *truth, const struct rt_metrics *m, unsigned at)
{
	ck_assert(!(m->valid & m->partial) && !((m->valid | m->partial) & m->estimated));
	ck_assert_msg(!(m->valid & RT_HAS_GPU_MEMORY) ||
	                  m->gpu_memory_bytes == truth->gpu_memory_bytes,
	              "allocation %u fails: %llu bytes are valid", at,
	              (unsigned long long)m->gpu_memory_bytes);
	ck_assert_uint_le(m->gpu_memory_bytes, truth->gpu_memory_bytes);
	ck_assert_uint_le(m->gpus, truth->gpus);
}

START_TEST(want_of_memory_in_any_allocation_for_gpus_of_the_system_is_marked)
{
	static struct run truth, run;
	unsigned at = 1;

	run_with_fault(0, false, &truth);
	ck_assert_uint_eq(truth.samples[0].valid & RT_HAS_GPU_MEMORY, RT_HAS_GPU_MEMORY);
	ck_assert_uint_eq(truth.samples[0].gpus, 4);
	ck_assert_uint_eq(truth.processes[0], 1);
	for (; run_with_fault(at, _i, &run); at++) {
		ck_assert_msg(run.blocks == truth.blocks, "allocation %u fails: %d blocks stay", at,
		              run.blocks - truth.blocks);
		for (int i = 0; i < SAMPLES; i++) {
			check_sample(&truth.samples[i], &run.samples[i], at);
			ck_assert(run.process_errors[i] < 0 ||
			          run.processes[i] == truth.processes[i]);
		}
		ck_assert_uint_lt(at, ALLOCATIONS_MAX);
	}
	ck_assert_uint_gt(at, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu_allocations");
	TCase *tests = suite_case(suite, "allocations");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(
	    tests, want_of_memory_in_any_allocation_for_gpus_of_the_system_is_marked, 0, 2);
	return suite_run(suite);
}
