/* SPDX-License-Identifier: MIT */
/* What an outcome claims, from hand-made evidence. */
#include "command/completeness.h"

#include <rtrack/rtrack.h>

#include "os/protocol/supervisor_protocol.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define UNKNOWN UINT64_MAX

/* A tree that used 1 s, all of it waited for. The cgroup around it used 3 s: other programs ran. */
static struct rti_completeness_known busy_system(void)
{
	return (struct rti_completeness_known){ .total_ns = 1000 * MS,
		                                .accounted_ns = 1000 * MS,
		                                .unproven_ns = UNKNOWN,
		                                .unwaited_ns = UNKNOWN,
		                                .threads = UNKNOWN,
		                                .growth_ns = 3000 * MS,
		                                .lag_ns = 20 * MS,
		                                .tick_ns = 4 * MS };
}

static struct rti_completeness_known with_proof(void)
{
	struct rti_completeness_known known = busy_system();

	known.unproven_ns = known.unwaited_ns = known.threads = 0;
	known.processes = 1;
	return known;
}

static struct rti_completeness_known in_cgroup(void)
{
	struct rti_completeness_known known = busy_system();

	known.is_covered_by_cgroup = true;
	return known;
}

START_TEST(busy_system_without_proof_is_unverified)
{
	struct rti_completeness_known known = busy_system();
	struct rti_completeness got = rti_completeness(&known);

	ck_assert_uint_eq(got.reasons, RT_REASON_UNVERIFIED);
	ck_assert(got.is_member_short);
	ck_assert_uint_eq(got.low_ns, 1000 * MS);
	ck_assert_uint_ge(got.high_ns, 3000 * MS);
}
END_TEST

START_TEST(program_alone_is_complete_whatever_else_runs)
{
	struct rti_completeness_known known = busy_system();
	struct rti_completeness got;

	known.is_alone = true;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons | got.member_reasons, 0);
	ck_assert(!got.is_member_short && !got.is_cpu_short);
	ck_assert_uint_eq(got.low_ns, 1000 * MS);
	ck_assert_uint_eq(got.high_ns, 1000 * MS);

	known.has_threads = true;
	ck_assert(rti_completeness(&known).is_cpu_short);

	known.reasons = RT_REASON_UNREADABLE;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, RT_REASON_UNREADABLE);
	ck_assert(got.is_member_short);
	ck_assert_uint_eq(got.high_ns, UNKNOWN);
}
END_TEST

START_TEST(quiet_system_without_proof_is_complete)
{
	struct rti_completeness_known known = busy_system();
	struct rti_completeness got;

	known.growth_ns = 1006 * MS;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, 0);
	ck_assert(!got.is_member_short);
	known.growth_ns = 1010 * MS; /* a hundredth may be missing */
	ck_assert_uint_eq(rti_completeness(&known).reasons, RT_REASON_UNVERIFIED);
}
END_TEST

/* By the cgroup around it, and by process events. */
START_TEST(short_command_is_complete_if_less_than_a_hundredth_may_be_missing)
{
	struct rti_completeness_known known = busy_system(), waited = with_proof();

	known.total_ns = known.accounted_ns = waited.total_ns = waited.accounted_ns = 60 * MS;
	known.growth_ns = 60 * MS + 6 * MS / 10;
	ck_assert_uint_eq(rti_completeness(&known).reasons, 0);
	known.growth_ns += MS / 10;
	ck_assert_uint_eq(rti_completeness(&known).reasons, RT_REASON_UNVERIFIED);

	waited.unproven_ns = 6 * MS / 10;
	ck_assert_uint_eq(rti_completeness(&waited).reasons, 0);
	waited.unproven_ns += MS / 10;
	ck_assert_uint_eq(rti_completeness(&waited).reasons, RT_REASON_UNVERIFIED);

	known.total_ns = known.accounted_ns = 300 * MS;
	known.growth_ns = 302 * MS + MS / 2;
	ck_assert_uint_eq(rti_completeness(&known).reasons, 0);
}
END_TEST

