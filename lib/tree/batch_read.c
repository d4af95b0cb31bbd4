/* SPDX-License-Identifier: MIT */
/* All members read at once at the start of a sample, by the batch reader where that can be had and pays. */
#include "tree/batch_read.h"

#include <stdlib.h>

#include "tree/member_table.h"

/* To open the reader costs as much as to read so many members from their files. Of one that has not run only the clock is
 * read, and so many of them are as much as one reading. */
#define PAYS_FROM_READINGS 4000
#define CLOCKS_PER_READING 25
#define PAYS_FROM_MEMBERS 10

static void refuse(struct rti_sweep *sweep)
{
	rti_batch_close(sweep->batch);
	sweep->batch = NULL;
	sweep->is_refused = 1;
}

void rti_sweep_free(struct rti_sweep *sweep)
{
	rti_batch_close(sweep->batch);
	free(sweep->requests);
	free(sweep->rows);
	*sweep = (struct rti_sweep){ 0 };
}

static int reserve(struct rti_sweep *sweep, size_t count)
{
	size_t cap = sweep->cap ? sweep->cap : 64;
	void *requests, *rows;

	if (count <= sweep->cap)
		return 1;
	while (cap < count)
		cap *= 2;
	requests = realloc(sweep->requests, cap * sizeof(*sweep->requests));
	if (requests)
		sweep->requests = requests;
	rows = realloc(sweep->rows, cap * sizeof(*sweep->rows));
	if (rows)
		sweep->rows = rows;
	if (!requests || !rows)
		return 0;
	sweep->cap = cap;
	return 1;
}

/* Nor is there anything to ask before the first sample. */
static int pays(const struct rti_sweep *sweep, size_t count)
{
	return sweep->plan.ask && sweep->text_readings + sweep->clock_readings / CLOCKS_PER_READING >= PAYS_FROM_READINGS &&
	       count >= PAYS_FROM_MEMBERS;
}

static int is_open(struct rti_sweep *sweep, size_t count)
{
	if (sweep->batch || sweep->is_refused)
		return sweep->batch != NULL;
	sweep->clock_readings += count;
	if (pays(sweep, count) && rti_batch_open(&sweep->batch) < 0)
		sweep->is_refused = 1;
	return sweep->batch != NULL;
}

static int read_rows(struct rti_sweep *sweep, const struct rti_member *members, size_t count)
{
	if (!is_open(sweep, count) || !reserve(sweep, count))
		return 0;
	for (size_t i = 0; i < count; i++)
		sweep->plan.ask(sweep->plan.arg, &members[count - 1 - i], &sweep->requests[i]);
	if (rti_batch_read(sweep->batch, sweep->requests, count, sweep->rows) == 0)
		return 1;
	refuse(sweep); /* after a fork, it is our parent's */
	return 0;
}

/* What the kernel keeps no account of is for the files to tell. */
static int is_answer(const struct rti_batch_row *row, const struct rti_batch_request *request)
{
	return row->error == 0 && (row->has & RTI_BATCH_IDLE || !(request->want & ~row->has));
}

void rti_sweep(struct rti_sweep *sweep, struct rti_member *members, size_t count)
{
	int has_rows = read_rows(sweep, members, count);

	for (size_t i = 0; i < count; i++) {
		size_t at = count - 1 - i;

		members[i].row = has_rows && is_answer(&sweep->rows[at], &sweep->requests[at]) ? &sweep->rows[at] : NULL;
	}
}
