/* SPDX-License-Identifier: MIT */
/* Which thread of a process still has its address space, and when that is looked for. */
#include "collect/pid_mm.h"

#include "faults.h"
#include "fixture.h"
#include "suite.h"

#define PID 42
#define STAT_OF "%d (c) %c 1 42 42 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 1000 0 0\n"

static struct fixture root;
static struct rti_procfs procfs;
static struct rti_buf buf;
static const struct rti_context ctx = { .procfs = &procfs, .buf = &buf };

/* The leader has exited, and thread 43 lives on. */
static void set_up(void)
{
	fixture_new(&root);
	fixture_printf(&root, "proc/42/task/42/stat", STAT_OF, PID, 'Z', 2);
	fixture_printf(&root, "proc/42/task/43/stat", STAT_OF, PID + 1, 'S', 2);
	ck_assert_int_eq(rti_procfs_open(&procfs, root.root, &faults_ops), 0);
}

static void tear_down(void)
{
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	fixture_free(&root);
}

START_TEST(thread_that_outlives_its_leader_has_the_address_space)
{
	const struct rti_pid_stat stat = { .state = 'Z', .num_threads = 2 };

	ck_assert_int_eq(rti_pid_mm_thread(&ctx, PID, &stat), PID + 1);
}
END_TEST

/* Threads that exit while they are listed, and a name that is no thread. */
START_TEST(process_of_threads_that_all_exit_has_no_address_space)
{
	const struct rti_pid_stat stat = { .state = 'Z', .num_threads = 2 };
	unsigned before;

	fixture_printf(&root, "proc/42/task/43/stat", STAT_OF, PID + 1, 'Z', 2);
	fixture_mkdir(&root, "proc/42/task/44");
	fixture_write(&root, "proc/42/task/45/stat", "45 (c) S 1 42");
	fixture_printf(&root, "proc/42/task/other/stat", STAT_OF, PID, 'S', 2);
	before = faults_opens();
	ck_assert_int_eq(rti_pid_mm_thread(&ctx, PID, &stat), 0);
	ck_assert_uint_eq(faults_opens() - before, 4); /* the list, and what may be a thread */
}
END_TEST

/* What it asks of the system it would ask in each sample. */
START_TEST(zombie_of_one_thread_costs_no_list_of_threads)
{
	const struct rti_pid_stat stat = { .state = 'Z', .num_threads = 1, .starttime = 1000 };
	unsigned before = faults_opens();

	ck_assert_int_eq(rti_pid_mm_thread(&ctx, PID, &stat), 0);

	ck_assert_uint_eq(faults_opens(), before);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pid_mm");
	TCase *tcase = suite_case(suite, "threads");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, thread_that_outlives_its_leader_has_the_address_space);
	tcase_add_test(tcase, process_of_threads_that_all_exit_has_no_address_space);
	tcase_add_test(tcase, zombie_of_one_thread_costs_no_list_of_threads);
	return suite_run(suite);
}
