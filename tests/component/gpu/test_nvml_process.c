/* SPDX-License-Identifier: MIT */
/* The processes that a fake NVML lists: versions of the lists, and samples of their time. */
#include "gpu/nvml_process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/nvml.h"
#include "gpu/nvml_fixture.h"
#include "suite.h"

#define GPU "gpu 3b 10 2 9000000 1000 H200\n"

static struct nvml_fixture f;
static struct rti_nvml nvml;
static struct rti_gpu_readings got;
static int version;

static void set_up(void)
{
	nvml_fixture_new(&f);
	nvml = (struct rti_nvml){ 0 };
	got = (struct rti_gpu_readings){ 0 };
	version = 3;
}

static void tear_down(void)
{
	rti_nvml_close(&nvml);
	rti_nvml_abandon(&nvml);
	rti_gpu_readings_free(&got);
	nvml_fixture_free(&f);
}

static void look(void)
{
	const struct rti_nvml_want want = { .processes = true };

	ck_assert_int_eq(rti_nvml_read(&nvml, nvml_fixture_library(version), 1, want, &got), 0);
	ck_assert_uint_eq(got.gpu_count, 1);
}

static void expect_three(void)
{
	look();
	ck_assert_uint_eq(got.use_count, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(got.use[i].pid, 71 + i);
		ck_assert(got.use[i].has_memory);
		ck_assert_uint_eq(got.use[i].memory_bytes, 1000 + (uint64_t)i);
		ck_assert(got.use[i].is_compute);
	}
	ck_assert_int_eq(got.use_err, 0);
	rti_nvml_close(&nvml);
}

#define THREE "process 0 c 71 1000\nprocess 0 c 72 1001\nprocess 0 c 73 1002\n"

START_TEST(list_in_each_version_has_all_processes)
{
	nvml_fixture_script(&f, GPU THREE);
	for (version = 1; version <= 3; version++)
		expect_three();
}
END_TEST

/* Some drivers of the release R535 write entries of 32 bytes. */
START_TEST(entries_of_32_bytes_are_detected)
{
	nvml_fixture_script(&f, GPU THREE "entry 32\n");
	expect_three();

	nvml_fixture_script(&f, GPU "process 0 c 71 1000\nentry 32\n");
	look();
	ck_assert_uint_eq(got.use_count, 1);
	ck_assert_uint_eq(got.use[0].memory_bytes, 1000);
}
END_TEST

/* The library is newer than its driver. */
START_TEST(version_that_the_driver_lacks_falls_back)
{
	nvml_fixture_script(&f, GPU THREE "result nvmlDeviceGetComputeRunningProcesses_v3 13\n");
	expect_three();
	nvml_fixture_script(&f, GPU THREE "result nvmlDeviceGetComputeRunningProcesses_v3 13\n"
	                                  "result nvmlDeviceGetComputeRunningProcesses_v2 13\n");
	expect_three();
}
END_TEST

START_TEST(process_in_several_lists_counts_once)
{
	nvml_fixture_script(&f, GPU "process 0 c 71 1000\nprocess 0 g 71 1000\n"
	                            "process 0 g 72 5\nprocess 0 m 73 6\nprocess 0 g 73 -1\n");
	look();
	ck_assert_uint_eq(got.use_count, 3);
	ck_assert_int_eq(got.use[0].pid, 71);
	ck_assert_uint_eq(got.use[0].memory_bytes, 1000);
	ck_assert(got.use[0].is_compute);
	ck_assert_int_eq(got.use[1].pid, 73);
	ck_assert_uint_eq(got.use[1].memory_bytes, 6);
	ck_assert(got.use[1].is_compute);
	ck_assert_int_eq(got.use[2].pid, 72);
	ck_assert(!got.use[2].is_compute);
}
END_TEST

START_TEST(memory_that_is_unknown_is_no_size)
{
	for (version = 1; version <= 3; version++) {
		nvml_fixture_script(&f, GPU "process 0 c 71 -1\n");
		look();
		ck_assert_uint_eq(got.use_count, 1);
		ck_assert(!got.use[0].has_memory);
		ck_assert_uint_eq(got.use[0].memory_bytes, 0);
		rti_nvml_close(&nvml);
	}
}
END_TEST

START_TEST(numbers_that_are_no_pid_are_left_out)
{
	nvml_fixture_script(&f, GPU "process 0 c 0 7\nprocess 0 c 4294967295 7\n"
	                            "process 0 c 2147483648 7\nprocess 0 c 71 7\n");
	look();
	ck_assert_uint_eq(got.use_count, 1);
	ck_assert_int_eq(got.use[0].pid, 71);
}
END_TEST

/* More than fit at first, in entries of each size. */
START_TEST(list_of_many_processes_is_complete)
{
	static char text[4096];
	size_t at;

	for (int bytes = 24; bytes <= 32; bytes += 8) {
		at = (size_t)sprintf(text, GPU "entry %d\n", bytes);
		for (int i = 0; i < 150; i++)
			at += (size_t)sprintf(text + at, "process 0 c %d %d\n", 1000 + i, i);
		nvml_fixture_script(&f, "%s", text);
		look();
		ck_assert_uint_eq(got.use_count, 150);
		for (int i = 0; i < 150; i++) {
			ck_assert_int_eq(got.use[i].pid, 1000 + i);
			ck_assert_uint_eq(got.use[i].memory_bytes, (uint64_t)i);
		}
	}
}
END_TEST

