/* SPDX-License-Identifier: MIT */
/* Real processes: what a tracker that reads only what is due reports, against a tracker that reads
 * everything. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "api/tracker.h"
#include "children.h"
#include "family.h"
#include "suite.h"
#include "tree/tree_inside.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MIB (UINT64_C(1) << 20)
#define TRIES 50

static struct {
	struct family family;
	struct rt_tracker *tracker;
	uint64_t now_ns; /* time of the trackers; it moves only when the test says so */
} fix;

static void set_up(void)
{
	fix.tracker = NULL;
	fix.family.count = 0;
	fix.now_ns = 1000 * SECOND;
}

static void tear_down(void)
{
	rt_tracker_free(fix.tracker);
	family_end(&fix.family);
}

static void read_fake_clocks(struct rti_now *out)
{
	*out = (struct rti_now){ fix.now_ns, fix.now_ns, fix.now_ns };
}

static struct rt_tracker *track_family(uint32_t max_fds)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .max_fds = max_fds,
		                      .pss_share = 1000,
		                      .flags = RT_OPT_PSS_READS | RT_OPT_NO_PROCESS_EVENTS };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, fix.family.member[0].pid, &opts), 0);
	assume_nothing_unseen(tracker);
	get_platform(tracker)->now = read_fake_clocks;
	return tracker;
}

static struct rt_metrics take_sample_after(uint64_t ns)
{
	struct rt_metrics m;

	fix.now_ns += ns;
	ck_assert_int_eq(rt_sample(fix.tracker, &m, sizeof(m)), 0);
	return m;
}

/* Returns what another tracker reads of the family, with every file opened and read anew. The
 * members must be stopped. */
static struct rt_metrics read_everything(void)
{
	struct rt_tracker *tracker = track_family(1);
	struct rt_metrics m;

	begin_final_sample(tracker);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	rt_tracker_free(tracker);
	return m;
}

/* Lets two thirds of the members use CPU time, I/O and memory. */
static void run_members(int round)
{
	for (size_t i = 0; i < fix.family.count; i++) {
		if (!fix.family.member[i].pid || (i + (size_t)round) % 3 == 0)
			continue;
		family_tell(&fix.family, i, FAMILY_RUN, 1 + (int32_t)(i % 5));
		family_tell(&fix.family, i, FAMILY_WRITE, 1000 * (int32_t)i);
		family_tell(&fix.family, i, FAMILY_GROW, 1 + (int32_t)(i % 3));
		if (round % 2)
			family_tell(&fix.family, i, FAMILY_SHRINK, 1);
	}
}

/* Stops the members and takes a sample. To stop, each member has run, so each is read. */
static struct rt_metrics stop_and_sample(void)
{
	family_stop(&fix.family);
	return take_sample_after(SECOND);
}

/* Unrelated processes, which come and go, share the C library with the members. So PSS may differ a
 * little. */
static void check_pss(const struct rt_metrics *m, const struct rt_metrics *all)
{
	ck_assert_uint_le(m->pss_bytes, all->pss_bytes + MIB);
	ck_assert_uint_ge(m->pss_bytes + MIB, all->pss_bytes);
	ck_assert_uint_gt(m->pss_bytes, 10 * MIB);
	ck_assert_uint_ne(m->valid & RT_HAS_PSS, 0);
	ck_assert_uint_ne(all->valid & RT_HAS_PSS, 0);
}

START_TEST(busy_tree_has_the_figures_of_a_full_read)
{
	static const uint32_t limits[] = { 4, 8, 1024 };
	struct rt_metrics m, all;

	family_start(&fix.family, 20);
	fix.tracker = track_family(limits[_i]);
	for (int round = 0; round < 12; round++) {
		run_members(round);
		take_sample_after(37 * MS);
	}

	m = stop_and_sample();

	all = read_everything();
	ck_assert_uint_eq(m.processes, all.processes);
	ck_assert_uint_eq(m.threads, all.threads);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, all.cpu_user_ns + all.cpu_system_ns);
	ck_assert_uint_eq(m.minor_faults, all.minor_faults);
	ck_assert_uint_eq(m.major_faults, all.major_faults);
	ck_assert_uint_eq(m.rss_bytes, all.rss_bytes);
	check_pss(&m, &all);
	ck_assert_uint_eq(m.peak_rss_bytes, all.peak_rss_bytes);
	ck_assert_uint_eq(m.read_bytes, all.read_bytes);
	ck_assert_uint_eq(m.write_bytes, all.write_bytes);
	ck_assert_uint_eq(m.read_chars, all.read_chars);
	ck_assert_uint_eq(m.write_chars, all.write_chars);
	ck_assert_uint_eq(m.voluntary_switches, all.voluntary_switches);
	ck_assert_uint_eq(m.involuntary_switches, all.involuntary_switches);
}
END_TEST

