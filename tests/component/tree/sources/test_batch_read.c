/* SPDX-License-Identifier: MIT */
/* A tree of real processes read by text, then by BPF in batches, and back: the same figures, of the
 * same processes, and no counter falls. */
#include "tree/batch_tree_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "tree/tree_inside.h"

#define TRIES 50

static uint64_t sum_cpu(const struct rt_metrics *m)
{
	return m->cpu_user_ns + m->cpu_system_ns;
}

static void check_no_fall(const struct rt_metrics *from, const struct rt_metrics *to)
{
	ck_assert_uint_ge(to->cpu_user_ns, from->cpu_user_ns);
	ck_assert_uint_ge(to->cpu_system_ns, from->cpu_system_ns);
	ck_assert_uint_ge(to->minor_faults, from->minor_faults);
	ck_assert_uint_ge(to->major_faults, from->major_faults);
	ck_assert_uint_ge(to->read_bytes, from->read_bytes);
	ck_assert_uint_ge(to->write_bytes, from->write_bytes);
	ck_assert_uint_ge(to->read_chars, from->read_chars);
	ck_assert_uint_ge(to->write_chars, from->write_chars);
	ck_assert_uint_ge(to->voluntary_switches, from->voluntary_switches);
	ck_assert_uint_ge(to->involuntary_switches, from->involuntary_switches);
	ck_assert_uint_ge(to->peak_rss_bytes, from->peak_rss_bytes);
	ck_assert_uint_ge(to->processes_seen, from->processes_seen);
}

/* The clocks are forgotten so that every row is read: a skipped one would equal itself. */
START_TEST(batch_read_of_stopped_tree_equals_text)
{
	struct rt_metrics text, batch;

	run_members(0);
	take_sample();
	run_members(1);
	family_stop(&fix.family);
	text = take_sample();
	ck_assert_uint_eq(text.source, RT_SOURCE_PROC);
	use_batch_reader_now(fix.tracker);
	forget_clocks(fix.tracker);

	batch = take_sample();

	ck_assert_uint_eq(batch.source, RT_SOURCE_BPF);
	check_equal(&batch, &text);
}
END_TEST

/* Follow the family without reading PSS. */
static struct rt_tracker *track_without_pss(void)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = RT_OPT_NO_MEMORY_READS };
	struct rt_tracker *tracker;

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, get_pid(0), &opts), 0);
	assume_nothing_unseen(tracker);
	return tracker;
}

static struct rt_metrics take_sample_of(struct rt_tracker *tracker)
{
	struct rt_metrics m;

	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	return m;
}

/* Rows have what the estimate is made of: forks, faults, shared pages and the stack. */
START_TEST(estimate_of_memory_by_bpf_equals_that_by_text)
{
	struct rt_tracker *text = track_without_pss(), *batch = track_without_pss();
	struct rt_metrics m, expected;

	forbid_batch_reader(text);
	take_sample_of(batch);
	use_batch_reader_now(batch);
	for (int round = 0; round < 8; round++) {
		family_continue(&fix.family);
		family_tell(&fix.family, 0, FAMILY_GROW, 10);
		run_members(round);
		family_tell(&fix.family, 1 + (size_t)round, FAMILY_COPY, 5);
		if (round > 3)
			family_tell(&fix.family, (size_t)round, FAMILY_EXEC, 0);
		family_grow(&fix.family);
		family_stop(&fix.family);

		m = take_sample_of(batch);
		expected = take_sample_of(text);

		ck_assert_uint_eq(m.source, round ? RT_SOURCE_BPF : m.source);
		ck_assert_uint_eq(expected.source, RT_SOURCE_PROC);
		ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
		ck_assert_uint_ge(m.pss_bytes + MIB, expected.pss_bytes);
		ck_assert_uint_le(m.pss_bytes, expected.pss_bytes + MIB);
		ck_assert_uint_lt(m.pss_bytes, m.rss_bytes * 3 / 4);
	}
	rt_tracker_free(text);
	rt_tracker_free(batch);
}
END_TEST

START_TEST(counters_do_not_fall_when_the_source_changes)
{
	struct rt_metrics before = { 0 }, m;

	for (int round = 0; round < 30; round++) {
		run_members(round);
		if (round % 5 == 4) {
			family_shrink(&fix.family, 1 + (size_t)round / 5);
			family_grow(&fix.family);
		}
		if (round % 10 == 0)
			forbid_batch_reader(fix.tracker);
		if (round % 10 == 4)
			allow_batch_reader(fix.tracker);
		if (round % 10 == 5)
			use_batch_reader_now(fix.tracker);

		m = take_sample();

		ck_assert_uint_eq(m.source, round % 10 >= 5 ? RT_SOURCE_BPF : RT_SOURCE_PROC);
		ck_assert_uint_eq(m.processes, TREE);
		ck_assert_uint_eq(m.reasons & ~RT_REASON_CLOCK_TICKS, 0);
		check_no_fall(&before, &m);
		before = m;
	}
}
END_TEST

