/* SPDX-License-Identifier: MIT */
/* Removing the cgroup that the program ran in. */
#ifndef RTS_CGROUP_CLEANUP_H
#define RTS_CGROUP_CLEANUP_H

/* At once where nobody is left in it, else as soon as that is so. */
void rts_cgroup_cleanup(const char *path);

#endif
