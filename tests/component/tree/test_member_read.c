/* SPDX-License-Identifier: MIT */
/* What of a member is read again and when, and what is said of what is not: of made-up processes
 * whose clocks the test moves, and of real ones against reading everything. */
#include "fake_process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/tracker.h"
#include "family.h"
#include "faults.h"
#include "suite.h"
#include "tree/state.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MIB (UINT64_C(1) << 20)
#define CHILDREN 6
#define TRIES 50
#define ROOTS 3 /* descriptors of the source */

static struct fixture root;
static struct rt_tracker *tracker, *other;
static struct rt_metrics m, all;
static struct family family;
static uint64_t now_ns, own_cpu_ns, clock_ns[CHILDREN + 1];

/* Made-up members have the pids 100 and up; no clock moves by itself. */
static int fake_clock(int32_t pid, struct rti_cpu_clock *out)
{
	if (pid < 100 || pid > 100 + CHILDREN)
		return -ESRCH;
	*out = (struct rti_cpu_clock){ clock_ns[pid - 100], 1, 1 };
	return 0;
}

static void fake_now(struct rti_now *out)
{
	*out = (struct rti_now){ now_ns, now_ns, now_ns };
}

static uint64_t fake_thread_cpu_ns(void)
{
	return own_cpu_ns += 10000;
}

static void set_up(void)
{
	fixture_new(&root);
	tracker = other = NULL;
	now_ns = 1000 * SECOND;
	own_cpu_ns = 0;
	for (int i = 0; i <= CHILDREN; i++)
		clock_ns[i] = MS;
}

static void tear_down(void)
{
	rt_tracker_free(tracker);
	fixture_free(&root);
	ck_assert_uint_eq(faults_open_files(), 0);
}

static struct fake_process parent = {
	.pid = 100,
	.ppid = 1,
	.comm = "sh",
	.minflt = 50,
	.starttime = 1000,
	.rss_pages = 10,
	.pss_kib = 7,
	.hwm_kib = 40,
	.children = "101 102 103 104 105 106 ",
};

static struct fake_process child_of(int i)
{
	return (struct fake_process){
		.pid = 100 + i,
		.ppid = 100,
		.comm = "c",
		.minflt = 5,
		.starttime = 1010,
		.rss_pages = 20,
		.pss_kib = 30,
		.hwm_kib = 80,
		.read_bytes = 1000,
		.voluntary = 3,
		.children = "",
	};
}

/* So many children of 100. */
static void write_tree(int children)
{
	static char list[64];

	list[0] = '\0';
	for (int i = 1; i <= children; i++) {
		struct fake_process child = child_of(i);

		fake_process_write(&root, &child);
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%d ", 100 + i);
	}
	parent.children = list;
	fake_process_write(&root, &parent);
}

static void track_with(struct rt_opts opts)
{
	opts.size = sizeof(opts);
	opts.root = root.root;
	ck_assert_int_eq(rti_tracker_new(&tracker, 100, &opts, &faults_ops), 0);
	tracker->platform.cpu_clock = fake_clock;
	tracker->platform.now = fake_now;
	tracker->platform.thread_cpu_ns = fake_thread_cpu_ns;
}

static void sample_after(uint64_t ns)
{
	now_ns += ns;
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
}

static struct rt_process row_of(int32_t pid)
{
	struct rt_process rows[CHILDREN + 1];
	size_t count = CHILDREN + 1;

	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count), 0);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].pid == pid)
			return rows[i];
	}
	ck_abort_msg("no member %d", pid);
}

static uint64_t pages(uint64_t count)
{
	return count * tracker->platform.page_size;
}

/* A child whose files say all sorts of new things. */
static struct fake_process changed(int i)
{
	struct fake_process child = child_of(i);

	child.rss_pages = 15;
	child.pss_kib = 11;
	child.hwm_kib = 99;
	child.read_bytes = 5000;
	child.voluntary = 8;
	child.minflt = 9;
	return child;
}

