/* SPDX-License-Identifier: MIT */
/* Where the programs of this library lie: the supervisor and the tracer. */
#ifndef RTI_HELPER_PATH_H
#define RTI_HELPER_PATH_H

#include <stdbool.h>

#include "os/origin.h"

/* Returns the n-th place, from 0, where a program may lie, or NULL past the last: beside the
 * library as in a build tree; in the installation that the library is part of; where it was
 * installed. A place that cannot be known is "". */
const char *rti_helper_path(const char *name, unsigned n, char out[RTI_ORIGIN_PATH_MAX]);

/* Whether an error of spawning says that there is no such program. ENOEXEC: the file is damaged, or
 * of another architecture. */
bool rti_helper_is_missing(int err);

#endif
