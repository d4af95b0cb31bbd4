/* SPDX-License-Identifier: MIT */
/* Reading the figures of one process once: a fixture, and real processes that exit meanwhile. */
#include "collect/pid_once.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "fake_process.h"
#include "collect/pid_stat.h"
#include "family.h"
#include "faults.h"
#include "fixture.h"
#include "suite.h"

static struct fixture f;
static struct rti_procfs procfs;
static struct rti_platform platform;
static struct rti_buf buf;
static struct rti_context ctx;
static struct rti_pid_once once;
static uint64_t clock_ns; /* of the fake process */

static int read_fake_clock(int32_t pid, struct rti_cpu_clock *out)
{
	(void)pid;
	*out = (struct rti_cpu_clock){ clock_ns, clock_ns, clock_ns, clock_ns };
	return 0;
}

static void open_root(const char *root)
{
	ck_assert_int_eq(rti_procfs_open(&procfs, root, &faults_ops), 0);
	rti_platform_init(&platform, root != NULL);
	ctx = (struct rti_context){
		.procfs = &procfs, .platform = &platform, .buf = &buf, .flags = RT_OPT_NO_CHILDREN
	};
}

static void open_fixture(void)
{
	fixture_new(&f);
	open_root(f.root);
	platform.cpu_clock = read_fake_clock;
	clock_ns = 5000;
}

static void open_system(void)
{
	open_root(NULL);
}

static void close_root(void)
{
	ck_assert_uint_eq(faults_open_files(), 3); /* proc, sys and the root */
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
}

static void close_fixture(void)
{
	close_root();
	fixture_free(&f);
}

/* A process that has reaped a child: io counts 4096 bytes, of which 1024 are its own. */
static void write_process(const char *schedstat)
{
	struct fake_process p = { .pid = 100, .ppid = 1, .rss_pages = 9, .hwm_kib = 77 };

	p.minflt = 7;
	p.cminflt = 1;
	p.write_bytes = 1024;
	p.voluntary = 12;
	fake_process_write(&f, &p);
	fixture_write(&f, "proc/100/schedstat", schedstat);
	fixture_write(&f, "proc/100/task/100/schedstat", schedstat);
	fixture_write(&f, "proc/100/io",
	              "rchar: 1\nwchar: 2\nsyscr: 1\nsyscw: 1\nread_bytes: 0\n"
	              "write_bytes: 4096\ncancelled_write_bytes: 0\n");
}

#define RUSAGE (RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_PEAK_RSS | RT_HAS_CTXSW | RT_HAS_IO)

/* stat, status, io and schedstat, stat of the leader, and no list of threads. */
START_TEST(leader_with_all_cpu_time_is_read_alone)
{
	unsigned opens;

	write_process("5000 0 1\n");
	opens = faults_opens();
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RUSAGE, &once), 0);
	ck_assert_uint_eq(faults_opens() - opens, 5);
	ck_assert_uint_eq(once.figures.valid & RUSAGE, RUSAGE);
	ck_assert_uint_eq(once.figures.self[RTI_VOLUNTARY], 12);
	ck_assert_uint_eq(once.figures.self[RTI_WRITE_BYTES], 1024);
}
END_TEST

/* A thread that has faulted has exited before a switch: it may have written. */
START_TEST(leader_without_all_faults_makes_a_lower_bound_of_io)
{
	write_process("5000 0 1\n");
	fixture_write(&f, "proc/100/task/100/stat",
	              "100 (x) S 1 100 100 0 -1 0 6 0 0 0 0 0 0 0 20 0 1 0 1000 0 9\n");
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RUSAGE, &once), 0);
	ck_assert_uint_eq(once.figures.valid & RUSAGE, RUSAGE & ~RT_HAS_IO);
	ck_assert_uint_eq(once.figures.partial & RUSAGE, RT_HAS_IO);
	ck_assert_uint_eq(once.figures.self[RTI_WRITE_BYTES], 1024);
}
END_TEST

/* A thread that used 1 ns has exited: it may have switched and written. */
START_TEST(leader_without_all_cpu_time_makes_lower_bounds)
{
	uint64_t doubtful = RT_HAS_CTXSW | RT_HAS_IO;

	write_process("4999 0 1\n");
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RUSAGE, &once), 0);
	ck_assert_uint_eq(once.figures.valid & RUSAGE, RUSAGE & ~doubtful);
	ck_assert_uint_eq(once.figures.partial & doubtful, doubtful);
	ck_assert_uint_eq(once.figures.self[RTI_VOLUNTARY], 12);
}
END_TEST

