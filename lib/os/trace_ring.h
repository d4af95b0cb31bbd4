/* SPDX-License-Identifier: MIT */
/* Records of traced calls on their way from the tracer to the library: a ring in shared memory.
 *
 * One process writes, another one reads, and neither waits for the other. A record that does not
 * fit is counted as lost. */
#ifndef RTI_TRACE_RING_H
#define RTI_TRACE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/trace_record.h"

/* The head of the shared memory. The records follow it. Positions are counts of records. */
struct rti_trace_ring {
	/* Written by trace/ptrace.c before the tracer starts. */
	uint32_t capacity; /* records */
	uint32_t calls;    /* RTI_TRACE_ bits */
	uint32_t has_children, wakes_for_children;

	/* Written by the reader. */
	_Alignas(64) _Atomic uint64_t read;
	_Atomic uint32_t is_asleep; /* the next record is to wake it; the writer takes it back */
	_Atomic uint32_t is_closed; /* nothing will be read any more */

	/* Written by the writer. */
	_Alignas(64) _Atomic uint64_t written;
	_Atomic uint64_t lost;
	_Atomic uint64_t threads; /* traced ones that run */
	_Atomic uint32_t is_over; /* all that was traced has ended */
};

#define RTI_TRACE_RING_HEAD_BYTES 4096

_Static_assert(sizeof(struct rti_trace_ring) <= RTI_TRACE_RING_HEAD_BYTES, "head of the memory");

/* Prepare memory of RTI_TRACE_RING_HEAD_BYTES and record_bytes that is all 0. The reader is
 * asleep. */
void rti_trace_ring_init(struct rti_trace_ring *ring, size_t record_bytes);

/* Whether the next record is sure to be lost. For the writer. */
bool rti_trace_ring_is_full(const struct rti_trace_ring *ring);

/* Write a record; its `lost` is set here. Returns whether the reader is to be woken. */
bool rti_trace_ring_put(struct rti_trace_ring *ring, const struct rti_trace_record *record);

/* Count a record that was not made. */
void rti_trace_ring_lose(struct rti_trace_ring *ring);

/* Take at most `room` records, oldest first. Returns how many. */
int rti_trace_ring_take(struct rti_trace_ring *ring, struct rti_trace_record *records, int room);

/* Whether there is nothing to take. For the reader. */
bool rti_trace_ring_is_empty(const struct rti_trace_ring *ring);

#endif
