/* SPDX-License-Identifier: MIT */
/* The table of traced threads. */
#include "tracer/tracees.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "suite.h"

#define CHAINS 4096 /* as in tracees.c: threads that differ by it share a chain */
#define MANY 20000

START_TEST(thread_is_added_once_and_starts_with_nothing)
{
	struct rtt_tracee *tracee = rtt_tracees_get(42);

	ck_assert_ptr_nonnull(tracee);
	ck_assert_int_eq(tracee->tid, 42);
	ck_assert_int_eq(tracee->stat_fd, -1);
	ck_assert_int_eq(tracee->pidfd, -1);
	ck_assert_uint_eq(tracee->call.call, 0);
	ck_assert(!tracee->constants.is_known);
	ck_assert_ptr_eq(rtt_tracees_get(42), tracee);
	ck_assert_uint_eq(rtt_tracees_count(), 1);
}
END_TEST

START_TEST(threads_of_one_chain_are_distinct)
{
	struct rtt_tracee *at[3];

	for (int i = 0; i < 3; i++)
		at[i] = rtt_tracees_get(7 + i * CHAINS);
	rtt_tracees_remove(7 + CHAINS);
	ck_assert_uint_eq(rtt_tracees_count(), 2);
	ck_assert_ptr_eq(rtt_tracees_get(7), at[0]);
	ck_assert_ptr_eq(rtt_tracees_get(7 + 2 * CHAINS), at[2]);
	ck_assert_uint_eq(rtt_tracees_count(), 2);
	rtt_tracees_remove(7);
	rtt_tracees_remove(7 + 2 * CHAINS);
	ck_assert_uint_eq(rtt_tracees_count(), 0);
}
END_TEST

START_TEST(thread_that_is_unknown_is_not_removed)
{
	rtt_tracees_get(7);
	rtt_tracees_remove(8);
	rtt_tracees_remove(7 + CHAINS);
	ck_assert_uint_eq(rtt_tracees_count(), 1);
}
END_TEST

START_TEST(number_that_is_used_again_is_a_new_thread)
{
	struct rtt_tracee *tracee = rtt_tracees_get(42);

	tracee->call.call = 1;
	tracee->constants.is_known = true;
	rtt_tracees_remove(42);
	tracee = rtt_tracees_get(42);
	ck_assert_uint_eq(tracee->call.call, 0);
	ck_assert(!tracee->constants.is_known);
}
END_TEST

START_TEST(removed_thread_leaves_no_descriptor_open)
{
	struct rtt_tracee *tracee = rtt_tracees_get(42);
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	tracee->stat_fd = fds[0];
	tracee->pidfd = fds[1];
	rtt_tracees_remove(42);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(fcntl(fds[i], F_GETFD), -1);
}
END_TEST

/* A tracer may have been started without standard input. */
START_TEST(removed_thread_leaves_descriptor_0_closed)
{
	struct rtt_tracee *tracee = rtt_tracees_get(42);

	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
	*(_i ? &tracee->stat_fd : &tracee->pidfd) = STDIN_FILENO;
	rtt_tracees_remove(42);
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
}
END_TEST

START_TEST(many_threads_are_all_found)
{
	for (int32_t tid = 1; tid <= MANY; tid++)
		ck_assert_int_eq(rtt_tracees_get(tid * 3)->tid, tid * 3);
	ck_assert_uint_eq(rtt_tracees_count(), MANY);
	for (int32_t tid = 1; tid <= MANY; tid++)
		rtt_tracees_remove(tid * 3);
	ck_assert_uint_eq(rtt_tracees_count(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracees");
	TCase *tests = suite_case(suite, "tracees");

	tcase_add_test(tests, thread_is_added_once_and_starts_with_nothing);
	tcase_add_test(tests, threads_of_one_chain_are_distinct);
	tcase_add_test(tests, thread_that_is_unknown_is_not_removed);
	tcase_add_test(tests, number_that_is_used_again_is_a_new_thread);
	tcase_add_test(tests, removed_thread_leaves_no_descriptor_open);
	tcase_add_loop_test(tests, removed_thread_leaves_descriptor_0_closed, 0, 2);
	tcase_add_test(tests, many_threads_are_all_found);
	return suite_run(suite);
}
