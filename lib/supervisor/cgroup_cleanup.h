/* SPDX-License-Identifier: MIT */
/* Removes the cgroup that the program ran in. */
#ifndef RTS_CGROUP_CLEANUP_H
#define RTS_CGROUP_CLEANUP_H

/* Remove the directories of a cgroup, as in supervisor_protocol.h, and those below them: at once if
 * no process is left in them, else as soon as that is so. In the latter case a child process waits
 * for it, and this returns both there and in the caller. */
void rts_cgroup_cleanup(const char *dirs);

#endif
