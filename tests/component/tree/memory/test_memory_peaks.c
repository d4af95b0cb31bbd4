/* SPDX-License-Identifier: MIT */
/* The largest footprint: what raises it, what only raises its upper bound, and what lowers that. */
#include "pool_fixture.h"

#include <errno.h>

#include "tree/tree_inside.h"

/* With what may be owed, that pays for one member. */
#define ONE_READ (-(int64_t)(12 * MS))

/* A parent and three children, of which nothing more can be read after the first sample. */
static void track_pool_and_read_once(void)
{
	struct rt_metrics m;

	track_pool(3);
	m = sample_pool_after(0);
	check_exact(&m, ANON, FILES);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + FILES));
	take_savings();
}

/* Faults that made nothing grow. */
static void fault(int i, uint64_t count)
{
	processes[i].minflt += count;
	run_and_write(i);
}

static void poll_after(uint64_t ns)
{
	fix.now_ns += ns;
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
}

START_TEST(exact_footprint_raises_the_peak_which_stays)
{
	struct rt_metrics m;

	write_pool(0);
	track_tree((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_ne(m.partial & RT_HAS_PEAK_FOOTPRINT, 0);
	set_pages(ROOT, ANON + 500, FILES, 1);
	run_and_write(ROOT);
	sample_pool_after(SECOND);
	set_pages(ROOT, 100, FILES, 1);
	processes[ROOT].hwm_kib = kib(ANON + 500 + FILES);
	run_and_write(ROOT);
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(100 + FILES));
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + 500 + FILES));
	ck_assert_uint_eq(m.peak_footprint_low_bytes, pages_to_bytes(ANON + 500 + FILES));
	ck_assert_uint_eq(m.peak_footprint_high_bytes, pages_to_bytes(ANON + 500 + FILES));
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(ANON + 500));
	ck_assert_uint_ne(m.partial & RT_HAS_PEAK_FOOTPRINT, 0);
}
END_TEST

/* No sample saw what the kernel has as its peak. */
START_TEST(peak_is_at_least_that_of_its_largest_member)
{
	struct rt_metrics m;

	write_pool(0);
	processes[ROOT].hwm_kib = kib(5000);
	write_process(ROOT);
	track_tree((struct rt_opts){ .pss_share = 1 });
	m = sample_pool_after(0);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(5000));
	/* It may have mapped a page several times. */
	ck_assert_uint_eq(m.peak_footprint_low_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_ge(m.peak_footprint_high_bytes, pages_to_bytes(5000));
	ck_assert_uint_ne(m.partial & RT_HAS_PEAK_FOOTPRINT, 0);
	/* How much of it was files, it does not say. */
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(ANON));
}
END_TEST

/* Then it is a lower bound, whatever was estimated before. */
START_TEST(estimated_peak_below_that_of_a_member_gives_way_to_it)
{
	struct rt_metrics m;

	track_pool(1);
	take_savings();
	m = sample_pool_after(0);
	ck_assert_uint_ne(m.estimated & RT_HAS_PEAK_FOOTPRINT, 0);
	processes[ROOT].hwm_kib = kib(5000);
	run_and_write(ROOT);
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(5000));
	ck_assert_uint_ne(m.partial & RT_HAS_PEAK_FOOTPRINT, 0);
	/* The kernel has no peak of what is needed. */
	ck_assert_uint_ne(m.estimated & RT_HAS_PEAK_NEEDED, 0);
}
END_TEST

/* Workers that map and unmap memory all the time: their faults look like copies. */
START_TEST(copies_that_no_read_has_shown_raise_the_upper_bound_alone)
{
	struct rt_metrics m;

	track_pool_and_read_once();
	fault(1, 1000);
	m = sample_pool_after(MS);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + 1000 + FILES));
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(ANON));
	ck_assert_uint_ge(m.peak_footprint_high_bytes, pages_to_bytes(ANON + 1000 + FILES));
	ck_assert_uint_ge(m.peak_needed_high_bytes, pages_to_bytes(ANON + 1000));
}
END_TEST

START_TEST(read_that_shows_no_copies_lowers_the_upper_bound)
{
	uint64_t high, needed_high;
	struct rt_metrics m;

	track_pool_and_read_once();
	high = sample_pool_after(0).peak_footprint_high_bytes;
	needed_high = sample_pool_after(0).peak_needed_high_bytes;
	fault(1, 1000);
	sample_pool_after(MS);
	give_savings();
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON, FILES);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.peak_footprint_high_bytes, high);
	ck_assert_uint_eq(m.peak_needed_high_bytes, needed_high);

	/* And again, with the part that was learned. */
	take_savings();
	fault(1, 1000);
	m = sample_pool_after(MS);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_ge(m.peak_needed_high_bytes, pages_to_bytes(ANON + 1000));
}
END_TEST

