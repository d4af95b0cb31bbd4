/* SPDX-License-Identifier: MIT */
/* The library's side of a supervisor: finding it, starting a program under it, hearing from it. */
#ifndef RTI_SUPERVISOR_CLIENT_H
#define RTI_SUPERVISOR_CLIENT_H

#include <stddef.h>

#include "os/spawn.h"
#include "os/supervisor_protocol.h"

struct rti_supervisor {
	int32_t supervisor_pid, program_pid;
	int socket;                      /* -1 once closed */
	int memory;                      /* that the board and the list lie in; -1 once closed */
	struct rti_shared_stats *shared; /* shared with the supervisor; NULL once closed */
	struct rti_report started, exited, accounted; /* kind 0: not yet */
};

struct rti_supervisor_opts {
	struct rti_spawn program;
	const char *cgroup;      /* to start it in, or "" */
	const char *start_flags; /* RTI_WISH_ letters */
};

/* Start a program under a supervisor. 0; -EOPNOTSUPP where no supervisor is installed, nothing
 * can be started in the cgroup, or a wish cannot be granted; or -errno, that of a failing execve
 * of the program included. The program is not reaped before rti_supervisor_proceed(). */
int rti_supervisor_start(struct rti_supervisor *s, const struct rti_supervisor_opts *opts);

void rti_supervisor_proceed(struct rti_supervisor *s);

/* Let it go on, should somebody have stopped it. Only while it has not hung up: its number is
 * its own then. */
void rti_supervisor_continue(const struct rti_supervisor *s);

/* Wait for the program to end. A negative time waits for ever. 0; -ETIMEDOUT; -EINTR; or -ECHILD
 * when the supervisor is gone, and with it the exit status. */
int rti_supervisor_wait(struct rti_supervisor *s, int64_t timeout_ns);

/* Have the supervisor say what it has reaped so far, once it has reaped all who have ended. Its
 * answer: 0; -ECHILD when it is gone; or -ETIMEDOUT when there is none yet, which can be waited
 * for again. */
void rti_supervisor_request_account(struct rti_supervisor *s);
int rti_supervisor_receive_account(struct rti_supervisor *s);

/* The list of processes, as long as that in shared memory is now; NULL where there is none. To
 * be given back to rti_supervisor_unmap_records(). */
const struct rti_process_record *rti_supervisor_map_records(const struct rti_supervisor *s,
                                                            size_t *count);
void rti_supervisor_unmap_records(const struct rti_process_record *process_list, size_t count);

/* Let the supervisor go. It stays for as long as the program runs. */
void rti_supervisor_close(struct rti_supervisor *s);

#endif
