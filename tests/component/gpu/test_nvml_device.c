/* SPDX-License-Identifier: MIT */
/* One device, by a library that is made of functions of the test's own: libraries that lack some of
 * them, answers that no fake driver gives, and want of memory. */
#include "gpu/nvml_device.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "allocation_faults.h"
#include "suite.h"

#define PARTITIONS 7u
#define PROCESSES 40u
#define ALLOCATIONS_MAX 100
#define TOTAL 1000u
#define USED 300u
#define TIME_US 5000u

static struct {
	uint64_t total;
	int pci_result;
	uint32_t domain, bus, slot;
	uint32_t processes; /* of each list */
	uint32_t claimed;   /* entries that a list says it needs; 0: it fits */
	struct rti_nvml_sample sample;
	bool is_split;
	uint32_t missing; /* this and all later partitions have no handle */
	unsigned lists;
} driver;

/* These assert nothing: libcheck allocates memory, which may be short. */
static int get_handle(uint32_t index, void **device)
{
	(void)index;
	*device = &driver;
	return RTI_NVML_OK;
}

static int get_pci(void *device, void *out)
{
	struct rti_nvml_pci *pci = out;

	(void)device;
	pci->domain = driver.domain;
	pci->bus = driver.bus;
	pci->device = driver.slot;
	return driver.pci_result;
}

static int get_memory(void *device, struct rti_nvml_memory *out)
{
	(void)device;
	out->total = driver.total;
	out->used = USED;
	return RTI_NVML_OK;
}

static int get_utilization(void *device, struct rti_nvml_utilization *out)
{
	(void)device;
	out->gpu = 50;
	return driver.is_split ? RTI_NVML_NOT_SUPPORTED : RTI_NVML_OK;
}

static int list_processes(void *device, uint32_t *count, void *entries)
{
	uint32_t room = *count;

	(void)device;
	driver.lists++;
	*count = driver.claimed ? driver.claimed : driver.processes;
	if (*count > room)
		return RTI_NVML_TOO_SMALL;
	for (uint32_t i = 0; i < driver.processes; i++) {
		const uint32_t pid = 100 + i;
		const uint64_t bytes = i;

		memcpy((char *)entries + (size_t)i * 16, &pid, sizeof(pid));
		memcpy((char *)entries + (size_t)i * 16 + 8, &bytes, sizeof(bytes));
	}
	return RTI_NVML_OK;
}

static int get_samples(void *device, struct rti_nvml_sample *samples, uint32_t *count,
                       uint64_t newer_than_us)
{
	(void)device;
	(void)newer_than_us;
	samples[0] = driver.sample;
	*count = 1;
	return RTI_NVML_OK;
}

static int get_mode(void *device, uint32_t *current, uint32_t *pending)
{
	(void)device;
	*current = *pending = driver.is_split;
	return RTI_NVML_OK;
}

static int count_partitions(void *device, uint32_t *count)
{
	(void)device;
	*count = PARTITIONS;
	return RTI_NVML_OK;
}

static int get_partition(void *device, uint32_t index, void **instance)
{
	(void)device;
	*instance = index < driver.missing ? &driver : NULL;
	return RTI_NVML_OK;
}

static const struct rti_nvml_library whole = {
	.handle = get_handle,
	.pci = get_pci,
	.utilization = get_utilization,
	.memory = get_memory,
	.processes[RTI_NVML_COMPUTE][0] = list_processes,
	.processes[RTI_NVML_GRAPHICS][0] = list_processes,
	.samples = get_samples,
	.mig_mode = get_mode,
	.mig_count = count_partitions,
	.mig_handle = get_partition,
};

static const struct rti_nvml_want everything = { .energy = true, .processes = true };
static struct rti_gpu_readings got;
static struct rti_nvml_buffer buffer;

static void set_up(void)
{
	driver.total = TOTAL;
	driver.bus = 0x3b;
	driver.missing = PARTITIONS;
	driver.processes = 1;
	driver.sample = (struct rti_nvml_sample){ .pid = 100, .timestamp_us = TIME_US, .sm = 7 };
}

