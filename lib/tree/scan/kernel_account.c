/* SPDX-License-Identifier: MIT */
/* The kernel's account of a tree. */
#include "tree/scan/kernel_account.h"

#include <errno.h>
#include <time.h>

#include "bpf/refusal.h"
#include "os/cpu_time.h"
#include "tree/state/state.h"

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

int rti_kernel_account_open(struct rti_kernel_account *account, int32_t root)
{
	const struct rti_account_request request = { .root = root };

	account->error =
	    rti_bpf_lacks_capability() ? -EPERM : rti_account_open(&account->programs, &request);
	return account->error;
}

void rti_kernel_account_follow(struct rti_kernel_account *account,
                               struct rti_tree_account *of_command)
{
	account->programs = of_command;
	account->is_of_command = of_command != NULL;
}

uint64_t rti_kernel_account_processes(const struct rti_kernel_account *account, bool *is_whole)
{
	struct rti_account_counts counts = { 0 };

	if (account->is_of_command && account->programs)
		rti_account_count(account->programs, &counts);
	if (is_whole)
		*is_whole = counts.processes && !counts.unmarked;
	return counts.processes;
}

/* No later read has more. */
static bool is_settled(const struct rti_account_totals *totals)
{
	return totals->is_whole || rti_account_lacks_missed(totals);
}

/* Read until the totals are enough: at the end of a command, until no later read has more. Returns
 * 0 or -errno. */
static int read_totals(struct rti_kernel_account *account, bool is_final)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	const bool is_end = account->is_of_command && is_final;
	struct rti_account_totals *totals = &account->totals;
	int err = rti_account_read(account->programs, totals);

	for (unsigned reads = 1; err == 0 && !is_settled(totals); reads++) {
		/* Threads that have ended are about to leave their CPU. */
		bool must_wait = is_end || (totals->running == 0 && !account->is_of_command);
		unsigned reads_max = must_wait ? LAST_READS_MAX : READS_MAX;

		if (is_end)
			reads_max = totals->running ? LEFT_RUNNING_READS_MAX : END_READS_MAX;
		if (reads >= reads_max || (!is_end && rti_account_has_each(totals)))
			break;
		if (must_wait)
			nanosleep(&nap, NULL);
		err = rti_account_read(account->programs, totals);
	}
	if (err < 0)
		*totals = (struct rti_account_totals){ 0 };
	return err;
}

static void set_counters(const struct rti_account_use *use, uint64_t out[RTI_COUNTERS])
{
	rti_split_cpu(use->cpu_ns, use->user_part_ns, use->user_part_ns + use->system_part_ns,
	              &out[RTI_CPU_USER], &out[RTI_CPU_SYSTEM]);
	out[RTI_MINOR_FAULTS] = use->minflt;
	out[RTI_MAJOR_FAULTS] = use->majflt;
	out[RTI_VOLUNTARY] = use->voluntary_switches;
	out[RTI_INVOLUNTARY] = use->involuntary_switches;
	out[RTI_READ_BYTES] = use->read_bytes;
	out[RTI_WRITE_BYTES] = use->write_bytes;
	out[RTI_CANCELLED_BYTES] = use->cancelled_write_bytes;
	out[RTI_READ_CHARS] = use->read_chars;
	out[RTI_WRITE_CHARS] = use->write_chars;
	out[RTI_READ_CALLS] = use->read_calls;
	out[RTI_WRITE_CALLS] = use->write_calls;
}

/* Set the counters and the peak from totals that have no thread twice, and the count of processes.
 */
static void set_counted(struct rti_tree_counted *counted, const struct rti_account_totals *totals,
                        uint64_t page_size)
{
	bool lacks_peaks = totals->rowless || totals->unmarked || totals->peakless;

	*counted = (struct rti_tree_counted){
		.peak_rss_bytes = rti_multiply_saturated(totals->peak_pages, page_size),
		.processes = totals->processes,
		.has_ended = totals->running == 0,
		.has_peaks = totals->is_whole && !lacks_peaks,
		.lacks_peaks = lacks_peaks,
		.has_io = totals->has_io,
		.has_switches = totals->ended_early == 0,
	};
	set_counters(&totals->use, counted->counters);
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
		account->read_at_ns = tree->ctx->platform->monotonic_ns();
		set_counted(counted, totals, tree->ctx->platform->page_size);
		counted->has_ended &= !account->has_lost;
		counted->is_behind = account->has_lost;
	} else {
		counted->is_behind = true;
	}
	counted->processes = totals->processes;
	tree->peak_rss_bytes = rti_max(tree->peak_rss_bytes, counted->peak_rss_bytes);
	tree->unchanged_samples = 0;
	if (account->has_lost)
		tree->reasons |= RT_REASON_EVENTS_LOST;
}

static void release(struct rti_kernel_account *account, struct rti_discovery_state *d)
{
	if (!account->is_of_command) {
		rti_fork_tracker_forget_account(&d->fork_tracker);
		rti_account_close(account->programs);
	}
	account->programs = NULL;
}

void rti_kernel_account_sample(struct rti_tree *tree)
{
	struct rti_kernel_account *account = &tree->kernel_account;
	struct rti_account_counts counts;

	account->read_at_ns = 0;
	if (!account->programs)
		return;
	rti_account_count(account->programs, &counts);
	if (is_settled(&account->totals) && account->moves == counts.moves &&
	    tree->unchanged_samples > 0)
		return; /* nothing has run since the last read */
	account->moves = counts.moves;
	account->error = read_totals(account, tree->is_final);
	if (account->error == 0) {
		apply(tree);
		return;
	}
	account->has_counted = account->counted.is_behind = true;
	if (account->error != -ESTALE)
		return;
	/* The account belongs to the process that this one was forked from. What was counted until
	 * then stays a lower bound. */
	release(account, &tree->discovery);
	account->has_lost = true;
	tree->reasons |= RT_REASON_EVENTS_LOST;
}

void rti_kernel_account_free(struct rti_kernel_account *account, struct rti_discovery_state *d)
{
	release(account, d);
	*account = (struct rti_kernel_account){ 0 };
}
