/* SPDX-License-Identifier: MIT */
/* Which processes are members of a tree: discovery by files and by events, reused pids, orphans,
 * hidden processes, and pids that cannot be tracked. */
#include "tree_fixture.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "tree_inside.h"

START_TEST(children_of_a_second_thread_are_members)
{
	struct fake_process parent = shell;
	struct rt_metrics m;

	parent.children = "101";
	fake_process_write(&fix.root, &parent);
	fixture_write(&fix.root, "proc/100/stat",
	              "100 (sh) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 1000\n");
	fake_process_write(&fix.root, &first_child);
	fake_process_write(&fix.root, &second_child);
	fixture_write(&fix.root, "proc/100/task/150/children", "102 ");
	fixture_write(&fix.root, "proc/100/task/150/stat",
	              "150 (sh) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 1000\n");
	fixture_write(&fix.root, "proc/100/task/150/status",
	              "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t5\n");
	track_process(100, 0);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 3);
	ck_assert_uint_eq(m.voluntary_switches, 14);
}
END_TEST

/* Writes a process of a kernel without children files. */
static void write_without_children_file(struct fake_process p, int pid, int ppid)
{
	p.pid = pid;
	p.ppid = ppid;
	p.children = NULL;
	fake_process_write(&fix.root, &p);
}

START_TEST(descendants_on_kernel_without_children_files_are_members)
{
	struct rt_metrics m;

	write_without_children_file(shell, 100, 1);
	write_without_children_file(first_child, 101, 100);
	write_without_children_file(second_child, 102, 100);
	write_without_children_file(second_child, 50, 102); /* pids wrap around */
	write_without_children_file(second_child, 200, 7);  /* unrelated */
	track_process(100, 0);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 4);
}
END_TEST

START_TEST(children_file_longer_than_one_read_is_read_to_its_end)
{
	struct fake_process parent = shell;
	struct rt_metrics m;
	char children[8000];
	size_t len = 0;

	for (int pid = 2000; pid < 3000; pid++) {
		struct fake_process child = {
			.pid = pid, .ppid = 100, .minflt = 1, .starttime = 5, .children = ""
		};

		fake_process_write(&fix.root, &child);
		len += (size_t)snprintf(children + len, sizeof(children) - len, "%d ", pid);
	}
	parent.children = children;
	fake_process_write(&fix.root, &parent);
	track_process(100, 0);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 1001);
}
END_TEST

START_TEST(unrelated_process_with_pid_of_a_member_is_no_member)
{
	struct fake_process unrelated = first_child;
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	unrelated.starttime = 9999;
	unrelated.ppid = 1;
	unrelated.utime = 1000000;
	fake_process_remove(&fix.root, 101);
	fake_process_write(&fix.root, &unrelated);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns, 1026 * TICK_NS);
	ck_assert_uint_eq(take_sample().processes, 2);
}
END_TEST

/* It cannot be seen that the process is not the member any more. */
START_TEST(child_of_a_process_with_refused_stat_is_no_member_before_it_can_be_read)
{
	struct fake_process unrelated = first_child, its_child = second_child;
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	unrelated.starttime = 9999;
	unrelated.ppid = 1;
	unrelated.children = "103 ";
	its_child.pid = 103;
	its_child.ppid = 101;
	fake_process_write(&fix.root, &unrelated);
	fake_process_write(&fix.root, &its_child);
	faults_on_open("101/stat", -EACCES);

	m = take_sample();

	ck_assert(!has_member(fix.tracker, 103));
	ck_assert_uint_ne(m.reasons & RT_REASON_MEMBERS_SKIPPED, 0);
	ck_assert_uint_eq(m.valid & RT_HAS_CPU, 0);

	faults_on_open("101/stat", 0);
	m = take_sample();
	ck_assert_uint_eq(m.processes, 2);
	ck_assert(!has_member(fix.tracker, 103));
}
END_TEST

static uint64_t first_child_clock_ns;

