/* SPDX-License-Identifier: MIT */
/* Trees of several processes, and of sessions, against what the processes report of themselves and
 * what /proc shows the test. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

#define WORK_NS UINT64_C(60000000)
#define HELD ((size_t)48 << 20)
#define CHILDREN 3

static struct rt_tracker *track_pids(const pid_t *pids, size_t count, uint32_t flags)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = flags };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pids_tracker_new(&tracker, pids, count, &opts), 0);
	return tracker;
}

static uint64_t own_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return get_rusage_ns(&usage);
}

static void work(void *arg)
{
	burn_cpu_ns(WORK_NS);
	*(uint64_t *)arg = own_ns();
}

/* Each one uses CPU time and reports it. */
static uint64_t *start_workers(struct child *children, pid_t *pids)
{
	uint64_t *used_ns = map_shared(CHILDREN * sizeof(*used_ns));

	for (int i = 0; i < CHILDREN; i++) {
		child_start_async(&children[i], work, &used_ns[i]);
		pids[i] = children[i].pid;
	}
	for (int i = 0; i < CHILDREN; i++)
		child_await(&children[i]);
	return used_ns;
}

/* The last one first: each has inherited the pipes of those before it. */
static void end_all(struct child *children, int count)
{
	while (count-- > 0)
		child_end(&children[count]);
}

START_TEST(sample_is_the_sum_over_the_processes)
{
	struct child children[CHILDREN];
	pid_t pids[CHILDREN];
	uint64_t *used_ns = start_workers(children, pids), least_ns = 0;
	struct rt_tracker *tracker = track_pids(pids, CHILDREN, 0);
	struct rt_metrics m = sample(tracker);

	for (int i = 0; i < CHILDREN; i++)
		least_ns += used_ns[i];
	ck_assert_uint_eq(m.kind, RT_KIND_PID);
	ck_assert_uint_eq(m.processes, CHILDREN);
	ck_assert_uint_ge(get_sampled_ns(&m) + CHILDREN * 2000, least_ns);
	end_all(children, CHILDREN);
	/* The kernel's account of all children of the test. */
	struct rusage usage;
	getrusage(RUSAGE_CHILDREN, &usage);
	ck_assert_uint_le(get_sampled_ns(&m), get_rusage_ns(&usage) + CHILDREN * 2000);
	rt_tracker_free(tracker);
}
END_TEST

/* What has ended keeps its part; what is left still counts; the last one ends the tree. */
START_TEST(ended_process_keeps_its_part)
{
	struct child children[CHILDREN];
	pid_t pids[CHILDREN];
	uint64_t *used_ns = start_workers(children, pids), all_ns;
	struct rt_tracker *tracker = track_pids(pids, CHILDREN, 0);
	struct rt_metrics m = sample(tracker);

	all_ns = get_sampled_ns(&m);
	for (int i = 0; i < CHILDREN; i++) {
		ck_assert_uint_eq(m.processes, (uint64_t)(CHILDREN - i));
		ck_assert_uint_ge(get_sampled_ns(&m), all_ns);
		ck_assert_uint_ge(all_ns + CHILDREN * 2000, used_ns[0] + used_ns[1] + used_ns[2]);
		all_ns = get_sampled_ns(&m);
		child_end(&children[CHILDREN - 1 - i]);
		if (i < CHILDREN - 1)
			m = sample(tracker);
	}
	m = sample_ended(tracker);
	ck_assert_uint_ge(get_sampled_ns(&m), all_ns);
	ck_assert_uint_eq(m.processes, 0);
	rt_tracker_free(tracker);
}
END_TEST

/* In memory that all share. */
struct family {
	atomic_int child; /* 0 until it has worked */
	uint64_t used_ns;
};

