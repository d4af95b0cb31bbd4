/* SPDX-License-Identifier: MIT */
/* Removing the cgroup that the program ran in. */
#ifndef RTS_LEAF_H
#define RTS_LEAF_H

/* At once where nobody is left in it, else as soon as that is so. */
void rts_leaf_leave(const char *path);

#endif
