/* SPDX-License-Identifier: MIT */
/* A tree of real processes that the kernel watches, and the same tree read member by member: the
 * same figures, of the same processes. And the watch looks only at what has changed. */
#include "tree/batch_tree_fixture.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bpf/watch/tree_watch.h"
#include "children.h"
#include "tree/tree_inside.h"

#define ROUNDS 24
#define SETTLING 8 /* samples */
#define TRIES 50
#define BURN_MS 60000 /* longer than the test takes */
#define WITHOUT_PSS (RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO | RT_HAS_PROCESSES | RT_HAS_FAULTS)

/* The kernel compares start times with the time of the last sample: so that must not be of before
 * the boot. */
static void use_late_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	fix.now_ns += (uint64_t)now.tv_sec * SECOND;
}

static void read_late_clocks(struct rti_now *out)
{
	*out = (struct rti_now){ fix.now_ns, fix.now_ns, fix.now_ns };
}

static uint64_t read_late_monotonic_ns(void)
{
	return fix.now_ns;
}

static struct rt_tracker *track(uint64_t want)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = RT_OPT_NO_PROCESS_EVENTS,
		                      .want = want,
		                      .pss_share = 1000 };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, get_pid(0), &opts), 0);
	assume_nothing_unseen(tracker);
	get_platform(tracker)->now = read_late_clocks;
	get_platform(tracker)->monotonic_ns = read_late_monotonic_ns;
	return tracker;
}

static struct rt_metrics sample(struct rt_tracker *tracker)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	check_memory_sums(tracker);
	return m;
}

/* Watches the family. Returns once samples are partial. */
static struct rt_tracker *watch(uint64_t want)
{
	struct rt_tracker *tracker = track(want);

	sample(tracker);
	use_batch_reader_now(tracker);
	use_watch_now(tracker);
	for (int i = 0; i < SETTLING && !was_partial_sample(tracker); i++) {
		fix.now_ns += SECOND;
		sample(tracker);
	}
	ck_assert(was_partial_sample(tracker));
	return tracker;
}

static struct rt_tracker *track_without_watch(uint64_t want, bool is_text)
{
	struct rt_tracker *tracker = track(want);

	sample(tracker);
	forbid_watch(tracker);
	if (is_text)
		forbid_batch_reader(tracker);
	else
		use_batch_reader_now(tracker);
	sample(tracker);
	return tracker;
}

static void change_family(int round, bool may_end)
{
	size_t some = 1 + (size_t)round % (TREE - 1);

	if (fix.family.member[some].pid)
		family_tell(&fix.family, some, FAMILY_RUN, 3);
	if (round % 3 == 0)
		run_members(round);
	if (round % 4 == 1 && fix.family.count < FAMILY_MOST)
		family_grow(&fix.family);
	if (may_end && round % 5 == 2 && fix.family.member[some].pid)
		family_shrink(&fix.family, some);
	if (round % 7 == 3 && fix.family.member[some].pid)
		family_tell(&fix.family, some, FAMILY_EXEC, may_end && round % 2);
	if (round % 6 == 5 && fix.family.member[some].pid)
		family_tell(&fix.family, some, FAMILY_THREADS, 2);
}

static void check_same_members(const struct rt_tracker *a, const struct rt_tracker *b)
{
	for (size_t i = 0; i < fix.family.count; i++) {
		pid_t pid = get_pid(i);

		if (!pid)
			continue;
		ck_assert(has_member(a, pid) && has_member(b, pid));
		ck_assert_uint_eq(get_member_cpu_ns(a, pid), get_member_cpu_ns(b, pid));
		ck_assert_uint_eq(get_member_rss(a, pid), get_member_rss(b, pid));
	}
}

static uint64_t cpu_of(const struct rt_metrics *m)
{
	return m->cpu_user_ns + m->cpu_system_ns;
}

/* The split of CPU time is sampled at ticks, and by text less often. */
static void check_same_figures(struct rt_metrics *m, const struct rt_metrics *expected)
{
	ck_assert_uint_eq(cpu_of(m), cpu_of(expected));
	m->cpu_user_ns = expected->cpu_user_ns;
	m->cpu_system_ns = expected->cpu_system_ns;
	check_equal(m, expected);
}

/* The family is stopped while both look at it. By text, what members have reaped is in ticks, and
 * switches of threads that have ended are missing: so that is compared while none ends. */
