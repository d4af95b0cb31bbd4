/* SPDX-License-Identifier: MIT */
/* Adds what the threads of a process had used when they exited to the record of the process.
 *
 * The accounts of taskstats arrive in the order in which threads exit, so the accounts of an older
 * process with the same pid come first. */
#ifndef RTS_EXIT_ACCOUNT_H
#define RTS_EXIT_ACCOUNT_H

#include <stdbool.h>

#include "os/protocol/supervisor_protocol.h"
#include "parse/taskstats.h"

/* Add the account of one thread. has_loss: accounts were lost, so other threads of the process may
 * be missing. now_ns is CLOCK_MONOTONIC. Pure. */
void rts_exit_account_add(struct rti_process_record *record, const struct rti_task_exit *exited,
                          bool has_loss, uint64_t now_ns);

/* A process has got the pid of an older one. If the older record lacks its account, the next
 * account is of the older process. */
void rts_exit_account_follow(struct rti_process_record *record,
                             const struct rti_process_record *older);

/* Raise the CPU time of a process to what its CPU clock shows now, after its account. */
void rts_exit_account_raise_cpu(struct rti_process_record *record, uint64_t user_ns,
                                uint64_t system_ns, uint64_t now_ns);

#endif
