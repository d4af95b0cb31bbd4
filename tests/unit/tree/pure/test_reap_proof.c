/* SPDX-License-Identifier: MIT */
/* For how long processes have lived of which nothing proves that they were waited for. */
#include "tree/pure/reap_proof.h"

#include "suite.h"

#define SHELL 10 /* a member */
#define CHILD 11
#define GRANDCHILD 12
#define MANY 1000
#define STRIDE 64 /* pids that are so far apart begin at the same slot of the table */

static struct rti_reap_proof proof;

static void set_up(void)
{
	proof = (struct rti_reap_proof){ 0 };
}

static void tear_down(void)
{
	rti_reap_proof_free(&proof);
}

/* A process that lives for 20 ns and ends at this time. */
static void live_until(int32_t pid, int32_t parent, uint64_t end_ns)
{
	rti_reap_proof_fork(&proof, pid, end_ns - 20);
	rti_reap_proof_exit(&proof, pid, parent, end_ns);
}

START_TEST(child_of_a_parent_that_runs_at_the_look_is_proven)
{
	live_until(CHILD, SHELL, 100);
	rti_reap_proof_end_look(&proof, 110);
	rti_reap_proof_exit(&proof, SHELL, 1, 120);

	ck_assert_uint_eq(proof.unproven_ns, 0);
}
END_TEST

START_TEST(child_of_a_parent_that_ends_before_the_look_is_not)
{
	live_until(CHILD, SHELL, 100);
	rti_reap_proof_exit(&proof, SHELL, 1, 105);
	rti_reap_proof_end_look(&proof, 110);

	ck_assert_uint_eq(proof.unproven_ns, 20);
}
END_TEST

/* The event came too late for the look. */
START_TEST(child_of_a_parent_that_had_ended_by_the_look_is_not)
{
	live_until(CHILD, SHELL, 100);
	rti_reap_proof_end_look(&proof, 110);
	rti_reap_proof_exit(&proof, SHELL, 1, 105);
	rti_reap_proof_end_look(&proof, 120);

	ck_assert_uint_eq(proof.unproven_ns, 20);
}
END_TEST

START_TEST(process_without_a_parent_to_wait_for_it_is_not_proven)
{
	live_until(CHILD, 0, 100);

	ck_assert_uint_eq(proof.unproven_ns, 20);
}
END_TEST

START_TEST(times_of_a_branch_that_ends_at_once_add_up)
{
	rti_reap_proof_fork(&proof, CHILD, 50);
	live_until(GRANDCHILD, CHILD, 100);
	rti_reap_proof_exit(&proof, CHILD, SHELL, 110);
	ck_assert_uint_eq(proof.unproven_ns, 20);
	rti_reap_proof_exit(&proof, SHELL, 1, 120);

	ck_assert_uint_eq(proof.unproven_ns, 80);
}
END_TEST

/* The ledger knows where the usage of members is. */
START_TEST(process_that_a_look_has_found_counts_for_nothing)
{
	rti_reap_proof_fork(&proof, CHILD, 50);
	rti_reap_proof_see(&proof, CHILD);
	rti_reap_proof_end_look(&proof, 60);
	rti_reap_proof_exit(&proof, CHILD, 0, 100);

	ck_assert_uint_eq(proof.unproven_ns, 0);
	ck_assert_uint_eq(proof.count, 0);
}
END_TEST

/* It had ended when the look came to it, and its exit is reported later. */
START_TEST(process_that_a_look_has_missed_counts_once_it_ends)
{
	rti_reap_proof_fork(&proof, CHILD, 50);
	rti_reap_proof_end_look(&proof, 60);
	rti_reap_proof_exit(&proof, CHILD, 0, 55);

	ck_assert_uint_eq(proof.unproven_ns, 5);
}
END_TEST

START_TEST(process_that_reuses_a_pid_is_another_one)
{
	live_until(CHILD, SHELL, 100);
	live_until(CHILD, 0, 200);

	ck_assert_uint_eq(proof.unproven_ns, 20);
}
END_TEST

START_TEST(children_of_one_parent_add_up)
{
	live_until(CHILD, SHELL, 100);
	live_until(GRANDCHILD, SHELL, 101);
	rti_reap_proof_exit(&proof, SHELL, 1, 105);

	ck_assert_uint_eq(proof.unproven_ns, 40);
}
END_TEST

START_TEST(end_that_is_reported_twice_counts_once)
{
	live_until(CHILD, SHELL, 100);
	rti_reap_proof_exit(&proof, SHELL, 1, 105);
	rti_reap_proof_exit(&proof, SHELL, 1, 106);

	ck_assert_uint_eq(proof.unproven_ns, 20);
}
END_TEST

/* Clocks of two CPUs may differ by a little. */
START_TEST(process_that_has_lived_for_no_time_counts)
{
	for (uint64_t end_ns = 100; end_ns >= 90; end_ns -= 10) {
		rti_reap_proof_fork(&proof, CHILD, 100);
		rti_reap_proof_exit(&proof, CHILD, 0, end_ns);
	}

	ck_assert_uint_eq(proof.unproven_ns, 2);
}
END_TEST

