/* SPDX-License-Identifier: MIT */
/* What BPF programs have counted of a tree. */
#ifndef RTI_TREE_COUNTED_H
#define RTI_TREE_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/account.h"
#include "collect/counters.h"

/* What the kernel has counted of the whole tree by itself: see bpf/account.h. */
struct rti_tree_counted {
	uint64_t counters[RTI_COUNTERS];
	uint64_t peak_rss_bytes; /* of the processes that have ended; 0: none has */
	uint64_t processes;      /* so far */
	bool has_ended;          /* no process is left */
	bool has_peaks;          /* of each process that has ended */
	bool lacks_peaks;        /* a process without a known peak may have had the largest one */
	bool has_io;             /* false: the counters of I/O are not known */
	/* false: the context switches may have some that no getrusage(2) and wait(2) will show. */
	bool has_switches;
	bool is_behind; /* the counters are of an earlier look, or lack threads */
};

/* Set the counters and the peak from totals that have no thread twice, and the count of processes.
 */
void rti_tree_counted_set(struct rti_tree_counted *counted, const struct rti_account_totals *totals,
                          uint64_t page_size);

#endif
