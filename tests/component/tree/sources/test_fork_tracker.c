/* SPDX-License-Identifier: MIT */
/* Members of a tree by the events of an account. The account is the test's own: events are lost,
 * and so is memory, and no member is left out for that. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocation_faults.h"
#include "tree/account_fixture.h"
#include "tree/sources/fork_tracker.h"
#include "tree/tree_inside.h"

#define PATIENCE_S 100
#define OUTSIDE 0 /* an event has this instead of a pid that the reader cannot see */

static bool is_member(int child)
{
	return has_member(fix.tracker, fix.children[child].pid);
}

START_TEST(process_that_the_tree_forks_is_a_member_by_its_event)
{
	track();
	fork_event(1);
	fake_account_add_event(RTI_ACCOUNT_FORK, OUTSIDE);

	ck_assert_uint_eq(take_sample().processes, 2);
	ck_assert(is_member(1) && !is_member(2));
}
END_TEST

/* The account counts every process all the same. */
START_TEST(event_of_exit_leaves_the_count_of_processes_as_it_is)
{
	struct rt_metrics m;

	track();
	fork_event(2);
	take_sample();
	exit_event(2);
	end_child(2);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.processes_seen, CHILDREN);
	ck_assert(m.valid & RT_HAS_PROCESSES_SEEN);
}
END_TEST

/* The account knows which processes run. */
START_TEST(members_of_lost_events_are_listed)
{
	track();
	take_sample();
	fake_account.counts.lost_events++;
	fake_account.running[0] = fix.children[1].pid;
	fake_account.running[1] = fix.children[2].pid;

	ck_assert_uint_eq(take_sample().processes, 3);

	ck_assert(is_member(1) && is_member(2));
	/* Later ones are not listed once more. */
	fake_account.list_error = -EIO;
	ck_assert_uint_eq(take_sample().reasons & RT_REASON_EVENTS_LOST, 0);
}
END_TEST

/* A whole account needs no reasons. */
static void tear_account(void)
{
	fake_account.torn_reads = UINT32_MAX;
	fake_account.counts.moves++;
}

/* From then on /proc is searched for members, as without events. */
START_TEST(events_that_cannot_be_had_any_more_are_a_reason)
{
	static const struct {
		int take_error, list_error;
		uint64_t rowless;
	} cases[] = { { .take_error = -EIO }, { .list_error = -EIO }, { .rowless = 1 } };
	struct rt_metrics m;

	track();
	take_sample();
	fake_account.take_error = cases[_i].take_error;
	fake_account.list_error = cases[_i].list_error;
	fake_account.counts.rowless = cases[_i].rowless;
	fake_account.counts.lost_events = cases[_i].take_error ? 0 : 1;
	tear_account();

	m = take_sample();

	ck_assert(m.reasons & RT_REASON_EVENTS_LOST);
	ck_assert_uint_eq(m.processes, 1);
}
END_TEST

/* Returns the exit status of the child. */
static int sample_in_child(void)
{
	struct rt_metrics m;

	fake_account.failing_read = 1;
	fake_account.read_error = -ESTALE;
	fake_account.counts.moves++;
	if (rt_sample(fix.tracker, &m, sizeof(m)) < 0 || m.processes != 1)
		return 1;
	return m.reasons & RT_REASON_EVENTS_LOST && fake_account.event_count == 1 ? 0 : 2;
}

START_TEST(forked_child_of_the_caller_leaves_the_events_to_its_parent)
{
	int status;
	pid_t pid;

	track();
	take_sample();
	fork_event(1);

	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		end_self_after(PATIENCE_S);
		_exit(sample_in_child());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);

	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(take_sample().processes, 2);
}
END_TEST

/* Without memory for the events of the account, nor for those of the proc connector, members are
 * found by scans. */
