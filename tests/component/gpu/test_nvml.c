/* SPDX-License-Identifier: MIT */
/* NVML, by a fake library: its devices, their figures, and devices and drivers that go. */
#include "gpu/nvml.h"

#include <errno.h>

#include "gpu/nvml_fixture.h"
#include "suite.h"

#define SECOND_NS UINT64_C(1000000000)
#define MIB UINT64_C(1048576)

static struct nvml_fixture f;
static struct rti_nvml nvml;
static struct rti_gpu_readings got;
static uint64_t now_ns;
static int version;

static void set_up(void)
{
	nvml_fixture_new(&f);
	nvml = (struct rti_nvml){ 0 };
	got = (struct rti_gpu_readings){ 0 };
	now_ns = 100 * SECOND_NS;
	version = 3;
}

static void tear_down(void)
{
	rti_nvml_close(&nvml);
	rti_nvml_abandon(&nvml);
	rti_gpu_readings_free(&got);
	nvml_fixture_free(&f);
}

static int look(void)
{
	const struct rti_nvml_want want = { .energy = true, .processes = true };

	return rti_nvml_read(&nvml, nvml_fixture_library(version), now_ns, want, &got);
}

/* Each age of the library has what the others have, under other names. */
START_TEST(device_in_each_version_has_all_figures)
{
	for (version = 1; version <= 3; version++) {
		nvml_fixture_script(&f, "gpu 3b 42 5000000 80000000 1234 NVIDIA H200\n");
		ck_assert_int_eq(look(), 0);
		ck_assert_uint_eq(got.gpu_count, 1);
		ck_assert_str_eq(got.gpu[0].name, "NVIDIA H200");
		ck_assert_str_eq(got.gpu[0].uuid, "GPU-3b");
		ck_assert_str_eq(got.gpu[0].driver, "nvidia");
		ck_assert(got.gpu[0].is_nvml && !got.gpu[0].is_partition);
		ck_assert_uint_eq(got.gpu[0].pci.domain, 0);
		ck_assert_uint_eq(got.gpu[0].pci.bus, 0x3b);
		ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], 0);
		ck_assert_uint_eq(got.gpu[0].busy_percent, 42);
		ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], 0);
		ck_assert_uint_eq(got.gpu[0].memory_used_bytes, 5000000);
		ck_assert_uint_eq(got.gpu[0].memory_total_bytes, 80000000);
		/* Before Volta there was no energy. */
		ck_assert_int_eq(got.gpu[0].err[RTI_GPU_ENERGY], version == 1 ? -EOPNOTSUPP : 0);
		ck_assert_uint_eq(got.gpu[0].energy_uj, version == 1 ? 0 : 1234000);
		rti_nvml_close(&nvml);
	}
}
END_TEST

