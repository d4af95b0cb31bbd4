/* SPDX-License-Identifier: MIT */
/* Rows of the batch reader against the text files and the CPU clocks, field by field, of processes
 * that stand still. */
#include "batch_fixture.h"
#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/procfs.h"

#define MS 1000000
#define MIB (1 << 20)
#define QUIET_CHILDREN 42

static void check_stat(const struct rti_batch_row *row, const struct batch_text *text)
{
	struct rti_pid_stat stat = { 0 };

	rti_batch_stat(row, batch_fix.platform.tick_ns, &stat);
	ck_assert_int_eq(stat.ppid, text->stat.ppid);
	ck_assert_int_eq(stat.state, text->stat.state);
	ck_assert_str_eq(stat.comm, text->stat.comm);
	ck_assert_int_eq(stat.pgrp, text->stat.pgrp);
	ck_assert_int_eq(stat.session, text->stat.session);
	ck_assert_uint_eq(stat.minflt, text->stat.minflt);
	ck_assert_uint_eq(stat.majflt, text->stat.majflt);
	ck_assert_uint_eq(stat.cminflt, text->stat.cminflt);
	ck_assert_uint_eq(stat.cmajflt, text->stat.cmajflt);
	ck_assert_uint_eq(stat.cutime, text->stat.cutime);
	ck_assert_uint_eq(stat.cstime, text->stat.cstime);
	ck_assert_uint_eq(stat.num_threads, text->stat.num_threads);
	ck_assert_uint_eq(row->start_ns / batch_fix.platform.tick_ns, text->stat.starttime);
	ck_assert_uint_eq(stat.flags & RTI_PF_FORKNOEXEC, text->stat.flags & RTI_PF_FORKNOEXEC);
	ck_assert_uint_eq(stat.stack, text->memory_stat_stack);
}

/* Before Linux 6.17, not every file with these figures shows the exact ones. */
static void check_memory(const struct rti_batch_row *row, const struct batch_text *text)
{
	const uint64_t page_size = batch_fix.platform.page_size;

	ck_assert_int_eq(row->rss_pages > 0, text->memory_tid != 0);
	ck_assert_int_eq(row->peak_rss_pages > 0, text->memory_tid != 0);
	ck_assert_int_eq(row->shared_pages > 0, text->memory_tid != 0);
	ck_assert_uint_eq(row->size_pages, text->statm.size_pages);
	ck_assert_uint_eq(row->stack, text->memory_stat_stack);
	if (sysconf(_SC_NPROCESSORS_CONF) > RTI_BATCH_CPUS) {
		ck_assert_uint_eq(row->rss_pages, text->memory_stat_rss);
	} else if (batch_is_kernel(6, 17) && text->memory_tid) {
		ck_assert_uint_eq(row->rss_pages, text->statm.resident_pages);
		ck_assert_uint_eq(row->shared_pages, text->statm.shared_pages);
		ck_assert_uint_eq(row->shmem_pages * page_size, text->shmem_kib * 1024);
		ck_assert_uint_eq(row->peak_rss_pages * page_size, text->peak_kib * 1024);
	}
}

static void check_rest(const struct rti_batch_row *row, const struct batch_text *text,
                       bool has_ended_threads)
{
	struct rti_cpu_clock clock;

	rti_batch_clock(row, &clock);
	ck_assert_uint_eq(clock.total_ns, text->clock.total_ns);
	ck_assert_uint_eq(clock.user_part_ns, text->clock.user_part_ns);
	ck_assert_uint_eq(clock.both_parts_ns, text->clock.both_parts_ns);
	ck_assert_uint_ne(row->has & RTI_BATCH_IO, 0);
	ck_assert_uint_eq(row->rchar, text->io.rchar);
	ck_assert_uint_eq(row->wchar, text->io.wchar);
	ck_assert_uint_eq(row->read_bytes, text->io.read_bytes);
	ck_assert_uint_eq(row->write_bytes, text->io.write_bytes);
	ck_assert_uint_eq(row->cancelled_write_bytes, text->io.cancelled_write_bytes);
	ck_assert_uint_eq(row->syscr, text->io.syscr);
	ck_assert_uint_eq(row->syscw, text->io.syscw);
	ck_assert_uint_ge(row->voluntary_switches, text->voluntary);
	ck_assert_uint_ge(row->involuntary_switches, text->involuntary);
	if (!has_ended_threads) {
		ck_assert_uint_eq(row->voluntary_switches, text->voluntary);
		ck_assert_uint_eq(row->involuntary_switches, text->involuntary);
	}
	ck_assert_int_eq(!!(row->has & RTI_BATCH_IGNORES_SIGCHLD),
	                 text->stat.sigignore >> (SIGCHLD - 1) & 1);
}

