/* SPDX-License-Identifier: MIT */
/* The memory of pools of real processes that fork, copy, grow, execute programs and end, against
 * their distinct page frames; without root, against the sum of PSS that the kernel shows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "family.h"
#include "record.h"
#include "suite.h"
#include "tracking.h"

#define MIB (UINT64_C(1) << 20)
#define PAUSE_US 20000

static struct {
	struct family family;
	struct rt_tracker *tracker;
	bool is_unlimited; /* what members share is read in each sample */
	bool reads_pss;
	bool counts_frames; /* else the truth is the sum of PSS */
} fix;

static void set_up(void)
{
	fix.tracker = NULL;
	fix.is_unlimited = false;
	fix.counts_frames = true;
	family_start(&fix.family, 1);
}

static void tear_down(void)
{
	rt_tracker_free(fix.tracker);
	family_end(&fix.family);
}

/* How memory is read. To count frames takes seconds. */
static const struct {
	uint32_t flags, share, hold_us;
	bool counts_frames;
} readings[] = {
	{ 0, 0, 0, true },
	{ RT_OPT_NO_MEMORY_READS, 0, 0, false },
	{ 0, 1000, 1000000, true },
	{ 0, 1, 0, false },
	{ RT_OPT_PROCESS_EVENTS, 0, 0, false },
	{ RT_OPT_PSS_READS, 1000, 1000000, false },
};

enum { READINGS = sizeof(readings) / sizeof(readings[0]) };

static void track_family(int reading)
{
	const struct rt_opts opts = {
		.size = sizeof(opts),
		.flags = readings[reading].flags,
		.pss_share = readings[reading].share,
		.pss_hold_us = readings[reading].hold_us,
	};

	fix.is_unlimited = readings[reading].share >= 1000;
	fix.counts_frames = readings[reading].counts_frames;
	fix.reads_pss = readings[reading].flags & RT_OPT_PSS_READS;
	ck_assert_int_eq(rt_pid_tracker_new(&fix.tracker, fix.family.member[0].pid, &opts), 0);
}

/* --- The truth. --- */

struct truth {
	uint64_t anon, shmem, file; /* bytes; without root, all of it is in anon */
};

/* The members wait for the test, so nothing changes meanwhile. */
static uint64_t sum_pss(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < fix.family.count; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/smaps_rollup",
		         (int)fix.family.member[i].pid);
		if (fix.family.member[i].pid)
			sum += read_proc_value(path, "Pss:") * 1024;
	}
	return sum;
}

/* Count the page frames of processes by their page tables: tests/accuracy/frames.c. */
static struct truth count_frames(const char *pids)
{
	struct truth truth = { 0 };
	char command[1024], name[32];
	unsigned long long bytes;
	FILE *frames;

	snprintf(command, sizeof(command), "%s%s", getenv("RT_TEST_FRAMES"), pids);
	frames = popen(command, "r");
	ck_assert_ptr_nonnull(frames);
	while (fscanf(frames, "%31s %llu", name, &bytes) == 2) {
		if (!strcmp(name, "anon"))
			truth.anon = bytes;
		else if (!strcmp(name, "shmem"))
			truth.shmem = bytes;
		else if (!strcmp(name, "file"))
			truth.file = bytes;
		else
			ck_assert_msg(bytes == 0, "%s %llu", name, bytes);
	}
	ck_assert_int_eq(pclose(frames), 0);
	return truth;
}

static bool sees_frames(void)
{
	return fix.counts_frames && getenv("RT_TEST_FRAMES") && geteuid() == 0 &&
	       !access("/proc/kpageflags", R_OK);
}

/* A member that has answered may still run, on a busy system. */
static void await_family(void)
{
	for (size_t i = 0; i < fix.family.count; i++) {
		if (fix.family.member[i].pid)
			family_await_sleep(&fix.family, i);
	}
}

static struct truth measure_family(void)
{
	char pids[16 * FAMILY_MOST] = "";

