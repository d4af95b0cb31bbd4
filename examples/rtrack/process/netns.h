/* SPDX-License-Identifier: MIT */
/* Enters another network namespace. */
#ifndef NETNS_H
#define NETNS_H

/* Enter the network namespace of a process (its pid), one that ip-netns(8) has named, or the one
 * that a file shows (a path that begins with '/'). The calling thread must be the only one. Reports
 * an error. Returns 0 or the exit code. */
int netns_enter(const char *name);

#endif
