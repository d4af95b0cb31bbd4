/* SPDX-License-Identifier: MIT */
/* The list of every process that a command has had, written at its end. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "options.h"
#include "output.h"

struct processes {
	struct output out;
	bool as_json; /* JSON Lines, else CSV */
};

/* Open the file that the options ask for. -1 when it cannot be opened; the reason has been told. */
int processes_open(struct processes *p, const struct options *options);

/* Whether a list is wanted, and can still be written. */
bool processes_are_wanted(const struct processes *p);

/* Write the list of a command that has ended. */
void processes_write(struct processes *p, struct rt_command *command);

void processes_close(struct processes *p);

#endif
