/* SPDX-License-Identifier: MIT */
/* Fills the record of a process with what its files in /proc say. */
#ifndef RTS_RECORD_READ_H
#define RTS_RECORD_READ_H

#include <stdbool.h>

#include "os/protocol/supervisor_protocol.h"

/* Begin. root is the supervisor. */
void rts_record_read_begin(struct rti_shared_stats *shared, int32_t root);

/* A process has executed a program: read its name, command line and working directory. */
void rts_record_read_program(struct rti_process_record *record);
/* It is unknown from now on which program it runs. */
void rts_record_forget_program(struct rti_process_record *record);

/* Read the final figures of a process if it is a zombie without other threads. */
void rts_record_read_final(struct rti_process_record *record);

#endif
