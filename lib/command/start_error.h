/* SPDX-License-Identifier: MIT */
/* Says in words why a program could not be started. */
#ifndef RTI_START_ERROR_H
#define RTI_START_ERROR_H

#include <stddef.h>

#include <rtrack/rtrack.h>

/* Write an English sentence about an error of rt_command_start() to opts->message, cut to fit. It
 * looks at what the options name, so its cost does not matter to a start that succeeds. Nothing if
 * the caller wants no message. */
void rti_start_error_describe(const struct rt_command_opts *opts, int err, int why);

#endif
