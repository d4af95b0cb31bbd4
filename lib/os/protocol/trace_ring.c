/* SPDX-License-Identifier: MIT */
/* Records of traced calls on their way from the tracer to the library. */
#include "os/protocol/trace_ring.h"

#include <errno.h>

static struct rti_trace_record *record_at(const struct rti_trace_end *end, uint64_t position)
{
	char *records = (char *)end->ring + RTI_TRACE_RING_HEAD_BYTES;

	return (struct rti_trace_record *)(void *)records + position % end->capacity;
}

bool rti_trace_end_init(struct rti_trace_end *end, void *memory, size_t bytes)
{
	if (bytes < RTI_TRACE_RING_HEAD_BYTES + sizeof(struct rti_trace_record))
		return false;
	*end = (struct rti_trace_end){
		.ring = memory,
		.capacity = (bytes - RTI_TRACE_RING_HEAD_BYTES) / sizeof(struct rti_trace_record),
	};
	return true;
}

/* The reader frees room at any time. What is more than the capacity is no position of a reader. */
static uint64_t count_used(const struct rti_trace_end *writer)
{
	return writer->position - atomic_load_explicit(&writer->ring->read, memory_order_acquire);
}

bool rti_trace_ring_is_full(const struct rti_trace_end *writer)
{
	return count_used(writer) >= writer->capacity;
}

void rti_trace_ring_lose(struct rti_trace_end *writer)
{
	atomic_fetch_add(&writer->ring->lost, 1);
}

/* The reader says that it is asleep and then looks for records; the writer does it the other way
 * round. One of them sees the other only if all four accesses are sequentially consistent. */
bool rti_trace_ring_put(struct rti_trace_end *writer, const struct rti_trace_record *record)
{
	struct rti_trace_ring *ring = writer->ring;
	struct rti_trace_record *at = record_at(writer, writer->position);

	if (rti_trace_ring_is_full(writer)) {
		rti_trace_ring_lose(writer);
		return false;
	}
	*at = *record;
	at->lost = atomic_load(&ring->lost);
	atomic_store(&ring->written, ++writer->position);
	if (atomic_load(&ring->is_asleep) && atomic_exchange(&ring->is_asleep, 0))
		return true;
	/* The use grows by one at a time, so it does not skip the quarter. */
	return count_used(writer) == writer->capacity / 4;
}

int rti_trace_ring_take(struct rti_trace_end *reader, struct rti_trace_record *records, int room)
{
	uint64_t waiting = atomic_load(&reader->ring->written) - reader->position;
	int count = waiting < (uint64_t)room ? (int)waiting : room;

	if (waiting > reader->capacity)
		return -EPROTO;
	for (int i = 0; i < count; i++)
		records[i] = *record_at(reader, reader->position + (uint64_t)i);
	reader->position += (uint64_t)count;
	atomic_store_explicit(&reader->ring->read, reader->position, memory_order_release);
	return count;
}

bool rti_trace_ring_is_empty(const struct rti_trace_end *reader)
{
	return reader->position == atomic_load(&reader->ring->written);
}
