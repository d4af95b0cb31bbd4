/* SPDX-License-Identifier: MIT */
/* What the tracer makes of the arguments and the result of a call. The traced thread is the test
 * itself: its memory is read as that of any other process. */
#include "tracer/call.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#define HIGH UINT64_C(0xabcdef0000000000) /* of a register: undefined for a program of 32 bits */

static unsigned char usage[RTI_TRACE_USAGE_BYTES];
static siginfo_t info;

static void set_up(void)
{
	for (size_t i = 0; i < sizeof(usage); i++)
		usage[i] = (unsigned char)(i + 1);
	memset(&info, 0, sizeof(info));
}

static struct rtt_call decode(bool is_32bit, uint32_t meaning, const uint64_t args[6])
{
	struct rti_syscall_info stop = {
		.op = RTI_SYSCALL_INFO_SECCOMP,
		.arch = is_32bit ? RTI_ARCH_I386 : RTI_ARCH_X86_64,
	};
	struct rtt_call call;

	memcpy(stop.seccomp.args, args, sizeof(stop.seccomp.args));
	rtt_call_decode(&stop, meaning, &call);
	return call;
}

START_TEST(arguments_of_getrusage)
{
	const uint64_t args[6] = { (uint64_t)-1, 0x7ffc12345678, 3, 4, 5, 6 };
	struct rtt_call call = decode(false, RTI_TRACE_GETRUSAGE, args);

	ck_assert_uint_eq(call.call, RTI_TRACE_GETRUSAGE);
	ck_assert_uint_eq(call.flags, 0);
	ck_assert_int_eq(call.who, -1);
	ck_assert_uint_eq(call.usage_address, 0x7ffc12345678);
	ck_assert_uint_eq(call.usage_bytes, RTI_TRACE_USAGE_BYTES);
	ck_assert_uint_eq(call.wait_options, 0);
	ck_assert_uint_eq(call.status_address, 0);
	ck_assert_uint_eq(call.entry_ns, 0);
}
END_TEST

START_TEST(arguments_of_wait4)
{
	const uint64_t args[6] = { 0xfffffffe, 2, WNOHANG, 0x4000, 5, 6 };
	struct rtt_call call = decode(false, RTI_TRACE_WAIT4, args);

	ck_assert_int_eq(call.who, -2);
	ck_assert_uint_eq(call.wait_options, WNOHANG);
	ck_assert_uint_eq(call.usage_address, 0x4000);
	ck_assert_uint_eq(call.status_address, 2);
	ck_assert_int_eq(call.wait_id, 0);
}
END_TEST

START_TEST(arguments_of_waitid)
{
	const uint64_t args[6] = { P_PID, 4711, 0x3000, WEXITED, 0x5000, 6 };
	struct rtt_call call = decode(false, RTI_TRACE_WAITID, args);

	ck_assert_int_eq(call.who, P_PID);
	ck_assert_int_eq(call.wait_id, 4711);
	ck_assert_uint_eq(call.status_address, 0x3000);
	ck_assert_uint_eq(call.wait_options, WEXITED);
	ck_assert_uint_eq(call.usage_address, 0x5000);
}
END_TEST

START_TEST(addresses_of_32_bits_have_no_upper_half)
{
	const uint64_t args[6] = { P_ALL, 0, HIGH | 0x3000, WEXITED, HIGH | 0x5000, 6 };
	const uint64_t none[6] = { 0, HIGH };
	struct rtt_call call = decode(true, RTI_TRACE_WAITID, args);

	ck_assert_uint_eq(call.flags, RTI_TRACE_32BIT);
	ck_assert_uint_eq(call.usage_bytes, RTI_TRACE_USAGE_BYTES_32);
	ck_assert_uint_eq(call.status_address, 0x3000);
	ck_assert_uint_eq(call.usage_address, 0x5000);
	ck_assert_uint_eq(decode(true, RTI_TRACE_GETRUSAGE, none).usage_address, 0);
}
END_TEST

static struct rtt_call call_of(uint32_t meaning, uint32_t options)
{
	return (struct rtt_call){
		.call = meaning,
		.who = 11,
		.wait_id = 12,
		.wait_options = options,
		.usage_bytes = RTI_TRACE_USAGE_BYTES,
		.usage_address = (uintptr_t)usage,
		.status_address = (uintptr_t)&info,
		.entry_ns = 13,
	};
}

static struct rti_trace_record fill(struct rtt_call call, int64_t result)
{
	struct rti_trace_record record;

	memset(&record, 0, sizeof(record));
	rtt_call_fill(&call, getpid(), result, &record);
	return record;
}

static void check(struct rtt_call call, int64_t result, uint32_t usage_bytes, uint32_t flags)
{
	struct rti_trace_record record = fill(call, result);

	ck_assert_uint_eq(record.usage_bytes, usage_bytes);
	if (usage_bytes == RTI_TRACE_USAGE_BYTES) {
		uint64_t whole[RTI_TRACE_USAGE_WORDS], packed[RTI_TRACE_PACKED_WORDS];

		memcpy(whole, usage, sizeof(whole));
		rti_trace_pack_usage(packed, whole);
		ck_assert_mem_eq(record.usage, packed, sizeof(packed));
	} else {
		ck_assert_int_eq(memcmp(record.usage, usage, usage_bytes), 0);
	}
	ck_assert_uint_eq(record.flags, flags);
	ck_assert_int_eq(record.result, result);
}