static void tear_down(void)
{
	rti_nvml_buffer_free(&buffer);
	rti_gpu_readings_free(&got);
}

static int look(const struct rti_nvml_library *library, struct rti_nvml_want want)
{
	struct rti_nvml_device device;

	rti_nvml_device_init(library, 0, &device);
	return rti_nvml_device_read(library, &device, want, &buffer, &got);
}

static const struct {
	int result;
	uint32_t domain, bus, slot;
	bool is_address;
} addresses[] = {
	{ RTI_NVML_OK, 0, 0x3b, 0, true },           { RTI_NVML_OK, 0x10000, 0xff, 31, true },
	{ RTI_NVML_OK, UINT32_MAX, 0x3b, 0, false }, { RTI_NVML_OK, 0, 0x100, 0, false },
	{ RTI_NVML_OK, 0, 0x3b, 32, false },         { RTI_NVML_NOT_SUPPORTED, 0, 0x3b, 0, false },
	{ RTI_NVML_UNKNOWN, 0, 0x3b, 0, false },
};

START_TEST(address_is_one_that_there_can_be_or_none)
{
	driver.pci_result = addresses[_i].result;
	driver.domain = addresses[_i].domain;
	driver.bus = addresses[_i].bus;
	driver.slot = addresses[_i].slot;
	ck_assert_int_eq(look(&whole, everything), RTI_NVML_OK);
	ck_assert_uint_eq(got.gpu[0].pci.bus,
	                  addresses[_i].is_address ? addresses[_i].bus : UINT32_MAX);
	ck_assert_uint_eq(got.gpu[0].pci.domain,
	                  addresses[_i].is_address ? addresses[_i].domain : UINT32_MAX);
}
END_TEST

static const struct {
	uint64_t total;
	int err;
} memories[] = { { TOTAL, 0 }, { USED, 0 }, { USED - 1, -EBADMSG }, { UINT64_MAX, -EBADMSG } };

START_TEST(memory_is_no_more_than_there_is)
{
	driver.total = memories[_i].total;
	ck_assert_int_eq(look(&whole, everything), RTI_NVML_OK);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_MEMORY], memories[_i].err);
	ck_assert_uint_eq(got.gpu[0].memory_total_bytes,
	                  memories[_i].err == 0 ? memories[_i].total : 0);
	ck_assert_int_eq(got.gpu[0].err[RTI_GPU_BUSY], 0);
}
END_TEST

/* A driver of before MIG, or of some of its calls, has the device alone. */
START_TEST(device_has_partitions_if_the_library_has_all_of_their_calls)
{
	struct rti_nvml_library library = whole;

	driver.is_split = true;
	if (_i == 1)
		library.mig_mode = NULL;
	else if (_i == 2)
		library.mig_count = NULL;
	else if (_i == 3)
		library.mig_handle = NULL;
	ck_assert_int_eq(look(&library, everything), RTI_NVML_OK);
	ck_assert_uint_eq(got.gpu_count, _i == 0 ? 1 + PARTITIONS : 1);
	ck_assert_uint_eq(got.use_count, _i == 0 ? PARTITIONS : 1);
}
END_TEST

START_TEST(partition_without_a_handle_is_none)
{
	driver.is_split = true;
	driver.missing = 2;
	ck_assert_int_eq(look(&whole, everything), RTI_NVML_OK);
	ck_assert_uint_eq(got.gpu_count, 3);
}
END_TEST

START_TEST(processes_that_are_not_wanted_are_not_listed)
{
	const struct rti_nvml_want figures = { .energy = true };

	driver.is_split = _i;
	ck_assert_int_eq(look(&whole, figures), RTI_NVML_OK);
	ck_assert_uint_eq(got.gpu_count, _i ? 1 + PARTITIONS : 1);
	ck_assert_uint_eq(driver.lists, 0);
	ck_assert_uint_eq(got.use_count, 0);
}
END_TEST

