/* SPDX-License-Identifier: MIT */
/* The rows of a list of processes, from records of the test's own. */
#include "command/bpf_outcome.h"

#include "suite.h"

#define OWN_BYTES 65536
#define CHILD_BYTES 4096

int __wrap_rti_account_take(struct rti_tree_account *account,
                            const struct rti_account_taker *taker);

static struct rti_account_record record;

int __wrap_rti_account_take(struct rti_tree_account *account, const struct rti_account_taker *taker)
{
	(void)account;
	taker->on_record(taker->arg, &record);
	return 0;
}

static struct rt_command_process only_row(bool has_io)
{
	struct rt_tracker tracker = { .platform.page_size = 4096 };
	struct rt_command command = { .tracker = &tracker, .account.totals.has_io = has_io };
	struct rt_command_process row;

	rti_bpf_outcome_list(&command);
	ck_assert_uint_eq(command.process_list.count, 1);
	row = command.process_list.rows[0].shown;
	rti_process_list_free(&command.process_list);
	rti_command_account_close(&command.account);
	return row;
}

static const struct {
	uint32_t record_flags, row_flags;
	uint64_t valid, partial;
	uint64_t write_bytes;
	int32_t exit_code;
} cases[] = {
	{ RTI_ROW_ENDED, RT_PROCESS_FINAL | RT_PROCESS_OWN_IO,
	  RT_HAS_CPU | RT_HAS_IO | RT_HAS_PEAK_RSS, 0, CHILD_BYTES, 7 },
	/* What the threads have written themselves is a better lower bound. */
	{ RTI_ROW_ENDED | RTI_ROW_LACKS_SUMS, RT_PROCESS_OWN_IO, RT_HAS_CPU | RT_HAS_PEAK_RSS,
	  RT_HAS_IO, OWN_BYTES, 7 },
	/* A thread is in the totals alone: its CPU time and its bytes are missing here. */
	{ RTI_ROW_ENDED | RTI_ROW_LACKS_SUMS | RTI_ROW_LACKS_THREAD, 0, RT_HAS_PEAK_RSS,
	  RT_HAS_CPU | RT_HAS_IO, OWN_BYTES, 7 },
	/* Its end was not seen, so its last address space was not either. */
	{ 0, RT_PROCESS_OWN_IO, RT_HAS_CPU, RT_HAS_IO, OWN_BYTES, -1 },
};

START_TEST(row_without_a_final_part_of_the_process_is_not_final)
{
	struct rt_command_process row;

	record = (struct rti_account_record){
		.pid = 42,
		.status = 7 << 8,
		.flags = cases[_i].record_flags,
		.execs = 1,
		.peak_pages = 300,
		.write_bytes = CHILD_BYTES,
		.own_write_bytes = OWN_BYTES,
	};
	row = only_row(true);
	ck_assert_uint_eq(row.flags, cases[_i].row_flags);
	ck_assert_uint_eq(row.valid, cases[_i].valid);
	ck_assert_uint_eq(row.partial, cases[_i].partial);
	ck_assert_uint_eq(row.write_bytes, cases[_i].write_bytes);
	ck_assert_uint_eq(row.own_write_bytes, OWN_BYTES);
	ck_assert_int_eq(row.exit_code, cases[_i].exit_code);
	ck_assert_int_eq(row.signal, 0);
}
END_TEST

START_TEST(bytes_that_the_kernel_does_not_account_for_are_unknown)
{
	struct rt_command_process row;

	record = (struct rti_account_record){ .pid = 42, .flags = RTI_ROW_ENDED, .execs = 1 };
	row = only_row(false);
	ck_assert_uint_eq(row.valid | row.partial, RT_HAS_CPU);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bpf_rows");
	TCase *rows = suite_case(suite, "rows");

	tcase_add_loop_test(rows, row_without_a_final_part_of_the_process_is_not_final, 0,
	                    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(rows, bytes_that_the_kernel_does_not_account_for_are_unknown);
	return suite_run(suite);
}
