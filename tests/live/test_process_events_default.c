/* SPDX-License-Identifier: MIT */
/* Trackers with default options: what they receive, and what they know that they may miss. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"
#include "workload.h"

#define MS UINT64_C(1000000)
#define TRIES 10 /* a busy system overflows the buffer */
#define DEFAULT_MAX 8
#define FORKS_MAX 100000 /* more than any buffer holds */
#define COUNTERS (RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_IO)

enum { STEP_BEGIN, STEP_READY, STEP_WORK, STEP_WORKED, STEP_END };

static atomic_int *step; /* shared with the child that is tracked */

static void set_up(void)
{
	step = map_shared(sizeof(*step));
}

static void tear_down(void)
{
	munmap(step, sizeof(*step));
}

static void await_step(int at)
{
	while (atomic_load(step) < at)
		usleep(500);
}

static void burn_in_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		burn_cpu_ns(20 * MS);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* An orphan that no process of the tree waits for. The pipe shows its end. */
static void burn_in_orphan(void)
{
	int fds[2];
	pid_t pid;
	char byte;

	if (pipe(fds) < 0)
		_exit(90);
	pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			burn_cpu_ns(20 * MS);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	close(fds[1]);
	if (read(fds[0], &byte, 1) != 0)
		_exit(91);
	close(fds[0]);
}

static void work_in(void (*work)(void))
{
	await_step(STEP_WORK);
	work();
	atomic_store(step, STEP_WORKED);
	await_step(STEP_END);
}

static void have_child(void *arg)
{
	(void)arg;
	work_in(burn_in_child);
}

static void have_orphan(void *arg)
{
	(void)arg;
	work_in(burn_in_orphan);
}

/* It has reaped a child before it is tracked. */
static void have_past(void *arg)
{
	(void)arg;
	burn_in_child();
	atomic_store(step, STEP_READY);
	work_in(burn_in_child);
}

static struct rt_tracker *track_with(pid_t pid, uint32_t flags)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = flags };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, &opts), 0);
	return tracker;
}

/* Samples before and after the work of a child. */
static void sample_around(void (*work)(void *arg), uint32_t flags, struct rt_metrics *before,
                          struct rt_metrics *after)
{
	struct rt_tracker *tracker;
	struct child child;

	atomic_store(step, STEP_BEGIN);
	child_start_async(&child, work, NULL);
	if (work == have_past)
		await_step(STEP_READY);
	tracker = track_with(child.pid, flags);
	*before = sample(tracker);
	atomic_store(step, STEP_WORK);
	await_step(STEP_WORKED);
	do {
		*after = sample(tracker);
	} while (after->processes > 1); /* it closes its files before it has ended */
	rt_tracker_free(tracker);
	atomic_store(step, STEP_END);
	child_await(&child);
	child_end(&child);
}

/* Until no event was lost. */
static void sample_with_events(void (*work)(void *arg), struct rt_metrics *before,
                               struct rt_metrics *after)
{
	for (int i = 0; i < TRIES; i++) {
		sample_around(work, 0, before, after);
		if (!(after->reasons & RT_REASON_EVENTS_LOST))
			return;
	}
	ck_abort_msg("events were lost");
}

START_TEST(tracker_with_events_says_that_an_orphan_is_missing)
{
	struct rt_metrics before, after;

	sample_with_events(have_orphan, &before, &after);

	ck_assert_uint_eq(before.valid & COUNTERS, COUNTERS);
	ck_assert_uint_eq(after.partial & COUNTERS, COUNTERS);
	ck_assert_uint_ne(after.reasons & (RT_REASON_UNWAITED | RT_REASON_ORPHANS_UNSEEN), 0);
	ck_assert_uint_eq(after.processes_seen, 3);
}
END_TEST

