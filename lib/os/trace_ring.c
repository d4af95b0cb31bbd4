/* SPDX-License-Identifier: MIT */
/* Records of traced calls on their way from the tracer to the library. */
#include "os/trace_ring.h"

static struct rti_trace_record *record_at(struct rti_trace_ring *ring, uint64_t position)
{
	char *records = (char *)ring + RTI_TRACE_RING_HEAD_BYTES;

	return (struct rti_trace_record *)(void *)records + position % ring->capacity;
}

void rti_trace_ring_init(struct rti_trace_ring *ring, size_t record_bytes)
{
	ring->capacity = (uint32_t)(record_bytes / sizeof(struct rti_trace_record));
	atomic_store(&ring->is_asleep, 1);
}

/* The reader frees room at any time. */
static uint64_t count_used(const struct rti_trace_ring *ring)
{
	return atomic_load_explicit(&ring->written, memory_order_relaxed) -
	       atomic_load_explicit(&ring->read, memory_order_acquire);
}

bool rti_trace_ring_is_full(const struct rti_trace_ring *ring)
{
	return count_used(ring) >= ring->capacity;
}

void rti_trace_ring_lose(struct rti_trace_ring *ring)
{
	atomic_fetch_add(&ring->lost, 1);
}

/* The reader says that it is asleep and then looks for records; the writer does it the other way
 * round. One of them sees the other only if all four accesses are sequentially consistent. */
bool rti_trace_ring_put(struct rti_trace_ring *ring, const struct rti_trace_record *record)
{
	uint64_t position = atomic_load_explicit(&ring->written, memory_order_relaxed);
	struct rti_trace_record *at = record_at(ring, position);

	if (rti_trace_ring_is_full(ring)) {
		rti_trace_ring_lose(ring);
		return false;
	}
	*at = *record;
	at->lost = atomic_load(&ring->lost);
	atomic_store(&ring->written, position + 1);
	if (atomic_load(&ring->is_asleep) && atomic_exchange(&ring->is_asleep, 0))
		return true;
	/* The use grows by one at a time, so it does not skip the quarter. */
	return count_used(ring) == ring->capacity / 4;
}

int rti_trace_ring_take(struct rti_trace_ring *ring, struct rti_trace_record *records, int room)
{
	uint64_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
	uint64_t waiting = atomic_load(&ring->written) - read;
	int count = waiting < (uint64_t)room ? (int)waiting : room;

	for (int i = 0; i < count; i++)
		records[i] = *record_at(ring, read + (uint64_t)i);
	atomic_store_explicit(&ring->read, read + (uint64_t)count, memory_order_release);
	return count;
}

bool rti_trace_ring_is_empty(const struct rti_trace_ring *ring)
{
	return atomic_load_explicit(&ring->read, memory_order_relaxed) ==
	       atomic_load(&ring->written);
}
