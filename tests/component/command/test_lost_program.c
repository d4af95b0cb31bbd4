/* SPDX-License-Identifier: MIT */
/* How a program ended that has lost its supervisor. The test takes the place of naps, so that it
 * does not wait for a new parent. */
#include "command/lost_program.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"
#include "faults.h"
#include "os/process/pidfd.h"
#include "suite.h"

static struct rt_tracker tracker;
static struct rt_command command;
static uint64_t napped_ns;

int __wrap_nanosleep(const struct timespec *nap, struct timespec *left);

int __wrap_nanosleep(const struct timespec *nap, struct timespec *left)
{
	(void)left;
	napped_ns += (uint64_t)nap->tv_nsec;
	return 0;
}

static void set_up(void)
{
	ck_assert_int_eq(rti_procfs_open(&tracker.procfs, NULL, &faults_ops), 0);
	tracker.ctx = (struct rti_context){ .procfs = &tracker.procfs, .buf = &tracker.buf };
	command = (struct rt_command){ .tracker = &tracker, .pidfd = -1 };
}

static void tear_down(void)
{
	rti_pidfd_close(command.pidfd);
	rti_buf_free(&tracker.buf);
	rti_procfs_close(&tracker.procfs);
}

static pid_t start_child(int exit_code)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(exit_code);
	ck_assert_int_gt(pid, 0);
	return pid;
}

static void await_zombie(pid_t pid)
{
	siginfo_t info;

	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* Open a pidfd, or skip the test. */
static bool open_pidfd(pid_t pid)
{
	command.pidfd = rti_pidfd_open(pid);
	if (command.pidfd < 0)
		suite_skip_test("this system has no pidfds");
	return command.pidfd >= 0;
}

/* A host that has closed its standard input may get descriptor 0 for it. */
START_TEST(program_with_any_descriptor_is_reaped_by_its_new_parent)
{
	int status = -1;

	command.pid = start_child(7);
	await_zombie(command.pid);
	if (_i == 0)
		close(STDIN_FILENO);
	if (!open_pidfd(command.pid))
		return;
	ck_assert(_i != 0 || command.pidfd == 0);

	ck_assert_int_eq(rti_lost_program_wait(&command, &status), 0);

	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	ck_assert_int_eq(waitpid(command.pid, NULL, WNOHANG), -1);
}
END_TEST

/* What has its pid by now is a zombie, which shows how it ended. */
START_TEST(status_of_another_process_with_the_pid_is_not_taken)
{
	int status = -1;

	command.pid = start_child(3);
	if (!open_pidfd(command.pid)) {
		waitpid(command.pid, NULL, 0);
		return;
	}
	ck_assert_int_eq(waitpid(command.pid, NULL, 0), command.pid);
	command.pid = start_child(7);
	await_zombie(command.pid);

	/* Linux 6.15 still knows how the first one ended. */
	if (rti_lost_program_wait(&command, &status) == 0)
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);

	ck_assert_int_eq(waitpid(command.pid, &status, 0), command.pid);
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

static void do_nothing(void *arg)
{
	(void)arg;
}

START_TEST(program_that_runs_on_is_waited_for_1_s_and_has_no_status)
{
	struct child child;
	int status = -1;

	child_start(&child, do_nothing, NULL);
	command.pid = child.pid;
	if (open_pidfd(command.pid)) {
		napped_ns = 0; /* the wait for the child naps, too */
		ck_assert_int_eq(rti_lost_program_wait(&command, &status), -ECHILD);
		ck_assert_int_eq(status, -1);
		ck_assert_uint_eq(napped_ns, 1000000000);
	}
	child_end(&child);
}
END_TEST

struct family {
	int exit_code, to_test;
};

/* Leaves a zombie. */
static void fork_program(void *arg)
{
	const struct family *family = arg;
	pid_t pid = start_child(family->exit_code);

	await_zombie(pid);
	ck_assert_int_eq(write(family->to_test, &pid, sizeof(pid)), sizeof(pid));
}

/* A reader without permission sees 0 for how it ended, and no io at all. */
START_TEST(zombie_of_another_parent_has_a_status_unless_that_may_be_hidden)
{
	static const struct {
		int exit_code, io_error, result;
	} cases[] = { { 7, 0, 0 }, { 7, -EACCES, 0 }, { 0, 0, 0 }, { 0, -EACCES, -ECHILD } };
	struct child parent;
	struct family family = { .exit_code = cases[_i].exit_code };
	int status = -1, ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	family.to_test = ends[1];
	child_start(&parent, fork_program, &family);
	ck_assert_int_eq(read(ends[0], &command.pid, sizeof(command.pid)), sizeof(command.pid));
	faults_on_open("/io", cases[_i].io_error);
	if (open_pidfd(command.pid)) {
		ck_assert_int_eq(rti_lost_program_wait(&command, &status), cases[_i].result);
		ck_assert_int_eq(status, cases[_i].result ? -1 : cases[_i].exit_code << 8);
	}
	child_end(&parent);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

/* Another process may have its pid. */
START_TEST(program_without_a_descriptor_has_no_status)
{
	int status = -1;

	command.pid = start_child(7);
	await_zombie(command.pid);
	ck_assert_int_eq(rti_lost_program_wait(&command, &status), -ECHILD);
	ck_assert_int_eq(status, -1);
	ck_assert_int_eq(waitpid(command.pid, NULL, 0), command.pid);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lost_program");
	TCase *tcase = suite_case(suite, "status");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, program_with_any_descriptor_is_reaped_by_its_new_parent, 0, 2);
	tcase_add_test(tcase, status_of_another_process_with_the_pid_is_not_taken);
	tcase_add_test(tcase, program_that_runs_on_is_waited_for_1_s_and_has_no_status);
	tcase_add_loop_test(tcase, zombie_of_another_parent_has_a_status_unless_that_may_be_hidden,
	                    0, 4);
	tcase_add_test(tcase, program_without_a_descriptor_has_no_status);
	return suite_run(suite);
}
