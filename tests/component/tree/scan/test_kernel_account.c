/* SPDX-License-Identifier: MIT */
/* A tree of real processes that BPF programs seem to account for. The account is the test's own: it
 * lacks threads, fails, or loses events, and no figure is taken for more than it is. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/cgroup/cgroup.h"
#include "tree/account_fixture.h"
#include "tree/sources/fork_tracker.h"
#include "tree/tree.h"
#include "tree/tree_inside.h"

#define READS_MAX 10       /* in one sample while threads run */
#define LAST_READS_MAX 500 /* if none runs any more */
#define EARLY_SWITCHES 1000000

static uint64_t cpu_ns(const struct rt_metrics *m)
{
	return m->cpu_user_ns + m->cpu_system_ns;
}

/* Child 2 was a member, and no process of the tree has waited for it. So /proc has lower bounds. */
static void lose_child(void)
{
	fork_event(2);
	take_sample();
	end_child(2);
}

/* What the account is, and what a sample makes of it. */
struct account_case {
	bool is_torn, lacks_some, has_ended, has_missed, has_unmarked, has_peakless, has_rowless;
	bool lacks_io, has_ended_early;
	unsigned torn_reads, reads, naps;
	uint64_t valid, partial;
	bool has_lost;
};

static const struct account_case accounts[] = {
	{ .reads = 1, .valid = WANT },
	/* Some threads are about to leave their CPU. */
	{ .lacks_some = true,
	  .reads = 1,
	  .valid = WANT & ~RT_HAS_PEAK_RSS,
	  .partial = RT_HAS_PEAK_RSS },
	{ .torn_reads = 3, .reads = 4, .valid = WANT },
	{ .torn_reads = 3, .has_ended = true, .reads = 4, .naps = 3, .valid = WANT },
	/* It stays torn. */
	{ .torn_reads = UINT32_MAX,
	  .reads = READS_MAX,
	  .valid = RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN,
	  .partial = COUNTERS | RT_HAS_PEAK_RSS },
	{ .torn_reads = UINT32_MAX,
	  .has_ended = true,
	  .reads = LAST_READS_MAX,
	  .naps = LAST_READS_MAX - 1,
	  .valid = RT_HAS_PROCESSES | RT_HAS_PROCESSES_SEEN,
	  .partial = COUNTERS | RT_HAS_PEAK_RSS },
	/* A thread is in no account for ever: another read would not find it. */
	{ .has_missed = true,
	  .reads = 1,
	  .valid = RT_HAS_PROCESSES,
	  .partial = WANT & ~RT_HAS_PROCESSES,
	  .has_lost = true },
	{ .has_unmarked = true,
	  .reads = 1,
	  .valid = RT_HAS_PROCESSES,
	  .partial = WANT & ~RT_HAS_PROCESSES,
	  .has_lost = true },
	{ .has_peakless = true,
	  .reads = 1,
	  .valid = WANT & ~RT_HAS_PEAK_RSS,
	  .partial = RT_HAS_PEAK_RSS },
	{ .has_rowless = true,
	  .reads = 1,
	  .valid = WANT & ~RT_HAS_PEAK_RSS,
	  .partial = RT_HAS_PEAK_RSS },
	{ .lacks_io = true,
	  .reads = 1,
	  .valid = WANT & ~(RT_HAS_IO | RT_HAS_IO_CALLS),
	  .partial = RT_HAS_IO | RT_HAS_IO_CALLS },
	/* The last switches of threads are in the account, and will not be. */
	{ .has_ended_early = true,
	  .reads = 1,
	  .valid = WANT & ~RT_HAS_CTXSW,
	  .partial = RT_HAS_CTXSW },
};

