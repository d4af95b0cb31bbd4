/* SPDX-License-Identifier: MIT */
/* Rows of the BPF plug-in against the text files and the CPU clocks, field by field, of
 * processes that stand still. */
#include "bpf/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80 /* linux/sched.h; glibc has it since 2.36 */
#endif

#include "children.h"
#include "family.h"
#include "os/procfs_path.h"
#include "os/procfs.h"
#include "suite.h"

#define MS 1000000
#define MIB (1 << 20)
#define THREADS 20
#define QUIET 42 /* children of no kind */
#define MOST_CHILDREN 64
#define TRIES 100

static struct rti_batch *batch;
static struct rti_procfs procfs;
static struct rti_buf buf;
static struct rti_platform platform;

static void set_up(void)
{
	ck_assert_int_eq(rti_batch_open(&batch), 0);
	ck_assert_int_eq(rti_procfs_open(&procfs, NULL, &rti_procfs_linux), 0);
	rti_platform_init(&platform, 0);
}

static void tear_down(void)
{
	rti_buf_free(&buf);
	rti_procfs_close(&procfs);
	rti_batch_close(batch);
}

/* What the text says of a process. Memory is that of a thread that still has it. */
struct text {
	struct rti_pid_stat stat;
	uint64_t resident_pages;
	struct rti_pid_io io;
	struct rti_cpu_clock clock;
	uint64_t peak_kib, memory_stat_rss;
	uint64_t voluntary, involuntary; /* sums over the live threads */
	int32_t memory_tid;
};

static void read_text(const char *path)
{
	ck_assert_int_eq(rti_procfs_read(&procfs, RTI_PROC, path, RTI_SINGLE_RECORD, &buf), 0);
}

static int add_thread(void *arg, const char *name)
{
	struct text *text = arg;
	int32_t tid = rti_path_number(name);
	struct rti_pid_status status;

	read_text(rti_task_path(text->stat.pid, tid, "status").text);
	ck_assert_int_eq(rti_parse_pid_status(buf.data, buf.len, &status), 0);
	text->voluntary += status.voluntary_switches;
	text->involuntary += status.involuntary_switches;
	if (!text->memory_tid && status.has & RTI_STATUS_HWM) {
		text->memory_tid = tid;
		text->peak_kib = status.vm_hwm_kib;
	}
	return 0;
}

static void read_memory(struct text *text)
{
	struct rti_pid_stat stat;

	read_text(rti_task_path(text->stat.pid, text->memory_tid, "statm").text);
	ck_assert_int_eq(rti_parse_pid_statm(buf.data, buf.len, &text->resident_pages), 0);
	read_text(rti_task_path(text->stat.pid, text->memory_tid, "stat").text);
	ck_assert_int_eq(rti_parse_pid_stat(buf.data, buf.len, &stat), 0);
	text->memory_stat_rss = stat.rss_pages;
}

static void read_process(int32_t pid, struct text *text)
{
	memset(text, 0, sizeof(*text));
	ck_assert_int_eq(platform.cpu_clock(pid, &text->clock), 0);
	read_text(rti_pid_path(pid, "stat").text);
	ck_assert_int_eq(rti_parse_pid_stat(buf.data, buf.len, &text->stat), 0);
	read_text(rti_pid_path(pid, "io").text);
	ck_assert_int_eq(rti_parse_pid_io(buf.data, buf.len, &text->io), 0);
	ck_assert_int_eq(
	    rti_procfs_list(&procfs, RTI_PROC, rti_pid_path(pid, "task").text, add_thread, text),
	    0);
	if (text->memory_tid)
		read_memory(text);
}

static void send_request(const struct rti_batch_request *request, struct rti_batch_row *row)
{
	memset(row, 0x5a, sizeof(*row));
	ck_assert_int_eq(rti_batch_read(batch, request, 1, row), 0);
}

static void read_row(int32_t pid, struct rti_batch_row *row)
{
	send_request(&(struct rti_batch_request){ .pid = pid, .want = RTI_BATCH_ALL }, row);
}

/* A row and a text of the same moment: the text did not change while the row was read. */
static void read_both(int32_t pid, struct rti_batch_row *row, struct text *text)
{
	for (int i = 0; i < TRIES; i++) {
		struct text after;

		read_process(pid, text);
		read_row(pid, row);
		read_process(pid, &after);
		if (memcmp(text, &after, sizeof(after)) == 0)
			return;
	}
	ck_abort_msg("process %d does not stand still", pid);
}

