/* SPDX-License-Identifier: MIT */
/* The sixteen fields of live processes against what the kernel tells the processes themselves. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
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

#define FIELDS 16
#define MIB (1 << 20)

enum { UTIME, STIME, MAXRSS, MINFLT = 6, MAJFLT, INBLOCK = 9, OUBLOCK, NVCSW = 14, NIVCSW };

static void flatten(const struct rusage *r, double out[FIELDS])
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

static double field(const struct rt_rusage *r, int i)
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

/* The system call before and after brackets ours, field by field. */
static void check_bracketed(int who)
{
	double low[FIELDS], high[FIELDS];
	struct rusage before, after;
	struct rt_rusage mine;

	ck_assert_int_eq(getrusage(who, &before), 0);
	ck_assert_int_eq(rt_getrusage(who, &mine), 0);
	ck_assert_int_eq(getrusage(who, &after), 0);
	flatten(&before, low);
	flatten(&after, high);
	for (int i = 0; i < FIELDS; i++) {
		ck_assert_msg(low[i] <= field(&mine, i) && field(&mine, i) <= high[i],
		              "field %d: %f <= %f <= %f", i, low[i], field(&mine, i), high[i]);
	}
}

static void burn_a_little(void *arg)
{
	(void)arg;
	burn_cpu_ns(20000000);
}

START_TEST(equals_the_system_call)
{
	struct child child;

	child_start(&child, burn_a_little, NULL);
	child_end(&child);
	burn_cpu_ns(5000000);
	check_bracketed(RT_RUSAGE_SELF);
	check_bracketed(RT_RUSAGE_CHILDREN);
	check_bracketed(RT_RUSAGE_THREAD);
}
END_TEST

START_TEST(bad_arguments_are_errors)
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

/* What a child tells of itself, through shared memory, right before it goes to sleep. */
struct report {
	struct rusage own;
	char file[512];
	int has_storage;
};

static struct report *new_report(void)
{
	struct report *report =
	    mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *dir = getenv("RTRACK_BUILD_ROOT");

	ck_assert_ptr_ne(report, MAP_FAILED);
	snprintf(report->file, sizeof(report->file), "%s/rtrack-test-%d", dir ? dir : "/var/tmp",
	         getpid());
	return report;
}

static void write_file(struct report *report, int mib)
{
	static char block[MIB];
	int fd = open(report->file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < mib; i++) {
		if (write(fd, block, sizeof(block)) != sizeof(block))
			_exit(98);
	}
	fsync(fd);
	close(fd);
	unlink(report->file);
}

static atomic_int threads_at_rest;

static void *nap_often(void *arg)
{
	struct timespec nap = { .tv_nsec = 1000 };

	(void)arg;
	for (int i = 0; i < 100; i++)
		nanosleep(&nap, NULL);
	atomic_fetch_add(&threads_at_rest, 1);
	pause();
	return NULL;
}

/* Work in every field: CPU, memory, faults, storage, and switches in threads that stay. */
static void work_in_all_fields(void *arg)
{
	struct report *report = arg;
	struct timespec nap = { .tv_nsec = 1000000 };
	char *memory =
	    mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	memset(memory, 1, 32 * MIB);
	burn_cpu_ns(60000000);
	write_file(report, 2);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, nap_often, NULL);
	while (atomic_load(&threads_at_rest) < 3)
		nanosleep(&nap, NULL);
	getrusage(RUSAGE_SELF, &report->own);
}

static void check_close(const struct rt_rusage *mine, const double theirs[FIELDS], int i,
                        double slack)
{
	ck_assert_msg(field(mine, i) >= theirs[i] - slack && field(mine, i) <= theirs[i] + slack,
	              "field %d: %f against %f", i, field(mine, i), theirs[i]);
}

/* Field i lies between the child's own getrusage() before and its wait4() after. Times are cut to
 * ticks, and the kernel counts resident pages in batches. */
static void check_between(const double before[FIELDS], const struct rt_rusage *mine,
                          const double after[FIELDS], int i)
{
	double slack = i <= STIME ? 0.011 : i == MAXRSS ? 512 : 0;

	ck_assert_msg(field(mine, i) >= before[i] - slack && field(mine, i) <= after[i] + slack,
	              "field %d: %f, which is not between %f and %f", i, field(mine, i), before[i],
	              after[i]);
}