START_TEST(read_that_shows_copies_raises_the_peak)
{
	struct rt_metrics m;

	track_pool_and_read_once();
	fault(1, 1000);
	for (int i = 0; i <= 3; i++) {
		processes[i].anon_kib = kib(ANON + 1000) / 4;
		processes[i].pss_kib = processes[i].anon_kib + kib(FILES) / 4;
		write_process(i);
	}
	sample_pool_after(MS);
	give_savings();
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON + 1000, FILES);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + 1000 + FILES));
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(ANON + 1000));
	ck_assert_uint_eq(m.peak_needed_low_bytes, pages_to_bytes(ANON + 1000));
}
END_TEST

/* What it had, no read can show any more. */
START_TEST(copies_of_a_member_that_ended_unread_raise_the_peak)
{
	struct rt_metrics m;

	track_pool_and_read_once();
	fault(1, 1000);
	sample_pool_after(MS);
	end_child(1);
	m = sample_pool_after(MS);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + 1000 + FILES));
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(ANON + 1000));
	ck_assert_uint_ne(m.estimated & RT_HAS_PEAK_FOOTPRINT, 0);

	/* From now on a read cannot lower it. */
	give_savings();
	for (int i = 0; i <= 3; i++) {
		if (i == 1)
			continue;
		set_pages(i, ANON, FILES, 3);
		write_process(i);
	}
	m = sample_pool_after(SECOND);
	check_exact(&m, ANON, FILES);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + 1000 + FILES));
	ck_assert_uint_ge(m.peak_footprint_high_bytes, m.peak_footprint_bytes);
}
END_TEST

/* There is enough for one read, and not for four. It shows how many faults of that member were
 * copies. Those that were not read are taken to have copied as little, also if they end. */
START_TEST(read_of_one_member_refutes_copies_of_all)
{
	const uint64_t copies = _i ? 500 : 0, all = ANON + 2 * copies + FILES;
	struct rt_metrics m;

	track_pool_and_read_once();
	for (int i = 1; i <= 2; i++) {
		processes[i].anon_kib = kib(copies + (ANON - copies) / 4);
		processes[i].pss_kib = processes[i].anon_kib + kib(FILES) / 4;
	}
	fault(1, 1000);
	fault(2, 1000);
	m = sample_pool_after(MS);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + 2000 + FILES));
	set_pss_savings(fix.tracker, ONE_READ);
	m = sample_pool_after(MS);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(all));
	ck_assert_uint_ne(m.estimated & RT_HAS_NEEDED, 0);
	ck_assert_int_lt(get_pss_savings(fix.tracker), ONE_READ);
	end_child(1);
	end_child(2);
	m = sample_pool_after(MS);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(all));
	ck_assert_uint_ge(m.peak_footprint_high_bytes, pages_to_bytes(ANON + 2000 + FILES));
}
END_TEST

/* A program that a tree has started shares nothing, so nothing was suspected of it. */
START_TEST(end_of_a_program_leaves_suspected_copies_of_others_unproven)
{
	struct rt_metrics m;

	write_pool(3);
	execute_other_program(3);
	set_pages(3, 100, FILES, 1);
	write_process(3);
	track_tree((struct rt_opts){ .pss_share = 1 });
	for (int i = 0; i < 3; i++) {
		set_pages(i, ANON, FILES, 3);
		write_process(i);
	}
	sample_pool_after(0);
	take_savings();
	fault(1, 1000);
	sample_pool_after(MS);
	end_child(3);
	m = sample_pool_after(MS);
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(ANON + 100));
}
END_TEST

/* What is no copy raises the peak at once: each page has come with a fault and made RSS grow. */
START_TEST(growth_beside_copies_raises_the_peak)
{
	struct rt_metrics m;

	track_pool_and_read_once();
	processes[2].rss_pages += 700;
	processes[2].minflt += 700;
	run_and_write(2);
	fault(1, 1000);
	m = sample_pool_after(MS);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + 700 + 1000 + FILES));
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + 700 + FILES));
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(ANON + 700));
	ck_assert_uint_ne(m.estimated & RT_HAS_PEAK_FOOTPRINT, 0);
}
END_TEST