/* It is not asked for room for four billion processes. */
START_TEST(list_that_needs_room_beyond_belief_is_an_error)
{
	driver.claimed = _i ? UINT32_MAX : 65537;
	ck_assert_int_eq(look(&whole, everything), RTI_NVML_OK);
	ck_assert_uint_eq(got.use_count, 0);
	ck_assert_int_eq(got.use_err, rti_nvml_error(RTI_NVML_TOO_SMALL));
	ck_assert_uint_eq(driver.lists, 2); /* each once */
}
END_TEST

static const struct {
	struct rti_nvml_sample sample;
	bool has_busy;
	uint32_t busy;
} samples[] = {
	{ { 100, 0, TIME_US, 100, 100, 100, 100 }, true, 100 },
	{ { 100, 0, TIME_US, 101, 0, 0, 0 }, false, 0 },
	{ { 100, 0, TIME_US, 50, 101, 0, 0 }, false, 0 },
	{ { 100, 0, TIME_US, 50, 0, 101, 0 }, false, 0 },
	{ { 100, 0, TIME_US, 50, 0, 0, 101 }, false, 0 },
	/* Of no process that is listed. */
	{ { 999, 0, TIME_US, 50, 0, 0, 0 }, true, 0 },
	{ { UINT32_MAX, 0, TIME_US, 50, 0, 0, 0 }, true, 0 },
};

START_TEST(sample_with_any_share_above_100_percent_is_not_used)
{
	driver.sample = samples[_i].sample;
	ck_assert_int_eq(look(&whole, everything), RTI_NVML_OK);
	ck_assert_uint_eq(got.use_count, 1);
	ck_assert(got.use[0].has_busy == samples[_i].has_busy);
	ck_assert_uint_eq(got.use[0].busy_percent, samples[_i].busy);
}
END_TEST

/* A sum over some of the partitions, or some of the processes, must not pass for the whole. Other
 * devices may have been read before. */
START_TEST(want_of_memory_is_said_whatever_it_is_wanted_for)
{
	const size_t before = _i ? 12 : 0, gpus = before + (_i ? 1 + PARTITIONS : 1);
	const size_t uses = (_i ? PARTITIONS : 1) * PROCESSES;
	bool is_reached = true;
	unsigned at;

	driver.is_split = _i;
	driver.processes = PROCESSES;
	for (at = 1; is_reached; at++) {
		int result;

		ck_assert_uint_lt(at, ALLOCATIONS_MAX);
		tear_down();
		for (size_t i = 0; i < before; i++)
			ck_assert_ptr_nonnull(rti_gpu_add_reading(&got));
		allocation_faults_begin(at, false);
		result = look(&whole, everything);
		is_reached = allocation_faults_end();
		ck_assert_msg(result == RTI_NVML_NO_MEMORY || got.gpu_count == gpus,
		              "allocation %u fails: %zu GPUs", at, got.gpu_count);
		ck_assert_msg(result == RTI_NVML_NO_MEMORY || got.use_err == -ENOMEM ||
		                  got.use_count == uses,
		              "allocation %u fails: %zu uses", at, got.use_count);
		ck_assert(is_reached || (result == RTI_NVML_OK && got.use_err == 0));
	}
	ck_assert_uint_gt(at, 4);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("nvml_device");
	TCase *tests = suite_case(suite, "device");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, address_is_one_that_there_can_be_or_none, 0, COUNT(addresses));
	tcase_add_loop_test(tests, memory_is_no_more_than_there_is, 0, COUNT(memories));
	tcase_add_loop_test(tests, device_has_partitions_if_the_library_has_all_of_their_calls, 0,
	                    4);
	tcase_add_test(tests, partition_without_a_handle_is_none);
	tcase_add_loop_test(tests, processes_that_are_not_wanted_are_not_listed, 0, 2);
	tcase_add_loop_test(tests, list_that_needs_room_beyond_belief_is_an_error, 0, 2);
	tcase_add_loop_test(tests, sample_with_any_share_above_100_percent_is_not_used, 0,
	                    COUNT(samples));
	tcase_add_loop_test(tests, want_of_memory_is_said_whatever_it_is_wanted_for, 0, 2);
	return suite_run(suite);
}