START_TEST(kernel_without_schedstat_counts_on_faults)
{
	write_process("5000 0 1\n");
	fixture_remove(&f, "proc/100/schedstat");
	fixture_remove(&f, "proc/100/task/100/schedstat");
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CTXSW, &once), 0);
	ck_assert_uint_eq(once.figures.valid, RT_HAS_CTXSW);
}
END_TEST

START_TEST(each_figure_opens_its_file_alone)
{
	static const struct {
		uint64_t want;
		unsigned opens;
	} cases[] = { { RT_HAS_RSS, 1 },
		      { RT_HAS_CPU, 1 },
		      { RT_HAS_FAULTS, 1 },
		      { RT_HAS_THREADS, 1 },
		      { RT_HAS_PSS, 1 },
		      { RT_HAS_PEAK_RSS, 1 },
		      { RT_HAS_IO_CALLS, 1 },
		      { RT_HAS_CTXSW, 2 },
		      { RT_HAS_RSS | RT_HAS_CPU, 2 },
		      { RT_HAS_PSS | RT_HAS_IO | RT_HAS_PEAK_RSS, 3 } };

	write_process("5000 0 1\n");
	ctx.flags |= RT_OPT_IO_WITH_REAPED;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned opens = faults_opens();

		ck_assert_int_eq(rti_pid_once_read(&ctx, 100, cases[i].want, &once), 0);
		ck_assert_uint_eq(faults_opens() - opens, cases[i].opens);
		ck_assert_uint_eq(once.figures.valid & cases[i].want, cases[i].want);
	}
}
END_TEST

START_TEST(shortage_of_descriptors_is_an_error)
{
	static const char *const files[] = { "/stat", "/statm", "/io", "/status", "/smaps_rollup" };
	uint64_t want = RUSAGE | RT_HAS_RSS | RT_HAS_PSS;

	write_process("5000 0 1\n");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		faults_on_open(files[i], -EMFILE);
		ck_assert_int_eq(rti_pid_once_read(&ctx, 100, want, &once), -EMFILE);
		faults_on_open(files[i], 0);
	}
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, want, &once), 0);
}
END_TEST

START_TEST(refused_file_clears_its_bits_only)
{
	write_process("5000 0 1\n");
	faults_on_read("/io", -EACCES);
	faults_on_open("/smaps_rollup", -EACCES);
	ctx.flags |= RT_OPT_IO_WITH_REAPED;
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_RSS | RT_HAS_IO | RT_HAS_PSS, &once),
	                 0);
	ck_assert_uint_eq(once.figures.valid, RT_HAS_RSS | RT_HAS_VIRTUAL);
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_IO | RT_HAS_PSS, &once), 0);
	ck_assert_uint_eq(once.figures.valid, 0);
}
END_TEST

#define STAT_TAIL " 20 0 %d 0 1000 4096000 9 1 0 0 0 0 0 0 0 0 0 0 0 0 %d 0 0 0 0 0 0\n"

static void write_stat(char state, int threads, int exit_signal)
{
	fixture_printf(&f, "proc/100/stat", "100 (x) %c 1 1 1 0 -1 0 7 1 0 0 4 3 0 0" STAT_TAIL,
	               state, threads, exit_signal);
}

/* The kernel is releasing it, or the pid is that of a thread. */
START_TEST(process_that_is_none_any_more_is_gone)
{
	write_process("5000 0 1\n");
	write_stat('S', 1, 17);
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CPU, &once), 0);
	write_stat('X', 1, 17);
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CPU, &once), -ESRCH);
	write_stat('Z', 0, 17);
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CPU, &once), -ESRCH);
	write_stat('S', 2, -1);
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CPU, &once), -ESRCH);
}
END_TEST

/* A parent that has turned into 0 is that of a process that the kernel is releasing. Threads of the
 * kernel have had none. */
