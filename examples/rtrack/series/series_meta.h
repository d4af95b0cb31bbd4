/* SPDX-License-Identifier: MIT */
/* What a series is of, in a file of its own: rows of a series are then all alike. */
#ifndef SERIES_META_H
#define SERIES_META_H

#include "format.h"
#include "options/options.h"
#include "output/output.h"

/* Open the file of --meta, if it is asked for. Returns 0, or reports the error and returns it as a
 * negative errno value. */
int meta_open(struct output *out, const struct options *options);

/* Write it, if it is open. */
void meta_write(struct output *out, const struct subject *subject, const struct format *format,
                bool is_per_process);

#endif
