/* SPDX-License-Identifier: MIT */
/* A recorder, as far as commands know it. */
#ifndef RTI_RECORDER_H
#define RTI_RECORDER_H

#include <rtrack/rtrack.h>

/* Stop a recorder, the tracker of which is freed next. What waits can still be read. Not in a
 * forked child. NULL: nothing. */
void rti_recorder_detach(struct rt_recorder *r);

#endif
