/* SPDX-License-Identifier: MIT */
/* The kernel's own account of a cgroup: runs the collectors of cgroups. */
#include "cgroup/account.h"

#include <errno.h>
#include <stdlib.h>

int rti_cgroup_account_init(struct rti_cgroup_account *account, uint64_t want)
{
	account->obstacles.met = 0;
	account->states = calloc(rti_cgroup_collector_count, sizeof(*account->states));
	if (!account->states)
		return -ENOMEM;
	for (size_t i = 0; i < rti_cgroup_collector_count; i++) {
		const struct rti_cgroup_collector *c = rti_cgroup_collectors[i];

		if (!(c->provides & want))
			continue;
		account->states[i] = calloc(1, c->state_size);
		if (!account->states[i])
			return -ENOMEM;
		c->open(account->states[i]);
	}
	return 0;
}

void rti_cgroup_account_free(struct rti_cgroup_account *account, const struct rti_context *ctx)
{
	for (size_t i = 0; account->states && i < rti_cgroup_collector_count; i++) {
		if (account->states[i])
			rti_cgroup_collectors[i]->close(account->states[i], ctx);
		free(account->states[i]);
	}
	free(account->states);
	account->states = NULL;
}

bool rti_cgroup_account_read(struct rti_cgroup_account *account, const struct rti_context *ctx,
                             const struct rti_cgroup_places *places, uint64_t want,
                             struct rt_metrics *out)
{
	struct rti_cgroup_look look = {
		.ctx = ctx,
		.places = places,
		.want = want,
		.obstacles = &account->obstacles,
		.out = out,
	};

	account->obstacles.met = 0;
	for (size_t i = 0; i < rti_cgroup_collector_count; i++)
		if (account->states[i])
			rti_cgroup_collectors[i]->collect(account->states[i], &look);
	return look.is_gone;
}

bool rti_cgroup_account_explain(const struct rti_cgroup_account *account, uint64_t has,
                                struct rti_explanation *out)
{
	int bit = rti_status_bit(has);

	if (!(account->obstacles.met & has))
		return false;
	out->cause = account->obstacles.of[bit].cause;
	out->error = account->obstacles.of[bit].error;
	out->file = account->obstacles.of[bit].file;
	out->controller = account->obstacles.of[bit].controller;
	return true;
}
