/* SPDX-License-Identifier: MIT */
/* Removes the cgroup that the program ran in. */
#ifndef RTS_CGROUP_CLEANUP_H
#define RTS_CGROUP_CLEANUP_H

#include <sys/types.h>

/* Remove the directories of a cgroup, as in supervisor_protocol.h, and those below them: at once if
 * no process is left in them, else as soon as that is so. In the latter case a child process waits
 * for it. Returns its pid, or -1 if there is none. */
pid_t rts_cgroup_cleanup(const char *dirs);

#endif
