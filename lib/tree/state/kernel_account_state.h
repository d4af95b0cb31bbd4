/* SPDX-License-Identifier: MIT */
/* The kernel's account of a tree: what the tree keeps of it. */
#ifndef RTI_KERNEL_ACCOUNT_STATE_H
#define RTI_KERNEL_ACCOUNT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/account/account.h"
#include "bpf/account/tree_account.h"
#include "collect/counters.h"

/* What the kernel has counted of the whole tree by itself: see bpf/account/account.h. */
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

/* Written by kernel_account.c only. */
struct rti_kernel_account {
	struct rti_tree_account *programs; /* NULL: there is none */
	bool is_of_command;                /* the programs are the command's */
	/* Why there is none, or why the last read failed: -errno; 0: none was wanted, or it did
	 * not fail. */
	int error;
	uint64_t moves;                   /* struct rti_account_counts, at the last read */
	struct rti_account_totals totals; /* of the last read; all 0 if it failed */
	/* Threads are in no account: they had no mark, or no program was called when they were
	 * freed. The figures stay lower bounds. */
	bool has_lost;
	/* What BPF programs have counted, as of the last read that has each thread once. */
	bool has_counted;
	struct rti_tree_counted counted;
	uint64_t read_at_ns; /* when this sample read that; 0: it did not, or nothing has run */
};

#endif
