/* SPDX-License-Identifier: MIT */
/* Trackers with RT_OPT_PROCESS_EVENTS find processes that no sample could find. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"
#include "workload.h"

#define MS UINT64_C(1000000)
#define DAEMONS 5
/* A busy system overflows the event buffer, which is small unless the user is root. */
#define TRIES 10

enum { PHASE_WAIT, PHASE_START, PHASE_BURNT, PHASE_END };

/* Memory that the test shares with the child that it tracks. */
struct stage {
	struct record record;
	atomic_int phase;
	int pipe[2]; /* each daemon holds the write end */
};

static struct stage *new_stage(void)
{
	struct stage *stage = map_shared(sizeof(*stage));

	ck_assert_int_eq(pipe(stage->pipe), 0);
	return stage;
}

static void free_stage(struct stage *stage)
{
	munmap(stage, sizeof(*stage));
}

static void wait_for_phase(struct stage *stage, int phase)
{
	while (atomic_load(&stage->phase) < phase)
		usleep(500);
}

/* Fork twice, so that the daemon is an orphan at once. */
static void start_daemon(struct stage *stage, void (*work)(struct stage *stage))
{
	pid_t middle = fork_recorded(&stage->record);

	if (middle == 0) {
		if (fork_recorded(&stage->record) == 0) {
			struct recorded_process *self = record_self(&stage->record, 0);

			work(stage);
			exit_recorded(self, 0);
		}
		_exit(0);
	}
	waitpid(middle, NULL, 0);
}

static void sleep_thirty_ms(struct stage *stage)
{
	(void)stage;
	usleep(30000);
}

static void start_daemons_and_wait(void *arg)
{
	struct stage *stage = arg;
	char byte;

	wait_for_phase(stage, PHASE_START);
	for (int i = 0; i < DAEMONS; i++)
		start_daemon(stage, sleep_thirty_ms);
	close(stage->pipe[1]);
	if (read(stage->pipe[0], &byte, 1) != 0) /* ends when the last daemon exits */
		_exit(91);
}

static void burn_and_wait(struct stage *stage)
{
	burn_cpu_ns(50 * MS);
	stage->record.process[0].cpu_ns = read_self_cpu_ns();
	atomic_store(&stage->phase, PHASE_BURNT);
	wait_for_phase(stage, PHASE_END);
}

static void start_burning_daemon(void *arg)
{
	struct stage *stage = arg;

	wait_for_phase(stage, PHASE_START);
	start_daemon(stage, burn_and_wait);
	wait_for_phase(stage, PHASE_BURNT);
}

/* Make a tracker with process events, and take its first sample. */
static struct rt_tracker *track_with_events(pid_t pid)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = RT_OPT_PROCESS_EVENTS };
	struct rt_tracker *tracker;
	struct rt_metrics m;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, pid, &opts), 0);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	ck_assert_uint_eq(m.processes_seen, 1);
	return tracker;
}

static void start_tracked_child(struct child *child, struct stage *stage, void (*work)(void *arg),
                                struct rt_tracker **tracker)
{
	child_start_async(child, work, stage);
	close(stage->pipe[0]);
	close(stage->pipe[1]);
	*tracker = track_with_events(child->pid);
	atomic_store(&stage->phase, PHASE_START);
	child_await(child);
}

/* The mark of the count of processes says the same as the reason. */
static bool has_all_events(const struct rt_metrics *m)
{
	bool is_lost = m->reasons & RT_REASON_EVENTS_LOST;

	ck_assert_uint_eq(m->valid & RT_HAS_PROCESSES_SEEN, is_lost ? 0 : RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(m->partial & RT_HAS_PROCESSES_SEEN, is_lost ? RT_HAS_PROCESSES_SEEN : 0);
	return !is_lost;
}

/* Returns false if events were lost. */
static bool check_short_lived_daemons(void)
{
	struct stage *stage = new_stage();
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct child child;

	start_tracked_child(&child, stage, start_daemons_and_wait, &tracker);

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);

	ck_assert_uint_eq(atomic_load(&stage->record.forks), 2 * DAEMONS);
	if (has_all_events(&m))
		ck_assert_uint_eq(m.processes_seen, 1 + atomic_load(&stage->record.forks));
	child_end(&child);
	rt_tracker_free(tracker);
	free_stage(stage);
	return has_all_events(&m);
}