/* A tick of a process that was waited for is in the bound, and no process that may be missing. */
START_TEST(short_command_of_which_all_was_waited_for_is_complete)
{
	struct rti_completeness_known known = with_proof();
	struct rti_completeness got;

	known.total_ns = known.accounted_ns = MS;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, 0);
	ck_assert(!got.is_cpu_short);
	ck_assert_uint_eq(got.high_ns, 5 * MS);
}
END_TEST

/* Of a process with threads nothing proves that it was waited for. */
START_TEST(ignored_sigchld_is_no_reason_if_every_process_was_waited_for)
{
	struct rti_completeness_known known = with_proof();
	struct rti_completeness got;

	known.reasons = RT_REASON_SIGCHLD_IGNORED;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, 0);
	ck_assert(!got.is_member_short);

	known.unproven_ns = 1;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, RT_REASON_SIGCHLD_IGNORED);
	ck_assert(got.is_member_short);

	known.unproven_ns = 0;
	known.is_supervisor_lost = true;
	ck_assert_uint_ne(rti_completeness(&known).reasons & RT_REASON_SIGCHLD_IGNORED, 0);
}
END_TEST

/* E.g.: by ticks of 4 ms, a process that sleeps at each of them has used nothing. Other figures of
 * the members are as good as ever. */
START_TEST(cpu_time_by_ticks_is_bounded_by_the_cgroup_though_every_process_was_waited_for)
{
	struct rti_completeness_known known = with_proof();
	struct rti_completeness got = rti_completeness(&known);

	ck_assert_uint_lt(got.high_ns, 1100 * MS);
	known.reasons = RT_REASON_CLOCK_TICKS;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, RT_REASON_CLOCK_TICKS);
	ck_assert_uint_eq(got.member_reasons, 0);
	ck_assert(!got.is_member_short);
	ck_assert_uint_ge(got.high_ns, 3000 * MS);
}
END_TEST

/* Processes that run on may start others, which the proof does not have. */
START_TEST(ignored_sigchld_is_a_reason_as_long_as_processes_run_on)
{
	struct rti_completeness_known known = with_proof();

	known.reasons = RT_REASON_SIGCHLD_IGNORED;
	known.is_running = true;
	ck_assert_uint_eq(rti_completeness(&known).member_reasons, RT_REASON_SIGCHLD_IGNORED);
}
END_TEST

/* No other figure is in clock ticks. */
START_TEST(cpu_times_in_ticks_make_cpu_time_alone_incomplete)
{
	struct rti_completeness_known known = with_proof();
	struct rti_completeness got;

	known.reasons = RT_REASON_CLOCK_TICKS;
	known.is_running = true;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, RT_REASON_CLOCK_TICKS | RT_REASON_LEFT_RUNNING);
	ck_assert_uint_eq(got.member_reasons, 0);
	ck_assert(!got.is_member_short);
}
END_TEST

START_TEST(busy_system_with_proof_is_complete_to_one_tick)
{
	struct rti_completeness_known known = with_proof();
	struct rti_completeness got = rti_completeness(&known);

	ck_assert_uint_eq(got.reasons, 0);
	ck_assert(!got.is_member_short);
	ck_assert_uint_eq(got.high_ns, 1004 * MS);
}
END_TEST

START_TEST(threads_that_exited_widen_the_bounds_by_a_tick_each)
{
	struct rti_completeness_known known = with_proof();

	known.threads = 100;
	ck_assert_uint_eq(rti_completeness(&known).high_ns, 1404 * MS);
	known.threads = UINT64_MAX / 2;
	ck_assert_uint_ge(rti_completeness(&known).high_ns, 3000 * MS);
	ck_assert_uint_lt(rti_completeness(&known).high_ns, 4000 * MS);
}
END_TEST

START_TEST(cpu_time_is_short_where_threads_lost_a_thousandth)
{
	struct rti_completeness_known known = with_proof();

	known.threads = 24; /* 50 us each, of 1 ms and 0.2 ms */
	ck_assert(!rti_completeness(&known).is_cpu_short);
	known.total_ns--;
	ck_assert(rti_completeness(&known).is_cpu_short);
	known.threads = 25;
	ck_assert(rti_completeness(&known).is_cpu_short);
	known.threads = UINT64_MAX;
	known.has_threads = true;
	ck_assert(rti_completeness(&known).is_cpu_short);
}
END_TEST