START_TEST(stat_is_of_the_same_process_by_its_start_and_its_parent)
{
	static const struct {
		struct rti_pid_stat before, now;
		bool is_same;
	} cases[] = {
		{ { .ppid = 5, .starttime = 7, .has_starttime = true },
		  { .ppid = 5, .starttime = 7, .has_starttime = true },
		  true },
		{ { .ppid = 5, .starttime = 7, .has_starttime = true },
		  { .ppid = 1, .starttime = 7, .has_starttime = true },
		  true },
		{ { .ppid = 5, .starttime = 7, .has_starttime = true },
		  { .ppid = 0, .starttime = 7, .has_starttime = true },
		  false },
		{ { .ppid = 0, .starttime = 7, .has_starttime = true },
		  { .ppid = 0, .starttime = 7, .has_starttime = true },
		  true },
		{ { .ppid = 5, .starttime = 7, .has_starttime = true },
		  { .ppid = 5, .starttime = 8, .has_starttime = true },
		  false },
		{ { .ppid = 5 }, { .ppid = 5, .starttime = 8, .has_starttime = true }, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_int_eq(rti_pid_stat_is_same(&cases[i].before, &cases[i].now),
		                 cases[i].is_same);
}
END_TEST

/* status says what a stat without signals does not, if it can. */
START_TEST(process_of_a_short_stat_is_one_unless_status_says_otherwise)
{
	static const struct {
		const char *status; /* NULL: there is none */
		int err;
	} cases[] = { { NULL, 0 },
		      { "Name:\tx\nTgid:\t99\n", -ESRCH },
		      { "Name:\tx\n", 0 },
		      { "Name:\tx\nTgid:\t100\n", 0 } };

	write_process("5000 0 1\n");
	fixture_write(&f, "proc/100/stat",
	              "100 (x) S 1 1 1 0 -1 0 7 1 0 0 4 3 0 0 20 0 1 0 1000\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].status)
			fixture_write(&f, "proc/100/status", cases[i].status);
		else
			fixture_remove(&f, "proc/100/status");
		ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CPU, &once), cases[i].err);
	}
}
END_TEST

/* Below another root. */
START_TEST(process_without_a_clock_has_the_time_of_its_ticks)
{
	write_process("5000 0 1\n");
	write_stat('S', 1, 17);
	platform.cpu_clock = NULL;
	platform.tick_ns = 10000000;
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CPU, &once), 0);
	ck_assert(!once.has_clock);
	ck_assert_uint_eq(once.figures.valid & RT_HAS_CPU, RT_HAS_CPU);
}
END_TEST

/* That of the caller, which runs meanwhile. */
static int read_moving_clock(int32_t pid, struct rti_cpu_clock *out)
{
	read_fake_clock(pid, out);
	clock_ns += 1000;
	return 0;
}

/* Switches are the sum over the threads then. */
START_TEST(process_that_may_have_more_than_its_leader_has_sums_its_threads)
{
	write_process("5000 0 1\n");
	fixture_write(&f, "proc/100/task/101/status",
	              "Name:\tx\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t0\n");
	fixture_write(&f, "proc/100/task/101/stat",
	              "101 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2\n");
	write_stat('S', 2, 17);
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CPU | RT_HAS_CTXSW, &once), 0);
	ck_assert_uint_eq(once.figures.self[RTI_VOLUNTARY], 17);

	write_process("5000 0 1\n");
	ctx.own_pid = 100;
	platform.cpu_clock = read_moving_clock;
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CPU | RT_HAS_CTXSW, &once), 0);
	ck_assert_uint_eq(once.figures.self[RTI_VOLUNTARY], 17);
}
END_TEST

/* The files of its only thread have what its own lacks. */
START_TEST(leader_without_status_has_the_switches_of_its_threads)
{
	uint64_t want = RT_HAS_RSS | RT_HAS_CPU | RT_HAS_CTXSW;

	write_process("4999 0 1\n");
	fixture_remove(&f, "proc/100/status");
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, want, &once), 0);
	ck_assert_uint_eq(once.figures.partial & RT_HAS_CTXSW, RT_HAS_CTXSW);
	ck_assert_uint_eq(once.figures.self[RTI_VOLUNTARY], 12);
}
END_TEST

START_TEST(status_without_switches_has_none)
{
	write_process("5000 0 1\n");
	fixture_write(&f, "proc/100/status", "Name:\tx\nVmHWM:\t      77 kB\n");
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RUSAGE, &once), 0);
	ck_assert_uint_eq((once.figures.valid | once.figures.partial) & RT_HAS_CTXSW, 0);
	ck_assert_uint_eq(once.figures.row.peak_rss_bytes, 77 * 1024);
}
END_TEST

/* A zombie holds no memory, and a process that lives holds some that is not known then. */
START_TEST(pss_that_is_gone_is_0_of_a_zombie_alone)
{
	write_process("5000 0 1\n");
	faults_on_read("/smaps_rollup", -ESRCH);
	write_stat('Z', 1, 17);
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CPU | RT_HAS_PSS, &once), 0);
	ck_assert_uint_eq(once.figures.valid & RT_HAS_PSS, RT_HAS_PSS);
	ck_assert_uint_eq(once.figures.row.pss_bytes, 0);
	write_stat('S', 1, 17);
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, RT_HAS_CPU | RT_HAS_PSS, &once), 0);
	ck_assert_uint_eq(once.figures.valid & RT_HAS_PSS, 0);
	faults_on_read("/smaps_rollup", 0);
}
END_TEST

