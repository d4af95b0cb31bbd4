/* SPDX-License-Identifier: MIT */
/* All members read at once at the start of a sample, by the BPF reader where it can be had and
 * pays. */
#include "tree/sources/batch_read.h"

#include <errno.h>
#include <stdlib.h>

#include "tree/member/member.h"
#include "tree/pure/strategy.h"
#include "util/array.h"

void rti_batch_reader_free(struct rti_batch_reader *reader)
{
	rti_batch_close(reader->batch);
	free(reader->requests);
	free(reader->rows);
	*reader = (struct rti_batch_reader){ 0 };
}

static int reserve(struct rti_batch_reader *reader, size_t count)
{
	void *requests, *rows;

	requests = rti_array_grow(reader->requests, &reader->request_capacity, count,
	                          sizeof(*reader->requests));
	if (!requests)
		return -ENOMEM;
	reader->requests = requests;
	rows = rti_array_grow(reader->rows, &reader->row_capacity, count, sizeof(*reader->rows));
	if (!rows)
		return -ENOMEM;
	reader->rows = rows;
	return 0;
}

static bool open_if_worthwhile(struct rti_batch_reader *reader, size_t count)
{
	uint64_t reads_ns;

	if (reader->batch || reader->is_unavailable)
		return reader->batch != NULL;
	reader->clock_reads += count;
	reads_ns = reader->text_reads * RTI_TEXT_READ_NS + reader->clock_reads * RTI_CLOCK_NS;
	if (rti_pays(&rti_strategies[RTI_READ_BATCHES], count, reads_ns, RTI_LOAD_BATCH_NS) &&
	    rti_batch_open(&reader->batch) < 0)
		reader->is_unavailable = true;
	return reader->batch != NULL;
}

static bool read_rows(struct rti_batch_reader *reader, size_t count)
{
	if (rti_batch_read(reader->batch, reader->requests, count, reader->rows) == 0)
		return true;
	/* E.g.: after a fork the reader is the parent's. */
	rti_batch_close(reader->batch);
	reader->batch = NULL;
	reader->is_unavailable = true;
	return false;
}

bool rti_batch_reader_read(struct rti_batch_reader *reader, const struct rti_member *members,
                           size_t count, rti_batch_ask *ask, const void *arg)
{
	if (!open_if_worthwhile(reader, count) || reserve(reader, count) < 0)
		return false;
	for (size_t i = 0; i < count; i++)
		ask(arg, &members[count - 1 - i], &reader->requests[i]);
	return read_rows(reader, count);
}

bool rti_batch_reader_read_some(struct rti_batch_reader *reader, const struct rti_member *members,
                                const struct rti_index_set *set, rti_batch_ask *ask,
                                const void *arg)
{
	size_t k = 0;

	if (set->count == 0)
		return reader->batch != NULL;
	if (!open_if_worthwhile(reader, set->count) || reserve(reader, set->count) < 0)
		return false;
	for (size_t i = SIZE_MAX; (i = rti_index_set_previous(set, i)) != SIZE_MAX;)
		ask(arg, &members[i], &reader->requests[k++]);
	return read_rows(reader, k);
}

/* What the kernel keeps no account of has to be read from the files. */
const struct rti_batch_row *rti_batch_reader_row_at(const struct rti_batch_reader *reader, size_t k)
{
	const struct rti_batch_request *request = &reader->requests[k];
	const struct rti_batch_row *row = &reader->rows[k];

	if (row->error || (!(row->has & RTI_BATCH_IDLE) && request->want & ~row->has))
		return NULL;
	return row;
}

void rti_batch_reader_count_text(struct rti_batch_reader *reader)
{
	reader->text_reads++;
}