/* Peaks and switches of members that exited are not compared: no later read shows them. */
START_TEST(tree_with_exits_and_forks_has_the_figures_of_a_full_read)
{
	struct rt_metrics m, all;

	family_start(&fix.family, 12);
	fix.tracker = track_family(1024);
	for (int round = 0; round < 10; round++) {
		run_members(round);
		family_shrink(&fix.family, 2 + (size_t)round);
		family_grow(&fix.family);
		take_sample_after(37 * MS);
		if (round % 3 == 0)
			ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	}

	m = stop_and_sample();

	all = read_everything();
	ck_assert_uint_eq(m.processes, all.processes);
	ck_assert_uint_eq(m.minor_faults, all.minor_faults);
	ck_assert_uint_eq(m.rss_bytes, all.rss_bytes);
	check_pss(&m, &all);
	ck_assert_uint_eq(m.write_chars, all.write_chars);
	ck_assert_uint_eq(m.reasons & ~RT_REASON_CLOCK_TICKS, 0);
}
END_TEST

START_TEST(member_that_ignores_sigchld_is_reported)
{
	struct rt_metrics m;

	family_start(&fix.family, 3);
	fix.tracker = track_family(1024);
	m = take_sample_after(0);
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_int_eq(family_tell(&fix.family, 1, FAMILY_IGNORE, 0), 0);
	family_tell(&fix.family, 1, FAMILY_RUN, 2);

	m = take_sample_after(100 * MS);

	ck_assert_uint_eq(m.reasons, RT_REASON_SIGCHLD_IGNORED);
}
END_TEST

/* Samples a member, ends it, and forks an unrelated process with its pid. Returns that pid, or the
 * error of family_fork_as(). Sets *before to the last sample with the member. */
static pid_t replace_by_unrelated(size_t victim, bool caches_files, struct rt_metrics *before)
{
	pid_t pid = fix.family.member[victim].pid;

	family_tell(&fix.family, victim, FAMILY_GROW, 20);
	family_tell(&fix.family, victim, FAMILY_RUN, 20);
	take_sample_after(SECOND);
	*before = take_sample_after(SECOND);
	if (caches_files)
		ck_assert_uint_gt(open_files_of(fix.tracker, pid), 2);
	else
		ck_assert_uint_eq(open_files_of(fix.tracker, pid), 0);
	family_shrink(&fix.family, victim);
	return family_fork_as(pid);
}

static bool is_choice_of_pid_unavailable(pid_t result)
{
	return result == -EPERM || result == -ENOSYS || result == -EINVAL;
}

/* With many descriptors the files of the member are cached. With one they are opened by pid. */
START_TEST(unrelated_process_with_pid_of_a_member_is_not_read)
{
	static const uint32_t limits[] = { 1024, 1 };
	struct rt_metrics before, m;
	pid_t pid = -EEXIST;

	family_start(&fix.family, 3);
	fix.tracker = track_family(limits[_i]);
	for (int i = 0; i < TRIES && pid == -EEXIST; i++)
		pid =
		    replace_by_unrelated(i ? family_grow(&fix.family) : 2, limits[_i] > 1, &before);
	if (is_choice_of_pid_unavailable(pid)) {
		suite_skip_test("clone3(2) cannot choose a pid here");
		return;
	}
	ck_assert_int_gt(pid, 0);

	m = take_sample_after(SECOND);

	ck_assert(!has_member(fix.tracker, pid));
	ck_assert_uint_eq(m.processes, before.processes - 1);
	ck_assert_uint_ge(m.cpu_user_ns + m.cpu_system_ns,
	                  before.cpu_user_ns + before.cpu_system_ns);
	ck_assert_uint_ge(m.minor_faults, before.minor_faults);
	ck_assert_uint_le(m.rss_bytes, before.rss_bytes - 20 * MIB);
	ck_assert_uint_eq(m.reasons & ~RT_REASON_CLOCK_TICKS, 0);
	kill_process(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

/* A watch saves no look at a member that runs between all samples. */
START_TEST(looks_to_save_are_those_at_members_that_have_not_run)
{
	uint64_t before;

	family_start(&fix.family, 6);
	family_stop(&fix.family);
	fix.tracker = track_family(1024);
	take_sample_after(SECOND);
	before = count_looks_to_save(fix.tracker);

	take_sample_after(SECOND);

	ck_assert_uint_eq(count_looks_to_save(fix.tracker), before + 6);

	for (size_t i = 2; i < 4; i++) {
		kill_process(fix.family.member[i].pid, SIGCONT);
		family_tell(&fix.family, i, FAMILY_RUN, 1);
	}
	take_sample_after(SECOND);
	ck_assert_uint_eq(count_looks_to_save(fix.tracker), before + 6 + 4);
	family_continue(&fix.family);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("member read of real processes");
	TCase *tcase = suite_case(suite, "real processes");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, busy_tree_has_the_figures_of_a_full_read, 0, 3);
	tcase_add_test(tcase, tree_with_exits_and_forks_has_the_figures_of_a_full_read);
	tcase_add_test(tcase, member_that_ignores_sigchld_is_reported);
	tcase_add_test(tcase, looks_to_save_are_those_at_members_that_have_not_run);
	tcase_add_loop_test(tcase, unrelated_process_with_pid_of_a_member_is_not_read, 0, 2);
	return suite_run(suite);
}
