/* SPDX-License-Identifier: MIT */
/* Trackers of real processes: which processes are members, and what they have used. The reference
 * is what the kernel reports to the processes themselves, or to the process that reaps them. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "record.h"
#include "suite.h"
#include "tracking.h"

#define MS 1000000
#define MIB (1 << 20)
#define ODD_NAME "a) R 1\n("

/* The kernel shows the CPU time of reaped children in whole ticks, for each of two modes. */
#define TWO_TICKS_NS (22 * MS)

static void wait_for_pid(atomic_int *pid)
{
	while (atomic_load(pid) == 0)
		usleep(1000);
}

static struct rt_process get_first_process(struct rt_tracker *tracker)
{
	struct rt_process row;
	size_t count = 1;

	ck_assert_int_eq(rt_tracker_processes(tracker, &row, sizeof(row), &count), 0);
	return row;
}

static uint64_t read_process_clock_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
	ck_assert_int_eq(clock_gettime(clock, &used), 0);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void pause_forever(void)
{
	for (;;)
		pause();
}

static void reap_two_of_three(void *arg)
{
	atomic_int *shared_pid = arg;

	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			burn_cpu_ns(33 * MS);
			if (i == 2) {
				atomic_store(shared_pid, getpid());
				pause_forever();
			}
			_exit(0);
		}
		if (i < 2)
			waitpid(pid, NULL, 0);
	}
	wait_for_pid(shared_pid);
}

/* The reference is what the kernel charges this process for reaping the child. */
START_TEST(tracker_with_running_and_reaped_children_sums_both)
{
	atomic_int *shared_pid = map_shared(sizeof(*shared_pid));
	struct rusage before, after;
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct child child;
	uint64_t expected_ns;

	child_start(&child, reap_two_of_three, shared_pid);
	tracker = track(child.pid);

	m = sample(tracker);

	ck_assert_uint_eq(m.processes, 2);
	/* Two ticks are more than a hundredth of 100 ms. */
	ck_assert_uint_eq(m.partial & RT_HAS_CPU, RT_HAS_CPU);
	ck_assert_uint_eq(m.reasons, RT_REASON_CLOCK_TICKS | RT_REASON_PAST_UNKNOWN);
	ck_assert_uint_eq(m.cpu_resolution_ns, 1000 * MS / (uint64_t)sysconf(_SC_CLK_TCK));
	expected_ns = read_process_clock_ns(*shared_pid);
	kill_process(*shared_pid, SIGKILL);
	getrusage(RUSAGE_CHILDREN, &before);
	child_end(&child); /* another process reaps the one that was killed */
	getrusage(RUSAGE_CHILDREN, &after);
	expected_ns += get_rusage_ns(&after) - get_rusage_ns(&before);
	ck_assert_uint_ge(get_sampled_ns(&m) + TWO_TICKS_NS, expected_ns);
	ck_assert_uint_le(get_sampled_ns(&m), expected_ns + 5 * MS);
	rt_tracker_free(tracker);
}
END_TEST

static void reap_children_of_4_ms(int count)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			burn_cpu_ns(4 * MS);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* /proc shows what they have used in whole ticks; getrusage(2) tells it to the caller alone. */
START_TEST(tracker_of_the_caller_has_what_it_reaped_to_the_microsecond)
{
	struct rt_tracker *tracker = track(getpid());
	uint64_t own_before_ns, own_after_ns;
	struct rusage children;
	struct rt_metrics m;

	sample(tracker);
	reap_children_of_4_ms(5);
	own_before_ns = read_process_clock_ns(getpid());

	m = sample(tracker);

	own_after_ns = read_process_clock_ns(getpid());
	getrusage(RUSAGE_CHILDREN, &children);
	ck_assert_uint_ge(get_rusage_ns(&children), 20 * MS);
	ck_assert_uint_ge(get_sampled_ns(&m), own_before_ns + get_rusage_ns(&children));
	ck_assert_uint_le(get_sampled_ns(&m), own_after_ns + get_rusage_ns(&children));
	ck_assert_uint_eq(m.valid & RT_HAS_CPU, RT_HAS_CPU);
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_uint_eq(m.cpu_resolution_ns, 1000);
	rt_tracker_free(tracker);
}
END_TEST

