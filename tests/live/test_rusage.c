/* SPDX-License-Identifier: MIT */
/* rt_getrusage() and rt_pid_getrusage() of real processes. The reference is what the kernel reports
 * to the processes themselves, and to the process that reaps them. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"

#define FIELDS 16
#define MIB (1 << 20)

enum { UTIME, STIME, MAXRSS, MINFLT = 6, MAJFLT, INBLOCK = 9, OUBLOCK, NVCSW = 14, NIVCSW };

/* The fields of the kernel's struct, in the order of struct rt_rusage. */
static void get_fields(const struct rusage *r, double out[FIELDS])
{
	const double values[FIELDS] = {
		(double)r->ru_utime.tv_sec + (double)r->ru_utime.tv_usec / 1e6,
		(double)r->ru_stime.tv_sec + (double)r->ru_stime.tv_usec / 1e6,
		(double)r->ru_maxrss,
		(double)r->ru_ixrss,
		(double)r->ru_idrss,
		(double)r->ru_isrss,
		(double)r->ru_minflt,
		(double)r->ru_majflt,
		(double)r->ru_nswap,
		(double)r->ru_inblock,
		(double)r->ru_oublock,
		(double)r->ru_msgsnd,
		(double)r->ru_msgrcv,
		(double)r->ru_nsignals,
		(double)r->ru_nvcsw,
		(double)r->ru_nivcsw,
	};

	memcpy(out, values, sizeof(values));
}

static double get_field(const struct rt_rusage *r, int i)
{
	double real;
	int64_t whole;

	if (i < 2) {
		memcpy(&real, (const char *)r + 8 * i, sizeof(real));
		return real;
	}
	memcpy(&whole, (const char *)r + 8 * i, sizeof(whole));
	return (double)whole;
}

/* Each field lies between those of two system calls, one before and one after. */
static void check_between_system_calls(int which)
{
	double low[FIELDS], high[FIELDS];
	struct rusage before, after;
	struct rt_rusage got;

	ck_assert_int_eq(getrusage(which, &before), 0);
	ck_assert_int_eq(rt_getrusage(which, &got), 0);
	ck_assert_int_eq(getrusage(which, &after), 0);
	get_fields(&before, low);
	get_fields(&after, high);
	for (int i = 0; i < FIELDS; i++) {
		ck_assert_msg(low[i] <= get_field(&got, i) && get_field(&got, i) <= high[i],
		              "field %d: %f <= %f <= %f", i, low[i], get_field(&got, i), high[i]);
	}
}

static void burn_a_little(void *arg)
{
	(void)arg;
	burn_cpu_ns(20000000);
}

START_TEST(getrusage_between_two_system_calls_has_their_fields)
{
	struct child child;

	child_start(&child, burn_a_little, NULL);
	child_end(&child);
	burn_cpu_ns(5000000);
	check_between_system_calls(RT_RUSAGE_SELF);
	check_between_system_calls(RT_RUSAGE_CHILDREN);
	check_between_system_calls(RT_RUSAGE_THREAD);
}
END_TEST

START_TEST(getrusage_with_bad_arguments_returns_error)
{
	struct rt_rusage out;
	uint32_t valid;

	ck_assert_int_eq(rt_getrusage(2, &out), -EINVAL);
	ck_assert_int_eq(rt_getrusage(-2, &out), -EINVAL);
	ck_assert_int_eq(rt_getrusage(RT_RUSAGE_SELF, NULL), -EFAULT);
	ck_assert_int_eq(rt_pid_getrusage(-1, &out, &valid), -EINVAL);
	ck_assert_int_eq(rt_pid_getrusage(0, &out, &valid), -EINVAL);
	ck_assert_int_eq(rt_pid_getrusage(1, NULL, &valid), -EFAULT);
	ck_assert_int_eq(rt_pid_getrusage(1, &out, NULL), -EFAULT);
	ck_assert_int_eq(rt_pid_getrusage(INT32_MAX, &out, &valid), -ESRCH);
}
END_TEST

