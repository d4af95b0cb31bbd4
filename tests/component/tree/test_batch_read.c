/* SPDX-License-Identifier: MIT */
/* A tree read by text and then by BPF, and back: the same figures, of the same processes, and
 * none that falls. */
#include "family.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/tracker.h"
#include "suite.h"
#include "tree/discovery.h"
#include "tree/member_read.h"

#define TREE 16
#define TRIES 50
#define MIB (UINT64_C(1) << 20)
#define SECOND UINT64_C(1000000000)
#define SOON (SECOND / 50) /* when nothing is due that is not read every time */

static struct family family;
static struct rt_tracker *tracker;
static struct rt_metrics text, swept;
static uint64_t now_ns;

static void fake_now(struct rti_now *out)
{
	*out = (struct rti_now){ now_ns, now_ns, now_ns };
}

static uint64_t fake_monotonic_ns(void)
{
	return now_ns;
}

static void track_some(uint32_t files_max, uint64_t want)
{
	struct rt_opts opts = {
		.size = sizeof(opts), .want = want, .max_fds = files_max, .pss_share = 1000
	};

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, family.member[0].pid, &opts), 0);
	tracker->platform.now = fake_now;
	tracker->platform.monotonic_ns = fake_monotonic_ns;
}

static void track(uint32_t files_max)
{
	track_some(files_max, 0);
}

static void set_up(void)
{
	now_ns = 1000 * SECOND;
	family_start(&family, TREE);
	track(1024);
}

static void tear_down(void)
{
	rt_tracker_free(tracker);
	family_end(&family);
}

static void sample_after(uint64_t ns, struct rt_metrics *out)
{
	now_ns += ns;
	ck_assert_int_eq(rt_sample(tracker, out, sizeof(*out)), 0);
}

static void sample(struct rt_metrics *out)
{
	sample_after(SECOND, out);
}

/* As after some thousand readings. */
static void switch_to_bpf(void)
{
	tracker->tree->batch_reader.text_reads = UINT32_MAX;
}

static void work(int round)
{
	for (size_t i = 0; i < family.count; i++) {
		if (!family.member[i].pid || (i + (size_t)round) % 3 == 0)
			continue;
		family_tell(&family, i, FAMILY_RUN, 1 + (int32_t)(i % 5));
		family_tell(&family, i, FAMILY_WRITE, 1000 * (int32_t)i);
		family_tell(&family, i, FAMILY_GROW, 1);
	}
}

