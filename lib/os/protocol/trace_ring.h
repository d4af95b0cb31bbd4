/* SPDX-License-Identifier: MIT */
/* Records of traced calls on their way from the tracer to the library: a ring in shared memory.
 *
 * One process writes, another one reads, and neither waits for the other. A record that does not
 * fit is counted as lost.
 *
 * Another process of the same user may write to the memory where it cannot be sealed (before Linux
 * 5.1). So each end keeps its own position and the size of the ring to itself, and believes no
 * position of the other end that is not within the ring. */
#ifndef RTI_TRACE_RING_H
#define RTI_TRACE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/protocol/trace_record.h"

/* The head of the shared memory. The records follow it. Positions are counts of records. */
struct rti_trace_ring {
	/* Written by trace/tracer_client.c before the tracer starts. */
	uint32_t calls; /* RTI_TRACE_ bits */
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

/* One end of a ring, of the reader or of the writer. In memory of its own process. */
struct rti_trace_end {
	struct rti_trace_ring *ring;
	uint64_t capacity; /* records */
	uint64_t position; /* of this end */
};

/* Begin with an end of a ring that is all 0 and as large as this, with its head. Returns false if
 * there is no room for a record. */
bool rti_trace_end_init(struct rti_trace_end *end, void *memory, size_t bytes);

/* Whether the next record is sure to be lost. For the writer. */
bool rti_trace_ring_is_full(const struct rti_trace_end *writer);

/* Write a record; its `lost` is set here. Returns whether the reader is to be woken. */
bool rti_trace_ring_put(struct rti_trace_end *writer, const struct rti_trace_record *record);

/* Count a record that was not made. */
void rti_trace_ring_lose(struct rti_trace_end *writer);

/* Take at most `room` records, oldest first. Returns how many, or -EPROTO if the writer cannot have
 * written what the ring says. */
int rti_trace_ring_take(struct rti_trace_end *reader, struct rti_trace_record *records, int room);

/* Whether there is nothing to take. For the reader. */
bool rti_trace_ring_is_empty(const struct rti_trace_end *reader);

#endif
