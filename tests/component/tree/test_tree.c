/* SPDX-License-Identifier: MIT */
/* Process trees below made-up roots: membership, identity, sums, and all that goes wrong in
 * between. */
#include "fake_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/tracker.h"
#include "faults.h"
#include "suite.h"
#include "tree/state.h"
#include "util/descendant_set.h"

#define TICK_NS UINT64_C(10000000)

static struct fixture root;
static struct rt_tracker *tracker;
static struct rt_metrics m;

static void set_up(void)
{
	fixture_new(&root);
	tracker = NULL;
}

static void tear_down(void)
{
	rt_tracker_free(tracker);
	fixture_free(&root);
	ck_assert_uint_eq(faults_open_files(), 0);
}

/* Every file is opened anew, and nothing is left for later, so that what happens between two
 * reads can be said. */
static void track(int pid, uint32_t flags)
{
	struct rt_opts opts = {
		.size = sizeof(opts), .flags = flags, .root = root.root, .max_fds = 1
	};

	ck_assert_int_eq(rti_tracker_new(&tracker, pid, &opts, &faults_ops), 0);
	tracker->tree->is_final = true;
}

static void track_and_keep_files(int pid, uint32_t most)
{
	struct rt_opts opts = { .size = sizeof(opts), .root = root.root, .max_fds = most };

	ck_assert_int_eq(rti_tracker_new(&tracker, pid, &opts, &faults_ops), 0);
}

static int sample(void)
{
	return rt_sample(tracker, &m, sizeof(m));
}

static uint64_t pages(uint64_t count)
{
	return count * tracker->platform.page_size;
}

static const struct fake_process shell = {
	.pid = 100,
	.ppid = 1,
	.comm = "sh",
	.utime = 5,
	.stime = 3,
	.minflt = 50,
	.starttime = 1000,
	.rss_pages = 10,
	.pss_kib = 7,
	.hwm_kib = 44,
	.read_bytes = 4096,
	.write_bytes = 512,
	.voluntary = 9,
	.involuntary = 2,
	.children = "101 102 ",
};

static const struct fake_process first = {
	.pid = 101,
	.ppid = 100,
	.comm = "a) R 1",
	.utime = 20,
	.stime = 10,
	.minflt = 70,
	.starttime = 1010,
	.rss_pages = 20,
	.pss_kib = 30,
	.hwm_kib = 100,
	.read_bytes = 1024,
	.write_bytes = 2048,
	.voluntary = 1,
	.involuntary = 1,
	.children = "",
};

static const struct fake_process second = {
	.pid = 102,
	.ppid = 100,
	.comm = "",
	.utime = 1,
	.stime = 1,
	.minflt = 5,
	.starttime = 1020,
	.rss_pages = 3,
	.pss_kib = 2,
	.hwm_kib = 12,
	.children = "",
};

static void write_family(void)
{
	fake_process_write(&root, &shell);
	fake_process_write(&root, &first);
	fake_process_write(&root, &second);
}

START_TEST(a_tree_is_summed)
{
	struct rt_process rows[4];
	size_t count = 4;

	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 3);
	ck_assert_uint_eq(m.threads, 3);
	ck_assert_uint_eq(m.cpu_user_ns, 26 * TICK_NS);
	ck_assert_uint_eq(m.cpu_system_ns, 14 * TICK_NS);
	ck_assert_uint_eq(m.cpu_resolution_ns, TICK_NS);
	ck_assert_uint_eq(m.rss_bytes, pages(33));
	ck_assert_uint_eq(m.pss_bytes, 39 * 1024);
	ck_assert_uint_eq(m.peak_rss_bytes, 100 * 1024);
	ck_assert_uint_eq(m.read_bytes, 5120);
	ck_assert_uint_eq(m.write_bytes, 2560);
	ck_assert_uint_eq(m.minor_faults, 125);
	ck_assert_uint_eq(m.voluntary_switches, 10);
	ck_assert_uint_eq(m.partial, 0);
	ck_assert_uint_eq(m.valid, tracker->want);
	ck_assert_int_eq((int)m.rusage.ru_oublock, 5);
	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(rows[0].pid, 100);
	ck_assert_str_eq(rows[1].comm, "a) R 1");
	ck_assert_str_eq(rows[2].comm, "");
	ck_assert_uint_eq(rows[1].start_ticks, 1010);
}
END_TEST

