/* SPDX-License-Identifier: MIT */
/* The calls that return a descriptor for an event loop: their documented errors, and that trackers
 * leave none. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
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

static unsigned count_entries(const char *path)
{
	unsigned count = 0;
	DIR *dir = opendir(path);

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

START_TEST(freed_trackers_leave_no_descriptor_and_no_thread)
{
	unsigned files = count_entries("/proc/self/fd"), threads = count_entries("/proc/self/task");
	struct rt_metrics m;

	for (int i = 0; i < 3; i++) {
		struct rt_tracker *self = new_self_tracker(), *system = new_system_tracker();

		ck_assert_int_ge(rt_tracker_fd(self), 0);
		ck_assert_int_eq(rt_sample(self, &m, sizeof(m)), 0);
		ck_assert_int_eq(rt_sample(system, &m, sizeof(m)), 0);
		rt_tracker_free(self);
		rt_tracker_free(system);
	}
	/* A thread is freed while it ends. */
	for (int i = 0; i < 500 && count_entries("/proc/self/task") > threads; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	ck_assert_uint_eq(count_entries("/proc/self/task"), threads);
	ck_assert_uint_eq(count_entries("/proc/self/fd"), files);
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
	tcase_add_test(errors, freed_trackers_leave_no_descriptor_and_no_thread);
	return suite_run(suite);
}
