/* SPDX-License-Identifier: MIT */
/* Ends a sleep of another thread, by an eventfd that the sleep polls. */
#include "os/thread/interrupt.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

void rti_interrupt_open(struct rti_interrupt *interrupt)
{
	interrupt->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void rti_interrupt_raise(struct rti_interrupt *interrupt)
{
	int saved = errno;

	if (!atomic_exchange(&interrupt->is_pending, true) && interrupt->fd >= 0)
		eventfd_write(interrupt->fd, 1);
	errno = saved;
}

bool rti_interrupt_take(struct rti_interrupt *interrupt)
{
	eventfd_t count;

	/* In this order, and whether it is pending or not. The flag may have been taken between the
	 * two steps of rti_interrupt_raise(): what that then writes wakes one sleep in vain. */
	if (interrupt->fd >= 0)
		eventfd_read(interrupt->fd, &count);
	return atomic_exchange(&interrupt->is_pending, false);
}

void rti_interrupt_close(struct rti_interrupt *interrupt)
{
	if (interrupt->fd >= 0)
		close(interrupt->fd);
	interrupt->fd = -1;
}
