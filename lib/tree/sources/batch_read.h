/* SPDX-License-Identifier: MIT */
/* All members read at once at the start of a sample, by the BPF reader where it can be had and
 * pays.
 *
 * Owner: the tree. A row belongs to the reader and lasts until the next batch read. */
#ifndef RTI_BATCH_READ_H
#define RTI_BATCH_READ_H

#include "bpf/batch/loader.h"
#include "tree/pure/index_set.h"

struct rti_member;

/* Written by batch_read.c only. */
struct rti_batch_reader {
	struct rti_batch *batch; /* NULL while there is none */
	bool is_unavailable;     /* it was tried, and cannot be had */
	/* What has been read without it so far: members from files, and CPU clocks alone. */
	uint64_t text_reads, clock_reads;
	struct rti_batch_request *requests;
	struct rti_batch_row *rows;
	size_t request_capacity, row_capacity;
};

/* Says what to ask of a member. arg is what rti_batch_reader_read() was given. */
typedef void rti_batch_ask(const void *arg, const struct rti_member *m,
                           struct rti_batch_request *out);

/* Read a row for each of these members, ancestors last, as in any sample. Returns whether there are
 * rows. */
bool rti_batch_reader_read(struct rti_batch_reader *reader, const struct rti_member *members,
                           size_t count, rti_batch_ask *ask, const void *arg);

/* The same of the members in a set. */
bool rti_batch_reader_read_some(struct rti_batch_reader *reader, const struct rti_member *members,
                                const struct rti_index_set *set, rti_batch_ask *ask,
                                const void *arg);

/* The row of the k-th member that was read, from the highest index down. It has all that was asked
 * for, or says that the member is idle. Returns NULL if the files have to be read. */
const struct rti_batch_row *rti_batch_reader_row_at(const struct rti_batch_reader *reader,
                                                    size_t k);

/* A member was read from files. */
void rti_batch_reader_count_text(struct rti_batch_reader *reader);

void rti_batch_reader_free(struct rti_batch_reader *reader);

#endif
