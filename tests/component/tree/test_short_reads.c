/* SPDX-License-Identifier: MIT */
/* Reads that return less than there is: whatever their size, all figures are the same. */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tree_fixture.h"

#define SIZES 1800 /* above the length of every file here */

static size_t most; /* bytes that one read returns */

static ssize_t pread_short(int fd, void *buf, size_t len, off_t offset)
{
	return rti_procfs_linux.pread(fd, buf, len < most ? len : most, offset);
}

/* A file system that does not fill up meanwhile. */
static int space_of_fixture(const char *path, struct rti_space *out)
{
	(void)path;
	*out = (struct rti_space){ 1000, 600, 500, 8, 1 };
	return 0;
}

static struct rti_procfs_ops get_short_ops(void)
{
	struct rti_procfs_ops ops = rti_procfs_linux;

	ops.pread = pread_short;
	ops.space = space_of_fixture;
	ops.is_in_proc = NULL; /* proc itself has no short reads */
	return ops;
}

/* Take two samples with a new tracker. Returns the second, without what no file decides. */
static struct rt_metrics sample_anew(int pid, const char *root, uint64_t want, size_t size)
{
	const struct rt_opts opts = { .size = sizeof(opts), .root = root, .want = want };
	struct rti_procfs_ops ops = get_short_ops();
	struct rt_tracker *tracker;
	struct rt_metrics m = { 0 };

	most = size;
	ck_assert_int_eq(rti_tracker_new(&tracker, pid, &opts, &ops), 0);
	for (int i = 0; i < 2; i++) {
		memset(&m, 0, sizeof(m));
		ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	}
	rt_tracker_free(tracker);
	m.monotonic_ns = m.boottime_ns = m.realtime_ns = m.self_cpu_ns = m.tracker_id =
	    m.pss_age_ns = 0;
	return m;
}

static void assert_same_for_all_sizes(int pid)
{
	struct rt_metrics whole = sample_anew(pid, fix.root.root, 0, SIZE_MAX);

	ck_assert_uint_ne(whole.valid, 0);
	for (size_t size = 1; size <= SIZES; size++) {
		struct rt_metrics m = sample_anew(pid, fix.root.root, 0, size);

		for (size_t i = 0; i < sizeof(m) / 8; i++)
			if (memcmp((char *)&m + 8 * i, (char *)&whole + 8 * i, 8) != 0)
				ck_abort_msg("reads of %zu bytes: the field at %zu differs", size,
				             8 * i);
	}
}

START_TEST(tree_after_short_reads_has_the_same_figures)
{
	write_family();
	assert_same_for_all_sizes(100);
}
END_TEST

static void write_system(struct fixture *f)
{
	fixture_mkdir(f, "proc/1");
	fixture_write(f, "proc/stat",
	              "cpu  10 20 30 40 5 6 7 8 9 1\ncpu0 5 10 15 20 2 3 3 4 4 1\n"
	              "cpu1 5 10 15 20 3 3 4 4 5 0\nintr 900 1 2 3\nctxt 800\nbtime 7\n"
	              "processes 600\nprocs_running 2\nprocs_blocked 1\nsoftirq 5 4 3\n");
	fixture_write(f, "proc/meminfo",
	              "MemTotal: 1000 kB\nMemFree: 500 kB\nMemAvailable: 700 kB\nBuffers: 10 kB\n"
	              "Cached: 100 kB\nSwapCached: 1 kB\nActive: 80 kB\nInactive: 70 kB\n"
	              "Active(anon): 50 kB\nInactive(anon): 40 kB\nActive(file): 30 kB\n"
	              "Inactive(file): 20 kB\nSwapTotal: 90 kB\nSwapFree: 80 kB\n"
	              "AnonPages: 60 kB\nMapped: 15 kB\nShmem: 12 kB\nSlab: 44 kB\n"
	              "SReclaimable: 25 kB\nSUnreclaim: 19 kB\nKernelStack: 3 kB\n");
	fixture_write(f, "proc/diskstats",
	              "   8       0 sda 100 1 200 3 400 5 600 7 0 9 10\n"
	              "   8       1 sda1 50 1 100 3 200 5 300 7 0 4 5\n"
	              "   8      16 sdb 11 1 22 3 44 5 66 7 2 8 9\n");
	fixture_write(f, "proc/net/dev",
	              "Inter-|   Receive                            |  Transmit\n"
	              " face |bytes packets errs drop fifo frame compressed multicast|bytes\n"
	              "    lo: 500 5 0 0 0 0 0 0 500 5 0 0 0 0 0 0\n"
	              "  eth0: 7000 70 1 2 0 0 0 0 8000 80 3 4 0 0 0 0\n"
	              "  eth1: 900 9 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n");
	fixture_write(f, "proc/1/net/dev",
	              "Inter-|   Receive                            |  Transmit\n"
	              " face |bytes packets errs drop fifo frame compressed multicast|bytes\n"
	              "  eth0: 7000 70 1 2 0 0 0 0 8000 80 3 4 0 0 0 0\n"
	              "  eth1: 900 9 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n");
	fixture_write(f, "proc/loadavg", "0.50 1.25 2.75 3/456 7890\n");
	for (int i = 0; i < 3; i++) {
		static const char *const files[] = { "proc/pressure/cpu", "proc/pressure/memory",
			                             "proc/pressure/io" };

		fixture_write(f, files[i],
		              "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\n"
		              "full avg10=0.00 avg60=0.00 avg300=0.00 total=567\n");
	}
	fixture_write(f, "proc/1/mountinfo",
	              "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	              "21 20 8:16 / /srv rw,relatime - ext4 /dev/sdb rw,errors=continue\n");
}

START_TEST(system_after_short_reads_has_the_same_figures)
{
	write_system(&fix.root);
	assert_same_for_all_sizes(0);
}
END_TEST

/* The kernel keeps what is left of a record between two reads. */
START_TEST(live_figures_after_short_reads_are_there)
{
	static const size_t sizes[] = { 1, 7, 64, 150, 700, 1500, 4000 };
	struct rt_metrics system = sample_anew(0, NULL, 0, SIZE_MAX);
	struct rt_metrics self = sample_anew(getpid(), NULL, 0, SIZE_MAX);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct rt_metrics m = sample_anew(0, NULL, 0, sizes[i]);

		ck_assert_uint_eq(m.valid, system.valid);
		ck_assert_uint_eq(m.memory_total_bytes, system.memory_total_bytes);
		ck_assert_uint_eq(m.disks, system.disks);
		ck_assert_uint_eq(m.network_interfaces, system.network_interfaces);
		ck_assert_uint_ge(m.network_receive_bytes, system.network_receive_bytes);
		ck_assert_uint_ge(m.forks, system.forks);
		m = sample_anew(getpid(), NULL, 0, sizes[i]);
		ck_assert_uint_eq(m.valid, self.valid);
		ck_assert_uint_ge(m.cpu_user_ns + m.cpu_system_ns,
		                  self.cpu_user_ns + self.cpu_system_ns);
		ck_assert_uint_ge(m.read_chars, self.read_chars);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("short reads");
	TCase *fixtures = add_tree_case(suite, "fixtures"), *live = suite_case(suite, "live");

	tcase_add_test(fixtures, tree_after_short_reads_has_the_same_figures);
	tcase_add_test(fixtures, system_after_short_reads_has_the_same_figures);
	tcase_add_test(live, live_figures_after_short_reads_are_there);
	return suite_run(suite);
}