static void reap(int signal)
{
	(void)signal;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Its child works and waits to be killed, and is reaped then. */
static void have_a_child(void *arg)
{
	struct family *family = arg;
	static struct child child;

	signal(SIGCHLD, reap);
	child_start(&child, work, &family->used_ns);
	atomic_store(&family->child, child.pid);
}

static int has_child(void *arg)
{
	return atomic_load(&((struct family *)arg)->child) != 0;
}

static const struct {
	uint32_t flags;
	bool is_child_named;
	uint64_t processes;
} families[] = {
	{ 0, false, 2 },
	{ 0, true, 2 },
	{ RT_OPT_NO_CHILDREN, false, 1 },
	{ RT_OPT_NO_CHILDREN, true, 2 },
};

START_TEST(process_below_another_counts_once)
{
	struct family *family = map_shared(sizeof(*family));
	struct rt_tracker *tracker;
	struct rt_process first;
	struct rt_metrics m;
	struct child parent;
	size_t count = 1;
	pid_t pids[4];

	child_start_async(&parent, have_a_child, family);
	wait_until(has_child, family);
	/* The child comes first, and each is named twice. */
	pids[0] = pids[2] = families[_i].is_child_named ? family->child : parent.pid;
	pids[1] = pids[3] = parent.pid;
	tracker = track_pids(pids, 4, families[_i].flags);
	m = sample(tracker);
	ck_assert_uint_eq(m.processes, families[_i].processes);
	if (families[_i].processes == 2)
		ck_assert_uint_ge(get_sampled_ns(&m) + 2000, family->used_ns);
	ck_assert_uint_lt(get_sampled_ns(&m), 2 * family->used_ns);
	ck_assert_int_eq(rt_tracker_processes(tracker, &first, sizeof(first), &count), 0);
	ck_assert_int_eq(first.pid, parent.pid); /* though its child was named first */
	rt_tracker_free(tracker);
	child_end(&parent);
}
END_TEST

/* The account of its parent has what the child used, and is no part of the tree. */
START_TEST(ended_child_of_processes_alone_keeps_its_part)
{
	struct family *family = map_shared(sizeof(*family));
	struct rt_tracker *tracker;
	struct rt_metrics before, after;
	struct child parent;
	pid_t pids[2];

	child_start_async(&parent, have_a_child, family);
	wait_until(has_child, family);
	pids[0] = parent.pid;
	pids[1] = family->child;
	tracker = track_pids(pids, 2, RT_OPT_NO_CHILDREN);
	before = sample(tracker);
	kill_process(family->child, SIGKILL);
	do
		after = sample(tracker);
	while (after.processes > 1);
	ck_assert_uint_ge(get_sampled_ns(&after), get_sampled_ns(&before));
	ck_assert_uint_ge(get_sampled_ns(&after) + 2000, family->used_ns);
	rt_tracker_free(tracker);
	child_end(&parent);
}
END_TEST

static void do_nothing(void *arg)
{
	(void)arg;
}

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int is_past(void *arg)
{
	return realtime_ns() > *(uint64_t *)arg;
}

/* The second process is the older one, and stands deeper. */
START_TEST(account_begins_with_the_process_that_started_first)
{
	const uint64_t step_ns = UINT64_C(100000000); /* ten clock ticks */
	struct family *family = map_shared(sizeof(*family));
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct child parent, later;
	uint64_t first_ns, later_ns;
	pid_t pids[2];

	child_start_async(&parent, have_a_child, family);
	wait_until(has_child, family);
	first_ns = realtime_ns();
	later_ns = first_ns + step_ns;
	wait_until(is_past, &later_ns);
	child_start(&later, do_nothing, NULL);
	pids[0] = later.pid;
	pids[1] = family->child;
	tracker = track_pids(pids, 2, 0);
	m = sample(tracker);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_ne(m.account_start_realtime_ns, 0);
	ck_assert_uint_le(m.account_start_realtime_ns, first_ns + step_ns / 2);
	rt_tracker_free(tracker);
	child_end(&later);
	child_end(&parent);
}
END_TEST

static void touch(void *arg)
{
	memset(arg, 1, HELD);
}

START_TEST(memory_that_processes_share_counts_once)
{
	char *memory = map_shared(HELD);
	struct child children[2];
	struct rt_tracker *tracker;
	struct rt_metrics m;
	pid_t pids[2];

	for (int i = 0; i < 2; i++) {
		child_start_async(&children[i], touch, memory);
		child_await(&children[i]);
		pids[i] = children[i].pid;
	}
	tracker = track_pids(pids, 2, 0);
	ck_assert_int_eq(rt_tracker_read_memory(tracker), 0);
	m = sample(tracker);
	ck_assert_uint_ge(m.rss_bytes, 2 * HELD);
	ck_assert_uint_ge(m.footprint_bytes, HELD);
	ck_assert_uint_lt(m.footprint_bytes, 2 * HELD);
	rt_tracker_free(tracker);
	end_all(children, 2);
}
END_TEST

START_TEST(processes_that_have_ended_are_left_out)
{
	struct child ended, running;
	struct rt_tracker *tracker;
	char message[128] = "";
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .message = message,
		                      .message_size = sizeof(message) };
	pid_t pids[2];

	child_start(&ended, do_nothing, NULL);
	child_end(&ended);
	child_start(&running, do_nothing, NULL);
	pids[0] = ended.pid;
	pids[1] = running.pid;
	tracker = track_pids(pids, 2, 0);
	ck_assert_uint_eq(sample(tracker).processes, 1);
	rt_tracker_free(tracker);
	ck_assert_int_eq(rt_pids_tracker_new(&tracker, pids, 1, &opts), -ESRCH);
	ck_assert_ptr_null(tracker);
	ck_assert_ptr_nonnull(strstr(message, "There is no process"));
	child_end(&running);
}
END_TEST