START_TEST(tracker_that_lacks_memory_for_events_opens_none_or_fails)
{
	bool is_lasting = _i % 2, has_connector = _i / 2, was_reached = true;
	unsigned refused = 0;

	fake_account.subscribe_error = has_connector ? 0 : -EPERM;
	for (unsigned at = 1; was_reached; at++) {
		int err;

		allocation_faults_begin(at, is_lasting);
		err = try_to_track();
		was_reached = allocation_faults_end();
		if (err < 0) {
			ck_assert_int_eq(err, -ENOMEM);
			ck_assert(fake_account_is_closed());
			continue;
		}
		refused += fake_account_is_closed();
		ck_assert_uint_eq(take_sample().processes, 1);
		rt_tracker_free(fix.tracker);
		fix.tracker = NULL;
	}
	/* One that fails with lasting effect has no table of members either. */
	ck_assert_uint_eq(refused, !is_lasting && !has_connector);
}
END_TEST

START_TEST(event_that_there_is_no_memory_for_is_lost)
{
	track();
	take_sample();
	fork_event(1);
	tear_account();

	allocation_faults_begin(1, false);
	ck_assert(take_sample().reasons & RT_REASON_EVENTS_LOST);
	ck_assert(allocation_faults_end());
}
END_TEST

/* What says so is the kernel, or the library itself, which knows that it would be refused. */
START_TEST(tree_without_account_or_connector_has_no_events)
{
	fake_account.lacks_capability = _i == 1;
	fake_account.open_error = -EOPNOTSUPP;

	track();

	ck_assert_uint_eq(fake_account.opens, _i == 0);
	ck_assert(take_sample().reasons & RT_REASON_EVENTS_UNHEARD);
}
END_TEST

static void add_process_event(enum rti_process_event_kind kind, int32_t parent, int32_t pid,
                              uint64_t monotonic_ns)
{
	const struct rti_process_event event = {
		.kind = kind, .pid = pid, .tid = pid, .ppid = parent, .monotonic_ns = monotonic_ns
	};

	ck_assert_uint_lt(fake_account.process_event_count, FAKE_EVENTS_MAX);
	fake_account.process_events[fake_account.process_event_count++] = event;
}

static void add_fork(int32_t parent, int32_t pid)
{
	add_process_event(RTI_EVENT_FORK, parent, pid, 0);
}

static void ignore_pid(void *arg, int32_t pid, bool has_exited)
{
	(void)arg;
	(void)pid;
	(void)has_exited;
}

static void note_pid(void *arg, int32_t pid, bool has_exited)
{
	ck_assert(!has_exited);
	*(int32_t *)arg = pid;
}

/* Its parent, forked before the subscription, had exited by the scan that has found it. */
START_TEST(member_that_a_scan_has_found_stays_one_by_its_own_event)
{
	struct rti_fork_tracker tracker = RTI_FORK_TRACKER_INIT;
	int32_t found = 0;

	fake_account.subscribe_error = 0;
	ck_assert_int_eq(rti_fork_tracker_subscribe(&tracker), 0);
	rti_fork_tracker_set_root(&tracker, 100);
	rti_fork_tracker_add(&tracker, 102);
	add_fork(101, 102);
	add_fork(102, 103);

	rti_fork_tracker_poll(&tracker);
	rti_fork_tracker_take_new(&tracker, note_pid, &found);

	ck_assert_int_eq(found, 103);
	ck_assert_uint_eq(rti_fork_tracker_processes(&tracker), 3);
	rti_fork_tracker_close(&tracker);
}
END_TEST

/* A process exits just before the look at its children, which then were no zombies of its any more,
 * and its event arrives after it. */
