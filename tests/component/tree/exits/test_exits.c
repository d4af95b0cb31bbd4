/* SPDX-License-Identifier: MIT */
/* Members that exit between two samples or in the middle of one: where their usage goes, and that
 * it is counted once. */
#include "tree/tree_fixture.h"

#include <errno.h>

#include "tree/tree_inside.h"

/* The shell once it has reaped its first child: its accounts hold all that was read of the
 * child. */
static struct fake_process make_reaper(void)
{
	struct fake_process reaper = shell;

	reaper.cutime = first_child.utime;
	reaper.cstime = first_child.stime;
	reaper.cminflt = first_child.minflt;
	reaper.read_bytes += first_child.read_bytes;
	reaper.write_bytes += first_child.write_bytes;
	reaper.children = "102 ";
	return reaper;
}

/* The first child used another user tick, two faults and 512 bytes after the first sample. */
START_TEST(child_reaped_between_samples_is_counted_once)
{
	struct fake_process parent = make_reaper();
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	parent.cutime += 1;
	parent.cminflt += 2;
	parent.write_bytes += 512;
	fake_process_write(&fix.root, &parent);
	fake_process_remove(&fix.root, 101);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.processes_seen, 3);
	ck_assert_uint_eq(m.cpu_user_ns, 1027 * TICK_NS);
	ck_assert_uint_eq(m.minor_faults, 127);
	ck_assert_uint_eq(m.read_bytes, 5120);
	ck_assert_uint_eq(m.write_bytes, 2560 + 512);
	ck_assert_uint_eq(m.reasons, 0);
	/* No account holds the switches and the peak that it had after the last read. */
	ck_assert_uint_eq(m.partial, RT_HAS_CTXSW | RT_HAS_PEAK_RSS | RT_HAS_PEAK_FOOTPRINT |
	                                 RT_HAS_PEAK_NEEDED | RT_HAS_PROCESSES_SEEN);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_CTXSW), -ENODATA);
}
END_TEST

/* The shell is the supervisor. The peak of the first child at the last read was 100 KiB. */
static struct rt_metrics sample_after_exit(int64_t maxrss_kib, int64_t inherited_kib)
{
	static const struct rti_shared_stats shared;
	const struct fake_process parent = make_reaper();
	const struct rt_rusage reaped = rusage_of(&first_child, maxrss_kib);

	write_family();
	track_process(100, 0);
	make_supervisor(fix.tracker, 100, &shared);
	take_sample();
	fake_process_write(&fix.root, &parent);
	fake_process_remove(&fix.root, 101);
	apply_final_account(fix.tracker, &reaped, inherited_kib);
	return take_sample();
}

/* What it reaped was never read: stat would have it in ticks. */
START_TEST(cpu_time_that_the_root_reaped_is_that_of_wait4)
{
	const uint64_t user_ns = 12123456789, system_ns = 98765432;
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	m = take_sample();
	account_root_exit(fix.tracker, 100, (double)user_ns / 1e9, (double)system_ns / 1e9);
	fake_process_remove(&fix.root, 100);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns, user_ns + 21 * TICK_NS);
	ck_assert_uint_eq(m.cpu_system_ns, system_ns + 11 * TICK_NS);
}
END_TEST

START_TEST(peak_of_exited_process_is_that_of_the_final_account)
{
	struct rt_metrics m = sample_after_exit(2000, 1000);

	ck_assert_uint_eq(m.peak_rss_bytes, 2000 * 1024);
	ck_assert_uint_ne(m.valid & RT_HAS_PEAK_RSS, 0);
}
END_TEST

START_TEST(peak_that_an_inherited_one_hides_is_a_lower_bound)
{
	struct rt_metrics m = sample_after_exit(1000, 1000);

	ck_assert_uint_eq(m.peak_rss_bytes, 100 * 1024);
	ck_assert_uint_eq(m.valid & RT_HAS_PEAK_RSS, 0);
	ck_assert_uint_ne(m.partial & RT_HAS_PEAK_RSS, 0);
}
END_TEST

START_TEST(peak_that_reaches_the_inherited_one_is_final)
{
	struct rt_metrics m = sample_after_exit(100, 1000);

	ck_assert_uint_eq(m.peak_rss_bytes, 100 * 1024);
	ck_assert_uint_ne(m.valid & RT_HAS_PEAK_RSS, 0);
}
END_TEST