static int read_test_clock(int32_t pid, struct rti_cpu_clock *out)
{
	uint64_t ns = pid == 101 ? first_child_clock_ns : 2 * TICK_NS;

	*out = (struct rti_cpu_clock){ ns, ns, ns };
	return 0;
}

/* A clock that has not gone back is that of the member. */
START_TEST(child_of_a_process_with_refused_stat_is_a_member_if_its_clock_says_so)
{
	struct fake_process parent = first_child, its_child = second_child;

	first_child_clock_ns = 30 * TICK_NS;
	write_family();
	track_process(100, 0);
	get_platform(fix.tracker)->cpu_clock = read_test_clock;
	take_sample();
	first_child_clock_ns = 30 * TICK_NS - 1 + 2 * (uint64_t)_i;
	parent.children = "103 ";
	its_child.pid = 103;
	its_child.ppid = 101;
	fake_process_write(&fix.root, &parent);
	fake_process_write(&fix.root, &its_child);
	faults_on_open("101/stat", -EACCES);

	take_sample();

	ck_assert_int_eq(has_member(fix.tracker, 103), _i);
}
END_TEST

START_TEST(unrelated_process_with_pid_of_the_root_ends_the_tree)
{
	struct fake_process unrelated = shell;
	struct rt_metrics m;

	fake_process_write(&fix.root, &shell);
	track_process(100, RT_OPT_NO_CHILDREN);
	take_sample();
	unrelated.starttime = 9999;
	unrelated.utime = 777;
	fake_process_write(&fix.root, &unrelated);

	ck_assert_int_eq(try_sample(&m), -ESRCH);

	ck_assert_uint_eq(m.cpu_user_ns, 1005 * TICK_NS);
	ck_assert_uint_eq(m.processes, 0);
}
END_TEST

/* An unknown start time is not a reused pid. */
START_TEST(stat_without_start_time_does_not_end_the_tree)
{
	struct rt_metrics m;

	fake_process_write(&fix.root, &shell);
	fixture_write(&fix.root, "proc/100/stat",
	              "100 (sh) S 1 1 1 0 -1 0 50 0 0 0 5 3 0 0 20 0 1\n");
	track_process(100, 0);
	take_sample();

	m = take_sample();

	ck_assert_uint_eq(m.cpu_user_ns, 5 * TICK_NS);
}
END_TEST

static uint64_t day_ns;

static void now_with_the_day_that_was_set(struct rti_now *now)
{
	now->monotonic_ns = now->boottime_ns = rti_monotonic_ns();
	now->realtime_ns = day_ns;
}

/* A process is known by its start in ticks since the boot, which no setting of the clock moves. */
START_TEST(members_are_the_same_after_the_clock_was_set)
{
	static const uint64_t days[] = { UINT64_C(1800000000000000000), 1, 0, UINT64_MAX };
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	get_platform(fix.tracker)->now = now_with_the_day_that_was_set;
	for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
		day_ns = days[i];
		m = take_sample();
		ck_assert_uint_eq(m.processes, 3);
		ck_assert_uint_eq(m.reasons, 0);
		ck_assert_uint_eq(m.realtime_ns, day_ns);
		ck_assert_uint_eq(m.cpu_user_ns,
		                  (shell.utime + first_child.utime + second_child.utime) * TICK_NS);
	}
}
END_TEST

START_TEST(orphan_of_an_exited_root_stays_a_member_until_it_exits)
{
	struct fake_process orphan = first_child;
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	orphan.ppid = 1;
	orphan.utime = 30;
	fake_process_write(&fix.root, &orphan);
	fake_process_remove(&fix.root, 100);
	fake_process_remove(&fix.root, 102);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.cpu_user_ns, 1036 * TICK_NS);

	fake_process_remove(&fix.root, 101);

	ck_assert_int_eq(try_sample(&m), -ESRCH);
	ck_assert_uint_eq(m.cpu_user_ns, 1036 * TICK_NS);
	ck_assert_uint_eq(m.processes_seen, 3);
	ck_assert_int_eq(try_sample(&m), -ESRCH);
}
END_TEST

