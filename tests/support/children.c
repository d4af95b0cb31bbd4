/* SPDX-License-Identifier: MIT */
#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

#define PATIENCE_S 100

static void run_child(int ready_fd, int go_fd, void (*work)(void *arg), void *arg)
{
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	work(arg);
	if (write(ready_fd, &byte, 1) != 1)
		_exit(99);
	while (read(go_fd, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

void child_start_async(struct child *child, void (*work)(void *arg), void *arg)
{
	int ready[2], go[2];

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	child->pid = fork();
	ck_assert_int_ge(child->pid, 0);
	if (child->pid == 0) {
		close(ready[0]);
		close(go[1]);
		run_child(ready[1], go[0], work, arg);
	}
	close(ready[1]);
	close(go[0]);
	child->ready_fd = ready[0];
	child->go_fd = go[1];
}

/* Returns true too if /proc does not show it. */
static int has_no_cpu(void *pid)
{
	pid_t of = *(const pid_t *)pid;

	return thread_state(of, of) != 'R';
}

/* The kernel counts a write after the reader can have it. */
void child_await(struct child *child)
{
	char byte;

	ck_assert_int_eq(read(child->ready_fd, &byte, 1), 1);
	wait_until(has_no_cpu, &child->pid);
}

void child_start(struct child *child, void (*work)(void *arg), void *arg)
{
	child_start_async(child, work, arg);
	child_await(child);
}

static void let_exit(struct child *child)
{
	if (child->go_fd >= 0)
		close(child->go_fd);
	child->go_fd = -1;
}

void child_let_die(struct child *child)
{
	siginfo_t info;

	let_exit(child);
	ck_assert_int_eq(waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT), 0);
}

int child_end(struct child *child)
{
	int status = 0;

	let_exit(child);
	ck_assert_int_eq(waitpid(child->pid, &status, 0), child->pid);
	close(child->ready_fd);
	return status;
}

char thread_state(pid_t pid, pid_t tid)
{
	char path[64], text[512], *name_end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	name_end = strrchr(text, ')');
	return name_end ? name_end[2] : 0;
}

int kill_process(pid_t pid, int signal)
{
	ck_assert_int_gt(pid, 1);
	return kill(pid, signal);
}

void end_self_after(unsigned seconds)
{
	signal(SIGALRM, SIG_DFL);
	alarm(seconds);
}

static uint64_t get_thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void burn_cpu_ns(uint64_t ns)
{
	uint64_t until_ns = get_thread_cpu_ns() + ns;
	volatile unsigned spin = 0;

	while (get_thread_cpu_ns() < until_ns) {
		for (int i = 0; i < 10000; i++)
			spin++;
	}
}

void wait_until_named(const char *condition, int (*holds)(void *arg), void *arg)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct timespec now;
	time_t end_s;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end_s = now.tv_sec + PATIENCE_S;
	while (!holds(arg)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		ck_assert_msg(now.tv_sec < end_s, "%s did not hold within %d s", condition,
		              PATIENCE_S);
		nanosleep(&nap, NULL);
	}
}
