/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The search of limbo: adds up the threads in it, and sends the records of processes of which all
 * threads have ended.
 *
 * For BPF programs. `settings`, `shared` and `ring` must be defined. */
#ifndef RTI_ACCOUNT_SEARCH_H
#define RTI_ACCOUNT_SEARCH_H

#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "account.h"
#include "account_limbo.h"
#include "account_record.h"
#include "account_row.h"

static void begin_row_search(struct rti_account_row *row)
{
	volatile const struct rti_account_row *now = row;

	row->search = shared.searches;
	row->found_tasks = 0;
	row->search_tasks = now->tasks;
	if (now->freeing) {
		row->search_tasks = 0; /* `freed` may have a part of a thread */
		shared.found--;
	}
	barrier();
	row->all_found = row->freed;
}

/* Whether each thread of the process was found or was freed before, so that none is in the sum
 * twice and none is missing. E.g.: of three threads, one is found, and one is reclaimed then. What
 * the latter has used is not in `all_found`; two are left, and the second one is found. */
static bool has_all_found(const struct rti_account_row *row)
{
	volatile const struct rti_account_row *now = row;

	if (now->freeing) {
		shared.found--;
		return false;
	}
	return now->tasks == row->search_tasks && row->found_tasks == row->search_tasks &&
	       !(now->flags & RTI_ROW_LACKS_THREAD);
}

/* The last thread of a process that is found sends its record. If one was freed since the first was
 * found, that one or the next search sends it. There is a next search: the number of freed threads
 * has moved, or `found` is too low. */
static void search_row(struct rti_account_row *row, const struct limbo *limbo)
{
	if (!row || row->tgid != limbo->tgid)
		return;
	if (row->search != shared.searches)
		begin_row_search(row);
	row->found_tasks++;
	row->all_found.cpu_ns += limbo->use.cpu_ns;
	row->all_found.voluntary_switches += limbo->use.voluntary_switches;
	row->all_found.involuntary_switches += limbo->use.involuntary_switches;
	row->all_found.read_bytes += limbo->use.read_bytes;
	row->all_found.write_bytes += limbo->use.write_bytes;
	note_sums(row, limbo);
	if (!has_all_found(row))
		return;
	finish_process(row, &row->all_found, &shared.unfreed);
}

/* The memory of this thread is something else's, and no program was called when it was freed. What
 * it has used is added up here if it was secured, and the entry is free again. start_ns: of
 * the thread in limbo. If it is 0 by now, the program was called after all. */
static void reclaim(struct limbo *limbo, __u64 start_ns)
{
	struct rti_account_row *row = row_of(limbo->row);

	if (__sync_val_compare_and_swap(&limbo->start_ns, start_ns, 0) != start_ns)
		return;
	if (limbo->secured != start_ns) {
		shared.missed++;
		if (row)
			drop_from_row(row);
	} else {
		rti_account_add_use(&shared.reclaimed, &limbo->use);
		shared.reclaims++;
		if (row && row->tgid == limbo->tgid)
			free_from_row(row, limbo, &shared.reclaimed);
	}
	leave_limbo(limbo);
}

/* The kernel may free the thread meanwhile: then the number of freed ones shows that the sum is
 * torn, and the row is left alone. */
static long search_entry(__u32 key, void *unused)
{
	struct limbo *limbo = bpf_map_lookup_elem(&limbos, &key);
	struct rti_account_use use;
	const struct task_struct *task;
	__u64 address, start_ns;
	bool was_secured;

	if (!limbo || !limbo->task)
		return 0;
	start_ns = *(volatile __u64 *)&limbo->start_ns;
	address = *(volatile __u64 *)&limbo->task;
	if (!start_ns)
		return 0;
	task = task_of(limbo);
	if (!is_in_limbo(limbo, task)) {
		if (*(volatile __u64 *)&limbo->task == address)
			reclaim(limbo, start_ns);
		return 0;
	}
	/* What was secured with the final part of its process stays. If no program was called when
	 * the thread was freed, its memory may be anything's by now. E.g.: the buffer of a file. */
	was_secured = is_secured(limbo);
	if (is_off_cpu(task) && !(was_secured && limbo->is_released))
		secure(limbo, task, was_secured ? SECURE_AGAIN : SECURE_FIRST);
	if (!is_secured(limbo)) {
		use = (struct rti_account_use){ 0 };
		add_use(&use, task);
		if (is_in_limbo(limbo, task)) {
			rti_account_add_use(&shared.unfreed, &use);
			shared.leaving++;
		}
		return 0;
	}
	rti_account_add_use(&shared.unfreed, &limbo->use);
	shared.found++;
	if (*(volatile __u64 *)&limbo->task == address)
		search_row(row_of(limbo->row), limbo);
	return 0;
}

#endif