START_TEST(tracker_of_missing_process_or_root_is_refused)
{
	const struct rt_opts opts = { .size = sizeof(opts), .root = fix.root.root };
	const struct rt_opts no_root = { .size = sizeof(no_root), .root = "/nonexistent/root" };

	ck_assert_int_eq(rt_pid_tracker_new(&fix.tracker, 100, &opts), -ESRCH);
	ck_assert_ptr_null(fix.tracker);
	ck_assert_int_eq(rt_pid_tracker_new(&fix.tracker, 100, &no_root), -ENOENT);

	fixture_remove(&fix.root, "proc");
	ck_assert_int_eq(rt_pid_tracker_new(&fix.tracker, 100, &opts), -ENOENT);
}
END_TEST

#define STAT_OF_A_THREAD                                                                           \
	"100 (t) S 1 1 1 0 -1 64 5 0 0 0 1 1 0 0 20 0 2 0 1000 4096 10 18446744073709551615"

/* Field 38 of stat, exit_signal, is -1 for a thread. A short stat ends before it, so that Tgid in
 * status has to show it. */
START_TEST(tracker_of_a_thread_is_refused)
{
	static const char *const stats[] = { STAT_OF_A_THREAD "\n",
		                             STAT_OF_A_THREAD " 1 1 0 0 0 0 0 0 0 0 0 0 -1 0 0\n" };
	const struct rt_opts opts = { .size = sizeof(opts), .root = fix.root.root };

	fake_process_write(&fix.root, &shell);
	fixture_write(&fix.root, "proc/100/status", "Tgid:\t99\nPid:\t100\n");
	fixture_write(&fix.root, "proc/100/stat", stats[_i]);

	ck_assert_int_eq(rt_pid_tracker_new(&fix.tracker, 100, &opts), -ESRCH);
}
END_TEST

/* Processes 100 and 101 have a CPU clock, even where their files are hidden. */
static int read_clock_of_two(int32_t pid, struct rti_cpu_clock *out)
{
	*out = (struct rti_cpu_clock){ 1000, 1, 1 };
	return pid == 100 || pid == 101 ? 0 : -ESRCH;
}

START_TEST(process_with_hidden_files_is_unreadable_and_has_not_exited)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	get_platform(fix.tracker)->cpu_clock = read_clock_of_two;
	take_sample();
	fake_process_remove(&fix.root, 101);

	m = take_sample();

	ck_assert_uint_eq(m.reasons & (RT_REASON_UNREADABLE | RT_REASON_UNWAITED),
	                  RT_REASON_UNREADABLE);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_FAULTS), -EACCES);

	fake_process_remove(&fix.root, 100);
	ck_assert_int_eq(try_second_tree(fix.tracker, 100), -EACCES);
}
END_TEST

static const struct fake_process zombie = {
	.pid = 103,
	.ppid = 100,
	.utime = 7,
	.stime = 4,
	.minflt = 60,
	.starttime = 1030,
	.is_zombie = true,
};

/* Takes a first sample of a shell without children, and sends its events from then on. Returns a
 * descriptor for the caller to close. */
static int track_shell_by_events(void)
{
	struct fake_process parent = shell;
	struct rt_metrics m;

	parent.children = "";
	fake_process_write(&fix.root, &parent);
	track_process(100, 0);
	m = take_sample();
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 1008 * TICK_NS);
	return subscribe_to_test_events(fix.tracker, 100);
}

START_TEST(zombie_with_exit_event_is_read_before_it_is_reaped)
{
	int fd = track_shell_by_events();
	struct rt_metrics m;

	fake_process_write(&fix.root, &zombie);
	add_fork_event(fix.tracker, 100, 103, true);
	add_fork_event(fix.tracker, 100, 104, true); /* was waited for: it has no files */

	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.processes_seen, 3);
	ck_assert_uint_eq(count_alive_by_events(fix.tracker), 1); /* the shell */
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 1019 * TICK_NS);
	ck_assert_uint_eq(m.reasons, 0);

	fake_process_remove(&fix.root, 103); /* and its parent has not waited for it */
	m = take_sample();

	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 1019 * TICK_NS);
	ck_assert_uint_eq(m.reasons, RT_REASON_UNWAITED);
	close(fd);
}
END_TEST

