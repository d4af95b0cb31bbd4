/* SPDX-License-Identifier: MIT */
/* Whether a process cannot act on signals. */
#ifndef FROZEN_H
#define FROZEN_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if the cgroup of a process is frozen, by the freezer of v1 or by cgroup.freeze. */
bool process_is_frozen(int32_t pid);

/* Returns true if a signal that ends is pending for a process that is frozen or in uninterruptible
 * sleep, and that it does not block. */
bool process_is_deaf(int32_t pid);

#endif
