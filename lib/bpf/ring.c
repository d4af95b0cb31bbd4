/* SPDX-License-Identifier: MIT */
/* The reader's side of a BPF ring buffer. */
#include "bpf/ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* A record has a header of 8 bytes that begins with its length and these bits. */
#define HEADER_BYTES 8u
#define IS_BUSY (1u << 31)
#define IS_DISCARDED (1u << 30)
#define LENGTH_MASK (IS_DISCARDED - 1)

int rti_ring_open(struct rti_ring *ring, int map_fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	void *producer;

	if (consumer == MAP_FAILED)
		return -errno;
	producer = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (producer == MAP_FAILED) {
		munmap(consumer, page);
		return -ENOMEM;
	}
	*ring = (struct rti_ring){
		.consumed = consumer,
		.produced = producer,
		.data = (const char *)producer + page,
		.size = size,
		.page = page,
	};
	return 0;
}

/* The header of the oldest record. Nothing else writes what has been consumed. */
static const uint32_t *header_at(const struct rti_ring *ring)
{
	return (const void *)(ring->data + (*ring->consumed & (ring->size - 1)));
}

uint64_t rti_ring_mark(const struct rti_ring *ring)
{
	return __atomic_load_n(ring->produced, __ATOMIC_ACQUIRE);
}

bool rti_ring_has_reached(const struct rti_ring *ring, uint64_t mark)
{
	return *ring->consumed >= mark;
}

bool rti_ring_is_empty(const struct rti_ring *ring)
{
	return rti_ring_has_reached(ring, rti_ring_mark(ring));
}

void rti_ring_take(struct rti_ring *ring)
{
	uint64_t bytes = HEADER_BYTES + (*header_at(ring) & LENGTH_MASK);

	bytes = (bytes + 7) & ~(uint64_t)7;
	__atomic_store_n(ring->consumed, *ring->consumed + bytes, __ATOMIC_RELEASE);
}

const void *rti_ring_peek(struct rti_ring *ring)
{
	while (!rti_ring_is_empty(ring)) {
		const uint32_t *header = header_at(ring);
		uint32_t length = __atomic_load_n(header, __ATOMIC_ACQUIRE);

		if (length & IS_BUSY)
			return NULL;
		if (!(length & IS_DISCARDED))
			return (const char *)header + HEADER_BYTES;
		rti_ring_take(ring);
	}
	return NULL;
}

void rti_ring_close(struct rti_ring *ring)
{
	if (!ring->consumed)
		return;
	munmap(ring->consumed, ring->page);
	munmap((void *)ring->produced, ring->page + 2 * ring->size);
	*ring = (struct rti_ring){ 0 };
}
