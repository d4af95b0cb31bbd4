/* SPDX-License-Identifier: MIT */
/* Whether /proc is mounted so that it hides processes of other users. */
#ifndef RTI_HIDEPID_H
#define RTI_HIDEPID_H

#include <stdbool.h>

#include "os/context.h"

/* Returns true if the options of the mount leave processes out of the list for some users. The
 * caller may still see them all. E.g.: hidepid=2, and the caller is root. Reads mountinfo. */
bool rti_proc_hides_processes(const struct rti_context *ctx);

#endif
