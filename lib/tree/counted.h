/* SPDX-License-Identifier: MIT */
/* What BPF programs have counted of a tree. */
#ifndef RTI_TREE_COUNTED_H
#define RTI_TREE_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/counters.h"

/* What the kernel has counted of the whole tree by itself: see bpf/account.h. */
struct rti_tree_counted {
	uint64_t counters[RTI_COUNTERS];
	uint64_t peak_rss_bytes; /* of the processes that have ended; 0: none has */
	uint64_t processes;      /* so far */
	bool is_final;           /* no process is left */
	bool has_peaks;          /* of each process that has ended */
};

#endif
