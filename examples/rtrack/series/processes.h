/* SPDX-License-Identifier: MIT */
/* The list of all processes of a command, written when it has ended. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "options/options.h"
#include "output/output.h"

struct processes {
	struct output out;
	bool as_json; /* true: JSON Lines; false: CSV */
};

/* Open the file that the options name, if any. Returns 0, or reports the error and returns it as a
 * negative errno value. */
int processes_open(struct processes *p, const struct options *options);

/* Returns true if a list was requested and can be written. */
bool processes_are_wanted(const struct processes *p);

/* Write the list of processes of a command that has ended. */
void processes_write(struct processes *p, struct rt_command *command);

void processes_close(struct processes *p);

#endif
