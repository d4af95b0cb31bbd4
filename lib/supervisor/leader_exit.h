/* SPDX-License-Identifier: MIT */
/* Tells whether a process runs on after its thread group leader has exited.
 *
 * The kernel reports the exit of the leader as it reports the exit of a whole process. The other
 * threads may work on. E.g.: main() has called pthread_exit(3). But in most cases they end, too:
 * after exit_group(2) each of them only needs a CPU once more, and on a busy system that takes a
 * while. */
#ifndef RTS_LEADER_EXIT_H
#define RTS_LEADER_EXIT_H

#include <stdbool.h>
#include <sys/types.h>

#include "os/protocol/supervisor_protocol.h"

/* Call this for a process after the exit of its thread group leader. Returns true if another thread
 * may still run its program: also if that cannot be read, and if there are too many threads to look
 * at each. Cost: one system call if the process has been reaped, which is the usual case. */
bool rts_runs_without_leader(struct rti_shared_stats *shared, pid_t pid);

#endif