static void check_equal(const struct rt_metrics *a, const struct rt_metrics *b)
{
	ck_assert_uint_eq(a->valid, b->valid);
	ck_assert_uint_eq(a->partial, b->partial);
	ck_assert_uint_eq(a->processes, b->processes);
	ck_assert_uint_eq(a->threads, b->threads);
	ck_assert_uint_eq(a->cpu_user_ns, b->cpu_user_ns);
	ck_assert_uint_eq(a->cpu_system_ns, b->cpu_system_ns);
	ck_assert_uint_eq(a->rss_bytes, b->rss_bytes);
	/* others share the C library with them, and come and go */
	ck_assert_uint_le(a->pss_bytes, b->pss_bytes + MIB);
	ck_assert_uint_ge(a->pss_bytes + MIB, b->pss_bytes);
	ck_assert_uint_eq(a->peak_rss_bytes, b->peak_rss_bytes);
	ck_assert_uint_eq(a->minor_faults, b->minor_faults);
	ck_assert_uint_eq(a->major_faults, b->major_faults);
	ck_assert_uint_eq(a->read_bytes, b->read_bytes);
	ck_assert_uint_eq(a->write_bytes, b->write_bytes);
	ck_assert_uint_eq(a->cancelled_write_bytes, b->cancelled_write_bytes);
	ck_assert_uint_eq(a->read_chars, b->read_chars);
	ck_assert_uint_eq(a->write_chars, b->write_chars);
	ck_assert_uint_eq(a->voluntary_switches, b->voluntary_switches);
	ck_assert_uint_eq(a->involuntary_switches, b->involuntary_switches);
	ck_assert_uint_eq(a->reasons, b->reasons);
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

/* Whoever has not run is left as he is, so that all would be compared with themselves: as if
 * none had been read. */
static void forget_that_they_are_idle(void)
{
	for (size_t i = 0; i < tracker->tree->table.count; i++)
		tracker->tree->table.members[i].read.clock_ns = 0;
}

START_TEST(text_and_rows_say_the_same)
{
	work(0);
	sample(&text);
	work(1);
	family_stop(&family);
	sample(&text);
	ck_assert_uint_eq(text.source, RT_SOURCE_PROC);
	switch_to_bpf();
	forget_that_they_are_idle();
	sample(&swept);
	ck_assert_uint_eq(swept.source, RT_SOURCE_BPF);
	check_equal(&swept, &text);
}
END_TEST

START_TEST(nothing_falls_when_the_source_changes)
{
	struct rt_metrics before = { 0 };

	for (int round = 0; round < 30; round++) {
		work(round);
		if (round % 5 == 4) {
			family_shrink(&family, 1 + (size_t)round / 5);
			family_grow(&family);
		}
		if (round % 10 == 5)
			switch_to_bpf();
		if (round % 10 == 0) { /* by text again */
			rti_batch_reader_free(&tracker->tree->batch_reader);
			tracker->tree->batch_reader.is_unavailable = true;
		} else if (round % 10 == 4) {
			tracker->tree->batch_reader.is_unavailable = false;
		}
		sample(&swept);
		ck_assert_uint_eq(swept.source, round % 10 >= 5 ? RT_SOURCE_BPF : RT_SOURCE_PROC);
		ck_assert_uint_eq(swept.processes, TREE);
		ck_assert_uint_eq(swept.reasons, 0);
		check_no_fall(&before, &swept);
		before = swept;
	}
}
END_TEST

START_TEST(few_members_are_read_by_text)
{
	for (size_t i = 1; i < 8; i++)
		family_shrink(&family, i); /* nine are left */
	switch_to_bpf();
	sample(&text);
	sample(&text);
	ck_assert_uint_eq(text.source, RT_SOURCE_PROC);
	ck_assert_ptr_null(tracker->tree->batch_reader.batch);
}
END_TEST

START_TEST(nor_does_it_start_before_it_pays)
{
	sample(&text);
	ck_assert_uint_eq(tracker->tree->batch_reader.text_reads, TREE);
	tracker->tree->batch_reader.text_reads = 3990;
	sample(&text);
	ck_assert_uint_eq(text.source, RT_SOURCE_PROC);
}
END_TEST

/* Nor where no file is kept that would know. */
START_TEST(a_row_of_a_recycled_pid_is_not_believed)
{
	pid_t pid = 0, again = -EEXIST;

	if (_i) {
		rt_tracker_free(tracker);
		track(1);
	}
	sample(&text);
	switch_to_bpf();
	sample(&swept);
	for (int i = 0; i < TRIES && again == -EEXIST; i++) {
		size_t victim = family_grow(&family);

		family_tell(&family, victim, FAMILY_GROW, 20);
		family_tell(&family, victim, FAMILY_RUN, 20);
		sample(&text);
		pid = family.member[victim].pid;
		family_shrink(&family, victim);
		again = family_fork_as(pid);
	}
	ck_assert_int_eq(again, pid);
	sample(&swept);
	ck_assert_uint_eq(swept.source, RT_SOURCE_BPF);
	ck_assert_ptr_null(rti_member_find(&tracker->tree->table, pid));
	ck_assert_uint_eq(swept.processes, TREE);
	check_no_fall(&text, &swept);
	ck_assert_uint_le(swept.rss_bytes, text.rss_bytes - (20 << 20));
	ck_assert_uint_eq(swept.reasons, 0);
	kill(again, SIGKILL);
	waitpid(again, NULL, 0);
}
END_TEST

/* Of a process that was forked off from the tracker's. Its parent has stopped the tree. */
static int sample_in_child(void)
{
	struct rt_metrics mine;

	for (int i = 0; i < 3; i++) {
		forget_that_they_are_idle();
		now_ns += SECOND;
		if (rt_sample(tracker, &mine, sizeof(mine)) != 0 || mine.source != RT_SOURCE_PROC)
			return 10 + i;
		if (mine.cpu_user_ns + mine.cpu_system_ns !=
		        swept.cpu_user_ns + swept.cpu_system_ns ||
		    mine.minor_faults != swept.minor_faults || mine.rss_bytes != swept.rss_bytes ||
		    mine.processes != swept.processes)
			return 20 + i;
	}
	rt_tracker_free(tracker);
	return 0;
}

START_TEST(after_a_fork_the_child_reads_text_and_both_go_on)
{
	int status;
	pid_t pid;

	switch_to_bpf();
	sample(&swept);
	work(1);
	family_stop(&family);
	sample(&swept);
	ck_assert_uint_eq(swept.source, RT_SOURCE_BPF);
	pid = fork();
	if (pid == 0)
		_exit(sample_in_child());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	family_continue(&family);
	work(2);
	sample(&text);
	ck_assert_uint_eq(text.source, RT_SOURCE_BPF);
	check_no_fall(&swept, &text);
	ck_assert_uint_gt(text.cpu_user_ns + text.cpu_system_ns,
	                  swept.cpu_user_ns + swept.cpu_system_ns);
}
END_TEST

static struct rti_member *member_of(size_t i)
{
	return rti_member_find(&tracker->tree->table, family.member[i].pid);
}

/* How many of the last sweep were not read. Rows are in the order of samples. */
static size_t count_skipped(void)
{
	const struct rti_batch_reader *batch_reader = &tracker->tree->batch_reader;
	size_t count = 0;

	for (size_t i = 0; i < tracker->tree->table.count; i++)
		count +=
		    batch_reader->rows[i].error == 0 && batch_reader->rows[i].has == RTI_BATCH_IDLE;
	return count;
}

/* All are read by BPF, and then stand still. */
static void settle_by_bpf(void)
{
	sample(&text);
	switch_to_bpf();
	work(1);
	family_stop(&family);
	for (int i = 0; i < 2; i++)
		sample(&swept);
	ck_assert_uint_eq(swept.source, RT_SOURCE_BPF);
}

START_TEST(who_is_idle_is_skipped_and_stays_what_the_text_says)
{
	struct rt_metrics later;

	settle_by_bpf();
	ck_assert_uint_eq(count_skipped(), 0); /* RSS was due of all */
	for (int i = 0; i < 3; i++) {
		sample_after(SOON, &later);
		ck_assert_uint_eq(later.source, RT_SOURCE_BPF);
		ck_assert_uint_eq(count_skipped(), TREE);
		check_equal(&later, &swept);
	}
	rti_batch_reader_free(&tracker->tree->batch_reader);
	tracker->tree->batch_reader.is_unavailable = true;
	forget_that_they_are_idle();
	sample(&text);
	check_equal(&later, &text);
}
END_TEST

static uint64_t used_ns(size_t i)
{
	const struct rti_member *m = member_of(i);

	return m->account.self[RTI_CPU_USER] + m->account.self[RTI_CPU_SYSTEM];
}

START_TEST(who_runs_a_little_is_not_skipped)
{
	settle_by_bpf();
	family_continue(&family);
	for (size_t i = 0; i < 3 * TREE; i++) {
		uint64_t before_ns, before_switches;

		sample_after(SOON, &swept);
		before_ns = used_ns(i % TREE);
		before_switches = member_of(i % TREE)->account.self[RTI_VOLUNTARY];
		ck_assert_int_eq(family_tell(&family, i % TREE, FAMILY_RUN, 0), 0);
		family_stop(&family);
		sample_after(SOON, &swept);
		ck_assert_uint_gt(used_ns(i % TREE), before_ns);
		ck_assert_uint_gt(member_of(i % TREE)->account.self[RTI_VOLUNTARY],
		                  before_switches);
		family_continue(&family);
	}
}
END_TEST

START_TEST(when_all_is_to_be_read_nobody_is_skipped)
{
	settle_by_bpf();
	sample_after(SOON, &swept);
	ck_assert_uint_eq(count_skipped(), TREE);
	tracker->tree->is_final = true;
	sample_after(SOON, &swept);
	ck_assert_uint_eq(count_skipped(), 0);
}
END_TEST

/* Others may take pages from him. */
START_TEST(rss_of_who_does_not_run_is_read_each_second)
{
	uint64_t rss_bytes;

	settle_by_bpf();
	rss_bytes = member_of(3)->values.figures.row.rss_bytes;
	member_of(3)->values.figures.row.rss_bytes = 1;
	sample_after(SOON, &text);
	ck_assert_uint_eq(member_of(3)->values.figures.row.rss_bytes, 1);
	sample_after(SECOND, &text);
	ck_assert_uint_eq(count_skipped(), 0);
	ck_assert_uint_eq(member_of(3)->values.figures.row.rss_bytes, rss_bytes);
	check_equal(&text, &swept);
}
END_TEST

/* The same for those who look for peaks. */
START_TEST(a_glance_skips_who_is_idle)
{
	uint64_t rss_bytes;

	settle_by_bpf();
	ck_assert_int_eq(rt_tracker_glance(tracker), 0);
	ck_assert_uint_eq(count_skipped(), 0);
	rss_bytes = member_of(3)->poll.rss_bytes;
	ck_assert_uint_eq(rss_bytes, member_of(3)->values.figures.row.rss_bytes);
	member_of(3)->poll.rss_bytes = 1;
	now_ns += SOON;
	ck_assert_int_eq(rt_tracker_glance(tracker), 0);
	ck_assert_uint_eq(count_skipped(), TREE);
	ck_assert_uint_eq(member_of(3)->poll.rss_bytes, 1);
	now_ns += SECOND;
	ck_assert_int_eq(rt_tracker_glance(tracker), 0);
	ck_assert_uint_eq(count_skipped(), 0);
	ck_assert_uint_eq(member_of(3)->poll.rss_bytes, rss_bytes);
}
END_TEST

/* Though who did it has not run since, and what else status tells is not wanted. */
START_TEST(sigchld_that_is_ignored_comes_to_light)
{
	rt_tracker_free(tracker);
	track_some(1024, RT_HAS_CPU);
	settle_by_bpf();
	family_continue(&family);
	ck_assert_int_eq(family_tell(&family, 3, FAMILY_RUN, 1), 0);
	sample_after(SECOND, &swept);
	ck_assert_int_eq(family_tell(&family, 3, FAMILY_IGNORE, 0), 0);
	family_stop(&family);
	sample_after(SOON, &swept);
	ck_assert_uint_eq(swept.reasons, 0);
	sample_after(SECOND, &swept);
	ck_assert_uint_eq(swept.reasons, RT_REASON_SIGCHLD_IGNORED);
	sample_after(SOON, &swept);
	ck_assert_uint_eq(count_skipped(), TREE);
}
END_TEST

START_TEST(what_is_not_wanted_is_not_asked_for)
{
	rt_tracker_free(tracker);
	track_some(1024, _i ? RT_HAS_RSS : RT_HAS_IO);
	sample(&text);
	switch_to_bpf();
	work(1);
	work(2);
	sample(&swept);
	for (size_t i = 0; i < TREE; i++) {
		const struct rti_batch_row *row = &tracker->tree->batch_reader.rows[i];

		ck_assert_uint_eq(row->has & ~(RTI_BATCH_STATUS | RTI_BATCH_IGNORES_SIGCHLD),
		                  _i ? RTI_BATCH_RSS : RTI_BATCH_IO);
		ck_assert_int_eq(row->rss_pages > 0, _i);
	}
	ck_assert_uint_eq(swept.valid, _i ? RT_HAS_RSS : RT_HAS_IO);
	ck_assert_int_eq(swept.rss_bytes > 0, _i);
	ck_assert_uint_eq(swept.peak_rss_bytes, 0);
	ck_assert_uint_eq(member_of(3)->values.figures.valid &
	                      (RT_HAS_IO | RT_HAS_RSS | RT_HAS_PEAK_RSS),
	                  swept.valid);
}
END_TEST

/* The stranger has used just as much as the member had. */
static void make_alike(struct rti_member *m)
{
	struct rti_cpu_clock clock = { 0 };
	siginfo_t info;

	ck_assert_int_eq(kill(m->pid, SIGSTOP), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)m->pid, &info, WSTOPPED), 0);
	ck_assert_int_eq(tracker->platform.cpu_clock(m->pid, &clock), 0);
	m->read.clock_ns = m->values.row_status.clock_ns = clock.total_ns;
	for (size_t i = 0; i < RTI_PID_COLLECTORS_MAX; i++)
		m->values.read[i].clock_ns = clock.total_ns;
}