START_TEST(figures_of_watched_tree_equal_those_of_each_member)
{
	static const struct {
		uint64_t want;
		bool is_text;
	} cases[] = { { 0, false }, { WITHOUT_PSS, false }, { 0, true }, { WITHOUT_PSS, true } };
	const uint64_t want = cases[_i].want;
	const bool is_text = cases[_i].is_text;
	struct rt_tracker *each = track_without_watch(want, is_text), *watched = watch(want);
	struct rt_metrics m, expected;
	size_t partial = 0;

	for (int round = 0; round < ROUNDS; round++) {
		family_continue(&fix.family);
		change_family(round, !is_text);
		family_stop(&fix.family);
		fix.now_ns += SECOND;
		expected = sample(each);

		m = sample(watched);

		partial += was_partial_sample(watched);
		ck_assert_uint_eq(expected.source, is_text ? RT_SOURCE_PROC : RT_SOURCE_BPF);
		ck_assert_uint_eq(m.source, RT_SOURCE_BPF);
		check_same_figures(&m, &expected);
		if (want)
			ck_assert_uint_eq(m.peak_tree_rss_bytes, expected.peak_tree_rss_bytes);
		check_same_members(each, watched);
	}
	ck_assert_uint_eq(partial, ROUNDS);
	rt_tracker_free(each);
	rt_tracker_free(watched);
}
END_TEST

START_TEST(only_members_that_ran_are_looked_at)
{
	struct rt_tracker *tracker = watch(WITHOUT_PSS);

	fix.now_ns += SECOND / 1000;
	sample(tracker);
	fix.now_ns += SECOND / 1000;
	sample(tracker);
	ck_assert_uint_eq(count_looks(tracker), 0);

	family_tell(&fix.family, 3, FAMILY_RUN, 1);
	fix.now_ns += SECOND / 1000;
	sample(tracker);

	ck_assert_uint_eq(count_looks(tracker), 1);
	rt_tracker_free(tracker);
}
END_TEST

/* The growth by the run and the sum over all that was looked at, in the same sample. */
START_TEST(sums_moved_by_differences_equal_sums_over_all)
{
	struct rt_tracker *tracker = watch(WITHOUT_PSS);
	struct rt_metrics moved, summed;

	for (int round = 0; round < ROUNDS; round++) {
		family_continue(&fix.family);
		run_members(round);
		family_stop(&fix.family);
		fix.now_ns += SECOND / 1000;
		moved = sample(tracker);
		ck_assert(was_partial_sample(tracker));
		sum_all_members(tracker);
		fix.now_ns += SECOND / 1000;
		summed = sample(tracker);
		check_equal(&moved, &summed);
	}
	rt_tracker_free(tracker);
}
END_TEST

static int run_in_fork(struct rt_tracker *tracker)
{
	struct rt_metrics m;

	fix.now_ns += SECOND;
	if (rt_sample(tracker, &m, sizeof(m)) != 0 || was_partial_sample(tracker))
		return 1;
	return m.processes == TREE ? 0 : 2;
}

START_TEST(fork_of_the_caller_looks_at_all_and_the_caller_goes_on)
{
	struct rt_tracker *tracker = watch(WITHOUT_PSS);
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0)
		_exit(run_in_fork(tracker));

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	family_tell(&fix.family, 2, FAMILY_RUN, 1);
	fix.now_ns += SECOND / 1000;
	sample(tracker);
	fix.now_ns += SECOND / 1000;
	family_tell(&fix.family, 2, FAMILY_RUN, 1);
	sample(tracker);
	ck_assert(was_partial_sample(tracker));
	ck_assert_uint_eq(count_looks(tracker), 1);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(unrelated_process_with_pid_of_a_member_is_none)
{
	struct rt_tracker *tracker = watch(WITHOUT_PSS);
	struct rt_metrics m;
	pid_t pid = -EEXIST, old = 0;

	for (int i = 0; i < TRIES && pid == -EEXIST; i++) {
		size_t victim = family_grow(&fix.family);

		old = get_pid(victim);
		fix.now_ns += SECOND / 1000;
		sample(tracker);
		family_shrink(&fix.family, victim);
		pid = family_fork_as(old);
	}
	ck_assert_int_gt(pid, 0);
	fix.now_ns += SECOND / 1000;

	m = sample(tracker);

	ck_assert(was_partial_sample(tracker));
	ck_assert(!has_member(tracker, pid));
	ck_assert_uint_eq(m.processes, TREE);
	ck_assert_int_eq(kill_process(pid, SIGKILL), 0);
	waitpid(pid, NULL, 0);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(zombie_is_a_member_until_it_is_waited_for)
{
	struct rt_tracker *tracker = watch(WITHOUT_PSS);
	size_t child = family_grow(&fix.family);
	pid_t pid = get_pid(child);
	siginfo_t info;
	struct rt_metrics m;

	family_tell(&fix.family, child, FAMILY_EXIT, 0);
	for (int i = 0; i < SETTLING; i++) {
		while (thread_state(pid, pid) != 'Z')
			usleep(1000);
		fix.now_ns += SECOND / 1000;
		m = sample(tracker);
		ck_assert_uint_eq(m.processes, TREE + 1);
		ck_assert(has_member(tracker, pid));
	}
	ck_assert_int_eq(family_tell(&fix.family, 0, FAMILY_WAIT, 0), pid);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG), -1);
	fix.family.member[child].pid = 0;
	fix.now_ns += SECOND / 1000;

	m = sample(tracker);

	ck_assert(was_partial_sample(tracker));
	ck_assert_uint_eq(m.processes, TREE);
	ck_assert(!has_member(tracker, pid));
	rt_tracker_free(tracker);
}
END_TEST