START_TEST(alone_is_alone)
{
	struct fake_process parent = shell;

	parent.cminflt = 1000;
	parent.cutime = 500;
	fake_process_write(&root, &parent);
	fake_process_write(&root, &first);
	track(100, RT_OPT_NO_CHILDREN);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.cpu_user_ns, 5 * TICK_NS);
	ck_assert_uint_eq(m.minor_faults, 50);
	ck_assert_uint_eq(m.read_bytes, 4096);
}
END_TEST

START_TEST(children_of_other_threads_are_found)
{
	struct fake_process parent = shell;

	parent.children = "101";
	fake_process_write(&root, &parent);
	fake_process_write(&root, &first);
	fake_process_write(&root, &second);
	fixture_write(&root, "proc/100/task/150/children", "102 ");
	fixture_write(&root, "proc/100/task/150/stat",
	              "150 (sh) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 1000\n");
	fixture_write(&root, "proc/100/task/150/status",
	              "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t5\n");
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 3);
	ck_assert_uint_eq(m.voluntary_switches, 14);
}
END_TEST

START_TEST(parents_tell_where_children_files_are_missing)
{
	struct fake_process parent = shell, a = first, b = second, grandchild = second,
			    stranger = second;

	parent.children = a.children = b.children = grandchild.children = stranger.children = NULL;
	grandchild.pid = 50; /* below its parent's: pids wrap */
	grandchild.ppid = 102;
	stranger.pid = 200;
	stranger.ppid = 7;
	fake_process_write(&root, &parent);
	fake_process_write(&root, &a);
	fake_process_write(&root, &b);
	fake_process_write(&root, &grandchild);
	fake_process_write(&root, &stranger);
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 4);
}
END_TEST

START_TEST(a_thousand_children_do_not_fit_one_read)
{
	static char children[8000];
	struct fake_process parent = shell;
	size_t len = 0;

	for (int pid = 2000; pid < 3000; pid++) {
		struct fake_process child = {
			.pid = pid, .ppid = 100, .minflt = 1, .starttime = 5, .children = ""
		};

		fake_process_write(&root, &child);
		len += (size_t)snprintf(children + len, sizeof(children) - len, "%d ", pid);
	}
	parent.children = children;
	fake_process_write(&root, &parent);
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 1001);
}
END_TEST

START_TEST(a_reaped_child_moves_and_is_not_counted_twice)
{
	struct fake_process parent = shell;

	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	parent.cutime = 21;
	parent.cstime = 10;
	parent.cminflt = 72;
	parent.read_bytes += 1024;
	parent.write_bytes += 2048 + 512;
	parent.children = "102 ";
	fake_process_write(&root, &parent);
	fake_process_remove(&root, 101);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.processes_seen, 3);
	ck_assert_uint_eq(m.cpu_user_ns, 27 * TICK_NS);
	ck_assert_uint_eq(m.minor_faults, 127);
	ck_assert_uint_eq(m.read_bytes, 5120);
	ck_assert_uint_eq(m.write_bytes, 2560 + 512);
	ck_assert_uint_eq(m.reasons, 0);
	/* what it did after the last look is told to nobody else */
	ck_assert_uint_eq(m.partial, RT_HAS_CTXSW | RT_HAS_PEAK_RSS);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_CTXSW), -ENODATA);
}
END_TEST

START_TEST(an_auto_reaped_child_is_kept_and_told)
{
	struct fake_process parent = shell;

	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	parent.ignores_sigchld = 1;
	parent.children = "102 ";
	fake_process_write(&root, &parent);
	fake_process_remove(&root, 101);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.cpu_user_ns, 26 * TICK_NS);
	ck_assert_uint_eq(m.read_bytes, 5120);
	ck_assert_uint_eq(m.reasons, RT_REASON_UNWAITED | RT_REASON_SIGCHLD_IGNORED);
}
END_TEST

START_TEST(a_child_that_the_kernel_is_letting_go_of_is_gone)
{
	struct fake_process parent = shell;

	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	parent.cutime = 20;
	parent.cstime = 10;
	parent.cminflt = 70;
	parent.read_bytes += 1024;
	parent.write_bytes += 2048;
	fake_process_write(&root, &parent);
	fixture_write(&root, "proc/101/stat",
	              "101 (a) R 1) Z 0 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 0 0 1010 0 0\n");
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns, 26 * TICK_NS);
	ck_assert_uint_eq(m.minor_faults, 125);
	ck_assert_uint_eq(m.reasons, 0);
}
END_TEST

