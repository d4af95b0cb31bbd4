/* SPDX-License-Identifier: MIT */
/* What a request asks of the batch reader: to skip an idle process, or to read only some fields. */
#include "batch_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/procfs.h"

#define MS 1000000
#define MIB (1 << 20)

static void burn_a_little(void *arg)
{
	(void)arg;
	burn_cpu_ns(4 * MS);
}

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

/* A thread is off its CPU, and all that it did is in its counts. In state S it may still be on the
 * way there. */
static void wait_until_blocked(int32_t pid, int32_t tid)
{
	do {
		sched_yield();
		batch_read_text(rti_task_path(pid, tid, "syscall").text);
	} while (strncmp(batch_fix.buf.data, "running", strlen("running")) == 0);
}

/* CPU time of a thread, as the scheduler counts it. */
static uint64_t read_run_ns(int32_t pid, int32_t tid)
{
	batch_read_text(rti_task_path(pid, tid, "schedstat").text);
	return strtoull(batch_fix.buf.data, NULL, 10);
}

static void check_skipped(int32_t pid)
{
	struct rti_batch_row full, row;

	batch_read_row(pid, &full);
	for (int i = 0; i < 2; i++) {
		batch_request_unless_idle(pid, full.cpu_ns, i ? full.rss_pages : RTI_BATCH_ANY_RSS,
		                          &row);
		ck_assert_uint_eq(row.has, RTI_BATCH_IDLE);
		ck_assert_uint_eq(row.cpu_ns, full.cpu_ns);
		ck_assert_uint_eq(row.start_ns, full.start_ns);
		ck_assert_uint_eq(row.minflt, 0x5a5a5a5a5a5a5a5a); /* untouched */
	}
	for (int i = -1; i <= 1; i += 2) {
		batch_request_unless_idle(pid, full.cpu_ns + (uint64_t)i, RTI_BATCH_ANY_RSS, &row);
		ck_assert_mem_eq(&row, &full, sizeof(row));
	}
	for (int i = full.rss_pages ? -1 : 1; i <= 1; i += 2) {
		batch_request_unless_idle(pid, full.cpu_ns, full.rss_pages + (uint64_t)i, &row);
		ck_assert_mem_eq(&row, &full, sizeof(row));
	}
}

START_TEST(row_of_idle_process_is_skipped)
{
	struct child child;
	int ended = 3;

	child_start(&child, burn_a_little, NULL);
	wait_until_blocked(child.pid, child.pid);
	check_skipped(child.pid);

	child_let_die(&child);
	check_skipped(child.pid);

	child_end(&child);
	child_start(&child, batch_start_and_end_threads, &ended);
	batch_stop_process(child.pid);
	check_skipped(child.pid);
	batch_end_child(&child);
}
END_TEST

static void map_file(void *arg)
{
	const char *bytes = mmap(NULL, MIB, PROT_READ, MAP_SHARED, *(const int *)arg, 0);
	long sum = 0;

	for (int i = 0; i < MIB; i += 4096)
		sum += bytes[i];
	if (sum != 0)
		_exit(1);
}

/* Its file is cut, so the pages are gone. */
START_TEST(row_of_process_that_loses_pages_without_a_run_is_not_skipped)
{
	struct rti_batch_row full, row;
	struct child child;
	FILE *file = tmpfile();
	int fd = fileno(file);

	ck_assert_int_eq(ftruncate(fd, MIB), 0);
	child_start(&child, map_file, &fd);
	wait_until_blocked(child.pid, child.pid);
	batch_read_row(child.pid, &full);
	ck_assert_int_eq(ftruncate(fd, 0), 0);

	batch_request_unless_idle(child.pid, full.cpu_ns, full.rss_pages, &row);

	ck_assert_uint_eq(row.has & RTI_BATCH_IDLE, 0);
	ck_assert_uint_eq(row.cpu_ns, full.cpu_ns);
	ck_assert_uint_eq(row.rss_pages, full.rss_pages - MIB / batch_fix.platform.page_size);
	batch_request_unless_idle(child.pid, full.cpu_ns, row.rss_pages, &row);
	ck_assert_uint_eq(row.has, RTI_BATCH_IDLE);
	batch_end_child(&child);
	fclose(file);
}
END_TEST

static void *echo_bytes(void *arg)
{
	const int *fd = arg;
	char byte;

	while (read(fd[0], &byte, 1) == 1 && write(fd[1], &byte, 1) == 1)
		;
	return NULL;
}

/* Echoes in another thread than the leader. */
static void echo_in_thread(void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, echo_bytes, arg);
}

static int store_tid(void *arg, const char *name)
{
	*(int32_t *)arg = rti_path_number(name);
	return 0;
}

