/* SPDX-License-Identifier: MIT */
/* The PSS budget: what reads may cost over time, what one read is expected to cost, and when a
 * round of reads can be paid for. */
#include "suite.h"

#include "tree/pure/pss_budget.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)
#define MIB (UINT64_C(1) << 20)
#define PAGE 4096
#define SAVINGS_NS (100 * MS) /* at the start, and at most */
#define HOLD_NS (50 * MS)     /* the longest read, unless the caller says otherwise */
#define FAR UINT64_C(1000000000000000)

/* A budget and a clock of the test. */
static struct {
	struct rti_pss_budget budget;
	uint64_t now_ns, spent_ns, random_state;
} fix;

static uint64_t random_below(uint64_t limit)
{
	fix.random_state =
	    fix.random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (fix.random_state >> 33) % limit;
}

static void begin_budget(uint32_t share, uint32_t hold_us)
{
	fix.now_ns = 1000 * SECOND;
	fix.spent_ns = 0;
	rti_pss_init(&fix.budget, share, hold_us);
	rti_pss_save(&fix.budget, fix.now_ns);
}

static void pass(uint64_t ns)
{
	fix.now_ns += ns;
	rti_pss_save(&fix.budget, fix.now_ns);
}

static void spend(uint64_t rss_bytes, uint64_t cost_ns)
{
	rti_pss_spend(&fix.budget, rss_bytes, cost_ns);
	fix.spent_ns += cost_ns;
}

/* Use up the budget, and leave this much. */
static void leave(uint64_t ns)
{
	spend(0, SAVINGS_NS - ns);
}

START_TEST(budget_of_options_that_are_0_is_a_hundredth_of_a_cpu)
{
	begin_budget(0, 0);
	ck_assert(rti_pss_can_afford(&fix.budget, SAVINGS_NS));
	ck_assert(!rti_pss_can_afford(&fix.budget, SAVINGS_NS + 1));
	ck_assert(rti_pss_is_short(&fix.budget, HOLD_NS));
	ck_assert(!rti_pss_is_short(&fix.budget, HOLD_NS + 1));

	leave(0);
	ck_assert(!rti_pss_can_afford(&fix.budget, 1));
	pass(SECOND);
	ck_assert(rti_pss_can_afford(&fix.budget, 10 * MS));
	ck_assert(!rti_pss_can_afford(&fix.budget, 10 * MS + 1));
}
END_TEST

START_TEST(eighth_of_what_can_be_saved_may_be_owed)
{
	begin_budget(0, 0);
	leave(0);
	ck_assert(rti_pss_can_borrow(&fix.budget, SAVINGS_NS / 8));
	ck_assert(!rti_pss_can_borrow(&fix.budget, SAVINGS_NS / 8 + 1));
	ck_assert(!rti_pss_can_borrow(&fix.budget, UINT64_MAX));
	spend(0, SAVINGS_NS / 8);
	ck_assert(!rti_pss_can_borrow(&fix.budget, 1));
	pass(SECOND);
	ck_assert(rti_pss_can_borrow(&fix.budget, 10 * MS));
	ck_assert(!rti_pss_can_afford(&fix.budget, 1));
}
END_TEST

START_TEST(budget_grows_by_its_share)
{
	static const uint32_t shares[] = { 1, 7, 10, 250, 999 };
	uint32_t share = shares[_i];

	begin_budget(share, 0);
	leave(0);
	pass(50 * MS);
	ck_assert(rti_pss_can_afford(&fix.budget, 50 * MS / 1000 * share));
	ck_assert(!rti_pss_can_afford(&fix.budget, 50 * MS / 1000 * share + 1));
}
END_TEST

/* Two hours of reads that cost what was expected, or less: they never cost more than was saved and
 * earned by then. */
START_TEST(reads_never_cost_more_than_was_earned)
{
	static const uint32_t shares[] = { 1, 5, 10, 37, 100, 500, 999 };
	uint32_t share = shares[_i % 7];

	fix.random_state = (uint64_t)_i + 7;
	begin_budget(share, 0);
	for (uint64_t passed_ns = 0; passed_ns < 2 * HOUR; passed_ns = fix.now_ns - 1000 * SECOND) {
		uint64_t rss = random_below(random_below(4) ? 10 * MIB : 800 * MIB);
		uint64_t cost_ns = rti_pss_predict(&fix.budget, rss);

		if (rti_pss_can_afford(&fix.budget, cost_ns))
			spend(rss, cost_ns * (40 + random_below(61)) / 100);
		ck_assert_uint_le(fix.spent_ns, SAVINGS_NS + passed_ns / 1000 * share);
		pass((10 + random_below(2000)) * MS);
	}
	ck_assert_uint_gt(fix.spent_ns, 0);
}
END_TEST

