/* SPDX-License-Identifier: MIT */
/* Which thread has made a call, as the tracer reads it. */
#include "tracer/identity.h"

#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "suite.h"

#define NO_PROCESS INT32_MAX /* above every pid */

static struct rti_trace_record fill(int32_t tid)
{
	struct rtt_tracee tracee = { .tid = tid, .stat_fd = -1, .pidfd = -1 };
	struct rti_trace_record record = { 0 };

	rtt_identity_begin();
	rtt_identity_fill(&tracee, &record);
	rtt_identity_forget(&tracee);
	if (tracee.pidfd >= 0)
		close(tracee.pidfd);
	return record;
}

/* Each thread takes two. */
START_TEST(tracer_may_open_as_many_descriptors_as_the_hard_limit_allows)
{
	struct rlimit limit;
	rlim_t most;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	most = limit.rlim_max;
	limit.rlim_cur = 100;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	rtt_identity_begin();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_uint_eq(limit.rlim_cur, most);
	ck_assert_uint_eq(limit.rlim_max, most);
}
END_TEST

START_TEST(live_thread_has_its_own_numbers)
{
	struct rti_trace_record record = fill(getpid());
	struct utsname host;

	ck_assert_int_eq(uname(&host), 0);
	ck_assert_int_eq(record.pid, getpid());
	ck_assert_int_eq(record.tid, getpid());
	ck_assert_int_eq(record.ppid, getppid());
	ck_assert_uint_eq(record.uid, getuid());
	ck_assert_uint_lt(record.cpu, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	ck_assert_uint_ne(record.exe_inode, 0);
	ck_assert_uint_ne(record.pid_namespace, 0);
	ck_assert_uint_gt(strlen(record.comm), 0);
	ck_assert_uint_gt(record.thread_start_ns, 0);
	ck_assert_uint_eq(record.process_start_ns, record.thread_start_ns);
	ck_assert_uint_gt(record.parent_start_ns, 0);
	ck_assert_uint_le(record.parent_start_ns, record.process_start_ns);
	ck_assert_int_eq(strncmp(record.host_name, host.nodename, 15), 0);
	ck_assert_uint_le(strlen(record.host_name), 15);
}
END_TEST

/* 0 would be root, and the first CPU. */
START_TEST(thread_that_cannot_be_read_has_no_user_and_no_cpu)
{
	struct rti_trace_record record = fill(NO_PROCESS);

	ck_assert_int_eq(record.pid, 0);
	ck_assert_int_eq(record.tid, NO_PROCESS);
	ck_assert_uint_eq(record.uid, UINT32_MAX);
	ck_assert_uint_eq(record.cpu, UINT32_MAX);
	ck_assert_uint_eq(record.exe_inode, 0);
	ck_assert_uint_eq(record.thread_start_ns, 0);
	ck_assert_uint_eq(record.process_start_ns, 0);
	ck_assert_uint_eq(record.parent_start_ns, 0);
	ck_assert_str_eq(record.host_name, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracer_identity");
	TCase *tests = suite_case(suite, "identity");

	tcase_add_test(tests, tracer_may_open_as_many_descriptors_as_the_hard_limit_allows);
	tcase_add_test(tests, live_thread_has_its_own_numbers);
	tcase_add_test(tests, thread_that_cannot_be_read_has_no_user_and_no_cpu);
	return suite_run(suite);
}
