/* SPDX-License-Identifier: MIT */
/* Names of public constants, for messages. */
#ifndef RTI_CONSTANTS_H
#define RTI_CONSTANTS_H

#include <stdint.h>

/* Returns the name of a constant, or NULL if the group (RT_CONSTANTS_ value) has none with this
 * value. */
const char *rti_constant_name(uint32_t group, uint64_t value);

#endif