static void set_account(const struct account_case *c)
{
	struct rti_account_totals *totals = &fake_account.totals;

	fake_account.torn_reads = c->torn_reads;
	totals->is_whole = !c->lacks_some && !c->has_missed;
	totals->has_all = !c->has_missed;
	totals->running = c->has_ended ? 0 : 1;
	totals->missed = c->has_missed;
	totals->found = c->has_missed ? 2 : 3;
	totals->unmarked = c->has_unmarked;
	totals->peakless = c->has_peakless;
	totals->rowless = c->has_rowless;
	totals->has_io = !c->lacks_io;
	totals->ended_early = c->has_ended_early;
	totals->use.voluntary_switches = EARLY_SWITCHES;
}

/* Whatever /proc lacks. */
START_TEST(totals_that_have_each_thread_once_are_exact_and_others_are_lower_bounds)
{
	const struct account_case *c = &accounts[_i];
	struct rt_metrics m;

	track();
	lose_child();
	set_account(c);

	m = take_sample();

	ck_assert_uint_eq(m.valid & WANT, c->valid);
	ck_assert_uint_eq(m.partial & WANT, c->partial);
	ck_assert_uint_eq(fake_account.reads, c->reads);
	ck_assert_uint_eq(fake_account.naps, c->naps);
	ck_assert_uint_eq(cpu_ns(&m), CPU_NS);
	if (c->has_ended_early)
		ck_assert_uint_lt(m.voluntary_switches, EARLY_SWITCHES);
	ck_assert_uint_eq(m.processes_seen, CHILDREN);
	ck_assert_uint_eq(m.reasons & RT_REASON_EVENTS_LOST,
	                  c->has_lost ? RT_REASON_EVENTS_LOST : 0);
	ck_assert_uint_eq(m.source, RT_SOURCE_BPF_ACCOUNT);
}
END_TEST

/* No sample has seen any process end. */
static const struct {
	uint64_t rowless, peakless;
	bool is_known;
} peaks[] = {
	{ 0, 0, true },
	{ 1, 0, false },
	{ 0, 1, false },
};

START_TEST(peak_is_a_lower_bound_if_a_process_without_one_may_have_had_a_larger_one)
{
	struct rt_obstacle obstacle;
	struct rt_metrics m;

	track();
	fake_account.totals.rowless = peaks[_i].rowless;
	fake_account.totals.peakless = peaks[_i].peakless;

	m = take_sample();

	ck_assert_uint_eq(m.valid & RT_HAS_PEAK_RSS, peaks[_i].is_known ? RT_HAS_PEAK_RSS : 0);
	ck_assert_uint_eq(m.partial & RT_HAS_PEAK_RSS, peaks[_i].is_known ? 0 : RT_HAS_PEAK_RSS);
	ck_assert_uint_eq(m.valid & COUNTERS, COUNTERS);
	ck_assert_int_ge(
	    rt_tracker_obstacle(fix.tracker, RT_HAS_PEAK_RSS, &obstacle, sizeof(obstacle)), 0);
	/* They do so already. */
	ck_assert_ptr_null(strstr(obstacle.text, "BPF programs would see all"));
}
END_TEST

/* Follow a command with this root, the programs of which are those of the fake account. */
static void track_command(int32_t root)
{
	struct rti_fork_tracker no_events = RTI_FORK_TRACKER_INIT;
	const struct rti_cgroup cgroup = RTI_CGROUP_INIT;
	const struct rti_tree_command command = { .account = (void *)&fake_account,
		                                  .cgroup = &cgroup,
		                                  .fork_tracker = &no_events };
	const struct rt_opts opts = { .size = sizeof(opts), .want = WANT };

	ck_assert_int_eq(rt_pid_tracker_new(&fix.tracker, root, &opts), 0);
	assume_nothing_unseen(fix.tracker);
	rti_tree_attach_command(fix.tracker->tree, &command);
}

static void track_tree_or_command(int i)
{
	if (i == 0)
		track();
	else
		track_command(fix.children[0].pid);
}

/* Orphans that no scan finds may run, and have a larger peak than any process that has ended. */
START_TEST(peak_is_a_lower_bound_once_the_supervisor_is_gone)
{
	struct rt_metrics m;

	track();
	lose_child();
	make_supervisor(fix.tracker, INT32_MAX, NULL);

	m = take_sample();

	ck_assert_uint_eq(m.valid & COUNTERS, COUNTERS);
	ck_assert_uint_eq(m.partial & RT_HAS_PEAK_RSS, RT_HAS_PEAK_RSS);
}
END_TEST

