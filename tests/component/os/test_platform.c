/* SPDX-License-Identifier: MIT */
/* The CPU clocks of a process, as the kernel has them. */
#include "os/platform.h"

#include <errno.h>
#include <unistd.h>

#include "suite.h"

#define UNREAD 77 /* below a clock tick: no clock of a part ever shows it */

static struct rti_platform platform;

static void set_up(void)
{
	rti_platform_init(&platform, false);
	while (platform.thread_cpu_ns() < 30000000)
		;
}

START_TEST(first_look_reads_the_parts_and_says_when)
{
	struct rti_cpu_clock clock = { .user_part_ns = UNREAD, .both_parts_ns = UNREAD };

	ck_assert_int_eq(platform.cpu_clock(getpid(), &clock), 0);
	ck_assert_uint_ge(clock.total_ns, 30000000);
	ck_assert_uint_ne(clock.user_part_ns, UNREAD);
	ck_assert_uint_ne(clock.both_parts_ns, UNREAD);
	ck_assert_uint_ge(clock.both_parts_ns, clock.user_part_ns);
	ck_assert_uint_eq(clock.parts_at_ns, clock.total_ns);
}
END_TEST

START_TEST(missing_process_has_no_clock)
{
	struct rti_cpu_clock clock = { .parts_at_ns = UNREAD };

	ck_assert_int_eq(platform.cpu_clock(INT32_MAX, &clock), -ESRCH);
	ck_assert_uint_eq(clock.parts_at_ns, UNREAD);
}
END_TEST

START_TEST(pid_that_is_none_is_no_process)
{
	ck_assert(platform.is_process(getpid()));
	ck_assert(!platform.is_process(INT32_MAX));
	ck_assert(!platform.is_process(4194304)); /* PID_MAX_LIMIT: above all pids */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("platform");
	TCase *tests = suite_case(suite, "clocks");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_test(tests, first_look_reads_the_parts_and_says_when);
	tcase_add_test(tests, missing_process_has_no_clock);
	tcase_add_test(tests, pid_that_is_none_is_no_process);
	return suite_run(suite);
}
