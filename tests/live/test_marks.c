/* SPDX-License-Identifier: MIT */
/* Marks of real trees: a peak after the mark is seen, and one before it is not. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "children.h"
#include "suite.h"
#include "tracking.h"

#define PEAK_BYTES (UINT64_C(100) << 20)
/* Each CPU keeps some pages to itself before it adds them to RSS (lib/percpu_counter.c). */
#define UNSEEN_BYTES (UINT64_C(4) << 20)
#define MORE_BYTES (UINT64_C(150) << 20)

/* What a child does next, and what it has done. */
struct script {
	atomic_int asked, done;
};

static void touch(uint64_t bytes)
{
	char *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(90);
	memset(memory, 1, bytes);
	munmap(memory, bytes);
}

static void follow(void *arg)
{
	struct script *script = arg;

	for (int step = 1; step <= 3; step++) {
		while (atomic_load(&script->asked) < step)
			usleep(500);
		touch(step == 3 ? MORE_BYTES : PEAK_BYTES);
		atomic_store(&script->done, step);
	}
}

static int is_done(void *arg)
{
	struct script *script = arg;

	return atomic_load(&script->done) == atomic_load(&script->asked);
}

static void do_step(struct script *script, int step)
{
	atomic_store(&script->asked, step);
	wait_until(is_done, script);
}

static uint64_t mark(struct rt_tracker *t)
{
	uint64_t id;

	ck_assert_int_eq(rt_tracker_mark(t, "a block", &id), 0);
	return id;
}

static struct rt_peaks since(struct rt_tracker *t, uint64_t id)
{
	struct rt_peaks peaks;

	ck_assert_int_eq(rt_tracker_since(t, id, &peaks, sizeof(peaks)), 0);
	ck_assert_uint_eq(peaks.size, sizeof(peaks));
	ck_assert_str_eq(peaks.label, "a block");
	ck_assert_uint_eq(peaks.valid & (peaks.partial | peaks.estimated), 0);
	ck_assert_uint_ne(peaks.partial & RT_HAS_PEAK_RSS, 0);
	ck_assert_uint_ne((peaks.partial | peaks.estimated) & RT_HAS_PEAK_FOOTPRINT, 0);
	return peaks;
}

static void check_has_peak(const struct rt_peaks *peaks, uint64_t bytes)
{
	ck_assert_uint_ge(peaks->peak_rss_bytes, bytes - UNSEEN_BYTES);
	ck_assert_uint_ge(peaks->peak_footprint_bytes, bytes - UNSEEN_BYTES);
	ck_assert_uint_lt(peaks->peak_rss_bytes, 2 * bytes);
	ck_assert_uint_lt(peaks->peak_footprint_bytes, 2 * bytes);
}

static void check_has_none(const struct rt_peaks *peaks)
{
	ck_assert_uint_gt(peaks->peak_rss_bytes, 0);
	ck_assert_uint_lt(peaks->peak_rss_bytes, PEAK_BYTES - UNSEEN_BYTES);
	ck_assert_uint_gt(peaks->peak_footprint_bytes, 0);
	ck_assert_uint_lt(peaks->peak_footprint_bytes, PEAK_BYTES - UNSEEN_BYTES);
}

/* No sample and no poll is taken while the memory is there: only the kernel saw it. A peak that is
 * no larger than an earlier one leaves no trace of that kind, so step 2 is not asked about. */
START_TEST(mark_tells_a_peak_that_came_after_it_alone)
{
	struct script *script = map_shared(sizeof(*script));
	struct child child;
	struct rt_tracker *t;
	uint64_t first, second, third;
	struct rt_peaks peaks;

	child_start_async(&child, follow, script);
	t = track(child.pid);
	first = mark(t);
	do_step(script, 1);
	second = mark(t);
	peaks = since(t, first);
	check_has_peak(&peaks, PEAK_BYTES);
	peaks = since(t, second);
	check_has_none(&peaks);
	do_step(script, 2);
	third = mark(t);
	do_step(script, 3);
	peaks = since(t, third);
	check_has_peak(&peaks, MORE_BYTES);
	peaks = since(t, first);
	check_has_peak(&peaks, MORE_BYTES);
	ck_assert_int_eq(rt_tracker_unmark(t, first), 0);
	ck_assert_int_eq(rt_tracker_since(t, first, &peaks, sizeof(peaks)), -ENOENT);
	since(t, second);
	rt_tracker_free(t);
	child_await(&child);
	child_end(&child);
	munmap(script, sizeof(*script));
}
END_TEST

