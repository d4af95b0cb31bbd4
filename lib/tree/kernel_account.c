/* SPDX-License-Identifier: MIT */
/* The kernel's account of a tree. */
#include "tree/kernel_account.h"

#include <errno.h>
#include <time.h>

#include "bpf/refusal.h"
#include "tree/state.h"

/* While threads begin and end, a sum may miss one or have it twice, and says so. Each read takes
 * 0.1 ms or more. If threads run, the next sample can try again. */
#define READS_MAX 10
/* If none runs, there may be no next sample: wait for the end of the last ones. */
#define LAST_READS_MAX 500
#define NAP_NS 200000

int rti_kernel_account_open(struct rti_tree *tree, int32_t root)
{
	const struct rti_account_request request = { .root = root };
	struct rti_kernel_account *account = &tree->kernel_account;

	account->error =
	    rti_bpf_lacks_capability() ? -EPERM : rti_account_open(&account->programs, &request);
	return account->error;
}

void rti_kernel_account_follow(struct rti_tree *tree, struct rti_tree_account *of_command)
{
	tree->kernel_account.programs = of_command;
	tree->kernel_account.is_of_command = of_command != NULL;
}

uint64_t rti_kernel_account_processes(const struct rti_tree *tree, bool *is_whole)
{
	struct rti_account_counts counts = { 0 };

	if (tree->kernel_account.is_of_command)
		rti_account_count(tree->kernel_account.programs, &counts);
	if (is_whole)
		*is_whole = counts.processes && !counts.unmarked;
	return counts.processes;
}

/* If the last threads of a tree have ended, they are about to leave their CPU. */
static void nap(const struct rti_account_totals *totals)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	if (totals->running == 0)
		nanosleep(&time, NULL);
}

/* Whether the sum has no thread twice. As long as threads run, there will be a later sample, which
 * has what they use meanwhile. */
static bool is_usable(const struct rti_account_totals *totals)
{
	return totals->is_whole || (totals->running && totals->has_all) ||
	       rti_account_lacks_missed(totals);
}

/* Returns 0 or -errno. */
static int read_totals(struct rti_kernel_account *account, struct rti_account_totals *totals)
{
	int err = rti_account_read(account->programs, totals), reads = 1;

	while (err == 0 && !is_usable(totals) &&
	       reads++ < (totals->running ? READS_MAX : LAST_READS_MAX)) {
		nap(totals);
		err = rti_account_read(account->programs, totals);
	}
	account->is_read = is_usable(totals);
	account->has_lost |= totals->unmarked || rti_account_lacks_missed(totals);
	return err;
}

/* What was read before stays a lower bound. */
static void apply(struct rti_tree *tree, const struct rti_account_totals *totals)
{
	struct rti_kernel_account *account = &tree->kernel_account;
	struct rti_tree_counted counted = account->counted;

	if (account->is_read)
		rti_tree_counted_set(&counted, totals, tree->ctx->platform->page_size);
	counted.processes = totals->processes;
	counted.is_final &= !account->has_lost;
	counted.is_behind = !account->is_read || account->has_lost;
	account->counted = counted;
	account->has_counted = true;
	rti_raise_peak_rss(tree, counted.peak_rss_bytes);
	rti_note_change(tree);
	if (account->has_lost)
		rti_add_reasons(tree, RT_REASON_EVENTS_LOST);
}

/* Whether nothing has run since the last read. */
static bool is_current(const struct rti_tree *tree, const struct rti_account_counts *counts)
{
	const struct rti_kernel_account *account = &tree->kernel_account;

	return account->is_read && account->moves == counts->moves && tree->unchanged_samples > 0;
}

/* The account cannot be read. E.g.: it belongs to the process that this one was forked from. */
static void give_up(struct rti_tree *tree, int err)
{
	rti_kernel_account_free(tree);
	tree->kernel_account.error = err;
}

void rti_kernel_account_sample(struct rti_tree *tree)
{
	struct rti_kernel_account *account = &tree->kernel_account;
	struct rti_account_totals totals = { 0 };
	struct rti_account_counts counts;
	int err;

	if (!account->programs)
		return;
	rti_account_count(account->programs, &counts);
	if (is_current(tree, &counts))
		return;
	account->moves = counts.moves;
	err = read_totals(account, &totals);
	if (err < 0)
		give_up(tree, err);
	else
		apply(tree, &totals);
}

void rti_kernel_account_free(struct rti_tree *tree)
{
	if (!tree->kernel_account.is_of_command) {
		rti_fork_tracker_forget_account(&tree->discovery.fork_tracker);
		rti_account_close(tree->kernel_account.programs);
	}
	tree->kernel_account = (struct rti_kernel_account){ 0 };
}
