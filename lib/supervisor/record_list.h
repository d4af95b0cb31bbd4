/* SPDX-License-Identifier: MIT */
/* Keeps the records of processes in the shared memory, and finds them by pid. */
#ifndef RTS_RECORD_LIST_H
#define RTS_RECORD_LIST_H

#include "os/protocol/supervisor_protocol.h"

/* Begin with an empty list. memory is the descriptor of the shared memory; a pointer, since it is
 * moved. Returns 0 or -ENOMEM. */
int rts_record_list_begin(struct rti_shared_stats *shared, const int *memory);
/* Release the table. The records stay where they are. */
void rts_record_list_end(void);

/* Returns the record of the process that has a pid now, or NULL if there is none. There is none
 * without a list. */
struct rti_process_record *rts_record_find(int32_t pid);

/* Add the record of a process. Returns NULL if there is no room. */
struct rti_process_record *rts_record_add(int32_t pid, int32_t ppid, uint64_t start_ns);

/* The pid now belongs to a process that is not in the list. */
void rts_record_forget_pid(int32_t pid);

/* Call visit() for each record. */
void rts_record_each(void (*visit)(void *arg, struct rti_process_record *record), void *arg);

#endif