/* The end of one process is not that of the tree. */
START_TEST(descriptor_has_process_events_alone)
{
	const pid_t pids[] = { getpid(), getppid() };
	static const uint32_t flags[] = { 0, RT_OPT_SESSION };

	for (size_t i = 0; i < 2; i++) {
		struct rt_tracker *tracker =
		    track_pids(pids, 2 - i, flags[i] | RT_OPT_NO_PROCESS_EVENTS);

		sample(tracker);
		ck_assert_int_eq(rt_tracker_fd(tracker), -EOPNOTSUPP);
		rt_tracker_free(tracker);
	}
}
END_TEST

START_TEST(bad_pids_are_refused)
{
	const pid_t pids[] = { getpid(), 0 }, both[] = { getpid(), getppid() };
	struct rt_tracker *tracker;
	char message[256] = "";
	struct rt_opts opts = { .size = sizeof(opts),
		                .message = message,
		                .message_size = sizeof(message) };

	ck_assert_int_eq(rt_pids_tracker_new(NULL, pids, 1, NULL), -EFAULT);
	ck_assert_int_eq(rt_pids_tracker_new(&tracker, NULL, 1, NULL), -EFAULT);
	ck_assert_int_eq(rt_pids_tracker_new(&tracker, pids, 0, &opts), -EINVAL);
	ck_assert_int_eq(rt_pids_tracker_new(&tracker, pids, 2, &opts), -EINVAL);
	ck_assert_ptr_nonnull(strstr(message, "above 0"));
	opts.flags = RT_OPT_SESSION | RT_OPT_NO_CHILDREN;
	ck_assert_int_eq(rt_pids_tracker_new(&tracker, pids, 1, &opts), -EINVAL);
	ck_assert_ptr_nonnull(strstr(message, "RT_OPT_SESSION"));
	opts.flags = RT_OPT_SESSION;
	ck_assert_int_eq(rt_pids_tracker_new(&tracker, both, 2, &opts), -EINVAL);
}
END_TEST

/* --- Sessions. --- */

struct session {
	atomic_int leader, orphan, late;
	atomic_bool may_fork;
};

static void fork_orphan(atomic_int *pid)
{
	pid_t middle = fork();

	if (middle == 0) {
		pid_t orphan = fork();

		if (orphan == 0) {
			end_self_after(300);
			for (;;)
				pause();
		}
		atomic_store(pid, orphan);
		_exit(0);
	}
	waitpid(middle, NULL, 0);
}

