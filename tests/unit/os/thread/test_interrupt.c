/* SPDX-License-Identifier: MIT */
/* Interrupts of a sleep: one is taken once, and none stays behind. */
#include "os/thread/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "suite.h"

static bool is_readable(const struct rti_interrupt *interrupt)
{
	struct pollfd fd = { .fd = interrupt->fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

START_TEST(interrupt_is_taken_once)
{
	struct rti_interrupt interrupt = { 0 };

	rti_interrupt_open(&interrupt);
	ck_assert(!rti_interrupt_take(&interrupt));
	rti_interrupt_raise(&interrupt);
	rti_interrupt_raise(&interrupt);
	ck_assert(is_readable(&interrupt));
	ck_assert(rti_interrupt_take(&interrupt));
	ck_assert(!is_readable(&interrupt));
	ck_assert(!rti_interrupt_take(&interrupt));
	rti_interrupt_close(&interrupt);
}
END_TEST

/* The thread that raises it loses its CPU between its two steps. */
START_TEST(interrupt_that_is_taken_before_it_is_written_wakes_one_sleep_alone)
{
	struct rti_interrupt interrupt = { 0 };

	rti_interrupt_open(&interrupt);
	interrupt.is_pending = true;
	ck_assert(rti_interrupt_take(&interrupt));
	ck_assert_int_eq(eventfd_write(interrupt.fd, 1), 0);
	ck_assert(is_readable(&interrupt));
	ck_assert(!rti_interrupt_take(&interrupt));
	ck_assert(!is_readable(&interrupt));
	rti_interrupt_close(&interrupt);
}
END_TEST

START_TEST(interrupt_without_a_descriptor_is_taken_all_the_same)
{
	struct rti_interrupt interrupt = { .fd = -1 };

	rti_interrupt_raise(&interrupt);
	ck_assert(rti_interrupt_take(&interrupt));
	ck_assert(!rti_interrupt_take(&interrupt));
	rti_interrupt_close(&interrupt);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("interrupt");
	TCase *tests = suite_case(suite, "interrupt");

	tcase_add_test(tests, interrupt_is_taken_once);
	tcase_add_test(tests, interrupt_that_is_taken_before_it_is_written_wakes_one_sleep_alone);
	tcase_add_test(tests, interrupt_without_a_descriptor_is_taken_all_the_same);
	return suite_run(suite);
}
