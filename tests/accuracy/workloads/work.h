/* SPDX-License-Identifier: MIT */
/* What the workloads share: using up CPU time, starting children, telling what they know of
 * themselves.
 *
 * Each workload makes one shape of process tree, ends whatever it started, and exits with 0; or
 * with 77 and one line on stderr where the kernel or the user's rights do not allow that shape. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>
#include <sys/types.h>

#define MIB ((uint64_t)1 << 20)

/* Use so much CPU time of this thread. */
void burn(int ms);

void nap(int ms);

/* Argument i as a number, or what it is without one. */
int number(int argc, char **argv, int i, int otherwise);

/* Start a child that does work(ms) and exits with 0. */
pid_t start_child(void (*work)(int ms), int ms);

void wait_for(pid_t pid);

/* A pipe that every descendant holds: reading it to its end waits for those that nobody can wait
 * for. */
struct presence {
	int fds[2];
};

void presence_open(struct presence *presence);
void presence_await(struct presence *presence);

/* Resident memory of this process now, as its page tables say. */
uint64_t resident_bytes(void);

/* What a figure must be, as the workload knows it: a line "name value" in the file that
 * ACCURACY_TOLD names. */
void tell(const char *name, uint64_t value);

/* Not possible here. */
_Noreturn void give_up(const char *why);

/* give_up() with the reason for a failed call. */
_Noreturn void cannot(const char *what);

#endif
