/* SPDX-License-Identifier: MIT */
/* The documented errors of the calls that return a descriptor for an event loop. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "suite.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

static struct rt_command *start_sleep(void)
{
	const char *const argv[] = { "sleep", "1000", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts), .argv = argv };
	struct rt_command *command;

	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	return command;
}

static void end_command(struct rt_command *command)
{
	ck_assert_int_eq(rt_command_kill(command), 0);
	ck_assert_int_eq(rt_command_wait(command, -1, NULL, 0), 0);
	rt_command_free(command);
}

START_TEST(descriptor_of_null_returns_efault)
{
	ck_assert_int_eq(rt_command_fd(NULL), -EFAULT);
	ck_assert_int_eq(rt_command_dispatch(NULL), -EFAULT);
	ck_assert_int_eq(rt_tracker_fd(NULL), -EFAULT);
}
END_TEST

START_TEST(descriptor_of_tracker_with_nothing_to_hear_returns_eopnotsupp)
{
	/* The root of this very process, by another name: the library cannot know that. */
	const struct rt_opts opts = { .size = sizeof(opts), .root = "/proc/self/root" };
	struct rt_command *command = start_sleep();
	struct rt_tracker *system = new_system_tracker(), *elsewhere;

	ck_assert_int_eq(rt_pid_tracker_new(&elsewhere, getpid(), &opts), 0);

	ck_assert_int_eq(rt_tracker_fd(system), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_fd(elsewhere), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_fd(rt_command_tracker(command)), -EOPNOTSUPP);

	rt_tracker_free(system);
	rt_tracker_free(elsewhere);
	end_command(command);
}
END_TEST

/* The number of the next descriptor. */
static rlim_t next_descriptor(void)
{
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(next, 0);
	close(next);
	return (rlim_t)next;
}

static void limit_descriptors(rlim_t end)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = end;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A call that fails leaves nothing behind, so it works as soon as there is room. */
START_TEST(descriptor_without_room_returns_emfile_and_can_be_asked_for_again)
{
	struct rt_command *command = start_sleep();
	struct rt_tracker *tracker = new_self_tracker();
	rlim_t next = next_descriptor();

	for (rlim_t room = 0; room < 2; room++) {
		limit_descriptors(next + room);
		ck_assert_int_eq(rt_command_fd(command), -EMFILE);
		ck_assert_int_eq(rt_tracker_fd(tracker), -EMFILE);
	}
	limit_descriptors(next + 16);

	ck_assert_int_ge(rt_command_fd(command), 0);
	ck_assert_int_ge(rt_tracker_fd(tracker), 0);

	rt_tracker_free(tracker);
	end_command(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("descriptors");
	TCase *errors = suite_case(suite, "errors");

	if (syscall(SYS_pidfd_open, getpid(), 0) < 0)
		return suite_skip("this kernel has no pidfd");
	tcase_add_test(errors, descriptor_of_null_returns_efault);
	tcase_add_test(errors, descriptor_of_tracker_with_nothing_to_hear_returns_eopnotsupp);
	tcase_add_test(errors, descriptor_without_room_returns_emfile_and_can_be_asked_for_again);
	return suite_run(suite);
}
