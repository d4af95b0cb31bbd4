/* SPDX-License-Identifier: MIT */
/* Stops of a seccomp filter that is the program's own. */
#ifndef RTT_FOREIGN_STOP_H
#define RTT_FOREIGN_STOP_H

#include <stdint.h>

/* A thread has stopped at the entry of a call. Have the call fail with ENOSYS, as the kernel does
 * for a filter with RET_TRACE if there is no tracer. */
void rtt_foreign_stop_refuse(int32_t tid);

#endif
