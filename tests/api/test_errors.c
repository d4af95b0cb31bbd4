/* SPDX-License-Identifier: MIT */
/* Version, error texts, and the documented errors of the calls that need no handle. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "suite.h"

START_TEST(version_of_library_is_that_of_header)
{
	ck_assert_uint_eq(rt_version(), RT_VERSION);
	ck_assert_uint_eq(RT_VERSION_ENCODE(0, 1, 2), 0x000102);
}
END_TEST

START_TEST(strerror_of_documented_errors_has_a_text_for_each)
{
	static const int documented[] = { EINVAL,    EFAULT,  ESRCH,  ENOENT,     EMFILE,
		                          ENOMEM,    E2BIG,   EACCES, EOPNOTSUPP, EBADMSG,
		                          ETIMEDOUT, ENODATA, ESTALE, ENOEXEC,    EAGAIN,
		                          EINTR,     ECHILD,  ENOPKG, EPROTO,     ENOBUFS };

	for (size_t i = 0; i < COUNT_OF(documented); i++) {
		ck_assert_str_eq(rt_strerror(-documented[i]), rt_strerror(documented[i]));
		ck_assert_uint_gt(strlen(rt_strerror(-documented[i])), 0);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(rt_strerror(-documented[i]), rt_strerror(-documented[j]));
	}
	ck_assert_ptr_nonnull(rt_strerror(0));
	ck_assert_str_ne(rt_strerror(0), rt_strerror(-EINVAL));
	ck_assert_ptr_nonnull(rt_strerror(-99999));
	ck_assert_ptr_nonnull(rt_strerror(INT_MIN));
	ck_assert_ptr_nonnull(rt_strerror(INT_MAX));
}
END_TEST

START_TEST(getrusage_with_bad_arguments_is_refused)
{
	static const int unknown[] = { 2, -2, 3, INT_MAX, INT_MIN };
	struct rt_rusage usage;

	memset(&usage, FILLED, sizeof(usage));
	for (size_t i = 0; i < COUNT_OF(unknown); i++)
		ck_assert_int_eq(rt_getrusage(unknown[i], &usage), -EINVAL);
	ck_assert(is_filled(&usage, sizeof(usage)));
	ck_assert_int_eq(rt_getrusage(RT_RUSAGE_SELF, NULL), -EFAULT);
}
END_TEST

/* A thread that runs until the test has used its tid. */
struct waiting_thread {
	pthread_barrier_t barrier;
	int32_t tid;
};

static void *wait_at_barrier(void *arg)
{
	struct waiting_thread *self = arg;

	self->tid = (int32_t)syscall(SYS_gettid);
	pthread_barrier_wait(&self->barrier);
	pthread_barrier_wait(&self->barrier);
	return NULL;
}

START_TEST(pid_getrusage_with_bad_arguments_is_refused)
{
	static const int32_t bad[] = { 0, -1, INT32_MIN };
	struct rt_rusage usage;
	uint32_t valid = 0xDEAD;

	memset(&usage, FILLED, sizeof(usage));
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_int_eq(rt_pid_getrusage(bad[i], &usage, &valid), -EINVAL);
	ck_assert_int_eq(rt_pid_getrusage(make_exited_pid(), &usage, &valid), -ESRCH);
	ck_assert_int_eq(rt_pid_getrusage(INT32_MAX, &usage, &valid), -ESRCH);
	ck_assert_int_eq(rt_pid_getrusage(getpid(), NULL, &valid), -EFAULT);
	ck_assert_int_eq(rt_pid_getrusage(getpid(), &usage, NULL), -EFAULT);
	ck_assert(is_filled(&usage, sizeof(usage)));
	ck_assert_uint_eq(valid, 0xDEAD);
}
END_TEST

START_TEST(pid_getrusage_of_thread_returns_esrch)
{
	struct waiting_thread other;
	struct rt_rusage usage;
	pthread_t thread;
	uint32_t valid;

	pthread_barrier_init(&other.barrier, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_at_barrier, &other), 0);
	pthread_barrier_wait(&other.barrier);
	ck_assert_int_eq(rt_pid_getrusage(other.tid, &usage, &valid), -ESRCH);
	pthread_barrier_wait(&other.barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&other.barrier);
}
END_TEST

START_TEST(pid_read_with_bad_arguments_is_refused)
{
	static const int32_t bad[] = { 0, -1, INT32_MIN };
	static const uint64_t bad_want[] = { RT_HAS_PROCESSES, RT_HAS_PEAK_FOOTPRINT,
		                             RT_HAS_CPU_MODES, RT_HAS_CPU | RT_HAS_RATE,
		                             UINT64_C(1) << 63 };
	static const size_t bad_size[] = { 0, PROCESS_0_1 - 1, SIZE_LIMIT + 1 };
	struct rt_process row;

	memset(&row, FILLED, sizeof(row));
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_int_eq(rt_pid_read(bad[i], 0, &row, sizeof(row)), -EINVAL);
	for (size_t i = 0; i < COUNT_OF(bad_want); i++)
		ck_assert_int_eq(rt_pid_read(getpid(), bad_want[i], &row, sizeof(row)), -EINVAL);
	for (size_t i = 0; i < COUNT_OF(bad_size); i++)
		ck_assert_int_eq(rt_pid_read(getpid(), 0, &row, bad_size[i]), -EINVAL);
	ck_assert_int_eq(rt_pid_read(getpid(), 0, NULL, sizeof(row)), -EFAULT);
	ck_assert_int_eq(rt_pid_read(make_exited_pid(), 0, &row, sizeof(row)), -ESRCH);
	ck_assert_int_eq(rt_pid_read(INT32_MAX, RT_HAS_RSS, &row, sizeof(row)), -ESRCH);
	ck_assert(is_filled(&row, sizeof(row)));
}
END_TEST

