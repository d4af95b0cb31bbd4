/* SPDX-License-Identifier: MIT */
/* What both forms of Tracee's JSON have in common: arguments of a call, times, entity ids. */
#include "tracee.h"

#include <stddef.h>

#define SEED 0x18273645u
#define START_STEP_NS 100000000u

int tracee_arguments(const struct rt_trace_event *event,
                     struct tracee_argument out[TRACEE_ARGUMENTS_MAX])
{
	bool is_waitid = event->call == RT_TRACE_CALL_WAITID;
	int count = 0;

	if (event->call == RT_TRACE_CALL_GETRUSAGE) {
		out[count++] = (struct tracee_argument){ .name = "who", .number = event->who };
	} else {
		out[count++] = (struct tracee_argument){ .name = is_waitid ? "idtype" : "pid",
			                                 .number = event->who };
		if (is_waitid)
			out[count++] =
			    (struct tracee_argument){ .name = "id", .number = event->wait_id };
		out[count++] = (struct tracee_argument){ .name = is_waitid ? "infop" : "wstatus",
			                                 .is_pointer = true,
			                                 .pointer = event->status_address };
		out[count++] = (struct tracee_argument){ .name = "options",
			                                 .number = (int32_t)event->wait_options };
	}
	out[count++] = (struct tracee_argument){
		.name = event->call == RT_TRACE_CALL_GETRUSAGE ? "usage" : "rusage",
		.is_pointer = true,
		.pointer = event->usage_address,
	};
	return count;
}

uint64_t tracee_epoch_ns(const struct trace_context *context, uint64_t boot_ns)
{
	return boot_ns ? boot_ns + (uint64_t)context->boot_offset_ns : 0;
}

static uint32_t rotate(uint32_t x, int bits)
{
	return x << bits | x >> (32 - bits);
}

/* MurmurHash3 (x86, 32 bits) of three words of four bytes. */
static uint32_t hash(const uint32_t words[3])
{
	uint32_t h = SEED;

	for (int i = 0; i < 3; i++) {
		h ^= rotate(words[i] * 0xcc9e2d51u, 15) * 0x1b873593u;
		h = rotate(h, 13) * 5 + 0xe6546b64u;
	}
	h ^= 3 * sizeof(*words);
	h = (h ^ h >> 16) * 0x85ebca6bu;
	h = (h ^ h >> 13) * 0xc2b2ae35u;
	return h ^ h >> 16;
}

/* Tracee hashes the number on the host and the start since 1970, both with the highest byte first.
 * It takes tenths of a second of the start: /proc shows no more than ticks. */
static uint32_t entity_id(const struct trace_context *context, int32_t host_tid, uint64_t boot_ns)
{
	uint64_t start = tracee_epoch_ns(context, boot_ns);
	uint32_t words[3];

	if (host_tid <= 0 || !start)
		return 0;
	start -= start % START_STEP_NS;
	words[0] = __builtin_bswap32((uint32_t)host_tid);
	words[1] = __builtin_bswap32((uint32_t)(start >> 32));
	words[2] = __builtin_bswap32((uint32_t)start);
	return hash(words);
}

struct tracee_ids tracee_ids(const struct trace_context *context,
                             const struct rt_trace_event *event)
{
	return (struct tracee_ids){
		.thread = entity_id(context, event->host_tid, event->thread_start_ns),
		.process = entity_id(context, event->host_pid, event->process_start_ns),
		.parent = entity_id(context, event->host_ppid, event->parent_start_ns),
	};
}
