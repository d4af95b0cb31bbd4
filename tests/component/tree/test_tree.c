/* SPDX-License-Identifier: MIT */
/* The figures of a process tree below a fixture root: sums over its members, and what members in
 * special states add to them. */
#include "tree_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tree_inside.h"

START_TEST(tree_of_three_processes_yields_sums)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 3);
	ck_assert_uint_eq(m.threads, 3);
	ck_assert_uint_eq(m.cpu_user_ns, 1026 * TICK_NS);
	ck_assert_uint_eq(m.cpu_system_ns, 14 * TICK_NS);
	ck_assert_uint_eq(m.cpu_resolution_ns, TICK_NS);
	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(33));
	ck_assert_uint_eq(m.pss_bytes, 39 * 1024);
	ck_assert_uint_eq(m.peak_rss_bytes, 100 * 1024);
	ck_assert_uint_eq(m.read_bytes, 5120);
	ck_assert_uint_eq(m.write_bytes, 2560);
	ck_assert_uint_eq(m.minor_faults, 125);
	ck_assert_uint_eq(m.voluntary_switches, 10);
	ck_assert_uint_eq(m.partial,
	                  RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED |
	                      RT_HAS_PROCESSES_SEEN); /* it may have been higher before */
	ck_assert_uint_eq(m.valid | m.partial, get_wanted(fix.tracker));
	ck_assert_int_eq((int)m.rusage.ru_oublock, 5);
}
END_TEST

START_TEST(tree_of_three_processes_yields_a_row_for_each)
{
	struct rt_process rows[4];
	size_t count = 4;

	write_family();
	track_process(100, 0);
	take_sample();

	ck_assert_int_eq(rt_tracker_processes(fix.tracker, rows, sizeof(rows[0]), &count), 0);

	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(rows[0].pid, 100);
	ck_assert_str_eq(rows[1].comm, "a) R 1");
	ck_assert_str_eq(rows[2].comm, "");
	ck_assert_uint_eq(rows[1].start_ticks, 1010);
}
END_TEST

/* How many files the first sample opens of a tree. The child of its root has so many children. */
static unsigned count_first_opens(int grandchildren)
{
	struct fake_process root = shell, child = shell, grandchild = shell;
	struct rt_opts opts = { .size = sizeof(opts), .want = RT_HAS_CPU | RT_HAS_PROCESSES };
	char children[64] = "";
	unsigned opens;

	root.children = "101";
	child.pid = 101;
	child.ppid = 100;
	grandchild.ppid = 101;
	grandchild.children = "";
	for (grandchild.pid = 102; grandchild.pid < 102 + grandchildren; grandchild.pid++) {
		snprintf(children + strlen(children), 16, "%d ", grandchild.pid);
		fake_process_write(&fix.root, &grandchild);
	}
	child.children = children;
	fake_process_write(&fix.root, &child);
	fake_process_write(&fix.root, &root);
	opts.root = fix.root.root;
	ck_assert_int_eq(rti_tracker_new(&fix.tracker, 100, &opts, &faults_ops), 0);
	assume_nothing_unseen(fix.tracker);
	opens = faults_opens();
	ck_assert_uint_eq(take_sample().processes, 2 + (unsigned)grandchildren);
	opens = faults_opens() - opens;
	rt_tracker_free(fix.tracker);
	fix.tracker = NULL;
	return opens;
}

/* Its parent has to be there once stat of a member has been read, which a cached file proves. */
START_TEST(first_sample_opens_each_file_of_a_member_once)
{
	unsigned of_one = count_first_opens(1);

	/* stat and children */
	ck_assert_uint_eq(count_first_opens(4) - of_one, 3 * 2);
}
END_TEST

