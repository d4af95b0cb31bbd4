/* SPDX-License-Identifier: MIT */
/* The end of an account by BPF programs: the test takes the place of the programs, and of the
 * kernel's naps. */
#include "command/bpf_account.h"

#include <time.h>

#include "suite.h"

/* Of looks with the number `first` and later. */
static struct rti_account_totals totals;
static unsigned first, looks;
static uint64_t napped_ns;

int __wrap_rti_account_read(struct rti_tree_account *account, struct rti_account_totals *out);
int __wrap_nanosleep(const struct timespec *nap, struct timespec *left);

int __wrap_rti_account_read(struct rti_tree_account *account, struct rti_account_totals *out)
{
	(void)account;
	*out = ++looks < first ? (struct rti_account_totals){ .running = totals.running } : totals;
	return 0;
}

int __wrap_nanosleep(const struct timespec *nap, struct timespec *left)
{
	(void)left;
	napped_ns += (uint64_t)nap->tv_nsec;
	return 0;
}

/* A thread that has ended leaves its CPU a moment later, and needs one for that. */
START_TEST(totals_are_read_again_after_a_nap_until_they_are_whole)
{
	struct rti_command_account account = { 0 };

	totals = (struct rti_account_totals){ .is_whole = true };
	first = 4;
	rti_command_account_settle(&account);

	ck_assert(account.totals.is_whole);
	ck_assert_uint_eq(looks, 4);
	ck_assert_uint_eq(napped_ns, 3 * 200000);
}
END_TEST

/* E.g.: a process that was left running. */
START_TEST(totals_that_do_not_become_whole_are_read_for_a_while)
{
	struct rti_command_account account = { 0 };
	const uint64_t running = _i == 0 ? 0 : 1;

	totals = (struct rti_account_totals){ .running = running };
	rti_command_account_settle(&account);

	ck_assert(!account.totals.is_whole);
	ck_assert_uint_eq(napped_ns, (running ? 50 : 10000) * UINT64_C(200000));
}
END_TEST

START_TEST(totals_that_lack_what_was_missed_are_not_read_again)
{
	struct rti_command_account account = { 0 };

	totals = (struct rti_account_totals){ .begun = 3, .freed = 2, .missed = 1 };
	rti_command_account_settle(&account);

	ck_assert_uint_eq(looks, 1);
	ck_assert_uint_eq(napped_ns, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bpf_account");
	TCase *tcase = suite_case(suite, "the end");

	tcase_add_test(tcase, totals_are_read_again_after_a_nap_until_they_are_whole);
	tcase_add_loop_test(tcase, totals_that_do_not_become_whole_are_read_for_a_while, 0, 2);
	tcase_add_test(tcase, totals_that_lack_what_was_missed_are_not_read_again);
	return suite_run(suite);
}
