/* SPDX-License-Identifier: MIT */
/* The outcome of a command that was given up. */
#ifndef UNENDED_H
#define UNENDED_H

#include <rtrack/rtrack.h>

#include "follow/follow.h"

/* Make it of a last sample: how the command ends is not known, and its figures are lower bounds. */
void unended_outcome(struct rt_outcome *out, struct rt_command *command, const struct follow *f);

#endif
