/* SPDX-License-Identifier: MIT */
/* All members read at once at the start of a sample, by the batch reader where that can be had
 * and pays. */
#include "tree/batch_read.h"

#include <errno.h>
#include <stdlib.h>

#include "tree/member_table.h"
#include "util/array.h"

/* To open the reader costs as much as to read so many members from their files. Of one that has
 * not run only the clock is read, and so many of them are as much as one reading. */
#define PAYS_FROM_READINGS 4000
#define CLOCKS_PER_READING 25
#define PAYS_FROM_MEMBERS 10

static void give_up(struct rti_batch_reader *batch_reader)
{
	rti_batch_close(batch_reader->batch);
	batch_reader->batch = NULL;
	batch_reader->is_refused = true;
}

void rti_batch_reader_free(struct rti_batch_reader *batch_reader)
{
	rti_batch_close(batch_reader->batch);
	free(batch_reader->requests);
	free(batch_reader->rows);
	*batch_reader = (struct rti_batch_reader){ 0 };
}

/* 0 or -ENOMEM. */
static int reserve(struct rti_batch_reader *reader, size_t count)
{
	void *requests, *rows;

	requests = rti_array_grow(reader->requests, &reader->request_cap, count,
	                          sizeof(*reader->requests));
	if (!requests)
		return -ENOMEM;
	reader->requests = requests;
	rows = rti_array_grow(reader->rows, &reader->row_cap, count, sizeof(*reader->rows));
	if (!rows)
		return -ENOMEM;
	reader->rows = rows;
	return 0;
}

/* Nor is there anything to ask before the first sample. */
static bool is_worthwhile(const struct rti_batch_reader *batch_reader, size_t count)
{
	return batch_reader->plan.send_request &&
	       batch_reader->text_readings + batch_reader->clock_readings / CLOCKS_PER_READING >=
	           PAYS_FROM_READINGS &&
	       count >= PAYS_FROM_MEMBERS;
}

static bool is_open(struct rti_batch_reader *batch_reader, size_t count)
{
	if (batch_reader->batch || batch_reader->is_refused)
		return batch_reader->batch != NULL;
	batch_reader->clock_readings += count;
	if (is_worthwhile(batch_reader, count) && rti_batch_open(&batch_reader->batch) < 0)
		batch_reader->is_refused = true;
	return batch_reader->batch != NULL;
}

static bool read_rows(struct rti_batch_reader *batch_reader, const struct rti_member *members,
                      size_t count)
{
	if (!is_open(batch_reader, count) || reserve(batch_reader, count) < 0)
		return false;
	for (size_t i = 0; i < count; i++)
		batch_reader->plan.send_request(batch_reader->plan.arg, &members[count - 1 - i],
		                                &batch_reader->requests[i]);
	if (rti_batch_read(batch_reader->batch, batch_reader->requests, count,
	                   batch_reader->rows) == 0)
		return true;
	give_up(batch_reader); /* after a fork, it is our parent's */
	return false;
}

/* What the kernel keeps no account of is for the files to tell. */
static bool is_answer(const struct rti_batch_row *row, const struct rti_batch_request *request)
{
	return row->error == 0 && (row->has & RTI_BATCH_IDLE || !(request->want & ~row->has));
}

void rti_batch_reader_read(struct rti_batch_reader *batch_reader, struct rti_member *members,
                           size_t count)
{
	bool has_rows = read_rows(batch_reader, members, count);

	for (size_t i = 0; i < count; i++) {
		size_t at = count - 1 - i;

		members[i].row =
		    has_rows && is_answer(&batch_reader->rows[at], &batch_reader->requests[at])
			? &batch_reader->rows[at]
			: NULL;
	}
}