START_TEST(a_skipped_row_of_a_recycled_pid_is_not_believed)
{
	pid_t pid = 0, again = -EEXIST;

	sample(&text);
	switch_to_bpf();
	for (int i = 0; i < TRIES && again == -EEXIST; i++) {
		size_t victim = family_grow(&family);

		for (int j = 0; j < 2; j++)
			sample(&swept);
		pid = family.member[victim].pid;
		family_shrink(&family, victim);
		again = family_fork_as(pid);
	}
	ck_assert_int_eq(again, pid);
	make_alike(rti_member_find(&tracker->tree->table, pid));
	rti_discover_members(tracker->tree, rti_ask_for_sample);
	ck_assert_uint_gt(count_skipped(), 0);
	ck_assert_int_eq(rti_member_find(&tracker->tree->table, pid)->clock.is_known, false);
	ck_assert_ptr_null(rti_member_find(&tracker->tree->table, pid)->clock.row);
	sample_after(SOON, &swept);
	ck_assert_uint_eq(swept.source, RT_SOURCE_BPF);
	ck_assert_ptr_null(rti_member_find(&tracker->tree->table, pid));
	ck_assert_uint_eq(swept.processes, TREE);
	ck_assert_uint_eq(swept.reasons, 0);
	kill(again, SIGKILL);
	waitpid(again, NULL, 0);
}
END_TEST

