/* SPDX-License-Identifier: MIT */
/* The ledger: whether the account of a cgroup covers those of the members. */
#include "suite.h"
#include "tree/pure/ledger.h"

#define MS UINT64_C(1000000)
#define LAG_NS (20 * MS)

/* Take a sample of one member that has used this much, in a cgroup that has used that much. */
static void take_sample(struct rti_ledger *ledger, uint64_t member_ns, uint64_t cgroup_ns)
{
	struct rti_account member = { .self = { member_ns, 0, 10 } };

	rti_ledger_open(ledger);
	rti_ledger_add(ledger, &member);
	rti_ledger_set_floor_from_cgroup(ledger, cgroup_ns, 0, LAG_NS);
	rti_ledger_close(ledger);
}

START_TEST(cgroup_that_used_as_much_as_its_members_covers_them)
{
	struct rti_ledger ledger = { 0 };

	take_sample(&ledger, 500 * MS + 700, 500 * MS);
	ck_assert(ledger.is_covered_by_cgroup);
	take_sample(&ledger, 500 * MS, 600 * MS);
	ck_assert(ledger.is_covered_by_cgroup);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 600 * MS);
}
END_TEST

/* E.g.: a command of 8 ms, of which 5 ms were used outside. */
START_TEST(cgroup_that_used_some_ms_less_than_its_members_does_not_cover_them)
{
	struct rti_ledger ledger = { 0 };

	take_sample(&ledger, 8 * MS, 3 * MS);
	ck_assert(!ledger.is_covered_by_cgroup);
	/* Its account may have lagged. */
	take_sample(&ledger, 8 * MS, 8 * MS);
	ck_assert(ledger.is_covered_by_cgroup);
}
END_TEST

/* A process that no other one waited for makes up in the cgroup for what is missing there. */
START_TEST(cgroup_that_a_process_has_left_never_covers_its_members_again)
{
	struct rti_ledger ledger = { 0 };

	take_sample(&ledger, 500 * MS, 100 * MS);
	ck_assert(!ledger.is_covered_by_cgroup);
	take_sample(&ledger, 500 * MS, 700 * MS);
	ck_assert(!ledger.is_covered_by_cgroup);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 700 * MS);
}
END_TEST

/* What was used between the sample before and the reset is lost. */
START_TEST(cgroup_with_an_account_that_was_set_back_goes_on_and_covers_its_members_no_more)
{
	struct rti_ledger ledger = { 0 };

	take_sample(&ledger, 100 * MS, 500 * MS);
	take_sample(&ledger, 100 * MS, 500 * MS - 1000);
	ck_assert(ledger.is_covered_by_cgroup);
	for (uint64_t back = 1; back <= 2; back++) {
		take_sample(&ledger, 100 * MS, 200 * MS);
		ck_assert_uint_eq(ledger.total[RTI_CPU_USER],
		                  500 * MS - 1000 + (back * 300 - 100) * MS);
		take_sample(&ledger, 100 * MS, 300 * MS);
		ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 500 * MS - 1000 + back * 300 * MS);
		ck_assert(ledger.is_account_reset);
		ck_assert(!ledger.is_covered_by_cgroup);
	}
	/* Nothing says that a process has left it. */
	take_sample(&ledger, 5000 * MS, 400 * MS);
	ck_assert(!ledger.has_left_cgroup);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ledger_cgroup");
	TCase *cases = suite_case(suite, "cases");

	tcase_add_test(cases, cgroup_that_used_as_much_as_its_members_covers_them);
	tcase_add_test(cases, cgroup_that_used_some_ms_less_than_its_members_does_not_cover_them);
	tcase_add_test(cases, cgroup_that_a_process_has_left_never_covers_its_members_again);
	tcase_add_test(
	    cases, cgroup_with_an_account_that_was_set_back_goes_on_and_covers_its_members_no_more);
	return suite_run(suite);
}
