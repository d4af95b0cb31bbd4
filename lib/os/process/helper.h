/* SPDX-License-Identifier: MIT */
/* Starts the programs of this library: the supervisor and the tracer. */
#ifndef RTI_HELPER_H
#define RTI_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#include "os/origin.h"

struct rti_spawn;

/* Start a program of this library, which lies beside it as in a build tree; in the installation
 * that the library is part of; or where it was installed. opts->argv is argv; its first element is
 * set to the path. Returns 0 or as rti_spawn(): -ENOENT if there is none.
 *
 * *file says where it was found. If it was beside the library or in its installation, its
 * descriptor is open, which the caller closes; else it is -1. */
int rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                     struct rti_origin_file *file, int32_t *pid);

/* Whether an error of spawning says that there is no such program. ENOEXEC: the file is damaged, or
 * of another architecture. */
bool rti_helper_is_missing(int err);

#endif
