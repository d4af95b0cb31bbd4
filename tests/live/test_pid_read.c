/* SPDX-License-Identifier: MIT */
/* rt_pid_read() of real processes, against what the kernel and the processes themselves report. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"

#define MIB (1 << 20)

#define ALL                                                                                        \
	(RT_HAS_CPU | RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS | RT_HAS_IO | RT_HAS_IO_CALLS |    \
	 RT_HAS_FAULTS | RT_HAS_CTXSW | RT_HAS_THREADS)

static struct rt_process read_figures(pid_t pid, uint64_t want)
{
	struct rt_process row;

	ck_assert_int_eq(rt_pid_read(pid, want, &row, sizeof(row)), 0);
	ck_assert_uint_eq(row.size, sizeof(row));
	ck_assert_int_eq(row.pid, pid);
	return row;
}

/* Hold memory, write, burn CPU time, switch. Reports its own rusage in shared memory. */
static void work(void *arg)
{
	struct timespec nap = { .tv_nsec = 1000000 };
	char *memory =
	    mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(memory, 1, 32 * MIB);
	munmap(memory, 16 * MIB);
	write_file(1);
	burn_cpu_ns(30000000);
	for (int i = 0; i < 50; i++)
		nanosleep(&nap, NULL);
	getrusage(RUSAGE_SELF, arg);
}

static int is_asleep(void *arg)
{
	pid_t pid = *(pid_t *)arg;

	return thread_state(pid, pid) == 'S';
}

/* Start a child that does its work, and wait until its figures stand still. */
static void start_and_settle(struct child *child, void (*deed)(void *arg), void *arg)
{
	child_start(child, deed, arg);
	wait_until(is_asleep, &child->pid);
}

static uint64_t total_cpu_ns(const struct rt_process *row)
{
	return row->cpu_user_ns + row->cpu_system_ns;
}

START_TEST(all_figures_lie_between_two_accounts_of_the_kernel)
{
	struct rusage *before = map_shared(sizeof(*before)), after;
	struct rt_process row;
	struct child child;

	start_and_settle(&child, work, before);
	row = read_figures(child.pid, ALL);
	close(child.go_fd);
	ck_assert_int_eq(wait4(child.pid, NULL, 0, &after), child.pid);
	close(child.ready_fd);

	ck_assert_uint_eq(row.valid, ALL);
	ck_assert_uint_eq(row.estimated, 0);
	ck_assert_uint_ge(total_cpu_ns(&row) + 2000, get_rusage_ns(before));
	ck_assert_uint_le(total_cpu_ns(&row), get_rusage_ns(&after) + 2000);
	ck_assert_uint_ge(row.minor_faults, (uint64_t)before->ru_minflt);
	ck_assert_uint_le(row.minor_faults, (uint64_t)after.ru_minflt);
	ck_assert_uint_ge(row.voluntary_switches, (uint64_t)before->ru_nvcsw);
	ck_assert_uint_le(row.voluntary_switches, (uint64_t)after.ru_nvcsw);
	ck_assert_uint_ge(row.write_bytes, (uint64_t)before->ru_oublock * 512);
	ck_assert_uint_le(row.write_bytes, (uint64_t)after.ru_oublock * 512);
	ck_assert_uint_gt(row.write_calls, 0);
	ck_assert_uint_gt(row.rss_bytes, 16 * MIB);
	ck_assert_uint_gt(row.pss_bytes, 16 * MIB);
	ck_assert_uint_le(row.pss_bytes, row.rss_bytes + MIB);
	ck_assert_uint_eq(row.pss_source, RT_PSS_READ);
	ck_assert_uint_gt(row.peak_rss_bytes, 32 * MIB);
	ck_assert_uint_eq(row.threads, 1);
	ck_assert_int_eq(row.ppid, getpid());
	ck_assert_uint_eq(row.state, 'S');
}
END_TEST

static void do_nothing(void *arg)
{
	(void)arg;
}

