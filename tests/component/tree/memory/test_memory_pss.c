/* SPDX-License-Identifier: MIT */
/* PSS by request: of a tree, and of its members. Without that it is an estimate that costs
 * nothing. */
#include "pool_fixture.h"

#include <errno.h>

#include "tree/tree_inside.h"

/* Strangers map the files, too: of those, the pool has a half. */
static void write_pool_with_strangers(int count)
{
	write_pool(count);
	for (int i = 0; i <= count; i++) {
		processes[i].anon_kib = kib(ANON) / ((uint64_t)count + 1);
		processes[i].pss_kib =
		    processes[i].anon_kib + kib(FILES) / 2 / ((uint64_t)count + 1);
		write_process(i);
	}
}

#define PSS (ANON + FILES / 2)

static const struct {
	uint32_t flags;
	uint64_t want;
} requests[] = { { RT_OPT_PSS_READS, 0 },
	         { 0, RT_HAS_PSS },
	         { 0, RT_HAS_PSS | RT_HAS_RSS | RT_HAS_FOOTPRINT } };

static void track_with_request(int i, uint32_t share)
{
	track_tree((struct rt_opts){
	    .flags = requests[i].flags, .want = requests[i].want, .pss_share = share });
}

static void check_pss(const struct rt_metrics *m, uint64_t pages)
{
	ck_assert_uint_eq(m->pss_bytes, pages_to_bytes(pages));
	ck_assert_uint_eq(m->pss_source, RT_PSS_READ);
	ck_assert_uint_ne(m->valid & RT_HAS_PSS, 0);
	ck_assert_uint_eq(m->estimated & RT_HAS_PSS, 0);
	ck_assert_uint_eq(m->pss_age_ns, 0);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), 0);
}

static void check_pss_is_estimated(const struct rt_metrics *m, int error)
{
	ck_assert_uint_eq(m->valid & RT_HAS_PSS, 0);
	ck_assert_uint_ne(m->estimated & RT_HAS_PSS, 0);
	ck_assert_uint_eq(m->pss_source, RT_PSS_ESTIMATED);
	ck_assert_int_eq(rt_tracker_status(fix.tracker, RT_HAS_PSS), error);
}

START_TEST(pss_that_was_asked_for_is_read_in_each_sample)
{
	struct rt_metrics m;

	write_pool_with_strangers(2);
	track_with_request(_i, 1000);
	m = take_sample_after(0);
	check_pss(&m, PSS);
	for (int i = 0; i <= 2; i++) { /* strangers have come, and no member has run */
		processes[i].pss_kib -= kib(50);
		write_process(i);
	}
	m = take_sample_after(MS);
	check_pss(&m, PSS - 150);
	ck_assert_uint_eq(m.peak_tree_pss_bytes, pages_to_bytes(PSS));
}
END_TEST

START_TEST(pss_of_programs_that_share_nothing_is_read_as_well)
{
	struct rt_metrics m;

	write_pool_with_strangers(1);
	execute_other_program(1);
	set_pages(1, 300, FILES, 3);
	processes[1].pss_kib = kib(300 + FILES / 4);
	processes[ROOT].pss_kib = kib(ANON + FILES / 4);
	write_process(ROOT);
	write_process(1);
	track_with_request(0, 1000);
	m = sample_pool_after(0);
	check_pss(&m, ANON + 300 + FILES / 2);
	ck_assert_uint_eq(m.footprint_bytes, pages_to_bytes(ANON + 300 + FILES));
}
END_TEST

/* Members of a pool are read for what they share. Of a program, nothing is read for that. */
START_TEST(pss_that_was_not_asked_for_is_estimated)
{
	struct rt_metrics m;

	write_pool_with_strangers(2);
	track_tree((struct rt_opts){ .pss_share = 1000 });
	m = sample_pool_after(0);
	check_pss_is_estimated(&m, -ENODATA);
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(PSS));
	ck_assert_uint_eq(m.peak_tree_pss_bytes, 0);
	ck_assert_uint_eq(get_row(101).valid & RT_HAS_PSS, RT_HAS_PSS);

	execute_other_program(1);
	set_pages(1, 300, FILES, 1);
	run_and_write(1);
	m = sample_pool_after(MS);
	check_pss_is_estimated(&m, -ENODATA);
	ck_assert_uint_eq(m.pss_bytes, m.footprint_bytes);
}
END_TEST

START_TEST(pss_beyond_the_budget_is_an_estimate)
{
	struct rt_metrics m;

	write_pool_with_strangers(2);
	track_with_request(_i, 1);
	take_savings();
	m = take_sample_after(0);
	check_pss_is_estimated(&m, -EDQUOT);
	ck_assert_uint_eq(m.pss_bytes, pages_to_bytes(ANON + FILES));
	give_savings();
	m = take_sample_after(SECOND);
	check_pss(&m, PSS);
}
END_TEST

/* A process is read in each sample while it fills its memory. Then it forks a pool. */
START_TEST(pss_leaves_half_of_the_savings_to_what_the_footprint_rests_on)
{
	struct rt_metrics m;

	write_pool(0);
	track_with_request(0, 1);
	m = sample_pool_after(0);
	check_pss(&m, ANON + FILES);
	set_pss_savings(fix.tracker, (int64_t)(50 * MS));
	run_and_write(ROOT);
	m = sample_pool_after(MS);
	check_pss_is_estimated(&m, -EDQUOT);
	fork_child(1);
	set_pages(ROOT, ANON, FILES, 2);
	write_process(ROOT);
	m = sample_pool_after(MS);
	check_exact(&m, ANON, FILES);
}
END_TEST

