/* SPDX-License-Identifier: MIT */
/* The account of a tree with threads that are freed unseen: sched_process_free calls no program. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counted_work.h"
#include "refusals.h"
#include "suite.h"

#define TRIES 20
#define FREED_AFTER_US 50000 /* an RCU grace period; if it takes longer, the try shows nothing */
#define BURN_NS UINT64_C(2000000)

static void *do_nothing(void *unused)
{
	return unused;
}

/* Threads that have ended are looked at when others begin and end. Those of a supervisor are not
 * counted. */
static void secure_all(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
			pthread_join(thread, NULL);
}

static void burn(void)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((uint64_t)now.tv_nsec < BURN_NS && now.tv_sec == 0);
}

/* Until the thread group leader is a zombie. */
static void wait_for_leader(void)
{
	char state = 0, path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	while (state != 'Z') {
		FILE *stat = fopen(path, "re");

		if (!stat || fscanf(stat, "%*d %*s %c", &state) != 1)
			_exit(98);
		fclose(stat);
	}
}

static void *end_first(void *unused)
{
	(void)unused;
	wait_for_leader();
	burn();
	return NULL;
}

static void *end_last(void *other)
{
	pthread_join(*(pthread_t *)other, NULL);
	burn();
	usleep(FREED_AFTER_US);
	_exit(7);
}

/* Of three threads the leader ends first, with 0. The second one is freed before the third ends. */
static void end_one_by_one(void)
{
	static pthread_t first, last;

	if (pthread_create(&first, NULL, end_first, NULL) == 0 &&
	    pthread_create(&last, NULL, end_last, &first) == 0)
		syscall(SYS_exit, 0);
}

static void check_record(const struct rti_account_record *record, const struct waited *waited,
                         const struct rti_account_totals *totals)
{
	const struct rusage *use = &waited->use;

	ck_assert_uint_eq(totals->begun, 3);
	ck_assert_uint_ge(totals->use.cpu_ns, 2 * BURN_NS);
	ck_assert_uint_eq(record->cpu_ns, totals->use.cpu_ns);
	ck_assert_int_eq((int)record->status, waited->status);
	ck_assert_uint_eq(record->flags & RTI_ROW_LACKS_SUMS, 0);
	ck_assert_uint_eq(record->minflt, (uint64_t)use->ru_minflt);
	ck_assert_uint_eq(record->voluntary_switches, (uint64_t)use->ru_nvcsw);
	ck_assert_uint_eq(record->involuntary_switches, (uint64_t)use->ru_nivcsw);
	ck_assert_uint_eq(totals->use.voluntary_switches, (uint64_t)use->ru_nvcsw);
}

static const struct {
	bool misses_frees, is_late; /* is_late: all are freed before the totals are read */
} cases[] = { { false, false }, { true, false }, { true, true } };

START_TEST(threads_that_end_after_their_leader_are_in_the_record)
{
	const struct rti_account_request request = { .wants_records = true,
		                                     .misses_frees = cases[_i].misses_frees };

	for (int i = 0; i < TRIES; i++) {
		struct rti_tree_account *account = open_account(&request);
		struct waited waited = run_accounted_with(account, end_one_by_one, secure_all);
		struct rti_account_record records[RECORDS_MAX];
		struct rti_account_totals totals;

		ck_assert_int_eq(waited.status, 7 << 8);
		if (cases[_i].is_late)
			usleep(FREED_AFTER_US);
		if (!read_until_whole(account, &totals, 0)) {
			suite_skip_test("a thread was freed before it was secured");
			rti_account_close(account);
			return;
		}
		ck_assert_uint_eq(take_records(account, records), 1);
		check_record(&records[0], &waited, &totals);
		rti_account_close(account);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("missed_frees");
	TCase *records = suite_case(suite, "records");

	if (!IS_BUILT)
		return suite_skip("the BPF plug-in was not built");
	if (!has_bpf_accounting())
		return suite_skip("BPF programs cannot account for processes here");
	tcase_add_loop_test(records, threads_that_end_after_their_leader_are_in_the_record, 0,
	                    (int)(sizeof(cases) / sizeof(cases[0])));
	return suite_run(suite);
}
