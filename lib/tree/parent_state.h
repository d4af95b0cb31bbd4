/* SPDX-License-Identifier: MIT */
/* What is known of the forks of members. */
#ifndef RTI_PARENT_STATE_H
#define RTI_PARENT_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Written by parents.c only. */
struct rti_parents {
	int fd;                /* -1 while there is no subscription */
	int32_t owner;         /* pid of the subscriber: a forked child would share its socket */
	uint32_t subscription; /* number of the last one; 0: there was none */
	bool is_unavailable;
	uint64_t events;       /* since the last sample */
	uint64_t stats;        /* read in this sample because a member may have forked */
	uint64_t spared;       /* not read, since it has not */
	uint64_t last_pid;     /* given out by the last sample */
	uint64_t retry_sample; /* no subscription before this sample */
};

#define RTI_PARENTS_INIT                                                                           \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Written by parents.c: of one member. */
struct rti_parent_part {
	uint32_t heard_since; /* number of the subscription under which its stat was read */
	bool has_forked;      /* by an event */
};

#endif
