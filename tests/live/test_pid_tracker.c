/* SPDX-License-Identifier: MIT */
/* Trackers of real process trees against what the processes are told of themselves, and what
 * their reapers are told. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"

#define MS 1000000
#define MIB (1 << 20)

static struct rt_tracker *tracker;
static struct rt_metrics m;

static void track(pid_t pid)
{
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, NULL), 0);
}

static int sample(void)
{
	return rt_sample(tracker, &m, sizeof(m));
}

static uint64_t cpu_ns(void)
{
	return m.cpu_user_ns + m.cpu_system_ns;
}

static uint64_t rusage_ns(const struct rusage *r)
{
	return ((uint64_t)r->ru_utime.tv_sec + (uint64_t)r->ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)r->ru_utime.tv_usec + (uint64_t)r->ru_stime.tv_usec) * 1000u;
}

static uint64_t process_clock_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
	ck_assert_int_eq(clock_gettime(clock, &used), 0);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void pause_for_ever(void)
{
	for (;;)
		pause();
}

static void *pid_space(void)
{
	void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(shared, MAP_FAILED);
	return shared;
}

/* Reaping, so far as the kernel has booked it: what the reaper itself is told of its children. */
static void reap_two_of_three(void *arg)
{
	volatile pid_t *living = arg;

	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			burn_cpu_ns(33 * MS);
			if (i == 2) {
				*living = getpid();
				pause_for_ever();
			}
			_exit(0);
		}
		if (i < 2)
			waitpid(pid, NULL, 0);
	}
	while (*living == 0)
		usleep(1000);
}

START_TEST(living_and_reaped_children_add_up)
{
	pid_t *living = pid_space();
	struct rusage before, after;
	struct child child;
	uint64_t truth;

	child_start(&child, reap_two_of_three, living);
	track(child.pid);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.valid & RT_HAS_CPU, RT_HAS_CPU);
	ck_assert_uint_eq(m.cpu_resolution_ns, 1000 * MS / (uint64_t)sysconf(_SC_CLK_TCK));
	truth = process_clock_ns(*living);
	kill(*living, SIGKILL);
	getrusage(RUSAGE_CHILDREN, &before);
	child_end(&child); /* the killed one is left to another reaper */
	getrusage(RUSAGE_CHILDREN, &after);
	truth += rusage_ns(&after) - rusage_ns(&before);
	/* Two ticks for the two modes of what was reaped before we looked. */
	ck_assert_uint_ge(cpu_ns() + 22 * MS, truth);
	ck_assert_uint_le(cpu_ns(), truth + 5 * MS);
	rt_tracker_free(tracker);
}
END_TEST

static void *fork_in_thread(void *arg)
{
	volatile pid_t *child = arg;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause_for_ever();
	}
	*child = pid;
	pause_for_ever();
	return NULL;
}

static void start_forking_thread(void *arg)
{
	volatile pid_t *child = arg;
	pthread_t thread;

	pthread_create(&thread, NULL, fork_in_thread, arg);
	while (*child == 0)
		usleep(1000);
}

START_TEST(children_of_any_thread_belong_to_the_tree)
{
	pid_t *grandchild = pid_space();
	struct rt_process rows[4];
	size_t count = 4;
	struct child child;

	child_start(&child, start_forking_thread, grandchild);
	track(child.pid);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.threads, 3);
	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count), 0);
	ck_assert_int_eq(rows[1].pid, *grandchild);
	ck_assert_int_eq(rows[1].ppid, child.pid);
	kill(*grandchild, SIGKILL);
	kill(child.pid, SIGKILL);
	child_end(&child);
	rt_tracker_free(tracker);
}
END_TEST

static void *burn_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		burn_cpu_ns(10 * MS);
	return NULL;
}

/* The leader goes; work goes on in another thread. */
static void leave_a_thread_behind(void *arg)
{
	static char memory[8 * MIB];
	pthread_t thread;

	(void)arg;
	memset(memory, 1, sizeof(memory));
	pthread_create(&thread, NULL, burn_for_ever, NULL);
	syscall(SYS_exit, 0); /* this thread alone */
}

static int is_set(void *arg)
{
	return *(volatile int *)arg;
}

static int has_lost_its_leader(void *arg)
{
	pid_t pid = *(pid_t *)arg;

	return thread_state(pid, pid) == 'Z';
}

static int has_used_more(void *arg)
{
	ck_assert_int_eq(sample(), 0);
	return cpu_ns() > *(uint64_t *)arg + 2 * MS;
}

START_TEST(a_leader_that_exits_first_does_not_end_the_process)
{
	struct child child;
	uint64_t before;

	child_start_async(&child, leave_a_thread_behind, NULL);
	wait_until(has_lost_its_leader, &child.pid);
	track(child.pid);
	ck_assert_int_eq(sample(), 0);
	before = cpu_ns();
	wait_until(has_used_more, &before);
	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_gt(m.rss_bytes, 8 * MIB);
	ck_assert_uint_eq(m.valid & RT_HAS_PSS, RT_HAS_PSS);
	ck_assert_uint_gt(m.pss_bytes, 8 * MIB);
	kill(child.pid, SIGKILL);
	child_end(&child);
	rt_tracker_free(tracker);
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
	pause_for_ever();
}

