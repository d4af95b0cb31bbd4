/* SPDX-License-Identifier: MIT */
/* rt_command_processes() lists each process of a command, however short its lifetime is. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "workload.h"

#define MS UINT64_C(1000000)

static const uint32_t methods[] = { RT_ACCOUNTING_WAIT, RT_ACCOUNTING_CGROUP };
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

static const struct workload_opts listed = { .accounting = RT_ACCOUNTING_WAIT, .has_list = true };

struct list {
	struct rt_command_process *rows;
	size_t count;
};

/* The caller frees the rows. */
static struct list get_list(struct rt_command *command)
{
	struct list list = { 0 };
	const size_t size = sizeof(*list.rows);

	ck_assert_int_eq(rt_command_processes(command, NULL, size, &list.count), 0);
	list.rows = calloc(list.count, size);
	ck_assert_ptr_nonnull(list.rows);
	ck_assert_int_eq(rt_command_processes(command, list.rows, size, &list.count), 0);
	return list;
}

static bool is_row_of(const struct rt_command_process *row, const struct recorded_process *process)
{
	return row->pid == process->pid && row->exit_code == process->exit_code &&
	       row->signal == process->signal;
}

/* The kernel may reuse a pid for a process that ends in the same way: on a busy system, or since
 * another test writes to ns_last_pid. So there must be as many such rows as recorded processes, and
 * in the same order: rows are sorted by start, and a process records itself when it starts.
 * *older is how many were recorded before this one. */
static unsigned count_recorded_like(const struct record *record,
                                    const struct recorded_process *process, unsigned *older)
{
	unsigned count = 0;

	*older = 0;
	for (unsigned i = 0; i < atomic_load(&record->process_count); i++) {
		const struct recorded_process *other = &record->process[i];

		if (other == process)
			*older = count;
		count += other->pid == process->pid && other->exit_code == process->exit_code &&
		         other->signal == process->signal;
	}
	return count;
}

static const struct rt_command_process *find_row(const struct list *list,
                                                 const struct record *record,
                                                 const struct recorded_process *process)
{
	const struct rt_command_process *found = NULL;
	unsigned rows = 0, older, recorded = count_recorded_like(record, process, &older);

	for (size_t i = 0; i < list->count; i++) {
		if (is_row_of(&list->rows[i], process) && rows++ == older)
			found = &list->rows[i];
	}
	ck_assert_msg(found != NULL, "%d, which ended with %d or signal %d, is not listed",
	              process->pid, process->exit_code, process->signal);
	ck_assert_uint_eq(rows, recorded);
	return found;
}

static uint64_t get_row_cpu_ns(const struct rt_command_process *row)
{
	return row->cpu_user_ns + row->cpu_system_ns;
}

/* The row holds at least what the process has recorded. It may have more: the kernel counts in
 * whole microseconds, and includes what the exit takes. */
static void check_final_row(const struct rt_command_process *row,
                            const struct recorded_process *process)
{
	ck_assert_uint_ne(row->valid & RT_HAS_CPU, 0);
	if (process->signal)
		return;
	ck_assert_uint_ge(get_row_cpu_ns(row), process->cpu_ns);
	if (!process->is_executing)
		ck_assert_uint_le(get_row_cpu_ns(row), process->cpu_ns + 50 * MS);
}

static void check_row(const struct rt_command_process *row, const struct recorded_process *process)
{
	ck_assert_int_eq(row->ppid, process->ppid);
	/* The process that executes may exit before its new name is read. */
	if (!process->is_executing || row->comm[0])
		ck_assert_str_eq(row->comm, process->comm);
	ck_assert_uint_gt(row->start_realtime_ns, 0);
	ck_assert_uint_le(row->start_realtime_ns, row->end_realtime_ns);
	ck_assert_uint_eq(row->valid & row->partial, 0);
	ck_assert_uint_eq(row->flags & RT_PROCESS_RUNNING, 0);
	if (row->flags & RT_PROCESS_FINAL)
		check_final_row(row, process);
}

