/* SPDX-License-Identifier: MIT */
/* Ends a sleep of another thread. */
#ifndef RTI_INTERRUPT_H
#define RTI_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

struct rti_interrupt {
	atomic_bool is_pending;
	int fd; /* readable while it is pending; -1 if there was no descriptor for it */
};

void rti_interrupt_open(struct rti_interrupt *interrupt);

/* Async-signal-safe; leaves errno alone. */
void rti_interrupt_raise(struct rti_interrupt *interrupt);

/* Returns true if it was pending, which it then is no more. */
bool rti_interrupt_take(struct rti_interrupt *interrupt);

void rti_interrupt_close(struct rti_interrupt *interrupt);

#endif
