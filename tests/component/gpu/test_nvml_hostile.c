/* SPDX-License-Identifier: MIT */
/* A library of the driver that gives impossible answers: none of them is believed, and none of them
 * ends in a crash or goes on for ever. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/nvml.h"
#include "gpu/nvml_fixture.h"
#include "suite.h"

#define SECOND_NS UINT64_C(1000000000)
#define GPU "gpu 3b 10 2 9 1000 H200\n"
#define MOST "4294967295"

static struct nvml_fixture f;
static struct rti_nvml nvml;
static struct rti_gpu_readings got;
static uint64_t realtime_us;

static void set_up(void)
{
	nvml_fixture_new(&f);
	nvml = (struct rti_nvml){ 0 };
	got = (struct rti_gpu_readings){ 0 };
}

static void tear_down(void)
{
	rti_nvml_close(&nvml);
	rti_nvml_abandon(&nvml);
	rti_gpu_readings_free(&got);
	nvml_fixture_free(&f);
}

static int look_with(int version)
{
	const struct rti_nvml_want want = { .energy = true, .processes = true };

	return rti_nvml_read(&nvml, nvml_fixture_library(version), 1, want, &got);
}

static int look(void)
{
	return look_with(3);
}

static bool is_ended(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

START_TEST(count_of_devices_beyond_belief_is_an_error)
{
	nvml_fixture_script(&f, GPU "claim nvmlDeviceGetCount " MOST "\n");
	ck_assert_int_eq(look(), -EBADMSG);
	ck_assert_uint_eq(got.gpu_count, 0);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlShutdown"), 1);
}
END_TEST

START_TEST(texts_without_an_end_are_cut)
{
	nvml_fixture_script(&f, GPU "instance 0 5 9\nunterminated nvmlDeviceGetName 1\n"
	                            "unterminated nvmlDeviceGetUUID 1\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 2);
	for (int i = 0; i < 2; i++) {
		ck_assert(is_ended(got.gpu[i].name, sizeof(got.gpu[i].name)));
		ck_assert(is_ended(got.gpu[i].uuid, sizeof(got.gpu[i].uuid)));
	}
}
END_TEST

/* The ids of early MIG instances have 60 characters and more. */
START_TEST(text_that_is_longer_than_its_field_is_cut)
{
	const char *name =
	    "a name of a device that is longer than any that there has ever been so f";

	nvml_fixture_script(&f, "gpu 3b 10 2 9 1000 %s\n", name);
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(strlen(got.gpu[0].name), sizeof(got.gpu[0].name) - 1);
	ck_assert_int_eq(strncmp(got.gpu[0].name, name, sizeof(got.gpu[0].name) - 1), 0);
}
END_TEST

START_TEST(address_that_cannot_be_one_is_none)
{
	static const char *const addresses[] = {
		"0 256 0", "0 1 32", "0 " MOST " " MOST, MOST " " MOST " 0", "4294967294 1 999",
	};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		const struct rti_pci_address *pci;

		nvml_fixture_script(&f, GPU "address %s\n", addresses[i]);
		ck_assert_int_eq(look(), 0);
		pci = &got.gpu[0].pci;
		ck_assert_uint_eq(pci->domain, UINT32_MAX);
		ck_assert_uint_eq(pci->bus, UINT32_MAX);
		ck_assert_uint_eq(pci->device, UINT32_MAX);
		ck_assert_uint_eq(pci->function, UINT32_MAX);
		rti_nvml_close(&nvml);
	}
	/* That of a card behind a volume management device has a domain of more than 16 bits. */
	nvml_fixture_script(&f, GPU "address 65536 255 31\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu[0].pci.domain, 65536);
	ck_assert_uint_eq(got.gpu[0].pci.bus, 255);
	ck_assert_uint_eq(got.gpu[0].pci.device, 31);
}
END_TEST

START_TEST(percentages_beyond_belief_are_unknown)
{
	nvml_fixture_script(&f, "gpu 3b " MOST " 2 9 1000 H200\nprocess 0 c 71 5\n"
	                        "sample 0 71 5000 " MOST " " MOST " " MOST "\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], -EBADMSG);
	ck_assert_uint_eq(got.gpu[0].busy_percent, 0);
	/* It did something, so it was not idle. */
	ck_assert(!got.use[0].has_busy);
	ck_assert_uint_eq(got.use[0].busy_percent, 0);
}
END_TEST

/* Nothing in such a list is believed, and that is said. The other lists are read. */
START_TEST(list_that_claims_more_than_it_was_given_room_for_is_said)
{
	static const char *const counts[] = { "65", "65537", "2147483648", MOST };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		nvml_fixture_script(&f,
		                    GPU "process 0 c 71 5\nprocess 0 g 72 6\n"
		                        "claim nvmlDeviceGetComputeRunningProcesses_v3 %s\n",
		                    counts[i]);
		ck_assert_int_eq(look(), 0);
		ck_assert_int_lt(got.use_err, 0);
		ck_assert_uint_eq(got.use_count, 1);
		ck_assert_int_eq(got.use[0].pid, 72);
	}
	ck_assert_int_lt(nvml_fixture_calls(&f, "nvmlDeviceGetComputeRunningProcesses_v3"), 20);
}
END_TEST