static void *nap_often(void *arg)
{
	atomic_int *threads_at_rest = arg;
	struct timespec nap = { .tv_nsec = 1000 };

	for (int i = 0; i < 100; i++)
		nanosleep(&nap, NULL);
	atomic_fetch_add(threads_at_rest, 1);
	pause();
	return NULL;
}

/* Use something of each field: CPU time, memory, faults, storage, and context switches in threads
 * that keep running. The child reports its own rusage in shared memory. */
static void work_in_all_fields(void *arg)
{
	struct rusage *reported = arg;
	struct timespec nap = { .tv_nsec = 1000000 };
	char *memory =
	    mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	atomic_int threads_at_rest = 0;
	pthread_t thread;

	memset(memory, 1, 32 * MIB);
	burn_cpu_ns(60000000);
	write_file(2);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, nap_often, &threads_at_rest);
	while (atomic_load(&threads_at_rest) < 3)
		nanosleep(&nap, NULL);
	getrusage(RUSAGE_SELF, reported);
}

/* Fail unless field i is the same, but for some slack. */
static void check_close(const struct rt_rusage *got, const double reported_fields[FIELDS], int i,
                        double slack)
{
	ck_assert_msg(get_field(got, i) >= reported_fields[i] - slack &&
	                  get_field(got, i) <= reported_fields[i] + slack,
	              "field %d: %f against %f", i, get_field(got, i), reported_fields[i]);
}

/* Fail unless field i lies between what getrusage() reported before and what wait4() reports after.
 * Times are cut to ticks, and the kernel counts resident pages in batches. */
static void check_between(const double before[FIELDS], const struct rt_rusage *got,
                          const double after[FIELDS], int i)
{
	double slack = i <= STIME ? 0.011 : i == MAXRSS ? 512 : 0;

	ck_assert_msg(get_field(got, i) >= before[i] - slack &&
	                  get_field(got, i) <= after[i] + slack,
	              "field %d: %f, which is not between %f and %f", i, get_field(got, i),
	              before[i], after[i]);
}

START_TEST(pid_getrusage_of_running_process_has_all_fields)
{
	struct rusage *reported = map_shared(sizeof(*reported));
	double reported_fields[FIELDS], final[FIELDS];
	struct rusage at_exit;
	struct rt_rusage got;
	struct child child;
	uint32_t valid;

	child_start(&child, work_in_all_fields, reported);

	ck_assert_int_eq(rt_pid_getrusage(child.pid, &got, &valid), 0);
	close(child.go_fd);
	ck_assert_int_eq(wait4(child.pid, NULL, 0, &at_exit), child.pid);
	close(child.ready_fd);
	get_fields(reported, reported_fields);
	get_fields(&at_exit, final);

	ck_assert_uint_eq(valid, 0xffff);
	for (int i = 0; i < FIELDS; i++)
		check_between(reported_fields, &got, final, i);
	ck_assert_double_ge(get_field(&got, UTIME) + get_field(&got, STIME),
	                    reported_fields[UTIME] + reported_fields[STIME] - 0.000002);
	/* The leader alone has few. A nap may be over before it begins, without a switch. */
	ck_assert_double_ge(get_field(&got, NVCSW), 200);
}
END_TEST

