/* SPDX-License-Identifier: MIT */
/* Receives the accounts of threads that exit, and adds them to the records of their processes. */
#ifndef RTS_ACCOUNT_RECEIVER_H
#define RTS_ACCOUNT_RECEIVER_H

#include <stdbool.h>

#include "os/protocol/supervisor_protocol.h"

/* Open the socket, if that is permitted. */
void rts_accounts_begin(struct rti_shared_stats *shared);
/* Close the socket. */
void rts_accounts_end(void);

/* Returns the address of the socket. It is negative if there is none. The caller may move the
 * descriptor. */
int *rts_accounts_socket(void);

/* Add the accounts that have arrived. Call this after the events: each exit that they reported has
 * sent its account by then. handle_events() handles the process events that have arrived meanwhile.
 * It returns false if some were lost. */
void rts_accounts_receive(bool (*handle_events)(void));

#endif
