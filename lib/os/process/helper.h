/* SPDX-License-Identifier: MIT */
/* Starts the programs of this library: the supervisor and the tracer. */
#ifndef RTI_HELPER_H
#define RTI_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#include "os/origin.h"

struct rti_spawn;

/* Start a program of this library: what this program contains, or else a file. opts->argv is argv;
 * its first element is set to the path. Returns 0, or as rti_origin_open() and rti_spawn().
 *
 * *file says where it was found. Its descriptor is open on success, and the caller closes it; else
 * it is -1. The name of what this program contains is "". */
int rti_helper_spawn(const char *name, const struct rti_spawn *opts, const char **argv,
                     struct rti_origin_file *file, int32_t *pid);

/* Whether an error of spawning says that there is no such program. ENOEXEC: the file is damaged, or
 * of another architecture. */
bool rti_helper_is_missing(int err);

#endif
