/* SPDX-License-Identifier: MIT */
/* The account of a tree by BPF programs, against what wait4(2) and the processes themselves say. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counted_work.h"
#include "refusals.h"
#include "suite.h"

#define MS UINT64_C(1000000)
#define CHILDREN 40
#define THREADS 100
#define LOST_MAX 4 /* of 41 threads */
#define TRIES 20
#define MEMORY_BYTES (64u << 20)
#define LOOKS 500000 /* 100 s */
#define NAP_US 200

/* What a process and all that it has waited for have used at most after wait4(2) has looked: it may
 * still be leaving its CPU. */
#define TAIL_NS (2 * MS)

static const struct rti_account_request usual = { .wants_records = true };

static uint64_t cpu_time_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static void burn_ns(uint64_t ns)
{
	uint64_t end_ns = cpu_time_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (cpu_time_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
}

/* If a thread is lost, this skips the test, closes the account and returns false. */
static bool settle(struct rti_tree_account *account, struct rti_account_totals *totals)
{
	if (read_until_whole(account, totals, LOST_MAX))
		return true;
	suite_skip_test("the kernel has called no program for a thread");
	rti_account_close(account);
	return false;
}

static uint64_t waited_ns(const struct rusage *use)
{
	return (uint64_t)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) * 1000 * MS +
	       (uint64_t)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) * 1000;
}

static void check_use(const struct rti_account_totals *totals, const struct rusage *use)
{
	/* wait4(2) cuts user and system time to microseconds each. */
	ck_assert_uint_ge(totals->use.cpu_ns + 2000, waited_ns(use));
	ck_assert_uint_le(totals->use.cpu_ns, waited_ns(use) + totals->begun * TAIL_NS);
	ck_assert_uint_ge(totals->use.minflt, (uint64_t)use->ru_minflt);
	ck_assert_uint_le(totals->use.minflt, (uint64_t)use->ru_minflt + totals->begun);
	ck_assert_uint_ge(totals->use.voluntary_switches + totals->use.involuntary_switches,
	                  (uint64_t)(use->ru_nvcsw + use->ru_nivcsw));
	ck_assert_uint_eq(totals->use.write_bytes / 512, (uint64_t)use->ru_oublock);
	ck_assert_uint_eq(totals->unmarked, 0);
}