START_TEST(pid_read_fills_as_much_as_the_caller_knows)
{
	char space[sizeof(struct rt_process) + 16];
	struct rt_process *row = (struct rt_process *)space;

	memset(space, FILLED, sizeof(space));
	ck_assert_int_eq(rt_pid_read(getpid(), RT_HAS_RSS, row, PROCESS_0_1), 0);
	ck_assert_uint_eq(row->size, PROCESS_0_1);
	ck_assert_uint_gt(row->rss_bytes, 0);
	ck_assert(is_filled(space + PROCESS_0_1, sizeof(space) - PROCESS_0_1));
	ck_assert_int_eq(rt_pid_read(getpid(), RT_HAS_RSS, row, sizeof(space)), 0);
	ck_assert_uint_eq(row->size, sizeof(*row));
	for (size_t i = sizeof(*row); i < sizeof(space); i++)
		ck_assert_int_eq(space[i], 0);
}
END_TEST

/* Every figure by itself: the id of a thread is that of no process, whichever file shows it. */
START_TEST(pid_read_of_thread_returns_esrch)
{
	static const uint64_t all[] = { RT_HAS_CPU,     RT_HAS_RSS,   RT_HAS_PSS,     RT_HAS_IO,
		                        RT_HAS_FAULTS,  RT_HAS_CTXSW, RT_HAS_THREADS, 0,
		                        RT_HAS_PEAK_RSS };
	struct waiting_thread other;
	struct rt_process row;
	pthread_t thread;

	pthread_barrier_init(&other.barrier, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_at_barrier, &other), 0);
	pthread_barrier_wait(&other.barrier);
	for (size_t i = 0; i < COUNT_OF(all); i++)
		ck_assert_int_eq(rt_pid_read(other.tid, all[i], &row, sizeof(row)), -ESRCH);
	pthread_barrier_wait(&other.barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&other.barrier);
}
END_TEST

START_TEST(is_partition_with_bad_name_is_refused)
{
	static const char *const bad[] = {
		"", ".", "..", "/", "../class", "sda/sda1", "/dev/sda1"
	};
	char name[65];

	ck_assert_int_eq(rt_is_partition(NULL), -EFAULT);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_int_eq(rt_is_partition(bad[i]), -EINVAL);
	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	ck_assert_int_eq(rt_is_partition(name), -EINVAL);
	name[63] = '\0';
	ck_assert_int_ne(rt_is_partition(name), -EINVAL);
	ck_assert_int_lt(rt_is_partition(name), 0);
}
END_TEST

START_TEST(field_get_with_bad_arguments_is_refused)
{
	static const uint32_t unknown[] = { 0, RT_STRUCT_PEAKS + 1, UINT32_MAX };
	static const size_t bad[] = { 0, offsetof(struct rt_field, text) - 1, SIZE_LIMIT + 1 };
	struct rt_field field;
	uint32_t count = rt_field_count(RT_STRUCT_METRICS);

	for (size_t i = 0; i < COUNT_OF(unknown); i++) {
		ck_assert_uint_eq(rt_field_count(unknown[i]), 0);
		ck_assert_uint_eq(rt_field_struct_size(unknown[i]), 0);
		ck_assert_int_eq(rt_field_get(unknown[i], 0, &field, sizeof(field)), -EINVAL);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, 0, &field, bad[i]), -EINVAL);
	ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, count - 1, &field, sizeof(field)), 0);
	ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, count, &field, sizeof(field)), -EINVAL);
	ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, UINT32_MAX, &field, sizeof(field)),
	                 -EINVAL);
	ck_assert_int_eq(rt_field_get(RT_STRUCT_METRICS, 0, NULL, sizeof(field)), -EFAULT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("errors");
	TCase *texts = suite_case(suite, "version and texts");
	TCase *usage = suite_case(suite, "getrusage"), *fields = suite_case(suite, "fields");
	TCase *devices = suite_case(suite, "devices"), *pids = suite_case(suite, "pids");

	tcase_add_test(texts, version_of_library_is_that_of_header);
	tcase_add_test(texts, strerror_of_documented_errors_has_a_text_for_each);
	tcase_add_test(usage, getrusage_with_bad_arguments_is_refused);
	tcase_add_test(usage, pid_getrusage_with_bad_arguments_is_refused);
	tcase_add_test(usage, pid_getrusage_of_thread_returns_esrch);
	tcase_add_test(pids, pid_read_with_bad_arguments_is_refused);
	tcase_add_test(pids, pid_read_fills_as_much_as_the_caller_knows);
	tcase_add_test(pids, pid_read_of_thread_returns_esrch);
	tcase_add_test(devices, is_partition_with_bad_name_is_refused);
	tcase_add_test(fields, field_get_with_bad_arguments_is_refused);
	return suite_run(suite);
}
