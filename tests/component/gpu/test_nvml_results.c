/* SPDX-License-Identifier: MIT */
/* Each call of the driver's library returns each result, in each version of the library: no figure
 * is invented, and the figures are back once the call works again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/nvml.h"
#include "gpu/nvml_fixture.h"
#include "gpu/nvml_library.h"
#include "suite.h"

#define SECOND_NS UINT64_C(1000000000)
#define RETRY_NS (3600 * SECOND_NS) /* later than any time for which the library is left alone */

/* Two devices, one of them partitioned, and what processes use of them. */
#define SCRIPT                                                                                     \
	"gpu 3b 50 1000 9000 7 H200\n"                                                             \
	"gpu 5e 20 2000 9000 7 H200\n"                                                             \
	"instance 0 300 4000\n"                                                                    \
	"instance 0 200 4000\n"                                                                    \
	"process 1 c 101 50\n"                                                                     \
	"process 1 g 999 70\n"                                                                     \
	"process 100 c 102 60\n"                                                                   \
	"sample 1 101 1000 40 10 0\n"

static const char *const calls[] = {
	"nvmlInit",
	"nvmlShutdown",
	"nvmlDeviceGetCount",
	"nvmlDeviceGetHandleByIndex",
	"nvmlDeviceGetPciInfo",
	"nvmlDeviceGetUUID",
	"nvmlDeviceGetName",
	"nvmlDeviceGetUtilizationRates",
	"nvmlDeviceGetMemoryInfo",
	"nvmlDeviceGetMemoryInfo_v2",
	"nvmlDeviceGetTotalEnergyConsumption",
	"nvmlDeviceGetComputeRunningProcesses",
	"nvmlDeviceGetMPSComputeRunningProcesses",
	"nvmlDeviceGetGraphicsRunningProcesses",
	"nvmlDeviceGetProcessUtilization",
	"nvmlDeviceGetMigMode",
	"nvmlDeviceGetMaxMigDeviceCount",
	"nvmlDeviceGetMigDeviceHandleByIndex",
};
static const int results[] = {
	RTI_NVML_UNINITIALIZED, RTI_NVML_NOT_SUPPORTED,  RTI_NVML_NO_PERMISSION,
	RTI_NVML_NOT_FOUND,     RTI_NVML_TOO_SMALL,      RTI_NVML_NO_DRIVER,
	RTI_NVML_TIMEOUT,       RTI_NVML_NO_LIBRARY,     RTI_NVML_NO_FUNCTION,
	RTI_NVML_GPU_LOST,      RTI_NVML_RESET_REQUIRED, RTI_NVML_OTHER_VERSION,
	RTI_NVML_NO_MEMORY,     RTI_NVML_STRUCT_VERSION, RTI_NVML_UNKNOWN,
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))
#define RESULTS (sizeof(results) / sizeof(results[0]))

static struct nvml_fixture f;
static struct rti_nvml nvml;
static struct rti_gpu_readings truth, got;
static uint64_t now_ns;

static void set_up(void)
{
	nvml_fixture_new(&f);
	now_ns = 1;
}

static void tear_down(void)
{
	rti_nvml_close(&nvml);
	rti_nvml_abandon(&nvml);
	rti_gpu_readings_free(&truth);
	rti_gpu_readings_free(&got);
	nvml_fixture_free(&f);
}

static int look(int version, struct rti_gpu_readings *out)
{
	const struct rti_nvml_want want = { .energy = true, .processes = true };

	now_ns += RETRY_NS;
	rti_gpu_readings_clear(out);
	return rti_nvml_read(&nvml, nvml_fixture_library(version), now_ns, want, out);
}

static const struct rti_gpu_reading *find(const struct rti_gpu_readings *readings,
                                          const struct rti_gpu_reading *like)
{
	for (size_t i = 0; i < readings->gpu_count; i++)
		if (readings->gpu[i].pci.bus == like->pci.bus &&
		    strcmp(readings->gpu[i].uuid, like->uuid) == 0 &&
		    readings->gpu[i].is_partition == like->is_partition)
			return &readings->gpu[i];
	return NULL;
}

/* A figure without an error is the true one. */
static void check_figures(const char *what)
{
	for (size_t i = 0; i < got.gpu_count; i++) {
		const struct rti_gpu_reading *gpu = &got.gpu[i], *real = find(&truth, gpu);

		if (!real)
			continue; /* it has lost its name */
		ck_assert_msg(gpu->err[RTI_GPU_MEMORY] < 0 || real->err[RTI_GPU_MEMORY] < 0 ||
		                  gpu->memory_used_bytes == real->memory_used_bytes,
		              "%s: memory of GPU %zu", what, i);
		ck_assert_msg(gpu->err[RTI_GPU_BUSY] < 0 || real->err[RTI_GPU_BUSY] < 0 ||
		                  gpu->busy_percent == real->busy_percent,
		              "%s: use of GPU %zu", what, i);
	}
	ck_assert_msg(got.gpu_count <= truth.gpu_count && got.use_count <= truth.use_count, "%s",
	              what);
}

START_TEST(figure_is_true_or_missing_whatever_a_call_returns)
{
	const int version = _i;

	nvml_fixture_script(&f, SCRIPT);
	ck_assert_int_eq(look(version, &truth), 0);
	ck_assert_uint_ge(truth.gpu_count, 2);
	for (size_t i = 0; i < CALLS * RESULTS; i++) {
		const char *call = calls[i / RESULTS];
		int result = results[i % RESULTS], err;
		char what[128];

		nvml_fixture_script(&f, SCRIPT "result %s %d\n", call, result);
		err = look(version, &got);
		snprintf(what, sizeof(what), "version %d: %s returns %d: %d", version, call, result,
		         err);
		ck_assert_msg(err <= 0, "%s", what);
		check_figures(what);
		look(version, &got); /* with the handles that it has kept */
		check_figures(what);
		nvml_fixture_script(&f, SCRIPT);
		look(version, &got); /* it may begin anew */
		ck_assert_msg(look(version, &got) == 0, "%s: it does not recover", what);
		ck_assert_msg(got.gpu_count == truth.gpu_count, "%s: then %zu GPUs", what,
		              got.gpu_count);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nvml_results");
	TCase *tests = suite_case(suite, "results");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, figure_is_true_or_missing_whatever_a_call_returns, 1, 4);
	return suite_run(suite);
}
