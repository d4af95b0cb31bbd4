/* SPDX-License-Identifier: MIT */
/* Says in words why a domain of a sample is not complete. */
#ifndef RTI_OBSTACLE_TEXT_H
#define RTI_OBSTACLE_TEXT_H

#include <stddef.h>

#include "collect/status.h"

/* Write a sentence about an explanation, and one that says what would help. It is cut to fit. */
void rti_obstacle_describe(const struct rti_explanation *why, uint64_t has, char *out, size_t size);

#endif
