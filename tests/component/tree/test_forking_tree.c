/* SPDX-License-Identifier: MIT */
/* A tree that forks in every way: each sample has all of its processes, however new members are
 * found. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "descriptors.h"
#include "suite.h"
#include "tree/tree_inside.h"

#define WORKERS 80
#define THREADS 64 /* of the root */
#define ROUNDS 120
#define CHILDREN_MAX 3
#define ROUND_NS UINT64_C(300000000)
#define PIDS_MAX 1024

enum deed {
	FORK,
	FORK_FROM_THREAD,
	FORK_TWO,
	FORK_ORPHAN,
	FORK_BRIEFLY,
	FORK_WORKER, /* and wait for it */
	END_ONE,
	NOTHING,
	DEEDS
};

static struct {
	pid_t root;
	int orders[WORKERS], answers[2];
	int guarded; /* the group of the root is killed when this is closed */
	uint64_t now_ns;
	unsigned random_state;
} fix;

static void stop_here(void)
{
	for (;;)
		pause();
}

static pid_t fork_sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		stop_here();
	return pid;
}

static void *fork_from_thread(void *out)
{
	*(pid_t *)out = fork_sleeper();
	return NULL;
}

/* A child that forks another one, and then sleeps or exits. */
static pid_t fork_pair(bool exits)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		fork_sleeper();
		if (exits)
			_exit(0);
		if (write(ready[1], "r", 1) == 1)
			stop_here();
	}
	if (!exits && read(ready[0], &byte, 1) != 1)
		_exit(1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* Two ticks of CPU time, so that stat of the parent shows them. */
static pid_t fork_worker(void)
{
	struct timespec used = { 0 };
	pid_t pid = fork();

	while (pid == 0 && used.tv_nsec < 20000000)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	if (pid == 0)
		_exit(0);
	return pid;
}

static void end_child(pid_t pid)
{
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static pid_t do_deed(enum deed deed)
{
	pthread_t thread;
	pid_t pid = 0;

	switch (deed) {
	case FORK:
		return fork_sleeper();
	case FORK_FROM_THREAD:
		if (pthread_create(&thread, NULL, fork_from_thread, &pid) == 0)
			pthread_join(thread, NULL);
		return pid;
	case FORK_TWO:
		return fork_pair(false);
	case FORK_ORPHAN:
		waitpid(fork_pair(true), NULL, 0);
		return 0;
	case FORK_WORKER:
		waitpid(fork_worker(), NULL, 0);
		return 0;
	case FORK_BRIEFLY:
		end_child(fork_sleeper());
		return 0;
	default:
		return 0;
	}
}

static void work(int orders)
{
	pid_t children[CHILDREN_MAX] = { 0 };
	unsigned char order;
	int count = 0;

	while (read(orders, &order, 1) == 1) {
		pid_t pid = count < CHILDREN_MAX ? do_deed((enum deed)order) : 0;

		if (pid > 0)
			children[count++] = pid;
		else if (order == END_ONE && count > 0)
			end_child(children[--count]);
		if (write(fix.answers[1], "d", 1) != 1)
			break;
	}
	_exit(0);
}

static atomic_int started; /* threads of the root */

static void *sleep_forever(void *nothing)
{
	atomic_fetch_add(&started, 1);
	stop_here();
	return nothing;
}

/* It has threads that do nothing. */
static void run_root(int orders[WORKERS][2])
{
	pthread_t thread;

	setpgid(0, 0);
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, sleep_forever, NULL) != 0)
			_exit(1);
	/* A thread that begins may hold a lock of the allocator, which a fork would copy. */
	while (atomic_load(&started) < THREADS - 1)
		usleep(1000);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < WORKERS; i++) {
		if (fork() == 0)
			work(orders[i][0]);
	}
	if (write(fix.answers[1], "r", 1) == 1)
		stop_here();
	_exit(1);
}

/* A test that fails ends without tear_down(). All its processes are in the group of the root. A
 * process outside the group kills it when the test ends. */