/* E.g.: no thread has begun or ended since the last sample, and no member has run. But a thread
 * that was about to leave its CPU has used a little more. */
START_TEST(account_is_read_again_until_no_later_read_can_have_more)
{
	bool is_torn = _i == 1;

	track();
	take_sample();
	ck_assert_uint_eq(take_sample().valid & COUNTERS, COUNTERS);
	ck_assert_uint_eq(fake_account.reads, 0);
	fake_account.counts.moves++;
	fake_account.torn_reads = is_torn ? READS_MAX : 0;
	fake_account.totals.is_whole = is_torn;
	ck_assert_uint_eq(take_sample().valid & COUNTERS, is_torn ? 0 : COUNTERS);

	fake_account.totals.is_whole = true;
	ck_assert_uint_eq(take_sample().valid & COUNTERS, COUNTERS);

	ck_assert_uint_eq(fake_account.reads, 1);
}
END_TEST

static uint64_t real_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* A sample takes so long until the account is read. */
static uint64_t clock_of_slow_sample(void)
{
	return real_clock_ns() + 100 * SECOND_NS * fake_account.reads;
}

/* What is used meanwhile is in the account, so that it belongs to the interval before. */
START_TEST(sample_has_the_time_of_the_read_of_the_account)
{
	const unsigned torn = (unsigned)_i;
	uint64_t began_ns, late_ns = (torn + 1) * 100 * SECOND_NS;
	struct rt_metrics m;

	track();
	get_platform(fix.tracker)->monotonic_ns = clock_of_slow_sample;
	fake_account.torn_reads = torn;
	began_ns = real_clock_ns();

	m = take_sample();

	ck_assert_uint_eq(fake_account.reads, torn + 1);
	ck_assert_uint_ge(m.monotonic_ns, began_ns + late_ns);
	ck_assert_uint_le(m.monotonic_ns, real_clock_ns() + late_ns);
	ck_assert_uint_ge(m.boottime_ns, m.monotonic_ns);
	ck_assert_uint_ge(m.realtime_ns, m.monotonic_ns);
}
END_TEST

/* Then the counters are those of an earlier read. */
START_TEST(sample_without_a_read_of_the_account_has_the_time_of_its_start)
{
	struct rt_metrics m;

	track();
	take_sample();
	get_platform(fix.tracker)->monotonic_ns = clock_of_slow_sample;
	if (_i == 1) {
		fake_account.counts.moves++;
		fake_account.torn_reads = UINT32_MAX;
	}
	m = take_sample();
	ck_assert_uint_eq(fake_account.reads, _i == 1 ? READS_MAX : 0);
	ck_assert_uint_le(m.monotonic_ns, real_clock_ns());
}
END_TEST

static void fail_reads(int error)
{
	fake_account.totals.is_whole = fake_account.totals.has_all = false;
	fake_account.counts.moves++;
	fake_account.failing_read = 1;
	fake_account.read_error = error;
}

/* E.g.: the tracker was forked. From then on the figures are those of /proc, and lower bounds. What
 * was counted before does not fall. */
START_TEST(account_of_another_process_is_given_up)
{
	struct rt_metrics m;

	track_tree_or_command(_i);
	take_sample();
	fail_reads(-ESTALE);
	for (int samples = 0; samples < 2; samples++) {
		m = take_sample();

		ck_assert_uint_eq(fake_account.reads, samples == 0 ? 1 : 0);
		ck_assert_uint_eq(m.partial & COUNTERS, COUNTERS);
		ck_assert_uint_eq(m.source, RT_SOURCE_PROC);
		ck_assert_uint_eq(cpu_ns(&m), CPU_NS);
		ck_assert_uint_eq(m.reasons & RT_REASON_EVENTS_LOST, RT_REASON_EVENTS_LOST);
	}
	ck_assert(fake_account_is_closed());
}
END_TEST