/* The child is reaped after it was read and before its parent is. */
static void reap_first(void *arg)
{
	struct fake_process parent = shell;

	(void)arg;
	parent.cutime = 20;
	parent.cstime = 10;
	parent.cminflt = 70;
	parent.read_bytes += 1024;
	parent.write_bytes += 2048;
	parent.children = "102 ";
	fake_process_write(&root, &parent);
	fake_process_remove(&root, 101);
}

START_TEST(a_child_reaped_in_the_middle_of_a_sample_counts_once)
{
	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	faults_before_open("100/status", reap_first, NULL);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns, 26 * TICK_NS);
	ck_assert_uint_eq(m.cpu_system_ns, 14 * TICK_NS);
	ck_assert_uint_eq(m.read_bytes, 5120);
	ck_assert_uint_eq(m.minor_faults, 125);
}
END_TEST

/* It wrote on before it went, and its parent's I/O was read by then. */
static void reap_first_after_more(void *arg)
{
	struct fake_process parent = shell;

	reap_first(arg);
	parent.cutime = 20;
	parent.cstime = 10;
	parent.cminflt = 70;
	parent.read_bytes += 1024 + 700;
	parent.write_bytes += 2048;
	parent.children = "102 ";
	fake_process_write(&root, &parent);
}

START_TEST(a_reaper_is_read_again_once_its_child_is_known_to_be_gone)
{
	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	faults_before_open("100/stat", reap_first_after_more, NULL);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.read_bytes, 5120 + 700);
	ck_assert_uint_eq(m.cpu_user_ns, 26 * TICK_NS);
}
END_TEST

START_TEST(a_child_gone_before_its_parent_was_read_anew_counts_once)
{
	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	/* 102 is read before 101, and 101 vanishes between its own files. */
	faults_before_open("101/smaps_rollup", reap_first, NULL);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns, 26 * TICK_NS);
	ck_assert_uint_eq(m.minor_faults, 125);
	ck_assert_uint_eq(m.reasons, 0);
}
END_TEST

START_TEST(a_recycled_pid_is_a_stranger)
{
	struct fake_process stranger = first;

	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	stranger.starttime = 9999;
	stranger.ppid = 1;
	stranger.utime = 1000000;
	fake_process_remove(&root, 101);
	fake_process_write(&root, &stranger);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.cpu_user_ns, 26 * TICK_NS);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 2);
}
END_TEST

START_TEST(a_recycled_root_ends_the_tracker)
{
	struct fake_process stranger = shell;

	fake_process_write(&root, &shell);
	track(100, RT_OPT_NO_CHILDREN);
	ck_assert_int_eq(sample(), 0);
	stranger.starttime = 9999;
	stranger.utime = 777;
	fake_process_write(&root, &stranger);
	ck_assert_int_eq(sample(), -ESRCH);
	ck_assert_uint_eq(m.cpu_user_ns, 5 * TICK_NS);
	ck_assert_uint_eq(m.processes, 0);
}
END_TEST

START_TEST(orphans_stay)
{
	struct fake_process orphan = first;

	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	orphan.ppid = 1;
	orphan.utime = 30;
	fake_process_write(&root, &orphan);
	fake_process_remove(&root, 100);
	fake_process_remove(&root, 102);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.cpu_user_ns, 36 * TICK_NS);
	fake_process_remove(&root, 101);
	ck_assert_int_eq(sample(), -ESRCH);
	ck_assert_uint_eq(m.cpu_user_ns, 36 * TICK_NS);
	ck_assert_uint_eq(m.processes_seen, 3);
	ck_assert_int_eq(sample(), -ESRCH);
}
END_TEST