	await_family();
	if (!sees_frames())
		return (struct truth){ .anon = sum_pss() };
	for (size_t i = 0; i < fix.family.count; i++) {
		if (fix.family.member[i].pid)
			snprintf(pids + strlen(pids), sizeof(pids) - strlen(pids), " %d",
			         (int)fix.family.member[i].pid);
	}
	return count_frames(pids);
}

static uint64_t all_of(const struct truth *truth)
{
	return truth->anon + truth->shmem + truth->file;
}

/* --- What the library says. --- */

static void check_near(const char *what, const char *figure, uint64_t value, uint64_t truth,
                       uint64_t percent)
{
	ck_assert_msg(value + truth * percent / 100 >= truth &&
	                  value <= truth + truth * percent / 100,
	              "%s: %s %.1f MiB, and in truth %.1f MiB", what, figure,
	              (double)value / (double)MIB, (double)truth / (double)MIB);
}

/* statm is off by the pages that each CPU has yet to add, so there is some room. */
static void check_bounds(const char *what, uint64_t low, uint64_t bytes, uint64_t high,
                         uint64_t truth)
{
	ck_assert_msg(low <= bytes && bytes <= high && low <= truth + truth / 50 &&
	                  high >= truth - truth / 50,
	              "%s: %.1f to %.1f MiB, and in truth %.1f MiB", what,
	              (double)low / (double)MIB, (double)high / (double)MIB,
	              (double)truth / (double)MIB);
}

static uint64_t sum_rows(void)
{
	struct rt_process rows[FAMILY_MOST];
	size_t count = FAMILY_MOST;
	uint64_t sum = 0;

	ck_assert_int_eq(rt_tracker_processes(fix.tracker, rows, sizeof(rows[0]), &count), 0);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_ne((rows[i].valid | rows[i].estimated) & RT_HAS_PSS, 0);
		sum += rows[i].pss_bytes;
	}
	return sum;
}

/* least_mib: what the test knows of the memory. The rest is that of the programs. */
static void check_memory(const char *what, uint64_t least_mib)
{
	struct truth truth = measure_family();
	uint64_t all = all_of(&truth), needed = truth.anon + truth.shmem, pss = sum_pss();
	struct rt_metrics m;

	usleep(PAUSE_US);
	m = sample(fix.tracker);
	ck_assert_uint_ge(needed, least_mib * MIB);
	ck_assert_uint_eq(m.partial & (RT_HAS_FOOTPRINT | RT_HAS_NEEDED), 0);
	if (fix.is_unlimited)
		ck_assert_msg(m.valid & RT_HAS_NEEDED, "%s: error %d", what,
		              rt_tracker_status(fix.tracker, RT_HAS_NEEDED));
	if (m.valid & RT_HAS_FOOTPRINT)
		check_near(what, "valid", m.footprint_bytes, all, 2);
	if (m.valid & RT_HAS_NEEDED && sees_frames())
		check_near(what, "needed, valid", m.needed_bytes, needed, 2);
	/* A page that both sides of a fork write to counts twice: no file tells the second
	 * write. */
	check_near(what, "the footprint", m.footprint_bytes, all, 6);
	check_near(what, "needed", m.needed_bytes, needed, 6);
	check_near(what, "the rows", sum_rows(), pss, 6);
	check_bounds(what, m.footprint_low_bytes, m.footprint_bytes, m.footprint_high_bytes, all);
	if (sees_frames())
		check_bounds(what, m.needed_low_bytes, m.needed_bytes, m.needed_high_bytes, needed);
	ck_assert_uint_ge(m.peak_footprint_low_bytes, m.footprint_low_bytes);
	ck_assert_uint_ge(m.peak_footprint_high_bytes, m.footprint_bytes);
	if (!fix.reads_pss)
		return;
	ck_assert_uint_ne(m.valid & RT_HAS_PSS, 0);
	check_near(what, "PSS", m.pss_bytes, pss, 2);
}