START_TEST(who_does_not_run_stays_as_he_was)
{
	struct fake_process child = changed(1);
	struct rt_process before;
	struct rt_metrics first;

	write_tree(2);
	track_with((struct rt_opts){ 0 });
	sample_after(0);
	first = m;
	before = row_of(101);
	fake_process_write(&root, &child);
	for (int i = 0; i < 9; i++) {
		struct rt_process now;

		sample_after(100 * MS);
		now = row_of(101);
		now.pss_age_ns = before.pss_age_ns;
		now.pss_source = before.pss_source;
		ck_assert_mem_eq(&now, &before, sizeof(now));
		ck_assert_uint_eq(m.read_bytes, first.read_bytes);
		ck_assert_uint_eq(m.rss_bytes, first.rss_bytes);
		ck_assert_uint_eq(m.valid, first.valid);
	}
	clock_ns[1]++;
	sample_after(1);
	ck_assert_uint_eq(row_of(101).read_bytes, 5000);
	ck_assert_uint_eq(row_of(101).rss_bytes, pages(15));
	ck_assert_uint_eq(row_of(101).peak_rss_bytes, 99 * 1024);
	ck_assert_uint_eq(row_of(101).voluntary_switches, 8);
	ck_assert_uint_eq(row_of(101).minor_faults, 9);
	ck_assert_uint_eq(row_of(102).read_bytes, 1000);
}
END_TEST

static uint64_t wall_step_ns;

static uint64_t fake_monotonic_ns(void)
{
	return now_ns += wall_step_ns;
}

/* Of CPU time it takes 10 us each time. */
START_TEST(a_quick_sample_is_charged_its_wall_time)
{
	const uint64_t walls_ns[] = { SECOND, 3000, SECOND, SECOND, 4000 };
	const uint64_t charged_ns[] = { 10000, 3000, 100000, 10000, 4000 };

	write_tree(0);
	track_with((struct rt_opts){ .want = RT_HAS_CPU });
	tracker->platform.monotonic_ns = fake_monotonic_ns;
	m.self_cpu_ns = 0;
	for (size_t i = 0; i < 5; i++) {
		uint64_t before_ns = m.self_cpu_ns;

		wall_step_ns = walls_ns[i];
		sample_after(SECOND);
		ck_assert_uint_eq(m.self_cpu_ns - before_ns, charged_ns[i]);
	}
}
END_TEST

START_TEST(rss_is_renewed_after_a_second)
{
	struct fake_process child = changed(1);

	write_tree(1);
	track_with((struct rt_opts){ 0 });
	sample_after(0);
	fake_process_write(&root, &child);
	sample_after(SECOND - 1);
	ck_assert_uint_eq(row_of(101).rss_bytes, pages(20));
	sample_after(1);
	ck_assert_uint_eq(row_of(101).rss_bytes, pages(15));
	ck_assert_uint_eq(m.rss_bytes, pages(25));
	ck_assert_uint_eq(row_of(101).read_bytes, 1000); /* nothing else of it */
	ck_assert_uint_eq(row_of(101).minor_faults, 5);
}
END_TEST

START_TEST(status_is_read_for_a_new_peak_and_now_and_then)
{
	struct fake_process child = child_of(1);

	write_tree(1);
	track_with((struct rt_opts){ 0 });
	sample_after(0);
	child.hwm_kib = 90;
	fake_process_write(&root, &child);
	clock_ns[1]++;
	sample_after(50 * MS); /* RSS does not show it */
	ck_assert_uint_eq(row_of(101).peak_rss_bytes, 80 * 1024);
	child.rss_pages = 80 / 4 + 1;
	child.hwm_kib = 95;
	fake_process_write(&root, &child);
	clock_ns[1]++;
	sample_after(20 * MS); /* RSS is above the last peak */
	ck_assert_uint_eq(row_of(101).peak_rss_bytes, 95 * 1024);
	ck_assert_uint_eq(m.peak_rss_bytes, 95 * 1024);
	child.hwm_kib = 96;
	fake_process_write(&root, &child);
	clock_ns[1]++;
	sample_after(99 * MS);
	ck_assert_uint_eq(row_of(101).peak_rss_bytes, 95 * 1024);
	clock_ns[1]++;
	sample_after(1 * MS);
	ck_assert_uint_eq(row_of(101).peak_rss_bytes, 96 * 1024);
	ck_assert_uint_ne(m.valid & RT_HAS_PEAK_RSS, 0);
}
END_TEST