START_TEST(one_unreadable_member_drops_no_other)
{
	struct rt_process rows[3];
	size_t count = 3;

	write_family();
	track(100, 0);
	faults_on_open("101/io", -EACCES);
	faults_on_open("101/smaps_rollup", -EACCES);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.valid & (RT_HAS_IO | RT_HAS_PSS), 0);
	ck_assert_uint_eq(m.partial, RT_HAS_IO | RT_HAS_PSS);
	ck_assert_uint_eq(m.read_bytes, 4096);
	ck_assert_uint_eq(m.pss_bytes, 9 * 1024);
	ck_assert_uint_eq(m.cpu_user_ns, 26 * TICK_NS);
	ck_assert_uint_eq(m.members_unreadable, 1);
	ck_assert_uint_eq(m.reasons, 0);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_IO), -EACCES);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_CPU), 0);
	ck_assert_int_eq(rt_tracker_processes(tracker, rows, sizeof(rows[0]), &count), 0);
	ck_assert_uint_eq(rows[1].valid & RT_HAS_IO, 0);
	ck_assert_uint_ne(rows[2].valid & RT_HAS_IO, 0);
}
END_TEST

START_TEST(nothing_readable_is_nothing_known)
{
	fake_process_write(&root, &shell);
	track(100, RT_OPT_NO_CHILDREN);
	faults_on_open("100/io", -EACCES);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq((m.valid | m.partial) & RT_HAS_IO, 0);
	ck_assert_uint_eq(m.read_bytes, 0);
}
END_TEST

START_TEST(counters_survive_a_member_that_turns_unreadable)
{
	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	faults_on_read("101/io", -EACCES);
	faults_on_open("101/io", -EACCES);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.read_bytes, 5120);
	ck_assert_uint_eq(m.partial, RT_HAS_IO);
}
END_TEST

START_TEST(a_zombie_has_no_memory_and_keeps_the_rest)
{
	struct fake_process zombie = first;

	write_family();
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	zombie.is_zombie = 1;
	fake_process_write(&root, &zombie);
	faults_on_open("101/smaps_rollup", -ESRCH);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 3);
	ck_assert_uint_eq(m.rss_bytes, pages(13));
	ck_assert_uint_eq(m.pss_bytes, 9 * 1024);
	ck_assert_uint_eq(m.peak_rss_bytes, 100 * 1024);
	ck_assert_uint_eq(m.valid, tracker->want);
	ck_assert_uint_eq(m.cpu_user_ns, 26 * TICK_NS);
}
END_TEST

START_TEST(a_zombie_that_was_never_seen_alive_has_no_peak)
{
	struct fake_process zombie = second;

	zombie.is_zombie = 1;
	fake_process_write(&root, &zombie);
	track(102, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq((m.valid | m.partial) & RT_HAS_PEAK_RSS, 0);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_PEAK_RSS), -ENODATA);
}
END_TEST

START_TEST(a_zombie_leader_with_threads_is_tracked_through_them)
{
	fake_process_write(&root, &shell);
	fixture_write(&root, "proc/100/stat",
	              "100 (sh) Z 1 1 1 0 -1 0 50 0 0 0 5 3 0 0 20 0 2 0 1000 0 0\n");
	fixture_write(&root, "proc/100/statm", "0 0 0 0 0 0 0\n");
	fixture_write(&root, "proc/100/task/150/stat",
	              "150 (sh) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 1000\n");
	fixture_write(&root, "proc/100/task/150/status",
	              "VmHWM:\t 88 kB\nvoluntary_ctxt_switches:\t1\n"
	              "nonvoluntary_ctxt_switches:\t1\n");
	fixture_write(&root, "proc/100/task/150/statm", "1000 77 10 1 0 100 0\n");
	fixture_write(&root, "proc/100/task/150/smaps_rollup", "x\nPss: 55 kB\n");
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.rss_bytes, pages(77));
	ck_assert_uint_eq(m.pss_bytes, 55 * 1024);
	ck_assert_uint_eq(m.peak_rss_bytes, 88 * 1024);
}
END_TEST

START_TEST(a_kernel_thread_has_no_memory_to_speak_of)
{
	fake_process_write(&root, &shell);
	fixture_write(
	    &root, "proc/100/stat",
	    "100 (kworker/0:1-events) I 2 0 0 0 -1 69238880 0 0 0 0 0 9 0 0 20 0 1 0 24 0 0\n");
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.valid & (RT_HAS_RSS | RT_HAS_PSS | RT_HAS_PEAK_RSS), 0);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_RSS), -EOPNOTSUPP);
	ck_assert_uint_eq(m.cpu_system_ns, 9 * TICK_NS);
}
END_TEST

