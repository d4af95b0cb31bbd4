/* SPDX-License-Identifier: MIT */
/* The samples that a recorder keeps: those that wait to be read, and before them those that were
 * read and are not overwritten yet. Pure, except that it allocates. */
#ifndef RTI_SAMPLE_RING_H
#define RTI_SAMPLE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rtrack/rtrack.h>

#define RTI_ROWS_UNKNOWN UINT32_MAX

/* Written by sample_ring.c only. */
struct rti_sample_ring {
	uint32_t capacity, rows_max;
	bool keeps_newest; /* a full ring drops its oldest sample, else the new one */
	struct rt_metrics *samples;
	struct rt_process *rows; /* rows_max for each sample; NULL: none are kept */
	uint32_t *row_counts;
	uint64_t written, read; /* samples so far; those that were dropped unread are in both */
	uint64_t dropped;
};

/* All memory is reserved here. Returns 0 or -ENOMEM. */
int rti_sample_ring_init(struct rti_sample_ring *ring, uint32_t capacity, uint32_t rows_max,
                         bool keeps_newest);
void rti_sample_ring_free(struct rti_sample_ring *ring);

/* Samples that wait to be read. */
uint32_t rti_sample_ring_waiting(const struct rti_sample_ring *ring);

/* Put a sample in, with its rows: the first rows_max of them are kept. RTI_ROWS_UNKNOWN: they could
 * not be listed. */
void rti_sample_ring_put(struct rti_sample_ring *ring, const struct rt_metrics *sample,
                         const struct rt_process *rows, size_t row_count);

/* Take the oldest sample that waits. Returns NULL if none does. */
const struct rt_metrics *rti_sample_ring_take(struct rti_sample_ring *ring);

/* The rows of the sample of that time. Returns NULL if it is not there, or has unknown rows. */
const struct rt_process *rti_sample_ring_rows(const struct rti_sample_ring *ring,
                                              uint64_t monotonic_ns, size_t *count);

#endif