static void check_stat(const struct rti_batch_row *row, const struct text *text)
{
	struct rti_pid_stat stat = { 0 };

	rti_batch_stat(row, platform.tick_ns, &stat);
	ck_assert_int_eq(stat.ppid, text->stat.ppid);
	ck_assert_int_eq(stat.state, text->stat.state);
	ck_assert_str_eq(stat.comm, text->stat.comm);
	ck_assert_uint_eq(stat.minflt, text->stat.minflt);
	ck_assert_uint_eq(stat.majflt, text->stat.majflt);
	ck_assert_uint_eq(stat.cminflt, text->stat.cminflt);
	ck_assert_uint_eq(stat.cmajflt, text->stat.cmajflt);
	ck_assert_uint_eq(stat.cutime, text->stat.cutime);
	ck_assert_uint_eq(stat.cstime, text->stat.cstime);
	ck_assert_uint_eq(stat.num_threads, text->stat.num_threads);
	ck_assert_uint_eq(row->start_ns / platform.tick_ns, text->stat.starttime);
}

static int is_kernel(int major, int minor)
{
	struct utsname name;
	int is[2] = { 0 };

	uname(&name);
	sscanf(name.release, "%d.%d", &is[0], &is[1]);
	return is[0] > major || (is[0] == major && is[1] >= minor);
}

/* Before Linux 6.17 not all that say so tell the exact figure. */
static void check_memory(const struct rti_batch_row *row, const struct text *text)
{
	ck_assert_int_eq(row->rss_pages > 0, text->memory_tid != 0);
	ck_assert_int_eq(row->peak_rss_pages > 0, text->memory_tid != 0);
	if (sysconf(_SC_NPROCESSORS_CONF) > RTI_BATCH_CPUS) {
		ck_assert_uint_eq(row->rss_pages, text->memory_stat_rss);
	} else if (is_kernel(6, 17) && text->memory_tid) {
		ck_assert_uint_eq(row->rss_pages, text->resident_pages);
		ck_assert_uint_eq(row->peak_rss_pages * platform.page_size, text->peak_kib * 1024);
	}
}

static void check_rest(const struct rti_batch_row *row, const struct text *text,
                       int has_ended_threads)
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
	ck_assert_uint_ge(row->voluntary_switches, text->voluntary);
	ck_assert_uint_ge(row->involuntary_switches, text->involuntary);
	if (!has_ended_threads) {
		ck_assert_uint_eq(row->voluntary_switches, text->voluntary);
		ck_assert_uint_eq(row->involuntary_switches, text->involuntary);
	}
	ck_assert_int_eq(!!(row->has & RTI_BATCH_IGNORES_SIGCHLD),
	                 text->stat.sigignore >> (SIGCHLD - 1) & 1);
}

static void check_process(int32_t pid, int has_ended_threads)
{
	struct rti_batch_row row;
	struct text text;

	read_both(pid, &row, &text);
	ck_assert_int_eq(row.error, 0);
	check_stat(&row, &text);
	check_memory(&row, &text);
	check_rest(&row, &text, has_ended_threads);
}

/* Have it stand still. */
static void stop(pid_t pid)
{
	siginfo_t info;

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
}

static void end(struct child *child)
{
	kill(child->pid, SIGKILL);
	child_end(child);
}

static void burn_a_little(void *arg)
{
	burn_cpu_ns((uint64_t)(*(int *)arg % 7 + 1) * MS);
}

START_TEST(quiet_processes)
{
	struct child child[QUIET];

	for (int i = 0; i < QUIET; i++) {
		child_start(&child[i], burn_a_little, &i);
		if (i % 2)
			stop(child[i].pid);
	}
	for (int i = 0; i < QUIET; i++)
		check_process(child[i].pid, 0);
	for (int i = 0; i < QUIET; i++)
		end(&child[i]);
}
END_TEST

static void *burn_and_wait(void *arg)
{
	burn_cpu_ns(2 * MS);
	pthread_barrier_wait(arg);
	for (;;)
		pause();
	return NULL;
}

static void *burn_and_end(void *arg)
{
	burn_cpu_ns(3 * MS);
	return arg;
}

/* The threads may still be leaving the barrier when this returns. */
static void have_threads(void *arg)
{
	static pthread_barrier_t ready;
	pthread_t thread;

	pthread_barrier_init(&ready, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, burn_and_wait, &ready);
	pthread_barrier_wait(&ready);
	for (int i = 0; i < *(int *)arg; i++) {
		pthread_create(&thread, NULL, burn_and_end, NULL);
		pthread_join(thread, NULL);
	}
}

