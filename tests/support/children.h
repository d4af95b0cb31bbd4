/* SPDX-License-Identifier: MIT */
/* Real child processes that do as they are told, and end when the test does. */
#ifndef CHILDREN_H
#define CHILDREN_H

#include <stdint.h>
#include <sys/types.h>

/* A child that runs work(arg) and then waits to be told to go. Dies with its parent. */
struct child {
	pid_t pid;
	int ready_fd, go_fd;
};

/* Start it, and wait until work() is done. Fails the test when it cannot be started. */
void child_start(struct child *child, void (*work)(void *arg), void *arg);

/* Start it, but do not wait for work(). */
void child_start_async(struct child *child, void (*work)(void *arg), void *arg);

/* Wait until work() is done. */
void child_await(struct child *child);

/* Let it exit, but leave it unreaped: a zombie, when this returns. */
void child_let_die(struct child *child);

/* Let it exit, if it has not, and reap it. Returns the status of waitpid(). */
int child_end(struct child *child);

/* Work for a child: burn this much CPU time in user mode. */
void burn_cpu_ns(uint64_t ns);

/* State of a thread, from the third field of its stat: 'R', 'S', 'Z' ... 0 if there is none. */
char thread_state(pid_t pid, pid_t tid);

/* Wait until a condition holds, polling. Fails the test after 100 s, which no test comes near. */
void wait_until(int (*holds)(void *arg), void *arg);

#endif