static void tell(size_t member, enum family_deed deed, int32_t mib)
{
	ck_assert_int_eq(family_tell(&fix.family, member, deed, mib), 0);
}

START_TEST(pool_that_is_followed_from_the_start_is_close_to_the_truth)
{
	track_family(_i);
	tell(0, FAMILY_GROW, 200);
	check_memory("the root has grown", 200);
	for (int i = 0; i < 6; i++)
		family_grow(&fix.family);
	check_memory("six were forked", 200);
	for (size_t i = 1; i <= 6; i++)
		tell(i, FAMILY_COPY, 20);
	check_memory("six have copied", 320);
	for (size_t i = 1; i <= 3; i++)
		tell(i, FAMILY_GROW, 30);
	check_memory("three have grown", 410);
	family_fork_from(&fix.family, 2);
	check_memory("one has forked", 410);
	tell(7, FAMILY_COPY, 60);
	check_memory("its child has copied", 470);
	tell(0, FAMILY_COPY_LAST, 40);
	check_memory("the root has copied", 510);
	family_shrink(&fix.family, 3);
	check_memory("one has ended", 460);
	tell(4, FAMILY_EXEC, 0);
	check_memory("one has executed a program", 440);
	tell(0, FAMILY_GROW, 50);
	check_memory("the root has grown again", 490);
}
END_TEST

START_TEST(pool_that_is_found_late_is_close_to_the_truth)
{
	tell(0, FAMILY_GROW, 200);
	for (int i = 0; i < 4; i++)
		family_grow(&fix.family);
	for (size_t i = 1; i <= 4; i++)
		tell(i, FAMILY_COPY, 50);
	family_fork_from(&fix.family, 1);
	tell(2, FAMILY_GROW, 30);
	track_family(_i);
	check_memory("five were found", 430);
	tell(3, FAMILY_GROW, 20);
	check_memory("one has grown", 450);
}
END_TEST

/* Children come and go, and each copies and grows. */
START_TEST(pool_with_short_lived_children_is_close_to_the_truth)
{
	track_family(_i);
	tell(0, FAMILY_GROW, 150);
	for (int round = 0; round < 12; round++) {
		size_t child = family_grow(&fix.family);

		tell(child, FAMILY_COPY, 10 + round % 3 * 20);
		tell(child, FAMILY_GROW, 10);
		check_memory("one is new", 150);
		if (round >= 4)
			family_shrink(&fix.family, child - 4);
		check_memory("one has ended", 150);
	}
}
END_TEST

START_TEST(pool_the_parent_of_which_frees_memory_is_within_the_bounds)
{
	track_family(_i);
	tell(0, FAMILY_GROW, 200);
	for (int i = 0; i < 3; i++)
		family_grow(&fix.family);
	check_memory("three were forked", 200);
	tell(0, FAMILY_DROP, 150);
	check_memory("the root has freed what its children share", 200);
}
END_TEST

START_TEST(pool_the_parent_of_which_executes_a_program_is_close_to_the_truth)
{
	track_family(_i);
	tell(0, FAMILY_GROW, 200);
	family_grow(&fix.family);
	for (int i = 0; i < 3; i++)
		family_fork_from(&fix.family, 1);
	check_memory("four were forked", 200);
	tell(2, FAMILY_COPY, 50);
	check_memory("one has copied", 250);
	tell(1, FAMILY_EXEC, 0);
	check_memory("their parent has executed a program", 250);
	tell(3, FAMILY_COPY, 50);
	check_memory("another has copied", 300);
}
END_TEST

