/* SPDX-License-Identifier: MIT */
/* The kernel's account of a tree: what the tree keeps of it. */
#ifndef RTI_KERNEL_ACCOUNT_STATE_H
#define RTI_KERNEL_ACCOUNT_STATE_H

#include "bpf/tree_account.h"
#include "tree/counted.h"

/* Written by kernel_account.c only. */
struct rti_kernel_account {
	struct rti_tree_account *programs; /* NULL: there is none */
	bool is_of_command;                /* the programs are the command's */
	/* Why there is none, or why the last read failed: -errno; 0: none was wanted, or it did
	 * not fail. */
	int error;
	uint64_t moves;                   /* struct rti_account_counts, at the last read */
	struct rti_account_totals totals; /* of the last read; all 0 if it failed */
	/* Threads are in no account: for want of a mark, or since no program was called when they
	 * were freed. The figures stay lower bounds. */
	bool has_lost;
	/* What BPF programs have counted, as of the last read that has each thread once. */
	bool has_counted;
	struct rti_tree_counted counted;
};

#endif
