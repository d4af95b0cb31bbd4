/* SPDX-License-Identifier: MIT */
/* The descriptor of a tracker for the event loop of a host, where descriptors are short or the
 * kernel refuses some. */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account_fixture.h"

#define PATIENCE_S 100
#define LONG_MS 100000

static bool is_readable(int timeout_ms)
{
	struct pollfd end = { .fd = rt_tracker_fd(fix.tracker), .events = POLLIN };

	return poll(&end, 1, timeout_ms) == 1;
}

static void open_events(void)
{
	fake_account.event_fd = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_ge(fake_account.event_fd, 0);
}

static void close_events(void)
{
	ck_assert_int_eq(close(fake_account.event_fd), 0);
}

/* Too few descriptors may be more the next time. A kernel that refuses to watch a process still
 * shows that events wait, if there are any. */
START_TEST(root_that_cannot_be_watched_is_an_error_unless_there_are_events)
{
	static const struct {
		int pidfd_error, expected;
		bool has_events;
	} cases[] = {
		{ EMFILE, -EMFILE, true },
		{ ENFILE, -ENFILE, true },
		{ ENOMEM, -ENOMEM, true },
		{ EMFILE, -EMFILE, false },
		{ ENOSYS, 0, true },
		{ EPERM, 0, true },
		{ ENOSYS, -EOPNOTSUPP, false },
	};
	int fd;

	track();
	if (cases[_i].has_events)
		open_events();
	else
		fake_account.event_fd = -1;
	fake_account.pidfd_error = cases[_i].pidfd_error;

	fd = rt_tracker_fd(fix.tracker);

	ck_assert_int_eq(fd < 0 ? fd : 0, cases[_i].expected);
	fake_account.pidfd_error = 0;
	ck_assert_int_ge(rt_tracker_fd(fix.tracker), 0);
	if (cases[_i].has_events)
		close_events();
}
END_TEST

START_TEST(descriptor_is_readable_when_events_wait)
{
	const uint64_t one = 1;

	track();
	open_events();
	ck_assert(!is_readable(0));

	ck_assert_int_eq(write(fake_account.event_fd, &one, sizeof(one)), sizeof(one));

	ck_assert(is_readable(LONG_MS));
	take_sample();
	ck_assert(!is_readable(0));
	close_events();
}
END_TEST

/* E.g.: a process was forked while the sample ended. */
START_TEST(descriptor_stays_readable_if_a_sample_has_left_events)
{
	track();
	open_events();
	ck_assert(!is_readable(0));
	fake_account.counts.has_events = true;

	take_sample();
	ck_assert(is_readable(0));

	fake_account.counts.has_events = false;
	take_sample();
	ck_assert(!is_readable(0));
	close_events();
}
END_TEST

/* Its pid may be that of another process by now. */
START_TEST(root_that_has_ended_before_shows_at_once)
{
	struct rt_metrics m;

	track();
	open_events();
	for (int i = CHILDREN; i-- > 0;)
		end_child(i);
	if (_i == 1) {
		/* It is no member any more. */
		ck_assert_int_eq(rt_sample(fix.tracker, &m, sizeof(m)), -ESRCH);
	}

	ck_assert(is_readable(0));
	close_events();
}
END_TEST

/* What the child has seen, the parent still has to see. */
START_TEST(forked_child_has_a_descriptor_of_its_own)
{
	const uint64_t one = 1;
	int status;
	pid_t pid;

	track();
	open_events();
	ck_assert(!is_readable(0));
	ck_assert_int_eq(write(fake_account.event_fd, &one, sizeof(one)), sizeof(one));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		end_self_after(PATIENCE_S);
		if (!is_readable(0))
			_exit(1);
		take_sample();
		_exit(is_readable(0) ? 2 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);

	ck_assert_int_eq(status, 0);
	ck_assert(is_readable(0));
	close_events();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_loop");
	TCase *tcase = add_account_case(suite, "descriptor");

	tcase_add_loop_test(tcase, root_that_cannot_be_watched_is_an_error_unless_there_are_events,
	                    0, 7);
	tcase_add_test(tcase, descriptor_is_readable_when_events_wait);
	tcase_add_test(tcase, descriptor_stays_readable_if_a_sample_has_left_events);
	tcase_add_loop_test(tcase, root_that_has_ended_before_shows_at_once, 0, 2);
	tcase_add_test(tcase, forked_child_has_a_descriptor_of_its_own);
	return suite_run(suite);
}
