/* SPDX-License-Identifier: MIT */
/* What rt_tracker_obstacle() says of a tree with files that cannot be read. */
#include "tree/tree_fixture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "os/capability.h"
#include "os/kernel_abi.h"
#include "tree/tree_inside.h"

static struct rt_obstacle get_obstacle(uint64_t has)
{
	struct rt_obstacle o;

	ck_assert_int_eq(rt_tracker_obstacle(fix.tracker, has, &o, sizeof(o)), 0);
	ck_assert_uint_eq(o.has, has);
	ck_assert_int_eq(o.error, rt_tracker_status(fix.tracker, has));
	return o;
}

static void check_obstacle(uint64_t has, uint32_t kind, int err, int32_t pid, const char *file)
{
	struct rt_obstacle o = get_obstacle(has);

	ck_assert_uint_eq(o.kind, kind);
	ck_assert_int_eq(o.error, err);
	ck_assert_int_eq(o.pid, pid);
	ck_assert_str_eq(o.file, file);
	ck_assert_int_eq(o.text[strlen(o.text) - 1], '.');
}

static void check_members(uint64_t has, uint64_t members, uint64_t members_ever)
{
	struct rt_obstacle o = get_obstacle(has);

	ck_assert_uint_eq(o.members, members);
	ck_assert_uint_eq(o.members_ever, members_ever);
}

static void check_text(uint64_t has, const char *text)
{
	struct rt_obstacle o = get_obstacle(has);

	ck_assert_msg(strstr(o.text, text) != NULL, "%s: no \"%s\"", o.text, text);
}

/* Neither BPF programs nor process events see processes of another root. */
START_TEST(no_option_is_advised_that_cannot_help_below_a_root)
{
	write_family();
	track_process(100, 0);
	take_sample();
	fake_process_remove(&fix.root, 101);
	take_sample();

	for (int bit = 0; bit < 64; bit++) {
		struct rt_obstacle o;

		if (rt_tracker_obstacle(fix.tracker, UINT64_C(1) << bit, &o, sizeof(o)) != 0)
			continue;
		ck_assert_msg(strstr(o.text, "RT_OPT_PROCESS_EVENTS") == NULL, "%s", o.text);
		ck_assert_msg(strstr(o.text, "BPF") == NULL, "%s", o.text);
	}
}
END_TEST

START_TEST(valid_domain_has_no_obstacle)
{
	struct rt_obstacle o;

	write_family();
	track_process(100, 0);
	take_sample();

	o = get_obstacle(RT_HAS_IO);

	ck_assert_uint_eq(o.kind, 0);
	ck_assert_int_eq(o.error, 0);
	ck_assert_str_eq(o.file, "");
	ck_assert_str_eq(o.text, "");
	check_members(RT_HAS_IO, 0, 0);
}
END_TEST

START_TEST(refused_file_names_the_member_and_counts_it_once)
{
	write_family();
	track_process(100, 0);
	faults_on_open("101/io", -EACCES);
	for (int i = 0; i < 3; i++)
		take_sample();

	check_obstacle(RT_HAS_IO, RT_OBSTACLE_RIGHTS, -EACCES, 101, "io");
	check_members(RT_HAS_IO, 1, 1);
	check_text(RT_HAS_IO, "/proc/101/io");
	check_text(RT_HAS_IO, rti_has_capability(RTI_CAP_SYS_PTRACE)
	                          ? "though it has CAP_SYS_PTRACE"
	                          : "CAP_SYS_PTRACE would allow it");

	faults_on_open("101/io", 0);
	faults_on_open("/io", -EACCES);
	take_sample();
	check_obstacle(RT_HAS_IO, RT_OBSTACLE_RIGHTS, -EACCES, 100, "io");
	check_members(RT_HAS_IO, 3, 3);
	check_members(RT_HAS_IO_CALLS, 3, 3);

	faults_on_open("/io", 0);
	take_sample();
	check_members(RT_HAS_IO, 0, 3);
}
END_TEST

