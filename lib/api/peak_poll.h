/* SPDX-License-Identifier: MIT */
/* Peak polls at the pace that they may cost. */
#ifndef RTI_PEAK_POLL_H
#define RTI_PEAK_POLL_H

#include <rtrack/rtrack.h>

/* Two peak polls are this far apart at least. */
#define RTI_PEAK_POLL_NS 10000000u

/* Poll for a peak. pace_ns receives the time until the next poll: some hundred times as long as
 * this one took. Returns what rt_tracker_glance() does. */
int rti_peak_poll(struct rt_tracker *t, uint64_t *pace_ns);

#endif