static void check_all_rows(const struct list *list, const struct record *record)
{
	for (unsigned i = 0; i < atomic_load(&record->process_count); i++) {
		const struct recorded_process *process = &record->process[i];

		check_row(find_row(list, record, process), process);
	}
}

static void check_order_and_times(const struct list *list, const struct rt_outcome *outcome)
{
	uint64_t last_start_ns = outcome->start_realtime_ns - 20 * MS, now_ns, cpu_ns = 0;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	for (size_t i = 0; i < list->count; i++) {
		const struct rt_command_process *row = &list->rows[i];

		ck_assert_uint_le(last_start_ns, row->start_realtime_ns);
		last_start_ns = row->start_realtime_ns;
		ck_assert_uint_le(row->end_realtime_ns, now_ns + 20 * MS);
		ck_assert_uint_eq(row->size, sizeof(*row));
		if (row->valid & RT_HAS_CPU)
			cpu_ns += get_row_cpu_ns(row);
	}
	/* No CPU time is in the list twice. */
	ck_assert_uint_le(cpu_ns, outcome->cpu_user_ns + outcome->cpu_system_ns +
	                              list->count * 1000 + 1000);
}

START_TEST(list_with_short_lived_processes_has_each_once)
{
	struct workload_opts opts = { .accounting = methods[_i], .has_list = true };
	struct workload w;
	struct list list;

	if (!run_workload(&w, "mixed", opts))
		return;
	list = get_list(w.command);

	ck_assert_uint_eq(w.outcome.processes, atomic_load(&w.record->forks) + 1);
	ck_assert_uint_eq(list.count, w.outcome.processes);
	check_all_rows(&list, w.record);
	check_order_and_times(&list, &w.outcome);
	ck_assert_int_eq(find_row(&list, w.record, &w.record->process[0])->pid,
	                 rt_command_pid(w.command));
	free(list.rows);
	free_workload(&w);
}
END_TEST

START_TEST(row_of_process_reaped_by_supervisor_is_final)
{
	uint64_t recorded_ns = 0, final_ns = 0;
	struct workload w;
	struct list list;

	ck_assert(run_workload(&w, "mixed", listed));
	list = get_list(w.command);

	for (unsigned i = 0; i < atomic_load(&w.record->process_count); i++) {
		const struct recorded_process *process = &w.record->process[i];
		const struct rt_command_process *row = find_row(&list, w.record, process);

		if (!process->is_orphan)
			continue;
		ck_assert_uint_eq(row->flags & (RT_PROCESS_FINAL | RT_PROCESS_RUNNING),
		                  RT_PROCESS_FINAL);
		ck_assert_uint_ne(row->valid & RT_HAS_CPU, 0);
		if (geteuid() == 0) /* newer kernels show only root what a zombie has read */
			ck_assert_uint_ne(row->valid & RT_HAS_IO, 0);
		recorded_ns += process->cpu_ns;
		final_ns += get_row_cpu_ns(row);
	}
	ck_assert_uint_ge(recorded_ns, WORKLOAD_ORPHANS * 2 * MS);
	ck_assert_uint_ge(final_ns, recorded_ns);
	ck_assert_uint_le(final_ns, w.outcome.cpu_low_ns + (WORKLOAD_ORPHANS + 1) * 1000);
	free(list.rows);
	free_workload(&w);
}
END_TEST

START_TEST(list_with_three_hundred_at_once_has_them_all)
{
	struct workload w;
	struct list list;

	ck_assert(run_workload(&w, "at_once", listed));
	list = get_list(w.command);

	ck_assert_uint_eq(list.count, WORKLOAD_AT_ONCE + 1);
	check_all_rows(&list, w.record);
	check_order_and_times(&list, &w.outcome);
	free(list.rows);
	free_workload(&w);
}
END_TEST