/* The files of a hidden process seem to be missing, until stat shows that it is there. */
static int read_clock(int32_t pid, struct rti_cpu_clock *out)
{
	*out = (struct rti_cpu_clock){ 1000, 1, 1 };
	return pid >= 100 && pid <= 102 ? 0 : -ESRCH;
}

START_TEST(hidden_process_is_a_matter_of_rights_in_every_domain)
{
	const uint64_t all = RT_HAS_CPU | RT_HAS_IO | RT_HAS_CTXSW | RT_HAS_FAULTS |
	                     RT_HAS_THREADS | RT_HAS_PEAK_RSS | RT_HAS_RSS | RT_HAS_PSS;

	write_family();
	track_process(100, 0);
	get_platform(fix.tracker)->cpu_clock = read_clock;
	take_sample();
	fake_process_remove(&fix.root, 101);
	take_sample();

	for (int bit = 0; bit < 64; bit++) {
		uint64_t has = UINT64_C(1) << bit;
		struct rt_obstacle o;

		if (!(all & has) || (has & (RT_HAS_CTXSW | RT_HAS_PSS)))
			continue;
		o = get_obstacle(has);
		ck_assert_uint_eq(o.kind, RT_OBSTACLE_RIGHTS);
		ck_assert_int_eq(o.error, -EACCES);
		ck_assert_int_eq(o.pid, 101);
		ck_assert_msg(strstr(o.text, "hidepid") != NULL, "bit %d: %s", bit, o.text);
	}
}
END_TEST

START_TEST(file_that_cannot_be_parsed_is_a_matter_of_format)
{
	write_family();
	track_process(100, 0);
	fixture_write(&fix.root, "proc/102/io", "no such line\n");
	take_sample();

	check_obstacle(RT_HAS_IO, RT_OBSTACLE_FORMAT, -EBADMSG, 102, "io");
	check_text(RT_HAS_IO, "format");
}
END_TEST

START_TEST(stat_that_cannot_be_parsed_is_an_obstacle_of_all_that_it_has)
{
	write_family();
	track_process(100, 0);
	take_sample();
	fixture_write(&fix.root, "proc/102/stat", "no record\n");
	take_sample();

	check_obstacle(RT_HAS_FAULTS, RT_OBSTACLE_FORMAT, -EBADMSG, 102, "stat");
	check_obstacle(RT_HAS_THREADS, RT_OBSTACLE_FORMAT, -EBADMSG, 102, "stat");
	check_members(RT_HAS_THREADS, 1, 1);
}
END_TEST

START_TEST(io_without_calls_is_a_matter_of_the_kernel)
{
	fake_process_write(&fix.root, &first_child);
	track_process(101, 0);
	fixture_write(&fix.root, "proc/101/io",
	              "rchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\n"
	              "cancelled_write_bytes: 0\n");
	take_sample();

	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_IO), 0);
	check_obstacle(RT_HAS_IO_CALLS, RT_OBSTACLE_KERNEL, -ENOENT, 101, "io");
}
END_TEST

START_TEST(kernel_without_rollup_leaves_an_estimate_with_the_reason)
{
	write_family();
	track_process(100, 0);
	fixture_remove(&fix.root, "proc/100/smaps_rollup");
	fixture_remove(&fix.root, "proc/101/smaps_rollup");
	fixture_remove(&fix.root, "proc/102/smaps_rollup");
	take_sample();

	check_obstacle(RT_HAS_PSS, RT_OBSTACLE_KERNEL, -ENOENT, 100, "smaps_rollup");
	check_members(RT_HAS_PSS, 3, 3);
	check_text(RT_HAS_PSS, "CONFIG_PROC_PAGE_MONITOR");
}
END_TEST

/* Without statm nothing is known of PSS. The counts go on from those of smaps_rollup. */
START_TEST(count_of_members_so_far_never_falls)
{
	write_family();
	track_process(100, 0);
	faults_on_open("/smaps_rollup", -EACCES);
	take_sample();
	check_members(RT_HAS_PSS, 3, 3);

	faults_on_open("102/statm", -EACCES);
	take_sample();
	check_members(RT_HAS_PSS, 1, 3);
	faults_on_open("102/statm", 0);
	faults_on_open("/smaps_rollup", 0);
}
END_TEST