START_TEST(a_tree_that_never_runs_is_read_by_bpf_too)
{
	family_stop(&family);
	sample(&text);
	sample_after(SOON, &text);
	ck_assert_uint_eq(text.source, RT_SOURCE_PROC);
	ck_assert_uint_eq(tracker->tree->batch_reader.text_reads, TREE);
	/* the root is known from the start */
	ck_assert_uint_eq(tracker->tree->batch_reader.clock_reads, 1 + TREE);
	tracker->tree->batch_reader.clock_reads = 100000;
	sample_after(SOON, &swept);
	ck_assert_uint_eq(swept.source, RT_SOURCE_BPF);
	check_equal(&swept, &text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sweep");
	TCase *tcase = suite_case(suite, "sweep");
	struct rti_batch *batch;

	if (rti_batch_open(&batch) < 0)
		return suite_skip("BPF cannot be had here");
	rti_batch_close(batch);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, text_and_rows_say_the_same);
	tcase_add_test(tcase, nothing_falls_when_the_source_changes);
	tcase_add_test(tcase, few_members_are_read_by_text);
	tcase_add_test(tcase, nor_does_it_start_before_it_pays);
	tcase_add_loop_test(tcase, a_row_of_a_recycled_pid_is_not_believed, 0, 2);
	tcase_add_test(tcase, after_a_fork_the_child_reads_text_and_both_go_on);
	tcase_add_test(tcase, who_is_idle_is_skipped_and_stays_what_the_text_says);
	tcase_add_test(tcase, who_runs_a_little_is_not_skipped);
	tcase_add_test(tcase, when_all_is_to_be_read_nobody_is_skipped);
	tcase_add_test(tcase, rss_of_who_does_not_run_is_read_each_second);
	tcase_add_test(tcase, a_glance_skips_who_is_idle);
	tcase_add_test(tcase, sigchld_that_is_ignored_comes_to_light);
	tcase_add_loop_test(tcase, what_is_not_wanted_is_not_asked_for, 0, 2);
	tcase_add_test(tcase, a_skipped_row_of_a_recycled_pid_is_not_believed);
	tcase_add_test(tcase, a_tree_that_never_runs_is_read_by_bpf_too);
	return suite_run(suite);
}
