/* SPDX-License-Identifier: MIT */
/* Real child processes that do what the test says, and end when the test does. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include <stdint.h>
#include <sys/types.h>

/* A child that runs work(arg) and then waits until the test lets it exit. It is killed if its
 * parent exits. */
struct child {
	pid_t pid;
	int ready_fd, go_fd;
};

/* Start a child, and wait until work() is done. Fails the test if it cannot be started. */
void child_start(struct child *child, void (*work)(void *arg), void *arg);

/* Start a child, but do not wait for work(). */
void child_start_async(struct child *child, void (*work)(void *arg), void *arg);

/* Wait until work() is done and the child sleeps: the kernel has counted all that it did. */
void child_await(struct child *child);

/* Let it exit, but do not reap it: it is a zombie when this returns. */
void child_let_die(struct child *child);

/* Let it exit, if it has not, and reap it. Returns the status from waitpid(). */
int child_end(struct child *child);

/* kill(2) for one process. Fails the test if pid does not name one: -1 would be all processes of
 * the system. */
int kill_process(pid_t pid, int signal);

/* In a forked child: SIGALRM ends it after so many seconds. A test inherits a handler of libcheck,
 * which lets a process go on: so alarm() alone would not end it. */
void end_self_after(unsigned seconds);

/* Work for a child: use this much CPU time in user mode. */
void burn_cpu_ns(uint64_t ns);

/* Returns the state of a thread, the third field of its stat: 'R', 'S', 'Z' ... 0 if there is no
 * such thread. */
char thread_state(pid_t pid, pid_t tid);

/* Poll until a condition holds. Fails the test after 100 s, which no test comes near, and names the
 * condition. */
#define wait_until(holds, arg) wait_until_named(#holds "(" #arg ")", holds, arg)
void wait_until_named(const char *condition, int (*holds)(void *arg), void *arg);

#endif