START_TEST(kernel_without_schedstat_is_no_obstacle)
{
	write_family();
	track_process(100, 0); /* the fixture has no schedstat */
	take_sample();

	ck_assert_uint_eq(get_obstacle(RT_HAS_CTXSW).kind, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_CTXSW), 0);
}
END_TEST

START_TEST(status_without_switches_is_a_matter_of_the_kernel)
{
	fake_process_write(&fix.root, &first_child);
	track_process(101, 0);
	fixture_write(&fix.root, "proc/101/task/101/status", "Name:\tx\nTgid:\t101\n");
	take_sample();

	check_obstacle(RT_HAS_CTXSW, RT_OBSTACLE_KERNEL, -EOPNOTSUPP, 101, "task");
}
END_TEST

START_TEST(shortage_of_descriptors_is_a_limit)
{
	write_family();
	track_process(100, 0);
	faults_on_open("/io", -EMFILE);
	take_sample();

	check_obstacle(RT_HAS_IO, RT_OBSTACLE_LIMIT, -EMFILE, 100, "io");
	check_text(RT_HAS_IO, "RLIMIT_NOFILE");
	faults_on_open("/io", 0);
}
END_TEST

START_TEST(member_that_cannot_be_added_for_lack_of_descriptors_is_a_limit)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	faults_on_open("102/stat", -EMFILE);
	m = take_sample();

	ck_assert_uint_eq(m.processes, 2);
	check_obstacle(RT_HAS_PROCESSES, RT_OBSTACLE_LIMIT, -EMFILE, 102, "stat");
	check_text(RT_HAS_PROCESSES, "RLIMIT_NOFILE");

	faults_on_open("102/stat", 0);
	take_sample();
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PROCESSES), 0);
}
END_TEST

START_TEST(refused_file_of_an_exited_member_stays_the_reason)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	faults_on_open("101/io", -EACCES);
	take_sample();
	fake_process_remove(&fix.root, 101);
	for (int i = 0; i < 2; i++)
		m = take_sample();

	ck_assert_uint_ne(m.partial & RT_HAS_IO, 0);
	check_obstacle(RT_HAS_IO, RT_OBSTACLE_RIGHTS, -EACCES, 101, "io");
	check_members(RT_HAS_IO, 0, 1);
}
END_TEST

static void end_child(void *arg)
{
	(void)arg;
	fake_process_remove(&fix.root, 101);
}

START_TEST(member_that_ended_before_it_was_read_is_gone)
{
	struct rt_metrics m;

	fake_process_write(&fix.root, &first_child);
	track_process(101, 0);
	faults_before_open("101/statm", end_child, NULL);
	ck_assert_int_eq(try_sample(&m), -ESRCH);

	ck_assert_uint_ne(m.partial & RT_HAS_IO, 0);
	check_obstacle(RT_HAS_IO, RT_OBSTACLE_GONE, -ENODATA, 101, "io");
	check_members(RT_HAS_IO, 0, 1);
	check_text(RT_HAS_IO, "Process 101 had ended before /proc/101/io");
}
END_TEST

START_TEST(member_that_no_process_waited_for_is_gone)
{
	struct rt_metrics m;

	write_family();
	track_process(100, 0);
	take_sample();
	fake_process_remove(&fix.root, 101);
	m = take_sample();

	ck_assert_uint_eq(m.reasons, RT_REASON_UNWAITED);
	check_obstacle(RT_HAS_CPU, RT_OBSTACLE_GONE, -ENODATA, 101, "");
	check_members(RT_HAS_CPU, 0, 1);
	check_text(RT_HAS_CPU, "waited for it");
	check_obstacle(RT_HAS_PEAK_RSS, RT_OBSTACLE_GONE, -ENODATA, 101, "");
}
END_TEST