START_TEST(threads_that_live_and_that_have_ended)
{
	for (int ended = 0; ended <= 3; ended += 3) {
		struct rti_batch_row row;
		struct child child;

		child_start(&child, have_threads, &ended);
		stop(child.pid);
		check_process(child.pid, ended);
		read_row(child.pid, &row);
		ck_assert_uint_eq(row.threads, THREADS + 1);
		ck_assert_uint_ge(row.cpu_ns, (uint64_t)(THREADS * 2 + ended * 3) * MS);
		end(&child);
	}
}
END_TEST

/* The leader ends, and another thread says that all is ready. */
static void *speak_for_leader(void *arg)
{
	int32_t pid = getpid();

	for (;;) {
		struct rti_pid_stat stat;

		read_text(rti_task_path(pid, pid, "stat").text);
		if (rti_parse_pid_stat(buf.data, buf.len, &stat) == 0 && stat.state == 'Z')
			break;
		sched_yield();
	}
	if (write(*(int *)arg, "", 1) != 1)
		_exit(99);
	for (;;)
		pause();
	return NULL;
}

START_TEST(leader_that_ended_before_the_rest)
{
	struct rti_batch_row row;
	static int ready[2]; /* the thread outlives the leader's stack */
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, speak_for_leader, &ready[1]);
		pthread_exit(NULL);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	stop(pid);
	check_process(pid, 0);
	read_row(pid, &row);
	ck_assert_uint_gt(row.rss_pages, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
}
END_TEST

static void nothing(void *arg)
{
	(void)arg;
}

START_TEST(zombie)
{
	struct rti_batch_row row;
	struct child child;

	child_start(&child, burn_a_little, &(int){ 6 });
	child_let_die(&child);
	read_row(getpid(), &row);
	check_process(child.pid, 0);
	read_row(child.pid, &row);
	ck_assert_int_eq((int)row.state, 'Z');
	ck_assert_uint_eq(row.has & RTI_BATCH_ALL, RTI_BATCH_ALL); /* which is 0 */
	ck_assert_uint_eq(row.rss_pages + row.peak_rss_pages, 0);
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

START_TEST(much_memory_and_a_higher_peak)
{
	struct rti_batch_row row;
	struct child child;

	child_start(&child, hold_memory, NULL);
	stop(child.pid);
	check_process(child.pid, 0);
	read_row(child.pid, &row);
	ck_assert_uint_ge(row.rss_pages * platform.page_size, 100 * MIB);
	ck_assert_uint_lt(row.rss_pages * platform.page_size, 120 * MIB);
	/* less what the CPUs had gathered */
	ck_assert_uint_ge(row.peak_rss_pages * platform.page_size, 149 * MIB);
	end(&child);
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

START_TEST(input_and_output)
{
	struct rti_batch_row row;
	struct child child;

	child_start(&child, do_io, NULL);
	stop(child.pid);
	check_process(child.pid, 0);
	read_row(child.pid, &row);
	ck_assert_uint_ge(row.wchar, 3 * MIB);
	ck_assert_uint_ge(row.rchar, 3 * MIB);
	end(&child);
}
END_TEST

static void reap_some(void *arg)
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

START_TEST(reaped_children)
{
	struct rti_batch_row row;
	struct child child;

	child_start(&child, reap_some, NULL);
	stop(child.pid);
	check_process(child.pid, 0);
	read_row(child.pid, &row);
	ck_assert_uint_ge(row.reaped_user_ns + row.reaped_system_ns, 100 * MS);
	ck_assert_uint_gt(row.cminflt, 100);
	ck_assert_uint_ge(row.wchar, 15 * MIB);
	ck_assert_uint_ne(row.has & RTI_BATCH_IGNORES_SIGCHLD, 0);
	end(&child);
}
END_TEST

static void set_name(void *arg)
{
	prctl(PR_SET_NAME, arg);
}

START_TEST(names)
{
	char name[][16] = { "", "a) S (b", "back\\slash", "new\nline\t",
		            "\\\n\\\n\\\n\\\n\\\n\\\n\\\n\\" };

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		struct child child;

		child_start(&child, set_name, name[i]);
		check_process(child.pid, 0);
		child_end(&child);
	}
}
END_TEST

/* Of a process that has used as much as when it was read last. */
static void ask_whether_idle(int32_t pid, uint64_t cpu_ns, struct rti_batch_row *row)
{
	send_request(
	    &(struct rti_batch_request){ .pid = pid, .want = RTI_BATCH_ALL, .idle_ns = cpu_ns },
	    row);
	ck_assert_int_eq(row->error, 0);
}

static void check_skipped(int32_t pid)
{
	struct rti_batch_row full, row;

	read_row(pid, &full);
	ask_whether_idle(pid, full.cpu_ns, &row);
	ck_assert_uint_eq(row.has, RTI_BATCH_IDLE);
	ck_assert_uint_eq(row.cpu_ns, full.cpu_ns);
	ck_assert_uint_eq(row.start_ns, full.start_ns);
	ck_assert_uint_eq(row.minflt, 0x5a5a5a5a5a5a5a5a); /* as it was before */
	for (int i = -1; i <= 1; i += 2) {
		ask_whether_idle(pid, full.cpu_ns + (uint64_t)i, &row);
		ck_assert_mem_eq(&row, &full, sizeof(row));
	}
}

START_TEST(who_has_not_run_is_skipped)
{
	int ended = 3;
	struct child child;

	child_start(&child, burn_a_little, &ended);
	check_skipped(child.pid);
	child_let_die(&child);
	check_skipped(child.pid);
	child_end(&child);
	child_start(&child, have_threads, &ended);
	stop(child.pid);
	check_skipped(child.pid);
	end(&child);
}
END_TEST

static void *answer(void *arg)
{
	const int *fd = arg;
	char byte;

	while (read(fd[0], &byte, 1) == 1 && write(fd[1], &byte, 1) == 1)
		;
	return NULL;
}

/* The first thread, or another one. */
static void answer_in_thread(void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, answer, arg);
}

