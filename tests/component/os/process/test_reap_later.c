/* SPDX-License-Identifier: MIT */
/* Children that are reaped later. */
#include "os/process/reap_later.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "descriptors.h"
#include "os/process/pidfd.h"
#include "suite.h"

#define KEPT_MAX 64 /* as in reap_later.c */

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

static void take(pid_t pid)
{
	int fd = rti_pidfd_open(pid);

	ck_assert_int_ge(fd, 0);
	rti_reap_later_take(fd);
}

/* It is a zombie when this returns. */
static void end_sleeper(pid_t pid)
{
	siginfo_t info;

	ck_assert_int_eq(kill_process(pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void check_reaped(pid_t pid)
{
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

static void reap(pid_t pid)
{
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(child_that_has_ended_is_reaped_at_once)
{
	int before = count_descriptors();
	pid_t pid = start_sleeper();

	end_sleeper(pid);
	take(pid);

	check_reaped(pid);
	ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

START_TEST(child_that_runs_is_reaped_by_a_look_after_its_end)
{
	int before = count_descriptors();
	pid_t pid = start_sleeper();

	take(pid);
	rti_reap_later_look();
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0); /* it runs, and is a child still */
	end_sleeper(pid);
	rti_reap_later_look();

	check_reaped(pid);
	ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

START_TEST(child_that_has_ended_is_reaped_when_another_one_is_taken)
{
	pid_t first = start_sleeper(), second = start_sleeper();

	take(first);
	end_sleeper(first);
	take(second);

	check_reaped(first);
	end_sleeper(second);
	rti_reap_later_look();
	check_reaped(second);
}
END_TEST

START_TEST(child_that_another_part_has_reaped_is_dropped)
{
	int before = count_descriptors();
	pid_t pid = start_sleeper();

	take(pid);
	end_sleeper(pid);
	reap(pid);
	rti_reap_later_look();

	ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

START_TEST(oldest_child_is_forgotten_if_there_are_too_many)
{
	int before = count_descriptors();
	pid_t pids[KEPT_MAX + 1];

	for (int i = 0; i <= KEPT_MAX; i++) {
		pids[i] = start_sleeper();
		take(pids[i]);
	}
	ck_assert_int_eq(count_descriptors(), before + KEPT_MAX);
	for (int i = 0; i <= KEPT_MAX; i++)
		end_sleeper(pids[i]);
	rti_reap_later_look();

	ck_assert_int_eq(count_descriptors(), before);
	for (int i = 1; i <= KEPT_MAX; i++)
		check_reaped(pids[i]);
	reap(pids[0]); /* it is a zombie still */
}
END_TEST

START_TEST(child_that_has_ended_makes_room_for_another_one)
{
	pid_t pids[KEPT_MAX + 1];

	for (int i = 0; i < KEPT_MAX; i++) {
		pids[i] = start_sleeper();
		take(pids[i]);
	}
	end_sleeper(pids[5]);
	pids[KEPT_MAX] = start_sleeper();
	take(pids[KEPT_MAX]);
	check_reaped(pids[5]);
	for (int i = 0; i <= KEPT_MAX; i++)
		if (i != 5)
			end_sleeper(pids[i]);
	rti_reap_later_look();

	check_reaped(pids[0]);
	check_reaped(pids[KEPT_MAX]);
}
END_TEST

/* It has inherited the list, and its siblings are not its children. */
START_TEST(forked_child_leaves_the_children_of_its_parent_alone)
{
	pid_t pid = start_sleeper(), fork_pid;
	int before, status;

	take(pid);
	end_sleeper(pid);
	fork_pid = fork();
	ck_assert_int_ge(fork_pid, 0);
	if (fork_pid == 0) {
		before = count_descriptors();
		rti_reap_later_look();
		_exit(count_descriptors() == before - 1 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(fork_pid, &status, 0), fork_pid);

	ck_assert_int_eq(status, 0);
	reap(pid);
}
END_TEST

int main(void)
{
	Suite *suite;
	TCase *tests;
	int fd = rti_pidfd_open(getpid());

	if (fd < 0)
		return suite_skip("this kernel has no pidfds");
	rti_pidfd_close(fd);
	suite = suite_create("reap_later");
	tests = suite_case(suite, "reap_later");
	tcase_add_test(tests, child_that_has_ended_is_reaped_at_once);
	tcase_add_test(tests, child_that_runs_is_reaped_by_a_look_after_its_end);
	tcase_add_test(tests, child_that_has_ended_is_reaped_when_another_one_is_taken);
	tcase_add_test(tests, child_that_another_part_has_reaped_is_dropped);
	tcase_add_test(tests, oldest_child_is_forgotten_if_there_are_too_many);
	tcase_add_test(tests, child_that_has_ended_makes_room_for_another_one);
	tcase_add_test(tests, forked_child_leaves_the_children_of_its_parent_alone);
	return suite_run(suite);
}