START_TEST(child_auto_reaped_between_samples_stays_in_the_total_with_a_reason)
{
	struct fake_process parent = shell;
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	parent.ignores_sigchld = true;
	parent.children = "102 ";
	fake_process_write(&fix.root, &parent);
	fake_process_remove(&fix.root, 101);

	m = take_sample();

	ck_assert_uint_eq(m.cpu_user_ns, 1026 * TICK_NS);
	ck_assert_uint_eq(m.read_bytes, 5120);
	ck_assert_uint_eq(m.reasons, RT_REASON_UNWAITED | RT_REASON_SIGCHLD_IGNORED);
}
END_TEST

/* Its parent has reaped it, and a read of its stat still succeeds, but shows no parent and no
 * usage. */
START_TEST(child_being_released_by_the_kernel_counts_as_exited)
{
	struct fake_process parent = make_reaper();
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	parent.children = shell.children;
	fake_process_write(&fix.root, &parent);
	fixture_write(&fix.root, "proc/101/stat",
	              "101 (a) R 1) Z 0 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 0 0 1010 0 0\n");

	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns, 1026 * TICK_NS);
	ck_assert_uint_eq(m.minor_faults, 125);
	ck_assert_uint_eq(m.reasons, 0);
}
END_TEST

/* No member is left that could be read, and the total is 0 all the same. */
START_TEST(unreadable_io_of_a_process_that_has_ended_is_no_valid_zero)
{
	struct rt_metrics m;

	fake_process_write(&fix.root, &first_child);
	track_process(101, 0);
	faults_on_open("101/io", -EACCES);
	take_sample();
	fake_process_remove(&fix.root, 101);

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(try_sample(&m), -ESRCH);

	ck_assert_uint_eq(m.valid & RT_HAS_IO, 0);
	ck_assert_uint_eq(m.partial & RT_HAS_IO, RT_HAS_IO);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_IO), -EACCES);
}
END_TEST

/* Its parent has reaped it, and the parent's own count has what the child wrote. */
START_TEST(unreadable_io_of_a_reaped_child_is_in_that_of_its_parent)
{
	struct fake_process parent = make_reaper();
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	faults_on_open("101/io", -EACCES);
	m = take_sample();
	ck_assert_uint_eq(m.valid & RT_HAS_IO, 0);
	fake_process_write(&fix.root, &parent);
	fake_process_remove(&fix.root, 101);

	m = take_sample();

	ck_assert_uint_eq(m.valid & RT_HAS_IO, RT_HAS_IO);
	ck_assert_uint_eq(m.read_bytes, 5120);
}
END_TEST

static void reap_first_child(void *arg)
{
	struct fake_process parent = make_reaper();

	(void)arg;
	fake_process_write(&fix.root, &parent);
	fake_process_remove(&fix.root, 101);
}

START_TEST(child_reaped_after_its_read_and_before_that_of_its_parent_is_counted_once)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	faults_before_open("100/status", reap_first_child, NULL);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns, 1026 * TICK_NS);
	ck_assert_uint_eq(m.cpu_system_ns, 14 * TICK_NS);
	ck_assert_uint_eq(m.read_bytes, 5120);
	ck_assert_uint_eq(m.minor_faults, 125);
}
END_TEST

/* 0: the process is gone. */
static uint64_t first_child_clock_ns;

static int read_test_clock(int32_t pid, struct rti_cpu_clock *out)
{
	uint64_t ns = pid == 100 ? 1008 * TICK_NS : pid == 101 ? first_child_clock_ns : 2 * TICK_NS;

	if (ns == 0)
		return -ESRCH;
	*out = (struct rti_cpu_clock){ ns, ns, ns };
	return 0;
}

static void reap_first_child_and_refuse_its_stat(void *clock_ns)
{
	struct fake_process parent = make_reaper(), unrelated = first_child;

	first_child_clock_ns = *(const uint64_t *)clock_ns;
	fake_process_write(&fix.root, &parent);
	unrelated.starttime = 9999;
	fake_process_write(&fix.root, &unrelated);
	faults_on_open("101/stat", -EMFILE);
}

