/* SPDX-License-Identifier: MIT */
/* Keeps the records of processes in the shared memory, and finds them by pid.
 *
 * Another process of the same user may write to that memory where it cannot be sealed (before Linux
 * 5.1). So the number of records is kept here, and the one in the shared memory is never read. */
#include "supervisor/record_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>

#include "supervisor/exit_account.h"
#include "supervisor/table.h"
#include "util/descendant_set.h"

#define RECORDS_PER_ALLOCATION 1024
#define NUMBER_BYTES (RTI_PIDS_MAX * sizeof(uint32_t))

/* Invariant: written by the functions of this file only. */
static struct {
	struct rti_shared_stats *shared;
	const int *memory;
	struct rti_process_record *records; /* in shared memory */
	uint64_t count, skipped;
	uint64_t room;    /* records that memory is allocated for */
	uint32_t *number; /* by pid: index in records plus 1; 0: none. NULL: there is no list */
} list;

int rts_record_list_begin(struct rti_shared_stats *shared, const int *memory)
{
	list.shared = shared;
	list.memory = memory;
	list.records = (struct rti_process_record *)((char *)shared + RTI_SHARED_STATS_BYTES);
	list.count = list.skipped = list.room = 0;
	list.number = rts_table_new(NUMBER_BYTES);
	return list.number ? 0 : -ENOMEM;
}

void rts_record_list_end(void)
{
	rts_table_free(list.number, NUMBER_BYTES);
	list.number = NULL;
}

static uint32_t *find_number(int32_t pid)
{
	return list.number && pid > 0 && pid < RTI_PIDS_MAX ? &list.number[pid] : NULL;
}

struct rti_process_record *rts_record_find(int32_t pid)
{
	const uint32_t *number = find_number(pid);

	return number && *number ? &list.records[*number - 1] : NULL;
}

/* Make room for one more record. Allocate the memory before it is written to: if memory is full,
 * writing would raise a signal. Returns false if there is no room. */
static bool reserve(void)
{
	const uint64_t size = sizeof(struct rti_process_record);

	if (list.count < list.room)
		return true;
	if (list.room >= RTI_RECORDS_MAX ||
	    fallocate(*list.memory, 0, (off_t)(RTI_SHARED_STATS_BYTES + list.room * size),
	              (off_t)(RECORDS_PER_ALLOCATION * size)) < 0)
		return false;
	list.room += RECORDS_PER_ALLOCATION;
	return true;
}

struct rti_process_record *rts_record_add(int32_t pid, int32_t ppid, uint64_t start_ns)
{
	const struct rti_process_record *older = rts_record_find(pid);
	uint32_t *number = find_number(pid);
	struct rti_process_record *record;

	if (!number)
		return NULL;
	if (!reserve()) {
		*number = 0;
		list.shared->records_skipped = ++list.skipped;
		return NULL;
	}
	record = &list.records[list.count++];
	*record = (struct rti_process_record){ .pid = pid, .ppid = ppid, .start_ns = start_ns };
	if (older)
		rts_exit_account_follow(record, older);
	*number = (uint32_t)list.count;
	list.shared->records = list.count;
	return record;
}

void rts_record_forget_pid(int32_t pid)
{
	uint32_t *number = find_number(pid);

	if (number)
		*number = 0;
}

void rts_record_each(void (*visit)(void *arg, struct rti_process_record *record), void *arg)
{
	if (!list.number)
		return;
	for (uint64_t i = 0; i < list.count; i++)
		visit(arg, &list.records[i]);
}