/* What happens right after the sample has taken what has changed: when it reads the first clock. */
static struct {
	int (*cpu_clock)(int32_t pid, struct rti_cpu_clock *out);
	size_t victim;
} meanwhile;

static int shrink_and_read_clock(int32_t pid, struct rti_cpu_clock *out)
{
	size_t victim = meanwhile.victim;

	meanwhile.victim = 0;
	if (victim)
		family_shrink(&fix.family, victim);
	return meanwhile.cpu_clock(pid, out);
}

/* What it used is in the account of its parent by then, which is read after that. */
START_TEST(member_that_is_reaped_during_the_sample_counts_once)
{
	struct rt_tracker *tracker = watch(WITHOUT_PSS);
	size_t child = family_grow(&fix.family);
	struct rt_metrics before, after;

	forbid_batch_reader(tracker);
	family_tell(&fix.family, child, FAMILY_RUN, 300);
	family_await_sleep(&fix.family, child);
	fix.now_ns += SECOND;
	for (int i = 0; i < SETTLING; i++) {
		fix.now_ns += SECOND / 1000;
		before = sample(tracker);
	}
	ck_assert_uint_eq(count_looks(tracker), 0);
	meanwhile.cpu_clock = get_platform(tracker)->cpu_clock;
	meanwhile.victim = child;
	get_platform(tracker)->cpu_clock = shrink_and_read_clock;
	family_tell(&fix.family, 0, FAMILY_RUN, 1);
	fix.now_ns += SECOND / 1000;

	after = sample(tracker);

	ck_assert(was_partial_sample(tracker));
	ck_assert_uint_eq(meanwhile.victim, 0);
	ck_assert_uint_eq(after.processes, TREE);
	ck_assert_uint_lt(cpu_of(&after), cpu_of(&before) + SECOND / 10);
	rt_tracker_free(tracker);
}
END_TEST

START_TEST(several_trackers_watch_the_same_tree)
{
	struct rt_tracker *one = watch(WITHOUT_PSS), *other = watch(WITHOUT_PSS);
	struct rt_metrics a, b;

	for (int round = 0; round < ROUNDS; round++) {
		family_continue(&fix.family);
		change_family(round, true);
		family_stop(&fix.family);
		fix.now_ns += SECOND;

		a = sample(one);
		b = sample(other);

		check_equal(&a, &b);
	}
	rt_tracker_free(one);
	rt_tracker_free(other);
}
END_TEST

