/* SPDX-License-Identifier: MIT */
/* The descriptors 0, 1 and 2 of a host that has closed some of them.
 *
 * What is opened next gets such a number. Then what the host writes to its standard error goes
 * wherever that leads. E.g.: into a socket that is not read, until the host hangs. */
#ifndef RTI_STANDARD_FDS_H
#define RTI_STANDARD_FDS_H

/* Written by standard_fds.c only. All 0: nothing is held. */
struct rti_standard_fds {
	int fds[3];
	int count;
};

/* Take the free ones, so that what is opened meanwhile gets larger numbers. Returns 0 or -errno:
 * -EMFILE, -ENFILE, -ENOMEM. Nothing is held then. */
int rti_standard_fds_hold(struct rti_standard_fds *held);

/* Free them again. */
void rti_standard_fds_release(struct rti_standard_fds *held);

#endif
