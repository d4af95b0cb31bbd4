/* SPDX-License-Identifier: MIT */
/* A host with a thread, a timer, a SIGCHLD handler and children of its own is as it was after
 * commands have run in its event loop. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "commands.h"
#include "descriptors.h"
#include "suite.h"

#define COMMANDS 8
#define WAIT_MAX_MS 100000

static const uint32_t methods[] = { RT_ACCOUNTING_POLL, RT_ACCOUNTING_WAIT, RT_ACCOUNTING_AUTO };

static atomic_int alarms, child_signals;

static void count_signal(int signal)
{
	atomic_fetch_add(signal == SIGALRM ? &alarms : &child_signals, 1);
}

static void handle(int signal)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = SA_RESTART };

	sigaddset(&action.sa_mask, SIGUSR1);
	ck_assert_int_eq(sigaction(signal, &action, NULL), 0);
}

static void check_handled(int signal)
{
	struct sigaction action;

	ck_assert_int_eq(sigaction(signal, NULL, &action), 0);
	ck_assert_ptr_eq(action.sa_handler, count_signal);
	ck_assert_int_eq(action.sa_flags & SA_RESTART, SA_RESTART);
	ck_assert_int_eq(sigismember(&action.sa_mask, SIGUSR1), 1);
}

/* A thread of the host that waits for a child of its own. */
static void *wait_for_child(void *arg)
{
	int *status = arg;
	pid_t pid = *status;

	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	return NULL;
}

static pid_t fork_child(int exit_code, const char *seconds)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		execlp("sh", "sh", "-c", "sleep $1; exit $2", "sh", seconds,
		       exit_code == 7 ? "7" : "9", (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* Poll for all of them at once, until each has ended. */
static void run_commands(uint32_t method)
{
	struct rt_command *commands[COMMANDS];
	struct pollfd fds[COMMANDS];
	int left = COMMANDS;

	for (int i = 0; i < COMMANDS; i++) {
		commands[i] = start_shell_with((struct rt_command_opts){ .accounting = method },
		                               "sleep 0.2 & sleep 0.1; wait; exit 3");
		fds[i] = (struct pollfd){ .fd = rt_command_fd(commands[i]), .events = POLLIN };
		ck_assert_int_ge(fds[i].fd, 0);
	}
	while (left > 0) {
		int n = poll(fds, COMMANDS, WAIT_MAX_MS);

		ck_assert(n > 0 || (n < 0 && errno == EINTR));
		for (int i = 0; n > 0 && i < COMMANDS; i++) {
			if (!fds[i].revents ||
			    rt_command_wait(commands[i], 0, NULL, 0) == -ETIMEDOUT)
				continue;
			ck_assert_int_eq(finish_command(commands[i]).exit_code, 3);
			rt_command_free(commands[i]);
			fds[i].fd = -1;
			left--;
		}
	}
}

static int alarms_go_on(void *before)
{
	return alarms != *(int *)before;
}

START_TEST(host_is_as_it_was_after_commands)
{
	const struct itimerval period = { { 0, 5000 }, { 0, 5000 } };
	sigset_t mask_before, mask_after;
	struct itimerval timer;
	int thread_status, status, descriptors, alarms_before;
	pthread_t thread;
	pid_t child;

	handle(SIGCHLD);
	handle(SIGALRM);
	descriptors = count_descriptors();
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &period, NULL), 0);
	thread_status = fork_child(7, "0.05");
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_child, &thread_status), 0);
	child = fork_child(9, "0.05");

	run_commands(methods[_i]);

	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(WEXITSTATUS(thread_status), 7);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(WEXITSTATUS(status), 9);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	ck_assert_int_gt(child_signals, 0);
	check_handled(SIGCHLD);
	check_handled(SIGALRM);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	for (int signal = 1; signal < NSIG; signal++)
		ck_assert_int_eq(sigismember(&mask_before, signal),
		                 sigismember(&mask_after, signal));
	ck_assert_int_eq(count_descriptors(), descriptors);
	ck_assert_int_eq(getitimer(ITIMER_REAL, &timer), 0);
	ck_assert_int_eq(timer.it_interval.tv_usec, period.it_interval.tv_usec);
	alarms_before = alarms;
	wait_until(alarms_go_on, &alarms_before);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command_host");

	tcase_add_loop_test(suite_case(suite, "host"), host_is_as_it_was_after_commands, 0,
	                    sizeof(methods) / sizeof(methods[0]));
	return suite_run(suite);
}