START_TEST(process_tracked_alone_excludes_children)
{
	struct fake_process parent = shell;
	struct rt_metrics m;

	parent.cminflt = 1000;
	parent.cutime = 500;
	fake_process_write(&fix.root, &parent);
	fake_process_write(&fix.root, &first_child);
	track_process(100, RT_OPT_NO_CHILDREN);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.cpu_user_ns, 1005 * TICK_NS);
	ck_assert_uint_eq(m.minor_faults, 50);
	ck_assert_uint_eq(m.read_bytes, 4096);
}
END_TEST

/* Without CPU clocks, a process has two times in whole ticks, and two more if it has reaped. E.g.:
 * 199 ticks were read, and almost 201 may have been used. */
START_TEST(cpu_time_is_a_lower_bound_if_ticks_hide_more_than_a_hundredth)
{
	static const struct {
		uint64_t ticks;
		bool has_reaped;
		uint32_t flags;
		bool is_complete;
	} cases[] = {
		{ 199, false, 0, false },
		{ 200, false, 0, true },
		{ 399, true, 0, false },
		{ 400, true, 0, true },
		{ 200, true, RT_OPT_NO_CHILDREN, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_process alone = shell;
		struct rt_metrics m;

		alone.children = "";
		alone.stime = 0;
		alone.utime = cases[i].ticks;
		alone.cminflt = cases[i].has_reaped;
		fake_process_write(&fix.root, &alone);
		track_process(100, cases[i].flags);
		m = take_sample();

		ck_assert((m.valid & RT_HAS_CPU) == (cases[i].is_complete ? RT_HAS_CPU : 0));
		ck_assert((m.partial & RT_HAS_CPU) == (cases[i].is_complete ? 0 : RT_HAS_CPU));
		ck_assert_uint_eq(m.reasons, cases[i].is_complete ? 0 : RT_REASON_CLOCK_TICKS);
		rt_tracker_free(fix.tracker);
		fix.tracker = NULL;
	}
}
END_TEST

static struct rti_reaped_use use_of_caller;

static void get_use_of_caller(struct rti_reaped_use *out)
{
	*out = use_of_caller;
}

static int32_t be_the_shell(void)
{
	return 100;
}

/* stat had two page faults, and 20 and 10 ticks. If a child was reaped after stat was read, the
 * more exact times are of one process more. */
START_TEST(what_the_caller_reaped_is_exact_if_it_is_of_the_same_children)
{
	static const struct {
		struct rti_reaped_use use;
		bool is_same;
	} cases[] = {
		{ { 20 * TICK_NS + 1000, 10 * TICK_NS + 9999000, 2, 0 }, true },
		{ { 20 * TICK_NS + 1000, 10 * TICK_NS, 3, 0 }, false },
		{ { 20 * TICK_NS + 1000, 10 * TICK_NS, 2, 1 }, false },
		{ { 21 * TICK_NS, 10 * TICK_NS, 2, 0 }, false },
		{ { 20 * TICK_NS, 11 * TICK_NS, 2, 0 }, false },
	};
	struct fake_process caller = shell;
	struct rt_metrics m;
	uint64_t reaped_ns = 30 * TICK_NS;

	caller.children = "";
	caller.cminflt = 2;
	caller.cutime = 20;
	caller.cstime = 10;
	fake_process_write(&fix.root, &caller);
	track_process(100, 0);
	use_of_caller = cases[_i].use;
	get_platform(fix.tracker)->reaped_use = get_use_of_caller;
	get_platform(fix.tracker)->getpid = be_the_shell;

	m = take_sample();

	if (cases[_i].is_same)
		reaped_ns = use_of_caller.user_ns + use_of_caller.system_ns;
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 1008 * TICK_NS + reaped_ns);
}
END_TEST

/* A child that no sample saw may have had a larger peak than all that they saw. */
START_TEST(peak_of_process_that_has_reaped_is_a_lower_bound)
{
	struct fake_process parent = shell;
	struct rt_metrics m;

	parent.children = "";
	parent.cminflt = 1;
	fake_process_write(&fix.root, &parent);
	track_process(100, _i ? RT_OPT_NO_CHILDREN : 0);

	m = take_sample();

	ck_assert_uint_eq(m.peak_rss_bytes, shell.hwm_kib * 1024);
	ck_assert((m.valid & RT_HAS_PEAK_RSS) == (_i ? RT_HAS_PEAK_RSS : 0));
	ck_assert((m.partial & RT_HAS_PEAK_RSS) == (_i ? 0 : RT_HAS_PEAK_RSS));
}
END_TEST

