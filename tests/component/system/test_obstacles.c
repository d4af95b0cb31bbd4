/* SPDX-License-Identifier: MIT */
/* What rt_tracker_obstacle() says of the system. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api/tracker.h"
#include "faults.h"
#include "fixture.h"
#include "suite.h"

static struct fixture root;
static struct rt_tracker *tracker;
static struct rti_procfs_ops ops;

static void set_up(void)
{
	fixture_new(&root);
	fixture_mkdir(&root, "proc/1");
	ops = faults_ops;
	tracker = NULL;
}

static void tear_down(void)
{
	rt_tracker_free(tracker);
	fixture_free(&root);
}

static struct rt_metrics sample_system(void)
{
	const struct rt_opts opts = { .size = sizeof(opts), .root = root.root };
	struct rt_metrics m;

	ck_assert_int_eq(rti_tracker_new(&tracker, 0, &opts, &ops), 0);
	ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	return m;
}

static void check_obstacle(uint64_t has, uint32_t kind, int err, const char *file, const char *text)
{
	struct rt_obstacle o;

	ck_assert_int_eq(rt_tracker_obstacle(tracker, has, &o, sizeof(o)), 0);
	ck_assert_int_eq(o.error, err);
	ck_assert_int_eq(o.error, rt_tracker_status(tracker, has));
	ck_assert_uint_eq(o.kind, kind);
	ck_assert_str_eq(o.file, file);
	ck_assert_int_eq(o.pid, 0);
	ck_assert_uint_eq(o.members, 0);
	ck_assert_msg(strstr(o.text, text) != NULL, "%s: no \"%s\"", o.text, text);
}

START_TEST(kernel_without_files_lacks_the_domains)
{
	sample_system();

	check_obstacle(RT_HAS_PRESSURE_CPU, RT_OBSTACLE_KERNEL, -ENOENT, "pressure/cpu",
	               "CONFIG_PSI");
	check_obstacle(RT_HAS_PRESSURE_IO, RT_OBSTACLE_KERNEL, -ENOENT, "pressure/io",
	               "/proc/pressure/io");
	check_obstacle(RT_HAS_NETWORK, RT_OBSTACLE_KERNEL, -ENOENT, "net/dev", "CONFIG_NET");
	check_obstacle(RT_HAS_MEMORY, RT_OBSTACLE_KERNEL, -ENOENT, "meminfo", "/proc/meminfo");
	check_obstacle(RT_HAS_ZFS, RT_OBSTACLE_KERNEL, -EOPNOTSUPP, "spl/kstat/zfs",
	               "rt_opts.root");
}
END_TEST

START_TEST(domains_with_files_of_their_own_have_errors_of_their_own)
{
	fixture_write(&root, "proc/pressure/cpu", "no pressure\n");
	fixture_write(&root, "proc/pressure/memory",
	              "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
	              "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
	fixture_write(&root, "proc/pressure/io", "some\n");
	faults_on_open("pressure/io", -EACCES);

	sample_system();

	check_obstacle(RT_HAS_PRESSURE_CPU, RT_OBSTACLE_FORMAT, -EBADMSG, "pressure/cpu", "format");
	check_obstacle(RT_HAS_PRESSURE_MEMORY, 0, 0, "", "");
	check_obstacle(RT_HAS_PRESSURE_IO, RT_OBSTACLE_RIGHTS, -EACCES, "pressure/io",
	               "/proc/pressure/io");
	faults_on_open("pressure/io", 0);
}
END_TEST

/* On older kernels the files exist even if PSI is off. */
START_TEST(pressure_that_is_off_is_a_matter_of_the_kernel)
{
	fixture_write(&root, "proc/pressure/cpu",
	              "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
	faults_on_read("pressure/cpu", -EOPNOTSUPP);

	sample_system();

	check_obstacle(RT_HAS_PRESSURE_CPU, RT_OBSTACLE_KERNEL, -EOPNOTSUPP, "pressure/cpu",
	               "psi=1");
	faults_on_read("pressure/cpu", 0);
}
END_TEST

START_TEST(hidden_processes_are_a_matter_of_rights)
{
	struct rt_metrics m;

	fixture_remove(&root, "proc/1");
	fixture_mkdir(&root, "proc/7");
	m = sample_system();

	ck_assert_uint_ne(m.partial & RT_HAS_PROCESSES, 0);
	check_obstacle(RT_HAS_PROCESSES, RT_OBSTACLE_RIGHTS, -EACCES, "", "hidepid");
}
END_TEST

START_TEST(shortage_of_descriptors_is_a_limit)
{
	fixture_write(&root, "proc/loadavg", "0.1 0.2 0.3 1/2 3\n");
	faults_on_open("loadavg", -EMFILE);
	sample_system();

	check_obstacle(RT_HAS_LOAD, RT_OBSTACLE_LIMIT, -EMFILE, "loadavg", "RLIMIT_NOFILE");
	check_obstacle(RT_HAS_THREADS, RT_OBSTACLE_LIMIT, -EMFILE, "loadavg", "RLIMIT_NOFILE");
	faults_on_open("loadavg", 0);
}
END_TEST

/* A server that does not answer. Its thread ends with the process. */
static int never_answer(const char *of_root, const char *path, struct rti_space *out)
{
	(void)of_root;
	(void)path;
	(void)out;
	for (;;)
		pause();
	return -EIO;
}

static int refuse(const char *of_root, const char *path, struct rti_space *out)
{
	(void)of_root;
	(void)path;
	(void)out;
	return -EACCES;
}

static const char mounts[] = "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n";

START_TEST(file_system_that_does_not_answer_is_slow)
{
	struct rt_metrics m;

	fixture_write(&root, "proc/1/mountinfo", mounts);
	ops.space = never_answer;
	m = sample_system();

	ck_assert_uint_eq(m.filesystems_skipped, 1);
	check_obstacle(RT_HAS_FILESYSTEM, RT_OBSTACLE_SLOW, -ETIMEDOUT, "self/mountinfo",
	               "RT_ITEM_STALLED");
}
END_TEST

START_TEST(file_system_that_refuses_is_a_matter_of_rights)
{
	fixture_write(&root, "proc/1/mountinfo", mounts);
	ops.space = refuse;
	sample_system();

	check_obstacle(RT_HAS_FILESYSTEM, RT_OBSTACLE_RIGHTS, -EACCES, "self/mountinfo",
	               "A file system could not be asked");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("obstacles");
	TCase *tests = suite_case(suite, "obstacles");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, kernel_without_files_lacks_the_domains);
	tcase_add_test(tests, domains_with_files_of_their_own_have_errors_of_their_own);
	tcase_add_test(tests, pressure_that_is_off_is_a_matter_of_the_kernel);
	tcase_add_test(tests, hidden_processes_are_a_matter_of_rights);
	tcase_add_test(tests, shortage_of_descriptors_is_a_limit);
	tcase_add_test(tests, file_system_that_does_not_answer_is_slow);
	tcase_add_test(tests, file_system_that_refuses_is_a_matter_of_rights);
	return suite_run(suite);
}