/* The pid of the first process was reused after its exit. The second was waited for, and the kernel
 * is releasing it. */
START_TEST(new_pid_that_is_reused_or_being_released_is_no_member)
{
	struct fake_process unrelated = zombie, released = zombie;
	int fd = track_shell_by_events();
	struct rt_metrics m;

	unrelated.is_zombie = false;
	unrelated.ppid = 1;
	fake_process_write(&fix.root, &unrelated);
	add_fork_event(fix.tracker, 100, 103, true);
	released.pid = 104;
	released.ppid = 0;
	released.is_zombie = false;
	released.state = 'X';
	fake_process_write(&fix.root, &released);
	add_fork_event(fix.tracker, 100, 104, false);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 1008 * TICK_NS);

	fake_process_remove(&fix.root, 104);
	ck_assert_uint_eq(take_sample().reasons, 0);
	close(fd);
}
END_TEST

/* Its leader has exited, and another thread has executed a program. */
START_TEST(new_pid_that_seems_to_have_exited_is_a_member_if_its_parent_is_one)
{
	struct fake_process executed = zombie;
	int fd = track_shell_by_events();

	executed.is_zombie = false;
	fake_process_write(&fix.root, &executed);
	add_fork_event(fix.tracker, 100, 103, true);

	ck_assert_uint_eq(take_sample().processes, 2);
	close(fd);
}
END_TEST

START_TEST(zombie_read_by_a_peak_poll_alone_stays_in_the_total)
{
	int fd = track_shell_by_events();
	struct rt_metrics m;

	fake_process_write(&fix.root, &zombie);
	add_fork_event(fix.tracker, 100, 103, true);
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	fake_process_remove(&fix.root, 103);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 1019 * TICK_NS);
	ck_assert_uint_eq(m.reasons, RT_REASON_UNWAITED);
	close(fd);
}
END_TEST

/* The first child was reaped. Its parent has these children now. */
static void reap_first_child(const char *children)
{
	struct fake_process reaper = shell;

	reaper.cutime = first_child.utime;
	reaper.cstime = first_child.stime;
	reaper.cminflt = first_child.minflt;
	reaper.children = children;
	fake_process_remove(&fix.root, 101);
	fake_process_write(&fix.root, &reaper);
}

/* Another process has the pid of the first child. */
static void reuse_pid_of_first_child(int32_t ppid)
{
	struct fake_process child = first_child;

	child.ppid = ppid;
	child.starttime = 2000;
	child.minflt = 1;
	fake_process_write(&fix.root, &child);
}

/* The next sample says that it lacks the new process, and the one after it has the process. */
static void check_that_new_process_is_found(void)
{
	struct rt_metrics m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.valid & (RT_HAS_PROCESSES | RT_HAS_RSS | RT_HAS_CPU), 0);

	m = take_sample();
	ck_assert_uint_eq(m.processes, 3);
	ck_assert_uint_eq(m.valid & (RT_HAS_PROCESSES | RT_HAS_RSS), RT_HAS_PROCESSES | RT_HAS_RSS);
}

/* A poll may have found out before the sample. */
START_TEST(sample_says_that_it_lacks_a_child_with_the_pid_of_an_exited_one)
{
	write_family();
	track_process(100, 0);
	take_sample();
	reap_first_child("101 102 ");
	reuse_pid_of_first_child(100);
	if (_i)
		ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);

	check_that_new_process_is_found();
}
END_TEST