START_TEST(samples_that_claim_more_than_they_were_given_room_for_are_unknown)
{
	static const char *const counts[] = { "65", "65537", MOST };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		nvml_fixture_script(&f,
		                    GPU "process 0 c 71 5\nsample 0 99 5000 50 0 0\n"
		                        "claim nvmlDeviceGetProcessUtilization %s\n",
		                    counts[i]);
		ck_assert_int_eq(look(), 0);
		ck_assert_uint_eq(got.use_count, 1);
		ck_assert(!got.use[0].has_busy);
		rti_nvml_close(&nvml);
	}
}
END_TEST

/* What was not written is what the buffer held before: other lists. */
START_TEST(entries_that_were_not_written_are_left_out)
{
	nvml_fixture_script(&f, GPU "process 0 g 71 5\nprocess 0 g 72 6\nprocess 0 g 73 7\n"
	                            "sample 0 71 5000 40 0 0\n"
	                            "claim nvmlDeviceGetComputeRunningProcesses_v3 60\n"
	                            "claim nvmlDeviceGetProcessUtilization 60\n");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(look(), 0);
		ck_assert_uint_eq(got.use_count, 3);
		ck_assert_uint_eq(got.use[0].busy_percent, i == 0 ? 40 : 0);
		ck_assert_uint_eq(got.use[1].busy_percent | got.use[2].busy_percent, 0);
		ck_assert(!got.use[0].is_compute);
	}
}
END_TEST