START_TEST(what_was_put_off_is_made_up_for)
{
	struct fake_process child = child_of(1);

	write_tree(1);
	track_with((struct rt_opts){ 0 });
	sample_after(0);
	child.hwm_kib = 500;
	child.voluntary = 77;
	child.ignores_sigchld = 1;
	fake_process_write(&root, &child);
	clock_ns[1]++;
	sample_after(50 * MS);
	ck_assert_uint_eq(row_of(101).peak_rss_bytes, 80 * 1024);
	sample_after(50 * MS); /* it has not run any more */
	ck_assert_uint_eq(row_of(101).peak_rss_bytes, 500 * 1024);
	ck_assert_uint_eq(row_of(101).voluntary_switches, 77);
	ck_assert_uint_eq(m.reasons, RT_REASON_SIGCHLD_IGNORED);
}
END_TEST

/* Whatever is wanted. */
START_TEST(that_sigchld_is_ignored_is_noticed_in_a_tenth_of_a_second)
{
	struct fake_process child = child_of(1);

	write_tree(1);
	track_with((struct rt_opts){ .want = _i ? RT_HAS_CPU : 0 });
	sample_after(0);
	ck_assert_uint_eq(m.reasons, 0);
	child.ignores_sigchld = 1;
	fake_process_write(&root, &child);
	for (int ms = 0; ms < 100; ms += 10) {
		clock_ns[1]++;
		sample_after(10 * MS);
	}
	ck_assert_uint_eq(m.reasons, RT_REASON_SIGCHLD_IGNORED);
}
END_TEST

static unsigned open_files_of(int32_t pid)
{
	const struct rti_member *member = rti_member_find(&tracker->tree->table, pid);

	return (unsigned)(member->files.stat.fd >= 0) + (unsigned)(member->files.statm.fd >= 0) +
	       (unsigned)(member->files.io.fd >= 0) + (unsigned)(member->files.children.fd >= 0);
}

static void run_child(int i, uint64_t read_bytes)
{
	struct fake_process child = child_of(i);

	child.read_bytes = read_bytes;
	fake_process_write(&root, &child);
	clock_ns[i]++;
}

START_TEST(the_cap_on_descriptors_holds)
{
	static const uint32_t caps[] = { 1, 3, 4, 7, 8, 1024 };
	uint32_t cap = caps[_i];

	write_tree(CHILDREN);
	track_with((struct rt_opts){ .max_fds = cap });
	for (int round = 0; round < 20; round++) {
		for (int i = 1; i <= CHILDREN; i++) {
			if ((round + i) % 3)
				run_child(i, 1000 + (uint64_t)round);
		}
		sample_after(10 * MS);
		/* and what tells of forks */
		ck_assert_uint_le(faults_open_files(), ROOTS + 1 + cap);
		for (int i = 1; i <= CHILDREN; i++) {
			if ((round + i) % 3)
				ck_assert_uint_eq(row_of(100 + i).read_bytes,
				                  1000 + (uint64_t)round);
		}
	}
	if (cap >= 4)
		ck_assert_uint_gt(faults_open_files(), ROOTS);
}
END_TEST

