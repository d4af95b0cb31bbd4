/* SPDX-License-Identifier: MIT */
/* Reads that return less than there is: whatever their size, all figures are the same. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "system_files.h"
#include "tree_fixture.h"
#include "tree/tree_inside.h"

#define SIZES 1800 /* above the length of every file here */
#define SAMPLES_MAX 100

static size_t most; /* bytes that one read returns */

static ssize_t pread_short(int fd, void *buf, size_t len, off_t offset)
{
	return rti_procfs_linux.pread(fd, buf, len < most ? len : most, offset);
}

/* A file system that does not fill up meanwhile. */
static int space_of_fixture(const char *root, const char *path, struct rti_space *out)
{
	(void)root;
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

/* Below another root, a thread asks file systems for their space. It may lack a CPU for a while. */
static bool has_space(const struct rt_tracker *tracker)
{
	return rt_tracker_status(tracker, RT_HAS_FILESYSTEM) != -ETIMEDOUT;
}

/* Take two samples with a new tracker, or more until all file systems have answered. Returns the
 * last one, without what no file decides. */
static struct rt_metrics sample_anew(int pid, const char *root, uint64_t want, size_t size)
{
	const struct rt_opts opts = { .size = sizeof(opts), .root = root, .want = want };
	struct rti_procfs_ops ops = get_short_ops();
	struct rt_tracker *tracker;
	struct rt_metrics m = { 0 };

	most = size;
	ck_assert_int_eq(rti_tracker_new(&tracker, pid, &opts, &ops), 0);
	assume_nothing_unseen(tracker);
	for (int i = 0; i < 2 || (i < SAMPLES_MAX && !has_space(tracker)); i++) {
		memset(&m, 0, sizeof(m));
		ck_assert_int_eq(rt_sample(tracker, &m, sizeof(m)), 0);
	}
	rt_tracker_free(tracker);
	m.monotonic_ns = m.boottime_ns = m.realtime_ns = m.self_cpu_ns = m.tracker_id =
	    m.pss_age_ns = 0;
	return m;
}

static unsigned long long word_of(const struct rt_metrics *m, size_t i)
{
	unsigned long long word;

	memcpy(&word, (const char *)m + sizeof(word) * i, sizeof(word));
	return word;
}

static void assert_same_for_all_sizes(int pid)
{
	struct rt_metrics whole = sample_anew(pid, fix.root.root, 0, SIZE_MAX);

	ck_assert_uint_ne(whole.valid, 0);
	for (size_t size = 1; size <= SIZES; size++) {
		struct rt_metrics m = sample_anew(pid, fix.root.root, 0, size);

		for (size_t i = 0; i < sizeof(m) / 8; i++)
			ck_assert_msg(word_of(&m, i) == word_of(&whole, i),
			              "reads of %zu bytes: the field at %zu is %#llx, not %#llx",
			              size, 8 * i, word_of(&m, i), word_of(&whole, i));
	}
}

START_TEST(tree_after_short_reads_has_the_same_figures)
{
	write_family();
	assert_same_for_all_sizes(100);
}
END_TEST

START_TEST(system_after_short_reads_has_the_same_figures)
{
	system_files_write(&fix.root);
	assert_same_for_all_sizes(0);
}
END_TEST

/* What is known of memory, however surely: the time that a read takes decides that. */
static uint64_t known_of(const struct rt_metrics *m)
{
	return m->valid | m->partial | m->estimated;
}

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
		ck_assert_uint_eq(known_of(&m), known_of(&self));
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