START_TEST(tracker_with_events_knows_that_a_child_was_waited_for)
{
	struct rt_metrics before, after;

	sample_with_events(have_child, &before, &after);

	ck_assert_uint_eq(after.reasons & ~(uint32_t)RT_REASON_CLOCK_TICKS, 0);
	ck_assert_uint_eq(after.valid & (RT_HAS_FAULTS | RT_HAS_PROCESSES_SEEN),
	                  RT_HAS_FAULTS | RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(after.processes_seen, 2);
}
END_TEST

/* What it says is the same whether the tree had an orphan or not: it cannot know. */
START_TEST(tracker_without_events_has_lower_bounds_once_a_child_was_reaped)
{
	struct rt_metrics before, after;
	struct rt_delta delta;

	sample_around(_i ? have_orphan : have_child, RT_OPT_NO_PROCESS_EVENTS, &before, &after);

	ck_assert_uint_eq(before.valid & COUNTERS, COUNTERS);
	ck_assert_uint_eq(before.reasons, 0);
	ck_assert_uint_eq(after.partial & COUNTERS, COUNTERS);
	ck_assert_uint_eq(after.reasons & RT_REASON_ORPHANS_UNSEEN, RT_REASON_ORPHANS_UNSEEN);
	ck_assert_int_eq(rt_diff(&before, &after, &delta, sizeof(delta)), 0);
	ck_assert_uint_eq(delta.partial & RT_HAS_FAULTS, RT_HAS_FAULTS);
}
END_TEST

START_TEST(past_of_a_tree_is_a_lower_bound_and_differences_are_exact)
{
	struct rt_metrics before, after;
	struct rt_delta delta;

	sample_with_events(have_past, &before, &after);

	ck_assert_uint_eq(before.reasons & RT_REASON_PAST_UNKNOWN, RT_REASON_PAST_UNKNOWN);
	ck_assert_uint_eq(before.partial & COUNTERS, COUNTERS);
	ck_assert_uint_eq(before.account_start_realtime_ns, after.account_start_realtime_ns);
	ck_assert_uint_le(before.realtime_ns, before.account_start_realtime_ns);
	ck_assert_uint_le(before.account_start_realtime_ns, after.realtime_ns);
	ck_assert_int_eq(rt_diff(&before, &after, &delta, sizeof(delta)), 0);
	ck_assert_uint_eq(delta.valid & RT_HAS_FAULTS, RT_HAS_FAULTS);
}
END_TEST

/* Its account begins with it. */
START_TEST(past_of_a_process_that_has_had_no_child_is_known)
{
	struct rt_metrics before, after;

	sample_around(have_child, 0, &before, &after);

	ck_assert_uint_eq(before.reasons & RT_REASON_PAST_UNKNOWN, 0);
	ck_assert_uint_le(before.account_start_realtime_ns, before.realtime_ns);
	ck_assert_uint_ge(before.account_start_realtime_ns + 100000 * MS, before.realtime_ns);
}
END_TEST

START_TEST(tree_with_zombies_alone_has_ended)
{
	struct rt_tracker *tracker;
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		pause();
	tracker = track(pid);
	sample(tracker);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);

	ck_assert_uint_eq(sample_ended(tracker).processes, 1);

	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_eq(sample_ended(tracker).processes, 0);
	rt_tracker_free(tracker);
}
END_TEST

static struct rt_obstacle obstacle_of(const struct rt_tracker *tracker, uint64_t has)
{
	struct rt_obstacle out;

	ck_assert_int_eq(rt_tracker_obstacle(tracker, has, &out, sizeof(out)), 0);
	return out;
}

