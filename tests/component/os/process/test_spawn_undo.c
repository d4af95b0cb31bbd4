/* SPDX-License-Identifier: MIT */
/* Ending a program that was started in vain. kill(2) is wrapped: only a child of ours, not reaped
 * yet, is sure to have the pid still. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process/pidfd.h"
#include "os/process/spawn.h"
#include "suite.h"

static unsigned kills, strange_kills;

int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);

static bool is_child(pid_t pid)
{
	siginfo_t info;

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int __wrap_kill(pid_t pid, int signal)
{
	if (is_child(pid)) {
		kills++;
		return __real_kill(pid, signal);
	}
	strange_kills++;
	errno = ESRCH;
	return -1;
}

enum state { RUNNING, ENDED, REAPED, STATES };

static pid_t start_child(enum state state)
{
	siginfo_t info;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		while (state == RUNNING)
			pause();
	if (pid == 0)
		_exit(0);
	if (state != RUNNING)
		ck_assert_int_eq(
		    waitid(P_PID, (id_t)pid, &info, state == ENDED ? WEXITED | WNOWAIT : WEXITED),
		    0);
	return pid;
}

/* E.g.: the host reaps every child of it, and the pid is then that of another process. */
START_TEST(undone_program_is_reaped_and_killed_unless_its_pid_may_be_that_of_another)
{
	enum state state = (enum state)(_i / 2);
	pid_t pid = start_child(state);
	int pidfd = _i & 1 && state != REAPED ? rti_pidfd_open(pid) : -1;

	rti_spawn_undo(pid, pidfd);
	ck_assert_uint_eq(strange_kills, 0);
	ck_assert_uint_eq(kills, state != REAPED);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spawn_undo");
	TCase *tcase = suite_case(suite, "spawn_undo");

	tcase_add_loop_test(
	    tcase, undone_program_is_reaped_and_killed_unless_its_pid_may_be_that_of_another, 0,
	    2 * STATES);
	return suite_run(suite);
}