static void *fork_in_thread(void *arg)
{
	atomic_int *shared_pid = arg;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause_forever();
	}
	atomic_store(shared_pid, pid);
	pause_forever();
	return NULL;
}

static void start_forking_thread(void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, fork_in_thread, arg);
	wait_for_pid(arg);
}

START_TEST(tracker_with_child_of_non_leader_thread_has_it_as_member)
{
	atomic_int *shared_pid = map_shared(sizeof(*shared_pid));
	struct rt_process rows[4];
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct child child;
	size_t count = 4;

	child_start(&child, start_forking_thread, shared_pid);
	tracker = track(child.pid);

	m = sample(tracker);

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.threads, 3);
	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count), 0);
	ck_assert_int_eq(rows[1].pid, *shared_pid);
	ck_assert_int_eq(rows[1].ppid, child.pid);
	kill_process(*shared_pid, SIGKILL);
	kill_process(child.pid, SIGKILL);
	child_end(&child);
	rt_tracker_free(tracker);
}
END_TEST

static void *burn_forever(void *arg)
{
	(void)arg;
	for (;;)
		burn_cpu_ns(10 * MS);
	return NULL;
}

/* The thread group leader exits, and another thread works on. */
static void exit_leader(void *arg)
{
	static char memory[8 * MIB];
	pthread_t thread;

	(void)arg;
	memset(memory, 1, sizeof(memory));
	pthread_create(&thread, NULL, burn_forever, NULL);
	syscall(SYS_exit, 0); /* only this thread */
}

static int has_zombie_leader(void *arg)
{
	pid_t pid = *(pid_t *)arg;

	return thread_state(pid, pid) == 'Z';
}

/* A tracker, and its last sample, for conditions of wait_until(). */
struct sampling {
	struct rt_tracker *tracker;
	struct rt_metrics m;
	uint64_t first_cpu_ns;
};

static int has_used_more(void *arg)
{
	struct sampling *s = arg;

	s->m = sample(s->tracker);
	return get_sampled_ns(&s->m) > s->first_cpu_ns + 2 * MS;
}

START_TEST(tracker_after_leader_has_exited_still_has_the_process)
{
	struct sampling s;
	struct child child;

	child_start_async(&child, exit_leader, NULL);
	wait_until(has_zombie_leader, &child.pid);
	s.tracker = track(child.pid);
	s.m = sample(s.tracker);
	s.first_cpu_ns = get_sampled_ns(&s.m);

	wait_until(has_used_more, &s);

	ck_assert_uint_eq(s.m.processes, 1);
	ck_assert_uint_gt(s.m.rss_bytes, 8 * MIB);
	ck_assert_uint_eq(s.m.estimated & RT_HAS_PSS, RT_HAS_PSS);
	ck_assert_uint_gt(s.m.pss_bytes, 8 * MIB);
	kill_process(child.pid, SIGKILL);
	child_end(&child);
	rt_tracker_free(s.tracker);
}
END_TEST

static void *exec_in_thread(void *arg)
{
	execlp("sleep", "sleep", "1000", (char *)NULL);
	return arg;
}

static void exec_from_another_thread(void *arg)
{
	pthread_t thread;

	(void)arg;
	burn_cpu_ns(30 * MS);
	usleep(100000);
	pthread_create(&thread, NULL, exec_in_thread, NULL);
	pause_forever();
}

static int is_sleep(void *arg)
{
	struct sampling *s = arg;

	s->m = sample(s->tracker);
	return strcmp(get_first_process(s->tracker).comm, "sleep") == 0;
}