static int has_no_member(void *command)
{
	struct rt_metrics m;

	return rt_sample(rt_command_tracker(command), &m, sizeof(m)) == -ESRCH;
}

/* All that was left running has been killed. */
static void check_samples_add_no_row(struct rt_command *command, size_t rows)
{
	struct list list;

	wait_until(has_no_member, command);
	list = get_list(command);
	ck_assert_uint_eq(list.count, rows);
	free(list.rows);
}

/* One thread of the process has exited, which does not end the process. */
START_TEST(row_of_process_left_running_has_no_end)
{
	const struct rt_command_process *row = NULL;
	struct workload w;
	struct list list;

	ck_assert(run_workload(&w, "leave_one", listed));
	list = get_list(w.command);

	ck_assert_uint_eq(w.outcome.left_running, 1);
	for (size_t i = 0; i < list.count; i++) {
		if (list.rows[i].flags & RT_PROCESS_RUNNING)
			row = &list.rows[i];
	}
	ck_assert_ptr_nonnull(row);
	ck_assert_int_eq(row->pid, w.record->process[1].pid);
	kill_process(row->pid, SIGKILL);
	ck_assert_int_eq(row->exit_code, -1);
	ck_assert_int_eq(row->signal, 0);
	ck_assert_uint_eq(row->end_realtime_ns, 0);
	check_samples_add_no_row(w.command, list.count);
	free(list.rows);
	free_workload(&w);
}
END_TEST

START_TEST(list_with_poll_accounting_has_the_program_and_its_exit_code)
{
	struct workload_opts opts = { .accounting = RT_ACCOUNTING_POLL, .has_list = true };
	const struct rt_command_process *row;
	struct workload w;
	struct list list;

	ck_assert(start_workload(&w, "mixed", opts));
	finish_workload(&w);
	list = get_list(w.command);

	ck_assert_uint_ge(list.count, 1);
	ck_assert_uint_le(list.count, atomic_load(&w.record->forks) + 1);
	row = find_row(&list, w.record, &w.record->process[0]);
	ck_assert_int_eq(row->pid, rt_command_pid(w.command));
	ck_assert_int_eq(row->ppid, getpid());
	free(list.rows);
	free_workload(&w);
}
END_TEST

START_TEST(list_with_reused_pid_has_both_processes)
{
	struct workload w;
	struct list list;

	ck_assert(run_workload(&w, "recycle", listed));
	list = get_list(w.command);

	ck_assert_uint_eq(w.outcome.processes, atomic_load(&w.record->forks) + 1);
	ck_assert_uint_eq(list.count, w.outcome.processes);
	/* A user that may not choose the next pid has a plain tree here. */
	if (w.record->recycled_pid) {
		const struct recorded_process first = { .pid = w.record->recycled_pid,
			                                .exit_code = 1 };
		const struct recorded_process second = { .pid = w.record->recycled_pid,
			                                 .exit_code = 2 };

		ck_assert_uint_lt(find_row(&list, w.record, &first)->end_realtime_ns,
		                  find_row(&list, w.record, &second)->start_realtime_ns);
	}
	ck_assert(w.record->recycled_pid || geteuid() != 0 || atomic_load(&w.record->forks) > 1);
	free(list.rows);
	free_workload(&w);
}
END_TEST

START_TEST(list_of_running_command_returns_enodata)
{
	struct rt_command_process row;
	size_t count = 1;
	struct workload w;

	ck_assert(start_workload(&w, "mixed", listed));

	ck_assert_int_eq(rt_command_processes(w.command, &row, sizeof(row), &count), -ENODATA);
	finish_workload(&w);
	free_workload(&w);
}
END_TEST

/* The row of a caller that was compiled with a later header. */
struct longer_row {
	struct rt_command_process known;
	unsigned char unknown[16];
};

