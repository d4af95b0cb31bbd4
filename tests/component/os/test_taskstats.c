/* SPDX-License-Identifier: MIT */
/* The kernel's exit accounts of our own children, beside what wait4(2) says of them. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "os/taskstats.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define CHILDREN 400
#define HELD_BYTES (24 << 20)
#define SMALL_BUFFER 16384

/* What was received about one process. */
struct received {
	int32_t pid;
	unsigned threads, last;
	struct rti_task_exit sum;
};

static void count(void *arg, const struct rti_task_exit *exited)
{
	struct received *received = arg;

	if (exited->pid != received->pid)
		return;
	received->threads++;
	received->last += exited->is_last;
	received->sum.cpu_ns += exited->cpu_ns;
	received->sum.lifetime_ns = exited->lifetime_ns;
	if (received->sum.peak_rss_bytes < exited->peak_rss_bytes)
		received->sum.peak_rss_bytes = exited->peak_rss_bytes;
}

static const char *possible_cpus(void)
{
	static char cpus[256];
	FILE *file = fopen("/sys/devices/system/cpu/possible", "re");

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(cpus, sizeof(cpus), file));
	fclose(file);
	cpus[strcspn(cpus, "\n")] = '\0';
	return cpus;
}

/* Returns a subscription, or -1 if there can be none here. The kernel decides: an account by pid
 * takes the same right. */
static int subscribe(void)
{
	int fd = rti_taskstats_open(possible_cpus());

	if (fd >= 0)
		return fd;
	ck_assert_msg(fd == -EPERM || fd == -ENOENT || fd == -EINVAL || fd == -EOPNOTSUPP ||
	                  fd == -EPROTONOSUPPORT,
	              "%s", strerror(-fd));
	ck_assert_msg(geteuid() != 0 || fd != -EPERM, "root may not subscribe");
	suite_skip_test("exit accounts are not available here");
	return -1;
}

static void hold_memory(void *arg)
{
	static char held[HELD_BYTES];

	memset(held, *(int *)arg, sizeof(held));
	burn_cpu_ns(30 * MS);
}

START_TEST(account_of_a_child_is_that_of_wait4)
{
	int fd = subscribe(), one = 1, status;
	struct received received = { 0 };
	struct rusage use;
	struct child child;
	uint64_t used_ns;

	if (fd < 0)
		return;
	child_start(&child, hold_memory, &one);
	received.pid = child.pid;
	child_let_die(&child);
	ck_assert_int_eq(rti_taskstats_drain(fd, count, &received), 0);
	ck_assert_int_eq(wait4(child.pid, &status, 0, &use), child.pid);
	child.pid = -1;
	used_ns = (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000 * MS +
	          (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;

	ck_assert_uint_eq(received.threads, 1);
	ck_assert_uint_eq(received.last, 1);
	ck_assert_uint_le(received.sum.cpu_ns, used_ns + 1000);
	ck_assert_uint_ge(received.sum.cpu_ns,
	                  20 * MS); /* 10 ms are since the last tick, at most */
	ck_assert_uint_ge(received.sum.lifetime_ns, received.sum.cpu_ns);
	ck_assert_uint_ge(received.sum.peak_rss_bytes, HELD_BYTES);
	ck_assert_uint_le(received.sum.peak_rss_bytes, (uint64_t)use.ru_maxrss * 1024 + (4 << 20));
	close(fd);
}
END_TEST

static void *do_nothing(void *arg)
{
	return arg;
}

static void do_no_work(void *arg)
{
	(void)arg;
}

static void run_threads(void *arg)
{
	pthread_t threads[3];

	(void)arg;
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, do_nothing, NULL), 0);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

START_TEST(each_thread_has_an_account_and_one_is_the_last)
{
	struct received received = { 0 };
	int fd = subscribe();
	struct child child;

	if (fd < 0)
		return;
	child_start(&child, run_threads, NULL);
	received.pid = child.pid;
	child_end(&child);
	ck_assert_int_eq(rti_taskstats_drain(fd, count, &received), 0);
	ck_assert_uint_eq(received.threads, 4);
	ck_assert_uint_eq(received.last, 1);
	close(fd);
}
END_TEST

START_TEST(loss_is_reported_once_and_later_accounts_arrive)
{
	const int bytes = SMALL_BUFFER;
	struct received received = { 0 };
	int fd = subscribe();
	struct child child;

	if (fd < 0)
		return;
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		ck_assert_int_gt(pid, 0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	}
	ck_assert_int_eq(rti_taskstats_drain(fd, count, &received), -ENOBUFS);
	/* Other processes of the system may fill the buffer again at any time. */
	while (rti_taskstats_drain(fd, count, &received) == -ENOBUFS)
		;
	for (int tries = 0; received.last == 0 && tries < CHILDREN; tries++) {
		child_start(&child, do_no_work, NULL);
		received.pid = child.pid;
		child_end(&child);
		while (rti_taskstats_drain(fd, count, &received) == -ENOBUFS)
			;
	}
	ck_assert_uint_ge(received.last, 1);
	close(fd);
}
END_TEST

START_TEST(list_of_cpus_that_cannot_be_is_refused)
{
	int fd = rti_taskstats_open("70000");

	ck_assert_int_lt(fd, 0);
	fd = rti_taskstats_open("no list");
	ck_assert_int_lt(fd, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("taskstats");
	TCase *accounts = suite_case(suite, "accounts");

	tcase_add_test(accounts, account_of_a_child_is_that_of_wait4);
	tcase_add_test(accounts, each_thread_has_an_account_and_one_is_the_last);
	tcase_add_test(accounts, loss_is_reported_once_and_later_accounts_arrive);
	tcase_add_test(accounts, list_of_cpus_that_cannot_be_is_refused);
	return suite_run(suite);
}