/* E.g.: the caller is short of descriptors. A later sample has all. */
START_TEST(account_that_cannot_be_read_makes_lower_bounds_of_one_sample)
{
	struct rt_obstacle obstacle;
	struct rt_metrics m;

	track_tree_or_command(_i);
	take_sample();
	fail_reads(-EMFILE);
	m = take_sample();
	ck_assert_uint_eq(m.partial & COUNTERS, COUNTERS);
	ck_assert_uint_eq(cpu_ns(&m), CPU_NS);
	ck_assert_uint_eq(rti_tree_account_totals(fix.tracker->tree)->processes, 0);
	ck_assert_int_ge(
	    rt_tracker_obstacle(fix.tracker, RT_HAS_FAULTS, &obstacle, sizeof(obstacle)), 0);
	ck_assert_int_eq(obstacle.error, -EMFILE);
	ck_assert_ptr_nonnull(strstr(obstacle.text, "could not be read"));
	fake_account.totals.is_whole = true;
	fake_account.failing_read = 0;

	m = take_sample();

	ck_assert_uint_eq(m.valid & COUNTERS, COUNTERS);
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_uint_eq(m.source, RT_SOURCE_BPF_ACCOUNT);
}
END_TEST

/* A thread that has ended leaves its CPU a moment later, and needs one for that. While a command
 * runs, a later sample has what is missing. */
static const struct {
	bool is_end, is_running, has_missed;
	unsigned torn_reads, reads, naps;
} ends[] = {
	{ true, false, false, 3, 4, 3 },
	{ true, false, false, UINT32_MAX, 10000, 9999 },
	{ true, true, false, UINT32_MAX, 50, 49 },
	/* Another read would not find it. */
	{ true, false, true, 0, 1, 0 },
	{ false, false, false, UINT32_MAX, READS_MAX, 0 },
	{ false, true, false, UINT32_MAX, READS_MAX, 0 },
};

START_TEST(end_of_a_command_waits_until_the_last_threads_have_left_their_cpu)
{
	struct rti_account_totals *totals = &fake_account.totals;

	track_command(fix.children[0].pid);
	if (ends[_i].is_end)
		rti_tree_begin_final(fix.tracker->tree);
	totals->running = ends[_i].is_running;
	totals->is_whole = totals->has_all = !ends[_i].has_missed;
	totals->missed = ends[_i].has_missed;
	totals->found = ends[_i].has_missed ? 2 : 3;
	fake_account.torn_reads = ends[_i].torn_reads;

	take_sample();

	ck_assert_uint_eq(fake_account.reads, ends[_i].reads);
	ck_assert_uint_eq(fake_account.naps, ends[_i].naps);
}
END_TEST

/* What the programs of a command have counted, and what a sample makes of it. */
static const struct {
	uint64_t processes, unmarked;
	bool is_known;
} counts[] = {
	{ 9, 0, true },
	{ 9, 1, false }, /* a process got no mark */
	{ 0, 1, false }, /* the supervisor got none */
};

/* The faults of all threads, by the programs, and those that wait4(2) has of them. */
static const struct {
	struct rt_rusage reaped;
	bool is_running, is_known;
} reaped[] = {
	{ { .ru_minflt = 40, .ru_majflt = 2 }, false, true },
	/* No process has waited for one of them. */
	{ { .ru_minflt = 39, .ru_majflt = 2 }, false, false },
	{ { .ru_minflt = 40, .ru_majflt = 1 }, false, false },
	/* A process may still grow. */
	{ { .ru_minflt = 40, .ru_majflt = 2 }, true, false },
	/* The supervisor itself had a peak above it. */
	{ { .ru_minflt = 40, .ru_majflt = 2, .ru_maxrss = INT32_MAX }, false, false },
};

