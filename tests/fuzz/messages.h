/* SPDX-License-Identifier: MIT */
/* Messages of the kernel's sockets, made of a fuzz input. The program has to be linked with
 * -Wl,--wrap=recvmmsg: that call then takes them. */
#ifndef FUZZ_MESSAGES_H
#define FUZZ_MESSAGES_H

#include "input.h"

#define MESSAGES_EVENTS_FD 1000   /* process events */
#define MESSAGES_THREADS_FD 1001  /* starts of threads */
#define MESSAGES_ACCOUNTS_FD 1002 /* exit accounts */

/* From now on, the messages come from this input. NULL: there are none. */
void messages_begin(struct fuzz_input *in);

/* A pid: one of a few, now and then any number. */
int32_t take_pid(struct fuzz_input *in);

/* One that messages have named since messages_begin(), by number; 0: there are no more. */
int32_t named_pid(size_t number);

/* Called with each event of a process that the kernel has sent in full; NULL: none is. */
extern void (*messages_on_event)(uint32_t what, const uint32_t data[6]);

#endif
