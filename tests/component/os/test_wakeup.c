/* SPDX-License-Identifier: MIT */
/* A descriptor that is readable when another one has become so, or at a time. */
#include "os/wakeup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

#define PATIENCE_MS 100000
#define MS UINT64_C(1000000)

static struct rti_wakeup wakeup;
static int ends[2];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_readable(int timeout_ms)
{
	struct pollfd fd = { .fd = wakeup.epoll, .events = POLLIN };

	return poll(&fd, 1, timeout_ms) == 1;
}

static void set_up(void)
{
	wakeup = (struct rti_wakeup)RTI_WAKEUP_INIT;
	ck_assert_int_eq(rti_wakeup_open(&wakeup, true), 0);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
}

static void tear_down(void)
{
	rti_wakeup_close(&wakeup);
	close(ends[0]);
	close(ends[1]);
}

START_TEST(new_wakeup_is_close_on_exec_and_not_readable)
{
	ck_assert_int_eq(fcntl(wakeup.epoll, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fcntl(wakeup.timer, F_GETFD), FD_CLOEXEC);
	ck_assert(!is_readable(0));
}
END_TEST

START_TEST(time_that_has_come_stays_readable_until_another_one_is_set)
{
	uint64_t at_ns = now_ns() + 20 * MS;

	rti_wakeup_set_time(&wakeup, at_ns);
	ck_assert(is_readable(PATIENCE_MS));
	ck_assert_uint_ge(now_ns(), at_ns);
	rti_wakeup_clear(&wakeup);
	ck_assert(is_readable(0));
	rti_wakeup_set_time(&wakeup, UINT64_MAX);
	ck_assert(!is_readable(0));
}
END_TEST

START_TEST(time_of_0_is_at_once_and_the_largest_one_never)
{
	rti_wakeup_set_time(&wakeup, 0);
	ck_assert(is_readable(0));
	rti_wakeup_set_time(&wakeup, UINT64_MAX);
	ck_assert(!is_readable(50));
	rti_wakeup_set_time(&wakeup, now_ns() + 3600 * 1000 * MS);
	ck_assert(!is_readable(0));
}
END_TEST

/* It is noted once, also if it stays readable for ever. */
START_TEST(descriptor_that_has_become_readable_is_noted_until_it_is_cleared)
{
	ck_assert_int_eq(rti_wakeup_add(&wakeup, ends[0]), 0);
	ck_assert(!is_readable(0));
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	ck_assert(is_readable(0));
	rti_wakeup_clear(&wakeup);
	ck_assert(!is_readable(0));
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	ck_assert(is_readable(0));
}
END_TEST

START_TEST(descriptor_that_is_not_open_cannot_be_watched)
{
	ck_assert_int_eq(rti_wakeup_add(&wakeup, -1), -EBADF);
}
END_TEST

/* It shares both descriptors with its parent. */
START_TEST(forked_child_clears_nothing_and_sets_no_time)
{
	int status;
	pid_t pid;

	ck_assert_int_eq(rti_wakeup_add(&wakeup, ends[0]), 0);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	ck_assert(!rti_wakeup_is_foreign(&wakeup));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		rti_wakeup_clear(&wakeup);
		rti_wakeup_set_time(&wakeup, 0);
		_exit(rti_wakeup_is_foreign(&wakeup) ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert(is_readable(0));
	rti_wakeup_clear(&wakeup);
	ck_assert(!is_readable(0));
}
END_TEST

START_TEST(closed_wakeup_does_nothing)
{
	rti_wakeup_close(&wakeup);
	ck_assert_int_eq(wakeup.epoll, -1);
	ck_assert_int_eq(wakeup.timer, -1);
	rti_wakeup_set_time(&wakeup, 0);
	rti_wakeup_clear(&wakeup);
	ck_assert(!rti_wakeup_is_foreign(&wakeup));
	rti_wakeup_close(&wakeup);
}
END_TEST

START_TEST(wakeup_without_free_descriptors_is_left_closed)
{
	struct rti_wakeup other = RTI_WAKEUP_INIT;
	struct rlimit limit;
	int next = dup(STDERR_FILENO);

	ck_assert_int_ge(next, 0);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int room = 0; room < 2; room++) {
		limit.rlim_cur = (rlim_t)(next + room);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		ck_assert_int_eq(rti_wakeup_open(&other, true), -EMFILE);
		ck_assert_int_eq(other.epoll, -1);
		ck_assert_int_eq(other.timer, -1);
	}
	limit.rlim_cur = (rlim_t)(next + 1);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(rti_wakeup_open(&other, false), 0); /* needs just one */
	rti_wakeup_close(&other);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wakeup");
	TCase *tests = suite_case(suite, "wakeup");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, new_wakeup_is_close_on_exec_and_not_readable);
	tcase_add_test(tests, time_that_has_come_stays_readable_until_another_one_is_set);
	tcase_add_test(tests, time_of_0_is_at_once_and_the_largest_one_never);
	tcase_add_test(tests, descriptor_that_has_become_readable_is_noted_until_it_is_cleared);
	tcase_add_test(tests, descriptor_that_is_not_open_cannot_be_watched);
	tcase_add_test(tests, forked_child_clears_nothing_and_sets_no_time);
	tcase_add_test(tests, closed_wakeup_does_nothing);
	tcase_add_test(tests, wakeup_without_free_descriptors_is_left_closed);
	return suite_run(suite);
}
