/* SPDX-License-Identifier: MIT */
/* The account of a command by BPF programs in the kernel: loads them, and takes their records. */
#include "command/bpf_account.h"

#include <stdlib.h>

#include "util/array.h"

/* The ring has room for the records of 12,000 processes, and for some 10,000 texts. */
#define TAKE_EVERY_NS 200000000u

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

static void keep_record(void *arg, const struct rti_account_record *record)
{
	struct rti_command_account *account = arg;
	struct rti_account_record *grown = rti_array_grow(account->records, &account->capacity,
	                                                  account->count + 1, sizeof(*grown));

	if (!grown) {
		account->is_short = true;
		return;
	}
	grown[account->count++] = *record;
	account->records = grown;
}

static void keep_text(void *arg, const struct rti_account_text *text)
{
	struct rti_command_account *account = arg;

	rti_bpf_texts_keep(&account->texts, text);
}

void rti_command_account_take_all(struct rti_command_account *account)
{
	const struct rti_account_taker taker = { account, keep_record, keep_text };

	rti_account_take(account->programs, &taker);
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
	return account->programs && rti_account_has_each(&account->totals) &&
	       !account->totals.unmarked;
}

void rti_command_account_close(struct rti_command_account *account)
{
	rti_account_close(account->programs);
	free(account->records);
	rti_bpf_texts_free(&account->texts);
	*account = (struct rti_command_account){ 0 };
}