static void check_process(int32_t pid, bool has_ended_threads)
{
	struct rti_batch_row row;
	struct batch_text text;

	batch_read_row_and_text(pid, &row, &text);
	ck_assert_int_eq(row.error, 0);
	check_stat(&row, &text);
	check_memory(&row, &text);
	check_rest(&row, &text, has_ended_threads);
}

static void burn_a_little(void *arg)
{
	burn_cpu_ns((uint64_t)(*(int *)arg % 7 + 1) * MS);
}

START_TEST(row_of_sleeping_or_stopped_process_equals_text)
{
	struct child child[QUIET_CHILDREN];

	for (int i = 0; i < QUIET_CHILDREN; i++) {
		child_start(&child[i], burn_a_little, &i);
		if (i % 2)
			batch_stop_process(child[i].pid);
	}
	for (int i = 0; i < QUIET_CHILDREN; i++)
		check_process(child[i].pid, false);
	for (int i = 0; i < QUIET_CHILDREN; i++)
		batch_end_child(&child[i]);
}
END_TEST

START_TEST(row_of_process_with_live_and_exited_threads_equals_text)
{
	for (int ended = 0; ended <= 3; ended += 3) {
		struct rti_batch_row row;
		struct child child;

		child_start(&child, batch_start_and_end_threads, &ended);
		batch_stop_process(child.pid);
		check_process(child.pid, ended > 0);
		batch_read_row(child.pid, &row);
		ck_assert_uint_eq(row.threads, BATCH_THREADS + 1);
		ck_assert_uint_ge(row.cpu_ns, (uint64_t)(BATCH_THREADS * 2 + ended * 3) * MS);
		batch_end_child(&child);
	}
}
END_TEST

/* Waits until the leader has exited, and then reports that to the test. */
static void *report_exited_leader(void *arg)
{
	int32_t pid = getpid();

	for (;;) {
		struct rti_pid_stat stat;

		batch_read_text(rti_task_path(pid, pid, "stat").text);
		if (rti_parse_pid_stat(batch_fix.buf.data, batch_fix.buf.len, &stat) == 0 &&
		    stat.state == 'Z')
			break;
		sched_yield();
	}
	if (write(*(int *)arg, "", 1) != 1)
		_exit(99);
	for (;;)
		pause();
	return NULL;
}

START_TEST(row_of_process_without_leader_equals_text)
{
	struct rti_batch_row row;
	static int ready[2]; /* the thread outlives the stack of the leader */
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, report_exited_leader, &ready[1]);
		pthread_exit(NULL);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);

	batch_stop_process(pid);
	check_process(pid, false);

	batch_read_row(pid, &row);
	ck_assert_uint_gt(row.rss_pages, 0);

	kill_process(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
}
END_TEST

START_TEST(row_of_zombie_equals_text)
{
	struct rti_batch_row row;
	struct child child;

	child_start(&child, burn_a_little, &(int){ 6 });
	child_let_die(&child);
	batch_read_row(getpid(), &row);
	check_process(child.pid, false);

	batch_read_row(child.pid, &row);
	ck_assert_int_eq((int)row.state, 'Z');
	ck_assert_uint_eq(row.has & RTI_BATCH_ALL, RTI_BATCH_ALL); /* present, and 0 */
	ck_assert_uint_eq(row.rss_pages + row.peak_rss_pages, 0);
	ck_assert_uint_eq(row.shared_pages + row.shmem_pages + row.size_pages + row.stack, 0);
	child_end(&child);
}
END_TEST