static void sleep_until_blocked(int32_t pid, int32_t tid)
{
	struct rti_pid_stat stat;

	do {
		sched_yield();
		read_text(rti_task_path(pid, tid, "stat").text);
		ck_assert_int_eq(rti_parse_pid_stat(buf.data, buf.len, &stat), 0);
	} while (stat.state != 'S');
}

static int note_tid(void *arg, const char *name)
{
	*(int32_t *)arg = rti_path_number(name);
	return 0;
}

/* However little: to read a byte and to write it. */
START_TEST(who_has_run_a_little_is_not_skipped)
{
	struct rti_batch_row last, row;
	struct child child;
	int to[2], from[2], fd[2];
	int32_t tid;
	char byte = 0;

	ck_assert_int_eq(pipe(to) + pipe(from), 0);
	fd[0] = to[0];
	fd[1] = from[1];
	child_start(&child, answer_in_thread, fd);
	ck_assert_int_eq(rti_procfs_list(&procfs, RTI_PROC, rti_pid_path(child.pid, "task").text,
	                                 note_tid, &tid),
	                 0);
	ck_assert_int_ne(tid, child.pid);
	for (int i = 0; i < 1000; i++) {
		sleep_until_blocked(child.pid, tid);
		read_row(child.pid, &last);
		ck_assert_int_eq((int)write(to[1], &byte, 1) + (int)read(from[0], &byte, 1), 2);
		sleep_until_blocked(child.pid, tid);
		ask_whether_idle(child.pid, last.cpu_ns, &row);
		ck_assert_uint_eq(row.has & RTI_BATCH_IDLE, 0);
		ck_assert_uint_gt(row.cpu_ns, last.cpu_ns);
		ck_assert_uint_gt(row.voluntary_switches, last.voluntary_switches);
	}
	end(&child);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
}
END_TEST

static uint32_t told(const struct rti_batch_row *row)
{
	return (row->rss_pages ? RTI_BATCH_RSS : 0) | (row->peak_rss_pages ? RTI_BATCH_PEAK : 0) |
	       (row->rchar + row->wchar + row->read_bytes + row->write_bytes ? RTI_BATCH_IO : 0) |
	       (row->comm[0] ? RTI_BATCH_STATUS : 0);
}

