/* SPDX-License-Identifier: MIT */
/* What the workloads share: using CPU time, starting children, reporting what they know.
 *
 * Each workload makes one shape of process tree, ends all processes that it started, and exits
 * with 0. If the kernel or the user's privileges do not allow that shape, it prints one line to
 * stderr and exits with 77. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>
#include <sys/types.h>

#define MIB ((uint64_t)1 << 20)

/* Use CPU time in the calling thread. */
void burn(int ms);
void burn_us(int us);

/* Sleep, also if signals arrive. */
void sleep_ms(int ms);

/* Returns argument i as a number, or the default if there is no such argument. */
int get_number(int argc, char **argv, int i, int default_value);

/* Start a child that calls work(ms) and exits with 0. */
pid_t start_child(void (*work)(int ms), int ms);

/* Reap a child. */
void wait_for(pid_t pid);

/* A pipe of which every descendant holds the write end. Reading it to its end waits for all
 * descendants, also for those that this process cannot wait for. */
struct exit_pipe {
	int fds[2];
};

/* Open the pipe, before any child is started. */
void open_exit_pipe(struct exit_pipe *pipe);

/* Wait until every descendant has exited. */
void wait_for_exits(struct exit_pipe *pipe);

/* Start the first process of a pid namespace. Returns its pid, and 0 in that process. */
pid_t start_namespace(void);

/* Report what a figure must be: a line "NAME LOW HIGH" in the file that the environment variable
 * ACCURACY_REPORT names. */
void report_range(const char *name, uint64_t low, uint64_t high);

/* The same, for a value that is known exactly. */
void report_value(const char *name, uint64_t value);

/* Report page faults and context switches so far of this process and of the children that it has
 * waited for. Call it last: exiting adds some. */
void report_usage(void);

/* Append a line to the report. */
void report_line(const char *line);

/* Exit with 77: this shape of tree is not possible here. */
_Noreturn void skip(const char *reason);

/* Exit with 77 because a system call has failed. The line ends with its error. */
_Noreturn void skip_with_errno(const char *what);

#endif
