/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The end of a process: its last thread is freed, or is found by a search. Its peak is noted, and
 * its record is sent.
 *
 * For BPF programs. `settings`, `shared` and `ring` must be defined. */
#ifndef RTI_ACCOUNT_RECORD_H
#define RTI_ACCOUNT_RECORD_H

#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "account.h"
#include "account_limbo.h"
#include "account_row.h"
#include "account_sums.h"

static void send_record(const struct rti_account_row *row, const struct rti_account_sums *use,
                        const struct rti_account_part *part)
{
	struct rti_account_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		__sync_fetch_and_add(&shared.lost, 1);
		return;
	}
	record->kind = RTI_ACCOUNT_PROCESS;
	record->text = row->text;
	record->pid = row->pid;
	record->ppid = row->ppid;
	record->status = row->status;
	record->flags = row->flags;
	record->start_ns = row->start_ns;
	record->end_ns = row->end_ns;
	record->cpu_ns = part->cpu_ns;
	record->user_part_ns = use->user_part_ns;
	record->system_part_ns = use->system_part_ns;
	record->minflt = use->minflt;
	record->majflt = use->majflt;
	record->voluntary_switches = use->voluntary_switches;
	record->involuntary_switches = use->involuntary_switches;
	record->read_bytes = use->read_bytes;
	record->write_bytes = use->write_bytes;
	record->own_read_bytes = part->read_bytes;
	record->own_write_bytes = part->write_bytes;
	record->peak_pages = row->peak_pages;
	record->execs = row->execs;
	record->reserved = 0;
	__builtin_memcpy(record->comm, row->comm, sizeof(record->comm));
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP); /* the reader comes by */
}

/* Of a process that has ended. */
static void note_peak(const struct rti_account_row *row)
{
	bool has_ended = row->flags & RTI_ROW_ENDED;

	raise_to(&shared.peak_pages, row->peak_pages);
	if (has_ended && !(row->flags & RTI_ROW_LACKS_PEAK))
		return;
	/* If no program saw its end, its last address space was not looked at. */
	raise_to(&shared.hidden_pages, has_ended ? row->foreign_pages : ~0ull);
	__sync_fetch_and_add(&shared.peakless, 1);
}

/* The last thread of a process is freed, or found by a search. use: the sum of its threads. */
static void finish_process(struct rti_account_row *row, const struct rti_account_part *part,
                           struct rti_account_use *use)
{
	struct rti_account_sums sums = { 0 };
	bool is_locked = take_lock(&row->is_noting);
	bool is_final = !(row->flags & RTI_ROW_LACKS_THREAD) && is_locked && end_sums(row, &sums);

	if (is_locked)
		give_lock(&row->is_noting);
	/* The last switch of a thread comes after signal_struct has got its account, or before if a
	 * slow parent waits for it. wait4(2) and getrusage(2) show signal_struct, so it decides. */
	if (is_final) {
		use->voluntary_switches += sums.voluntary_switches - part->voluntary_switches;
		use->involuntary_switches += sums.involuntary_switches - part->involuntary_switches;
	} else {
		__sync_fetch_and_or(&row->flags, RTI_ROW_LACKS_SUMS);
	}
	if (__sync_val_compare_and_swap(&row->is_sent, 0, 1) != 0)
		return;
	/* The switches of all its threads are corrected. If not, those of threads that ended before
	 * it never will be. */
	if (is_final)
		__sync_fetch_and_add(&shared.ended_early, -(__u64)row->ended_early);
	note_peak(row);
	if (settings.wants_records)
		send_record(row, &sums, part);
}

static void free_from_row(struct rti_account_row *row, const struct limbo *limbo,
                          struct rti_account_use *use)
{
	struct rti_account_part *freed = &row->freed;
	__u32 tasks;

	__sync_fetch_and_add(&row->freeing, 1);
	__sync_fetch_and_add(&freed->cpu_ns, limbo->use.cpu_ns);
	__sync_fetch_and_add(&freed->voluntary_switches, limbo->use.voluntary_switches);
	__sync_fetch_and_add(&freed->involuntary_switches, limbo->use.involuntary_switches);
	__sync_fetch_and_add(&freed->read_bytes, limbo->use.read_bytes);
	__sync_fetch_and_add(&freed->write_bytes, limbo->use.write_bytes);
	note_sums(row, limbo);
	tasks = __sync_fetch_and_add(&row->tasks, -1);
	__sync_fetch_and_add(&row->freeing, -1);
	if (tasks != 1)
		return;
	finish_process(row, freed, use);
	__sync_val_compare_and_swap(&row->is_in_use, 1, 0);
}

/* There was no room in limbo. The totals have the thread, and the row of its process lacks it. */
static void drop_from_row(struct rti_account_row *row)
{
	__sync_fetch_and_or(&row->flags, RTI_ROW_LACKS_THREAD);
	if (__sync_fetch_and_add(&row->tasks, -1) != 1)
		return;
	note_peak(row);
	__sync_fetch_and_add(&shared.lost, 1);
	__sync_val_compare_and_swap(&row->is_in_use, 1, 0);
}

#endif