START_TEST(child_of_a_parent_that_ends_in_the_moment_of_the_look_is_not_proven)
{
	live_until(CHILD, SHELL, 100);
	rti_reap_proof_end_look(&proof, 110);
	rti_reap_proof_exit(&proof, SHELL, 1, 110);

	ck_assert_uint_eq(proof.unproven_ns, 20);
}
END_TEST

START_TEST(second_look_proves_what_was_before_the_first)
{
	live_until(CHILD, SHELL, 100);
	rti_reap_proof_end_look(&proof, 110);
	live_until(GRANDCHILD, SHELL, 150);
	rti_reap_proof_end_look(&proof, 160);
	rti_reap_proof_exit(&proof, SHELL, 1, 155);

	ck_assert_uint_eq(proof.unproven_ns, 20);
}
END_TEST

START_TEST(process_is_found_after_one_before_it_in_the_table_has_gone)
{
	rti_reap_proof_fork(&proof, CHILD, 50);
	rti_reap_proof_fork(&proof, CHILD + STRIDE, 50);
	rti_reap_proof_see(&proof, CHILD);
	rti_reap_proof_end_look(&proof, 60);
	rti_reap_proof_exit(&proof, CHILD + STRIDE, 0, 70);

	ck_assert_uint_eq(proof.unproven_ns, 20);
}
END_TEST

START_TEST(process_that_has_gone_is_not_found_again)
{
	rti_reap_proof_fork(&proof, CHILD, 50);
	rti_reap_proof_end_look(&proof, 60);
	rti_reap_proof_exit(&proof, CHILD, 0, 70);
	rti_reap_proof_end_look(&proof, 80);
	rti_reap_proof_fork(&proof, GRANDCHILD, 90);
	rti_reap_proof_exit(&proof, CHILD, 0, 100);

	ck_assert_uint_eq(proof.unproven_ns, 20);
}
END_TEST

START_TEST(nothing_is_proven_any_more_once_memory_ran_out)
{
	proof.unproven_ns = UINT64_MAX;
	live_until(CHILD, 0, 100);

	ck_assert_uint_eq(proof.unproven_ns, UINT64_MAX);
}
END_TEST

START_TEST(many_processes_are_distinguished)
{
	for (int i = 0; i < MANY; i++)
		rti_reap_proof_fork(&proof, 100 + STRIDE * i, 1000);
	for (int i = 0; i < MANY; i += 2)
		rti_reap_proof_exit(&proof, 100 + STRIDE * i, 0, 1001);
	ck_assert_uint_eq(proof.unproven_ns, MANY / 2);
	rti_reap_proof_end_look(&proof, 2000);
	ck_assert_uint_eq(proof.count, MANY / 2);
	for (int i = 1; i < MANY; i += 2)
		rti_reap_proof_exit(&proof, 100 + STRIDE * i, 0, 1001);

	ck_assert_uint_eq(proof.unproven_ns, MANY);
	rti_reap_proof_end_look(&proof, 3000);
	ck_assert_uint_eq(proof.count, 0);
}
END_TEST

START_TEST(table_shrinks_after_a_storm_of_forks)
{
	for (int i = 0; i < MANY; i++)
		live_until(100 + i, SHELL, 1000);
	rti_reap_proof_fork(&proof, CHILD, 1000);
	ck_assert_uint_gt(proof.capacity, MANY);
	for (uint64_t look = 0; look < 10; look++)
		rti_reap_proof_end_look(&proof, 2000 + look);

	ck_assert_uint_le(proof.capacity, 64);
	ck_assert_uint_eq(proof.count, 1);
	rti_reap_proof_exit(&proof, CHILD, 0, 3000);
	ck_assert_uint_eq(proof.unproven_ns, 2000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree/pure/reap_proof");
	TCase *proofs = suite_case(suite, "proofs");

	tcase_add_checked_fixture(proofs, set_up, tear_down);
	tcase_add_test(proofs, child_of_a_parent_that_runs_at_the_look_is_proven);
	tcase_add_test(proofs, child_of_a_parent_that_ends_before_the_look_is_not);
	tcase_add_test(proofs, child_of_a_parent_that_had_ended_by_the_look_is_not);
	tcase_add_test(proofs, process_without_a_parent_to_wait_for_it_is_not_proven);
	tcase_add_test(proofs, times_of_a_branch_that_ends_at_once_add_up);
	tcase_add_test(proofs, process_that_a_look_has_found_counts_for_nothing);
	tcase_add_test(proofs, process_that_a_look_has_missed_counts_once_it_ends);
	tcase_add_test(proofs, process_that_reuses_a_pid_is_another_one);
	tcase_add_test(proofs, children_of_one_parent_add_up);
	tcase_add_test(proofs, end_that_is_reported_twice_counts_once);
	tcase_add_test(proofs, process_that_has_lived_for_no_time_counts);
	tcase_add_test(proofs, child_of_a_parent_that_ends_in_the_moment_of_the_look_is_not_proven);
	tcase_add_test(proofs, second_look_proves_what_was_before_the_first);
	tcase_add_test(proofs, process_is_found_after_one_before_it_in_the_table_has_gone);
	tcase_add_test(proofs, process_that_has_gone_is_not_found_again);
	tcase_add_test(proofs, nothing_is_proven_any_more_once_memory_ran_out);
	tcase_add_test(proofs, many_processes_are_distinguished);
	tcase_add_test(proofs, table_shrinks_after_a_storm_of_forks);
	return suite_run(suite);
}