/* What else a file has is not valid, since another figure might need another file. */
START_TEST(each_figure_can_be_read_alone)
{
	static const uint64_t bits[] = { RT_HAS_CPU,    RT_HAS_RSS,      RT_HAS_PSS,
		                         RT_HAS_IO,     RT_HAS_IO_CALLS, RT_HAS_PEAK_RSS,
		                         RT_HAS_FAULTS, RT_HAS_CTXSW,    RT_HAS_THREADS };
	struct rt_process whole, row;
	struct child child;

	start_and_settle(&child, work, map_shared(sizeof(struct rusage)));
	whole = read_figures(child.pid, ALL);
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		row = read_figures(child.pid, bits[i]);
		ck_assert_uint_eq(row.valid, bits[i]);
	}
	row = read_figures(child.pid, 0);
	ck_assert_uint_eq(row.valid, RT_HAS_CPU | RT_HAS_RSS | RT_HAS_FAULTS | RT_HAS_THREADS);
	ck_assert_uint_eq(row.start_ticks, whole.start_ticks);
	ck_assert_str_eq(row.comm, whole.comm);
	ck_assert_uint_eq(read_figures(child.pid, RT_HAS_RSS).rss_bytes, whole.rss_bytes);
	ck_assert_uint_eq(read_figures(child.pid, RT_HAS_CTXSW).voluntary_switches,
	                  whole.voluntary_switches);
	ck_assert_uint_eq(read_figures(child.pid, RT_HAS_IO).write_bytes, whole.write_bytes);
	child_end(&child);
}
END_TEST

START_TEST(zombie_holds_no_memory_and_has_no_peak)
{
	struct rt_process row;
	struct child child;

	child_start(&child, do_nothing, NULL);
	child_let_die(&child);
	row = read_figures(child.pid, ALL);
	ck_assert_uint_eq(row.valid & (RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS),
	                  RT_HAS_RSS | RT_HAS_PSS);
	ck_assert_uint_eq(row.rss_bytes + row.pss_bytes, 0);
	ck_assert_uint_eq(row.state, 'Z');
	ck_assert_uint_gt(total_cpu_ns(&row), 0);
	row = read_figures(child.pid, RT_HAS_RSS);
	ck_assert_uint_eq(row.valid, RT_HAS_RSS);
	ck_assert_uint_eq(row.rss_bytes, 0);
	ck_assert_uint_eq(read_figures(child.pid, RT_HAS_PSS).valid, RT_HAS_PSS);
	ck_assert_uint_eq(read_figures(child.pid, RT_HAS_PEAK_RSS).valid, 0);
	child_end(&child);
	ck_assert_int_eq(rt_pid_read(child.pid, RT_HAS_RSS, &row, sizeof(row)), -ESRCH);
	ck_assert_int_eq(rt_pid_read(child.pid, RT_HAS_PSS, &row, sizeof(row)), -ESRCH);
	ck_assert_int_eq(rt_pid_read(child.pid, RT_HAS_IO, &row, sizeof(row)), -ESRCH);
}
END_TEST

