/* SPDX-License-Identifier: MIT */
/* Which domains a tracker has to measure: those of the outputs, and no others. */
#ifndef WANTED_H
#define WANTED_H

#include <stdint.h>

#include "options/options.h"
#include "series/series.h"

/* Returns the RT_HAS_ bits that the series, the summary, the live line and the list of processes
 * need of a tracker of this RT_KIND_. */
uint64_t wanted_domains(const struct options *options, const struct series *series, uint32_t kind);

#endif