/* --- Between samples. --- */

START_TEST(peak_poll_raises_the_peak)
{
	struct rt_metrics m;

	track_pool(1);
	sample_pool_after(0);
	processes[1].rss_pages += 900;
	processes[1].minflt += 900;
	run_and_write(1);
	poll_after(SECOND);
	processes[1].rss_pages -= 900;
	run_and_write(1);
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.footprint_anon_bytes, pages_to_bytes(ANON));
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + 900 + FILES));
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(ANON + 900));
}
END_TEST

/* A new peak that rests on what a read would show is read at once. */
START_TEST(peak_poll_reads_what_a_new_peak_rests_on)
{
	struct rt_metrics m;

	track_pool(1);
	sample_pool_after(0);
	fault(1, 1000);
	poll_after(SECOND);
	take_savings();
	m = sample_pool_after(MS);
	check_exact(&m, ANON, FILES);
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_lt(m.peak_needed_high_bytes, pages_to_bytes(ANON + 100));
}
END_TEST

/* statm does not tell shared memory from files. A poll reads status, which does, of a member that
 * has mapped much. */
START_TEST(shared_memory_that_only_a_poll_saw_is_in_the_upper_bound)
{
	struct rt_metrics m;

	track_pool(0);
	sample_pool_after(0);
	set_pages(ROOT, ANON, FILES + 5000, 1);
	processes[ROOT].shmem_kib = kib(5000);
	run_and_write(ROOT);
	set_pss_savings(fix.tracker, -(int64_t)SECOND); /* no read for a thousand seconds */
	poll_after(SECOND);
	set_pages(ROOT, ANON, FILES, 1);
	processes[ROOT].shmem_kib = 0;
	run_and_write(ROOT);
	m = sample_pool_after(SECOND);
	ck_assert_uint_ge(m.peak_footprint_high_bytes, pages_to_bytes(ANON + FILES + 5000));
	ck_assert_uint_ge(m.peak_needed_high_bytes, pages_to_bytes(ANON + 5000));
}
END_TEST

/* It came and went between two samples. */
START_TEST(program_that_only_a_poll_saw_is_in_the_peak)
{
	struct rt_metrics m;

	track_pool(0);
	sample_pool_after(0);
	make_process(1, false);
	processes[1].exe = "/bin/other";
	set_pages(1, 700, FILES, 1);
	write_process(1);
	list_children();
	poll_after(SECOND);
	end_child(1);
	m = sample_pool_after(SECOND);
	ck_assert_uint_eq(m.processes, 1);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + FILES));
	ck_assert_uint_eq(m.peak_footprint_bytes, pages_to_bytes(ANON + 700 + FILES));
	ck_assert_uint_eq(m.peak_needed_bytes, pages_to_bytes(ANON + 700));
	ck_assert_uint_ge(m.peak_footprint_high_bytes, pages_to_bytes(ANON + 700 + 2 * FILES));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_peaks");
	TCase *samples = add_member_case(suite, "samples"),
	      *polls = add_member_case(suite, "polls");

	tcase_add_test(samples, exact_footprint_raises_the_peak_which_stays);
	tcase_add_test(samples, peak_is_at_least_that_of_its_largest_member);
	tcase_add_test(samples, estimated_peak_below_that_of_a_member_gives_way_to_it);
	tcase_add_test(samples, copies_that_no_read_has_shown_raise_the_upper_bound_alone);
	tcase_add_test(samples, read_that_shows_no_copies_lowers_the_upper_bound);
	tcase_add_test(samples, read_that_shows_copies_raises_the_peak);
	tcase_add_test(samples, copies_of_a_member_that_ended_unread_raise_the_peak);
	tcase_add_loop_test(samples, read_of_one_member_refutes_copies_of_all, 0, 2);
	tcase_add_test(samples, end_of_a_program_leaves_suspected_copies_of_others_unproven);
	tcase_add_test(samples, growth_beside_copies_raises_the_peak);
	tcase_add_test(polls, peak_poll_raises_the_peak);
	tcase_add_test(polls, peak_poll_reads_what_a_new_peak_rests_on);
	tcase_add_test(polls, shared_memory_that_only_a_poll_saw_is_in_the_upper_bound);
	tcase_add_test(polls, program_that_only_a_poll_saw_is_in_the_peak);
	return suite_run(suite);
}