static void hold_memory(void *arg)
{
	char *block =
	    mmap(NULL, 140 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *shared =
	    mmap(NULL, 10 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	memset(block, 1, 140 * MIB);
	memset(shared, 1, 10 * MIB);
	munmap(block, 50 * MIB);
}

START_TEST(row_of_process_with_large_memory_equals_text)
{
	struct rti_batch_row row;
	struct child child;

	child_start(&child, hold_memory, NULL);
	batch_stop_process(child.pid);
	check_process(child.pid, false);

	batch_read_row(child.pid, &row);
	ck_assert_uint_ge(row.rss_pages * batch_fix.platform.page_size, 100 * MIB);
	ck_assert_uint_lt(row.rss_pages * batch_fix.platform.page_size, 120 * MIB);
	/* minus what the CPUs have gathered */
	ck_assert_uint_ge(row.peak_rss_pages * batch_fix.platform.page_size, 149 * MIB);
	ck_assert_uint_ge(row.shmem_pages * batch_fix.platform.page_size, 9 * MIB);
	ck_assert_uint_lt(row.shmem_pages * batch_fix.platform.page_size, 11 * MIB);
	ck_assert_uint_gt(row.shared_pages, row.shmem_pages);
	ck_assert_uint_lt(row.shared_pages * batch_fix.platform.page_size, 20 * MIB);
	ck_assert_uint_ge(row.size_pages, row.rss_pages);
	batch_end_child(&child);
}
END_TEST

/* Executes a program that runs until it is killed. */
static pid_t start_program(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("sleep", "sleep", "1000", (char *)NULL);
		_exit(99);
	}
	return pid;
}

static int has_executed(void *arg)
{
	struct rti_pid_stat stat;

	batch_read_text(rti_pid_path(*(pid_t *)arg, "stat").text);
	ck_assert_int_eq(rti_parse_pid_stat(batch_fix.buf.data, batch_fix.buf.len, &stat), 0);
	return strcmp(stat.comm, "sleep") == 0 && stat.state == 'S';
}

static void become_another(void *arg)
{
	(void)arg;
	setsid();
	if (setuid(4242) < 0)
		_exit(99);
}

START_TEST(row_has_user_session_and_group)
{
	struct rti_batch_row row;
	struct child child;

	child_start(&child, become_another, NULL);
	batch_read_row(child.pid, &row);
	ck_assert_uint_eq(row.uid, 4242);
	ck_assert_int_eq((pid_t)row.session, getsid(child.pid));
	ck_assert_int_eq((pid_t)row.session, child.pid);
	ck_assert_int_eq((pid_t)row.pgrp, child.pid);
	check_process(child.pid, false);
	batch_end_child(&child);
}
END_TEST

START_TEST(row_tells_a_forked_process_from_one_that_has_executed_a_program)
{
	struct rti_batch_row forked, executed;
	struct child child;
	pid_t pid;

	child_start(&child, burn_a_little, &(int){ 1 });
	pid = start_program();
	wait_until(has_executed, &pid);

	check_process(child.pid, false);
	check_process(pid, false);

	batch_read_row(child.pid, &forked);
	batch_read_row(pid, &executed);
	ck_assert_uint_ne(forked.has & RTI_BATCH_FORKED, 0);
	ck_assert_uint_eq(executed.has & RTI_BATCH_FORKED, 0);
	ck_assert_uint_ne(forked.stack, 0);
	ck_assert_uint_ne(executed.stack, 0);
	ck_assert_uint_ne(forked.stack, executed.stack);
	kill_process(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	batch_end_child(&child);
}
END_TEST

static void do_io(void *arg)
{
	static char block[3 * MIB];
	FILE *file = tmpfile();

	(void)arg;
	if (!file || fwrite(block, 1, sizeof(block), file) != sizeof(block) || fflush(file) != 0)
		_exit(1);
	rewind(file);
	if (fread(block, 1, sizeof(block), file) != sizeof(block) ||
	    ftruncate(fileno(file), MIB) < 0)
		_exit(1);
	fclose(file);
}

START_TEST(row_of_process_with_io_equals_text)
{
	struct rti_batch_row row;
	struct child child;

	child_start(&child, do_io, NULL);
	batch_stop_process(child.pid);
	check_process(child.pid, false);

	batch_read_row(child.pid, &row);
	ck_assert_uint_ge(row.wchar, 3 * MIB);
	ck_assert_uint_ge(row.rchar, 3 * MIB);
	batch_end_child(&child);
}
END_TEST

static void reap_children_and_ignore_sigchld(void *arg)
{
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			burn_cpu_ns(20 * MS);
			do_io(arg);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	signal(SIGCHLD, SIG_IGN);
}

START_TEST(row_of_process_with_reaped_children_equals_text)
{
	struct rti_batch_row row;
	struct child child;

	child_start(&child, reap_children_and_ignore_sigchld, NULL);
	batch_stop_process(child.pid);
	check_process(child.pid, false);

	batch_read_row(child.pid, &row);
	ck_assert_uint_ge(row.reaped_user_ns + row.reaped_system_ns, 100 * MS);
	ck_assert_uint_gt(row.cminflt, 100);
	ck_assert_uint_ge(row.wchar, 15 * MIB);
	ck_assert_uint_ne(row.has & RTI_BATCH_IGNORES_SIGCHLD, 0);
	batch_end_child(&child);
}
END_TEST

static void set_name(void *arg)
{
	prctl(PR_SET_NAME, arg);
}

START_TEST(row_of_process_with_odd_comm_equals_text)
{
	char name[][16] = { "", "a) S (b", "back\\slash", "new\nline\t",
		            "\\\n\\\n\\\n\\\n\\\n\\\n\\\n\\" };

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		struct child child;

		child_start(&child, set_name, name[i]);
		check_process(child.pid, false);
		child_end(&child);
	}
}
END_TEST

static void *end_at_once(void *arg)
{
	return arg;
}

static void *change_threads(void *arg)
{
	for (;;) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, end_at_once, arg) == 0)
			pthread_join(thread, NULL);
	}
	return NULL;
}