START_TEST(memory_v2_that_the_driver_lacks_is_read_as_v1)
{
	nvml_fixture_script(&f, "gpu 3b 42 5000000 80000000 1234 H200\n"
	                        "result nvmlDeviceGetMemoryInfo_v2 13\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], 0);
	ck_assert_uint_eq(got.gpu[0].memory_used_bytes, 6000000);
	ck_assert_uint_eq(got.gpu[0].memory_total_bytes, 80000000);
}
END_TEST

START_TEST(figures_that_are_refused_are_marked_one_by_one)
{
	nvml_fixture_script(&f, "gpu 3b 42 5000000 80000000 1234 H200\n"
	                        "result nvmlDeviceGetUtilizationRates 3\n"
	                        "result nvmlDeviceGetTotalEnergyConsumption 4\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], -EOPNOTSUPP);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_ENERGY], -EACCES);
	ck_assert_uint_eq(got.gpu[0].energy_uj, 0);
}
END_TEST

START_TEST(impossible_figures_are_not_believed)
{
	nvml_fixture_script(&f, "gpu 3b 101 90000000 80000000 18446744073709551615 H200\n");
	ck_assert_int_eq(look(), 0);
	for (int figure = 0; figure < RTI_GPU_FIGURES; figure++)
		ck_assert_int_eq(got.gpu[0].err[figure], -EBADMSG);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 0);
	ck_assert_uint_eq(got.gpu[0].memory_used_bytes, 0);
}
END_TEST

START_TEST(start_that_fails_says_why)
{
	static const struct {
		int result, err;
	} cases[] = {
		{ 9, -ENOENT }, { 4, -EACCES },  { 18, -EPROTONOSUPPORT },
		{ 999, -EIO },  { 15, -ENODEV },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		nvml_fixture_script(&f, "gpu 3b 0 0 1 0 H200\nresult nvmlInit %d\n",
		                    cases[i].result);
		ck_assert_int_eq(look(), cases[i].err);
		ck_assert_uint_eq(got.gpu_count, 0);
		now_ns += 100 * SECOND_NS;
	}
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlShutdown"), 0);
}
END_TEST

START_TEST(count_of_devices_that_is_refused_says_why_and_ends_the_library)
{
	nvml_fixture_script(&f, "gpu 3b 0 0 1 0 H200\nresult nvmlDeviceGetCount 4\n");
	ck_assert_int_eq(look(), -EACCES);
	ck_assert_uint_eq(got.gpu_count, 0);
	ck_assert(!nvml.is_open);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlShutdown"), 1);
}
END_TEST

START_TEST(library_that_is_missing_or_has_no_device_is_enoent)
{
	const struct rti_nvml_want want = { .energy = true };

	ck_assert_int_eq(rti_nvml_read(&nvml, "/none/such/libnvidia-ml.so.1", now_ns, want, &got),
	                 -ENOENT);
	now_ns += 100 * SECOND_NS;
	ck_assert_int_eq(look(), -ENOENT);
	/* It was started, so it has to be shut down. */
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlShutdown"), 1);
}
END_TEST

/* E.g.: any library that has that name. */
START_TEST(library_without_the_first_functions_is_refused)
{
	const struct rti_nvml_want want = { .energy = true };

	ck_assert_int_eq(rti_nvml_read(&nvml, "libc.so.6", now_ns, want, &got), -EOPNOTSUPP);
	ck_assert(!nvml.is_open);
}
END_TEST

START_TEST(start_that_fails_is_tried_again_ever_less_often)
{
	nvml_fixture_script(&f, "gpu 3b 0 0 1 0 H200\nresult nvmlInit 9\n");
	for (int second = 0; second < 300; second++) {
		ck_assert_int_eq(look(), -ENOENT);
		now_ns += SECOND_NS;
	}
	/* At 0, 1, 3, 7, 15, 31, 63, 123, 183, 243. */
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlInit"), 10);

	nvml_fixture_script(&f, "gpu 3b 10 0 1 0 H200\n");
	now_ns += 60 * SECOND_NS;
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 10);
}
END_TEST

/* The driver is unloaded and loaded again: what was opened before is of no use. */
START_TEST(driver_that_is_loaded_again_is_found_again)
{
	nvml_fixture_script(&f, "gpu 3b 10 2 9 1000 H200\n");
	ck_assert_int_eq(look(), 0);

	nvml_fixture_script(&f, "gpu 3b 10 2 9 1000 H200\n"
	                        "result nvmlDeviceGetMemoryInfo_v2 999\n"
	                        "result nvmlDeviceGetUtilizationRates 999\n"
	                        "result nvmlInit 9\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
	for (int figure = 0; figure < RTI_GPU_FIGURES; figure++)
		ck_assert_int_eq(got.gpu[0].err[figure], -EIO);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlShutdown"), 0);

	now_ns += SECOND_NS;
	ck_assert_int_eq(look(), -ENOENT);
	ck_assert_uint_eq(got.gpu_count, 0);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlShutdown"), 1);

	nvml_fixture_script(&f, "gpu 3b 20 2 9 5 H200\n");
	now_ns += 2 * SECOND_NS;
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], 0);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 20);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlInit"), 3);
}
END_TEST

