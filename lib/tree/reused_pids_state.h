/* SPDX-License-Identifier: MIT */
/* Pids of members that another process of the tree has by now: what the tree keeps of them. */
#ifndef RTI_REUSED_PIDS_STATE_H
#define RTI_REUSED_PIDS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rti_reused_pid {
	int32_t pid;
	bool was_kept;     /* a sample has kept it once, since a member still had the pid */
	uint64_t noted_ns; /* CLOCK_BOOTTIME: the process of the fork was there then */
};

/* Written by reused_pids.c only. */
struct rti_reused_pids {
	struct rti_reused_pid *forked; /* with the pid of a member, which may be that process */
	size_t count, capacity;
	bool is_lacking; /* this sample lacks a process that has the pid of an exited member */
};

#endif