/* Events say nothing of it again. */
START_TEST(fork_event_with_the_pid_of_a_member_leads_to_a_new_one)
{
	int fd;

	write_family();
	track_process(100, 0);
	take_sample();
	fd = subscribe_to_test_events(fix.tracker, 100);
	reap_first_child("101 102 ");
	reuse_pid_of_first_child(_i ? 1 : 100); /* an orphan by now */
	add_fork_event(fix.tracker, 100, 101, false);
	if (_i)
		ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);

	check_that_new_process_is_found();
	close(fd);
}
END_TEST

/* A member may be found before the event of its fork is read. */
START_TEST(fork_event_of_a_member_that_exits_soon_makes_nothing_a_lower_bound)
{
	struct rt_metrics m;
	int fd;

	write_family();
	track_process(100, 0);
	take_sample();
	fd = subscribe_to_test_events(fix.tracker, 100);
	add_fork_event(fix.tracker, 100, 101, false);
	if (_i)
		take_sample();
	reap_first_child("102 ");

	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.valid & (RT_HAS_PROCESSES | RT_HAS_RSS | RT_HAS_CPU),
	                  RT_HAS_PROCESSES | RT_HAS_RSS | RT_HAS_CPU);
	close(fd);
}
END_TEST

/* The new process is a child of the second one, which no sample finds to have run. No other process
 * was forked since. */
START_TEST(child_of_another_member_with_the_pid_of_an_exited_one_is_found)
{
	struct fake_process parent = second_child;

	write_family();
	fixture_write(&fix.root, "proc/sys/kernel/ns_last_pid", "500\n");
	track_process(100, 0);
	take_sample();
	take_sample();
	parent.children = "101 ";
	reap_first_child("102 ");
	reuse_pid_of_first_child(102);
	fake_process_write(&fix.root, &parent);

	check_that_new_process_is_found();
}
END_TEST

/* An orphan: no sample saw it. */
START_TEST(process_that_events_alone_saw_end_unwaited_may_have_the_peak)
{
	int fd = track_shell_by_events();
	struct rt_metrics m;

	note_unwaited_exit(fix.tracker);

	m = take_sample();

	ck_assert_uint_eq(m.partial & RT_HAS_PEAK_RSS, RT_HAS_PEAK_RSS);
	ck_assert_uint_eq(m.partial & RT_HAS_CPU, RT_HAS_CPU);
	ck_assert_uint_eq(m.reasons, RT_REASON_UNWAITED);
	close(fd);
}
END_TEST

/* Shows more from some call on, as the clock of a process that exits meanwhile does. */
static struct {
	unsigned calls, late_from;
} clock_state;

static int read_simulated_clock(int32_t pid, struct rti_cpu_clock *out)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/proc/%d", fix.root.root, pid);
	if (access(path, F_OK) < 0)
		return -ESRCH;
	*out = (struct rti_cpu_clock){ 19 * TICK_NS, 1, 2, 0 };
	if (++clock_state.calls >= clock_state.late_from)
		out->total_ns = 25 * TICK_NS;
	return 0;
}

