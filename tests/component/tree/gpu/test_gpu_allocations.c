/* SPDX-License-Identifier: MIT */
/* Each allocation of two samples of a tree that uses GPUs fails, once or from then on: the call
 * says so or its figures do, and nothing stays allocated. */
#include <errno.h>

#include "allocation_faults.h"
#include "gpu/nvml_fixture.h"
#include "gpu_fixture.h"

#define ALLOCATIONS_MAX 500

static struct nvml_fixture nvml;
static struct rti_nvml_setup setup;

/* What one run has given. */
struct run {
	int track_error, sample_error[2];
	struct rt_metrics m[2];
};

static void set_up(void)
{
	nvml_fixture_new(&nvml);
	setup = (struct rti_nvml_setup){ nvml_fixture_library(3), 90 * SECOND_NS, 90 * SECOND_NS };
	/* The first one is partitioned. */
	nvml_fixture_script(&nvml, "gpu 3b 50 1000 9000 7 H200\ngpu 5e 20 2000 9000 7 H200\n"
	                           "instance 0 300 4000\ninstance 0 200 4000\n"
	                           "process 101 c 101 60\nprocess 1 c 101 50\n"
	                           "process 1 g 999 70\nsample 1 101 1000 40 10 0\n");
	install_driver();
	fixture_link(&fix.root, "proc/self/ns/pid", "pid:[4026531836]");
	write_process(100, 1, "101 102 ");
	write_process(101, 100, "");
	write_process(102, 100, "");
	open_fd(101, 6, "/dev/nvidiactl", NULL);
	open_fd(101, 7, "/dev/nvidia0", NULL);
	open_amdgpu(102, 5, 1, 500, 64);
}

static void tear_down(void)
{
	nvml_fixture_free(&nvml);
}

/* Returns whether the allocation was reached. */
static bool run_with_fault(unsigned at, bool is_lasting, struct run *out)
{
	size_t count = 0;
	bool is_reached;

	*out = (struct run){ 0 };
	allocation_faults_begin(at, is_lasting);
	out->track_error = try_to_track(100, 0);
	for (int i = 0; out->track_error == 0 && i < 2; i++) {
		use_nvml(&setup);
		out->sample_error[i] = rt_sample(fix.tracker, &out->m[i], sizeof(out->m[i]));
		rt_tracker_gpus(fix.tracker, NULL, sizeof(struct rt_gpu), &count);
		rt_tracker_gpu_processes(fix.tracker, NULL, sizeof(struct rt_gpu_process), &count);
	}
	rt_tracker_free(fix.tracker);
	fix.tracker = NULL;
	is_reached = allocation_faults_end();
	ck_assert_msg(allocation_faults_blocks() == 0, "allocation %u fails: %d blocks stay", at,
	              allocation_faults_blocks());
	return is_reached;
}

static void check_figures(const struct rt_metrics *truth, const struct rt_metrics *m, unsigned at)
{
	ck_assert(!(m->valid & m->partial) && !((m->valid | m->partial) & m->estimated));
	ck_assert_msg(!(m->valid & RT_HAS_GPU_MEMORY) ||
	                  m->gpu_memory_bytes == truth->gpu_memory_bytes,
	              "allocation %u fails: %llu bytes are valid", at,
	              (unsigned long long)m->gpu_memory_bytes);
	ck_assert_uint_le(m->gpu_memory_bytes, truth->gpu_memory_bytes);
}

START_TEST(want_of_memory_in_any_allocation_for_gpus_is_marked)
{
	static struct run truth, run;
	unsigned at = 1;

	run_with_fault(0, false, &truth);
	ck_assert_int_eq(truth.track_error | truth.sample_error[0] | truth.sample_error[1], 0);
	ck_assert_uint_eq(truth.m[1].gpus, 3);
	ck_assert_uint_ne(truth.m[1].gpu_memory_bytes, 0);
	for (; run_with_fault(at, _i, &run); at++) {
		ck_assert(run.track_error == 0 || run.track_error == -ENOMEM);
		for (int i = 0; run.track_error == 0 && i < 2; i++) {
			ck_assert(run.sample_error[i] == 0 || run.sample_error[i] == -ENOMEM);
			if (run.sample_error[i] == 0)
				check_figures(&truth.m[i], &run.m[i], at);
		}
	}
	ck_assert_uint_gt(at, 20);
	ck_assert_uint_lt(at, ALLOCATIONS_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu_allocations");
	TCase *allocations = add_gpu_case(suite, "allocations");

	tcase_add_checked_fixture(allocations, set_up, tear_down);
	tcase_add_loop_test(allocations, want_of_memory_in_any_allocation_for_gpus_is_marked, 0, 2);
	return suite_run(suite);
}
