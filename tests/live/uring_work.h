/* SPDX-License-Identifier: MIT */
/* Work by threads that the kernel makes for a process: those of io_uring. */
#ifndef URING_WORK_H
#define URING_WORK_H

#include <stdbool.h>
#include <stdint.h>

/* Return whether this kernel offers io_uring to this user. */
bool has_uring(void);

/* Let the kernel's threads of this process use this much CPU time, while the caller sleeps. */
void work_by_uring(uint64_t cpu_ns);

#endif