/* Even if the process only reads a byte and writes it. */
START_TEST(row_of_process_that_ran_briefly_is_not_skipped)
{
	struct rti_batch_row last, row;
	struct child child;
	int to[2], from[2], fd[2];
	int32_t tid;
	uint64_t run_ns;
	char byte = 0;

	ck_assert_int_eq(pipe(to) + pipe(from), 0);
	fd[0] = to[0];
	fd[1] = from[1];
	child_start(&child, echo_in_thread, fd);
	ck_assert_int_eq(rti_procfs_list(&batch_fix.procfs, RTI_PROC,
	                                 rti_pid_path(child.pid, "task").text, store_tid, &tid),
	                 0);
	ck_assert_int_ne(tid, child.pid);

	for (int i = 0; i < 1000; i++) {
		wait_until_blocked(child.pid, tid);
		batch_read_row(child.pid, &last);
		run_ns = read_run_ns(child.pid, tid);
		ck_assert_int_eq((int)write(to[1], &byte, 1) + (int)read(from[0], &byte, 1), 2);
		wait_until_blocked(child.pid, tid);
		/* In a virtual machine, time that the host took is subtracted: nothing may be left
		 * of a short run. */
		if (read_run_ns(child.pid, tid) == run_ns)
			continue;
		batch_request_unless_idle(child.pid, last.cpu_ns, RTI_BATCH_ANY_RSS, &row);
		ck_assert_uint_eq(row.has & RTI_BATCH_IDLE, 0);
		ck_assert_uint_gt(row.cpu_ns, last.cpu_ns);
		ck_assert_uint_gt(row.voluntary_switches, last.voluntary_switches);
	}
	batch_end_child(&child);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
}
END_TEST

static void hold_shared_memory_and_reap(void *arg)
{
	char *shared = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	memset(shared, 1, MIB);
	reap_children_and_ignore_sigchld(arg);
}

static void check_memory_fields(const struct rti_batch_row *row, const struct rti_batch_row *full,
                                uint32_t want)
{
	bool has_rss = want & RTI_BATCH_RSS, has_peak = want & RTI_BATCH_PEAK;

	ck_assert_uint_gt(full->shmem_pages, 0);
	ck_assert_uint_eq(row->rss_pages, has_rss ? full->rss_pages : 0);
	ck_assert_uint_eq(row->shared_pages, has_rss ? full->shared_pages : 0);
	ck_assert_uint_eq(row->size_pages, has_rss ? full->size_pages : 0);
	ck_assert_uint_eq(row->stack, has_rss ? full->stack : 0);
	ck_assert_uint_eq(row->shmem_pages, has_peak ? full->shmem_pages : 0);
	ck_assert_uint_eq(row->peak_rss_pages, has_peak ? full->peak_rss_pages : 0);
}

static uint32_t find_filled_fields(const struct rti_batch_row *row)
{
	return (row->rss_pages ? RTI_BATCH_RSS : 0) | (row->peak_rss_pages ? RTI_BATCH_PEAK : 0) |
	       (row->rchar + row->wchar + row->read_bytes + row->write_bytes ? RTI_BATCH_IO : 0) |
	       (row->comm[0] ? RTI_BATCH_STATUS : 0);
}

START_TEST(row_has_the_requested_fields_only)
{
	struct child child;

	/* its figures are not 0, and it ignores SIGCHLD */
	child_start(&child, hold_shared_memory_and_reap, NULL);
	batch_stop_process(child.pid);
	for (uint32_t want = 0; want <= RTI_BATCH_ALL; want++) {
		struct rti_batch_row full, row;

		batch_read_row(child.pid, &full);
		batch_send_request(&(struct rti_batch_request){ .pid = child.pid, .want = want },
		                   &row);
		ck_assert_int_eq(row.error, 0);
		ck_assert_uint_eq(row.has & RTI_BATCH_ALL, want);
		ck_assert_uint_eq(find_filled_fields(&row), want);
		ck_assert_int_eq(!!(row.has & RTI_BATCH_IGNORES_SIGCHLD),
		                 !!(want & RTI_BATCH_STATUS));
		ck_assert_uint_eq(row.cpu_ns, full.cpu_ns);
		ck_assert_uint_eq(row.minflt, full.minflt);
		ck_assert_uint_ne(row.has & RTI_BATCH_FORKED, 0);
		check_memory_fields(&row, &full, want);
	}
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
	suite = suite_create("bpf_requests");
	tests = suite_case(suite, "requests");
	tcase_add_checked_fixture(tests, batch_set_up, batch_tear_down);
	tcase_add_test(tests, row_of_idle_process_is_skipped);
	tcase_add_test(tests, row_of_process_that_loses_pages_without_a_run_is_not_skipped);
	tcase_add_test(tests, row_of_process_that_ran_briefly_is_not_skipped);
	tcase_add_test(tests, row_has_the_requested_fields_only);
	return suite_run(suite);
}