START_TEST(tree_of_nine_members_is_read_by_text)
{
	struct rt_metrics m;

	for (size_t i = 1; i < 8; i++)
		family_shrink(&fix.family, i);
	use_batch_reader_now(fix.tracker);
	take_sample();

	m = take_sample();

	ck_assert_uint_eq(m.source, RT_SOURCE_PROC);
	ck_assert(!has_batch_reader(fix.tracker));
}
END_TEST

START_TEST(tree_with_few_text_reads_is_read_by_text)
{
	struct rt_metrics m;

	take_sample();
	ck_assert_uint_eq(get_text_reads(fix.tracker), TREE);
	set_text_reads(fix.tracker, 3990);

	m = take_sample();

	ck_assert_uint_eq(m.source, RT_SOURCE_PROC);
}
END_TEST

START_TEST(idle_tree_with_many_clock_reads_is_read_by_bpf)
{
	struct rt_metrics text, batch;

	family_stop(&fix.family);
	take_sample();
	text = take_sample_after(SOON);
	ck_assert_uint_eq(text.source, RT_SOURCE_PROC);
	ck_assert_uint_eq(get_text_reads(fix.tracker), TREE);
	/* The first sample read the clock of the root, the only member by then. */
	ck_assert_uint_eq(get_clock_reads(fix.tracker), 1 + TREE);
	set_clock_reads(fix.tracker, 100000);

	batch = take_sample_after(SOON);

	ck_assert_uint_eq(batch.source, RT_SOURCE_BPF);
	check_equal(&batch, &text);
}
END_TEST

/* Runs in a fork of the test. Returns 0 if three samples by text equal that of the parent. */
static int compare_in_fork(const struct rt_metrics *parent)
{
	struct rt_metrics m;

	for (int i = 0; i < 3; i++) {
		forget_clocks(fix.tracker);
		fix.now_ns += SECOND;
		if (rt_sample(fix.tracker, &m, sizeof(m)) != 0 || m.source != RT_SOURCE_PROC)
			return 10 + i;
		if (sum_cpu(&m) != sum_cpu(parent) || m.minor_faults != parent->minor_faults ||
		    m.rss_bytes != parent->rss_bytes || m.processes != parent->processes)
			return 20 + i;
	}
	rt_tracker_free(fix.tracker);
	return 0;
}

START_TEST(fork_of_the_caller_reads_text_and_the_caller_goes_on_by_bpf)
{
	struct rt_metrics before, after;
	int status;
	pid_t pid;

	use_batch_reader_now(fix.tracker);
	take_sample();
	run_members(1);
	family_stop(&fix.family);
	before = take_sample();
	ck_assert_uint_eq(before.source, RT_SOURCE_BPF);

	pid = fork();
	if (pid == 0)
		_exit(compare_in_fork(&before));

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);

	family_continue(&fix.family);
	run_members(2);
	after = take_sample();

	ck_assert_uint_eq(after.source, RT_SOURCE_BPF);
	check_no_fall(&before, &after);
	ck_assert_uint_gt(sum_cpu(&after), sum_cpu(&before));
}
END_TEST

START_TEST(row_has_no_field_that_is_not_wanted)
{
	static const struct {
		uint64_t want;
		uint32_t fields;
	} cases[] = {
		{ RT_HAS_IO, RTI_BATCH_IO },
		{ RT_HAS_RSS, RTI_BATCH_RSS },
	};
	const uint64_t want = cases[_i].want;
	const bool has_rss = want == RT_HAS_RSS;
	struct rt_metrics m;

	track_family(1024, want);
	take_sample();
	use_batch_reader_now(fix.tracker);
	run_members(1);
	run_members(2);

	m = take_sample();

	for (size_t i = 0; i < TREE; i++) {
		const struct rti_batch_row *row = get_batch_row(fix.tracker, i);

		ck_assert_uint_eq(row->has & (RTI_BATCH_ALL & ~RTI_BATCH_STATUS), cases[_i].fields);
		ck_assert_int_eq(row->rss_pages > 0, has_rss);
	}
	ck_assert_uint_eq(m.valid, want);
	ck_assert_int_eq(m.rss_bytes > 0, has_rss);
	ck_assert_uint_eq(m.peak_rss_bytes, 0);
	ck_assert_uint_eq(get_member_valid(fix.tracker, get_pid(3)) &
	                      (RT_HAS_IO | RT_HAS_RSS | RT_HAS_PEAK_RSS),
	                  want);
}
END_TEST