START_TEST(kernel_thread_has_no_memory)
{
	struct fake_process thread = first_child;

	fake_process_write(&fix.root, &thread);
	fixture_printf(&fix.root, "proc/101/stat",
	               "101 (kworker) S 2 0 0 0 -1 2129984 0 0 0 0 0 1 0 0 20 0 1 0 1010 0 0 "
	               "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 "
	               "0\n");
	track_process(101, 0);
	take_sample();

	check_obstacle(RT_HAS_RSS, RT_OBSTACLE_KERNEL, -EOPNOTSUPP, 101, "statm");
	check_text(RT_HAS_RSS, "kernel thread");
	check_obstacle(RT_HAS_PSS, RT_OBSTACLE_KERNEL, -EOPNOTSUPP, 101, "statm");
}
END_TEST

START_TEST(unchanged_tree_keeps_its_obstacles)
{
	write_family();
	track_with_cached_files(100, 0);
	faults_on_open("101/status", -EACCES);
	for (int i = 0; i < 9; i++) {
		take_sample();
		check_obstacle(RT_HAS_PEAK_RSS, RT_OBSTACLE_RIGHTS, -EACCES, 101, "status");
		check_members(RT_HAS_PEAK_RSS, 1, 1);
	}
}
END_TEST

START_TEST(number_of_processes_without_events_names_the_option)
{
	const struct rt_opts opts = { .size = sizeof(opts), .flags = RT_OPT_NO_PROCESS_EVENTS };

	ck_assert_int_eq(rt_pid_tracker_new(&fix.tracker, getpid(), &opts), 0);
	take_sample();
	check_obstacle(RT_HAS_PROCESSES_SEEN, RT_OBSTACLE_OPTIONS, -ENODATA, 0, "");
	check_text(RT_HAS_PROCESSES_SEEN, "RT_OPT_PROCESS_EVENTS");
}
END_TEST

START_TEST(number_of_processes_without_any_event_to_hear_says_so)
{
	struct rt_metrics m;

	write_family();
	track_process(100, RT_OPT_PROCESS_EVENTS); /* there are none of another root */
	m = take_sample();

	ck_assert_uint_eq(m.reasons, RT_REASON_EVENTS_UNHEARD);
	check_obstacle(RT_HAS_PROCESSES_SEEN, RT_OBSTACLE_KERNEL, -EOPNOTSUPP, 0, "");
	check_text(RT_HAS_PROCESSES_SEEN, "cannot be received");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("obstacles");
	TCase *tests = add_tree_case(suite, "obstacles");

	tcase_add_test(tests, valid_domain_has_no_obstacle);
	tcase_add_test(tests, no_option_is_advised_that_cannot_help_below_a_root);
	tcase_add_test(tests, refused_file_names_the_member_and_counts_it_once);
	tcase_add_test(tests, hidden_process_is_a_matter_of_rights_in_every_domain);
	tcase_add_test(tests, file_that_cannot_be_parsed_is_a_matter_of_format);
	tcase_add_test(tests, stat_that_cannot_be_parsed_is_an_obstacle_of_all_that_it_has);
	tcase_add_test(tests, io_without_calls_is_a_matter_of_the_kernel);
	tcase_add_test(tests, kernel_without_rollup_leaves_an_estimate_with_the_reason);
	tcase_add_test(tests, count_of_members_so_far_never_falls);
	tcase_add_test(tests, kernel_without_schedstat_is_no_obstacle);
	tcase_add_test(tests, status_without_switches_is_a_matter_of_the_kernel);
	tcase_add_test(tests, shortage_of_descriptors_is_a_limit);
	tcase_add_test(tests, member_that_cannot_be_added_for_lack_of_descriptors_is_a_limit);
	tcase_add_test(tests, refused_file_of_an_exited_member_stays_the_reason);
	tcase_add_test(tests, member_that_ended_before_it_was_read_is_gone);
	tcase_add_test(tests, member_that_no_process_waited_for_is_gone);
	tcase_add_test(tests, kernel_thread_has_no_memory);
	tcase_add_test(tests, unchanged_tree_keeps_its_obstacles);
	tcase_add_test(tests, number_of_processes_without_events_names_the_option);
	tcase_add_test(tests, number_of_processes_without_any_event_to_hear_says_so);
	return suite_run(suite);
}