START_TEST(what_is_not_wanted_is_not_told)
{
	struct child child;

	child_start(&child, reap_some, NULL); /* it ignores SIGCHLD then */
	stop(child.pid);
	for (uint32_t want = 0; want <= RTI_BATCH_ALL; want++) {
		struct rti_batch_row full, row;

		read_row(child.pid, &full);
		send_request(&(struct rti_batch_request){ .pid = child.pid, .want = want }, &row);
		ck_assert_int_eq(row.error, 0);
		ck_assert_uint_eq(row.has & RTI_BATCH_ALL, want);
		ck_assert_uint_eq(told(&row), want);
		ck_assert_int_eq(!!(row.has & RTI_BATCH_IGNORES_SIGCHLD),
		                 !!(want & RTI_BATCH_STATUS));
		ck_assert_uint_eq(row.cpu_ns, full.cpu_ns);
		ck_assert_uint_eq(row.minflt, full.minflt);
		if (want & RTI_BATCH_PEAK)
			ck_assert_uint_eq(row.peak_rss_pages, full.peak_rss_pages);
		if (want & RTI_BATCH_RSS)
			ck_assert_uint_eq(row.rss_pages, full.rss_pages);
	}
	end(&child);
}
END_TEST

START_TEST(pids_that_are_not_processes)
{
	struct child child;
	struct rti_batch_request request[5] = {
		[1].pid = -1, [2].pid = INT32_MAX, [3].pid = INT32_MIN
	};
	struct rti_batch_row row[5];

	child_start(&child, nothing, NULL);
	child_end(&child);
	request[4].pid = child.pid;
	ck_assert_int_eq(rti_batch_read(batch, request, 5, row), 0);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(row[i].error, -ESRCH);
	read_row(2, row); /* kthreadd, whose kind have names that only the text knows */
	ck_assert_int_eq(row[0].error, -EOPNOTSUPP);
}
END_TEST

START_TEST(recycled_pid_tells_by_its_start)
{
	struct rti_batch_row first, second;
	struct child child;
	struct text text;
	pid_t again = -EEXIST;

	for (int i = 0; i < TRIES && again == -EEXIST; i++) {
		child_start(&child, nothing, NULL);
		read_row(child.pid, &first);
		child_end(&child);
		again = family_fork_as(child.pid);
	}
	ck_assert_int_eq(again, child.pid);
	stop(again);
	read_both(again, &second, &text);
	ck_assert_int_eq(second.error, 0);
	ck_assert_uint_gt(second.start_ns, first.start_ns);
	ck_assert_uint_eq(second.start_ns / platform.tick_ns, text.stat.starttime);
	ask_whether_idle(again, second.cpu_ns, &first);
	ck_assert_uint_eq(first.has, RTI_BATCH_IDLE);
	ck_assert_uint_eq(first.start_ns, second.start_ns);
	kill(again, SIGKILL);
	waitpid(again, NULL, 0);
}
END_TEST

