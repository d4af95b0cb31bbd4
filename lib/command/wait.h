/* SPDX-License-Identifier: MIT */
/* Waiting for a command, and polling for peaks of memory meanwhile. */
#ifndef RTI_WAIT_H
#define RTI_WAIT_H

#include "command/handle.h"

/* The program was started: schedule the first peak poll. */
void rti_wait_begin(struct rt_command *c);

#endif
