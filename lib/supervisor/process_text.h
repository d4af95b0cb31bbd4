/* SPDX-License-Identifier: MIT */
/* Keeps the command lines and working directories of processes in the shared memory.
 *
 * A text that a process has in common with the one that forked it is kept once. */
#ifndef RTS_PROCESS_TEXT_H
#define RTS_PROCESS_TEXT_H

#include "os/protocol/supervisor_protocol.h"

/* Begin. memory is the descriptor of the shared memory; a pointer, since it is moved. */
void rts_process_text_begin(struct rti_shared_stats *shared, const int *memory);

/* A process has forked another one, which runs the same program. */
void rts_process_text_fork(struct rti_process_record *child,
                           const struct rti_process_record *parent);

/* A process has executed a program: read its command line and working directory. The caller checks
 * afterwards that the pid has not been reused, and otherwise takes them back. */
void rts_process_text_read(struct rti_process_record *record);
void rts_process_text_forget(struct rti_process_record *record);

#endif