START_TEST(gpu_that_is_lost_is_marked_and_the_other_is_read)
{
	nvml_fixture_script(&f, "gpu 3b 10 2 9 1000 H200\ngpu 3c 20 3 9 1000 H200\n"
	                        "result nvmlDeviceGetUtilizationRates 15 0\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 2);
	for (int figure = 0; figure < RTI_GPU_FIGURES; figure++) {
		ck_assert_int_eq(got.gpu[0].err[figure], -ENODEV);
		ck_assert_int_eq(got.gpu[1].err[figure], 0);
	}
	ck_assert_str_eq(got.gpu[0].uuid, "GPU-3b");

	/* After a new start it cannot be opened. */
	nvml_fixture_script(&f, "gpu 3b 10 2 9 1000 H200\ngpu 3c 20 3 9 1000 H200\n"
	                        "result nvmlDeviceGetHandleByIndex 15 0\n");
	now_ns += SECOND_NS;
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 2);
	ck_assert_str_eq(got.gpu[0].name, "index 0");
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], -ENODEV);
	ck_assert_int_eq(got.gpu[1].err[RTI_GPU_MEMORY], 0);

	/* It is back. The first pause was over, and the second is of 2 s. */
	nvml_fixture_script(&f, "gpu 3b 10 2 9 1000 H200\ngpu 3c 20 3 9 1000 H200\n");
	now_ns += SECOND_NS;
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], -ENODEV);
	now_ns += SECOND_NS;
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], 0);
	ck_assert_str_eq(got.gpu[0].uuid, "GPU-3b");
}
END_TEST

/* Some virtual GPUs have no utilization, and say that by an error without a meaning. */
START_TEST(one_figure_with_an_unknown_error_loses_nothing_else)
{
	nvml_fixture_script(&f, "gpu 3b 10 2 9 1000 GRID\n"
	                        "result nvmlDeviceGetUtilizationRates 999\n");
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(look(), 0);
		ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], -EIO);
		ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], 0);
		now_ns += 10 * SECOND_NS;
	}
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlInit"), 1);
}
END_TEST

START_TEST(gpu_that_may_not_be_opened_is_marked_and_not_retried)
{
	nvml_fixture_script(&f, "gpu 3b 10 2 9 1000 H200\nresult nvmlDeviceGetHandleByIndex 4\n");
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(look(), 0);
		ck_assert_uint_eq(got.gpu_count, 1);
		ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], -EACCES);
		now_ns += 10 * SECOND_NS;
	}
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlInit"), 1);
}
END_TEST

START_TEST(mig_instances_are_partitions_with_memory_alone)
{
	nvml_fixture_script(&f, "gpu 3b 10 20 90 1000 H200\ngpu 3c 7 3 9 1000 H200\n"
	                        "instance 0 5 40\ninstance 0 6 50\n"
	                        "result nvmlDeviceGetUtilizationRates 3 0\n"
	                        "process 100 c 71 3\nprocess 101 c 72 4\nprocess 0 c 71 9\n"
	                        "process 1 c 73 8\nsample 1 73 5 50 0 0\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 4);
	ck_assert(!got.gpu[0].is_partition && got.gpu[1].is_partition && got.gpu[2].is_partition);
	ck_assert(!got.gpu[3].is_partition);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], -EOPNOTSUPP);
	ck_assert_str_eq(got.gpu[1].uuid, "MIG-100");
	ck_assert_uint_eq(got.gpu[1].pci.bus, 0x3b);
	ck_assert_uint_eq(got.gpu[2].memory_used_bytes, 6);
	ck_assert_uint_eq(got.gpu[2].memory_total_bytes, 50);
	ck_assert_int_eq(got.gpu[2].err[RTI_GPU_BUSY], -EOPNOTSUPP);

	/* Processes are those of the instances. Their use of time is not asked for. */
	ck_assert_uint_eq(got.use_count, 3);
	ck_assert_uint_eq(got.use[0].gpu, 1);
	ck_assert_int_eq(got.use[0].pid, 71);
	ck_assert_uint_eq(got.use[0].memory_bytes, 3);
	ck_assert(!got.use[0].has_busy);
	ck_assert_uint_eq(got.use[1].gpu, 2);
	ck_assert_uint_eq(got.use[2].gpu, 3);
	ck_assert(got.use[2].has_busy);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlDeviceGetProcessUtilization"), 1);
}
END_TEST