START_TEST(times_of_events_are_compared_in_a_time_namespace)
{
	struct rti_fork_tracker tracker = RTI_FORK_TRACKER_INIT;
	uint64_t kernel_ns;

	fake_account.subscribe_error = 0;
	fake_account.ahead_ns = _i ? -1000 * (int64_t)SECOND_NS : 0;
	kernel_ns = rti_monotonic_ns() - (uint64_t)fake_account.ahead_ns;
	ck_assert_int_eq(rti_fork_tracker_subscribe(&tracker), 0);
	rti_fork_tracker_set_root(&tracker, 100);
	add_process_event(RTI_EVENT_FORK, 100, 101, kernel_ns - 50);
	add_process_event(RTI_EVENT_FORK, 101, 102, kernel_ns - 40);
	add_process_event(RTI_EVENT_EXIT, 101, 102, kernel_ns - 20);
	rti_fork_tracker_poll(&tracker);
	rti_fork_tracker_add(&tracker, 101);
	rti_fork_tracker_take_new(&tracker, ignore_pid, NULL);
	add_process_event(RTI_EVENT_EXIT, 100, 101, kernel_ns - 10);
	rti_fork_tracker_poll(&tracker);

	ck_assert_uint_eq(rti_fork_tracker_unproven_ns(&tracker), 20);
	rti_fork_tracker_close(&tracker);
}
END_TEST

#define DEFAULT_MAX 8

/* Returns the exit status of a child of a process that has as many as it may. */
static int subscribe_in_child(struct rti_fork_tracker inherited[DEFAULT_MAX])
{
	struct rti_fork_tracker own[DEFAULT_MAX + 1];
	int refused = 0;

	for (int i = 0; i <= DEFAULT_MAX; i++) {
		int err = rti_fork_tracker_subscribe_by_default(&own[i]);

		refused += err < 0;
		if (i == 0)
			rti_fork_tracker_close(&inherited[0]);
		if (err != (i < DEFAULT_MAX ? 0 : -EUSERS))
			return 1;
	}
	return refused == 1 ? 0 : 2;
}

/* E.g.: each of the processes that a server forks has a tracker. */
START_TEST(forked_child_begins_with_no_subscription_by_default)
{
	struct rti_fork_tracker trackers[DEFAULT_MAX], ninth;
	int status;
	pid_t pid;

	fake_account.subscribe_error = 0;
	for (int i = 0; i < DEFAULT_MAX; i++)
		ck_assert_int_eq(rti_fork_tracker_subscribe_by_default(&trackers[i]), 0);
	ck_assert_int_eq(rti_fork_tracker_subscribe_by_default(&ninth), -EUSERS);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		end_self_after(PATIENCE_S);
		_exit(subscribe_in_child(trackers));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	for (int i = 0; i < DEFAULT_MAX; i++)
		rti_fork_tracker_close(&trackers[i]);
	ck_assert_int_eq(rti_fork_tracker_subscribe_by_default(&ninth), 0);
	rti_fork_tracker_close(&ninth);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fork_tracker");
	TCase *events = add_account_case(suite, "events"), *none = add_account_case(suite, "none");

	tcase_add_test(events, process_that_the_tree_forks_is_a_member_by_its_event);
	tcase_add_test(events, event_of_exit_leaves_the_count_of_processes_as_it_is);
	tcase_add_test(events, members_of_lost_events_are_listed);
	tcase_add_loop_test(events, events_that_cannot_be_had_any_more_are_a_reason, 0, 3);
	tcase_add_test(events, forked_child_of_the_caller_leaves_the_events_to_its_parent);
	tcase_add_loop_test(none, tracker_that_lacks_memory_for_events_opens_none_or_fails, 0, 4);
	tcase_add_test(none, event_that_there_is_no_memory_for_is_lost);
	tcase_add_loop_test(none, tree_without_account_or_connector_has_no_events, 0, 2);
	tcase_add_test(none, member_that_a_scan_has_found_stays_one_by_its_own_event);
	tcase_add_test(none, forked_child_begins_with_no_subscription_by_default);
	tcase_add_loop_test(none, times_of_events_are_compared_in_a_time_namespace, 0, 2);
	return suite_run(suite);
}
