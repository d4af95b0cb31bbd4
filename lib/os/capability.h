/* SPDX-License-Identifier: MIT */
/* Capabilities of the calling thread. */
#ifndef RTI_CAPABILITY_H
#define RTI_CAPABILITY_H

#include <stdbool.h>

/* Whether a capability (RTI_CAP_ number, os/kernel_abi.h) is effective, in the user namespace of
 * the caller. Returns false if that is unknown. */
bool rti_has_capability(unsigned number);

#endif
