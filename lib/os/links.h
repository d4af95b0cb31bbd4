/* SPDX-License-Identifier: MIT */
/* The network interfaces of a network namespace, and whether they have changed: rtnetlink(7).
 *
 * A socket stays in the namespace that the calling thread was in when it was opened. It needs no
 * privilege. A filter of system calls may refuse it. */
#ifndef RTI_LINKS_H
#define RTI_LINKS_H

#include <stdbool.h>

#include "parse/link.h"

/* Open a socket that notes changes from now on: one that appears, goes, gets another name or other
 * properties. Returns it, or -errno. The caller closes it with rti_links_close(). */
int rti_links_open(void);
void rti_links_close(int fd);

enum rti_link_changes {
	RTI_LINKS_SAME,
	RTI_LINKS_CHANGED,
	RTI_LINKS_UNKNOWN /* some changes found no room in the socket */
};

/* Take the changes since the last call. Calls gone() for each interface that has left the
 * namespace, even if it has come back since.
 *
 * What files of /proc have shown of a change before this call is among them: the kernel takes an
 * interface off its lists or puts it there, and reports it, before it makes the next change. One
 * system call if there are none. */
enum rti_link_changes
rti_links_take_changes(int fd, void (*gone)(void *arg, const struct rti_link *link), void *arg);

/* Call each() for every interface. Returns 0, what each() returned to stop the list, or -errno:
 * -EAGAIN if the list has changed meanwhile. It may have called each() by then. */
int rti_links_list(int fd, int (*each)(void *arg, const struct rti_link *link), void *arg);

#endif