/* Peak polls alone see the pool at its largest. */
START_TEST(peak_of_a_pool_between_two_samples_is_close_to_the_truth)
{
	struct rt_metrics m;
	struct truth parts;
	uint64_t all;

	track_family(_i);
	tell(0, FAMILY_GROW, 100);
	check_memory("the root has grown", 100);
	for (int i = 0; i < 4; i++)
		family_grow(&fix.family);
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	for (size_t i = 1; i <= 4; i++) {
		tell(i, FAMILY_COPY, 50);
		tell(i, FAMILY_GROW, 50);
	}
	parts = measure_family();
	all = all_of(&parts);
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	for (size_t i = 1; i <= 4; i++)
		family_shrink(&fix.family, i);

	m = sample(fix.tracker);

	ck_assert_uint_ge(parts.anon, 500 * MIB);
	ck_assert_uint_lt(m.footprint_bytes, 200 * MIB);
	check_near("polled", "the peak", m.peak_footprint_bytes, all, 5);
	check_near("polled", "the peak of what is needed", m.peak_needed_bytes,
	           parts.anon + parts.shmem, 5);
	check_bounds("the peak", m.peak_footprint_low_bytes, m.peak_footprint_bytes,
	             m.peak_footprint_high_bytes, all);
	ck_assert_uint_eq(m.valid & RT_HAS_PEAK_FOOTPRINT, 0);
	ck_assert_uint_ne((m.partial | m.estimated) & RT_HAS_PEAK_FOOTPRINT, 0);
}
END_TEST

/* --- Shared memory. --- */

#define BLOCK (16 * MIB)

/* The same block four times, as mirrored rings and pages of a just-in-time compiler are. */
static void map_four_times(void *arg)
{
	int fd = memfd_create("block", MFD_CLOEXEC);

	(void)arg;
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, BLOCK), 0);
	for (int i = 0; i < 4; i++) {
		char *at = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		ck_assert(at != MAP_FAILED);
		memset(at, 1, BLOCK);
	}
}

START_TEST(block_that_one_process_maps_four_times_counts_once)
{
	struct child child;
	struct rt_metrics m;
	char pid[16];

	child_start(&child, map_four_times, NULL);
	fix.tracker = track(child.pid);
	m = sample(fix.tracker);
	ck_assert_uint_ge(m.rss_bytes, 4 * BLOCK);
	ck_assert_uint_eq(m.footprint_shmem_bytes, BLOCK);
	ck_assert_uint_le(m.footprint_bytes, m.rss_bytes - 3 * BLOCK);
	ck_assert_uint_ne(m.valid & RT_HAS_NEEDED, 0);
	ck_assert_uint_lt(m.peak_footprint_bytes, 3 * BLOCK);
	ck_assert_uint_lt(m.peak_footprint_low_bytes, 3 * BLOCK);
	snprintf(pid, sizeof(pid), " %d", (int)child.pid);
	if (sees_frames()) {
		const struct truth truth = count_frames(pid);

		ck_assert_uint_eq(truth.shmem, BLOCK);
		check_near("mapped four times", "the footprint", m.footprint_bytes, all_of(&truth),
		           2);
	}
	child_end(&child);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree_memory");
	TCase *pools = suite_case(suite, "pools"), *peaks = suite_case(suite, "peaks"),
	      *shmem = suite_case(suite, "shmem");

	tcase_add_checked_fixture(pools, set_up, tear_down);
	tcase_add_checked_fixture(peaks, set_up, tear_down);
	tcase_add_checked_fixture(shmem, set_up, tear_down);
	tcase_add_loop_test(pools, pool_that_is_followed_from_the_start_is_close_to_the_truth, 0,
	                    READINGS);
	tcase_add_loop_test(pools, pool_that_is_found_late_is_close_to_the_truth, 0, READINGS);
	tcase_add_loop_test(pools, pool_with_short_lived_children_is_close_to_the_truth, 0,
	                    READINGS);
	tcase_add_loop_test(pools, pool_the_parent_of_which_frees_memory_is_within_the_bounds, 0,
	                    READINGS);
	tcase_add_loop_test(
	    pools, pool_the_parent_of_which_executes_a_program_is_close_to_the_truth, 0, READINGS);
	tcase_add_loop_test(peaks, peak_of_a_pool_between_two_samples_is_close_to_the_truth, 0,
	                    READINGS);
	tcase_add_test(shmem, block_that_one_process_maps_four_times_counts_once);
	return suite_run(suite);
}