START_TEST(pss_of_which_one_member_cannot_be_read_is_an_estimate)
{
	struct rt_metrics m;

	write_pool_with_strangers(2);
	track_with_request(_i, 1000);
	faults_on_open("101/smaps_rollup", -EACCES);
	m = take_sample_after(0);
	check_pss_is_estimated(&m, -EACCES);
	ck_assert_uint_eq(get_row(101).valid & RT_HAS_PSS, 0);
	ck_assert_uint_ne(get_row(100).valid & RT_HAS_PSS, 0);
}
END_TEST

/* The flag that forbids reads of memory is the stronger one. */
START_TEST(pss_without_memory_reads_is_an_estimate)
{
	struct rt_metrics m;

	write_pool_with_strangers(2);
	track_tree((struct rt_opts){ .flags = RT_OPT_PSS_READS | RT_OPT_NO_MEMORY_READS });
	m = sample_pool_after(0);
	check_pss_is_estimated(&m, -EDQUOT);
}
END_TEST

/* While one member is read, another one changes. */
static void copy_pages(void *arg)
{
	(void)arg;
	processes[2].minflt += 600;
	write_process(2);
}

START_TEST(pss_during_which_a_member_changed_what_it_shares_is_an_estimate)
{
	struct rt_metrics m;

	write_pool_with_strangers(2);
	track_with_request(_i, 1000);
	faults_before_open("101/smaps_rollup", copy_pages, NULL);
	m = take_sample_after(0);
	check_pss_is_estimated(&m, -EBUSY);
}
END_TEST

/* --- Rows. --- */

static uint64_t sum_rows(int count)
{
	uint64_t sum = 0;

	for (int i = 0; i <= count; i++)
		sum += get_row(100 + i).pss_bytes;
	return sum;
}

START_TEST(rows_of_pss_that_was_read_are_valid_and_add_up)
{
	struct rt_metrics m;

	write_pool_with_strangers(2);
	track_with_request(0, 1000);
	m = sample_pool_after(0);
	for (int i = 0; i <= 2; i++) {
		struct rt_process row = get_row(100 + i);

		ck_assert_uint_eq(row.pss_bytes, pages_to_bytes(PSS / 3));
		ck_assert_uint_ne(row.valid & RT_HAS_PSS, 0);
		ck_assert_uint_eq(row.estimated & RT_HAS_PSS, 0);
		ck_assert_uint_eq(row.pss_source, RT_PSS_READ);
	}
	ck_assert_uint_eq(sum_rows(2), m.pss_bytes);
}
END_TEST

START_TEST(rows_of_an_estimate_are_estimated_and_add_up)
{
	struct rt_metrics m;

	write_pool(3);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS });
	m = sample_pool_after(0);
	for (int i = 0; i <= 3; i++) {
		struct rt_process row = get_row(100 + i);

		ck_assert_uint_eq(row.valid & RT_HAS_PSS, 0);
		ck_assert_uint_ne(row.estimated & RT_HAS_PSS, 0);
		ck_assert_uint_eq(row.pss_source, RT_PSS_ESTIMATED);
	}
	ck_assert_uint_ge(sum_rows(3) + pages_to_bytes(4), m.pss_bytes);
	ck_assert_uint_le(sum_rows(3), m.pss_bytes + pages_to_bytes(4));
}
END_TEST

START_TEST(row_of_a_zombie_has_no_pss)
{
	track_pool(1);
	sample_pool_after(0);
	processes[1].is_zombie = true;
	set_pages(ROOT, ANON, FILES, 1);
	run_and_write(1);
	write_process(ROOT);
	faults_on_open("101/smaps_rollup", -ESRCH);
	sample_pool_after(SECOND);
	ck_assert_uint_eq(get_row(101).pss_bytes, 0);
	ck_assert_uint_ne(get_row(101).valid & RT_HAS_PSS, 0);
}
END_TEST

#define REQUESTS ((int)(sizeof(requests) / sizeof(requests[0])))

int main(void)
{
	Suite *suite = suite_create("memory_pss");
	TCase *sums = add_member_case(suite, "sums"), *rows = add_member_case(suite, "rows");

	tcase_add_loop_test(sums, pss_that_was_asked_for_is_read_in_each_sample, 0, REQUESTS);
	tcase_add_test(sums, pss_of_programs_that_share_nothing_is_read_as_well);
	tcase_add_test(sums, pss_that_was_not_asked_for_is_estimated);
	tcase_add_loop_test(sums, pss_beyond_the_budget_is_an_estimate, 0, REQUESTS);
	tcase_add_test(sums, pss_leaves_half_of_the_savings_to_what_the_footprint_rests_on);
	tcase_add_loop_test(sums, pss_of_which_one_member_cannot_be_read_is_an_estimate, 0,
	                    REQUESTS);
	tcase_add_test(sums, pss_without_memory_reads_is_an_estimate);
	tcase_add_loop_test(sums, pss_during_which_a_member_changed_what_it_shares_is_an_estimate,
	                    0, REQUESTS);
	tcase_add_test(rows, rows_of_pss_that_was_read_are_valid_and_add_up);
	tcase_add_test(rows, rows_of_an_estimate_are_estimated_and_add_up);
	tcase_add_test(rows, row_of_a_zombie_has_no_pss);
	return suite_run(suite);
}
