/* SPDX-License-Identifier: MIT */
/* The end of a program that has lost its supervisor. */
#ifndef RTI_LOST_PROGRAM_H
#define RTI_LOST_PROGRAM_H

#include "command/handle.h"

/* The program has ended, and its supervisor is gone: find out how it ended. Its new parent reaps it
 * in a moment. Returns 0, or -ECHILD if that cannot be known. */
int rti_lost_program_wait(const struct rt_command *c, int *status);

#endif
