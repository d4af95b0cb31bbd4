/* SPDX-License-Identifier: MIT */
/* The memory peaks of processes that execute several programs. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counted_work.h"
#include "refusals.h"
#include "suite.h"

#define LARGE_BYTES (64u << 20)
#define MIDDLE_BYTES (24u << 20)

static void touch(size_t bytes)
{
	char *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED)
		memset(memory, 1, bytes);
}

/* The program of the middle: this one with an argument. */
static int run_middle(void)
{
	touch(MIDDLE_BYTES);
	execlp("true", "true", (char *)NULL);
	return 1;
}

static void spawn(const char *program, const char *argument)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execlp(program, program, argument, (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

/* A large process has a child of vfork(2) that executes the program of the middle, and another one
 * that executes true(1) alone. */
static void spawn_both(void)
{
	touch(LARGE_BYTES);
	spawn("/proc/self/exe", "middle");
	spawn("true", NULL);
}

/* Sets records by the number of programs that the process has executed. Returns false, and skips
 * the test, if one is missing. */
static bool run(const struct rti_account_request *request, struct rti_account_record of_execs[3],
                struct rti_account_totals *totals)
{
	struct rti_tree_account *account = open_account(request);
	struct rti_account_record records[RECORDS_MAX];
	size_t count;

	run_accounted(account, spawn_both);
	read_until_whole(account, totals, 0);
	count = take_records(account, records);
	rti_account_close(account);
	for (size_t i = 0; i < count; i++)
		of_execs[records[i].execs % 3] = records[i];
	if (count == 3)
		return true;
	ck_assert_uint_gt(totals->missed, 0);
	suite_skip_test("the kernel has called no program for a thread");
	return false;
}

static uint64_t peak_bytes(const struct rti_account_record *record)
{
	return record->peak_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

START_TEST(program_between_two_execs_is_in_the_peak_or_that_is_unknown)
{
	const struct rti_account_request request = { .wants_records = true };
	struct rti_account_totals totals;
	struct rti_account_record of_execs[3] = { 0 };

	if (!run(&request, of_execs, &totals))
		return;
	ck_assert_uint_lt(peak_bytes(&of_execs[2]), LARGE_BYTES);
	if (!(of_execs[2].flags & RTI_ROW_LACKS_PEAK)) /* since Linux 6.16 */
		ck_assert_uint_ge(peak_bytes(&of_execs[2]), MIDDLE_BYTES);
	ck_assert_uint_eq(of_execs[0].flags & RTI_ROW_LACKS_PEAK, 0);
	ck_assert_uint_ge(peak_bytes(&of_execs[0]), LARGE_BYTES);
}
END_TEST

START_TEST(without_a_look_at_the_old_memory_only_its_peak_is_unknown)
{
	const struct rti_account_request request = { .wants_records = true,
		                                     .lacks_prepare_exec = true };
	struct rti_account_totals totals;
	struct rti_account_record of_execs[3] = { 0 };

	if (!run(&request, of_execs, &totals))
		return;
	ck_assert_uint_ne(of_execs[2].flags & RTI_ROW_LACKS_PEAK, 0);
	ck_assert_uint_eq(of_execs[0].flags & RTI_ROW_LACKS_PEAK, 0);
	ck_assert_uint_lt(peak_bytes(&of_execs[1]), MIDDLE_BYTES);
	/* It cannot have been above the peak of the large process, which is known. */
	ck_assert_uint_eq(totals.peakless, 0);
	ck_assert_uint_eq(totals.peak_pages, of_execs[0].peak_pages);
}
END_TEST

static int run_last(void)
{
	char byte;

	return read(STDIN_FILENO, &byte, 1) == 0 ? run_middle() : 1;
}

/* A process that had a large peak. Once *go is closed, it executes the program of the middle. */
static pid_t start_large(int *go)
{
	int ready[2], input[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		touch(LARGE_BYTES);
		dup2(input[0], STDIN_FILENO);
		execl("/proc/self/exe", "last", "last", (char *)NULL);
		_exit(1);
	}
	close(ready[1]);
	close(input[0]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0); /* until it has executed */
	close(ready[0]);
	*go = input[1];
	return pid;
}

/* Returns the totals at the end of a process that was large before the account began. */
static struct rti_account_totals run_adopted(bool lacks_prepare_exec)
{
	struct rti_account_request request = { .lacks_prepare_exec = lacks_prepare_exec };
	struct rti_account_totals totals;
	struct rti_tree_account *account;
	int go, status;

	request.root = start_large(&go);
	account = open_account(&request);
	close(go);
	ck_assert_int_eq(waitpid(request.root, &status, 0), request.root);
	ck_assert_int_eq(status, 0);
	read_until_whole(account, &totals, 0);
	rti_account_close(account);
	return totals;
}

START_TEST(program_of_a_process_that_was_large_before_is_in_the_peak_or_that_is_unknown)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	struct rti_account_totals totals = run_adopted(false);

	ck_assert_uint_lt(totals.peak_pages * page_bytes, LARGE_BYTES);
	if (!totals.peakless && !totals.missed) /* since Linux 6.16 */
		ck_assert_uint_ge(totals.peak_pages * page_bytes, MIDDLE_BYTES);
	totals = run_adopted(true);
	if (!totals.missed)
		ck_assert_uint_eq(totals.peakless, 1);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite;
	TCase *peaks;

	if (argc > 1 && strcmp(argv[1], "middle") == 0)
		return run_middle();
	if (argc > 1 && strcmp(argv[1], "last") == 0)
		return run_last();
	suite = suite_create("exec_peaks");
	peaks = suite_case(suite, "peaks");
	if (!IS_BUILT)
		return suite_skip("the BPF plug-in was not built");
	if (!has_bpf_accounting())
		return suite_skip("BPF programs cannot account for processes here");
	tcase_add_test(peaks, program_between_two_execs_is_in_the_peak_or_that_is_unknown);
	tcase_add_test(peaks, without_a_look_at_the_old_memory_only_its_peak_is_unknown);
	tcase_add_test(
	    peaks, program_of_a_process_that_was_large_before_is_in_the_peak_or_that_is_unknown);
	return suite_run(suite);
}