static void fork_and_wait(void (*work)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		work();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void burn_a_little(void)
{
	burn_ns(2 * MS);
}

static void fork_many(void)
{
	for (int i = 0; i < CHILDREN; i++)
		fork_and_wait(burn_a_little);
}

START_TEST(children_that_are_waited_for_have_what_wait4_says)
{
	struct rti_tree_account *account = open_account(&usual);
	struct rti_account_record records[RECORDS_MAX];
	struct rusage use = run_accounted(account, fork_many).use;
	struct rti_account_totals totals;
	uint64_t sum_ns = 0;

	if (!settle(account, &totals))
		return;
	check_use(&totals, &use);
	ck_assert_uint_eq(totals.processes, CHILDREN + 1);
	ck_assert_uint_eq(take_records(account, records), CHILDREN + 1);
	for (int i = 0; i <= CHILDREN; i++)
		sum_ns += records[i].cpu_ns;
	ck_assert_uint_eq(sum_ns, totals.use.cpu_ns);
	rti_account_close(account);
}
END_TEST

/* The kernel reaps them, and no process learns what they used. */
static void fork_and_forget(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < CHILDREN; i++) {
		if (fork() == 0) {
			burn_a_little();
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

START_TEST(children_that_no_process_waits_for_are_counted)
{
	struct rti_tree_account *account = open_account(&usual);
	struct rusage use = run_accounted(account, fork_and_forget).use;
	struct rti_account_totals totals;

	if (!settle(account, &totals))
		return;
	ck_assert_uint_ge(totals.use.cpu_ns, waited_ns(&use) + CHILDREN * 2 * MS);
	ck_assert_uint_eq(totals.processes, CHILDREN + 1);
	ck_assert_uint_eq(totals.begun, CHILDREN + 1);
	rti_account_close(account);
}
END_TEST

static void *run_thread(void *barrier)
{
	pthread_barrier_wait(barrier);
	burn_ns(MS / 2);
	return NULL;
}

/* All at the same time. */
static void start_threads(void)
{
	pthread_t thread[THREADS];
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run_thread, &barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

START_TEST(threads_are_of_one_process)
{
	struct rti_tree_account *account = open_account(&usual);
	struct rti_account_record records[RECORDS_MAX];
	struct rusage use = run_accounted(account, start_threads).use;
	struct rti_account_totals totals;

	if (!settle(account, &totals))
		return;
	check_use(&totals, &use);
	ck_assert_uint_eq(totals.begun, THREADS + 1);
	ck_assert_uint_eq(totals.processes, 1);
	ck_assert_uint_eq(take_records(account, records), 1);
	ck_assert_uint_eq(records[0].cpu_ns, totals.use.cpu_ns);
	ck_assert_uint_eq(records[0].status, 3 << 8);
	rti_account_close(account);
}
END_TEST

static void *execute(void *unused)
{
	execlp("sh", "sh", "-c", "exit 7", (char *)NULL);
	return unused;
}

static void execute_in_thread(void)
{
	pthread_t thread;

	burn_ns(20 * MS);
	pthread_create(&thread, NULL, execute, NULL);
	for (;;)
		pause();
}

/* The thread takes the pid of the leader, which gets another one. That is no loss. */
START_TEST(exec_by_another_thread_is_of_the_same_process)
{
	struct rti_account_record records[RECORDS_MAX];
	struct rti_account_totals totals;
	struct rti_tree_account *account;
	struct rusage use;
	int tries = 0;

	for (;; tries++) {
		ck_assert_int_lt(tries, TRIES);
		account = open_account(&usual);
		use = run_accounted(account, execute_in_thread).use;
		if (read_until_whole(account, &totals, LOST_MAX))
			break;
		rti_account_close(account);
	}
	check_use(&totals, &use);
	ck_assert_uint_eq(take_records(account, records), 1);
	ck_assert_str_eq(records[0].comm, "sh");
	ck_assert_uint_eq(records[0].status, 7 << 8);
	ck_assert_uint_eq(records[0].execs, 1);
	ck_assert_uint_ge(records[0].cpu_ns, 20 * MS);
	ck_assert_uint_gt(records[0].end_ns, records[0].start_ns);
	rti_account_close(account);
}
END_TEST

/* A child that shares the memory of its parent until it executes a program. */
static void spawn_from_large(void)
{
	char *memory =
	    mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	memset(memory, 1, MEMORY_BYTES);
	pid = vfork();
	if (pid == 0) {
		execlp("true", "true", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

START_TEST(peak_of_spawned_program_excludes_its_parent)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	struct rti_tree_account *account = open_account(&usual);
	struct rti_account_record records[RECORDS_MAX];
	struct rusage use = run_accounted(account, spawn_from_large).use;
	struct rti_account_totals totals;

	if (!settle(account, &totals))
		return;
	ck_assert_uint_eq(take_records(account, records), 2);
	ck_assert_str_eq(records[0].comm, "true");
	if (records[0].flags & RTI_ROW_LACKS_PEAK)
		ck_assert_uint_eq(records[0].peak_pages, 0); /* before Linux 6.16 */
	else
		ck_assert_uint_gt(records[0].peak_pages, 0);
	ck_assert_uint_lt(records[0].peak_pages * page_bytes, MEMORY_BYTES / 2);
	ck_assert_uint_ge(records[1].peak_pages * page_bytes, MEMORY_BYTES);
	ck_assert_uint_eq(totals.peak_pages * page_bytes, (uint64_t)use.ru_maxrss * 1024);
	rti_account_close(account);
}
END_TEST

START_TEST(without_storage_few_tasks_are_whole_and_more_are_not)
{
	struct rti_account_request request = usual;
	struct rti_tree_account *account;
	struct rti_account_totals totals;
	struct rusage use;

	request.lacks_storage = true;
	account = open_account(&request);
	use = run_accounted(account, burn_a_little).use;
	if (!settle(account, &totals))
		return;
	check_use(&totals, &use);
	ck_assert_uint_gt(totals.spared, 0);
	run_accounted(account, start_threads);
	if (!settle(account, &totals))
		return;
	ck_assert_uint_gt(totals.unmarked, 0);
	rti_account_close(account);
}
END_TEST

START_TEST(processes_without_row_are_in_the_totals)
{
	struct rti_account_request request = usual;
	struct rti_tree_account *account;
	struct rti_account_record records[RECORDS_MAX];
	struct rti_account_totals totals;
	struct rusage use;

	request.rows = 2;
	account = open_account(&request);
	use = run_accounted(account, fork_many).use;
	/* There is as little room in limbo: until they are freed, some are nowhere. */
	if (!settle(account, &totals))
		return;
	check_use(&totals, &use);
	ck_assert_uint_eq(totals.processes, CHILDREN + 1);
	ck_assert_uint_gt(totals.rowless, 0);
	/* Records are lost, too: there is no room in limbo. */
	ck_assert_uint_eq(take_records(account, records) + totals.rowless + totals.lost,
	                  totals.processes);
	rti_account_close(account);
}
END_TEST

START_TEST(records_that_do_not_fit_are_counted)
{
	struct rti_account_request request = usual;
	struct rti_account_record records[RECORDS_MAX];
	struct rti_tree_account *account;
	struct rti_account_totals totals;

	request.ring_bytes = 4096;
	account = open_account(&request);
	run_accounted(account, fork_many);
	if (!settle(account, &totals))
		return;
	ck_assert_uint_gt(totals.lost, 0);
	ck_assert_uint_eq(take_records(account, records) + totals.lost, totals.processes);
	rti_account_close(account);
}
END_TEST

START_TEST(forked_child_of_the_owner_is_refused)
{
	struct rti_tree_account *account = open_account(&usual);
	struct rti_account_totals totals;
	const struct rti_account_taker taker = { 0 };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		bool is_stale = rti_account_read(account, &totals) == -ESTALE &&
		                rti_account_arm(account, true) == -ESTALE &&
		                rti_account_take(account, &taker) == -ESTALE;

		rti_account_close(account);
		_exit(is_stale ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	run_accounted(account, burn_a_little);
	if (!settle(account, &totals))
		return;
	ck_assert_uint_eq(totals.processes, 1);
	rti_account_close(account);
}
END_TEST

START_TEST(accounts_do_not_mix)
{
	struct rti_tree_account *account[2] = { open_account(&usual), open_account(&usual) };
	struct rti_account_totals totals;

	run_accounted(account[0], fork_many);
	run_accounted(account[1], burn_a_little);
	fork_and_wait(burn_a_little); /* of none */
	if (!settle(account[0], &totals))
		return;
	ck_assert_uint_eq(totals.processes, CHILDREN + 1);
	if (!settle(account[1], &totals))
		return;
	ck_assert_uint_eq(totals.processes, 1);
	rti_account_close(account[0]);
	rti_account_close(account[1]);
}
END_TEST

static void run_in_pid_namespace(void)
{
	if (unshare(CLONE_NEWPID) < 0)
		_exit(1);
	fork_and_wait(burn_a_little); /* process 1 of the namespace */
}

START_TEST(pid_of_another_namespace_is_that_of_the_caller)
{
	struct rti_tree_account *account = open_account(&usual);
	struct rti_account_record records[RECORDS_MAX];
	struct rti_account_totals totals;

	if (geteuid() != 0) {
		suite_skip_test("only root makes a pid namespace without a user namespace");
		return;
	}
	run_accounted(account, run_in_pid_namespace);
	if (!settle(account, &totals))
		return;
	ck_assert_uint_eq(take_records(account, records), 2);
	ck_assert_int_eq(records[0].ppid, records[1].pid);
	ck_assert_int_gt(records[0].pid, 1);
	rti_account_close(account);
}
END_TEST

static int living[2]; /* a pipe that keeps a process waiting */

static void leave_running(void)
{
	char byte;

	if (fork() == 0) {
		burn_ns(10 * MS);
		(void)!read(living[0], &byte, 1);
		burn_ns(10 * MS);
		_exit(0);
	}
}

START_TEST(process_that_runs_is_in_the_totals)
{
	struct rti_tree_account *account = open_account(&usual);
	struct rti_account_totals totals = { 0 };
	pid_t supervisor;

	ck_assert_int_eq(pipe(living), 0);
	ck_assert_int_eq(rti_account_arm(account, true), 0);
	supervisor = fork();
	if (supervisor == 0) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		fork_and_wait(leave_running);
		while (wait(NULL) > 0)
			;
		_exit(0);
	}
	ck_assert_int_eq(rti_account_arm(account, false), 0);
	for (int i = 0; i < LOOKS && !(totals.is_whole && totals.use.cpu_ns >= 10 * MS); i++) {
		ck_assert_int_eq(rti_account_read(account, &totals), 0);
		usleep(NAP_US);
	}
	ck_assert(totals.is_whole);
	ck_assert_uint_eq(totals.running, 1);
	ck_assert_uint_lt(totals.use.cpu_ns, 20 * MS);
	ck_assert_int_eq(write(living[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(supervisor, NULL, 0), supervisor);
	if (!settle(account, &totals))
		return;
	ck_assert_uint_ge(totals.use.cpu_ns, 20 * MS);
	rti_account_close(account);
	close(living[0]);
	close(living[1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree_account");
	TCase *totals = suite_case(suite, "totals"), *limits = suite_case(suite, "limits");

	if (!IS_BUILT)
		return suite_skip("the BPF plug-in was not built");
	if (!has_bpf_accounting())
		return suite_skip("BPF programs cannot account for processes here");
	tcase_add_test(totals, children_that_are_waited_for_have_what_wait4_says);
	tcase_add_test(totals, children_that_no_process_waits_for_are_counted);
	tcase_add_test(totals, threads_are_of_one_process);
	tcase_add_test(totals, exec_by_another_thread_is_of_the_same_process);
	tcase_add_test(totals, peak_of_spawned_program_excludes_its_parent);
	tcase_add_test(totals, pid_of_another_namespace_is_that_of_the_caller);
	tcase_add_test(totals, process_that_runs_is_in_the_totals);
	tcase_add_test(limits, without_storage_few_tasks_are_whole_and_more_are_not);
	tcase_add_test(limits, processes_without_row_are_in_the_totals);
	tcase_add_test(limits, records_that_do_not_fit_are_counted);
	tcase_add_test(limits, forked_child_of_the_owner_is_refused);
	tcase_add_test(limits, accounts_do_not_mix);
	return suite_run(suite);
}