static void kill_unrelated(pid_t pid)
{
	kill_process(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Makes a member exit and be waited for, and forks an unrelated process with its pid. Returns that
 * pid, or -EEXIST if another process has it by now. */
static pid_t replace_member(size_t victim)
{
	pid_t pid = get_pid(victim);

	family_shrink(&fix.family, victim);
	return family_fork_as(pid);
}

/* Replaces a new member that has run. Returns the pid. Sets *before to the last sample with the
 * member. */
static pid_t replace_busy_member(struct rt_metrics *before)
{
	pid_t pid = -EEXIST;

	for (int i = 0; i < TRIES && pid == -EEXIST; i++) {
		size_t victim = family_grow(&fix.family);

		family_tell(&fix.family, victim, FAMILY_GROW, 20);
		family_tell(&fix.family, victim, FAMILY_RUN, 20);
		*before = take_sample();
		pid = replace_member(victim);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

/* Replaces a new member that has not run between two samples. Returns the pid. */
static pid_t replace_idle_member(void)
{
	pid_t pid = -EEXIST;

	for (int i = 0; i < TRIES && pid == -EEXIST; i++) {
		size_t victim = family_grow(&fix.family);

		take_sample();
		take_sample();
		pid = replace_member(victim);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

/* Also without a cached file of the member, the descriptor of which would show its exit. */
START_TEST(row_of_unrelated_process_with_pid_of_a_member_is_dropped)
{
	static const uint32_t limits[] = { 1024, 1 };
	struct rt_metrics before, m;
	pid_t pid;

	track_family(limits[_i], 0);
	take_sample();
	use_batch_reader_now(fix.tracker);
	take_sample();
	pid = replace_busy_member(&before);

	m = take_sample();

	ck_assert_uint_eq(m.source, RT_SOURCE_BPF);
	ck_assert(!has_member(fix.tracker, pid));
	ck_assert_uint_eq(m.processes, TREE);
	check_no_fall(&before, &m);
	ck_assert_uint_le(m.rss_bytes, before.rss_bytes - 20 * MIB);
	ck_assert_uint_eq(m.reasons, 0);
	kill_unrelated(pid);
}
END_TEST

/* Stops an unrelated process, and makes the member with its pid look as if it had used just as much
 * CPU time. */
static void match_clock_of_member(pid_t pid)
{
	struct rti_cpu_clock clock = { 0 };
	siginfo_t info;

	ck_assert_int_eq(kill_process(pid, SIGSTOP), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
	ck_assert_int_eq(get_platform(fix.tracker)->cpu_clock(pid, &clock), 0);
	set_read_clock(fix.tracker, pid, clock.total_ns);
}

START_TEST(skipped_row_of_unrelated_process_with_pid_of_a_member_is_dropped)
{
	struct rt_metrics m;
	pid_t pid;

	take_sample();
	use_batch_reader_now(fix.tracker);
	pid = replace_idle_member();
	match_clock_of_member(pid);

	discover_members(fix.tracker);
	ck_assert_uint_gt(count_idle_rows(fix.tracker), 0);
	ck_assert(!is_clock_known(fix.tracker, pid));
	ck_assert(!has_member_row(fix.tracker, pid));

	m = take_sample_after(SOON);
	ck_assert_uint_eq(m.source, RT_SOURCE_BPF);
	ck_assert(!has_member(fix.tracker, pid));
	ck_assert_uint_eq(m.processes, TREE);
	ck_assert_uint_eq(m.reasons, 0);
	kill_unrelated(pid);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("batch read");
	TCase *source = add_batch_case(suite, "source"),
	      *identity = add_batch_case(suite, "identity");

	if (!has_bpf())
		return suite_skip("this system has no BPF batch reader");
	tcase_add_test(source, batch_read_of_stopped_tree_equals_text);
	tcase_add_test(source, estimate_of_memory_by_bpf_equals_that_by_text);
	tcase_add_test(source, counters_do_not_fall_when_the_source_changes);
	tcase_add_test(source, tree_of_nine_members_is_read_by_text);
	tcase_add_test(source, tree_with_few_text_reads_is_read_by_text);
	tcase_add_test(source, idle_tree_with_many_clock_reads_is_read_by_bpf);
	tcase_add_test(source, fork_of_the_caller_reads_text_and_the_caller_goes_on_by_bpf);
	tcase_add_loop_test(source, row_has_no_field_that_is_not_wanted, 0, 2);
	tcase_add_loop_test(identity, row_of_unrelated_process_with_pid_of_a_member_is_dropped, 0,
	                    2);
	tcase_add_test(identity, skipped_row_of_unrelated_process_with_pid_of_a_member_is_dropped);
	return suite_run(suite);
}