START_TEST(memory_of_a_process_above_that_of_its_device_is_unknown)
{
	nvml_fixture_script(&f, GPU "process 0 c 71 10\nprocess 0 c 72 9\n"
	                            "process 0 c 73 9223372036854775807\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.use_count, 3);
	ck_assert(!got.use[0].has_memory && got.use[1].has_memory && !got.use[2].has_memory);
	ck_assert_uint_eq(got.use[0].memory_bytes | got.use[2].memory_bytes, 0);
}
END_TEST

START_TEST(list_that_grows_between_calls_is_read_in_the_end)
{
	nvml_fixture_script(&f, GPU "process 0 c 71 5\nprocess 0 c 72 6\n"
	                            "grow nvmlDeviceGetComputeRunningProcesses_v3 3\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.use_err, 0);
	ck_assert_uint_eq(got.use_count, 2);
	ck_assert_int_eq(nvml_fixture_calls(&f, "nvmlDeviceGetComputeRunningProcesses_v3"), 4);
}
END_TEST

START_TEST(list_that_grows_for_ever_is_an_error)
{
	nvml_fixture_script(&f, GPU "process 0 c 71 5\n"
	                            "grow nvmlDeviceGetComputeRunningProcesses_v3 1000000\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(got.use_err, -EIO);
	ck_assert_uint_eq(got.use_count, 0);
	ck_assert_int_lt(nvml_fixture_calls(&f, "nvmlDeviceGetComputeRunningProcesses_v3"), 10);
}
END_TEST

START_TEST(samples_that_grow_for_ever_are_unknown)
{
	nvml_fixture_script(&f, GPU "process 0 c 71 5\n"
	                            "grow nvmlDeviceGetProcessUtilization 1000000\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.use_count, 1);
	ck_assert(got.use[0].has_memory && !got.use[0].has_busy);
	ck_assert_int_lt(nvml_fixture_calls(&f, "nvmlDeviceGetProcessUtilization"), 10);
}
END_TEST

START_TEST(partitions_beyond_belief_are_asked_for_as_far_as_there_may_be_any)
{
	nvml_fixture_script(&f, GPU "instance 0 5 9\n"
	                            "claim nvmlDeviceGetMaxMigDeviceCount " MOST "\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.gpu_count, 2);
	ck_assert_uint_eq(got.gpu[1].memory_used_bytes, 5);
}
END_TEST

/* The driver uses the wall clock. If that is set back, what was seen before is in the future. */
static void fake_now(struct rti_now *out)
{
	*out = (struct rti_now){ .realtime_ns = realtime_us * 1000 };
}

START_TEST(samples_after_the_clock_was_set_back_are_used)
{
	nvml.now = fake_now;
	realtime_us = 90000000;
	nvml_fixture_script(&f, GPU "process 0 c 71 5\nsample 0 71 89900000 40 0 0\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.use[0].busy_percent, 40);

	realtime_us = 30000000;
	nvml_fixture_script(&f, GPU "process 0 c 71 5\nsample 0 71 29900000 60 0 0\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_int_eq(nvml_fixture_argument(&f, "nvmlDeviceGetProcessUtilization"), 0);
	ck_assert_uint_eq(got.use[0].busy_percent, 60);
}
END_TEST

/* It would hide all later ones. */
START_TEST(sample_of_the_future_is_not_remembered)
{
	nvml.now = fake_now;
	realtime_us = 90000000;
	nvml_fixture_script(&f, GPU "process 0 c 71 5\nsample 0 71 18446744073709551615 40 0 0\n");
	ck_assert_int_eq(look(), 0);
	nvml_fixture_script(&f, GPU "process 0 c 71 5\nsample 0 71 89900000 60 0 0\n");
	ck_assert_int_eq(look(), 0);
	ck_assert_uint_eq(got.use[0].busy_percent, 60);
}
END_TEST

START_TEST(library_with_hardly_any_function_has_devices_without_figures)
{
	nvml_fixture_script(&f, GPU "process 0 c 71 5\n");
	ck_assert_int_eq(look_with(0), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
	ck_assert_str_eq(got.gpu[0].name, "");
	ck_assert_uint_eq(got.gpu[0].pci.domain, UINT32_MAX);
	for (int figure = 0; figure < RTI_GPU_FIGURES; figure++)
		ck_assert_int_eq(got.gpu[0].err[figure], -EOPNOTSUPP);
	ck_assert_uint_eq(got.use_count, 0);
	ck_assert_int_eq(got.use_err, -EOPNOTSUPP);
}
END_TEST

/* E.g.: a file that was installed in part, or for another processor. */
START_TEST(file_that_is_no_library_is_none)
{
	const struct rti_nvml_want want = { .energy = true };
	char path[200];

	snprintf(path, sizeof(path), "%s/libnvidia-ml.so.1", f.files.root);
	fixture_write(&f.files, "libnvidia-ml.so.1", "\177ELF\002\001\001 and no more");
	ck_assert_int_eq(rti_nvml_read(&nvml, path, 1, want, &got), -ENOENT);
	fixture_write(&f.files, "libnvidia-ml.so.1", "");
	ck_assert_int_eq(rti_nvml_read(&nvml, path, 100 * SECOND_NS, want, &got), -ENOENT);
	ck_assert(!nvml.is_open);
}
END_TEST

static const struct {
	int result, err;
} results[] = {
	{ RTI_NVML_OK, 0 },
	{ RTI_NVML_NOT_SUPPORTED, -EOPNOTSUPP },
	{ RTI_NVML_NO_FUNCTION, -EOPNOTSUPP },
	{ RTI_NVML_STRUCT_VERSION, -EOPNOTSUPP },
	{ RTI_NVML_NO_PERMISSION, -EACCES },
	{ RTI_NVML_NO_DRIVER, -ENOENT },
	{ RTI_NVML_NO_LIBRARY, -ENOENT },
	{ RTI_NVML_TIMEOUT, -ETIMEDOUT },
	{ RTI_NVML_UNINITIALIZED, -ENODEV },
	{ RTI_NVML_GPU_LOST, -ENODEV },
	{ RTI_NVML_RESET_REQUIRED, -ENODEV },
	{ RTI_NVML_OTHER_VERSION, -EPROTONOSUPPORT },
	{ RTI_NVML_NO_MEMORY, -ENOMEM },
	{ RTI_NVML_UNKNOWN, -EIO },
	{ INT32_MIN, -EIO },
};

START_TEST(each_answer_of_the_driver_is_an_error_of_the_library)
{
	ck_assert_int_eq(rti_nvml_error(results[_i].result), results[_i].err);
}
END_TEST

static void add_counts(Suite *suite)
{
	TCase *counts = suite_case(suite, "counts");

	tcase_add_checked_fixture(counts, set_up, tear_down);
	tcase_add_test(counts, count_of_devices_beyond_belief_is_an_error);
	tcase_add_test(counts, list_that_claims_more_than_it_was_given_room_for_is_said);
	tcase_add_test(counts, samples_that_claim_more_than_they_were_given_room_for_are_unknown);
	tcase_add_test(counts, entries_that_were_not_written_are_left_out);
	tcase_add_test(counts, list_that_grows_between_calls_is_read_in_the_end);
	tcase_add_test(counts, list_that_grows_for_ever_is_an_error);
	tcase_add_test(counts, samples_that_grow_for_ever_are_unknown);
	tcase_add_test(counts, partitions_beyond_belief_are_asked_for_as_far_as_there_may_be_any);
}

int main(void)
{
	Suite *suite = suite_create("nvml_hostile");
	TCase *values = suite_case(suite, "values");

	add_counts(suite);
	tcase_add_checked_fixture(values, set_up, tear_down);
	tcase_add_test(values, texts_without_an_end_are_cut);
	tcase_add_test(values, text_that_is_longer_than_its_field_is_cut);
	tcase_add_test(values, address_that_cannot_be_one_is_none);
	tcase_add_test(values, percentages_beyond_belief_are_unknown);
	tcase_add_test(values, memory_of_a_process_above_that_of_its_device_is_unknown);
	tcase_add_test(values, samples_after_the_clock_was_set_back_are_used);
	tcase_add_test(values, sample_of_the_future_is_not_remembered);
	tcase_add_test(values, library_with_hardly_any_function_has_devices_without_figures);
	tcase_add_test(values, file_that_is_no_library_is_none);
	tcase_add_loop_test(values, each_answer_of_the_driver_is_an_error_of_the_library, 0,
	                    sizeof(results) / sizeof(results[0]));
	return suite_run(suite);
}