START_TEST(domain_that_is_not_wanted_is_not_read)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .root = fix.root.root,
		                      .want = RT_HAS_CPU };
	struct rt_metrics m;

	write_family();
	ck_assert_int_eq(rti_tracker_new(&fix.tracker, 100, &opts, &faults_ops), 0);
	assume_nothing_unseen(fix.tracker);
	faults_on_open("smaps_rollup", -EIO);
	faults_on_open("/io", -EIO);
	faults_on_open("statm", -EIO);

	m = take_sample();

	ck_assert_uint_eq(m.valid, RT_HAS_CPU);
	ck_assert_uint_eq(m.partial, 0);
	ck_assert_uint_eq(m.cpu_user_ns, 1026 * TICK_NS);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_IO), -EOPNOTSUPP);
}
END_TEST

START_TEST(zombie_has_no_memory_and_keeps_its_other_figures)
{
	struct fake_process zombie = first_child;
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	zombie.is_zombie = true;
	fake_process_write(&fix.root, &zombie);
	faults_on_open("101/smaps_rollup", -ESRCH);

	m = take_sample();

	ck_assert_uint_eq(m.processes, 3);
	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(13));
	ck_assert_uint_eq(m.pss_bytes, 9 * 1024);
	ck_assert_uint_eq(m.peak_rss_bytes, 100 * 1024);
	ck_assert_uint_eq(m.valid | m.partial, get_wanted(fix.tracker));
	ck_assert_uint_eq(m.partial, RT_HAS_PEAK_RSS | RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED |
	                                 RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(m.cpu_user_ns, 1026 * TICK_NS);
}
END_TEST

START_TEST(zombie_that_was_never_read_alive_has_no_peak_rss)
{
	struct fake_process zombie = second_child;
	struct rt_metrics m;

	zombie.is_zombie = true;
	fake_process_write(&fix.root, &zombie);
	track_process(102, 0);

	ck_assert_int_eq(try_sample(&m), -ESRCH);

	ck_assert_uint_eq((m.valid | m.partial) & RT_HAS_PEAK_RSS, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PEAK_RSS), -ENODATA);
}
END_TEST

/* The leader of process 100 has exited, and its thread 150 still has the address space. */
static void write_zombie_leader_with_thread(void)
{
	fake_process_write(&fix.root, &shell);
	fixture_write(&fix.root, "proc/100/stat",
	              "100 (sh) Z 1 1 1 0 -1 0 50 0 0 0 5 3 0 0 20 0 2 0 1000 0 0\n");
	fixture_write(&fix.root, "proc/100/statm", "0 0 0 0 0 0 0\n");
	fixture_write(&fix.root, "proc/100/task/150/stat",
	              "150 (sh) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 1000\n");
	fixture_write(&fix.root, "proc/100/task/150/status",
	              "VmHWM:\t 88 kB\nvoluntary_ctxt_switches:\t1\n"
	              "nonvoluntary_ctxt_switches:\t1\n");
	fixture_write(&fix.root, "proc/100/task/150/statm", "1000 77 10 1 0 100 0\n");
	fixture_write(&fix.root, "proc/100/task/150/smaps_rollup", "x\nRss: 60 kB\nPss: 55 kB\n");
	fixture_write(&fix.root, "proc/100/task/150/smaps",
	              "1000-2000 rw-p 0 0:0 0\nRss: 60 kB\nAnonymous: 60 kB\n");
}

