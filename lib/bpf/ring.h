/* SPDX-License-Identifier: MIT */
/* The reader's side of a BPF ring buffer: see Documentation/bpf/ringbuf.rst of the kernel. */
#ifndef RTI_BPF_RING_H
#define RTI_BPF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Written by ring.c only. */
struct rti_ring {
	uint64_t *consumed;       /* bytes so far; its page is shared with the kernel */
	const uint64_t *produced; /* likewise, and mapped read-only */
	const char *data;         /* mapped twice in a row, so that each record is in one piece */
	size_t size, page;
};

/* Map a ring of `size` bytes. Returns 0 or -errno. */
int rti_ring_open(struct rti_ring *ring, int map_fd, size_t size);

/* Returns the oldest record, or NULL if there is none or it is still being written. It is valid
 * until the next call of rti_ring_take(). */
const void *rti_ring_peek(struct rti_ring *ring);

/* Take the record that rti_ring_peek() has returned. */
void rti_ring_take(struct rti_ring *ring);

/* A mark of what has been written so far. A reader that stops at it has an end, however fast the
 * kernel writes meanwhile. E.g.: 100 CPUs that fork all the time. */
uint64_t rti_ring_mark(const struct rti_ring *ring);

/* Whether all that was written before the mark has been taken. */
bool rti_ring_has_reached(const struct rti_ring *ring, uint64_t mark);

bool rti_ring_is_empty(const struct rti_ring *ring);

/* A ring that is all 0 is fine. */
void rti_ring_close(struct rti_ring *ring);

#endif
