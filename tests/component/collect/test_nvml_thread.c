/* SPDX-License-Identifier: MIT */
/* NVML on its thread: a driver that hangs in any of its calls. */
#include "collect/nvml_thread.h"

#include <errno.h>
#include <unistd.h>

#include "gpu/nvml_fixture.h"
#include "os/platform.h"
#include "suite.h"
#include "threads.h"

#define SECOND_NS UINT64_C(1000000000)
#define PATIENCE_NS (90 * SECOND_NS)
/* Each call of the library is made for it. */
#define SCRIPT                                                                                     \
	"gpu 3b 50 1000 9000 7 H200\ngpu 3c 20 1000 9000 7 H200\ninstance 1 100 200\n"             \
	"process 0 c 71 5\nprocess 100 c 72 5\nsample 0 71 5000 40 0 0\n"

static struct nvml_fixture f;
static struct rti_nvml_thread thread;
static struct rti_platform platform;
static struct rti_context ctx;
static struct rti_nvml_setup setup;
static const struct rti_gpu_readings *got;

static void set_up(void)
{
	nvml_fixture_new(&f);
	nvml_fixture_script(&f, SCRIPT);
	rti_platform_init(&platform, false);
	thread = (struct rti_nvml_thread){ 0 };
	ctx = (struct rti_context){ .platform = &platform };
	setup = (struct rti_nvml_setup){ nvml_fixture_library(3), PATIENCE_NS, PATIENCE_NS };
}

static void tear_down(void)
{
	rti_nvml_thread_stop(&thread);
	nvml_fixture_free(&f);
}

static int look(void)
{
	const struct rti_nvml_want want = { .energy = true, .processes = true };

	return rti_nvml_thread_look(&thread, &ctx, &setup, want, &got);
}

static int look_until_answered(void)
{
	int err = look();

	for (int i = 0; i < 20000 && err == -ETIMEDOUT; i++) {
		usleep(5000);
		err = look();
	}
	return err;
}

static void expect_all(void)
{
	ck_assert_uint_eq(got->gpu_count, 3);
	for (size_t i = 0; i < got->gpu_count; i++)
		ck_assert_int_eq(got->gpu[i].err[RTI_GPU_MEMORY], 0);
	ck_assert_uint_eq(got->use_count, 2);
}

static const char *const calls[] = {
	"load",
	"nvmlInit",
	"nvmlDeviceGetCount",
	"nvmlDeviceGetHandleByIndex",
	"nvmlDeviceGetName",
	"nvmlDeviceGetUUID",
	"nvmlDeviceGetPciInfo",
	"nvmlDeviceGetMemoryInfo_v2",
	"nvmlDeviceGetUtilizationRates",
	"nvmlDeviceGetTotalEnergyConsumption",
	"nvmlDeviceGetMigMode",
	"nvmlDeviceGetMaxMigDeviceCount",
	"nvmlDeviceGetMigDeviceHandleByIndex",
	"nvmlDeviceGetComputeRunningProcesses_v3",
	"nvmlDeviceGetMPSComputeRunningProcesses_v3",
	"nvmlDeviceGetGraphicsRunningProcesses_v3",
	"nvmlDeviceGetProcessUtilization",
};

/* From the first look on: no figure until the call returns, and all of them after that. */
START_TEST(call_that_hangs_is_marked_and_its_answer_found_later)
{
	nvml_fixture_script(&f, SCRIPT "hang %s\n", calls[_i]);
	setup.first_wait_ns = SECOND_NS / 20;
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(look(), -ETIMEDOUT);
		ck_assert_uint_eq(got->gpu_count, 0);
		ck_assert_uint_eq(got->use_count, 0);
	}
	nvml_fixture_script(&f, SCRIPT);
	ck_assert_int_eq(look_until_answered(), 0);
	expect_all();
}
END_TEST

/* If it hangs for good, the owner goes on without it. */
START_TEST(thread_that_hangs_is_left_behind)
{
	int before = threads_count_first();

	nvml_fixture_script(&f, SCRIPT "hang %s\n", calls[_i]);
	setup.first_wait_ns = SECOND_NS / 20;
	ck_assert_int_eq(look(), -ETIMEDOUT);
	rti_nvml_thread_stop(&thread);
	ck_assert_ptr_null(thread.worker);

	nvml_fixture_script(&f, SCRIPT);
	threads_await(before);
}
END_TEST

START_TEST(shutdown_that_hangs_is_left_behind)
{
	int before = threads_count_first();

	ck_assert_int_eq(look(), 0);
	expect_all();
	nvml_fixture_script(&f, SCRIPT "hang nvmlShutdown\n");
	rti_nvml_thread_stop(&thread);
	ck_assert_ptr_null(thread.worker);
	ck_assert_int_eq(threads_count(), before + 1);
	nvml_fixture_script(&f, SCRIPT);
	threads_await(before);
}
END_TEST

/* A lost device makes the library start again. That may hang, too. */
START_TEST(new_start_that_hangs_is_marked)
{
	ck_assert_int_eq(look(), 0);
	nvml_fixture_script(&f, SCRIPT "result nvmlDeviceGetMemoryInfo_v2 15\nhang nvmlShutdown\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got->gpu[0].err[RTI_GPU_MEMORY], -ENODEV);
	setup.wait_ns = SECOND_NS / 20;
	for (int i = 0; i < 20000 && nvml_fixture_calls(&f, "nvmlShutdown") == 0; i++) {
		look();
		usleep(5000);
	}
	ck_assert_int_eq(look(), -ETIMEDOUT);
	nvml_fixture_script(&f, SCRIPT);
	ck_assert_int_eq(look_until_answered(), 0);
	expect_all();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nvml_thread");
	TCase *hangs = suite_case(suite, "hangs");
	int count = (int)(sizeof(calls) / sizeof(calls[0]));

	tcase_add_checked_fixture(hangs, set_up, tear_down);
	tcase_add_loop_test(hangs, call_that_hangs_is_marked_and_its_answer_found_later, 0, count);
	tcase_add_loop_test(hangs, thread_that_hangs_is_left_behind, 0, count);
	tcase_add_test(hangs, shutdown_that_hangs_is_left_behind);
	tcase_add_test(hangs, new_start_that_hangs_is_marked);
	return suite_run(suite);
}