/* The library zeroes the bytes that it does not know, and writes no row past the capacity. */
START_TEST(list_with_longer_rows_zeroes_the_unknown_bytes)
{
	static const unsigned char zeroes[sizeof(((struct longer_row *)NULL)->unknown)];
	struct longer_row rows[3], untouched;
	size_t count = 2;
	struct workload w;

	memset(rows, 0xa5, sizeof(rows));
	memset(&untouched, 0xa5, sizeof(untouched));
	ck_assert(start_workload(&w, "mixed", listed));
	finish_workload(&w);

	ck_assert_int_eq(rt_command_processes(w.command, &rows[0].known, sizeof(rows[0]), &count),
	                 0);

	ck_assert_uint_gt(count, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(rows[i].known.size, sizeof(rows[i].known));
		ck_assert_int_gt(rows[i].known.pid, 0);
		ck_assert_mem_eq(rows[i].unknown, zeroes, sizeof(zeroes));
	}
	ck_assert_mem_eq(&rows[2], &untouched, sizeof(untouched));
	free_workload(&w);
}
END_TEST

START_TEST(list_with_bad_arguments_is_refused)
{
	struct rt_command_process row;
	const size_t size = sizeof(row);
	const size_t first = offsetof(struct rt_command_process, estimated); /* of release 0.2 */
	size_t count = 1;
	struct workload w;

	ck_assert(start_workload(&w, "mixed", listed));
	finish_workload(&w);

	ck_assert_int_eq(rt_command_processes(w.command, &row, first - 1, &count), -EINVAL);
	ck_assert_int_eq(rt_command_processes(w.command, &row, 100000, &count), -EINVAL);
	ck_assert_int_eq(rt_command_processes(w.command, NULL, size, &count), -EFAULT);
	ck_assert_int_eq(rt_command_processes(w.command, &row, size, NULL), -EFAULT);
	ck_assert_int_eq(rt_command_processes(NULL, &row, size, &count), -EFAULT);
	ck_assert_uint_eq(count, 1);
	free_workload(&w);
}
END_TEST

START_TEST(list_that_was_not_requested_returns_eopnotsupp)
{
	struct workload_opts opts = { .accounting = RT_ACCOUNTING_WAIT };
	struct rt_command_process row;
	size_t count = 1;
	struct workload w;

	ck_assert(start_workload(&w, "nothing", opts));
	finish_workload(&w);

	ck_assert_int_eq(rt_command_processes(w.command, &row, sizeof(row), &count), -EOPNOTSUPP);
	free_workload(&w);
}
END_TEST

static void add_tests_with_events(TCase *lists)
{
	tcase_add_loop_test(lists, list_with_short_lived_processes_has_each_once, 0, METHODS);
	tcase_add_test(lists, row_of_process_reaped_by_supervisor_is_final);
	tcase_add_test(lists, list_with_three_hundred_at_once_has_them_all);
	tcase_add_test(lists, row_of_process_left_running_has_no_end);
	tcase_add_test(lists, list_with_reused_pid_has_both_processes);
}

int main(int argc, char **argv)
{
	Suite *suite = suite_create("process_lists");
	TCase *lists = suite_case(suite, "lists"), *arguments = suite_case(suite, "arguments");

	if (is_workload(argc))
		return run_as_workload(argv);
	tcase_add_test(lists, list_with_poll_accounting_has_the_program_and_its_exit_code);
	tcase_add_test(arguments, list_of_running_command_returns_enodata);
	tcase_add_test(arguments, list_with_longer_rows_zeroes_the_unknown_bytes);
	tcase_add_test(arguments, list_with_bad_arguments_is_refused);
	tcase_add_test(arguments, list_that_was_not_requested_returns_eopnotsupp);
	if (has_process_events())
		add_tests_with_events(lists);
	else
		printf(
		    "# no process events for this user: the tests that need them are left out\n");
	return suite_run(suite);
}