START_TEST(tracker_with_daemons_between_two_samples_counts_each)
{
	for (int i = 0; i < TRIES; i++) {
		if (check_short_lived_daemons())
			return;
	}
	ck_abort_msg("events were lost");
}
END_TEST

static int has_exited(void *pid)
{
	return kill(*(int32_t *)pid, 0) < 0;
}

static bool is_member(struct rt_tracker *tracker, int32_t pid)
{
	struct rt_process rows[4];
	size_t count = 4;
	bool is_listed = false;

	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count), 0);
	for (size_t i = 0; i < count; i++)
		is_listed |= rows[i].pid == pid;
	return is_listed;
}

/* Returns false if events were lost. */
static bool check_running_daemon(void)
{
	struct stage *stage = new_stage();
	struct recorded_process *daemon = &stage->record.process[0];
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct child child;

	start_tracked_child(&child, stage, start_burning_daemon, &tracker);

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);

	ck_assert_uint_ge(daemon->cpu_ns, 50 * MS);
	if (has_all_events(&m)) {
		ck_assert_uint_eq(m.processes, 2);
		ck_assert_uint_eq(m.processes_seen, 3);
		ck_assert(is_member(tracker, daemon->pid));
		ck_assert_uint_ge(m.cpu_user_ns + m.cpu_system_ns, daemon->cpu_ns);
	}
	atomic_store(&stage->phase, PHASE_END);
	child_end(&child);
	rt_tracker_free(tracker);
	wait_until(has_exited, &daemon->pid);
	free_stage(stage);
	return has_all_events(&m);
}

START_TEST(tracker_with_running_orphan_has_it_as_member)
{
	for (int i = 0; i < TRIES; i++) {
		if (check_running_daemon())
			return;
	}
	ck_abort_msg("events were lost");
}
END_TEST

/* Only one of the two processes receives the events. The other must know that it does not. */
START_TEST(tracker_after_fork_of_caller_takes_no_events_from_it)
{
	struct stage *stage = new_stage();
	struct rt_tracker *tracker;
	struct rt_metrics m;
	struct child child;
	pid_t copy;
	int status;

	start_tracked_child(&child, stage, start_daemons_and_wait, &tracker);

	copy = fork();
	if (copy == 0) {
		bool is_right = rt_sample(tracker, &m, sizeof(m)) == 0 && !has_all_events(&m);

		_exit(is_right ? 0 : 1);
	}

	ck_assert_int_eq(waitpid(copy, &status, 0), copy);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	if (has_all_events(&m))
		ck_assert_uint_eq(m.processes_seen, 1 + atomic_load(&stage->record.forks));
	child_end(&child);
	rt_tracker_free(tracker);
	free_stage(stage);
}
END_TEST

static bool is_unheard(uint32_t flags)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = flags };
	struct rt_tracker *tracker;
	bool is_unheard;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, getpid(), &opts), 0);
	is_unheard = sample(tracker).reasons & RT_REASON_EVENTS_UNHEARD;
	rt_tracker_free(tracker);
	return is_unheard;
}

/* In a user namespace of its own a process has no right to events. Returns 0, 77 if none can be
 * made, or which tracker was wrong. */
static int sample_in_user_namespace(void)
{
	if (is_unheard(RT_OPT_PROCESS_EVENTS))
		return 1;
	if (unshare(CLONE_NEWUSER) < 0)
		return 77;
	if (!is_unheard(RT_OPT_PROCESS_EVENTS))
		return 2;
	if (is_unheard(0))
		return 3;
	return is_unheard(RT_OPT_PROCESS_EVENTS | RT_OPT_NO_CHILDREN) ? 4 : 0;
}

START_TEST(tracker_in_user_namespace_says_that_it_receives_no_events)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(sample_in_user_namespace());
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
	Suite *suite;
	TCase *trackers;

	if (!has_process_events())
		return suite_skip("no process events for this user");
	suite = suite_create("process_events");
	trackers = suite_case(suite, "trackers");
	tcase_add_test(trackers, tracker_with_daemons_between_two_samples_counts_each);
	tcase_add_test(trackers, tracker_with_running_orphan_has_it_as_member);
	tcase_add_test(trackers, tracker_after_fork_of_caller_takes_no_events_from_it);
	tcase_add_test(trackers, tracker_in_user_namespace_says_that_it_receives_no_events);
	return suite_run(suite);
}
