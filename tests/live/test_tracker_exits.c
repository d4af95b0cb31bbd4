/* SPDX-License-Identifier: MIT */
/* Trackers of real processes that exit: their usage stays in the totals, and counts once. The
 * reference is what the kernel reports to the process that reaps them. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"

#define MS 1000000

/* The kernel shows the CPU time of reaped children in whole ticks, for each of two modes. */
#define TWO_TICKS_NS (22 * MS)

#define COUNTERS (RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_IO)

/* Memory that a test shares with its child. */
struct stage {
	atomic_int pid; /* of a process that the child has started */
	atomic_bool may_go, is_done;
};

/* A tracker, and its last sample, for conditions of wait_until(). */
struct sampling {
	struct rt_tracker *tracker;
	struct rt_metrics m;
	uint64_t first_cpu_ns;
};

static void wait_for_flag(atomic_bool *flag)
{
	while (!atomic_load(flag))
		usleep(1000);
}

static void wait_for_pid(struct stage *stage)
{
	while (atomic_load(&stage->pid) == 0)
		usleep(1000);
}

static void pause_forever(void)
{
	for (;;)
		pause();
}

static void start_orphan(void *arg)
{
	struct stage *stage = arg;

	if (fork() == 0) {
		atomic_store(&stage->pid, getpid());
		wait_for_flag(&stage->may_go);
		burn_cpu_ns(30 * MS);
		atomic_store(&stage->is_done, true);
		pause_forever();
	}
	wait_for_pid(stage);
}

static int has_ended(void *arg)
{
	struct sampling *s = arg;

	return rt_sample(s->tracker, &s->m, sizeof(s->m)) == -ESRCH;
}

START_TEST(tracker_with_orphan_keeps_it_as_member)
{
	struct stage *stage = map_shared(sizeof(*stage));
	struct sampling s;
	struct child child;

	child_start(&child, start_orphan, stage);
	s.tracker = track(child.pid);
	sample(s.tracker);

	child_end(&child);
	s.m = sample(s.tracker);
	s.first_cpu_ns = get_sampled_ns(&s.m);
	ck_assert_uint_eq(s.m.processes, 1);

	atomic_store(&stage->may_go, true);
	wait_for_flag(&stage->is_done);
	s.m = sample(s.tracker);
	ck_assert_uint_ge(get_sampled_ns(&s.m), s.first_cpu_ns + 30 * MS);

	kill_process(stage->pid, SIGKILL);
	wait_until(has_ended, &s);
	ck_assert_uint_ge(get_sampled_ns(&s.m), s.first_cpu_ns + 30 * MS);
	ck_assert_uint_eq(s.m.reasons & RT_REASON_UNWAITED, RT_REASON_UNWAITED);
	rt_tracker_free(s.tracker);
}
END_TEST

static void start_auto_reaped_child(void *arg)
{
	struct stage *stage = arg;

	signal(SIGCHLD, SIG_IGN);
	if (fork() == 0) {
		burn_cpu_ns(40 * MS);
		atomic_store(&stage->pid, getpid());
		wait_for_flag(&stage->may_go);
		_exit(0);
	}
	wait_for_pid(stage);
}

static int has_one_member(void *arg)
{
	struct sampling *s = arg;

	s->m = sample(s->tracker);
	return s->m.processes == 1;
}

START_TEST(tracker_with_auto_reaped_child_keeps_its_usage_and_reports_why)
{
	struct stage *stage = map_shared(sizeof(*stage));
	struct sampling s;
	struct child child;

	child_start(&child, start_auto_reaped_child, stage);
	s.tracker = track(child.pid);
	s.m = sample(s.tracker);
	ck_assert_uint_eq(s.m.reasons & ~RT_REASON_PAST_UNKNOWN, RT_REASON_SIGCHLD_IGNORED);
	/* Others of its children may have ended before, without a trace. */
	ck_assert_uint_eq(s.m.valid & COUNTERS, 0);
	ck_assert_uint_eq(s.m.partial & COUNTERS, COUNTERS);

	atomic_store(&stage->may_go, true);
	wait_until(has_one_member, &s);

	ck_assert_uint_ge(get_sampled_ns(&s.m), 40 * MS);
	ck_assert_uint_eq(s.m.reasons & ~RT_REASON_PAST_UNKNOWN,
	                  RT_REASON_SIGCHLD_IGNORED | RT_REASON_UNWAITED);
	child_end(&child);
	rt_tracker_free(s.tracker);
}
END_TEST