/* A tracker made after a peak must not take it for its own. */
START_TEST(mark_of_a_new_tracker_does_not_have_what_was_before)
{
	struct script *script = map_shared(sizeof(*script));
	struct child child;
	struct rt_metrics m;
	struct rt_tracker *t;
	struct rt_peaks peaks;
	uint64_t id;

	child_start_async(&child, follow, script);
	do_step(script, 1);
	t = track(child.pid);
	id = mark(t);
	m = sample(t);
	ck_assert_uint_ge(m.peak_rss_bytes, PEAK_BYTES - UNSEEN_BYTES);
	peaks = since(t, id);
	check_has_none(&peaks);
	rt_tracker_free(t);
	do_step(script, 2);
	do_step(script, 3);
	child_await(&child);
	child_end(&child);
	munmap(script, sizeof(*script));
}
END_TEST

static void do_nothing(void *arg)
{
	(void)arg;
}

START_TEST(mark_counts_processes_at_the_same_time)
{
	struct rt_tracker *t = track(getpid());
	struct child children[4];
	struct rt_peaks peaks;
	uint64_t before = mark(t), after;

	for (int i = 0; i < 4; i++)
		child_start(&children[i], do_nothing, NULL);
	ck_assert_int_eq(rt_tracker_glance(t), 0);
	for (int i = 3; i >= 0; i--) /* the later ones have copies of its pipe */
		child_end(&children[i]);
	after = mark(t);
	peaks = since(t, before);
	ck_assert_uint_ne(peaks.partial & RT_HAS_PROCESSES_PEAK, 0);
	ck_assert_uint_eq(peaks.processes_peak, 5);
	peaks = since(t, after);
	ck_assert_uint_eq(peaks.processes_peak, 1);
	rt_tracker_free(t);
}
END_TEST

START_TEST(mark_of_an_ended_tree_keeps_what_was_seen)
{
	struct child child;
	struct rt_tracker *t;
	struct rt_peaks before, after;
	uint64_t id;

	child_start(&child, do_nothing, NULL);
	t = track(child.pid);
	id = mark(t);
	before = since(t, id);
	child_end(&child);
	after = since(t, id);
	ck_assert_uint_eq(after.peak_rss_bytes, before.peak_rss_bytes);
	ck_assert_uint_eq(after.peak_footprint_bytes, before.peak_footprint_bytes);
	rt_tracker_free(t);
}
END_TEST

START_TEST(label_that_is_too_long_is_cut)
{
	struct rt_tracker *t = track(getpid());
	struct rt_peaks peaks;
	char label[200];
	uint64_t id;

	memset(label, 'x', sizeof(label) - 1);
	label[sizeof(label) - 1] = '\0';
	ck_assert_int_eq(rt_tracker_mark(t, label, &id), 0);
	ck_assert_int_eq(rt_tracker_since(t, id, &peaks, sizeof(peaks)), 0);
	ck_assert_uint_eq(strlen(peaks.label), sizeof(peaks.label) - 1);
	ck_assert_int_eq(rt_tracker_mark(t, NULL, &id), 0);
	ck_assert_int_eq(rt_tracker_since(t, id, &peaks, sizeof(peaks)), 0);
	ck_assert_str_eq(peaks.label, "");
	rt_tracker_free(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("marks");
	TCase *tc = suite_case(suite, "marks");

	tcase_add_test(tc, mark_tells_a_peak_that_came_after_it_alone);
	tcase_add_test(tc, mark_of_a_new_tracker_does_not_have_what_was_before);
	tcase_add_test(tc, mark_counts_processes_at_the_same_time);
	tcase_add_test(tc, mark_of_an_ended_tree_keeps_what_was_seen);
	tcase_add_test(tc, label_that_is_too_long_is_cut);
	return suite_run(suite);
}
