/* SPDX-License-Identifier: MIT */
/* The descriptors of the test itself. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

/* Returns a number that grows by one with each descriptor that is open. */
int count_descriptors(void);

#endif
