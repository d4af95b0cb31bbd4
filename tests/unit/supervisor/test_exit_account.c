/* SPDX-License-Identifier: MIT */
/* What exit accounts add to the record of a process. */
#include <stdlib.h>

#include "suite.h"
#include "supervisor/exit_account.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define NOW_NS (100 * S)

static struct rti_process_record make_record(void)
{
	return (struct rti_process_record){ .pid = 10, .ppid = 9, .start_ns = 90 * S };
}

static struct rti_task_exit make_exit(bool is_last)
{
	return (struct rti_task_exit){ .pid = 10,
		                       .tid = is_last ? 10 : 11,
		                       .is_last = is_last,
		                       .lifetime_ns = 10 * S,
		                       .cpu_ns = 4 * MS,
		                       .user_us = 3,
		                       .system_us = 1,
		                       .peak_rss_bytes = 8192,
		                       .comm = "name",
		                       .read_bytes = 1024,
		                       .write_bytes = 2048 };
}

START_TEST(accounts_of_all_threads_add_up)
{
	struct rti_process_record record = make_record();
	struct rti_task_exit thread = make_exit(false), last = make_exit(true);

	thread.peak_rss_bytes = 4096;
	rts_exit_account_add(&record, &thread, false, NOW_NS);
	ck_assert_uint_eq(record.flags, 0); /* it still runs */
	ck_assert_str_eq(record.comm, "");  /* the name of another thread */
	rts_exit_account_add(&record, &last, false, NOW_NS);
	ck_assert_uint_eq(record.flags, RTI_RECORD_ACCOUNTED | RTI_RECORD_HAS_CPU |
	                                    RTI_RECORD_HAS_PEAK | RTI_RECORD_HAS_OWN_IO);
	ck_assert_str_eq(record.comm, "name");
	ck_assert_uint_eq(record.cpu_user_ns, 6 * MS);
	ck_assert_uint_eq(record.cpu_system_ns, 2 * MS);
	ck_assert_uint_eq(record.peak_rss_bytes, 8192);
	ck_assert_uint_eq(record.own_read_bytes, 2048);
	ck_assert_uint_eq(record.own_write_bytes, 4096);
}
END_TEST

/* The kernel may send the account of another thread after that of the last one. */
START_TEST(account_after_the_last_is_added)
{
	struct rti_process_record record = make_record();
	const struct rti_task_exit thread = make_exit(false), last = make_exit(true);

	rts_exit_account_add(&record, &last, false, NOW_NS);
	rts_exit_account_add(&record, &thread, false, NOW_NS);
	ck_assert_uint_eq(record.own_read_bytes, 2048);
	ck_assert_uint_eq(record.cpu_user_ns + record.cpu_system_ns, 8 * MS);
}
END_TEST

START_TEST(final_cpu_time_is_kept)
{
	struct rti_process_record record = make_record();
	const struct rti_task_exit last = make_exit(true);

	record.flags = RTI_RECORD_FINAL;
	record.comm[0] = 'a';
	record.cpu_user_ns = 7 * MS;
	rts_exit_account_add(&record, &last, false, NOW_NS);
	rts_exit_account_raise_cpu(&record, 9 * MS, 0, NOW_NS);
	ck_assert_uint_eq(record.cpu_user_ns, 7 * MS);
	ck_assert_uint_eq(record.cpu_system_ns, 0);
	ck_assert_uint_eq(record.cpu_read_ns, 0);
	ck_assert_str_eq(record.comm, "a");
	ck_assert(record.flags & RTI_RECORD_HAS_PEAK);
}
END_TEST

START_TEST(cpu_clock_replaces_the_accounts_unless_it_is_lower)
{
	struct rti_process_record record = make_record();
	const struct rti_task_exit thread = make_exit(false), last = make_exit(true);

	rts_exit_account_add(&record, &last, false, NOW_NS);
	rts_exit_account_raise_cpu(&record, 1 * MS, 1 * MS, NOW_NS);
	ck_assert_uint_eq(record.cpu_user_ns + record.cpu_system_ns, 4 * MS);
	ck_assert_uint_eq(record.cpu_read_ns, 0);
	rts_exit_account_raise_cpu(&record, 5 * MS, 1 * MS, NOW_NS);
	ck_assert_uint_eq(record.cpu_user_ns, 5 * MS);
	ck_assert_uint_eq(record.cpu_system_ns, 1 * MS);
	ck_assert_uint_eq(record.cpu_read_ns, NOW_NS);
	rts_exit_account_add(&record, &thread, false, NOW_NS); /* is in the clock already */
	ck_assert_uint_eq(record.cpu_user_ns, 5 * MS);
}
END_TEST