static uint64_t clock_of(pid_t pid)
{
	struct timespec now;
	clockid_t clock;

	ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
	ck_assert_int_eq(clock_gettime(clock, &now), 0);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* A member that keeps its CPU passes no sched_switch: case 0 was forked after the watch began, case
 * 1 ran before. A sample may miss it in the moment in which it leaves its CPU, so it has at least
 * what the member's clock showed at the sample before. */
START_TEST(member_that_runs_is_looked_at)
{
	struct rt_tracker *tracker = NULL;
	uint64_t low_ns = 0, now_ns;
	size_t burner = 1;

	if (_i == 0) {
		tracker = watch(WITHOUT_PSS);
		burner = family_grow(&fix.family);
	}
	family_begin(&fix.family, burner, FAMILY_RUN, BURN_MS);
	if (_i == 1)
		tracker = watch(WITHOUT_PSS);
	for (int i = 0; i < TRIES; i++) {
		/* Longer than RTI_SELDOM_NS: a figure that was put off would have it looked at. */
		fix.now_ns += SECOND / 5;
		now_ns = clock_of(get_pid(burner));
		sample(tracker);
		ck_assert(was_partial_sample(tracker));
		ck_assert_uint_ge(get_member_cpu_ns(tracker, get_pid(burner)), low_ns);
		ck_assert_uint_le(get_member_cpu_ns(tracker, get_pid(burner)),
		                  clock_of(get_pid(burner)));
		low_ns = now_ns;
		usleep(2000);
	}
	ck_assert_uint_gt(low_ns, SECOND / 1000);
	rt_tracker_free(tracker);
}
END_TEST

/* Its parent has ended before any sample, which ends the orphan, and its new parent is outside of
 * the tree. No process waits for it. */
START_TEST(orphan_that_was_forked_since_the_last_sample_is_a_member)
{
	struct rt_tracker *tracker = watch(WITHOUT_PSS);
	size_t parent = family_grow(&fix.family), orphan = family_fork_from(&fix.family, parent);

	family_shrink(&fix.family, parent);
	while (thread_state(get_pid(orphan), get_pid(orphan)) != 'Z')
		usleep(1000);
	fix.now_ns += SECOND / 1000;

	sample(tracker);

	ck_assert(was_partial_sample(tracker));
	ck_assert(has_member(tracker, get_pid(orphan)));
	rt_tracker_free(tracker);
}
END_TEST

static struct rt_tracker *watch_and_forget_rss(void)
{
	struct rt_tracker *tracker = watch(WITHOUT_PSS);

	fix.now_ns += SECOND / 1000;
	sample(tracker);
	ck_assert_uint_eq(count_looks(tracker), 0);
	for (size_t i = 0; i < TREE; i++)
		set_member_rss(tracker, get_pid(i), 1);
	return tracker;
}

/* It may have been changed from outside. */
START_TEST(rss_of_members_that_do_not_run_is_read_every_10_s)
{
	struct rt_tracker *tracker = watch_and_forget_rss();

	for (int i = 0; i < 4; i++) {
		fix.now_ns += 5 * SECOND / 2;
		sample(tracker);
		ck_assert(was_partial_sample(tracker));
		ck_assert_uint_le(count_looks(tracker), TREE / 4 + 1);
	}

	for (size_t i = 0; i < TREE; i++)
		ck_assert_uint_gt(get_member_rss(tracker, get_pid(i)), 1);
	rt_tracker_free(tracker);
}
END_TEST

/* The next four are due. They have moved up by one. */
START_TEST(members_behind_one_that_ends_have_their_turn)
{
	struct rt_tracker *tracker = watch_and_forget_rss();

	family_shrink(&fix.family, 1);
	fix.now_ns += 5 * SECOND / 2;
	sample(tracker);
	ck_assert_uint_gt(get_member_rss(tracker, get_pid(3)), 1);
	ck_assert_uint_eq(get_member_rss(tracker, get_pid(4)), 1);
	fix.now_ns += 5 * SECOND / 2;

	sample(tracker);

	for (size_t i = 4; i < 8; i++)
		ck_assert_uint_gt(get_member_rss(tracker, get_pid(i)), 1);
	rt_tracker_free(tracker);
}
END_TEST

static bool may_watch(void)
{
	struct rti_tree_watch *watch;

	if (!has_bpf() || rti_watch_open(&watch) < 0)
		return false;
	rti_watch_close(watch);
	return true;
}

int main(void)
{
	Suite *suite = suite_create("watched tree");
	TCase *figures = add_batch_case(suite, "figures"), *looks = add_batch_case(suite, "looks");

	if (!may_watch())
		return suite_skip("this system lets no BPF program watch a tree");
	tcase_add_checked_fixture(figures, use_late_clock, NULL);
	tcase_add_checked_fixture(looks, use_late_clock, NULL);
	tcase_add_loop_test(figures, figures_of_watched_tree_equal_those_of_each_member, 0, 4);
	tcase_add_test(figures, sums_moved_by_differences_equal_sums_over_all);
	tcase_add_test(figures, several_trackers_watch_the_same_tree);
	tcase_add_test(looks, only_members_that_ran_are_looked_at);
	tcase_add_test(looks, rss_of_members_that_do_not_run_is_read_every_10_s);
	tcase_add_test(looks, members_behind_one_that_ends_have_their_turn);
	tcase_add_test(looks, orphan_that_was_forked_since_the_last_sample_is_a_member);
	tcase_add_test(looks, zombie_is_a_member_until_it_is_waited_for);
	tcase_add_test(looks, member_that_is_reaped_during_the_sample_counts_once);
	tcase_add_loop_test(looks, member_that_runs_is_looked_at, 0, 2);
	tcase_add_test(looks, fork_of_the_caller_looks_at_all_and_the_caller_goes_on);
	tcase_add_test(looks, unrelated_process_with_pid_of_a_member_is_none);
	return suite_run(suite);
}
