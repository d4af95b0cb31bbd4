/* SPDX-License-Identifier: MIT */
/* The samples that a recorder keeps. */
#include "recorder/sample_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/arith.h"

int rti_sample_ring_init(struct rti_sample_ring *ring, uint32_t capacity, uint32_t rows_max,
                         bool keeps_newest)
{
	size_t row_bytes = 0;
	bool is_too_large = __builtin_mul_overflow(rows_max, sizeof(*ring->rows), &row_bytes);

	*ring = (struct rti_sample_ring){
		.capacity = capacity,
		.rows_max = rows_max,
		.keeps_newest = keeps_newest,
		.samples = calloc(capacity, sizeof(*ring->samples)),
	};
	if (ring->samples && rows_max > 0 && !is_too_large)
		ring->rows = calloc(capacity, row_bytes);
	if (ring->rows)
		ring->row_counts = calloc(capacity, sizeof(*ring->row_counts));
	if (ring->samples && (rows_max == 0 || ring->row_counts))
		return 0;
	rti_sample_ring_free(ring);
	return -ENOMEM;
}

void rti_sample_ring_free(struct rti_sample_ring *ring)
{
	free(ring->samples);
	free(ring->rows);
	free(ring->row_counts);
	*ring = (struct rti_sample_ring){ 0 };
}

uint32_t rti_sample_ring_waiting(const struct rti_sample_ring *ring)
{
	return (uint32_t)(ring->written - ring->read);
}

void rti_sample_ring_put(struct rti_sample_ring *ring, const struct rt_metrics *sample,
                         const struct rt_process *rows, size_t row_count)
{
	size_t at = (size_t)(ring->written % ring->capacity);
	size_t kept =
	    row_count == RTI_ROWS_UNKNOWN ? row_count : (size_t)rti_min(row_count, ring->rows_max);

	if (rti_sample_ring_waiting(ring) == ring->capacity) {
		ring->dropped++;
		if (!ring->keeps_newest)
			return;
		ring->read++;
	}
	ring->samples[at] = *sample;
	if (ring->rows) {
		ring->row_counts[at] = (uint32_t)kept;
		if (kept > 0 && kept != RTI_ROWS_UNKNOWN)
			memcpy(&ring->rows[at * ring->rows_max], rows, kept * sizeof(*rows));
	}
	ring->written++;
}

const struct rt_metrics *rti_sample_ring_take(struct rti_sample_ring *ring)
{
	if (rti_sample_ring_waiting(ring) == 0)
		return NULL;
	return &ring->samples[ring->read++ % ring->capacity];
}

/* Binary search: times only rise. */
const struct rt_process *rti_sample_ring_rows(const struct rti_sample_ring *ring,
                                              uint64_t monotonic_ns, size_t *count)
{
	uint64_t low = rti_subtract_saturated(ring->written, ring->capacity), high = ring->written;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		size_t at = (size_t)(middle % ring->capacity);

		if (ring->samples[at].monotonic_ns == monotonic_ns) {
			*count = ring->row_counts[at];
			if (*count == RTI_ROWS_UNKNOWN)
				return NULL;
			return &ring->rows[at * ring->rows_max];
		}
		if (ring->samples[at].monotonic_ns < monotonic_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