/* It leads a session, leaves an orphan behind, and later another one. */
static void lead(void *arg)
{
	struct session *s = arg;

	if (fork() == 0) {
		end_self_after(300);
		setsid();
		atomic_store(&s->leader, getpid());
		fork_orphan(&s->orphan);
		while (!atomic_load(&s->may_fork))
			usleep(1000);
		fork_orphan(&s->late);
		for (;;)
			pause();
	}
}

static int has_orphan(void *arg)
{
	return atomic_load(&((struct session *)arg)->orphan) != 0;
}

static int has_late(void *arg)
{
	return atomic_load(&((struct session *)arg)->late) != 0;
}

static int has_gone(void *arg)
{
	char state = thread_state(*(pid_t *)arg, *(pid_t *)arg);

	return state == 0 || state == 'Z';
}

static bool is_listed(struct rt_tracker *tracker, pid_t pid)
{
	struct rt_process rows[16];
	size_t count = 16;

	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count), 0);
	for (size_t i = 0; i < count; i++)
		if (rows[i].pid == pid)
			return true;
	return false;
}

START_TEST(session_has_its_orphans)
{
	struct session *s = map_shared(sizeof(*s));
	struct rt_opts opts = { .size = sizeof(opts), .flags = RT_OPT_SESSION };
	struct rt_tracker *tracker;
	struct child mother;
	pid_t leader, orphan, late;

	child_start(&mother, lead, s);
	wait_until(has_orphan, s);
	leader = atomic_load(&s->leader);
	orphan = atomic_load(&s->orphan);
	/* By the leader, or by any member; with process events, or by scans. */
	opts.flags |= _i & 2 ? RT_OPT_NO_PROCESS_EVENTS : 0;
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, _i & 1 ? leader : orphan, &opts), 0);
	ck_assert_uint_eq(sample(tracker).processes, 2);
	ck_assert(is_listed(tracker, leader) && is_listed(tracker, orphan));
	ck_assert(!is_listed(tracker, mother.pid));

	/* No sample sees the process in between. */
	atomic_store(&s->may_fork, true);
	wait_until(has_late, s);
	late = atomic_load(&s->late);
	while (!is_listed(tracker, late))
		sample(tracker);
	ck_assert(is_listed(tracker, orphan));

	/* The session lives on without its leader. */
	kill_process(leader, SIGKILL);
	wait_until(has_gone, &leader);
	sample(tracker);
	rt_tracker_free(tracker);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, leader, &opts), 0);
	sample(tracker);
	ck_assert(is_listed(tracker, orphan) && is_listed(tracker, late));
	rt_tracker_free(tracker);
	kill_process(orphan, SIGKILL);
	kill_process(late, SIGKILL);
	child_end(&mother);
}
END_TEST

START_TEST(session_that_does_not_exist_is_esrch)
{
	struct rt_opts opts = { .size = sizeof(opts), .flags = RT_OPT_SESSION };
	struct rt_tracker *tracker;
	struct child child;

	child_start(&child, do_nothing, NULL);
	child_end(&child);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, child.pid, &opts), -ESRCH);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("several_roots");
	TCase *roots = suite_case(suite, "roots"), *sessions = suite_case(suite, "sessions");

	tcase_add_test(roots, sample_is_the_sum_over_the_processes);
	tcase_add_test(roots, ended_process_keeps_its_part);
	tcase_add_loop_test(roots, process_below_another_counts_once, 0, 4);
	tcase_add_test(roots, ended_child_of_processes_alone_keeps_its_part);
	tcase_add_test(roots, account_begins_with_the_process_that_started_first);
	tcase_add_test(roots, memory_that_processes_share_counts_once);
	tcase_add_test(roots, processes_that_have_ended_are_left_out);
	tcase_add_test(roots, descriptor_has_process_events_alone);
	tcase_add_test(roots, bad_pids_are_refused);
	tcase_add_loop_test(sessions, session_has_its_orphans, 0, 4);
	tcase_add_test(sessions, session_that_does_not_exist_is_esrch);
	return suite_run(suite);
}