static void guard_root(void)
{
	int guarded[2];
	char byte;
	pid_t guard;

	ck_assert_int_gt(fix.root, 1);
	ck_assert_int_eq(pipe(guarded), 0);
	guard = fork();
	ck_assert_int_ge(guard, 0);
	if (guard == 0) {
		close(guarded[1]);
		if (read(guarded[0], &byte, 1) == 0)
			kill(-fix.root, SIGKILL);
		_exit(0);
	}
	setpgid(guard, guard); /* not that of the test, which is killed with it */
	close(guarded[0]);
	fix.guarded = guarded[1];
}

static void read_answers(int count)
{
	char byte;

	for (int i = 0; i < count; i++)
		ck_assert_int_eq(read(fix.answers[0], &byte, 1), 1);
}

static void set_up(void)
{
	int orders[WORKERS][2];

	memset(&fix, 0, sizeof(fix));
	fix.now_ns = UINT64_C(1000000000000);
	fix.random_state = 1;
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert_int_eq(pipe(fix.answers), 0);
	for (int i = 0; i < WORKERS; i++) {
		ck_assert_int_eq(pipe(orders[i]), 0);
		fix.orders[i] = orders[i][1];
	}
	fix.root = fork();
	ck_assert_int_ge(fix.root, 0);
	if (fix.root == 0)
		run_root(orders);
	setpgid(fix.root, fix.root);
	guard_root();
	for (int i = 0; i < WORKERS; i++)
		close(orders[i][0]);
	read_answers(1);
}

static void tear_down(void)
{
	close(fix.guarded);
	while (waitpid(-1, NULL, 0) > 0)
		;
	for (int i = 0; i < WORKERS; i++)
		close(fix.orders[i]);
	close(fix.answers[0]);
	close(fix.answers[1]);
}

static void fake_now(struct rti_now *out)
{
	*out = (struct rti_now){ fix.now_ns, fix.now_ns, fix.now_ns };
}

static uint64_t fake_monotonic_ns(void)
{
	return fix.now_ns;
}

static struct rt_tracker *track_root_with(const struct rti_procfs_ops *ops)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .want =
		                          RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO | RT_HAS_PROCESSES };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rti_tracker_new(&tracker, fix.root, &opts, ops), 0);
	assume_nothing_unseen(tracker);
	get_platform(tracker)->now = fake_now;
	get_platform(tracker)->monotonic_ns = fake_monotonic_ns;
	forbid_batch_reader(tracker);
	return tracker;
}

static struct rt_tracker *track_root(void)
{
	return track_root_with(&rti_procfs_linux);
}

/* One worker in eight does something; all of them run, so that each may have forked. */
static void run_round(void)
{
	for (int i = 0; i < WORKERS; i++) {
		unsigned char deed = NOTHING;

		fix.random_state = fix.random_state * 1664525u + 1013904223u;
		if ((fix.random_state >> 16) % 8 == 0)
			deed = (unsigned char)((fix.random_state >> 20) % DEEDS);
		ck_assert_int_eq(write(fix.orders[i], &deed, 1), 1);
	}
	read_answers(WORKERS);
}

/* The tree does not change meanwhile. */
static void check_members(struct rt_tracker *tracker, const char *name, int round)
{
	int32_t pids[PIDS_MAX];
	struct rt_metrics m;
	size_t count = PIDS_MAX;

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	ck_assert_int_eq(rt_pid_descendants(fix.root, pids, &count), 0);
	ck_assert_msg(m.processes == count + 1, "round %d: %s has %u of %zu processes", round, name,
	              (unsigned)m.processes, count + 1);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(has_member(tracker, pids[i]), "round %d: %s lacks %d", round, name,
		              (int)pids[i]);
}

