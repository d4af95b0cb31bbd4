/* SPDX-License-Identifier: MIT */
/* An account of a tree by BPF programs, and work that it counts. */
#ifndef COUNTED_WORK_H
#define COUNTED_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "bpf/account/tree_account.h"

#define RECORDS_MAX 4096

/* What wait4(2) says of a process. */
struct waited {
	int status;
	struct rusage use;
};

struct rti_tree_account *open_account(const struct rti_account_request *request);

/* Fork the supervisor of an account. It runs work() in a child, and reaps that child and all
 * orphans. Returns what it learns of the child. */
struct waited run_accounted(struct rti_tree_account *account, void (*work)(void));

/* The same. The supervisor calls before_wait() once the child is a zombie. */
struct waited run_accounted_with(struct rti_tree_account *account, void (*work)(void),
                                 void (*before_wait)(void));

/* Read the totals until no thread runs and each one has left its CPU. Returns false if the kernel
 * has called no program for a thread, under load. Without room in limbo that does not show: then so
 * many threads at most may stay away for 10 s. */
bool read_until_whole(struct rti_tree_account *account, struct rti_account_totals *totals,
                      unsigned lost_max);

/* Returns how many records there were. At most RECORDS_MAX are expected. */
size_t take_records(struct rti_tree_account *account, struct rti_account_record *records);

#endif
