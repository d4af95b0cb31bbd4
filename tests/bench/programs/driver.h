/* SPDX-License-Identifier: MIT */
/* What a program that samples must offer to be measured by driver.c. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdint.h>
#include <sys/types.h>

enum kind { KIND_PID, KIND_TREE, KIND_SYSTEM };

struct target {
	const char *variant; /* what else the program can be asked for; "-" is nothing */
	enum kind kind;
	pid_t pid;
	int with_pss;
};

/* Get ready to sample it, as a program would once. */
void target_open(const struct target *target);

/* Take one sample. Returns how many processes it has found, which proves that it has looked; 0
 * for a machine. */
int64_t target_sample(void);

/* A few words, without spaces, on how the last sample was taken. */
const char *target_note(void);

/* Give up: what the caller tries to do does not work. */
_Noreturn void cannot(const char *what);

/* A directory entry that is a pid, or 0. */
pid_t pid_of_name(const char *name);

#endif