START_TEST(members_are_the_processes_of_the_tree)
{
	int before = count_descriptors();
	struct rt_tracker *tracker = track_root();

	for (int round = 0; round < ROUNDS; round++) {
		run_round();
		fix.now_ns += ROUND_NS;
		check_members(tracker, "the tree", round);
	}
	rt_tracker_free(tracker);
	ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

/* So few that a scan of /proc always costs less than the children files of the root. */
static int64_t one_link(int fd)
{
	(void)fd;
	return 1;
}

static char refused[32]; /* the path of a file that cannot be opened once */

static int open_refusing(int dirfd, const char *path, int flags)
{
	if (strcmp(path, refused) != 0)
		return rti_procfs_linux.open(dirfd, path, flags);
	refused[0] = '\0';
	return -EACCES;
}

static void refuse_stat_of_a_new_child(const struct rt_tracker *tracker)
{
	int32_t pids[PIDS_MAX];
	size_t count = PIDS_MAX;

	ck_assert_int_eq(rt_pid_descendants(fix.root, pids, &count), 0);
	for (size_t i = 0; i < count; i++)
		if (!has_member(tracker, pids[i]))
			snprintf(refused, sizeof(refused), "%d/stat", (int)pids[i]);
}

static int open_hiding(int dirfd, const char *path, int flags)
{
	static const char mounts[] = "22 1 0:21 / /proc rw - proc proc rw,hidepid=2\n";
	int fd;

	if (strcmp(path, "self/mountinfo") != 0)
		return rti_procfs_linux.open(dirfd, path, flags);
	fd = memfd_create("mountinfo", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, mounts, sizeof(mounts) - 1), sizeof(mounts) - 1);
	return fd;
}

static const struct proc_scan {
	int (*open)(int dirfd, const char *path, int flags);
	bool scans_proc;
} proc_scans[] = {
	{ .open = NULL, .scans_proc = true },
	{ .open = open_refusing, .scans_proc = true },
	{ .open = open_hiding, .scans_proc = false },
};

/* The files are read where a process is hidden or cannot be looked at. */
START_TEST(scan_of_proc_finds_the_members_of_the_children_files)
{
	const struct proc_scan *scan = &proc_scans[_i];
	struct rti_procfs_ops ops = rti_procfs_linux;
	struct rt_tracker *tracker;

	ops.links = one_link;
	ops.open_in_root = NULL;
	if (scan->open)
		ops.open = scan->open;
	tracker = track_root_with(&ops);
	for (int round = 0; round < ROUNDS / 3; round++) {
		run_round();
		fix.now_ns += ROUND_NS;
		refuse_stat_of_a_new_child(tracker);
		check_members(tracker, "the tree", round);
		ck_assert_int_eq(count_scanned_others(tracker) > 0, scan->scans_proc);
	}
	rt_tracker_free(tracker);
}
END_TEST

static uint64_t sample_reaped_ns(struct rt_tracker *tracker)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	return get_reaped_cpu_ns(tracker);
}

/* Start times are compared with the time of the last sample. */
static void use_late_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	fix.now_ns += (uint64_t)now.tv_sec * 1000000000;
}

/* Forks of every kind while the watch begins, and later. */
START_TEST(members_of_a_watched_tree_are_those_of_the_children_files)
{
	struct rt_tracker *watched = track_root(), *by_files = track_root();
	int partial = 0;

	use_late_clock();
	forbid_watch(by_files);
	use_watch_now(watched);
	for (int round = 0; round < ROUNDS; round++) {
		run_round();
		fix.now_ns += ROUND_NS;
		check_members(watched, "the watched tree", round);
		partial += was_partial_sample(watched);
		ck_assert_uint_eq(sample_reaped_ns(watched), sample_reaped_ns(by_files));
		check_members(by_files, "the tree by files", round);
	}
	rt_tracker_free(watched);
	rt_tracker_free(by_files);
	if (partial == 0)
		suite_skip_test("this system lets no BPF program watch a tree");
	else
		ck_assert_int_gt(partial, ROUNDS * 3 / 4);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("forking_tree");
	TCase *cases = suite_case(suite, "members");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, members_are_the_processes_of_the_tree);
	tcase_add_loop_test(cases, scan_of_proc_finds_the_members_of_the_children_files, 0,
	                    sizeof(proc_scans) / sizeof(proc_scans[0]));
	tcase_add_test(cases, members_of_a_watched_tree_are_those_of_the_children_files);
	return suite_run(suite);
}