/* Processes with many mappings and few pages cost 30 times the prediction, every time. */
START_TEST(reads_that_cost_more_than_predicted_are_paid_back)
{
	begin_budget(10, 0);
	for (uint64_t passed_ns = 0; passed_ns < HOUR; passed_ns += 10 * MS) {
		uint64_t cost_ns = rti_pss_predict(&fix.budget, MIB);

		if (rti_pss_can_afford(&fix.budget, cost_ns))
			spend(MIB, 30 * cost_ns);
		ck_assert_uint_le(fix.spent_ns, SAVINGS_NS + passed_ns / 100 + 10 * MS);
		pass(10 * MS);
	}
	ck_assert_uint_ge(fix.spent_ns, HOUR / 100 * 9 / 10);
}
END_TEST

START_TEST(savings_are_limited_to_the_longest_read_or_a_tenth_of_a_second)
{
	static const struct {
		uint32_t hold_us;
		uint64_t most_ns;
	} cases[] = {
		{ 0, SAVINGS_NS },
		{ 20, SAVINGS_NS },
		{ 500000, 500 * MS },
	};

	begin_budget(10, cases[_i].hold_us);
	pass(HOUR);
	ck_assert_uint_eq(rti_pss_saved_max_ns(&fix.budget), cases[_i].most_ns);
	ck_assert(rti_pss_can_afford(&fix.budget, cases[_i].most_ns));
	ck_assert(!rti_pss_can_afford(&fix.budget, cases[_i].most_ns + 1));
}
END_TEST

START_TEST(read_is_short_up_to_the_limit_for_one_read)
{
	begin_budget(_i ? RTI_PSS_NO_LIMIT : 10, 20);
	ck_assert(rti_pss_is_short(&fix.budget, 20000));
	ck_assert(!rti_pss_is_short(&fix.budget, 20001));

	begin_budget(_i ? RTI_PSS_NO_LIMIT : 10, UINT32_MAX);
	ck_assert(rti_pss_is_short(&fix.budget, HOUR));
}
END_TEST

START_TEST(budget_without_limit_affords_any_read)
{
	begin_budget(_i ? UINT32_MAX : RTI_PSS_NO_LIMIT, 0);
	for (int i = 0; i < 100; i++) {
		ck_assert(rti_pss_can_afford(&fix.budget, HOUR));
		spend(500 * MIB, HOUR);
	}
}
END_TEST

START_TEST(budget_after_the_wait_affords_the_cost)
{
	fix.random_state = (uint64_t)_i + 11;
	for (int i = 0; i < 1000; i++) {
		uint32_t share = 1 + (uint32_t)random_below(RTI_PSS_NO_LIMIT - 1);
		uint64_t cost_ns = random_below(SAVINGS_NS), wait_ns;

		begin_budget(share, 0);
		spend(0, random_below(3 * SAVINGS_NS)); /* it may be in debt */
		wait_ns = rti_pss_wait_ns(&fix.budget, cost_ns);
		if (rti_pss_can_afford(&fix.budget, cost_ns)) {
			ck_assert_uint_eq(wait_ns, 0);
			continue;
		}
		/* The budget grows by the microsecond. */
		if (wait_ns > 10000) {
			pass(wait_ns - 10000);
			ck_assert(!rti_pss_can_afford(&fix.budget, cost_ns));
			wait_ns = 10000;
		}
		pass(wait_ns + 10000);
		ck_assert(rti_pss_can_afford(&fix.budget, cost_ns));
	}
}
END_TEST

