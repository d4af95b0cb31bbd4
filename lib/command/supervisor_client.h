/* SPDX-License-Identifier: MIT */
/* The library's side of a supervisor: finds it, starts a program under it, receives its reports. */
#ifndef RTI_SUPERVISOR_CLIENT_H
#define RTI_SUPERVISOR_CLIENT_H

#include "command/process_list.h"
#include "command/supervisor_handle.h"

/* Start a program under a supervisor. Returns 0; -EOPNOTSUPP if nothing was started for a reason
 * that is not the program's, so that another method may do (see rti_supervisor.error); -ECHILD if
 * the program may have been started, and was killed if rti_supervisor.error says why; -ETIMEDOUT at
 * opts->end_ns, or -EINTR for a signal that is pending: likewise; or another -errno: what chdir(2)
 * or execve(2) of the program failed with. The program is not reaped before
 * rti_supervisor_proceed(). */
int rti_supervisor_start(struct rti_supervisor *s, const struct rti_supervisor_opts *opts);

/* The program was seen: it may be reaped from now on. */
void rti_supervisor_proceed(struct rti_supervisor *s);

/* Send SIGCONT to a supervisor that may have been stopped. Only while its socket is open: its
 * pid is its own then. */
void rti_supervisor_continue(const struct rti_supervisor *s);

/* Sleep until a report waits, the supervisor is gone or has work to do, or the program has ended,
 * if its pidfd is not -1. In two steps: the second uses nothing of the supervisor, so another
 * thread may receive the report. Returns 0, -EINTR, or -ETIMEDOUT, which may come early. */
void rti_supervisor_prepare_sleep(const struct rti_supervisor *s, int program,
                                  struct rti_supervisor_sleep *out);
int rti_supervisor_sleep(struct rti_supervisor_sleep *sleep, int64_t timeout_ns);

/* Receive the report that the program has ended. Does not wait. Returns 0 if it has been received,
 * now or before; -EAGAIN if not; or -ECHILD if the supervisor is gone, and the exit status with
 * it. */
int rti_supervisor_receive_exit(struct rti_supervisor *s);

/* Wait for the program to end: both of the above. A signal to the caller does not end the wait.
 * Returns 0, -ETIMEDOUT or -ECHILD. */
int rti_supervisor_wait(struct rti_supervisor *s, int64_t timeout_ns);

/* Ask the supervisor to report what it has reaped, once it has reaped all that have ended. */
void rti_supervisor_request_account(struct rti_supervisor *s);

/* Receive that report. Returns 0; -ECHILD if the supervisor is gone; or -ETIMEDOUT if there is
 * no answer yet, which can be waited for again. */
int rti_supervisor_receive_account(struct rti_supervisor *s, uint64_t timeout_ns);

/* Map the process records and their texts, as many as there are now. There may be none. The caller
 * gives them back to rti_supervisor_unmap_records(). */
void rti_supervisor_map_records(const struct rti_supervisor *s, struct rti_process_records *out);
void rti_supervisor_unmap_records(const struct rti_process_records *records);

/* Release the supervisor. runs_on: the program has not ended, so the supervisor stays for as long
 * as it runs, and is reaped later. Else its end is waited for. */
void rti_supervisor_close(struct rti_supervisor *s, bool runs_on);

/* The same in a forked child, which has copies of the descriptors and of the mapping. The
 * supervisor is not its child, so there is nothing to wait for. */
void rti_supervisor_close_copy(struct rti_supervisor *s);

#endif