static int is_sleep(void *arg)
{
	struct rt_process row;
	size_t count = 1;

	(void)arg;
	ck_assert_int_eq(sample(), 0);
	ck_assert_int_eq(rt_tracker_processes(tracker, &row, sizeof(row), &count), 0);
	return strcmp(row.comm, "sleep") == 0;
}

START_TEST(exec_from_another_thread_is_the_same_process)
{
	struct child child;

	child_start_async(&child, exec_from_another_thread, NULL);
	track(child.pid);
	ck_assert_int_eq(sample(), 0);
	wait_until(is_sleep, NULL);
	ck_assert_uint_ge(cpu_ns(), 30 * MS);
	ck_assert_uint_eq(m.processes_seen, 1);
	kill(child.pid, SIGKILL);
	child_end(&child);
	rt_tracker_free(tracker);
}
END_TEST

static void name_itself_badly(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "a) R 1\n(");
	burn_cpu_ns(20 * MS);
}

START_TEST(names_do_not_matter)
{
	struct rt_process row;
	size_t count = 1;
	struct child child;

	child_start(&child, name_itself_badly, NULL);
	track(child.pid);
	ck_assert_int_eq(sample(), 0);
	ck_assert_int_eq(rt_tracker_processes(tracker, &row, sizeof(row), &count), 0);
	ck_assert_str_eq(row.comm, "a) R 1\n(");
	ck_assert_uint_ge(cpu_ns(), 20 * MS);
	ck_assert_uint_lt(cpu_ns(), 1000 * MS);
	child_end(&child);
	rt_tracker_free(tracker);
}
END_TEST

/* An orphan: its parent is gone, it runs on. */
static void make_an_orphan(void *arg)
{
	volatile pid_t *orphan = arg;
	pid_t pid = fork();

	if (pid == 0) {
		*orphan = getpid();
		while (orphan[1] == 0)
			usleep(1000);
		burn_cpu_ns(30 * MS);
		orphan[2] = 1;
		pause_for_ever();
	}
	while (*orphan == 0)
		usleep(1000);
}

START_TEST(orphans_stay_in_the_tree)
{
	volatile pid_t *orphan = pid_space();
	struct child child;
	uint64_t before;

	child_start(&child, make_an_orphan, (void *)(uintptr_t)orphan);
	track(child.pid);
	ck_assert_int_eq(sample(), 0);
	child_end(&child);
	ck_assert_int_eq(sample(), 0);
	before = cpu_ns();
	ck_assert_uint_eq(m.processes, 1);
	orphan[1] = 1;
	while (orphan[2] == 0)
		usleep(1000);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_ge(cpu_ns(), before + 30 * MS);
	kill(orphan[0], SIGKILL);
	while (sample() != -ESRCH)
		usleep(1000);
	ck_assert_uint_ge(cpu_ns(), before + 30 * MS);
	ck_assert_uint_eq(m.reasons & RT_REASON_UNWAITED, RT_REASON_UNWAITED);
	rt_tracker_free(tracker);
}
END_TEST

static void lose_a_child(void *arg)
{
	volatile pid_t *shared = arg;
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (pid == 0) {
		burn_cpu_ns(40 * MS);
		shared[0] = getpid();
		while (shared[1] == 0)
			usleep(1000);
		_exit(0);
	}
	while (shared[0] == 0)
		usleep(1000);
}

static int has_one_member(void *arg)
{
	(void)arg;
	ck_assert_int_eq(sample(), 0);
	return m.processes == 1;
}

START_TEST(auto_reaped_children_are_kept_and_told)
{
	volatile pid_t *shared = pid_space();
	struct child child;

	child_start(&child, lose_a_child, (void *)(uintptr_t)shared);
	track(child.pid);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.reasons, RT_REASON_SIGCHLD_IGNORED);
	shared[1] = 1;
	wait_until(has_one_member, NULL);
	ck_assert_uint_ge(cpu_ns(), 40 * MS);
	ck_assert_uint_eq(m.reasons, RT_REASON_SIGCHLD_IGNORED | RT_REASON_UNWAITED);
	child_end(&child);
	rt_tracker_free(tracker);
}
END_TEST

/* Short children one after another while samples are taken: no total may fall, none may exceed
 * the truth. */