START_TEST(prediction_after_reads_matches_their_cost_per_page)
{
	static const uint64_t ns[] = { 5, 43, 300, 2000 };
	uint64_t cost_ns = 15000 + 100 * MIB / PAGE * ns[_i], predicted_ns;

	begin_budget(10, 0);
	for (int i = 0; i < 30; i++)
		spend(100 * MIB, cost_ns);
	predicted_ns = rti_pss_predict(&fix.budget, 100 * MIB);
	ck_assert_uint_le(predicted_ns, cost_ns + cost_ns / 20);
	ck_assert_uint_ge(predicted_ns, cost_ns - cost_ns / 20);
}
END_TEST

/* The cost of reading 100 MiB at so many picoseconds a page. */
static uint64_t cost_at(uint64_t page_ps)
{
	return 15000 + 100 * MIB / PAGE * page_ps / 1000;
}

static void spend_often(uint64_t page_ps)
{
	for (int i = 0; i < 60; i++)
		spend(100 * MIB, cost_at(page_ps));
}

static void check_predicted(uint64_t page_ps)
{
	uint64_t predicted_ns = rti_pss_predict(&fix.budget, 100 * MIB);

	ck_assert_uint_le(predicted_ns, cost_at(page_ps) + cost_at(page_ps) / 20);
	ck_assert_uint_ge(predicted_ns, cost_at(page_ps) - cost_at(page_ps) / 20);
}

/* Most of the process is in swap, or in huge pages: it costs a thousand times what others do, or a
 * thousandth of it. */
START_TEST(prediction_after_one_odd_read_has_moved_by_less_than_twice)
{
	uint64_t before_ns, after_ns;

	begin_budget(10, 0);
	before_ns = rti_pss_predict(&fix.budget, 100 * MIB);
	spend(100 * MIB, _i ? before_ns * 1000 : cost_at(43));
	after_ns = rti_pss_predict(&fix.budget, 100 * MIB);
	ck_assert_uint_lt(after_ns, 2 * before_ns);
	ck_assert_uint_gt(2 * after_ns, before_ns);
	ck_assert_uint_ne(after_ns, before_ns);
}
END_TEST

START_TEST(prediction_after_many_odd_reads_matches_them)
{
	static const uint64_t prices[] = { 43000000, 500 }; /* picoseconds */

	begin_budget(10, 0);
	spend_often(prices[_i]);
	check_predicted(prices[_i]);
	spend_often(43000);
	check_predicted(43000);
}
END_TEST

/* Each read changes the price by a part of it, so at 0 it could not change any more. */
START_TEST(prediction_after_reads_that_cost_next_to_nothing_follows_later_ones)
{
	begin_budget(10, 0);
	for (int i = 0; i < 1000; i++)
		spend(100 * MIB, 15001);
	ck_assert_uint_gt(rti_pss_predict(&fix.budget, 100 * MIB), rti_pss_predict(&fix.budget, 0));
	spend_often(43000);
	check_predicted(43000);
}
END_TEST

/* Their cost depends on their mappings, not on their pages. */
START_TEST(prediction_after_reads_of_small_processes_is_unchanged)
{
	uint64_t before_ns;

	begin_budget(10, 0);
	before_ns = rti_pss_predict(&fix.budget, 500 * MIB);
	spend(MIB, 5 * MS);
	spend(0, 5 * MS);
	spend(500 * MIB, 0);
	ck_assert_uint_eq(rti_pss_predict(&fix.budget, 500 * MIB), before_ns);
}
END_TEST

START_TEST(prediction_for_larger_rss_is_higher)
{
	begin_budget(10, 0);
	for (uint64_t rss = 0; rss < 100 * MIB; rss += PAGE * 100)
		ck_assert_uint_lt(rti_pss_predict(&fix.budget, rss),
		                  rti_pss_predict(&fix.budget, rss + PAGE * 100));
	ck_assert_uint_gt(rti_pss_predict(&fix.budget, 0), 0);
}
END_TEST

/* 40 members of 20 MiB. */
START_TEST(first_sample_can_pay_for_an_ordinary_tree)
{
	begin_budget(0, 0);
	ck_assert(rti_pss_can_afford(&fix.budget, 40 * rti_pss_predict(&fix.budget, 20 * MIB)));
	ck_assert(!rti_pss_can_afford(&fix.budget, 100 * rti_pss_predict(&fix.budget, 200 * MIB)));
}
END_TEST

