/* SPDX-License-Identifier: MIT */
/* What a program that takes samples must implement, so that driver.c can measure it. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum kind { KIND_PID, KIND_TREE, KIND_SYSTEM };

struct target {
	const char *variant; /* a way of taking samples that the program knows; "-": the default */
	enum kind kind;
	pid_t pid;
	bool with_pss;
};

/* Prepare to sample the target, as a program would do once. */
void open_target(const struct target *target);

/* Take one sample. Returns the number of processes in it, which proves that it was taken, or 0 for
 * the system. */
int64_t sample_target(void);

/* Returns how the last sample was taken, in a few words without spaces. "-": nothing to say. */
const char *describe_sample(void);

/* Print what has failed, with errno, and exit with 1. */
_Noreturn void fail_with_errno(const char *what);

#endif
