/* SPDX-License-Identifier: MIT */
/* The I/O of the processes that a caller reaps.
 *
 * The kernel adds the I/O of a child to its reaper's. A caller has I/O of its own, which nothing
 * tells apart later. So the I/O of each zombie is read right before it is reaped. */
#ifndef RTS_REAPED_IO_H
#define RTS_REAPED_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/protocol/supervisor_protocol.h"

#define RTS_IO_COUNTERS 7

/* Written by reaped_io.c only. */
struct rts_reaped_io {
	uint64_t sum[RTS_IO_COUNTERS]; /* in the order of rti_shared_stats.own_io */
	bool has_unread;               /* some could not be read */
	/* Of the zombie at hand, or of this process before it reaps it. */
	uint64_t at_hand[RTS_IO_COUNTERS];
	bool is_of_zombie, is_of_self;
};

/* To be called right before and right after a zombie is reaped. */
void rts_reaped_io_before(struct rts_reaped_io *io, struct rti_shared_stats *shared, pid_t zombie);
void rts_reaped_io_after(struct rts_reaped_io *io, struct rti_shared_stats *shared, bool is_reaped);

#endif
