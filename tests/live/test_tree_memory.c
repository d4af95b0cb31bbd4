/* SPDX-License-Identifier: MIT */
/* The memory of pools of real processes that fork, copy, grow, execute programs and end, against
 * the sum of PSS that the kernel shows of them. */
#include <stdio.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "family.h"
#include "record.h"
#include "suite.h"
#include "tracking.h"

#define MIB (UINT64_C(1) << 20)
#define PAUSE_US 20000

static struct {
	struct family family;
	struct rt_tracker *tracker;
	bool is_unlimited; /* PSS is read in each sample */
} fix;

static void set_up(void)
{
	fix.tracker = NULL;
	fix.is_unlimited = false;
	family_start(&fix.family, 1);
}

static void tear_down(void)
{
	rt_tracker_free(fix.tracker);
	family_end(&fix.family);
}

/* How PSS is read. */
static const struct {
	uint32_t flags, share, hold_us;
} readings[] = {
	{ 0, 0, 0 }, { RT_OPT_NO_PSS_READS, 0, 0 },   { 0, 1000, 1000000 },
	{ 0, 1, 0 }, { RT_OPT_PROCESS_EVENTS, 0, 0 },
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
	ck_assert_int_eq(rt_pid_tracker_new(&fix.tracker, fix.family.member[0].pid, &opts), 0);
}

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

static void check_near(const char *what, const char *figure, uint64_t value, uint64_t truth,
                       uint64_t percent)
{
	ck_assert_msg(value + truth * percent / 100 >= truth &&
	                  value <= truth + truth * percent / 100,
	              "%s: %s %.1f MiB, and by PSS %.1f MiB", what, figure,
	              (double)value / (double)MIB, (double)truth / (double)MIB);
}

/* Processes outside of the tree share libraries with it, and come and go. So the bounds are
 * compared with some room. */
static void check_bounds(const struct rt_metrics *m, uint64_t truth)
{
	ck_assert_uint_le(m->pss_low_bytes, m->pss_bytes);
	ck_assert_uint_ge(m->pss_high_bytes, m->pss_bytes);
	ck_assert_uint_le(m->pss_low_bytes, truth + truth / 50);
	ck_assert_uint_ge(m->pss_high_bytes, truth - truth / 50);
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
	uint64_t truth = sum_pss();
	struct rt_metrics m;

	usleep(PAUSE_US);
	m = sample(fix.tracker);
	ck_assert_uint_ge(truth, least_mib * MIB);
	ck_assert_uint_eq(m.partial & RT_HAS_PSS, 0);
	if (m.valid & RT_HAS_PSS)
		check_near(what, "valid", m.pss_bytes, truth, 2);
	else
		ck_assert_uint_ne(m.estimated & RT_HAS_PSS, 0);
	if (fix.is_unlimited)
		ck_assert_uint_ne(m.valid & RT_HAS_PSS, 0);
	/* A page that both sides of a fork write to counts twice: no file tells the second
	 * write. */
	check_near(what, "the sum", m.pss_bytes, truth, 6);
	check_near(what, "the rows", sum_rows(), truth, 6);
	check_bounds(&m, truth);
	ck_assert_uint_ge(m.peak_tree_bytes, m.pss_bytes);
}

static void tell(size_t member, enum family_deed deed, int32_t mib)
{
	ck_assert_int_eq(family_tell(&fix.family, member, deed, mib), 0);
}

START_TEST(pool_that_is_followed_from_the_start_is_close_to_pss)
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

START_TEST(pool_that_is_found_late_is_close_to_pss)
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
START_TEST(pool_with_short_lived_children_is_close_to_pss)
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

START_TEST(pool_the_parent_of_which_executes_a_program_is_close_to_pss)
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
START_TEST(peak_of_a_pool_between_two_samples_is_close_to_pss)
{
	struct rt_metrics m;
	uint64_t truth;

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
	truth = sum_pss();
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	for (size_t i = 1; i <= 4; i++)
		family_shrink(&fix.family, i);

	m = sample(fix.tracker);

	ck_assert_uint_ge(truth, 500 * MIB);
	ck_assert_uint_lt(m.pss_bytes, 200 * MIB);
	check_near("polled", "the peak", m.peak_tree_bytes, truth, 5);
	ck_assert_uint_eq(m.valid & RT_HAS_PEAK_TREE, 0);
	ck_assert_uint_ne((m.partial | m.estimated) & RT_HAS_PEAK_TREE, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree_memory");
	TCase *pools = suite_case(suite, "pools"), *peaks = suite_case(suite, "peaks");

	tcase_add_checked_fixture(pools, set_up, tear_down);
	tcase_add_checked_fixture(peaks, set_up, tear_down);
	tcase_add_loop_test(pools, pool_that_is_followed_from_the_start_is_close_to_pss, 0,
	                    READINGS);
	tcase_add_loop_test(pools, pool_that_is_found_late_is_close_to_pss, 0, READINGS);
	tcase_add_loop_test(pools, pool_with_short_lived_children_is_close_to_pss, 0, READINGS);
	tcase_add_loop_test(pools, pool_the_parent_of_which_frees_memory_is_within_the_bounds, 0,
	                    READINGS);
	tcase_add_loop_test(pools, pool_the_parent_of_which_executes_a_program_is_close_to_pss, 0,
	                    READINGS);
	tcase_add_loop_test(peaks, peak_of_a_pool_between_two_samples_is_close_to_pss, 0, READINGS);
	return suite_run(suite);
}