START_TEST(zombie_leader_with_live_thread_has_the_memory_of_the_thread)
{
	struct rt_metrics m;

	write_zombie_leader_with_thread();
	track_process(100, 0);

	m = take_sample();

	ck_assert_uint_eq(m.rss_bytes, pages_to_bytes(77));
	ck_assert_uint_eq(m.pss_bytes, 55 * 1024);
	ck_assert_uint_eq(m.peak_rss_bytes, 88 * 1024);
}
END_TEST

START_TEST(kernel_thread_has_no_memory_figures)
{
	struct rt_metrics m;

	fake_process_write(&fix.root, &shell);
	fixture_write(
	    &fix.root, "proc/100/stat",
	    "100 (kworker/0:1-events) I 2 0 0 0 -1 69238880 0 0 0 0 0 9 0 0 20 0 1 0 24 0 0\n");
	track_process(100, 0);

	m = take_sample();

	ck_assert_uint_eq((m.valid | m.partial | m.estimated) &
	                      (RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS | RT_HAS_PEAK_FOOTPRINT |
	                       RT_HAS_PEAK_NEEDED),
	                  0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_RSS), -EOPNOTSUPP);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), -EOPNOTSUPP);
	ck_assert_uint_eq(m.cpu_system_ns, 9 * TICK_NS);
}
END_TEST

/* stat has 90 faults, of which the live thread had 50. The rest is that of threads that exited,
 * and took their context switches along. */
START_TEST(process_with_exited_threads_has_partial_switches)
{
	struct rt_metrics m;

	fake_process_write(&fix.root, &shell);
	fixture_write(&fix.root, "proc/100/stat",
	              "100 (sh) S 1 1 1 0 -1 0 90 0 0 0 1005 3 0 0 20 0 1 0 1000 0 10\n");
	track_process(100, 0);

	m = take_sample();

	ck_assert_uint_eq(m.partial, RT_HAS_CTXSW | RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED |
	                                 RT_HAS_PROCESSES_SEEN);
	ck_assert_uint_eq(m.voluntary_switches, 9);
}
END_TEST

START_TEST(proc_of_outer_pid_namespace_has_no_cpu_clock)
{
	struct rti_procfs procfs;
	struct rti_platform platform;

	fixture_link(&fix.root, "proc/self", "1");
	ck_assert_int_eq(rti_procfs_open(&procfs, fix.root.root, &faults_ops), 0);
	procfs.is_foreign = 0;

	rti_context_platform(&procfs, &platform);

	ck_assert_ptr_null(platform.cpu_clock);
	rti_procfs_close(&procfs);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree");
	TCase *sums = add_tree_case(suite, "sums"), *states = add_tree_case(suite, "states"),
	      *clocks = add_tree_case(suite, "clocks");

	tcase_add_test(sums, tree_of_three_processes_yields_sums);
	tcase_add_test(sums, tree_of_three_processes_yields_a_row_for_each);
	tcase_add_test(sums, first_sample_opens_each_file_of_a_member_once);
	tcase_add_test(sums, process_tracked_alone_excludes_children);
	tcase_add_test(sums, cpu_time_is_a_lower_bound_if_ticks_hide_more_than_a_hundredth);
	tcase_add_loop_test(sums, what_the_caller_reaped_is_exact_if_it_is_of_the_same_children, 0,
	                    5);
	tcase_add_loop_test(sums, peak_of_process_that_has_reaped_is_a_lower_bound, 0, 2);
	tcase_add_test(sums, domain_that_is_not_wanted_is_not_read);
	tcase_add_test(states, zombie_has_no_memory_and_keeps_its_other_figures);
	tcase_add_test(states, zombie_that_was_never_read_alive_has_no_peak_rss);
	tcase_add_test(states, zombie_leader_with_live_thread_has_the_memory_of_the_thread);
	tcase_add_test(states, kernel_thread_has_no_memory_figures);
	tcase_add_test(states, process_with_exited_threads_has_partial_switches);
	tcase_add_test(clocks, proc_of_outer_pid_namespace_has_no_cpu_clock);
	return suite_run(suite);
}