static void *wait_for_signal(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static pid_t start_process_without_leader(void)
{
	pid_t pid = fork();
	pthread_t thread;

	ck_assert_int_ge(pid, 0);
	if (pid != 0)
		return pid;
	pthread_create(&thread, NULL, wait_for_signal, NULL);
	pthread_exit(NULL);
}

static int has_no_leader(void *arg)
{
	pid_t pid = *(pid_t *)arg;

	return thread_state(pid, pid) == 'Z';
}

START_TEST(memory_after_exit_of_leader_is_that_of_the_other_threads)
{
	pid_t pid = start_process_without_leader();

	wait_until(has_no_leader, &pid);
	ck_assert_uint_gt(read_figures(pid, RT_HAS_RSS).rss_bytes, 0);
	ck_assert_uint_gt(read_figures(pid, RT_HAS_PSS).pss_bytes, 0);
	ck_assert_uint_gt(read_figures(pid, RT_HAS_PEAK_RSS).peak_rss_bytes, 0);
	ck_assert_uint_eq(read_figures(pid, ALL).valid | RT_HAS_CTXSW, ALL);
	kill_process(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(kernel_thread_has_no_memory_figures)
{
	struct rt_process row;

	if (rt_pid_read(2, 0, &row, sizeof(row)) < 0 || strcmp(row.comm, "kthreadd") != 0) {
		suite_skip_test("pid 2 is no kernel thread: this is a container");
		return;
	}
	ck_assert_uint_eq(row.valid, RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_THREADS);
	ck_assert_uint_eq(read_figures(2, RT_HAS_RSS).valid, 0);
	ck_assert_uint_eq(read_figures(2, RT_HAS_PSS | RT_HAS_PEAK_RSS).valid, 0);
}
END_TEST

static void *return_at_once(void *arg)
{
	return arg;
}

static void outlive_thread(void *arg)
{
	pthread_t thread;

	(void)arg;
	pthread_create(&thread, NULL, return_at_once, NULL);
	pthread_join(thread, NULL);
}

/* The thread used so little that no tick has seen it. */
START_TEST(switches_after_exit_of_a_short_thread_are_not_valid)
{
	struct child child;

	for (int i = 0; i < 20; i++) {
		start_and_settle(&child, outlive_thread, NULL);
		ck_assert_uint_eq(read_figures(child.pid, RT_HAS_CTXSW).valid, 0);
		ck_assert_uint_eq(read_figures(child.pid, ALL).valid, ALL & ~RT_HAS_CTXSW);
		child_end(&child);
	}
}
END_TEST

/* Another user's process: io and smaps_rollup are refused, the rest is not. */
START_TEST(figures_that_are_refused_are_not_valid)
{
	struct child child;
	struct rt_process row;
	pid_t reader;
	int status;

	if (geteuid() != 0) {
		suite_skip_test("only root can make a process of another user");
		return;
	}
	start_and_settle(&child, do_nothing, NULL);
	reader = fork();
	if (reader == 0) {
		uint64_t refused = RT_HAS_IO | RT_HAS_IO_CALLS | RT_HAS_PSS;
		int bad = setgid(65534) || setuid(65534);

		bad |=
		    rt_pid_read(child.pid, ALL, &row, sizeof(row)) || row.valid != (ALL & ~refused);
		bad |= rt_pid_read(child.pid, refused, &row, sizeof(row)) || row.valid;
		bad |= rt_pid_read(child.pid, RT_HAS_IO, &row, sizeof(row)) || row.valid;
		_exit(bad);
	}
	ck_assert_int_eq(waitpid(reader, &status, 0), reader);
	ck_assert_int_eq(status, 0);
	child_end(&child);
}
END_TEST

#define GROWTH_BYTES ((size_t)256 * MIB)
#define STEP_BYTES 4096

struct growth {
	char *memory;
	atomic_bool is_over;
};

static void *grow(void *arg)
{
	struct growth *growth = arg;

	for (size_t at = 0; at < GROWTH_BYTES; at += STEP_BYTES)
		growth->memory[at] = 1;
	atomic_store(&growth->is_over, true);
	return NULL;
}

/* A thread grows between the read of the peak and that of RSS. */
START_TEST(peak_of_a_growing_process_is_not_below_rss)
{
	struct growth growth = { 0 };
	pid_t pid = getpid();
	pthread_t thread;

	growth.memory =
	    mmap(NULL, GROWTH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(growth.memory, MAP_FAILED);
	madvise(growth.memory, GROWTH_BYTES, MADV_NOHUGEPAGE);
	ck_assert_int_eq(pthread_create(&thread, NULL, grow, &growth), 0);
	while (!atomic_load(&growth.is_over)) {
		struct rt_process row = read_figures(pid, RT_HAS_RSS | RT_HAS_PEAK_RSS);

		ck_assert_uint_le(row.rss_bytes, row.peak_rss_bytes);
	}
	pthread_join(thread, NULL);
	munmap(growth.memory, GROWTH_BYTES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pid_read");
	TCase *figures = suite_case(suite, "figures"), *states = suite_case(suite, "states");

	tcase_add_test(figures, all_figures_lie_between_two_accounts_of_the_kernel);
	tcase_add_test(figures, each_figure_can_be_read_alone);
	tcase_add_test(figures, switches_after_exit_of_a_short_thread_are_not_valid);
	tcase_add_test(figures, figures_that_are_refused_are_not_valid);
	tcase_add_test(figures, peak_of_a_growing_process_is_not_below_rss);
	tcase_add_test(states, zombie_holds_no_memory_and_has_no_peak);
	tcase_add_test(states, memory_after_exit_of_leader_is_that_of_the_other_threads);
	tcase_add_test(states, kernel_thread_has_no_memory_figures);
	return suite_run(suite);
}