START_TEST(tracker_after_exec_in_non_leader_thread_has_the_same_process)
{
	struct sampling s;
	struct child child;

	child_start_async(&child, exec_from_another_thread, NULL);
	s.tracker = track(child.pid);
	sample(s.tracker);

	wait_until(is_sleep, &s);

	ck_assert_uint_ge(get_sampled_ns(&s.m), 30 * MS);
	ck_assert_uint_eq(s.m.processes_seen, 1);
	kill_process(child.pid, SIGKILL);
	child_end(&child);
	rt_tracker_free(s.tracker);
}
END_TEST

static void burn_with_odd_name(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, ODD_NAME);
	burn_cpu_ns(20 * MS);
}

START_TEST(tracker_of_process_with_odd_name_has_name_and_cpu_time)
{
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct child child;

	child_start(&child, burn_with_odd_name, NULL);
	tracker = track(child.pid);

	m = sample(tracker);

	ck_assert_str_eq(get_first_process(tracker).comm, ODD_NAME);
	ck_assert_uint_ge(get_sampled_ns(&m), 20 * MS);
	ck_assert_uint_lt(get_sampled_ns(&m), 1000 * MS);
	child_end(&child);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(tracker_of_caller_has_memory_and_self_cpu_time)
{
	struct rt_tracker *tracker = track(getpid());
	struct rt_metrics m = sample(tracker);

	ck_assert_uint_gt(m.rss_bytes, 0);
	ck_assert_uint_gt(m.self_cpu_ns, 0);
	rt_tracker_free(tracker);
}
END_TEST

#define OWN_WRITES 11
#define REAPED_WRITES 30

static void write_calls(int count)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	while (fd >= 0 && count-- > 0) {
		if (write(fd, "x", 1) != 1)
			_exit(90);
	}
	close(fd);
}

static void write_and_reap(void *arg)
{
	(void)arg;
	write_calls(OWN_WRITES);
	if (fork() == 0) {
		write_calls(REAPED_WRITES);
		_exit(0);
	}
	waitpid(-1, NULL, 0);
}

static struct rt_process read_first_row(pid_t pid, uint32_t flags)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = flags };
	struct rt_tracker *tracker;
	struct rt_process row;
	struct rt_metrics m;
	size_t count = 1;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, &opts), 0);
	m = sample(tracker);
	ck_assert_int_eq(rt_tracker_processes(tracker, &row, sizeof(row), &count), 0);
	ck_assert_uint_eq(row.valid & RT_HAS_IO_CALLS, RT_HAS_IO_CALLS);
	/* An orphan may have had more, before the tracker was made. */
	ck_assert_uint_eq((m.valid | m.since_valid) & RT_HAS_IO_CALLS, RT_HAS_IO_CALLS);
	ck_assert_uint_eq(m.write_calls, row.write_calls);
	ck_assert_uint_eq(m.write_chars, row.write_chars);
	rt_tracker_free(tracker);
	return row;
}

/* The kernel's count of the process, and that of its only thread, which has no children. */
START_TEST(io_of_one_process_is_had_with_and_without_the_children_that_it_reaped)
{
	struct rt_process alone, with_reaped, in_tree;
	char of_process[64], of_thread[64];
	struct child child;

	child_start(&child, write_and_reap, NULL);
	snprintf(of_process, sizeof(of_process), "/proc/%d/io", child.pid);
	snprintf(of_thread, sizeof(of_thread), "/proc/%d/task/%d/io", child.pid, child.pid);

	alone = read_first_row(child.pid, RT_OPT_NO_CHILDREN);
	with_reaped = read_first_row(child.pid, RT_OPT_NO_CHILDREN | RT_OPT_IO_WITH_REAPED);
	in_tree = read_first_row(child.pid, 0);

	ck_assert_uint_eq(alone.write_calls, read_proc_value(of_thread, "syscw:"));
	ck_assert_uint_eq(alone.read_calls, read_proc_value(of_thread, "syscr:"));
	ck_assert_uint_eq(with_reaped.write_calls, read_proc_value(of_process, "syscw:"));
	ck_assert_uint_eq(with_reaped.read_calls, read_proc_value(of_process, "syscr:"));
	ck_assert_uint_eq(with_reaped.write_chars, read_proc_value(of_process, "wchar:"));
	ck_assert_uint_eq(in_tree.write_calls, with_reaped.write_calls);
	ck_assert_uint_ge(alone.write_calls, OWN_WRITES);
	ck_assert_uint_ge(with_reaped.write_calls, alone.write_calls + REAPED_WRITES);
	child_end(&child);
}
END_TEST

