/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The sums of signal_struct: what threads that were released have used. They move under a sequence
 * lock.
 *
 * For BPF programs. */
#ifndef RTI_SIGNAL_SUMS_H
#define RTI_SIGNAL_SUMS_H

#include "kernel.h"

#include <stdbool.h>

#ifndef RTI_READS_ARE_ORDERED
__u64 fence;
#endif

/* Order the reads before it before those after it. On a CPU that does not reorder reads, this is a
 * compiler barrier: a fence would keep it from fetching several cache lines at a time. */
static __always_inline void order_reads(void)
{
#ifdef RTI_READS_ARE_ORDERED
	asm volatile("" ::: "memory");
#else
	__sync_fetch_and_add(&fence, 0);
#endif
}

static __always_inline __u32 sequence_of(const struct signal_struct *signal)
{
	return signal->stats_lock.seqcount.seqcount.sequence;
}

/* Check the sequence lock as the kernel's own readers do. Returns true if no usage was moved from a
 * thread to the process, or from a child to its parent, since the sequence was read. */
static __always_inline bool is_consistent(const struct signal_struct *signal, __u32 sequence)
{
	order_reads();
	return !(sequence & 1) && sequence == sequence_of(signal);
}

#endif
