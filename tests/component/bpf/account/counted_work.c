/* SPDX-License-Identifier: MIT */
#include "counted_work.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#define LOOKS 500000     /* 100 s */
#define LOST_AFTER 50000 /* 10 s without the last few threads */
#define NAP_US 200

struct rti_tree_account *open_account(const struct rti_account_request *request)
{
	struct rti_tree_account *account;

	ck_assert_int_eq(rti_account_open(&account, request), 0);
	return account;
}

/* The supervisor. */
static void supervise(struct waited *waited, void (*work)(void), void (*before_wait)(void))
{
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (pid == 0) {
		work();
		_exit(3);
	}
	if (before_wait) {
		waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
		before_wait();
	}
	wait4(pid, &waited->status, 0, &waited->use);
	while (wait(NULL) > 0) /* orphans */
		;
}

struct waited run_accounted_with(struct rti_tree_account *account, void (*work)(void),
                                 void (*before_wait)(void))
{
	struct waited *waited = mmap(NULL, sizeof(*waited), PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0),
		      copy;
	pid_t pid;

	ck_assert_ptr_ne(waited, MAP_FAILED);
	ck_assert_int_eq(rti_account_arm(account, true), 0);
	pid = fork();
	if (pid == 0) {
		supervise(waited, work, before_wait);
		_exit(0);
	}
	ck_assert_int_eq(rti_account_arm(account, false), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	copy = *waited;
	munmap(waited, sizeof(*waited));
	return copy;
}

struct waited run_accounted(struct rti_tree_account *account, void (*work)(void))
{
	return run_accounted_with(account, work, NULL);
}

static bool lacks_thread(const struct rti_account_totals *totals, int looks, unsigned lost_max)
{
	uint64_t missing = totals->begun - totals->freed - totals->found;

	if (totals->running)
		return false;
	return rti_account_lacks_missed(totals) ||
	       (missing > 0 && missing <= lost_max && looks >= LOST_AFTER);
}

bool read_until_whole(struct rti_tree_account *account, struct rti_account_totals *totals,
                      unsigned lost_max)
{
	for (int looks = 1; looks <= LOOKS; looks++) {
		ck_assert_int_eq(rti_account_read(account, totals), 0);
		if (totals->is_whole && !totals->running)
			return true;
		if (lacks_thread(totals, looks, lost_max))
			return false;
		usleep(NAP_US);
	}
	ck_abort_msg("begun %lu, freed %lu, found %lu, running %lu", (unsigned long)totals->begun,
	             (unsigned long)totals->freed, (unsigned long)totals->found,
	             (unsigned long)totals->running);
}

struct taken {
	struct rti_account_record *records;
	size_t count;
};

static void take_record(void *arg, const struct rti_account_record *record)
{
	struct taken *taken = arg;

	ck_assert_uint_lt(taken->count, RECORDS_MAX);
	taken->records[taken->count++] = *record;
}

static void take_text(void *arg, const struct rti_account_text *text)
{
	(void)arg;
	ck_assert_uint_eq(text->kind, RTI_ACCOUNT_TEXT);
}

size_t take_records(struct rti_tree_account *account, struct rti_account_record *records)
{
	struct taken taken = { records, 0 };
	const struct rti_account_taker taker = { &taken, take_record, take_text, NULL };

	ck_assert_int_eq(rti_account_take(account, &taker), 0);
	return taken.count;
}
