/* SPDX-License-Identifier: MIT */
/* The account of a command by BPF programs in the kernel: loads them, takes their records, and
 * reads their totals in the end. */
#include "command/bpf_account.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/array.h"

/* A thread leaves its CPU a moment after its process could be waited for; on a busy system, it may
 * have to wait for one. */
#define SETTLE_NAP_NS 200000
#define SETTLE_NAPS_MAX 10000
/* What was left running changes meanwhile, so that only a look in between is whole. */
#define RUNNING_NAPS_MAX 50
/* The ring has room for the records of 25,000 processes. */
#define TAKE_EVERY_NS 200000000u
#define TAKE_ROOM 64

int rti_command_account_open(struct rti_command_account *account, bool wants_records)
{
	const struct rti_account_request request = { .wants_records = wants_records };

	account->next_take_ns = wants_records ? 0 : UINT64_MAX;
	return rti_account_open(&account->programs, &request);
}

int rti_command_account_arm(struct rti_command_account *account, bool is_armed)
{
	return account->programs ? rti_account_arm(account->programs, is_armed) : 0;
}

static void keep_records(struct rti_command_account *account,
                         const struct rti_account_record *records, size_t count)
{
	struct rti_account_record *grown = rti_array_grow(account->records, &account->capacity,
	                                                  account->count + count, sizeof(*grown));

	if (!grown) {
		account->is_short = true;
		return;
	}
	memcpy(grown + account->count, records, count * sizeof(*records));
	account->records = grown;
	account->count += count;
}

void rti_command_account_take_all(struct rti_command_account *account)
{
	struct rti_account_record records[TAKE_ROOM];
	int count;

	while ((count = rti_account_take(account->programs, records, TAKE_ROOM)) > 0)
		keep_records(account, records, (size_t)count);
}

uint64_t rti_command_account_take(struct rti_command_account *account, uint64_t now_ns)
{
	if (!account->programs)
		return UINT64_MAX;
	if (now_ns >= account->next_take_ns) {
		rti_command_account_take_all(account);
		account->next_take_ns = now_ns + TAKE_EVERY_NS;
	}
	return account->next_take_ns;
}

bool rti_command_account_is_whole(const struct rti_command_account *account)
{
	return account->programs && account->totals.is_whole && !account->totals.unmarked;
}

/* Under load, no BPF program is called for a few of some thousand threads. These are lost. */
static bool lacks_missed(const struct rti_account_totals *totals)
{
	return totals->missed && totals->freed + totals->found + totals->missed == totals->begun;
}

/* Look until no thread is about to leave its CPU. */
void rti_command_account_settle(struct rti_command_account *account)
{
	const struct timespec nap = { .tv_nsec = SETTLE_NAP_NS };
	struct rti_account_totals *totals = &account->totals;

	for (int naps = 0; naps < SETTLE_NAPS_MAX; naps++) {
		if (rti_account_read(account->programs, totals) < 0)
			totals->is_whole = false;
		if (totals->is_whole || lacks_missed(totals) ||
		    (totals->running && naps >= RUNNING_NAPS_MAX))
			return;
		nanosleep(&nap, NULL);
	}
}

void rti_command_account_close(struct rti_command_account *account)
{
	rti_account_close(account->programs);
	free(account->records);
	*account = (struct rti_command_account){ 0 };
}
