/* SPDX-License-Identifier: MIT */
/* The descriptor of a command for the event loop of a host. The test takes the place of the calls
 * that may fail or be interrupted. */
#include <errno.h>
#include <poll.h>
#include <signal.h>

#include <rtrack/rtrack.h>

#include "command/event_loop.h"
#include "command/handle.h"
#include "os/wakeup.h"
#include "suite.h"

#define NEVER_MS 100000 /* a limit that no test comes near */

static unsigned adds, failing_add, interruptions;

int __real_rti_wakeup_add(const struct rti_wakeup *wakeup, int fd);
int __wrap_rti_wakeup_add(const struct rti_wakeup *wakeup, int fd);
int __real_rti_pidfd_wait(int fd, int waker, int64_t timeout_ns);
int __wrap_rti_pidfd_wait(int fd, int waker, int64_t timeout_ns);

int __wrap_rti_wakeup_add(const struct rti_wakeup *wakeup, int fd)
{
	return ++adds == failing_add ? -ENOSPC : __real_rti_wakeup_add(wakeup, fd);
}

/* That of a wait, which has a waker. */
int __wrap_rti_pidfd_wait(int fd, int waker, int64_t timeout_ns)
{
	if (waker < 0 || interruptions == 0)
		return __real_rti_pidfd_wait(fd, waker, timeout_ns);
	interruptions--;
	return -EINTR;
}

static struct rt_command *start_sleep(uint32_t accounting, uint32_t flags)
{
	static const char *const argv[] = { "sleep", "1000", NULL };
	const struct rt_command_opts opts = {
		.size = sizeof(opts), .accounting = accounting, .flags = flags, .argv = argv
	};
	struct rt_command *command;

	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	return command;
}

static void end(struct rt_command *command)
{
	struct rt_outcome outcome;

	ck_assert_int_eq(rt_command_kill(command), 0);
	ck_assert_int_eq(rt_command_wait(command, -1, &outcome, sizeof(outcome)), 0);
	ck_assert_int_eq(outcome.signal, SIGKILL);
	rt_command_free(command);
}

/* Of the program, of the supervisor. A program that is a child has the first one alone. */
static const struct {
	uint32_t accounting;
	unsigned adds;
} methods[] = { { RT_ACCOUNTING_POLL, 1 }, { RT_ACCOUNTING_WAIT, 2 } };

START_TEST(descriptor_that_cannot_watch_the_end_is_refused_until_it_can)
{
	struct rt_command *command = start_sleep(methods[_i].accounting, 0);
	int fd;

	for (failing_add = 1; failing_add <= methods[_i].adds; failing_add++) {
		adds = 0;
		ck_assert_int_eq(rt_command_fd(command), -ENOSPC);
		ck_assert_uint_eq(adds, failing_add);
	}
	failing_add = adds = 0;
	fd = rt_command_fd(command);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(adds, methods[_i].adds);
	ck_assert_int_eq(rt_command_fd(command), fd);
	end(command);
}
END_TEST

START_TEST(dispatch_goes_on_after_a_signal_to_the_caller)
{
	struct rt_command *command = start_sleep(RT_ACCOUNTING_POLL, 0);

	interruptions = 3;
	ck_assert_int_eq(rt_command_wait(command, 0, NULL, 0), -ETIMEDOUT);
	ck_assert_uint_eq(interruptions, 0);
	end(command);
}
END_TEST

static bool becomes_readable(int fd, int timeout_ms)
{
	struct pollfd events = { .fd = fd, .events = POLLIN };

	return poll(&events, 1, timeout_ms) == 1;
}

/* Set apart from what else is due. */
static int open_idle(struct rt_command *command)
{
	int fd = rt_command_fd(command);

	ck_assert_int_ge(fd, 0);
	command->next_poll_ns = command->next_look_ns = UINT64_MAX;
	rti_event_loop_end(command);
	return fd;
}

/* No event tells it of a process that it has adopted and that has ended. */
START_TEST(caller_that_is_its_own_supervisor_is_woken_up_soon)
{
	const uint32_t flags = _i ? RT_COMMAND_SUBREAPER_SELF : 0;
	struct rt_command *command = start_sleep(RT_ACCOUNTING_WAIT, flags);
	int fd = open_idle(command);

	ck_assert_int_eq(becomes_readable(fd, _i ? NEVER_MS : 0), _i);
	end(command);
}
END_TEST

static uint64_t in_an_hour_ns(void)
{
	return rti_monotonic_ns() + UINT64_C(3600000000000);
}

/* It would be busy for as long as the program runs. */
START_TEST(caller_that_is_its_own_supervisor_is_not_woken_up_at_once)
{
	struct rt_command *command = start_sleep(RT_ACCOUNTING_WAIT, RT_COMMAND_SUBREAPER_SELF);
	int fd;

	command->tracker->platform.monotonic_ns = in_an_hour_ns;
	fd = open_idle(command);
	command->tracker->platform.monotonic_ns = rti_monotonic_ns;
	ck_assert(!becomes_readable(fd, 0));
	end(command);
}
END_TEST

/* Never called: that there are programs is enough. */
static char programs;

START_TEST(records_that_are_due_wake_the_caller_up)
{
	struct rt_command *command = start_sleep(RT_ACCOUNTING_POLL, 0);
	int fd = open_idle(command);

	ck_assert(!becomes_readable(fd, 0));
	command->account.programs = (void *)&programs;
	command->account.next_take_ns = 1;
	rti_event_loop_end(command);
	command->account.programs = NULL;
	ck_assert(becomes_readable(fd, NEVER_MS));
	end(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_loop");
	TCase *tcase = suite_case(suite, "event_loop");

	tcase_add_loop_test(tcase, descriptor_that_cannot_watch_the_end_is_refused_until_it_can, 0,
	                    sizeof(methods) / sizeof(methods[0]));
	tcase_add_test(tcase, dispatch_goes_on_after_a_signal_to_the_caller);
	tcase_add_loop_test(tcase, caller_that_is_its_own_supervisor_is_woken_up_soon, 0, 2);
	tcase_add_test(tcase, caller_that_is_its_own_supervisor_is_not_woken_up_at_once);
	tcase_add_test(tcase, records_that_are_due_wake_the_caller_up);
	return suite_run(suite);
}
