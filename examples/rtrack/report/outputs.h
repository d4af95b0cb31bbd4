/* SPDX-License-Identifier: MIT */
/* The outputs of one subcommand together. */
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include "options/options.h"
#include "output/output.h"
#include "series/processes.h"
#include "series/series.h"
#include "summary/summary.h"

/* Refuse one file for two outputs, whatever names it has: each would overwrite the other. processes
 * may be NULL. Returns 0, or reports it and returns the exit code. */
int outputs_check(const struct options *options, const struct series *series,
                  const struct summary *summary, const struct processes *processes);

/* Returns EXIT_TROUBLE in place of 0 if an output could not be written. The exit code of a command,
 * which has processes, changes only if a row was written in part and is still there: a reader must
 * not take the output for a whole one. */
int outputs_exit_code(int code, const struct series *series, const struct summary *summary,
                      const struct processes *processes);

#endif