static void start_changing_threads(void *arg)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, change_threads, arg);
}

/* A thread that exits is moved from the list of threads to the process. It is counted in exactly
 * one of the two. */
START_TEST(thread_that_exits_during_the_read_is_counted_once)
{
	struct rti_batch_row last = { 0 }, row;
	struct child child;
	int good = 0;

	child_start(&child, start_changing_threads, NULL);
	for (int i = 0; i < 200000; i++) {
		batch_send_request(&(struct rti_batch_request){ child.pid, RTI_BATCH_ALL,
		                                                i % 2 ? last.cpu_ns : 0,
		                                                RTI_BATCH_ANY_RSS },
		                   &row);
		if (row.error == -EAGAIN || row.has == RTI_BATCH_IDLE)
			continue;
		ck_assert_int_eq(row.error, 0);
		ck_assert_uint_ge(row.cpu_ns, last.cpu_ns);
		ck_assert_uint_ge(row.minflt, last.minflt);
		ck_assert_uint_ge(row.rchar, last.rchar);
		last = row;
		good++;
	}
	ck_assert_int_gt(good, 1000);
	batch_end_child(&child);
}
END_TEST

int main(void)
{
	const char *why;
	Suite *suite;
	TCase *tests;

	if (batch_probe(&why) != BATCH_FULL)
		return suite_skip(why);
	suite = suite_create("bpf_rows");
	tests = suite_case(suite, "rows");
	tcase_add_checked_fixture(tests, batch_set_up, batch_tear_down);
	tcase_add_test(tests, row_of_sleeping_or_stopped_process_equals_text);
	tcase_add_test(tests, row_of_process_with_live_and_exited_threads_equals_text);
	tcase_add_test(tests, row_of_process_without_leader_equals_text);
	tcase_add_test(tests, row_of_zombie_equals_text);
	tcase_add_test(tests, row_of_process_with_large_memory_equals_text);
	tcase_add_test(tests, row_tells_a_forked_process_from_one_that_has_executed_a_program);
	tcase_add_test(tests, row_of_process_with_io_equals_text);
	tcase_add_test(tests, row_of_process_with_reaped_children_equals_text);
	tcase_add_test(tests, row_of_process_with_odd_comm_equals_text);
	tcase_add_test(tests, row_has_user_session_and_group);
	tcase_add_test(tests, thread_that_exits_during_the_read_is_counted_once);
	return suite_run(suite);
}