START_TEST(peak_without_a_row_is_known_if_each_process_was_waited_for)
{
	bool is_known = reaped[_i].is_known;
	struct rt_metrics m;

	track_command(fix.children[0].pid);
	rti_tree_apply_final_rusage(fix.tracker->tree, &reaped[_i].reaped, INT32_MAX);
	fake_account.totals.use.minflt = 40;
	fake_account.totals.use.majflt = 2;
	fake_account.totals.rowless = 1;
	fake_account.totals.running = reaped[_i].is_running;

	m = take_sample();

	ck_assert_uint_eq(m.valid & RT_HAS_PEAK_RSS, is_known ? RT_HAS_PEAK_RSS : 0);
	ck_assert_uint_eq(m.partial & RT_HAS_PEAK_RSS, is_known ? 0 : RT_HAS_PEAK_RSS);
}
END_TEST

START_TEST(processes_of_a_command_are_those_that_its_programs_counted)
{
	struct rt_obstacle obstacle;
	struct rt_metrics m;

	track_command(fix.children[0].pid);
	fake_account.counts.processes = fake_account.totals.processes = counts[_i].processes;
	fake_account.counts.unmarked = fake_account.totals.unmarked = counts[_i].unmarked;

	m = take_sample();

	ck_assert_int_eq((m.valid & RT_HAS_PROCESSES_SEEN) != 0, counts[_i].is_known);
	ck_assert_int_eq((m.partial & RT_HAS_PROCESSES_SEEN) != 0, !counts[_i].is_known);
	ck_assert_uint_eq(m.processes_seen, counts[_i].processes ? counts[_i].processes : 1);
	ck_assert_int_ge(
	    rt_tracker_obstacle(fix.tracker, RT_HAS_PROCESSES_SEEN, &obstacle, sizeof(obstacle)),
	    0);
	ck_assert_uint_eq(obstacle.kind, counts[_i].is_known ? 0 : RT_OBSTACLE_GONE);
}
END_TEST

/* Their count is that of before. */
START_TEST(process_that_the_programs_missed_is_found_in_the_next_sample)
{
	struct child missed;

	track_command(getpid());
	fake_account.counts.processes = CHILDREN + 1;
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(take_sample().processes, CHILDREN + 1);
	child_start(&missed, do_nothing, NULL);

	ck_assert_uint_eq(take_sample().processes, CHILDREN + 2);

	child_end(&missed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel_account");
	TCase *commands = add_account_case(suite, "commands");
	TCase *totals = add_account_case(suite, "totals");

	tcase_add_loop_test(totals,
	                    totals_that_have_each_thread_once_are_exact_and_others_are_lower_bounds,
	                    0, sizeof(accounts) / sizeof(accounts[0]));
	tcase_add_loop_test(
	    totals, peak_is_a_lower_bound_if_a_process_without_one_may_have_had_a_larger_one, 0,
	    sizeof(peaks) / sizeof(peaks[0]));
	tcase_add_loop_test(totals, sample_has_the_time_of_the_read_of_the_account, 0, 3);
	tcase_add_loop_test(totals, sample_without_a_read_of_the_account_has_the_time_of_its_start,
	                    0, 2);
	tcase_add_loop_test(totals, account_is_read_again_until_no_later_read_can_have_more, 0, 2);
	tcase_add_loop_test(totals, account_of_another_process_is_given_up, 0, 2);
	tcase_add_loop_test(totals, account_that_cannot_be_read_makes_lower_bounds_of_one_sample, 0,
	                    2);
	tcase_add_loop_test(commands,
	                    end_of_a_command_waits_until_the_last_threads_have_left_their_cpu, 0,
	                    sizeof(ends) / sizeof(ends[0]));
	tcase_add_loop_test(commands, processes_of_a_command_are_those_that_its_programs_counted, 0,
	                    sizeof(counts) / sizeof(counts[0]));
	tcase_add_loop_test(commands, peak_without_a_row_is_known_if_each_process_was_waited_for, 0,
	                    sizeof(reaped) / sizeof(reaped[0]));
	tcase_add_test(commands, peak_is_a_lower_bound_once_the_supervisor_is_gone);
	tcase_add_test(commands, process_that_the_programs_missed_is_found_in_the_next_sample);
	return suite_run(suite);
}