START_TEST(many_processes_widen_the_bounds_by_a_hundredth_at_most)
{
	struct rti_completeness_known known = with_proof();

	known.processes = 1000000;
	ck_assert_uint_eq(rti_completeness(&known).high_ns, 1020 * MS);
}
END_TEST

START_TEST(short_unproven_processes_are_in_the_bounds_long_ones_unverified)
{
	struct rti_completeness_known known = with_proof();
	struct rti_completeness got;

	known.unproven_ns = 2 * MS;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, 0);
	ck_assert(!got.is_member_short);
	ck_assert_uint_eq(got.high_ns, 1006 * MS);
	known.unproven_ns = 6 * MS;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, 0);
	ck_assert(got.is_member_short); /* a process may have done I/O in that time */
	known.unproven_ns = 10 * MS;    /* a hundredth */
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, RT_REASON_UNVERIFIED);
	ck_assert_uint_ge(got.high_ns, 3000 * MS);
}
END_TEST

START_TEST(other_reasons_with_proof_leave_the_bound_of_the_cgroup)
{
	struct rti_completeness_known known = with_proof();
	struct rti_completeness got;

	known.reasons = RT_REASON_UNREADABLE;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, RT_REASON_UNREADABLE);
	ck_assert_uint_ge(got.high_ns, 3000 * MS);
	ck_assert(got.is_member_short);
}
END_TEST

START_TEST(own_cgroup_clears_the_reasons_for_cpu_time_alone)
{
	struct rti_completeness_known known = in_cgroup();
	struct rti_completeness got;

	known.reasons = RT_REASON_UNWAITED;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, 0);
	ck_assert_uint_eq(got.high_ns, 1000 * MS);
	ck_assert_uint_eq(got.member_reasons, RT_REASON_UNWAITED);
	ck_assert(got.is_member_short);
}
END_TEST

/* A difference of 1 ms + 0.2 % shows a process that no process waited for. */
START_TEST(cgroup_above_the_accounts_makes_members_short)
{
	struct rti_completeness_known known = in_cgroup();

	ck_assert(!rti_completeness(&known).is_member_short);
	known.accounted_ns = (1000 - 3) * MS;
	ck_assert(!rti_completeness(&known).is_member_short);
	known.accounted_ns--;
	ck_assert(rti_completeness(&known).is_member_short);
	ck_assert_uint_eq(rti_completeness(&known).reasons, 0);
	known.threads = 1; /* its tail */
	ck_assert(!rti_completeness(&known).is_member_short);
}
END_TEST

START_TEST(unwaited_exits_in_own_cgroup_make_members_short)
{
	struct rti_completeness_known known = in_cgroup();

	known.unproven_ns = 500 * MS; /* a process with threads */
	known.unwaited_ns = 0;
	known.threads = 0;
	ck_assert(!rti_completeness(&known).is_member_short);
	known.unwaited_ns = 4 * MS;
	ck_assert(rti_completeness(&known).is_member_short);
	ck_assert_uint_eq(rti_completeness(&known).reasons, 0);
}
END_TEST

/* 20 us for each thread that ended, against 0.2 ms and a thousandth of the total. */
START_TEST(departure_without_proof_has_a_reason_and_no_bound)
{
	struct rti_completeness_known known = in_cgroup();
	struct rti_completeness got;

	known.left_cgroup = RTI_LEFT_OURS;
	got = rti_completeness(&known);
	ck_assert_uint_ne(got.reasons & RT_REASON_LEFT_CGROUP, 0);
	ck_assert_uint_eq(got.high_ns, UNKNOWN);
	ck_assert(got.is_member_short);
	known.left_cgroup = RTI_LEFT_FOR_OURS;
	got = rti_completeness(&known);
	ck_assert_uint_ne(got.reasons & RT_REASON_LEFT_CGROUP, 0);
	ck_assert_uint_ge(got.high_ns, 3000 * MS);
	ck_assert_uint_lt(got.high_ns, 4000 * MS);
}
END_TEST

