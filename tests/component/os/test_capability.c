/* SPDX-License-Identifier: MIT */
/* Capabilities of a thread, beside what the kernel shows of it. */
#include "os/capability.h"

#include <grp.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "suite.h"

#define NUMBERS 64u
#define NO_USER 65534

static uint64_t read_effective(void)
{
	FILE *file = fopen("/proc/thread-self/status", "re");
	char line[256];
	uint64_t set = 0;
	bool is_found = false;

	ck_assert_ptr_nonnull(file);
	while (!is_found && fgets(line, sizeof(line), file))
		is_found = sscanf(line, "CapEff: %" SCNx64, &set) == 1;
	fclose(file);
	ck_assert(is_found);
	return set;
}

static void check_all(uint64_t expected)
{
	for (unsigned i = 0; i < NUMBERS; i++)
		ck_assert_msg(rti_has_capability(i) == (expected >> i & 1), "capability %u", i);
}

START_TEST(capabilities_are_those_that_the_kernel_shows)
{
	check_all(read_effective());
}
END_TEST

START_TEST(numbers_out_of_range_are_no_capabilities)
{
	ck_assert(!rti_has_capability(NUMBERS));
	ck_assert(!rti_has_capability(NUMBERS + RTI_CAP_SYS_ADMIN));
	ck_assert(!rti_has_capability(~0u));
}
END_TEST

/* Keep one capability of each half, and no other. */
static void keep_two(void)
{
	struct rti_cap_header header = { .version = RTI_CAP_VERSION_3 };
	const struct rti_cap_data two[2] = {
		{ .effective = 1u << RTI_CAP_SYS_ADMIN, .permitted = 1u << RTI_CAP_SYS_ADMIN },
		{ .effective = 1u << (RTI_CAP_BPF - 32), .permitted = 1u << (RTI_CAP_BPF - 32) },
	};

	ck_assert_int_eq(syscall(SYS_capset, &header, two), 0);
}

START_TEST(each_capability_is_known_by_its_number)
{
	if (!(read_effective() >> RTI_CAP_BPF & 1) ||
	    !(read_effective() >> RTI_CAP_SYS_ADMIN & 1)) {
		suite_skip_test("this user has no capabilities to keep");
		return;
	}
	keep_two();
	check_all(UINT64_C(1) << RTI_CAP_SYS_ADMIN | UINT64_C(1) << RTI_CAP_BPF);
}
END_TEST

static void *check_none(void *arg)
{
	/* The system call, unlike the function of the C library, is for this thread alone. */
	ck_assert_int_eq(syscall(SYS_setresuid, NO_USER, NO_USER, NO_USER), 0);
	check_all(0);
	return arg;
}

START_TEST(capabilities_are_those_of_the_thread)
{
	uint64_t before = read_effective();
	pthread_t thread;

	if (geteuid() != 0) {
		suite_skip_test("only root can be two users");
		return;
	}
	ck_assert_int_eq(pthread_create(&thread, NULL, check_none, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_uint_ne(before, 0);
	check_all(before);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("capability");
	TCase *tests = suite_case(suite, "capability");

	tcase_add_test(tests, capabilities_are_those_that_the_kernel_shows);
	tcase_add_test(tests, numbers_out_of_range_are_no_capabilities);
	tcase_add_test(tests, each_capability_is_known_by_its_number);
	tcase_add_test(tests, capabilities_are_those_of_the_thread);
	return suite_run(suite);
}