static void reap_writer(void *arg)
{
	struct rusage *reported = arg;
	pid_t pid = fork();

	if (pid == 0) {
		write_file(4);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	write_file(1);
	getrusage(RUSAGE_SELF, reported);
}

START_TEST(blocks_after_child_was_reaped_exclude_those_of_child)
{
	struct rusage *reported = map_shared(sizeof(*reported));
	struct rt_rusage got;
	struct child child;
	uint32_t valid;

	child_start(&child, reap_writer, reported);

	ck_assert_int_eq(rt_pid_getrusage(child.pid, &got, &valid), 0);
	child_end(&child);

	ck_assert_uint_ne(valid & 1u << OUBLOCK, 0);
	ck_assert_int_eq(got.ru_oublock, reported->ru_oublock);
	ck_assert_int_eq(got.ru_inblock, reported->ru_inblock);
}
END_TEST

static void *burn_and_exit(void *arg)
{
	burn_cpu_ns(15000000);
	return arg;
}

/* The kernel releases a thread a moment after it was joined. */
static void wait_until_single_threaded(void)
{
	struct timespec nap = { .tv_nsec = 1000000 };
	struct stat tasks;

	while (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2 + 1)
		nanosleep(&nap, NULL);
}

static void outlive_threads(void *arg)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++) {
		pthread_create(&thread, NULL, burn_and_exit, NULL);
		pthread_join(thread, NULL);
	}
	wait_until_single_threaded();
	getrusage(RUSAGE_SELF, arg);
}

START_TEST(pid_getrusage_after_threads_have_exited_has_their_cpu_but_no_switches)
{
	struct rusage *reported = map_shared(sizeof(*reported));
	double reported_fields[FIELDS];
	struct rt_rusage got;
	struct child child;
	uint32_t valid;

	child_start(&child, outlive_threads, reported);

	ck_assert_int_eq(rt_pid_getrusage(child.pid, &got, &valid), 0);
	child_end(&child);
	get_fields(reported, reported_fields);

	ck_assert_uint_eq(valid & (1u << NVCSW | 1u << NIVCSW), 0);
	ck_assert_double_le(get_field(&got, NVCSW), reported_fields[NVCSW] + 3);
	check_close(&got, reported_fields, UTIME, 0.011);
	ck_assert_double_ge(get_field(&got, UTIME) + get_field(&got, STIME), 0.06);
}
END_TEST

START_TEST(pid_getrusage_of_zombie_has_all_but_its_memory)
{
	struct rt_rusage got;
	struct child child;
	uint32_t valid;

	child_start(&child, burn_a_little, NULL);
	child_let_die(&child);

	ck_assert_int_eq(rt_pid_getrusage(child.pid, &got, &valid), 0);
	ck_assert_uint_eq(valid & 1u << MAXRSS, 0);
	ck_assert_uint_eq(valid & (1u << UTIME | 1u << MINFLT), 1u << UTIME | 1u << MINFLT);
	ck_assert_double_ge(got.ru_utime + got.ru_stime, 0.02);
	child_end(&child);
	ck_assert_int_eq(rt_pid_getrusage(child.pid, &got, &valid), -ESRCH);
}
END_TEST

/* Process 1 belongs to root. An unprivileged caller gets its CPU time and faults. Its blocks are 0,
 * and not valid. */
START_TEST(pid_getrusage_of_init_has_cpu_and_faults)
{
	struct rt_rusage got;
	uint32_t valid;

	ck_assert_int_eq(rt_pid_getrusage(1, &got, &valid), 0);
	ck_assert_uint_ne(valid & 1u << UTIME, 0);
	ck_assert_uint_ne(valid & 1u << MINFLT, 0);
	if (geteuid() != 0) {
		ck_assert_uint_eq(valid & 1u << INBLOCK, 0);
		ck_assert_int_eq(got.ru_inblock, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rusage");
	TCase *caller = suite_case(suite, "caller"), *others = suite_case(suite, "others");

	tcase_add_test(caller, getrusage_between_two_system_calls_has_their_fields);
	tcase_add_test(caller, getrusage_with_bad_arguments_returns_error);
	tcase_add_test(others, pid_getrusage_of_running_process_has_all_fields);
	tcase_add_test(others, blocks_after_child_was_reaped_exclude_those_of_child);
	tcase_add_test(others,
	               pid_getrusage_after_threads_have_exited_has_their_cpu_but_no_switches);
	tcase_add_test(others, pid_getrusage_of_zombie_has_all_but_its_memory);
	tcase_add_test(others, pid_getrusage_of_init_has_cpu_and_faults);
	return suite_run(suite);
}