START_TEST(list_that_is_refused_is_said_and_the_others_are_read)
{
	nvml_fixture_script(&f, GPU "process 0 c 71 7\nprocess 0 g 72 7\n"
	                            "result nvmlDeviceGetComputeRunningProcesses_v3 4\n");
	look();
	ck_assert_uint_eq(got.use_count, 1);
	ck_assert_int_eq(got.use[0].pid, 72);
	ck_assert_int_eq(got.use_err, -EACCES);

	/* The error is of that look. */
	nvml_fixture_script(&f, GPU "process 0 c 71 7\n");
	look();
	ck_assert_int_eq(got.use_err, 0);
}
END_TEST

START_TEST(list_that_never_fits_is_an_error)
{
	nvml_fixture_script(&f, GPU "process 0 c 71 7\n"
	                            "result nvmlDeviceGetComputeRunningProcesses_v3 7\n");
	look();
	ck_assert_uint_eq(got.use_count, 0);
	ck_assert_int_eq(got.use_err, -EIO);
	ck_assert_int_lt(nvml_fixture_calls(&f, "nvmlDeviceGetComputeRunningProcesses_v3"), 10);
}
END_TEST

START_TEST(samples_are_those_of_listed_processes)
{
	nvml_fixture_script(&f, GPU THREE "sample 0 71 5000 40 3 2\nsample 0 99 9000 50 0 0\n");
	look();
	ck_assert(got.use[0].has_busy);
	ck_assert_uint_eq(got.use[0].busy_percent, 40);
	ck_assert_uint_eq(got.use[0].encode_percent, 3);
	ck_assert_uint_eq(got.use[0].decode_percent, 2);
	/* Those without a sample were idle. */
	ck_assert(got.use[1].has_busy && got.use[2].has_busy);
	ck_assert_uint_eq(got.use[1].busy_percent, 0);
	ck_assert_uint_eq(got.use_count, 3);
}
END_TEST

START_TEST(samples_above_100_percent_are_dropped)
{
	nvml_fixture_script(&f, GPU THREE "sample 0 71 5000 101 0 0\n"
	                                  "sample 0 72 5000 40 4000000000 0\n"
	                                  "sample 0 73 5000 100 0 0\n");
	look();
	ck_assert_uint_eq(got.use[0].busy_percent, 0);
	ck_assert_uint_eq(got.use[1].busy_percent, 0);
	ck_assert_uint_eq(got.use[1].encode_percent, 0);
	ck_assert_uint_eq(got.use[2].busy_percent, 100);
}
END_TEST

/* The time of the newest sample is passed to the next call. Some drivers return older ones. */
START_TEST(samples_that_were_seen_before_are_dropped)
{
	const char *call = "nvmlDeviceGetProcessUtilization";

	nvml_fixture_script(&f, GPU THREE "sample 0 71 5000 40 0 0\nsample 0 72 6000 50 0 0\n"
	                                  "sample 0 73 99999999 101 0 0\n");
	look();
	ck_assert_int_eq(nvml_fixture_argument(&f, call), 0);
	ck_assert_uint_eq(got.use[1].busy_percent, 50);

	nvml_fixture_script(&f, GPU THREE "sample 0 71 6000 40 0 0\nsample 0 72 7000 30 0 0\n"
	                                  "sample 0 72 6500 90 0 0\n");
	look();
	ck_assert_int_eq(nvml_fixture_argument(&f, call), 6000);
	ck_assert_uint_eq(got.use[0].busy_percent, 0);
	ck_assert_uint_eq(got.use[1].busy_percent, 30);
	look();
	ck_assert_int_eq(nvml_fixture_argument(&f, call), 7000);
	ck_assert_uint_eq(got.use[1].busy_percent, 0);
}
END_TEST

START_TEST(samples_not_found_are_idle_processes)
{
	nvml_fixture_script(&f, GPU THREE);
	look();
	ck_assert(got.use[0].has_busy);
	ck_assert_uint_eq(got.use[0].busy_percent, 0);
}
END_TEST

START_TEST(samples_that_are_refused_are_unknown)
{
	nvml_fixture_script(&f, GPU THREE "sample 0 71 5000 40 0 0\n"
	                                  "result nvmlDeviceGetProcessUtilization 4\n");
	look();
	ck_assert(!got.use[0].has_busy && got.use[0].has_memory);
	ck_assert_uint_eq(got.use[0].busy_percent, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nvml_process");
	TCase *lists = suite_case(suite, "lists"), *samples = suite_case(suite, "samples");

	tcase_add_checked_fixture(lists, set_up, tear_down);
	tcase_add_test(lists, list_in_each_version_has_all_processes);
	tcase_add_test(lists, entries_of_32_bytes_are_detected);
	tcase_add_test(lists, version_that_the_driver_lacks_falls_back);
	tcase_add_test(lists, process_in_several_lists_counts_once);
	tcase_add_test(lists, memory_that_is_unknown_is_no_size);
	tcase_add_test(lists, numbers_that_are_no_pid_are_left_out);
	tcase_add_test(lists, list_of_many_processes_is_complete);
	tcase_add_test(lists, list_that_is_refused_is_said_and_the_others_are_read);
	tcase_add_test(lists, list_that_never_fits_is_an_error);
	tcase_add_checked_fixture(samples, set_up, tear_down);
	tcase_add_test(samples, samples_are_those_of_listed_processes);
	tcase_add_test(samples, samples_above_100_percent_are_dropped);
	tcase_add_test(samples, samples_that_were_seen_before_are_dropped);
	tcase_add_test(samples, samples_not_found_are_idle_processes);
	tcase_add_test(samples, samples_that_are_refused_are_unknown);
	return suite_run(suite);
}
