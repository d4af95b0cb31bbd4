/* SPDX-License-Identifier: MIT */
/* The list of processes that BPF programs have recorded: the test takes the place of the programs.
 */
#include "command/bpf_outcome.h"

#include <errno.h>
#include <stdlib.h>

#include "command/handle.h"
#include "suite.h"
#include "util/array.h"

#define RECORDS 3

static unsigned growths_left;

int __wrap_rti_account_take(struct rti_tree_account *account,
                            const struct rti_account_taker *taker);
int __wrap_rti_account_list_running(struct rti_tree_account *account,
                                    const struct rti_account_taker *taker);
void *__wrap_rti_array_grow(void *array, size_t *capacity, size_t count, size_t element_size);
void *__real_rti_array_grow(void *array, size_t *capacity, size_t count, size_t element_size);

int __wrap_rti_account_take(struct rti_tree_account *account, const struct rti_account_taker *taker)
{
	(void)account;
	for (int32_t i = 1; i <= RECORDS; i++) {
		const struct rti_account_record record = { .pid = i, .start_ns = (uint64_t)i };

		taker->on_record(taker->arg, &record);
	}
	return 0;
}

int __wrap_rti_account_list_running(struct rti_tree_account *account,
                                    const struct rti_account_taker *taker)
{
	const struct rti_account_record record = { .pid = RECORDS + 1, .start_ns = RECORDS + 1 };

	(void)account;
	taker->on_record(taker->arg, &record);
	return 0;
}

void *__wrap_rti_array_grow(void *array, size_t *capacity, size_t count, size_t element_size)
{
	if (growths_left == 0)
		return NULL;
	growths_left--;
	return __real_rti_array_grow(array, capacity, count, element_size);
}

/* A process that samples saw as well: at one time. */
static void add_sampled(struct rt_command *command, int32_t pid)
{
	const struct rti_member_row m = { .process = { .pid = pid }, .known = RT_HAS_CPU };

	rti_process_list_add_member(&command->process_list, &m);
}

static const struct {
	struct rti_account_totals totals;
	unsigned growths; /* of arrays, until memory is short */
	int err;
	size_t rows;
} lists[] = {
	{ { .is_whole = true }, 100, 0, RECORDS + 1 },
	{ { .is_whole = true, .running = 1 }, 100, 0, RECORDS + 2 },
	/* Some have no record. */
	{ { .is_whole = true, .rowless = 1 }, 100, -ENOBUFS, RECORDS + 1 },
	{ { .is_whole = true, .lost = 1 }, 100, -ENOBUFS, RECORDS + 1 },
	{ { .is_whole = true, .unmarked = 1 }, 100, -ENOBUFS, RECORDS + 1 },
	{ { .missed = 1 }, 100, -ENOBUFS, RECORDS + 1 },
	/* There is memory for what was sampled alone. */
	{ { .is_whole = true }, 1, -ENOMEM, 1 },
	{ { .is_whole = true, .rowless = 1 }, 1, -ENOMEM, 1 },
};

START_TEST(list_that_lacks_processes_has_the_others_and_says_why)
{
	static char programs;
	const struct rti_now now = { 0 };
	struct rt_tracker tracker = { .platform.page_size = 4096 };
	struct rt_command command = { .tracker = &tracker,
		                      .has_list = true,
		                      .account.programs = (void *)&programs };
	struct rt_command_process rows[RECORDS + 2];
	size_t count = RECORDS + 2;

	rti_lock_init(&command.lock);
	growths_left = lists[_i].growths;
	command.account.totals = lists[_i].totals;
	command.is_over = true;
	add_sampled(&command, 100);

	rti_bpf_outcome_list(&command);
	rti_process_list_finish(&command.process_list, &now);

	ck_assert_int_eq(rt_command_processes(&command, rows, sizeof(rows[0]), &count),
	                 lists[_i].err);
	ck_assert_uint_eq(count, lists[_i].rows);
	ck_assert_int_eq(rows[0].pid, 100);
	for (size_t i = 1; i < count; i++)
		ck_assert_int_eq(rows[i].pid, (int)i);
	free(command.account.records);
	rti_process_list_free(&command.process_list);
	rti_lock_free(&command.lock);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bpf_outcome");
	TCase *tcase = suite_case(suite, "the list");

	tcase_add_loop_test(tcase, list_that_lacks_processes_has_the_others_and_says_why, 0,
	                    sizeof(lists) / sizeof(lists[0]));
	return suite_run(suite);
}