static void storm(void *arg)
{
	volatile int *stop = arg;

	while (!*stop) {
		pid_t pid = fork();

		if (pid == 0) {
			burn_cpu_ns(2 * MS);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

START_TEST(a_storm_never_makes_totals_fall_or_exceed_the_truth)
{
	volatile int *stop = pid_space();
	struct rusage before, after;
	struct rt_metrics last = { 0 };
	struct child child;

	getrusage(RUSAGE_CHILDREN, &before);
	child_start_async(&child, storm, (void *)(uintptr_t)stop);
	track(child.pid);
	for (int i = 0; i < 300; i++) {
		ck_assert_int_eq(sample(), 0);
		ck_assert_uint_ge(m.cpu_user_ns, last.cpu_user_ns);
		ck_assert_uint_ge(m.cpu_system_ns, last.cpu_system_ns);
		ck_assert_uint_ge(m.minor_faults, last.minor_faults);
		ck_assert_uint_ge(m.read_chars, last.read_chars);
		ck_assert_uint_eq(m.reasons & RT_REASON_UNWAITED, 0);
		last = m;
		usleep(1000);
	}
	*stop = 1;
	child_await(&child);
	ck_assert_int_eq(sample(), 0);
	child_end(&child);
	getrusage(RUSAGE_CHILDREN, &after);
	/* A clock reads to the ns what getrusage cuts to the us, twice. */
	ck_assert_uint_le(cpu_ns(), rusage_ns(&after) - rusage_ns(&before) + MS);
	ck_assert_uint_ge(cpu_ns() + 22 * MS, rusage_ns(&after) - rusage_ns(&before));
	ck_assert_int_le((long)m.minor_faults, after.ru_minflt - before.ru_minflt);
	ck_assert_int_ge((long)m.minor_faults + 20, after.ru_minflt - before.ru_minflt);
	rt_tracker_free(tracker);
}
END_TEST

static char *scratch_file(char *out, size_t size)
{
	const char *dir = getenv("RTRACK_BUILD_ROOT");

	snprintf(out, size, "%s/rtrack-io-%d", dir ? dir : "/var/tmp", getpid());
	return out;
}

static void write_a_file(const char *path, int mib)
{
	static char block[MIB];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < mib; i++) {
		if (write(fd, block, sizeof(block)) != sizeof(block))
			_exit(98);
	}
	fsync(fd);
	close(fd);
	unlink(path);
}

static void let_a_child_write(void *arg)
{
	volatile int *shared = arg;
	char path[512];
	pid_t pid;

	scratch_file(path, sizeof(path));
	write_a_file(path, 1);
	pid = fork();
	if (pid == 0) {
		write_a_file(path, 3);
		shared[0] = 1;
		while (shared[1] == 0)
			usleep(1000);
		_exit(0);
	}
	while (shared[1] == 0)
		usleep(1000);
	waitpid(pid, NULL, 0);
}

START_TEST(bytes_of_a_reaped_child_count_once)
{
	volatile int *shared = pid_space();
	struct rusage before, after;
	struct child child;
	uint64_t alive;

	getrusage(RUSAGE_CHILDREN, &before);
	child_start_async(&child, let_a_child_write, (void *)(uintptr_t)shared);
	track(child.pid);
	wait_until(is_set, (void *)(uintptr_t)shared);
	ck_assert_int_eq(sample(), 0);
	alive = m.write_bytes;
	shared[1] = 1;
	child_await(&child);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.write_bytes, alive);
	child_end(&child);
	getrusage(RUSAGE_CHILDREN, &after);
	ck_assert_uint_eq(m.write_bytes, (uint64_t)(after.ru_oublock - before.ru_oublock) * 512);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(a_process_that_ends_ends_its_tracker)
{
	struct child child;

	child_start(&child, name_itself_badly, NULL);
	track(child.pid);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.cpu_resolution_ns, 1);
	child_end(&child);
	ck_assert_int_eq(sample(), -ESRCH);
	ck_assert_uint_ge(cpu_ns(), 20 * MS);
	ck_assert_uint_eq(m.processes, 0);
	ck_assert_int_eq(sample(), -ESRCH);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(the_caller_may_track_itself)
{
	track(getpid());
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_gt(m.rss_bytes, 0);
	ck_assert_uint_gt(m.self_cpu_ns, 0);
	rt_tracker_free(tracker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pid_tracker");
	TCase *tree = suite_case(suite, "tree"), *departures = suite_case(suite, "departures");

	tcase_add_test(tree, living_and_reaped_children_add_up);
	tcase_add_test(tree, children_of_any_thread_belong_to_the_tree);
	tcase_add_test(tree, a_leader_that_exits_first_does_not_end_the_process);
	tcase_add_test(tree, exec_from_another_thread_is_the_same_process);
	tcase_add_test(tree, names_do_not_matter);
	tcase_add_test(tree, the_caller_may_track_itself);
	tcase_add_test(departures, orphans_stay_in_the_tree);
	tcase_add_test(departures, auto_reaped_children_are_kept_and_told);
	tcase_add_test(departures, a_storm_never_makes_totals_fall_or_exceed_the_truth);
	tcase_add_test(departures, bytes_of_a_reaped_child_count_once);
	tcase_add_test(departures, a_process_that_ends_ends_its_tracker);
	return suite_run(suite);
}