/* Its clock is gone, or is that of a process with its pid, which has used less. */
START_TEST(reaped_child_with_refused_stat_is_counted_once_by_its_clock)
{
	static uint64_t clocks_ns[] = { 0, 1 };
	struct rt_metrics m;

	first_child_clock_ns = 30 * TICK_NS;
	write_family();
	track_process(100, 0);
	get_platform(fix.tracker)->cpu_clock = read_test_clock;
	take_sample();
	forget_clocks(fix.tracker);
	faults_before_open("100/status", reap_first_child_and_refuse_its_stat, &clocks_ns[_i]);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 1040 * TICK_NS);
	ck_assert_uint_eq(m.minor_faults, 125);
	/* A process that has the pid may be a new child. */
	ck_assert_int_eq((m.valid & RT_HAS_CPU) != 0, _i == 0);
}
END_TEST

/* No member is above it that could have reaped it. Its child then uses five ticks. */
START_TEST(what_a_root_with_refused_stat_was_seen_to_use_stays_when_it_ends)
{
	struct fake_process child = first_child;
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	faults_on_open("100/stat", -EACCES);
	take_sample();
	faults_on_open("100/stat", 0);
	fake_process_remove(&fix.root, 100);
	child.utime += 5;
	child.ppid = 1;
	fake_process_write(&fix.root, &child);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 1045 * TICK_NS);
	ck_assert_uint_eq(m.partial & RT_HAS_CPU, RT_HAS_CPU);
}
END_TEST

/* The child, the largest of the tree, grew to 900 KiB after the first sample. */
START_TEST(peak_read_of_a_child_that_is_reaped_in_the_same_sample_counts)
{
	struct fake_process grown = first_child;

	write_family();
	track_process(100, 0);
	ck_assert_uint_eq(take_sample().peak_rss_bytes, 100 * 1024);
	grown.hwm_kib = 900;
	fake_process_write(&fix.root, &grown);
	faults_before_open("100/status", reap_first_child, NULL);

	ck_assert_uint_eq(take_sample().peak_rss_bytes, 900 * 1024);
}
END_TEST

/* Members are read from the last to the first, so 102 was read before. */
START_TEST(child_reaped_between_reads_of_its_files_is_counted_once)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	faults_before_open("101/io", reap_first_child, NULL);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns, 1026 * TICK_NS);
	ck_assert_uint_eq(m.minor_faults, 125);
	ck_assert_uint_eq(m.reasons, 0);
}
END_TEST

/* The child read another 700 bytes before it exited. */
static void reap_first_child_after_io(void *arg)
{
	struct fake_process parent = make_reaper();

	reap_first_child(arg);
	parent.read_bytes += 700;
	fake_process_write(&fix.root, &parent);
}

/* stat of the parent shows the reaped child, but io was read before that. */
START_TEST(parent_that_reaps_between_reads_of_its_files_is_read_again)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	faults_before_open("100/stat", reap_first_child_after_io, NULL);

	m = take_sample();

	ck_assert_uint_eq(m.read_bytes, 5120 + 700);
	ck_assert_uint_eq(m.cpu_user_ns, 1026 * TICK_NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exits");
	TCase *between = add_tree_case(suite, "between samples"),
	      *during = add_tree_case(suite, "during a sample");

	tcase_add_test(between, cpu_time_that_the_root_reaped_is_that_of_wait4);
	tcase_add_test(between, child_reaped_between_samples_is_counted_once);
	tcase_add_test(between, peak_of_exited_process_is_that_of_the_final_account);
	tcase_add_test(between, peak_that_an_inherited_one_hides_is_a_lower_bound);
	tcase_add_test(between, peak_that_reaches_the_inherited_one_is_final);
	tcase_add_test(between, child_auto_reaped_between_samples_stays_in_the_total_with_a_reason);
	tcase_add_test(between, child_being_released_by_the_kernel_counts_as_exited);
	tcase_add_test(between, unreadable_io_of_a_process_that_has_ended_is_no_valid_zero);
	tcase_add_test(between, unreadable_io_of_a_reaped_child_is_in_that_of_its_parent);
	tcase_add_test(during,
	               child_reaped_after_its_read_and_before_that_of_its_parent_is_counted_once);
	tcase_add_loop_test(during, reaped_child_with_refused_stat_is_counted_once_by_its_clock, 0,
	                    2);
	tcase_add_test(during, what_a_root_with_refused_stat_was_seen_to_use_stays_when_it_ends);
	tcase_add_test(during, child_reaped_between_reads_of_its_files_is_counted_once);
	tcase_add_test(between, peak_read_of_a_child_that_is_reaped_in_the_same_sample_counts);
	tcase_add_test(during, parent_that_reaps_between_reads_of_its_files_is_read_again);
	return suite_run(suite);
}
