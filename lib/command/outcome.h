/* SPDX-License-Identifier: MIT */
/* The end of a command: the last samples, and what they say together with the process that
 * waited for the program. */
#ifndef RTI_OUTCOME_H
#define RTI_OUTCOME_H

#include "command/handle.h"

/* Fill the outcome of a program that has ended. Returns 0, or -ECHILD if its exit status is
 * lost. */
int rti_outcome_finish(struct rt_command *c);

/* Fill it again: some processes that ran on have ended since then. */
void rti_outcome_update(struct rt_command *c);

#endif