/* Start short-lived children, one after another, until the test says that it is done. */
static void start_short_lived(void *arg)
{
	struct stage *stage = arg;

	while (!atomic_load(&stage->is_done)) {
		pid_t pid = fork();

		if (pid == 0) {
			burn_cpu_ns(2 * MS);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void check_not_below(const struct rt_metrics *m, const struct rt_metrics *last)
{
	ck_assert_uint_ge(m->cpu_user_ns, last->cpu_user_ns);
	ck_assert_uint_ge(m->cpu_system_ns, last->cpu_system_ns);
	ck_assert_uint_ge(m->minor_faults, last->minor_faults);
	ck_assert_uint_ge(m->read_chars, last->read_chars);
	ck_assert_uint_eq(m->reasons & RT_REASON_UNWAITED, 0);
}

START_TEST(totals_with_short_lived_children_never_fall_and_match_rusage)
{
	struct stage *stage = map_shared(sizeof(*stage));
	struct rt_metrics m, last = { 0 };
	struct rusage before, after;
	struct rt_tracker *tracker;
	struct child child;
	uint64_t expected_ns;
	long expected_faults;

	getrusage(RUSAGE_CHILDREN, &before);
	child_start_async(&child, start_short_lived, stage);
	tracker = track(child.pid);

	for (int i = 0; i < 300; i++) {
		m = sample(tracker);
		check_not_below(&m, &last);
		last = m;
		usleep(1000);
	}

	atomic_store(&stage->is_done, true);
	child_await(&child);
	m = sample(tracker);
	child_end(&child);
	getrusage(RUSAGE_CHILDREN, &after);
	expected_ns = get_rusage_ns(&after) - get_rusage_ns(&before);
	expected_faults = after.ru_minflt - before.ru_minflt;
	/* The CPU clock counts ns, and getrusage(), called twice, cuts to us. */
	ck_assert_uint_le(get_sampled_ns(&m), expected_ns + MS);
	ck_assert_uint_ge(get_sampled_ns(&m) + TWO_TICKS_NS, expected_ns);
	ck_assert_int_le((long)m.minor_faults, expected_faults);
	ck_assert_int_ge((long)m.minor_faults + 20, expected_faults);
	rt_tracker_free(tracker);
}
END_TEST

static void write_and_reap_writer(void *arg)
{
	struct stage *stage = arg;
	pid_t pid;

	write_file(1);
	pid = fork();
	if (pid == 0) {
		write_file(3);
		atomic_store(&stage->is_done, true);
		wait_for_flag(&stage->may_go);
		_exit(0);
	}
	wait_for_flag(&stage->may_go);
	waitpid(pid, NULL, 0);
}

static int is_set(void *flag)
{
	return atomic_load((atomic_bool *)flag);
}

START_TEST(write_bytes_after_child_was_reaped_count_once)
{
	struct stage *stage = map_shared(sizeof(*stage));
	struct rusage before, after;
	struct rt_tracker *tracker;
	struct child child;
	uint64_t running_bytes, reaped_bytes;

	getrusage(RUSAGE_CHILDREN, &before);
	child_start_async(&child, write_and_reap_writer, stage);
	tracker = track(child.pid);
	wait_until(is_set, &stage->is_done);
	running_bytes = sample(tracker).write_bytes;

	atomic_store(&stage->may_go, true);
	child_await(&child);
	reaped_bytes = sample(tracker).write_bytes;

	ck_assert_uint_eq(reaped_bytes, running_bytes);
	child_end(&child);
	getrusage(RUSAGE_CHILDREN, &after);
	ck_assert_uint_eq(reaped_bytes, (uint64_t)(after.ru_oublock - before.ru_oublock) * 512);
	rt_tracker_free(tracker);
}
END_TEST

static void burn_a_little(void *arg)
{
	(void)arg;
	burn_cpu_ns(20 * MS);
}

START_TEST(tracker_after_process_was_reaped_returns_esrch_and_last_totals)
{
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct child child;

	child_start(&child, burn_a_little, NULL);
	tracker = track(child.pid);
	ck_assert_uint_eq(sample(tracker).cpu_resolution_ns, 1);

	child_end(&child);
	m = sample_ended(tracker);

	ck_assert_uint_ge(get_sampled_ns(&m), 20 * MS);
	ck_assert_uint_eq(m.processes, 0);
	sample_ended(tracker);
	rt_tracker_free(tracker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracker_exits");
	TCase *tree = suite_case(suite, "tree"), *root = suite_case(suite, "root");

	tcase_add_test(tree, tracker_with_orphan_keeps_it_as_member);
	tcase_add_test(tree, tracker_with_auto_reaped_child_keeps_its_usage_and_reports_why);
	tcase_add_test(tree, totals_with_short_lived_children_never_fall_and_match_rusage);
	tcase_add_test(tree, write_bytes_after_child_was_reaped_count_once);
	tcase_add_test(root, tracker_after_process_was_reaped_returns_esrch_and_last_totals);
	return suite_run(suite);
}
