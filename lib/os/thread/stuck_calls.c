/* SPDX-License-Identifier: MIT */
/* Which calls of this process do not return, whichever tracker made them. */
#include "os/thread/stuck_calls.h"

#include <stdatomic.h>

/* A call is the pid of its process and a hash of its thing. 0: none. Written by this file only. */
static _Atomic uint64_t calls[RTI_STUCK_CALLS_MAX];

/* FNV-1a. If two things have one hash, the second counts as stuck with the first. */
static uint32_t hash(const char *text)
{
	uint32_t value = 2166136261u;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 16777619u;
	return value;
}

static uint64_t call_of(int32_t pid, const char *thing)
{
	return (uint64_t)(uint32_t)pid << 32 | hash(thing);
}

static bool is_of(uint64_t call, int32_t pid)
{
	return call >> 32 == (uint32_t)pid;
}

bool rti_stuck_calls_prevent(int32_t pid, const char *thing)
{
	uint64_t call = call_of(pid, thing);
	unsigned stuck = 0;

	for (int i = 0; i < RTI_STUCK_CALLS_MAX; i++) {
		uint64_t other = atomic_load(&calls[i]);

		if (other == call)
			return true;
		stuck += is_of(other, pid);
	}
	return stuck == RTI_STUCK_CALLS_MAX;
}

int rti_stuck_calls_add(int32_t pid, const char *thing)
{
	for (int i = 0; i < RTI_STUCK_CALLS_MAX; i++) {
		uint64_t other = atomic_load(&calls[i]);

		if (!is_of(other, pid) &&
		    atomic_compare_exchange_strong(&calls[i], &other, call_of(pid, thing)))
			return i;
	}
	return -1;
}

void rti_stuck_calls_remove(int at)
{
	if (at >= 0)
		atomic_store(&calls[at], 0);
}
