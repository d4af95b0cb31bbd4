/* SPDX-License-Identifier: MIT */
/* What a pidfd knows of a process that has exited, or runs. */
#include "os/process/pidfd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "suite.h"

/* Returns false before Linux 6.15, which knows nothing of a process that was reaped. */
static bool knows_exits(void)
{
	struct utsname name;
	int major = 0, minor = 0;

	ck_assert_int_eq(uname(&name), 0);
	ck_assert_int_eq(sscanf(name.release, "%d.%d", &major, &minor), 2);
	return major > 6 || (major == 6 && minor >= 15);
}

/* Returns a pidfd of a child that waits for a signal. */
static int start_child(pid_t *pid)
{
	int fd;

	*pid = fork();
	ck_assert_int_ge(*pid, 0);
	if (*pid == 0) {
		pause();
		_exit(1);
	}
	fd = rti_pidfd_open(*pid);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static int end_child(pid_t pid)
{
	int status;

	kill_process(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

START_TEST(exit_status_is_known_once_the_process_was_reaped)
{
	int status = -1, expected, err;
	pid_t pid;
	int fd = start_child(&pid);

	err = rti_pidfd_exit_status(fd, &status);
	ck_assert(err == -EAGAIN || err == -EOPNOTSUPP);
	ck_assert_int_eq(status, -1);
	expected = end_child(pid);
	err = rti_pidfd_exit_status(fd, &status);
	ck_assert_int_eq(err == 0, knows_exits());
	ck_assert_int_eq(status, err == 0 ? expected : -1);
	rti_pidfd_close(fd);
}
END_TEST

START_TEST(cgroup_of_a_reaped_process_is_that_of_its_parent)
{
	uint64_t own = 0, id = 0;
	int self = rti_pidfd_open(getpid()), err = rti_pidfd_cgroup_id(self, &own);
	pid_t pid;
	int fd = start_child(&pid);

	if (err == 0) {
		ck_assert_int_eq(rti_pidfd_cgroup_id(fd, &id), 0);
		ck_assert_uint_eq(id, own);
	}
	id = 0;
	end_child(pid);
	err = rti_pidfd_cgroup_id(fd, &id);
	ck_assert_int_eq(err == 0, knows_exits());
	ck_assert_uint_eq(id, err == 0 ? own : 0);
	rti_pidfd_close(fd);
	rti_pidfd_close(self);
}
END_TEST

static const struct {
	int exit_code, signal;
} ends[] = { { .exit_code = 0 }, { .exit_code = 3 }, { .signal = SIGKILL }, { .signal = SIGUSR1 } };

enum { ENDS = sizeof(ends) / sizeof(ends[0]) };

START_TEST(child_is_reaped_by_its_descriptor_once_it_has_exited)
{
	struct pollfd end;
	int status = -1, fd;
	pid_t pid = fork();

	if (pid == 0) {
		if (ends[_i].signal)
			raise(ends[_i].signal);
		_exit(ends[_i].exit_code);
	}
	fd = rti_pidfd_open(pid);
	end = (struct pollfd){ .fd = fd, .events = POLLIN };
	ck_assert_int_eq(poll(&end, 1, 10000), 1);

	ck_assert_int_eq(rti_pidfd_reap(fd, &status), 0);

	ck_assert_int_eq(WIFSIGNALED(status), ends[_i].signal != 0);
	ck_assert_int_eq(WIFSIGNALED(status) ? WTERMSIG(status) : 0, ends[_i].signal);
	ck_assert_int_eq(WIFEXITED(status) ? WEXITSTATUS(status) : 0, ends[_i].exit_code);
	ck_assert_int_eq(rti_pidfd_reap(fd, &status), -ECHILD);
	rti_pidfd_close(fd);
}
END_TEST

START_TEST(child_that_runs_is_not_reaped)
{
	int status = 7;
	pid_t pid;
	int fd = start_child(&pid);

	ck_assert_int_eq(rti_pidfd_reap(fd, &status), -EAGAIN);
	ck_assert_int_eq(status, 7);
	end_child(pid);
	rti_pidfd_close(fd);
}
END_TEST

START_TEST(process_that_is_no_child_is_not_reaped)
{
	int status = 7, self = rti_pidfd_open(getpid());

	ck_assert_int_eq(rti_pidfd_reap(self, &status), -ECHILD);
	ck_assert_int_eq(status, 7);
	rti_pidfd_close(self);
}
END_TEST

/* Before Linux 5.3, a process is killed by its pid. */
START_TEST(process_without_a_descriptor_gets_its_signal_by_pid)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		for (;;)
			pause();
	ck_assert_int_eq(rti_pidfd_signal(-1, pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	errno = EIO;
	ck_assert_int_eq(rti_pidfd_signal(-1, pid, 0), -ESRCH);
	ck_assert_int_eq(errno, EIO);
}
END_TEST

START_TEST(no_descriptor_knows_nothing)
{
	uint64_t id = 7;
	int status = 7;

	ck_assert_int_eq(rti_pidfd_exit_status(-1, &status), -EOPNOTSUPP);
	ck_assert_int_eq(rti_pidfd_cgroup_id(-1, &id), -EOPNOTSUPP);
	ck_assert_int_eq(rti_pidfd_reap(-1, &status), -EOPNOTSUPP);
	ck_assert_int_eq(status, 7);
	ck_assert_uint_eq(id, 7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pidfd");
	TCase *tests = suite_case(suite, "pidfd");

	tcase_add_test(tests, exit_status_is_known_once_the_process_was_reaped);
	tcase_add_test(tests, cgroup_of_a_reaped_process_is_that_of_its_parent);
	tcase_add_loop_test(tests, child_is_reaped_by_its_descriptor_once_it_has_exited, 0, ENDS);
	tcase_add_test(tests, child_that_runs_is_not_reaped);
	tcase_add_test(tests, process_that_is_no_child_is_not_reaped);
	tcase_add_test(tests, process_without_a_descriptor_gets_its_signal_by_pid);
	tcase_add_test(tests, no_descriptor_knows_nothing);
	return suite_run(suite);
}
