/* SPDX-License-Identifier: MIT */
/* All members read at once at the start of a sample, by the batch reader where that can be had and pays. */
#include "sweep.h"

#include <stdlib.h>

#include "proctree.h"

/* To open the reader costs as much as to read so many members from their files. */
#define PAYS_FROM_READINGS 4000
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
	free(sweep->pids);
	free(sweep->rows);
	*sweep = (struct rti_sweep){ 0 };
}

static int reserve(struct rti_sweep *sweep, size_t count)
{
	size_t cap = sweep->cap ? sweep->cap : 64;
	void *pids, *rows;

	if (count <= sweep->cap)
		return 1;
	while (cap < count)
		cap *= 2;
	pids = realloc(sweep->pids, cap * sizeof(*sweep->pids));
	if (pids)
		sweep->pids = pids;
	rows = realloc(sweep->rows, cap * sizeof(*sweep->rows));
	if (rows)
		sweep->rows = rows;
	if (!pids || !rows)
		return 0;
	sweep->cap = cap;
	return 1;
}

static int is_open(struct rti_sweep *sweep, size_t count)
{
	if (sweep->batch || sweep->is_refused)
		return sweep->batch != NULL;
	if (sweep->text_readings >= PAYS_FROM_READINGS && count >= PAYS_FROM_MEMBERS && rti_batch_open(&sweep->batch) < 0)
		sweep->is_refused = 1;
	return sweep->batch != NULL;
}

static int read_rows(struct rti_sweep *sweep, const struct rti_member *members, size_t count)
{
	if (!is_open(sweep, count) || !reserve(sweep, count))
		return 0;
	for (size_t i = 0; i < count; i++)
		sweep->pids[i] = members[count - 1 - i].pid;
	if (rti_batch_read(sweep->batch, sweep->pids, count, RTI_BATCH_EXACT_RSS, sweep->rows) == 0)
		return 1;
	refuse(sweep); /* after a fork, it is our parent's */
	return 0;
}

void rti_sweep(struct rti_sweep *sweep, struct rti_member *members, size_t count)
{
	int has_rows = read_rows(sweep, members, count);

	for (size_t i = 0; i < count; i++) {
		const struct rti_batch_row *row = has_rows ? &sweep->rows[count - 1 - i] : NULL;

		members[i].row = row && row->error == 0 && row->has & RTI_BATCH_IO ? row : NULL;
	}
}