START_TEST(a_stat_line_may_be_short)
{
	fake_process_write(&root, &shell);
	fixture_write(&root, "proc/100/stat", "100 (sh) S 1 1 1 0 -1 0 50 0 0 0 5 3 0 0 20 0 1\n");
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_int_eq(sample(), 0); /* an unknown start time is not a recycled pid */
	ck_assert_uint_eq(m.cpu_user_ns, 5 * TICK_NS);
}
END_TEST

START_TEST(garbage_is_told_apart_from_absence)
{
	write_family();
	track(100, 0);
	fixture_write(&root, "proc/101/io", "no such line\n");
	ck_assert_int_eq(sample(), 0);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_IO), -EBADMSG);
	ck_assert_uint_eq(m.partial, RT_HAS_IO);
}
END_TEST

START_TEST(running_out_of_descriptors_is_mended)
{
	write_family();
	track_and_keep_files(100, 0);
	ck_assert_int_eq(sample(), 0);
	faults_limit_files(faults_open_files() + 1);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 3);
	ck_assert_uint_eq(m.valid & RT_HAS_IO, RT_HAS_IO);
	ck_assert_uint_eq(m.read_bytes, 5120);
	faults_limit_files(0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.valid, tracker->want);
}
END_TEST

START_TEST(the_cap_on_descriptors_holds)
{
	write_family();
	track_and_keep_files(100, 5);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(faults_open_files(), 3 + 4);
	ck_assert_uint_eq(m.read_bytes, 5120);
}
END_TEST

START_TEST(what_is_not_wanted_is_not_read)
{
	struct rt_opts opts = { .size = sizeof(opts), .root = root.root, .want = RT_HAS_CPU };

	write_family();
	ck_assert_int_eq(rti_tracker_new(&tracker, 100, &opts, &faults_ops), 0);
	faults_on_open("smaps_rollup", -EIO);
	faults_on_open("/io", -EIO);
	faults_on_open("statm", -EIO);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.valid, RT_HAS_CPU);
	ck_assert_uint_eq(m.partial, 0);
	ck_assert_uint_eq(m.cpu_user_ns, 26 * TICK_NS);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_IO), -EOPNOTSUPP);
}
END_TEST

START_TEST(what_is_not_there_is_an_error)
{
	struct rt_opts opts = { .size = sizeof(opts), .root = root.root };
	struct rt_opts nowhere = { .size = sizeof(nowhere), .root = "/nonexistent/root" };

	ck_assert_int_eq(rt_pid_tracker_new(&tracker, 100, &opts), -ESRCH);
	ck_assert_ptr_null(tracker);
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, 100, &nowhere), -ENOENT);
	fixture_remove(&root, "proc");
	ck_assert_int_eq(rt_pid_tracker_new(&tracker, 100, &opts), -ENOENT);
}
END_TEST

#define STAT_OF_A_THREAD                                                                           \
	"100 (t) S 1 1 1 0 -1 64 5 0 0 0 1 1 0 0 20 0 2 0 1000 4096 10 18446744073709551615"

START_TEST(a_thread_is_not_a_process)
{
	struct rt_opts opts = { .size = sizeof(opts), .root = root.root };

	fake_process_write(&root, &shell);
	fixture_write(&root, "proc/100/status", "Tgid:\t99\nPid:\t100\n");
	for (int i = 0; i < 2; i++) { /* the first stat ends too early to say so */
		fixture_write(&root, "proc/100/stat",
		              i ? STAT_OF_A_THREAD " 1 1 0 0 0 0 0 0 0 0 0 0 -1 0 0\n"
		                : STAT_OF_A_THREAD "\n");
		ck_assert_int_eq(rt_pid_tracker_new(&tracker, 100, &opts), -ESRCH);
	}
}
END_TEST

static int clock_of_the_hidden(int32_t pid, struct rti_cpu_clock *out)
{
	*out = (struct rti_cpu_clock){ 1000, 1, 1 };
	return pid == 100 || pid == 101 ? 0 : -ESRCH;
}