/* Thread 101 lives on, and has the address space. */
START_TEST(memory_of_a_leader_that_has_exited_is_that_of_a_thread)
{
	uint64_t want = RT_HAS_CPU | RT_HAS_CTXSW | RT_HAS_RSS | RT_HAS_PEAK_RSS | RT_HAS_PSS;

	write_process("5000 0 1\n");
	write_stat('Z', 2, 17);
	fixture_write(&f, "proc/100/task/101/stat",
	              "101 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2\n");
	fixture_write(&f, "proc/100/task/101/status",
	              "Name:\tx\nVmHWM:\t      55 kB\nvoluntary_ctxt_switches:\t5\n"
	              "nonvoluntary_ctxt_switches:\t0\n");
	fixture_write(&f, "proc/100/task/101/statm", "1000 8 1 1 0 100 0\n");
	fixture_write(&f, "proc/100/task/101/smaps_rollup", "Rss: 33 kB\nPss: 22 kB\n");
	fixture_write(&f, "proc/100/statm", "0 0 0 0 0 0 0\n");
	fixture_write(&f, "proc/100/status", "Name:\tx\nTgid:\t100\n");
	ck_assert_int_eq(rti_pid_once_read(&ctx, 100, want, &once), 0);
	ck_assert_uint_eq(once.figures.valid & want, want);
	ck_assert_uint_eq(once.figures.row.peak_rss_bytes, 55 * 1024);
	ck_assert_uint_eq(once.figures.row.pss_bytes, 22 * 1024);
	ck_assert_uint_eq(once.figures.row.rss_bytes, 8 * (uint64_t)sysconf(_SC_PAGESIZE));
}
END_TEST

static struct child child;
static pid_t successor;

static void do_nothing(void *arg)
{
	(void)arg;
}

/* The child exits, and another process gets its pid. */
static void replace_child(void *arg)
{
	(void)arg;
	child_end(&child);
	successor = family_fork_as(child.pid);
}

static void end_successor(void)
{
	if (successor <= 0)
		return;
	kill_process(successor, SIGKILL);
	waitpid(successor, NULL, 0);
}

/* Replace the process before the file of this name is opened. All that is open by then is of
 * another process than the rest. */
static void check_replaced_before(const char *file, uint64_t want)
{
	child_start(&child, do_nothing, NULL);
	faults_before_open(file, replace_child, NULL);
	ck_assert_msg(rti_pid_once_read(&ctx, child.pid, want, &once) == -ESRCH, "%s %d", file,
	              successor);
	faults_before_open(file, NULL, NULL);
	end_successor();
}

START_TEST(process_that_is_replaced_between_two_files_is_gone)
{
	check_replaced_before("/stat", RT_HAS_CPU | RT_HAS_RSS);
	check_replaced_before("/io", RT_HAS_RSS | RT_HAS_IO);
	check_replaced_before("/smaps_rollup", RT_HAS_IO | RT_HAS_PSS);
	check_replaced_before("/smaps_rollup", RT_HAS_CPU | RT_HAS_PSS);
	check_replaced_before("/stat", RUSAGE);
	check_replaced_before("/schedstat", RT_HAS_CTXSW);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pid_once");
	TCase *fixture = suite_case(suite, "fixture"), *live = suite_case(suite, "live");

	tcase_add_checked_fixture(fixture, open_fixture, close_fixture);
	tcase_add_test(fixture, leader_with_all_cpu_time_is_read_alone);
	tcase_add_test(fixture, leader_without_all_faults_makes_a_lower_bound_of_io);
	tcase_add_test(fixture, leader_without_all_cpu_time_makes_lower_bounds);
	tcase_add_test(fixture, kernel_without_schedstat_counts_on_faults);
	tcase_add_test(fixture, each_figure_opens_its_file_alone);
	tcase_add_test(fixture, shortage_of_descriptors_is_an_error);
	tcase_add_test(fixture, refused_file_clears_its_bits_only);
	tcase_add_test(fixture, process_that_is_none_any_more_is_gone);
	tcase_add_test(fixture, stat_is_of_the_same_process_by_its_start_and_its_parent);
	tcase_add_test(fixture, process_of_a_short_stat_is_one_unless_status_says_otherwise);
	tcase_add_test(fixture, process_without_a_clock_has_the_time_of_its_ticks);
	tcase_add_test(fixture, process_that_may_have_more_than_its_leader_has_sums_its_threads);
	tcase_add_test(fixture, leader_without_status_has_the_switches_of_its_threads);
	tcase_add_test(fixture, status_without_switches_has_none);
	tcase_add_test(fixture, pss_that_is_gone_is_0_of_a_zombie_alone);
	tcase_add_test(fixture, memory_of_a_leader_that_has_exited_is_that_of_a_thread);
	tcase_add_checked_fixture(live, open_system, close_root);
	tcase_add_test(live, process_that_is_replaced_between_two_files_is_gone);
	return suite_run(suite);
}