START_TEST(who_does_not_run_gives_up_descriptors)
{
	write_tree(4);
	/* of three: the parent is searched each time */
	track_with((struct rt_opts){ .max_fds = 12 });
	for (int round = 0; round < 4; round++) {
		run_child(1, 2000);
		run_child(2, 2000);
		sample_after(10 * MS);
	}
	ck_assert_uint_gt(open_files_of(100), 0);
	ck_assert_uint_gt(open_files_of(101), 0);
	ck_assert_uint_gt(open_files_of(102), 0);
	ck_assert_uint_eq(open_files_of(103) + open_files_of(104), 0);
	for (int round = 0; round < 4; round++) {
		run_child(3, 3000);
		run_child(4, 3000);
		sample_after(10 * MS);
	}
	ck_assert_uint_eq(open_files_of(101) + open_files_of(102), 0);
	ck_assert_uint_gt(open_files_of(103), 0);
	ck_assert_uint_gt(open_files_of(104), 0);
	ck_assert_uint_eq(row_of(104).read_bytes, 3000);
}
END_TEST

static void run_and_sample(uint64_t read_bytes)
{
	for (int i = 1; i <= CHILDREN; i++)
		run_child(i, read_bytes);
	sample_after(SECOND);
}

/* One who keeps many files needs some samples to come to terms with few. */
START_TEST(with_few_descriptors_all_is_read_all_the_same)
{
	write_tree(CHILDREN);
	track_with((struct rt_opts){ .max_fds = 1024 });
	sample_after(0);
	for (unsigned spare = 3; spare <= 12; spare++) {
		faults_limit_files(ROOTS + spare);
		run_and_sample(1000 + spare);
		for (int i = 0; i < 12 && m.read_bytes != CHILDREN * (1000 + (uint64_t)spare); i++)
			run_and_sample(1000 + spare);
		ck_assert_uint_eq(m.processes, CHILDREN + 1);
		ck_assert_uint_eq(m.read_bytes, CHILDREN * (1000 + (uint64_t)spare));
		ck_assert_uint_le(faults_open_files(), ROOTS + spare);
	}
	faults_limit_files(0);
	run_and_sample(9000);
	run_and_sample(9000);
	ck_assert_uint_eq(m.valid | m.partial, tracker->want);
	ck_assert_uint_eq(m.members_unreadable, 0);
	ck_assert_uint_eq(m.read_bytes, CHILDREN * 9000);
}
END_TEST