START_TEST(more_pids_than_one_call_takes)
{
	enum { COUNT = 3 * RTI_BATCH_PIDS + 7 };
	static struct rti_batch_row row[COUNT + 1];
	static struct rti_batch_request request[COUNT];
	struct rti_batch_row one[5];
	struct child child[5];

	for (int i = 0; i < 5; i++) {
		child_start(&child[i], nothing, NULL);
		read_row(child[i].pid, &one[i]);
	}
	for (int i = 0; i < COUNT; i++)
		request[i].pid = child[i % 5].pid;
	memset(row, 0x5a, sizeof(row));
	ck_assert_int_eq(rti_batch_read(batch, request, COUNT, row), 0);
	for (int i = 0; i < COUNT; i++) {
		ck_assert_int_eq(row[i].error, 0);
		ck_assert_uint_eq(row[i].start_ns, one[i % 5].start_ns);
	}
	ck_assert_int_eq(row[COUNT].error, 0x5a5a5a5a);
	ck_assert_int_eq(rti_batch_read(batch, request, 0, row), 0);
	for (int i = 0; i < 5; i++)
		end(&child[i]);
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

/* A thread that ends is moved from the list to the process: in one of the two, never both, never
 * none. */
START_TEST(threads_that_end_meanwhile_count_once)
{
	struct rti_batch_row last = { 0 }, row;
	struct child child;
	int good = 0;

	child_start(&child, start_changing_threads, NULL);
	for (int i = 0; i < 200000; i++) {
		send_request(&(struct rti_batch_request){ child.pid, RTI_BATCH_ALL,
		                                          i % 2 ? last.cpu_ns : 0 },
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
	end(&child);
}
END_TEST

/* The two share the memory that rows come in. */
START_TEST(a_forked_child_may_only_close_it)
{
	struct rti_batch_request self = { .pid = getpid() };
	struct rti_batch_row row;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int err = rti_batch_read(batch, &self, 1, &row);

		rti_batch_close(batch);
		_exit(err == -ESTALE ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	read_row(self.pid, &row);
	ck_assert_int_eq((int)row.ppid, getppid());
}
END_TEST

/* How many are open, without this flag. */
static int descriptors(int flag)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++) {
		int flags = fcntl(fd, F_GETFD);

		count += flags >= 0 && !(flags & flag);
	}
	return count;
}

START_TEST(nothing_stays_open)
{
	int before = descriptors(0), inherited = descriptors(FD_CLOEXEC);
	struct rti_batch *another;

	ck_assert_int_eq(rti_batch_open(&another), 0);
	ck_assert_int_gt(descriptors(0), before);
	ck_assert_int_eq(descriptors(FD_CLOEXEC), inherited);
	rti_batch_close(another);
	ck_assert_int_eq(descriptors(0), before);
	rti_batch_close(NULL);
}
END_TEST

/* What opening gives to a child in new namespaces of these kinds. */
static int open_in(int namespaces, const char *boottime_offset)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct rti_batch *inside;
		pid_t inner;

		if (unshare(namespaces) < 0)
			_exit(0);
		if (boottime_offset) {
			int fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);

			if (write(fd, boottime_offset, strlen(boottime_offset)) < 0)
				_exit(0);
		}
		inner = fork();
		if (inner == 0)
			_exit(-rti_batch_open(&inside));
		waitpid(inner, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return -WEXITSTATUS(status);
}

/* Where a process goes by another pid, or another start, than the kernel knows. */
START_TEST(other_namespaces)
{
	ck_assert_int_eq(open_in(CLONE_NEWPID, NULL), -EOPNOTSUPP);
	ck_assert_int_eq(open_in(CLONE_NEWTIME, "boottime 1000 0"), -EOPNOTSUPP);
	ck_assert_int_eq(open_in(CLONE_NEWNET | CLONE_NEWNS, NULL), 0);
}
END_TEST

START_TEST(without_privileges)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };
	struct rti_batch *mine;
	int before = descriptors(0);

	ck_assert_int_eq((int)syscall(SYS_capset, &header, none), 0);
	ck_assert_int_eq(rti_batch_open(&mine), -EPERM);
	ck_assert_ptr_null(mine);
	ck_assert_int_eq(descriptors(0), before);
}
END_TEST

static void add_tests(Suite *suite)
{
	TCase *equal = suite_case(suite, "equal"), *handle = suite_case(suite, "handle");

	tcase_add_checked_fixture(equal, set_up, tear_down);
	tcase_add_test(equal, quiet_processes);
	tcase_add_test(equal, threads_that_live_and_that_have_ended);
	tcase_add_test(equal, leader_that_ended_before_the_rest);
	tcase_add_test(equal, zombie);
	tcase_add_test(equal, much_memory_and_a_higher_peak);
	tcase_add_test(equal, input_and_output);
	tcase_add_test(equal, reaped_children);
	tcase_add_test(equal, names);
	tcase_add_test(equal, threads_that_end_meanwhile_count_once);
	tcase_add_test(equal, who_has_not_run_is_skipped);
	tcase_add_test(equal, who_has_run_a_little_is_not_skipped);
	tcase_add_test(equal, what_is_not_wanted_is_not_told);
	tcase_add_checked_fixture(handle, set_up, tear_down);
	tcase_add_test(handle, pids_that_are_not_processes);
	tcase_add_test(handle, recycled_pid_tells_by_its_start);
	tcase_add_test(handle, more_pids_than_one_call_takes);
	tcase_add_test(handle, a_forked_child_may_only_close_it);
	tcase_add_test(handle, nothing_stays_open);
	tcase_add_test(handle, other_namespaces);
}

int main(void)
{
	struct rti_batch *probe;
	int err = rti_batch_open(&probe);
	Suite *suite;

	rti_batch_close(probe);
	if (!IS_BUILT)
		return suite_skip("the BPF plug-in was not built");
	/* Anything else that goes wrong is a failure. */
	if (err == -EOPNOTSUPP || !is_kernel(6, 2) || access("/sys/kernel/btf/vmlinux", F_OK) < 0)
		return suite_skip(
		    "this kernel cannot run the BPF program, or not from this namespace");
	suite = suite_create("batch");
	tcase_add_test(suite_case(suite, "privileges"), without_privileges);
	if (err != -EPERM)
		add_tests(suite);
	return suite_run(suite);
}