START_TEST(ninth_tracker_goes_without_events_and_says_so)
{
	struct rt_tracker *trackers[DEFAULT_MAX + 1], *another;
	struct rt_metrics m;

	for (int i = 0; i <= DEFAULT_MAX; i++) {
		trackers[i] = track(getpid());
		m = sample(trackers[i]);
	}
	ck_assert_uint_eq(m.partial & RT_HAS_PROCESSES_SEEN, RT_HAS_PROCESSES_SEEN);
	ck_assert_ptr_nonnull(strstr(obstacle_of(trackers[DEFAULT_MAX], RT_HAS_PROCESSES_SEEN).text,
	                             "Eight trackers"));
	rt_tracker_free(trackers[0]);
	another = track(getpid());
	m = sample(another);
	ck_assert(m.valid & RT_HAS_PROCESSES_SEEN || m.reasons & RT_REASON_EVENTS_LOST);
	rt_tracker_free(another);
	for (int i = 1; i <= DEFAULT_MAX; i++)
		rt_tracker_free(trackers[i]);
}
END_TEST

/* Until then it has received all of them. */
START_TEST(tracker_with_a_full_buffer_says_so)
{
	struct rt_tracker *tracker = track(getpid());
	struct rt_metrics m = sample(tracker);

	for (int i = 0; i < FORKS_MAX && !(m.reasons & RT_REASON_EVENTS_LOST); i++) {
		pid_t pid = vfork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
		if (i % 5000 == 4999)
			m = sample(tracker);
	}

	ck_assert_uint_eq(m.reasons & RT_REASON_EVENTS_LOST, RT_REASON_EVENTS_LOST);
	ck_assert_uint_eq(m.partial & COUNTERS, COUNTERS);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(flags_that_contradict_each_other_are_refused)
{
	char message[200] = "";
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_PROCESS_EVENTS | RT_OPT_NO_PROCESS_EVENTS,
		                      .message = message,
		                      .message_size = sizeof(message) };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), &opts), -EINVAL);
	ck_assert_ptr_nonnull(strstr(message, "leave one out"));
}
END_TEST

/* Returns 0, 77 if no namespace can be made, or what was wrong. */
static int track_in_user_namespace(void)
{
	struct rt_tracker *tracker;
	struct rt_obstacle why;
	struct rt_metrics m;

	if (unshare(CLONE_NEWUSER) < 0)
		return 77;
	tracker = track(getpid());
	m = sample(tracker);
	why = obstacle_of(tracker, RT_HAS_PROCESSES_SEEN);
	rt_tracker_free(tracker);
	if (m.reasons & (RT_REASON_EVENTS_UNHEARD | RT_REASON_ORPHANS_UNSEEN))
		return 1;
	return why.error < 0 && strstr(why.text, "Process events") ? 0 : 2;
}

START_TEST(tracker_in_user_namespace_works_without_events_and_says_why)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(track_in_user_namespace());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		suite_skip_test("no user namespace may be made here");
	else
		ck_assert_msg(status == 0, "step %d", WEXITSTATUS(status));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process_events_default");
	TCase *always = suite_case(suite, "always"), *events = suite_case(suite, "events");

	tcase_add_checked_fixture(always, set_up, tear_down);
	tcase_add_loop_test(always, tracker_without_events_has_lower_bounds_once_a_child_was_reaped,
	                    0, 2);
	tcase_add_test(always, past_of_a_process_that_has_had_no_child_is_known);
	tcase_add_test(always, tree_with_zombies_alone_has_ended);
	tcase_add_test(always, flags_that_contradict_each_other_are_refused);
	tcase_add_test(always, tracker_in_user_namespace_works_without_events_and_says_why);
	if (!has_process_events())
		return suite_run(suite);
	tcase_add_checked_fixture(events, set_up, tear_down);
	tcase_add_test(events, tracker_with_events_says_that_an_orphan_is_missing);
	tcase_add_test(events, tracker_with_events_knows_that_a_child_was_waited_for);
	tcase_add_test(events, past_of_a_tree_is_a_lower_bound_and_differences_are_exact);
	tcase_add_test(events, ninth_tracker_goes_without_events_and_says_so);
	tcase_add_test(events, tracker_with_a_full_buffer_says_so);
	return suite_run(suite);
}
