/* SPDX-License-Identifier: MIT */
/* The account of a process tree by BPF programs in the kernel: opens the plug-in. */
#include "bpf/account/tree_account.h"

#include <errno.h>
#include <stdlib.h>

#include "bpf/module.h"

struct rti_tree_account {
	struct rti_module module;
	const struct rti_account_ops *ops;
	void *state;
};

int rti_account_open(struct rti_tree_account **out, const struct rti_account_request *request)
{
	const struct rti_module_version version = { RTI_ACCOUNT_PLUGIN,
		                                    sizeof(struct rti_account_record) };
	struct rti_tree_account *account = calloc(1, sizeof(*account));
	int err;

	*out = NULL;
	if (!account)
		return -ENOMEM;
	err = rti_module_open(&account->module, RTI_ACCOUNT_ENTRY, version);
	if (err == 0) {
		account->ops = account->module.ops;
		err = account->ops->open(&account->state, request);
		if (err < 0)
			rti_module_close(&account->module);
	} else if (err == -ENOENT) {
		err = -ENOPKG;
	}
	if (err < 0)
		free(account);
	else
		*out = account;
	return err;
}

int rti_account_arm(struct rti_tree_account *account, bool is_armed)
{
	return account->ops->arm(account->state, is_armed);
}

int rti_account_read(struct rti_tree_account *account, struct rti_account_totals *out)
{
	return account->ops->read(account->state, out);
}

int rti_account_take(struct rti_tree_account *account, const struct rti_account_taker *taker)
{
	return account->ops->take(account->state, taker);
}

int rti_account_list_running(struct rti_tree_account *account,
                             const struct rti_account_taker *taker)
{
	return account->ops->list_running(account->state, taker);
}

void rti_account_count(const struct rti_tree_account *account, struct rti_account_counts *out)
{
	account->ops->count(account->state, out);
}

int rti_account_event_fd(const struct rti_tree_account *account)
{
	return account->ops->event_fd(account->state);
}

void rti_account_close(struct rti_tree_account *account)
{
	if (!account)
		return;
	account->ops->close(account->state);
	rti_module_close(&account->module);
	free(account);
}
