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
/* If none runs, there may be no next sample: wait until the last ones have left their CPU. */
#define LAST_READS_MAX 500
/* Likewise at the end of a command, when a busy system may not have a CPU for them at once. What
 * was left running changes meanwhile, so that only a look in between is whole. */
#define END_READS_MAX 10000
#define LEFT_RUNNING_READS_MAX 50
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

	if (tree->kernel_account.is_of_command && tree->kernel_account.programs)
		rti_account_count(tree->kernel_account.programs, &counts);
	if (is_whole)
		*is_whole = counts.processes && !counts.unmarked;
	return counts.processes;
}

/* Whether a sample is one of the last of a command. */
static bool is_end(const struct rti_tree *tree)
{
	return tree->kernel_account.is_of_command && tree->is_final;
}

static unsigned reads_max(const struct rti_tree *tree, const struct rti_account_totals *totals)
{
	if (is_end(tree))
		return totals->running ? LEFT_RUNNING_READS_MAX : END_READS_MAX;
	return totals->running || tree->kernel_account.is_of_command ? READS_MAX : LAST_READS_MAX;
}

/* No later read has more. */
static bool is_settled(const struct rti_account_totals *totals)
{
	return totals->is_whole || rti_account_lacks_missed(totals);
}

static bool is_enough(const struct rti_tree *tree, const struct rti_account_totals *totals)
{
	return is_settled(totals) || (!is_end(tree) && rti_account_has_each(totals));
}

/* Threads that have ended are about to leave their CPU. */
static void nap(const struct rti_tree *tree, const struct rti_account_totals *totals)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	if (is_end(tree) || (totals->running == 0 && !tree->kernel_account.is_of_command))
		nanosleep(&time, NULL);
}

/* Returns 0 or -errno. */
static int read_totals(struct rti_tree *tree)
{
	struct rti_kernel_account *account = &tree->kernel_account;
	struct rti_account_totals *totals = &account->totals;
	int err = rti_account_read(account->programs, totals);

	for (unsigned reads = 1;
	     err == 0 && !is_enough(tree, totals) && reads < reads_max(tree, totals); reads++) {
		nap(tree, totals);
		err = rti_account_read(account->programs, totals);
	}
	if (err < 0)
		*totals = (struct rti_account_totals){ 0 };
	return err;
}

/* What was read before stays a lower bound. */
static void apply(struct rti_tree *tree)
{
	struct rti_kernel_account *account = &tree->kernel_account;
	const struct rti_account_totals *totals = &account->totals;
	struct rti_tree_counted *counted = &account->counted;

	account->has_lost |= totals->unmarked || rti_account_lacks_missed(totals);
	account->has_counted = true;
	if (rti_account_has_each(totals) || rti_account_lacks_missed(totals)) {
		rti_tree_counted_set(counted, totals, tree->ctx->platform->page_size);
		counted->has_ended &= !account->has_lost;
		counted->is_behind = account->has_lost;
	} else {
		counted->is_behind = true;
	}
	counted->processes = totals->processes;
	rti_raise_peak_rss(tree, counted->peak_rss_bytes);
	rti_note_change(tree);
	if (account->has_lost)
		rti_add_reasons(tree, RT_REASON_EVENTS_LOST);
}

/* Whether nothing has run since the last read. */
static bool is_current(const struct rti_tree *tree, const struct rti_account_counts *counts)
{
	const struct rti_kernel_account *account = &tree->kernel_account;

	return is_settled(&account->totals) && account->moves == counts->moves &&
	       tree->unchanged_samples > 0;
}

static void release(struct rti_tree *tree)
{
	if (!tree->kernel_account.is_of_command) {
		rti_fork_tracker_forget_account(&tree->discovery.fork_tracker);
		rti_account_close(tree->kernel_account.programs);
	}
	tree->kernel_account.programs = NULL;
}

/* The account belongs to the process that this one was forked from. What was counted until then
 * stays a lower bound. */
static void give_up(struct rti_tree *tree)
{
	release(tree);
	tree->kernel_account.has_lost = true;
	rti_add_reasons(tree, RT_REASON_EVENTS_LOST);
}

void rti_kernel_account_sample(struct rti_tree *tree)
{
	struct rti_kernel_account *account = &tree->kernel_account;
	struct rti_account_counts counts;

	if (!account->programs)
		return;
	rti_account_count(account->programs, &counts);
	if (is_current(tree, &counts))
		return;
	account->moves = counts.moves;
	account->error = read_totals(tree);
	if (account->error == 0) {
		apply(tree);
		return;
	}
	account->has_counted = account->counted.is_behind = true;
	if (account->error == -ESTALE)
		give_up(tree);
}

void rti_kernel_account_free(struct rti_tree *tree)
{
	release(tree);
	tree->kernel_account = (struct rti_kernel_account){ 0 };
}