START_TEST(after_a_loss_the_peak_is_a_lower_bound_and_io_is_unknown)
{
	struct rti_process_record record = make_record();
	const struct rti_task_exit last = make_exit(true);

	rts_exit_account_add(&record, &last, true, NOW_NS);
	ck_assert_uint_eq(record.flags, RTI_RECORD_ACCOUNTED | RTI_RECORD_HAS_CPU |
	                                    RTI_RECORD_HAS_PEAK | RTI_RECORD_PEAK_LOW);
}
END_TEST

START_TEST(account_of_an_older_process_with_the_pid_is_left_out)
{
	struct rti_process_record older = make_record(), record = make_record();
	struct rti_task_exit of_older = make_exit(true), last = make_exit(true);

	of_older.cpu_ns = 9 * S;
	rts_exit_account_follow(&record, &older);
	rts_exit_account_add(&record, &of_older, false, NOW_NS);
	ck_assert_uint_eq(record.cpu_user_ns + record.cpu_system_ns + record.own_read_bytes, 0);
	rts_exit_account_add(&record, &last, false, NOW_NS);
	ck_assert_uint_eq(record.cpu_user_ns + record.cpu_system_ns, 4 * MS);
	ck_assert(record.flags & RTI_RECORD_ACCOUNTED);

	older.flags = RTI_RECORD_ACCOUNTED;
	record = make_record();
	rts_exit_account_follow(&record, &older);
	rts_exit_account_add(&record, &last, false, NOW_NS);
	ck_assert_uint_eq(record.cpu_user_ns + record.cpu_system_ns, 4 * MS);
}
END_TEST

/* A process cannot have lived for longer than since it was forked. */
START_TEST(account_of_a_foreign_process_with_the_pid_is_refused)
{
	struct rti_process_record record = make_record();
	const struct rti_task_exit thread = make_exit(false), last = make_exit(true);
	struct rti_task_exit foreign = make_exit(true);

	foreign.lifetime_ns = 50 * S;
	rts_exit_account_add(&record, &thread, false, NOW_NS);
	rts_exit_account_add(&record, &foreign, false, NOW_NS);
	rts_exit_account_add(&record, &last, false, NOW_NS);
	ck_assert_uint_eq(record.flags, RTI_RECORD_MIXED);
	ck_assert_uint_eq(record.cpu_user_ns + record.cpu_system_ns + record.own_read_bytes +
	                      record.own_write_bytes + record.peak_rss_bytes,
	                  0);
}
END_TEST

/* Its CPU time was read from the zombie, after which no account adds to it. */
START_TEST(account_of_a_foreign_process_leaves_the_final_cpu_time)
{
	struct rti_process_record record = make_record();
	struct rti_task_exit foreign = make_exit(true);

	record.flags = RTI_RECORD_FINAL;
	record.cpu_user_ns = 7 * MS;
	record.own_read_bytes = 5;
	foreign.lifetime_ns = 50 * S;
	rts_exit_account_add(&record, &foreign, false, NOW_NS);
	ck_assert_uint_eq(record.flags, RTI_RECORD_FINAL | RTI_RECORD_MIXED);
	ck_assert_uint_eq(record.cpu_user_ns, 7 * MS);
	ck_assert_uint_eq(record.own_read_bytes, 0);
}
END_TEST

/* Events of two CPUs may come in the wrong order. */
START_TEST(account_before_the_start_of_its_process_is_taken)
{
	struct rti_process_record record = make_record();
	struct rti_task_exit last = make_exit(true);

	last.lifetime_ns = 50 * S;
	rts_exit_account_add(&record, &last, false, record.start_ns - 1);
	ck_assert_uint_eq(record.flags & RTI_RECORD_MIXED, 0);
	ck_assert_uint_eq(record.cpu_user_ns + record.cpu_system_ns, 4 * MS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exit_account");
	TCase *sums = suite_case(suite, "sums"), *pids = suite_case(suite, "pids");

	tcase_add_test(sums, accounts_of_all_threads_add_up);
	tcase_add_test(sums, account_after_the_last_is_added);
	tcase_add_test(sums, final_cpu_time_is_kept);
	tcase_add_test(sums, cpu_clock_replaces_the_accounts_unless_it_is_lower);
	tcase_add_test(sums, after_a_loss_the_peak_is_a_lower_bound_and_io_is_unknown);
	tcase_add_test(pids, account_of_an_older_process_with_the_pid_is_left_out);
	tcase_add_test(pids, account_of_a_foreign_process_with_the_pid_is_refused);
	tcase_add_test(pids, account_of_a_foreign_process_leaves_the_final_cpu_time);
	tcase_add_test(pids, account_before_the_start_of_its_process_is_taken);
	return suite_run(suite);
}