#define WHOLE "gpu 3b 10 20 90 1000 H200\nprocess 0 c 71 9\n"
#define SPLIT "gpu 3b 10 20 90 1000 H200\ninstance 0 5 40\nprocess 100 c 72 3\n"

/* A device that says how busy it is is not in MIG mode, so that is asked every ten seconds. */
START_TEST(mig_mode_of_a_busy_device_is_asked_rarely)
{
	nvml_fixture_script(&f, WHOLE);
	for (int second = 0; second < 30; second++) {
		ck_assert_int_eq(look(), 0);
		now_ns += SECOND_NS;
	}
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlDeviceGetMigMode"), 3);
}
END_TEST

START_TEST(mig_mode_that_is_set_and_left_is_noticed)
{
	nvml_fixture_script(&f, WHOLE);
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
	now_ns += SECOND_NS;
	nvml_fixture_script(&f, SPLIT "result nvmlDeviceGetUtilizationRates 3\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 2);
	ck_assert_int_eq(got.use[0].pid, 72);

	now_ns += SECOND_NS;
	nvml_fixture_script(&f, WHOLE);
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
	now_ns += SECOND_NS;
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.use_count, 1);
	ck_assert_int_eq(got.use[0].pid, 71);

	/* With a driver that says how busy such a device is. */
	nvml_fixture_script(&f, SPLIT);
	now_ns += 10 * SECOND_NS;
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 2);
}
END_TEST

START_TEST(what_is_not_wanted_is_not_asked_for)
{
	const struct rti_nvml_want nothing = { .energy = false };

	nvml_fixture_script(&f, "gpu 3b 10 20 90 1000 H200\nprocess 0 c 71 3\n");
	ck_assert_int_eq(rti_nvml_read(&nvml, nvml_fixture_library(3), now_ns, nothing, &got), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_ENERGY], -EOPNOTSUPP);
	ck_assert_uint_eq(got.use_count, 0);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlDeviceGetTotalEnergyConsumption"), 0);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlDeviceGetProcessUtilization"), 0);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlDeviceGetComputeRunningProcesses_v3"), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nvml");
	TCase *figures = suite_case(suite, "figures"), *loss = suite_case(suite, "loss");

	tcase_add_checked_fixture(figures, set_up, tear_down);
	tcase_add_test(figures, device_in_each_version_has_all_figures);
	tcase_add_test(figures, memory_v2_that_the_driver_lacks_is_read_as_v1);
	tcase_add_test(figures, figures_that_are_refused_are_marked_one_by_one);
	tcase_add_test(figures, impossible_figures_are_not_believed);
	tcase_add_test(figures, mig_instances_are_partitions_with_memory_alone);
	tcase_add_test(figures, mig_mode_of_a_busy_device_is_asked_rarely);
	tcase_add_test(figures, mig_mode_that_is_set_and_left_is_noticed);
	tcase_add_test(figures, what_is_not_wanted_is_not_asked_for);
	tcase_add_checked_fixture(loss, set_up, tear_down);
	tcase_add_test(loss, start_that_fails_says_why);
	tcase_add_test(loss, count_of_devices_that_is_refused_says_why_and_ends_the_library);
	tcase_add_test(loss, library_that_is_missing_or_has_no_device_is_enoent);
	tcase_add_test(loss, library_without_the_first_functions_is_refused);
	tcase_add_test(loss, start_that_fails_is_tried_again_ever_less_often);
	tcase_add_test(loss, driver_that_is_loaded_again_is_found_again);
	tcase_add_test(loss, gpu_that_is_lost_is_marked_and_the_other_is_read);
	tcase_add_test(loss, one_figure_with_an_unknown_error_loses_nothing_else);
	tcase_add_test(loss, gpu_that_may_not_be_opened_is_marked_and_not_retried);
	return suite_run(suite);
}
