/* SPDX-License-Identifier: MIT */
/* A collector of no use, registered besides the real ones: it counts its calls. */
#ifndef FAKE_COLLECTOR_H
#define FAKE_COLLECTOR_H

#include "collect/collector.h"

#define FAKE_DOMAIN (UINT64_C(1) << 63) /* the last bit that a public domain will get */
#define FAKE_MEMBERS_MAX 64

/* What the fake collector does, and what it has seen. Set back by fake_reset(). */
struct fake {
	int error;            /* of collect(), for the process failing_pid; 0: none */
	int32_t failing_pid;  /* 0: every process */
	bool returns_partial; /* with -ENODATA */
	uint64_t value;       /* of each member */
	/* Called before a process is read; NULL: nothing is. */
	void (*on_collect)(int32_t pid);
	struct {
		int32_t pid;
		unsigned calls;
		uint64_t utime; /* of the stat that the last call saw, clock ticks */
	} seen[FAKE_MEMBERS_MAX];
	uint64_t sum; /* of the members of the last sample */
};

extern struct fake fake;

/* The table entry, which a test may change before it makes a tracker. */
extern struct rti_pid_collector rti_pid_fake;

void fake_reset(void);

/* How often the collector was called for a process since fake_reset(). */
unsigned fake_calls(int32_t pid);

/* User time in the stat that the last call for a process saw. */
uint64_t fake_utime(int32_t pid);

#endif
