/* SPDX-License-Identifier: MIT */
/* The descriptors 0, 1 and 2 of a host that has closed some of them. */
#include "os/process/standard_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "suite.h"

static struct rti_standard_fds held;
static int saved_in, saved_err;

/* The report of the test goes to descriptor 1, which stays. */
static void close_two(void)
{
	saved_in = fcntl(0, F_DUPFD_CLOEXEC, 3);
	saved_err = fcntl(2, F_DUPFD_CLOEXEC, 3);
	close(0);
	close(2);
}

static void open_two(void)
{
	dup2(saved_in, 0);
	dup2(saved_err, 2);
	close(saved_in);
	close(saved_err);
}

static int is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

START_TEST(what_is_opened_while_they_are_held_is_none_of_them)
{
	int err, fd, in, out, last_err;

	close_two();
	err = rti_standard_fds_hold(&held);
	in = is_open(0), last_err = is_open(2);
	fd = dup(1);
	close(fd);
	rti_standard_fds_release(&held);
	out = is_open(0) || is_open(2);
	open_two();
	ck_assert_int_eq(err, 0);
	ck_assert(in && last_err);
	ck_assert_int_gt(fd, 2);
	ck_assert(!out);
}
END_TEST

START_TEST(host_that_has_all_three_keeps_them)
{
	ck_assert_int_eq(rti_standard_fds_hold(&held), 0);
	ck_assert_int_eq(held.count, 0);
	rti_standard_fds_release(&held);
	ck_assert(is_open(0) && is_open(1) && is_open(2));
}
END_TEST

/* Descriptor 0 can be held, and there is no room for another. */
START_TEST(host_without_another_descriptor_gets_back_what_was_held)
{
	struct rlimit limit, two;
	int err, in, last_err;

	close_two();
	getrlimit(RLIMIT_NOFILE, &limit);
	two = (struct rlimit){ .rlim_cur = 2, .rlim_max = limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &two);
	err = rti_standard_fds_hold(&held);
	setrlimit(RLIMIT_NOFILE, &limit);
	in = is_open(0), last_err = is_open(2);
	open_two();
	ck_assert_int_eq(err, -EMFILE);
	ck_assert_int_eq(held.count, 0);
	ck_assert(!in && !last_err);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("standard_fds");
	TCase *tests = suite_case(suite, "standard_fds");

	tcase_add_test(tests, what_is_opened_while_they_are_held_is_none_of_them);
	tcase_add_test(tests, host_that_has_all_three_keeps_them);
	tcase_add_test(tests, host_without_another_descriptor_gets_back_what_was_held);
	return suite_run(suite);
}