START_TEST(accounts_above_the_cgroup_are_a_departure)
{
	struct rti_completeness_known known = busy_system();
	struct rti_completeness got;

	known.is_above_cgroup = true;
	got = rti_completeness(&known);
	ck_assert_uint_ne(got.reasons & RT_REASON_LEFT_CGROUP, 0);
	ck_assert_uint_eq(got.high_ns, UNKNOWN);
}
END_TEST

START_TEST(departure_with_proof_is_complete)
{
	struct rti_completeness_known known = with_proof();
	struct rti_completeness got;

	known.is_covered_by_cgroup = true;
	known.left_cgroup = RTI_LEFT_OURS;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, 0);
	ck_assert_uint_eq(got.high_ns, 1004 * MS);
}
END_TEST

/* The proof says that all was waited for; the cgroup says that it was not. */
START_TEST(proof_that_the_cgroup_contradicts_does_not_count)
{
	struct rti_completeness_known known = with_proof();

	known.left_cgroup = RTI_LEFT_OURS;
	known.accounted_ns = 900 * MS;
	ck_assert_uint_ne(rti_completeness(&known).reasons & RT_REASON_LEFT_CGROUP, 0);
}
END_TEST

START_TEST(lost_supervisor_proves_nothing)
{
	struct rti_completeness_known known = with_proof();

	known.is_covered_by_cgroup = true;
	known.is_supervisor_lost = true;
	known.reasons = RT_REASON_UNWAITED;
	ck_assert_uint_eq(rti_completeness(&known).reasons,
	                  RT_REASON_UNWAITED | RT_REASON_UNVERIFIED);
}
END_TEST

START_TEST(members_left_running_leave_no_bound_in_own_cgroup)
{
	struct rti_completeness_known known = in_cgroup();
	struct rti_completeness got;

	known.is_running = true;
	got = rti_completeness(&known);
	ck_assert_uint_eq(got.reasons, RT_REASON_LEFT_RUNNING);
	ck_assert_uint_eq(got.high_ns, UNKNOWN);
	ck_assert(!got.is_member_short);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("completeness");
	TCase *tests = suite_case(suite, "completeness");

	tcase_add_test(tests, busy_system_without_proof_is_unverified);
	tcase_add_test(tests, program_alone_is_complete_whatever_else_runs);
	tcase_add_test(tests, quiet_system_without_proof_is_complete);
	tcase_add_test(tests, short_command_is_complete_if_less_than_a_hundredth_may_be_missing);
	tcase_add_test(tests, short_command_of_which_all_was_waited_for_is_complete);
	tcase_add_test(tests, ignored_sigchld_is_no_reason_if_every_process_was_waited_for);
	tcase_add_test(
	    tests, cpu_time_by_ticks_is_bounded_by_the_cgroup_though_every_process_was_waited_for);
	tcase_add_test(tests, ignored_sigchld_is_a_reason_as_long_as_processes_run_on);
	tcase_add_test(tests, cpu_times_in_ticks_make_cpu_time_alone_incomplete);
	tcase_add_test(tests, busy_system_with_proof_is_complete_to_one_tick);
	tcase_add_test(tests, threads_that_exited_widen_the_bounds_by_a_tick_each);
	tcase_add_test(tests, cpu_time_is_short_where_threads_lost_a_thousandth);
	tcase_add_test(tests, many_processes_widen_the_bounds_by_a_hundredth_at_most);
	tcase_add_test(tests, short_unproven_processes_are_in_the_bounds_long_ones_unverified);
	tcase_add_test(tests, other_reasons_with_proof_leave_the_bound_of_the_cgroup);
	tcase_add_test(tests, own_cgroup_clears_the_reasons_for_cpu_time_alone);
	tcase_add_test(tests, cgroup_above_the_accounts_makes_members_short);
	tcase_add_test(tests, unwaited_exits_in_own_cgroup_make_members_short);
	tcase_add_test(tests, departure_without_proof_has_a_reason_and_no_bound);
	tcase_add_test(tests, accounts_above_the_cgroup_are_a_departure);
	tcase_add_test(tests, departure_with_proof_is_complete);
	tcase_add_test(tests, proof_that_the_cgroup_contradicts_does_not_count);
	tcase_add_test(tests, lost_supervisor_proves_nothing);
	tcase_add_test(tests, members_left_running_leave_no_bound_in_own_cgroup);
	return suite_run(suite);
}
