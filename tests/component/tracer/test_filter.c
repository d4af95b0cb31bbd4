/* SPDX-License-Identifier: MIT */
/* The seccomp filter of a traced program. A thread that has it and no tracer shows which calls it
 * stops: they fail with ENOSYS. */
#include "tracer/filter.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/kernel_abi.h"
#include "os/protocol/trace_record.h"
#include "suite.h"

#define ALL (RTI_TRACE_GETRUSAGE | RTI_TRACE_WAIT4 | RTI_TRACE_WAITID)

#if defined(__x86_64__)
#define ARCH RTI_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH RTI_ARCH_AARCH64
#else
#define ARCH 0u
#endif

static const struct {
	long number;
	uint32_t meaning;
} calls[] = {
	{ SYS_getrusage, RTI_TRACE_GETRUSAGE },
	{ SYS_wait4, RTI_TRACE_WAIT4 },
	{ SYS_waitid, RTI_TRACE_WAITID },
	{ SYS_setuid, RTT_CHANGES_IDENTITY },
	{ SYS_setreuid, RTT_CHANGES_IDENTITY },
	{ SYS_setresuid, RTT_CHANGES_IDENTITY },
	{ SYS_unshare, RTT_CHANGES_IDENTITY },
	{ SYS_setns, RTT_CHANGES_IDENTITY },
	{ SYS_getppid, 0 },
	{ SYS_setgid, 0 },
	{ SYS_setfsuid, 0 },
};

START_TEST(meaning_of_a_call_is_known_by_its_number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		ck_assert_uint_eq(rtt_filter_meaning(ARCH, (uint64_t)calls[i].number),
		                  calls[i].meaning);
}
END_TEST

/* arch/x86/entry/syscalls/syscall_32.tbl, arch/x86/entry/syscalls/syscall_64.tbl */
START_TEST(meaning_of_a_call_depends_on_its_architecture)
{
	static const uint32_t i386_identity[] = { 23, 70, 164, 203, 208, 213, 310, 346 };

	ck_assert_uint_eq(rtt_filter_meaning(RTI_ARCH_I386, 77), RTI_TRACE_GETRUSAGE);
	ck_assert_uint_eq(rtt_filter_meaning(RTI_ARCH_I386, 114), RTI_TRACE_WAIT4);
	ck_assert_uint_eq(rtt_filter_meaning(RTI_ARCH_I386, 284), RTI_TRACE_WAITID);
	for (size_t i = 0; i < sizeof(i386_identity) / sizeof(i386_identity[0]); i++)
		ck_assert_uint_eq(rtt_filter_meaning(RTI_ARCH_I386, i386_identity[i]),
		                  RTT_CHANGES_IDENTITY);
	ck_assert_uint_eq(rtt_filter_meaning(RTI_ARCH_I386, 98), 0);
	ck_assert_uint_eq(rtt_filter_meaning(RTI_ARCH_X86_64, 77), 0);
	ck_assert_uint_eq(rtt_filter_meaning(RTI_ARCH_X86_64, RTI_X32_BIT | 98),
	                  RTI_TRACE_GETRUSAGE);
	ck_assert_uint_eq(rtt_filter_meaning(RTI_ARCH_X86_64, RTI_X32_BIT | 61), RTI_TRACE_WAIT4);
	ck_assert_uint_eq(rtt_filter_meaning(RTI_ARCH_X86_64, RTI_X32_BIT | 529), RTI_TRACE_WAITID);
	ck_assert_uint_eq(rtt_filter_meaning(RTI_ARCH_X86_64, RTI_X32_BIT | 247), 0);
	ck_assert_uint_eq(rtt_filter_meaning(0, 98), 0);
}
END_TEST

START_TEST(data_of_each_meaning_is_another_one)
{
	const uint32_t meanings[] = { RTI_TRACE_GETRUSAGE, RTI_TRACE_WAIT4, RTI_TRACE_WAITID,
		                      RTT_CHANGES_IDENTITY };

	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_le(rtt_filter_data(meanings[i]), UINT16_MAX);
		ck_assert_uint_ne(rtt_filter_data(meanings[i]), 0);
		for (size_t k = 0; k < i; k++)
			ck_assert_uint_ne(rtt_filter_data(meanings[i]),
			                  rtt_filter_data(meanings[k]));
	}
}
END_TEST

/* Make a call with arguments that are wrong, so that it changes nothing. Returns whether it was
 * stopped. */
static bool is_stopped(long number)
{
	errno = 0;
	return syscall(number, -1L, -1L, -1L, -1L, -1L) < 0 && errno == ENOSYS;
}

static const uint32_t choices[] = { RTI_TRACE_GETRUSAGE, RTI_TRACE_WAIT4, RTI_TRACE_WAITID, ALL };

/* The exit status of a child with the filter: 0; 77 if it can have none; or which call was
 * wrong. */
static int run_with_filter(uint32_t wanted)
{
	if (rtt_filter_install(wanted) != 0)
		return 77;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		uint32_t stopped = calls[i].meaning & (wanted | RTT_CHANGES_IDENTITY);

		if (is_stopped(calls[i].number) != !!stopped)
			return (int)i + 1;
	}
	return 0;
}

START_TEST(filter_stops_what_was_asked_for_and_changes_of_identity)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(run_with_filter(choices[_i]));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		suite_skip_test("no seccomp filter may be set here");
	else
		ck_assert_msg(status == 0, "call %ld", calls[WEXITSTATUS(status) - 1].number);
}
END_TEST

/* Without rights the kernel demands PR_SET_NO_NEW_PRIVS, which the filter sets by itself. */
START_TEST(filter_needs_no_rights)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(77);
		_exit(run_with_filter(ALL));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("filter");
	TCase *tests = suite_case(suite, "filter");

	if (!ARCH)
		return suite_skip("the filter is not for this architecture");
	tcase_add_test(tests, meaning_of_a_call_is_known_by_its_number);
	tcase_add_test(tests, meaning_of_a_call_depends_on_its_architecture);
	tcase_add_test(tests, data_of_each_meaning_is_another_one);
	tcase_add_loop_test(tests, filter_stops_what_was_asked_for_and_changes_of_identity, 0,
	                    sizeof(choices) / sizeof(choices[0]));
	tcase_add_test(tests, filter_needs_no_rights);
	return suite_run(suite);
}