START_TEST(pss_is_read_or_carried_on_and_says_so)
{
	struct fake_process child = child_of(1);

	write_tree(1);
	track_with((struct rt_opts){ .pss_share = 1 });
	sample_after(0);
	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	ck_assert_uint_eq(m.pss_age_ns, 0);
	ck_assert_uint_eq(m.pss_bytes, 37 * 1024);
	child.rss_pages = 21;
	child.pss_kib = 32; /* is not looked at */
	fake_process_write(&root, &child);
	clock_ns[1]++;
	tracker->tree->pss.saved_ns = 0;
	sample_after(5 * MS);
	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(m.pss_age_ns, 5 * MS);
	ck_assert_uint_eq(m.pss_bytes, 37 * 1024 + pages(1));
	ck_assert_uint_ne(m.valid & RT_HAS_PSS, 0);
	ck_assert_uint_eq(row_of(101).pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(row_of(101).pss_age_ns, 5 * MS);
	ck_assert_uint_eq(row_of(101).pss_bytes, 30 * 1024 + pages(1));
}
END_TEST

START_TEST(who_was_not_asked_again_says_how_old_his_pss_is)
{
	write_tree(1);
	track_with((struct rt_opts){ .pss_share = 1000 });
	sample_after(0);
	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	sample_after(5 * MS);
	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(m.pss_age_ns, 5 * MS);
	ck_assert_uint_eq(row_of(101).pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(row_of(101).pss_age_ns, 5 * MS);
	clock_ns[1]++;
	sample_after(5 * MS);
	ck_assert_uint_eq(row_of(101).pss_source, RT_PSS_READ);
	ck_assert_uint_eq(row_of(101).pss_age_ns, 0);
	ck_assert_uint_eq(m.pss_age_ns, 10 * MS); /* the parent's */
}
END_TEST

START_TEST(where_pss_was_never_read_rss_stands_in)
{
	write_tree(2);
	track_with((struct rt_opts){ .pss_share = 1 });
	tracker->tree->pss.saved_ns = 0;
	sample_after(0);
	ck_assert_uint_eq(m.pss_source, RT_PSS_ESTIMATED);
	ck_assert_uint_eq(m.pss_bytes, m.rss_bytes);
	ck_assert_uint_eq(m.valid & RT_HAS_PSS, 0);
	ck_assert_uint_eq(m.partial, RT_HAS_PSS);
	ck_assert_uint_eq(m.pss_age_ns, 0);
	ck_assert_uint_eq(m.members_unreadable, 3);
	ck_assert_uint_eq(row_of(102).pss_source, RT_PSS_ESTIMATED);
	ck_assert_uint_eq(row_of(102).pss_bytes, pages(20));
	ck_assert_uint_eq(row_of(102).valid & RT_HAS_PSS, 0);
	ck_assert_int_lt(rt_tracker_status(tracker, RT_HAS_PSS), 0);
	tracker->tree->pss.saved_ns = SECOND;
	sample_after(SECOND);
	ck_assert_uint_eq(m.pss_source, RT_PSS_READ);
	ck_assert_uint_eq(m.pss_bytes, 67 * 1024);
	ck_assert_uint_ne(m.valid & RT_HAS_PSS, 0);
}
END_TEST

START_TEST(the_weakest_source_and_the_oldest_reading_tell_of_the_sum)
{
	write_tree(2);
	track_with((struct rt_opts){ .pss_share = 500 });
	sample_after(0);
	clock_ns[0]++;
	clock_ns[1]++;
	sample_after(SECOND); /* 102 is looked at too, and its PSS holds still */
	ck_assert_uint_eq(row_of(100).pss_source, RT_PSS_READ);
	ck_assert_uint_eq(row_of(101).pss_source, RT_PSS_READ);
	ck_assert_uint_eq(row_of(102).pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(row_of(102).pss_age_ns, SECOND);
	ck_assert_uint_eq(m.pss_source, RT_PSS_CACHED);
	ck_assert_uint_eq(m.pss_age_ns, SECOND);
}
END_TEST

START_TEST(without_pss_there_is_no_source)
{
	write_tree(1);
	track_with((struct rt_opts){ .want = RT_HAS_CPU | RT_HAS_RSS });
	sample_after(0);
	ck_assert_uint_eq(m.pss_source, 0);
	ck_assert_uint_eq(m.pss_age_ns, 0);
	ck_assert_uint_eq(m.pss_bytes, 0);
	ck_assert_uint_eq(row_of(101).pss_source, 0);
	ck_assert_uint_eq(m.source, RT_SOURCE_PROC);
}
END_TEST

static void set_up_real(void)
{
	tracker = other = NULL;
	family.count = 0;
	now_ns = 1000 * SECOND;
}

static void tear_down_real(void)
{
	rt_tracker_free(tracker);
	rt_tracker_free(other);
	family_end(&family);
}

static struct rt_tracker *track_family(uint32_t files_max)
{
	struct rt_opts opts = { .size = sizeof(opts), .max_fds = files_max, .pss_share = 1000 };
	struct rt_tracker *t;

	ck_assert_int_eq(rt_pid_tracker_new(&t, family.member[0].pid, &opts), 0);
	t->platform.now = fake_now;
	return t;
}

static void work(int round)
{
	for (size_t i = 0; i < family.count; i++) {
		if (!family.member[i].pid || (i + (size_t)round) % 3 == 0)
			continue;
		family_tell(&family, i, FAMILY_RUN, 1 + (int32_t)(i % 5));
		family_tell(&family, i, FAMILY_WRITE, 1000 * (int32_t)i);
		family_tell(&family, i, FAMILY_GROW, 1 + (int32_t)(i % 3));
		if (round % 2)
			family_tell(&family, i, FAMILY_SHRINK, 1);
	}
}

/* Others on the machine share the C library with them, and come and go. */
static void check_pss(void)
{
	ck_assert_uint_le(m.pss_bytes, all.pss_bytes + MIB);
	ck_assert_uint_ge(m.pss_bytes + MIB, all.pss_bytes);
	ck_assert_uint_gt(m.pss_bytes, 10 * MIB);
}

/* Neither tracker has seen them do anything since they stopped; the second reads all there is,
 * of files opened anew. */
static void compare_with_reading_all(void)
{
	other = track_family(1);
	other->tree->is_final = true;
	ck_assert_int_eq(rt_sample(other, &all, sizeof(all)), 0);
	ck_assert_uint_eq(m.processes, all.processes);
	ck_assert_uint_eq(m.threads, all.threads);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, all.cpu_user_ns + all.cpu_system_ns);
	ck_assert_uint_eq(m.minor_faults, all.minor_faults);
	ck_assert_uint_eq(m.major_faults, all.major_faults);
	ck_assert_uint_eq(m.rss_bytes, all.rss_bytes);
	check_pss();
	ck_assert_uint_eq(m.peak_rss_bytes, all.peak_rss_bytes);
	ck_assert_uint_eq(m.read_bytes, all.read_bytes);
	ck_assert_uint_eq(m.write_bytes, all.write_bytes);
	ck_assert_uint_eq(m.read_chars, all.read_chars);
	ck_assert_uint_eq(m.write_chars, all.write_chars);
	ck_assert_uint_eq(m.voluntary_switches, all.voluntary_switches);
	ck_assert_uint_eq(m.involuntary_switches, all.involuntary_switches);
}

/* Those that stopped ran for it, so that each is read once more. */
START_TEST(a_busy_tree_is_what_reading_all_of_it_says)
{
	static const uint32_t caps[] = { 4, 8, 1024 };

	family_start(&family, 20);
	tracker = track_family(caps[_i]);
	for (int round = 0; round < 12; round++) {
		work(round);
		sample_after(37 * MS);
	}
	family_stop(&family);
	sample_after(SECOND);
	compare_with_reading_all();
}
END_TEST

START_TEST(a_changing_tree_is_what_reading_all_of_it_says)
{
	family_start(&family, 12);
	tracker = track_family(1024);
	for (int round = 0; round < 10; round++) {
		work(round);
		family_shrink(&family, 2 + (size_t)round);
		family_grow(&family);
		sample_after(37 * MS);
		if (round % 3 == 0)
			ck_assert_int_eq(rt_tracker_glance(tracker), 0);
	}
	family_stop(&family);
	sample_after(SECOND);
	m.peak_rss_bytes = 0; /* those that ended had some too */
	m.voluntary_switches = m.involuntary_switches = 0;
	other = track_family(1);
	other->tree->is_final = true;
	ck_assert_int_eq(rt_sample(other, &all, sizeof(all)), 0);
	ck_assert_uint_eq(m.processes, all.processes);
	ck_assert_uint_eq(m.minor_faults, all.minor_faults);
	ck_assert_uint_eq(m.rss_bytes, all.rss_bytes);
	check_pss();
	ck_assert_uint_eq(m.write_chars, all.write_chars);
	ck_assert_uint_eq(m.reasons, 0);
}
END_TEST

START_TEST(real_processes_that_ignore_sigchld_are_noticed)
{
	family_start(&family, 3);
	tracker = track_family(1024);
	sample_after(0);
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_int_eq(family_tell(&family, 1, FAMILY_IGNORE, 0), 0);
	family_tell(&family, 1, FAMILY_RUN, 2);
	sample_after(100 * MS);
	ck_assert_uint_eq(m.reasons, RT_REASON_SIGCHLD_IGNORED);
}
END_TEST

/* Its files were kept, or read by its pid; a stranger has that now. */
START_TEST(files_of_a_recycled_pid_are_not_believed)
{
	size_t victim = 0;
	pid_t pid = 0, again = -EEXIST;
	struct rt_metrics before;

	family_start(&family, 3);
	tracker = track_family(_i ? 1 : 1024);
	for (int i = 0; i < TRIES && again == -EEXIST; i++) {
		victim = i ? family_grow(&family) : 2;
		family_tell(&family, victim, FAMILY_GROW, 20);
		family_tell(&family, victim, FAMILY_RUN, 20);
		sample_after(SECOND);
		sample_after(SECOND);
		before = m;
		pid = family.member[victim].pid;
		if (_i)
			ck_assert_uint_eq(open_files_of(pid), 0);
		else
			ck_assert_uint_gt(open_files_of(pid), 2);
		family_shrink(&family, victim);
		again = family_fork_as(pid);
	}
	if (again == -EPERM || again == -ENOSYS || again == -EINVAL) {
		printf("# SKIP a recycled pid: clone3() cannot choose one here\n");
		return;
	}
	ck_assert_int_eq(again, pid);
	sample_after(SECOND);
	ck_assert_ptr_null(rti_member_find(&tracker->tree->table, pid));
	ck_assert_uint_eq(m.processes, before.processes - 1);
	ck_assert_uint_ge(m.cpu_user_ns + m.cpu_system_ns,
	                  before.cpu_user_ns + before.cpu_system_ns);
	ck_assert_uint_ge(m.minor_faults, before.minor_faults);
	ck_assert_uint_le(m.rss_bytes, before.rss_bytes - (20 << 20));
	ck_assert_uint_eq(m.reasons, 0);
	kill(again, SIGKILL);
	waitpid(again, NULL, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reading");
	TCase *due = suite_case(suite, "due"), *files = suite_case(suite, "files"),
	      *pss = suite_case(suite, "pss"), *real = suite_case(suite, "real");

	tcase_add_checked_fixture(due, set_up, tear_down);
	tcase_add_checked_fixture(files, set_up, tear_down);
	tcase_add_checked_fixture(pss, set_up, tear_down);
	tcase_add_checked_fixture(real, set_up_real, tear_down_real);
	tcase_add_test(due, who_does_not_run_stays_as_he_was);
	tcase_add_test(due, a_quick_sample_is_charged_its_wall_time);
	tcase_add_test(due, rss_is_renewed_after_a_second);
	tcase_add_test(due, status_is_read_for_a_new_peak_and_now_and_then);
	tcase_add_test(due, what_was_put_off_is_made_up_for);
	tcase_add_loop_test(due, that_sigchld_is_ignored_is_noticed_in_a_tenth_of_a_second, 0, 2);
	tcase_add_loop_test(files, the_cap_on_descriptors_holds, 0, 6);
	tcase_add_test(files, who_does_not_run_gives_up_descriptors);
	tcase_add_test(files, with_few_descriptors_all_is_read_all_the_same);
	tcase_add_test(pss, pss_is_read_or_carried_on_and_says_so);
	tcase_add_test(pss, who_was_not_asked_again_says_how_old_his_pss_is);
	tcase_add_test(pss, where_pss_was_never_read_rss_stands_in);
	tcase_add_test(pss, the_weakest_source_and_the_oldest_reading_tell_of_the_sum);
	tcase_add_test(pss, without_pss_there_is_no_source);
	tcase_add_loop_test(real, a_busy_tree_is_what_reading_all_of_it_says, 0, 3);
	tcase_add_test(real, a_changing_tree_is_what_reading_all_of_it_says);
	tcase_add_test(real, real_processes_that_ignore_sigchld_are_noticed);
	tcase_add_loop_test(real, files_of_a_recycled_pid_are_not_believed, 0, 2);
	return suite_run(suite);
}