START_TEST(clock_that_goes_back_earns_nothing)
{
	begin_budget(10, 0);
	spend(0, 60 * MS);
	ck_assert_int_eq(fix.budget.saved_ns, (int64_t)(40 * MS));

	rti_pss_save(&fix.budget, fix.now_ns - SECOND);
	ck_assert_int_eq(fix.budget.saved_ns, (int64_t)(40 * MS));

	rti_pss_save(&fix.budget, fix.now_ns);
	ck_assert_int_eq(fix.budget.saved_ns, (int64_t)(50 * MS));

	rti_pss_save(&fix.budget, fix.now_ns + FAR);
	ck_assert_int_eq(fix.budget.saved_ns, (int64_t)SAVINGS_NS);
}
END_TEST

START_TEST(half_of_the_savings_is_kept_for_later)
{
	begin_budget(10, 0);
	rti_pss_keep_half(&fix.budget, true);
	ck_assert(rti_pss_can_afford(&fix.budget, SAVINGS_NS / 2));
	ck_assert(!rti_pss_can_afford(&fix.budget, SAVINGS_NS / 2 + 1));
	spend(0, SAVINGS_NS / 2);
	ck_assert(!rti_pss_can_afford(&fix.budget, 1));
	ck_assert_uint_eq(rti_pss_wait_ns(&fix.budget, MS), SECOND / 10);
	rti_pss_keep_half(&fix.budget, false);
	ck_assert(rti_pss_can_afford(&fix.budget, SAVINGS_NS / 2));
	ck_assert_uint_eq(rti_pss_wait_ns(&fix.budget, SAVINGS_NS / 2), 0);
}
END_TEST

START_TEST(least_part_grows_with_the_tree_and_can_be_saved_up)
{
	begin_budget(10, 0);
	ck_assert_uint_lt(rti_pss_least_part_ns(&fix.budget, 10), MS / 10);
	ck_assert_uint_eq(rti_pss_least_part_ns(&fix.budget, 4000), 20 * MS);
	ck_assert_uint_eq(rti_pss_least_part_ns(&fix.budget, 20000), SAVINGS_NS / 4);
	ck_assert_uint_eq(rti_pss_least_part_ns(&fix.budget, 10000000), SAVINGS_NS / 4);
	/* So that half of the savings may be left beside it. */
	ck_assert(rti_pss_can_afford(&fix.budget, rti_pss_least_part_ns(&fix.budget, 20000)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pss_budget");
	TCase *limits = suite_case(suite, "limits"), *costs = suite_case(suite, "costs");

	tcase_add_test(limits, budget_of_options_that_are_0_is_a_hundredth_of_a_cpu);
	tcase_add_test(limits, eighth_of_what_can_be_saved_may_be_owed);
	tcase_add_loop_test(limits, budget_grows_by_its_share, 0, 5);
	tcase_add_loop_test(limits, reads_never_cost_more_than_was_earned, 0, 28);
	tcase_add_test(limits, reads_that_cost_more_than_predicted_are_paid_back);
	tcase_add_loop_test(limits, savings_are_limited_to_the_longest_read_or_a_tenth_of_a_second,
	                    0, 3);
	tcase_add_loop_test(limits, read_is_short_up_to_the_limit_for_one_read, 0, 2);
	tcase_add_loop_test(limits, budget_without_limit_affords_any_read, 0, 2);
	tcase_add_loop_test(limits, budget_after_the_wait_affords_the_cost, 0, 4);
	tcase_add_test(limits, clock_that_goes_back_earns_nothing);
	tcase_add_test(limits, half_of_the_savings_is_kept_for_later);
	tcase_add_test(limits, least_part_grows_with_the_tree_and_can_be_saved_up);
	tcase_add_loop_test(costs, prediction_after_reads_matches_their_cost_per_page, 0, 4);
	tcase_add_loop_test(costs, prediction_after_one_odd_read_has_moved_by_less_than_twice, 0,
	                    2);
	tcase_add_loop_test(costs, prediction_after_many_odd_reads_matches_them, 0, 2);
	tcase_add_test(costs, prediction_after_reads_that_cost_next_to_nothing_follows_later_ones);
	tcase_add_test(costs, prediction_after_reads_of_small_processes_is_unchanged);
	tcase_add_test(costs, prediction_for_larger_rss_is_higher);
	tcase_add_test(costs, first_sample_can_pay_for_an_ordinary_tree);
	return suite_run(suite);
}
