/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sums of a process by its signal_struct, in its row: the latest ones that a thread was secured
 * with.
 *
 * For BPF programs. `settings` and `shared` must be defined. */
#ifndef RTI_ACCOUNT_SUMS_H
#define RTI_ACCOUNT_SUMS_H

#include "bpf/kernel.h"

#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "account.h"
#include "account_limbo.h"

#define LOCK_TRIES 64

/* Threads are freed on several CPUs at once. Returns false if another one holds it for long. */
static __always_inline bool take_lock(__u32 *lock)
{
	for (int i = 0; i < LOCK_TRIES; i++)
		if (__sync_val_compare_and_swap(lock, 0, 1) == 0)
			return true;
	return false;
}

static __always_inline void give_lock(__u32 *lock)
{
	__sync_val_compare_and_swap(lock, 1, 0);
}

/* Set the sums of a process that has ended. Returns whether they are final. */
static __always_inline bool end_sums(const struct rti_account_row *row,
                                     struct rti_account_sums *sums)
{
	const struct rti_account_sums *leader = &row->of_leader;

	if (!row->has_sums)
		return false;
	*sums = row->sums;
	if (row->sums_lack != 1 || !row->has_leader)
		return row->sums_lack == 0;
	sums->user_part_ns += leader->user_part_ns;
	sums->system_part_ns += leader->system_part_ns;
	sums->minflt += leader->minflt;
	sums->majflt += leader->majflt;
	sums->voluntary_switches += leader->voluntary_switches;
	sums->involuntary_switches += leader->involuntary_switches;
	sums->read_bytes += leader->read_bytes;
	sums->write_bytes += leader->write_bytes;
	return true;
}

static __always_inline bool is_later(__u32 sequence, __u32 than)
{
	return (__s32)(sequence - than) > 0;
}

/* What a thread group leader was secured with while other threads ran lacks these, and is no end.
 * The last one of them has the end, without the leader. */
static __always_inline void note_latest(struct rti_account_row *row, const struct limbo *limbo)
{
	if (limbo->is_leader &&
	    (!row->has_leader || is_later(limbo->sequence, row->leader_sequence))) {
		row->of_leader = (struct rti_account_sums){ 0 };
		add_to_sums(&row->of_leader, &limbo->use);
		row->leader_sequence = limbo->sequence;
		row->has_leader = 1;
	}
	if (limbo->is_leader && limbo->lacks && limbo->lacks != LACKS_ALL)
		return;
	if (row->has_sums && !is_later(limbo->sequence, row->sums_sequence) &&
	    (limbo->sequence != row->sums_sequence || limbo->lacks >= row->sums_lack))
		return;
	row->sums = limbo->of_process;
	row->sums_sequence = limbo->sequence;
	row->sums_lack = limbo->lacks;
	row->has_sums = 1;
}

static void note_sums(struct rti_account_row *row, const struct limbo *limbo)
{
	if (!take_lock(&row->is_noting)) {
		__sync_fetch_and_or(&row->flags, RTI_ROW_LACKS_SUMS);
		return;
	}
	note_latest(row, limbo);
	give_lock(&row->is_noting);
}

#endif