START_TEST(record_has_every_argument)
{
	struct rti_trace_record record = fill(call_of(RTI_TRACE_WAITID, WEXITED), 0);

	ck_assert_uint_eq(record.call, RTI_TRACE_WAITID);
	ck_assert_int_eq(record.who, 11);
	ck_assert_int_eq(record.wait_id, 12);
	ck_assert_uint_eq(record.wait_options, WEXITED);
	ck_assert_uint_eq(record.usage_address, (uintptr_t)usage);
	ck_assert_uint_eq(record.entry_ns, 13);
}
END_TEST

START_TEST(getrusage_has_figures_unless_it_has_failed)
{
	check(call_of(RTI_TRACE_GETRUSAGE, 0), 0, RTI_TRACE_USAGE_BYTES, 0);
	check(call_of(RTI_TRACE_GETRUSAGE, 0), -EFAULT, 0, 0);
}
END_TEST

START_TEST(figures_of_32_bits_are_half_as_long)
{
	struct rtt_call call = call_of(RTI_TRACE_GETRUSAGE, 0);

	call.flags = RTI_TRACE_32BIT;
	call.usage_bytes = RTI_TRACE_USAGE_BYTES_32;
	check(call, 0, RTI_TRACE_USAGE_BYTES_32, RTI_TRACE_32BIT);
	ck_assert_uint_eq(fill(call, 0).usage[RTI_TRACE_USAGE_BYTES_32 / 8], 0);
}
END_TEST

START_TEST(wait4_has_figures_of_a_child_alone)
{
	check(call_of(RTI_TRACE_WAIT4, WNOHANG), 4711, RTI_TRACE_USAGE_BYTES, 0);
	check(call_of(RTI_TRACE_WAIT4, WNOHANG), 0, 0, 0);
	check(call_of(RTI_TRACE_WAIT4, 0), -ECHILD, 0, 0);
}
END_TEST

START_TEST(waitid_has_figures_if_it_has_found_a_child)
{
	check(call_of(RTI_TRACE_WAITID, WEXITED), 0, RTI_TRACE_USAGE_BYTES, 0);
	check(call_of(RTI_TRACE_WAITID, WEXITED | WNOHANG), 0, 0, 0);
	info.si_signo = SIGCHLD;
	check(call_of(RTI_TRACE_WAITID, WEXITED | WNOHANG), 0, RTI_TRACE_USAGE_BYTES, 0);
	check(call_of(RTI_TRACE_WAITID, WEXITED | WNOHANG), -ECHILD, 0, 0);
}
END_TEST

START_TEST(waitid_without_siginfo_may_have_found_a_child)
{
	struct rtt_call call = call_of(RTI_TRACE_WAITID, WEXITED | WNOHANG);

	call.status_address = 0;
	check(call, 0, 0, RTI_TRACE_UNREAD);
	call.status_address = 1; /* nothing is there */
	check(call, 0, 0, RTI_TRACE_UNREAD);
}
END_TEST

START_TEST(call_without_a_struct_has_no_figures)
{
	struct rtt_call call = call_of(RTI_TRACE_WAIT4, 0);

	call.usage_address = 0;
	check(call, 4711, 0, 0);
}
END_TEST

/* Another thread may have unmapped it meanwhile, all of it or a part. */
START_TEST(figures_that_cannot_be_read_are_unread)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct rtt_call call = call_of(RTI_TRACE_GETRUSAGE, 0);
	char *pages =
	    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(munmap(pages + page, page), 0);
	call.usage_address = (uintptr_t)(pages + page);
	check(call, 0, 0, RTI_TRACE_UNREAD);
	call.usage_address -= RTI_TRACE_USAGE_BYTES / 2;
	check(call, 0, 0, RTI_TRACE_UNREAD);
	munmap(pages, page);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call");
	TCase *arguments = suite_case(suite, "arguments"), *results = suite_case(suite, "results");

	tcase_add_test(arguments, arguments_of_getrusage);
	tcase_add_test(arguments, arguments_of_wait4);
	tcase_add_test(arguments, arguments_of_waitid);
	tcase_add_test(arguments, addresses_of_32_bits_have_no_upper_half);
	tcase_add_checked_fixture(results, set_up, NULL);
	tcase_add_test(results, record_has_every_argument);
	tcase_add_test(results, getrusage_has_figures_unless_it_has_failed);
	tcase_add_test(results, figures_of_32_bits_are_half_as_long);
	tcase_add_test(results, wait4_has_figures_of_a_child_alone);
	tcase_add_test(results, waitid_has_figures_if_it_has_found_a_child);
	tcase_add_test(results, waitid_without_siginfo_may_have_found_a_child);
	tcase_add_test(results, call_without_a_struct_has_no_figures);
	tcase_add_test(results, figures_that_cannot_be_read_are_unread);
	return suite_run(suite);
}