/* Process events are those of this system, and the fixture shows another one. */
START_TEST(tracker_that_cannot_receive_the_events_it_asked_for_says_so)
{
	write_family();
	track_process(100, _i ? RT_OPT_PROCESS_EVENTS : 0);

	ck_assert_uint_eq(take_sample().reasons, _i ? RT_REASON_EVENTS_UNHEARD : 0);
	ck_assert_uint_eq(take_sample().valid & RT_HAS_PROCESSES_SEEN, 0);
	ck_assert_uint_eq(take_sample().partial & RT_HAS_PROCESSES_SEEN, RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(take_sample().valid & RT_HAS_PROCESSES, RT_HAS_PROCESSES);
}
END_TEST

START_TEST(tracker_without_descendants_needs_no_events)
{
	write_family();
	track_process(100, RT_OPT_PROCESS_EVENTS | RT_OPT_NO_CHILDREN);

	ck_assert_uint_eq(take_sample().reasons, 0);
	ck_assert_uint_eq(take_sample().valid & RT_HAS_PROCESSES_SEEN, RT_HAS_PROCESSES_SEEN);
}
END_TEST

/* What it used does not change any more, so nothing of it is unknown. It uses more CPU time after
 * its clock was read, and is a zombie when its stat is read. */
START_TEST(zombie_that_was_read_as_one_and_then_reaped_from_outside_lost_nothing)
{
	struct fake_process ended = shell;
	struct rt_metrics m;

	fake_process_write(&fix.root, &shell);
	track_process(100, 0);
	get_platform(fix.tracker)->cpu_clock = read_simulated_clock;
	clock_state.late_from = UINT_MAX;
	take_sample();
	ended.is_zombie = true;
	ended.state = 'Z';
	fake_process_write(&fix.root, &ended);
	clock_state.late_from = clock_state.calls + 2;
	ck_assert_int_eq(try_sample(&m), -ESRCH);
	fake_process_remove(&fix.root, 100);

	ck_assert_int_eq(try_sample(&m), -ESRCH);

	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_uint_eq(m.valid & RT_HAS_CPU, RT_HAS_CPU);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 25 * TICK_NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("membership");
	TCase *discovery = add_tree_case(suite, "discovery"),
	      *identity = add_tree_case(suite, "identity"),
	      *refused = add_tree_case(suite, "refused"), *events = add_tree_case(suite, "events");

	tcase_add_test(discovery, children_of_a_second_thread_are_members);
	tcase_add_test(discovery, descendants_on_kernel_without_children_files_are_members);
	tcase_add_test(discovery, children_file_longer_than_one_read_is_read_to_its_end);
	tcase_add_test(identity, unrelated_process_with_pid_of_a_member_is_no_member);
	tcase_add_test(identity,
	               child_of_a_process_with_refused_stat_is_no_member_before_it_can_be_read);
	tcase_add_loop_test(
	    identity, child_of_a_process_with_refused_stat_is_a_member_if_its_clock_says_so, 0, 2);
	tcase_add_test(identity, unrelated_process_with_pid_of_the_root_ends_the_tree);
	tcase_add_test(identity, stat_without_start_time_does_not_end_the_tree);
	tcase_add_test(identity, members_are_the_same_after_the_clock_was_set);
	tcase_add_test(identity, orphan_of_an_exited_root_stays_a_member_until_it_exits);
	tcase_add_test(refused, tracker_of_missing_process_or_root_is_refused);
	tcase_add_loop_test(refused, tracker_of_a_thread_is_refused, 0, 2);
	tcase_add_test(refused, process_with_hidden_files_is_unreadable_and_has_not_exited);
	tcase_add_loop_test(events, tracker_that_cannot_receive_the_events_it_asked_for_says_so, 0,
	                    2);
	tcase_add_test(events, tracker_without_descendants_needs_no_events);
	tcase_add_test(events,
	               zombie_that_was_read_as_one_and_then_reaped_from_outside_lost_nothing);
	tcase_add_loop_test(events, sample_says_that_it_lacks_a_child_with_the_pid_of_an_exited_one,
	                    0, 2);
	tcase_add_loop_test(events, fork_event_with_the_pid_of_a_member_leads_to_a_new_one, 0, 2);
	tcase_add_loop_test(
	    events, fork_event_of_a_member_that_exits_soon_makes_nothing_a_lower_bound, 0, 2);
	tcase_add_test(events, child_of_another_member_with_the_pid_of_an_exited_one_is_found);
	tcase_add_test(events, process_that_events_alone_saw_end_unwaited_may_have_the_peak);
	tcase_add_test(events, zombie_with_exit_event_is_read_before_it_is_reaped);
	tcase_add_test(events, new_pid_that_is_reused_or_being_released_is_no_member);
	tcase_add_test(events, new_pid_that_seems_to_have_exited_is_a_member_if_its_parent_is_one);
	tcase_add_test(events, zombie_read_by_a_peak_poll_alone_stays_in_the_total);
	return suite_run(suite);
}