/* A thread that was joined may not have left its process yet. The directory of the threads has two
 * links beside theirs. */
static int is_asleep_and_alone(void *arg)
{
	const struct child *child = arg;
	struct stat threads;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", child->pid);
	return thread_state(child->pid, child->pid) == 'S' && stat(path, &threads) == 0 &&
	       threads.st_nlink == 3;
}

static struct rt_metrics sample_asleep(struct child *child, void (*work)(void *arg))
{
	struct rt_tracker *tracker;
	struct rt_metrics m;

	child_start(child, work, NULL);
	wait_until(is_asleep_and_alone, child);
	tracker = track(child->pid);
	m = sample(tracker);
	rt_tracker_free(tracker);
	return m;
}

static void sleep_a_little(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++)
		usleep(1000);
}

START_TEST(switches_of_process_with_one_thread_are_those_of_status)
{
	struct rt_metrics m;
	struct child child;
	char path[64];

	m = sample_asleep(&child, sleep_a_little);

	snprintf(path, sizeof(path), "/proc/%d/status", child.pid);
	ck_assert_uint_ne(m.valid & RT_HAS_CTXSW, 0);
	ck_assert_uint_eq(m.voluntary_switches, read_proc_value(path, "voluntary_ctxt_switches:"));
	ck_assert_uint_eq(m.involuntary_switches,
	                  read_proc_value(path, "nonvoluntary_ctxt_switches:"));
	ck_assert_uint_ge(m.voluntary_switches, 5);
	child_end(&child);
}
END_TEST

static void *switch_once(void *arg)
{
	usleep(1);
	return arg;
}

static void outlive_thread(void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, switch_once, arg);
	pthread_join(thread, NULL);
}

/* The thread used so little that no tick has seen it. But its switch has added it to the clock. */
START_TEST(switches_after_exit_of_a_short_thread_are_a_lower_bound)
{
	for (int i = 0; i < 20; i++) {
		struct child child;
		struct rt_metrics m = sample_asleep(&child, outlive_thread);

		ck_assert_uint_eq(m.valid & RT_HAS_CTXSW, 0);
		ck_assert_uint_ne(m.partial & RT_HAS_CTXSW, 0);
		child_end(&child);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pid_tracker");
	TCase *members = suite_case(suite, "members"), *names = suite_case(suite, "names");

	tcase_add_test(members, tracker_with_running_and_reaped_children_sums_both);
	tcase_add_test(members, tracker_of_the_caller_has_what_it_reaped_to_the_microsecond);
	tcase_add_test(members, tracker_with_child_of_non_leader_thread_has_it_as_member);
	tcase_add_test(members, tracker_after_leader_has_exited_still_has_the_process);
	tcase_add_test(members, tracker_after_exec_in_non_leader_thread_has_the_same_process);
	tcase_add_test(members,
	               io_of_one_process_is_had_with_and_without_the_children_that_it_reaped);
	tcase_add_test(members, tracker_of_caller_has_memory_and_self_cpu_time);
	tcase_add_test(members, switches_of_process_with_one_thread_are_those_of_status);
	tcase_add_test(members, switches_after_exit_of_a_short_thread_are_a_lower_bound);
	tcase_add_test(names, tracker_of_process_with_odd_name_has_name_and_cpu_time);
	return suite_run(suite);
}