START_TEST(hidden_is_not_dead)
{
	const struct rti_tree_opts opts = { .pid = 100 };
	struct rti_tree *hidden;

	write_family();
	track(100, 0);
	tracker->platform.cpu_clock = clock_of_the_hidden;
	ck_assert_int_eq(sample(), 0);
	fake_process_remove(&root, 101);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.reasons & (RT_REASON_UNREADABLE | RT_REASON_UNWAITED),
	                  RT_REASON_UNREADABLE);
	ck_assert_int_eq(rt_tracker_status(tracker, RT_HAS_FAULTS), -EACCES);
	fake_process_remove(&root, 100);
	ck_assert_int_eq(rti_tree_new(&hidden, &tracker->ctx, &opts), -EACCES);
}
END_TEST

START_TEST(in_a_proc_of_an_outer_namespace_clocks_are_not_asked)
{
	struct rti_procfs procfs;
	struct rti_platform platform;

	fixture_link(&root, "proc/self", "1");
	ck_assert_int_eq(rti_procfs_open(&procfs, root.root, &faults_ops), 0);
	procfs.is_foreign = 0;
	rti_context_platform(&procfs, &platform);
	ck_assert_ptr_null(platform.cpu_clock);
	rti_procfs_close(&procfs);
}
END_TEST

START_TEST(threads_that_left_are_noticed)
{
	struct fake_process busy = shell;

	fake_process_write(&root, &busy);
	fixture_write(&root, "proc/100/stat",
	              "100 (sh) S 1 1 1 0 -1 0 90 0 0 0 5 3 0 0 20 0 1 0 1000 0 10\n");
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.partial, RT_HAS_CTXSW);
	ck_assert_uint_eq(m.voluntary_switches, 9);
}
END_TEST

/* From now on the tree is not searched: its events are heard, which are those of hear_of(). */
static void listen_to_nothing(int ends[2])
{
	struct rti_fork_tracker *fork_tracker = &tracker->tree->discovery.fork_tracker;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends), 0);
	*fork_tracker = (struct rti_fork_tracker){ .fd = ends[0], .owner = getpid() };
	fork_tracker->descendants = calloc(1, sizeof(*fork_tracker->descendants));
	ck_assert_ptr_nonnull(fork_tracker->descendants);
	rti_fork_tracker_set_root(fork_tracker, 100);
	fork_tracker->new_pids = calloc(4, sizeof(*fork_tracker->new_pids));
	ck_assert_ptr_nonnull(fork_tracker->new_pids);
	fork_tracker->capacity = 4;
}

static void hear_of(int pid, int has_ended)
{
	struct rti_fork_tracker *fork_tracker = &tracker->tree->discovery.fork_tracker;

	ck_assert_int_eq(rti_descendant_set_fork(fork_tracker->descendants, 100, pid), 1);
	if (has_ended)
		rti_descendant_set_exit(fork_tracker->descendants, pid);
	fork_tracker->new_pids[fork_tracker->count++] = pid;
}

static const struct fake_process zombie = {
	.pid = 103,
	.ppid = 100,
	.utime = 7,
	.stime = 4,
	.minflt = 60,
	.starttime = 1030,
	.is_zombie = 1,
};

/* A shell without children as far as its files tell, and the first sample of it. */
static void hear_a_shell(int ends[2])
{
	struct fake_process parent = shell;

	parent.children = "";
	fake_process_write(&root, &parent);
	track(100, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 8 * TICK_NS);
	listen_to_nothing(ends);
}

START_TEST(a_zombie_whose_end_was_heard_is_read)
{
	int ends[2];

	hear_a_shell(ends);
	fake_process_write(&root, &zombie);
	hear_of(103, 1);
	hear_of(104, 1); /* was waited for */
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 2);
	ck_assert_uint_eq(m.processes_seen, 3);
	/* the shell */
	ck_assert_uint_eq(tracker->tree->discovery.fork_tracker.descendants->alive, 1);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 19 * TICK_NS);
	ck_assert_uint_eq(m.reasons, 0);
	fake_process_remove(&root, 103); /* and its parent has not waited for it */
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 19 * TICK_NS);
	ck_assert_uint_eq(m.reasons, RT_REASON_UNWAITED);
	close(ends[1]);
}
END_TEST

/* Its pid has been given away since, or it has been waited for and the kernel is letting go of it
 * now. */
