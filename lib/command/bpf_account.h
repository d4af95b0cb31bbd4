/* SPDX-License-Identifier: MIT */
/* The account of a command by BPF programs in the kernel: RT_ACCOUNTING_BPF. */
#ifndef RTI_COMMAND_ACCOUNT_H
#define RTI_COMMAND_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/account/tree_account.h"
#include "command/bpf_texts.h"

/* Written by bpf_account.c only. */
struct rti_command_account {
	struct rti_tree_account *programs;  /* NULL: the command has another accounting method */
	struct rti_account_totals totals;   /* as of the last sample at the end */
	uint64_t next_take_ns;              /* CLOCK_MONOTONIC: of records; UINT64_MAX: never */
	struct rti_account_record *records; /* of the processes that have ended */
	size_t count, capacity;
	struct rti_bpf_texts texts; /* of these processes */
	bool is_short;              /* memory ran out: records are missing */
};

/* Load the programs, before the supervisor is started. Returns 0 or -errno, as
 * rti_account_open(). */
int rti_command_account_open(struct rti_command_account *account, bool wants_records);

/* From now on what this thread forks is the supervisor, or no longer. */
int rti_command_account_arm(struct rti_command_account *account, bool is_armed);

/* Take records and texts, now and then, so that the ring does not fill. Returns when to come again,
 * or UINT64_MAX. */
uint64_t rti_command_account_take(struct rti_command_account *account, uint64_t now_ns);
void rti_command_account_take_all(struct rti_command_account *account);

/* Whether the totals have every thread of the tree. */
bool rti_command_account_is_whole(const struct rti_command_account *account);

void rti_command_account_close(struct rti_command_account *account);

#endif
