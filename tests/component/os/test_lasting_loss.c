/* SPDX-License-Identifier: MIT */
/* Sockets of the kernel that fail each time, as a filter of system calls can have it: no call waits
 * for a better answer for ever. The test takes the place of the system calls. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "os/proc_connector.h"
#include "suite.h"

#define CALLS_MAX 100
#define CALLS_WITH_EVENTS_MAX 100000

static const int failures[] = { ENOBUFS, EINTR };

static struct {
	int error, calls;
} kernel;

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                    struct timespec *timeout);
ssize_t __wrap_recv(int fd, void *out, size_t size, int flags);

static int fail_call(void)
{
	if (++kernel.calls > CALLS_MAX)
		ck_abort_msg("called without end");
	errno = kernel.error;
	return -1;
}

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                    struct timespec *timeout)
{
	(void)fd;
	(void)flags;
	(void)timeout;
	if (kernel.error)
		return fail_call();
	if (++kernel.calls > CALLS_WITH_EVENTS_MAX)
		ck_abort_msg("called without end");
	for (unsigned i = 0; i < count; i++)
		memset(messages[i].msg_hdr.msg_name, 0, messages[i].msg_hdr.msg_namelen);
	return (int)count;
}

ssize_t __wrap_recv(int fd, void *out, size_t size, int flags)
{
	(void)fd;
	(void)out;
	(void)size;
	(void)flags;
	return fail_call();
}

static void ignore(void *arg, const struct rti_process_event *event)
{
	(void)arg;
	(void)event;
}

static void set_up(void)
{
	kernel.calls = 0;
}

START_TEST(events_that_fail_each_time_are_lost)
{
	kernel.error = failures[_i];
	ck_assert_int_eq(rti_events_drain(0, ignore, NULL), -ENOBUFS);
	ck_assert_int_gt(kernel.calls, 1);
}
END_TEST

/* Others fork as fast as they are received. The next call goes on. */
START_TEST(events_without_end_are_left_to_the_next_call)
{
	kernel.error = 0;
	ck_assert_int_eq(rti_events_drain(0, ignore, NULL), 0);
}
END_TEST

START_TEST(subscription_without_an_answer_fails)
{
	kernel.error = failures[_i];
	ck_assert_int_lt(rti_events_open(0, NULL), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lasting_loss");
	TCase *tests = suite_case(suite, "lasting_loss");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_loop_test(tests, events_that_fail_each_time_are_lost, 0, 2);
	tcase_add_test(tests, events_without_end_are_left_to_the_next_call);
	tcase_add_loop_test(tests, subscription_without_an_answer_fails, 0, 2);
	return suite_run(suite);
}