START_TEST(what_is_heard_of_and_is_not_there_any_more_is_no_member)
{
	struct fake_process stranger = zombie, leaving = zombie;
	int ends[2];

	hear_a_shell(ends);
	stranger.is_zombie = 0;
	fake_process_write(&root, &stranger);
	hear_of(103, 1);
	leaving.pid = 104;
	leaving.ppid = 0;
	leaving.is_zombie = 0;
	leaving.state = 'X';
	fake_process_write(&root, &leaving);
	hear_of(104, 0);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 8 * TICK_NS);
	fake_process_remove(&root, 104);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.reasons, 0);
	close(ends[1]);
}
END_TEST

START_TEST(what_was_glanced_at_does_not_leave_unnoticed)
{
	int ends[2];

	hear_a_shell(ends);
	fake_process_write(&root, &zombie);
	hear_of(103, 1);
	ck_assert_int_eq(rt_tracker_glance(tracker), 0);
	fake_process_remove(&root, 103);
	ck_assert_int_eq(sample(), 0);
	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.cpu_user_ns + m.cpu_system_ns, 19 * TICK_NS);
	ck_assert_uint_eq(m.reasons, RT_REASON_UNWAITED);
	close(ends[1]);
}
END_TEST

static TCase *case_with_root(Suite *suite, const char *name)
{
	TCase *tcase = suite_case(suite, name);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("tree");
	TCase *tcase;

	tcase = case_with_root(suite, "sums");
	tcase_add_test(tcase, a_tree_is_summed);
	tcase_add_test(tcase, alone_is_alone);
	tcase = case_with_root(suite, "membership");
	tcase_add_test(tcase, children_of_other_threads_are_found);
	tcase_add_test(tcase, parents_tell_where_children_files_are_missing);
	tcase_add_test(tcase, a_thousand_children_do_not_fit_one_read);
	tcase_add_test(tcase, a_recycled_pid_is_a_stranger);
	tcase_add_test(tcase, a_zombie_whose_end_was_heard_is_read);
	tcase_add_test(tcase, what_is_heard_of_and_is_not_there_any_more_is_no_member);
	tcase_add_test(tcase, what_was_glanced_at_does_not_leave_unnoticed);
	tcase_add_test(tcase, a_recycled_root_ends_the_tracker);
	tcase_add_test(tcase, orphans_stay);
	tcase_add_test(tcase, a_thread_is_not_a_process);
	tcase_add_test(tcase, hidden_is_not_dead);
	tcase = case_with_root(suite, "departures");
	tcase_add_test(tcase, a_reaped_child_moves_and_is_not_counted_twice);
	tcase_add_test(tcase, an_auto_reaped_child_is_kept_and_told);
	tcase_add_test(tcase, a_child_that_the_kernel_is_letting_go_of_is_gone);
	tcase_add_test(tcase, a_child_reaped_in_the_middle_of_a_sample_counts_once);
	tcase_add_test(tcase, a_child_gone_before_its_parent_was_read_anew_counts_once);
	tcase_add_test(tcase, a_reaper_is_read_again_once_its_child_is_known_to_be_gone);
	tcase = case_with_root(suite, "states");
	tcase_add_test(tcase, a_zombie_has_no_memory_and_keeps_the_rest);
	tcase_add_test(tcase, a_zombie_leader_with_threads_is_tracked_through_them);
	tcase_add_test(tcase, a_zombie_that_was_never_seen_alive_has_no_peak);
	tcase_add_test(tcase, a_kernel_thread_has_no_memory_to_speak_of);
	tcase_add_test(tcase, threads_that_left_are_noticed);
	tcase = case_with_root(suite, "obstacles");
	tcase_add_test(tcase, one_unreadable_member_drops_no_other);
	tcase_add_test(tcase, nothing_readable_is_nothing_known);
	tcase_add_test(tcase, counters_survive_a_member_that_turns_unreadable);
	tcase_add_test(tcase, a_stat_line_may_be_short);
	tcase_add_test(tcase, garbage_is_told_apart_from_absence);
	tcase_add_test(tcase, running_out_of_descriptors_is_mended);
	tcase_add_test(tcase, the_cap_on_descriptors_holds);
	tcase_add_test(tcase, what_is_not_wanted_is_not_read);
	tcase_add_test(tcase, what_is_not_there_is_an_error);
	tcase_add_test(tcase, in_a_proc_of_an_outer_namespace_clocks_are_not_asked);
	return suite_run(suite);
}