START_TEST(nine_fields_of_another_process)
{
	struct report *report = new_report();
	double theirs[FIELDS], final[FIELDS];
	struct rusage at_its_end;
	struct rt_rusage mine;
	struct child child;
	uint32_t valid;

	child_start(&child, work_in_all_fields, report);
	ck_assert_int_eq(rt_pid_getrusage(child.pid, &mine, &valid), 0);
	close(child.go_fd);
	ck_assert_int_eq(wait4(child.pid, NULL, 0, &at_its_end), child.pid);
	close(child.ready_fd);
	flatten(&report->own, theirs);
	flatten(&at_its_end, final);
	ck_assert_uint_eq(valid, 0xffff);
	for (int i = 0; i < FIELDS; i++)
		check_between(theirs, &mine, final, i);
	ck_assert_double_ge(field(&mine, UTIME) + field(&mine, STIME),
	                    theirs[UTIME] + theirs[STIME] - 0.000002);
	/* the leader alone has few; a nap may be over before it begins */
	ck_assert_double_ge(field(&mine, NVCSW), 200);
}
END_TEST

static void reap_a_writer(void *arg)
{
	struct report *report = arg;
	pid_t pid = fork();

	if (pid == 0) {
		write_file(report, 4);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	write_file(report, 1);
	getrusage(RUSAGE_SELF, &report->own);
}

START_TEST(blocks_are_without_those_of_reaped_children)
{
	struct report *report = new_report();
	struct rt_rusage mine;
	struct child child;
	uint32_t valid;

	child_start(&child, reap_a_writer, report);
	ck_assert_int_eq(rt_pid_getrusage(child.pid, &mine, &valid), 0);
	child_end(&child);
	ck_assert_uint_ne(valid & 1u << OUBLOCK, 0);
	ck_assert_int_eq(mine.ru_oublock, report->own.ru_oublock);
	ck_assert_int_eq(mine.ru_inblock, report->own.ru_inblock);
}
END_TEST

static void *burn_and_exit(void *arg)
{
	burn_cpu_ns(15000000);
	return arg;
}

/* The kernel lets go of a thread a moment after it was joined. */
static void await_last_thread(void)
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
	await_last_thread();
	getrusage(RUSAGE_SELF, &((struct report *)arg)->own);
}

START_TEST(switches_of_exited_threads_are_unknown_and_their_cpu_is_not)
{
	struct report *report = new_report();
	double theirs[FIELDS];
	struct rt_rusage mine;
	struct child child;
	uint32_t valid;

	child_start(&child, outlive_threads, report);
	ck_assert_int_eq(rt_pid_getrusage(child.pid, &mine, &valid), 0);
	child_end(&child);
	flatten(&report->own, theirs);
	ck_assert_uint_eq(valid & (1u << NVCSW | 1u << NIVCSW), 0);
	ck_assert_double_le(field(&mine, NVCSW), theirs[NVCSW] + 3);
	check_close(&mine, theirs, UTIME, 0.011);
	ck_assert_double_ge(field(&mine, UTIME) + field(&mine, STIME), 0.06);
}
END_TEST

START_TEST(a_zombie_has_all_but_its_memory)
{
	struct rt_rusage mine;
	struct child child;
	uint32_t valid;

	child_start(&child, burn_a_little, NULL);
	child_let_die(&child);
	ck_assert_int_eq(rt_pid_getrusage(child.pid, &mine, &valid), 0);
	ck_assert_uint_eq(valid & 1u << MAXRSS, 0);
	ck_assert_uint_eq(valid & (1u << UTIME | 1u << MINFLT), 1u << UTIME | 1u << MINFLT);
	ck_assert_double_ge(mine.ru_utime + mine.ru_stime, 0.02);
	child_end(&child);
	ck_assert_int_eq(rt_pid_getrusage(child.pid, &mine, &valid), -ESRCH);
}
END_TEST

START_TEST(anybody_may_ask_about_anybody)
{
	struct rt_rusage mine;
	uint32_t valid;

	/* Process 1 is root's: an unprivileged caller gets CPU time and faults, and no made-up
	 * blocks. */
	ck_assert_int_eq(rt_pid_getrusage(1, &mine, &valid), 0);
	ck_assert_uint_ne(valid & 1u << UTIME, 0);
	ck_assert_uint_ne(valid & 1u << MINFLT, 0);
	if (geteuid() != 0) {
		ck_assert_uint_eq(valid & 1u << INBLOCK, 0);
		ck_assert_int_eq(mine.ru_inblock, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rusage");
	TCase *own = suite_case(suite, "own"), *others = suite_case(suite, "others");

	tcase_add_test(own, equals_the_system_call);
	tcase_add_test(own, bad_arguments_are_errors);
	tcase_add_test(others, nine_fields_of_another_process);
	tcase_add_test(others, blocks_are_without_those_of_reaped_children);
	tcase_add_test(others, switches_of_exited_threads_are_unknown_and_their_cpu_is_not);
	tcase_add_test(others, a_zombie_has_all_but_its_memory);
	tcase_add_test(others, anybody_may_ask_about_anybody);
	return suite_run(suite);
}
