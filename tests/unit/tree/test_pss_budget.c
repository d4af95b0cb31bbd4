/* SPDX-License-Identifier: MIT */
/* The PSS budget: what reads may cost over time, that each member gets a turn, and the value that
 * is reported between two reads. */
#include "suite.h"

#include "tree/pss_budget.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)
#define MIB (UINT64_C(1) << 20)
#define PAGE 4096
#define MEMBERS_MAX 200
#define SAVINGS_NS (100 * MS) /* at the start, and at most */
#define SHARE_WITHOUT_LIMIT 1000

/* A process as the budget sees it, and its reads so far. */
struct process {
	struct rti_pss pss;
	uint64_t rss_bytes, clock_ns;
	uint64_t longest_ns; /* between two reads */
	unsigned reads;
};

/* The members, their budget and a clock of the test. */
static struct {
	struct process process[MEMBERS_MAX];
	struct rti_pss_budget budget;
	uint64_t now_ns, spent_ns, random_state;
} fix;

static uint64_t random_below(uint64_t limit)
{
	fix.random_state =
	    fix.random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (fix.random_state >> 33) % limit;
}

static void set_up(void)
{
	fix.now_ns = 1000 * SECOND;
	fix.spent_ns = 0;
	fix.random_state = 1;
	for (size_t i = 0; i < MEMBERS_MAX; i++)
		fix.process[i] = (struct process){ 0 };
}

static void begin_budget(uint32_t share, uint32_t hold_us)
{
	rti_pss_init(&fix.budget, share, hold_us);
	rti_pss_save(&fix.budget, fix.now_ns);
}

static void read_pss(struct process *p, uint64_t cost_ns)
{
	uint64_t last_ns = p->pss.read.at_ns;

	if (last_ns && fix.now_ns - last_ns > p->longest_ns)
		p->longest_ns = fix.now_ns - last_ns;
	rti_pss_spend(&fix.budget, p->rss_bytes, cost_ns);
	fix.spent_ns += cost_ns;
	p->pss = (struct rti_pss){ p->rss_bytes / 2, p->rss_bytes, { fix.now_ns, p->clock_ns } };
	p->reads++;
}

/* One sample. Each read costs this percentage of its predicted cost. */
static void take_sample(size_t members, unsigned percent)
{
	rti_pss_save(&fix.budget, fix.now_ns);
	rti_pss_begin(&fix.budget);
	for (size_t i = 0; i < members; i++) {
		struct process *p = &fix.process[i];

		if (rti_pss_is_due(&fix.budget, &p->pss, p->rss_bytes, p->clock_ns))
			read_pss(p, rti_pss_predict(&fix.budget, p->rss_bytes) * percent / 100);
	}
}

static void run_all_members(size_t members)
{
	for (size_t i = 0; i < members; i++)
		fix.process[i].clock_ns += MS;
}

static void make_random_members(size_t members)
{
	for (size_t i = 0; i < members; i++)
		fix.process[i].rss_bytes =
		    random_below(4) ? random_below(10 * MIB) : random_below(800 * MIB);
}

static void change_some_members(size_t members)
{
	for (size_t i = 0; i < members; i++) {
		if (random_below(3) == 0)
			fix.process[i].clock_ns += random_below(10 * MS) + 1;
		if (random_below(50) == 0)
			fix.process[i].rss_bytes = random_below(100 * MIB);
	}
}

/* Two hours of a random tree: the reads never cost more than was saved and earned by then. */
START_TEST(random_tree_never_spends_more_than_it_earned)
{
	static const uint32_t shares[] = { 1, 5, 10, 37, 100, 500, 999 };
	uint32_t share = shares[_i % 7];
	uint64_t began_ns, most_ns;
	size_t members;

	fix.random_state = (uint64_t)_i + 7;
	members = 1 + random_below(MEMBERS_MAX);
	make_random_members(members);
	began_ns = fix.now_ns;
	begin_budget(share, 0);
	while (fix.now_ns - began_ns < 2 * HOUR) {
		change_some_members(members);
		take_sample(members, 100 - (unsigned)random_below(60));
		most_ns = SAVINGS_NS + (fix.now_ns - began_ns) / 1000 * share;
		ck_assert_uint_le(fix.spent_ns, most_ns);
		fix.now_ns += (10 + random_below(2000)) * MS;
	}
	ck_assert_uint_gt(fix.spent_ns, 0);
}
END_TEST

/* Processes with many mappings and few pages cost 30 times the prediction, every time. */
START_TEST(reads_that_cost_more_than_predicted_are_paid_back)
{
	uint64_t began_ns = fix.now_ns;

	for (size_t i = 0; i < 10; i++)
		fix.process[i].rss_bytes = MIB;
	begin_budget(10, 0);
	while (fix.now_ns - began_ns < HOUR) {
		run_all_members(10);
		take_sample(10, 3000);
		ck_assert_uint_le(fix.spent_ns,
		                  SAVINGS_NS + (fix.now_ns - began_ns) / 100 + 10 * MS);
		fix.now_ns += 10 * MS;
	}
	ck_assert_uint_ge(fix.spent_ns, HOUR / 100 * 9 / 10);
}
END_TEST

/* The limit for one read is larger than what is saved up for the first sample. */
START_TEST(read_that_costs_more_than_the_savings_gets_its_turn)
{
	fix.process[0].rss_bytes = 20000 * MIB; /* 220 ms */
	begin_budget(10, 500000);
	for (int i = 0; i < 1000; i++) {
		run_all_members(1);
		take_sample(1, 100);
		fix.now_ns += SECOND;
	}
	ck_assert_uint_gt(fix.process[0].reads, 20);
}
END_TEST

/* All members run all the time, and the share is too small to read any of them each time. Each is
 * still read again and again. */
START_TEST(members_that_all_run_each_get_a_turn)
{
	uint64_t round_ns = 0, until_ns;
	size_t members;

	fix.random_state = (uint64_t)_i + 99;
	members = 2 + random_below(60);
	make_random_members(members);
	for (size_t i = 0; i < members; i++)
		/* at a share of 10 in 1000 */
		round_ns += (15000 + fix.process[i].rss_bytes / PAGE * 43) * 100;
	begin_budget(10, 0);
	until_ns = fix.now_ns + 20 * round_ns + 100 * SECOND;
	while (fix.now_ns < until_ns) {
		run_all_members(members);
		take_sample(members, 100);
		fix.now_ns += 100 * MS;
	}
	for (size_t i = 0; i < members; i++) {
		ck_assert_uint_gt(fix.process[i].reads, 8);
		ck_assert_uint_le(fix.process[i].longest_ns, 3 * round_ns + SECOND);
	}
}
END_TEST

START_TEST(members_that_all_run_use_the_share)
{
	for (size_t i = 0; i < 50; i++)
		fix.process[i].rss_bytes = 20 * MIB;
	begin_budget(10, 0);
	for (int i = 0; i < 36000; i++) { /* an hour */
		run_all_members(50);
		take_sample(50, 100);
		fix.now_ns += 100 * MS;
	}
	ck_assert_uint_ge(fix.spent_ns, HOUR / 100 * 8 / 10);
}
END_TEST

START_TEST(first_sample_of_ordinary_tree_reads_all_members)
{
	for (size_t i = 0; i < 100; i++)
		fix.process[i].rss_bytes = 20 * MIB;
	begin_budget(0, 0);
	take_sample(40, 100); /* 40 times 235 us */
	for (size_t i = 0; i < 40; i++)
		ck_assert_uint_eq(fix.process[i].reads, 1);
	ck_assert_uint_lt(fix.spent_ns, SAVINGS_NS);
}
END_TEST

START_TEST(first_sample_of_large_tree_stops_at_the_savings)
{
	for (size_t i = 0; i < 100; i++)
		fix.process[i].rss_bytes = 200 * MIB;
	begin_budget(0, 0);
	take_sample(100, 100); /* 100 times 2.2 ms */
	ck_assert_uint_gt(fix.spent_ns, SAVINGS_NS / 2);
	ck_assert_uint_le(fix.spent_ns, SAVINGS_NS);
}
END_TEST

START_TEST(member_that_has_not_changed_is_read_every_ten_seconds)
{
	fix.process[0].rss_bytes = 10 * MIB;
	begin_budget(500, 0);
	take_sample(1, 100);
	for (int s = 1; s < 10; s++) {
		fix.now_ns += SECOND;
		take_sample(1, 100);
		ck_assert_uint_eq(fix.process[0].reads, 1);
	}
	fix.now_ns += SECOND;
	take_sample(1, 100); /* what a process shares may change while it does not run */
	ck_assert_uint_eq(fix.process[0].reads, 2);

	fix.now_ns += SECOND;
	fix.process[0].clock_ns++;
	take_sample(1, 100);
	ck_assert_uint_eq(fix.process[0].reads, 3);

	fix.now_ns += SECOND;
	fix.process[0].rss_bytes -= PAGE;
	take_sample(1, 100);
	ck_assert_uint_eq(fix.process[0].reads, 4);
}
END_TEST

START_TEST(member_held_up_for_too_long_is_not_read)
{
	fix.process[0].rss_bytes = 5000 * MIB; /* 55 ms */
	fix.process[1].rss_bytes = 2 * MIB;
	for (uint32_t share = 10; share <= SHARE_WITHOUT_LIMIT; share += SHARE_WITHOUT_LIMIT - 10) {
		begin_budget(share, 0);
		for (int i = 0; i < 1000; i++) {
			run_all_members(2);
			take_sample(2, 100);
			fix.now_ns += SECOND;
		}
		ck_assert_uint_eq(fix.process[0].reads, 0);
		ck_assert_uint_gt(fix.process[1].reads, 900);
		fix.process[1].reads = 0;
	}
	begin_budget(SHARE_WITHOUT_LIMIT, 100000);
	take_sample(1, 100);
	ck_assert_uint_eq(fix.process[0].reads, 1);

	begin_budget(SHARE_WITHOUT_LIMIT, 20);
	ck_assert(!rti_pss_is_due(&fix.budget, &fix.process[1].pss, 2 * MIB, 0));
	ck_assert(rti_pss_is_due(&fix.budget, &fix.process[2].pss, 100 * PAGE, 0));
}
END_TEST

START_TEST(budget_without_limit_reads_all_members)
{
	for (size_t i = 0; i < MEMBERS_MAX; i++)
		fix.process[i].rss_bytes = 100 * MIB;
	begin_budget(_i ? UINT32_MAX : SHARE_WITHOUT_LIMIT, 0);
	for (unsigned round = 1; round <= 5; round++) {
		take_sample(MEMBERS_MAX, 100);
		for (size_t i = 0; i < MEMBERS_MAX; i++)
			ck_assert_uint_eq(fix.process[i].reads, round);
	}
}
END_TEST

START_TEST(prediction_after_reads_matches_their_cost_per_page)
{
	static const uint64_t ns[] = { 5, 43, 300, 2000 };
	uint64_t cost_ns = 15000 + 100 * MIB / PAGE * ns[_i], predicted_ns;

	begin_budget(10, 0);
	for (int i = 0; i < 30; i++)
		rti_pss_spend(&fix.budget, 100 * MIB, cost_ns);
	predicted_ns = rti_pss_predict(&fix.budget, 100 * MIB);
	ck_assert_uint_le(predicted_ns, cost_ns + cost_ns / 20);
	ck_assert_uint_ge(predicted_ns, cost_ns - cost_ns / 20);
}
END_TEST

/* Their cost depends on their mappings, not on their pages. */
START_TEST(prediction_after_reads_of_small_processes_is_unchanged)
{
	uint64_t before_ns;

	begin_budget(10, 0);
	before_ns = rti_pss_predict(&fix.budget, 500 * MIB);
	rti_pss_spend(&fix.budget, MIB, 5 * MS);
	rti_pss_spend(&fix.budget, 0, 5 * MS);
	rti_pss_spend(&fix.budget, 500 * MIB, 0);
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

START_TEST(clock_that_goes_back_earns_nothing)
{
	begin_budget(10, 0);
	rti_pss_spend(&fix.budget, 0, 60 * MS);
	ck_assert_int_eq((int64_t)fix.budget.saved_ns, (int64_t)(40 * MS));

	rti_pss_save(&fix.budget, fix.now_ns - SECOND);
	ck_assert_int_eq((int64_t)fix.budget.saved_ns, (int64_t)(40 * MS));

	rti_pss_save(&fix.budget, fix.now_ns);
	ck_assert_int_eq((int64_t)fix.budget.saved_ns, (int64_t)(50 * MS));

	rti_pss_save(&fix.budget, fix.now_ns + HOUR);
	ck_assert_int_eq((int64_t)fix.budget.saved_ns, (int64_t)SAVINGS_NS);
}
END_TEST

START_TEST(pss_carried_forward_stays_between_zero_and_rss)
{
	fix.random_state = (uint64_t)_i + 5;
	for (int i = 0; i < 100000; i++) {
		uint64_t then = random_below(1000) * PAGE, now = random_below(1000) * PAGE;
		struct rti_pss pss = { then ? random_below(then) : 0, then, { 1, 1 } };
		uint64_t carried = rti_pss_carry(&pss, now);

		ck_assert_uint_le(carried, now);
		if (now == then)
			ck_assert_uint_eq(carried, pss.bytes);
		if (now > then)
			ck_assert_uint_eq(carried, pss.bytes + now - then);
		if (now < then && pss.bytes > then - now && pss.bytes <= then)
			ck_assert_uint_eq(carried, pss.bytes - (then - now));
	}
}
END_TEST

START_TEST(pss_never_read_is_reported_as_rss)
{
	/* PSS above RSS: it was read a moment later */
	struct rti_pss never = { 0 }, torn = { 900 * PAGE, 100 * PAGE, { 5, 0 } };

	ck_assert_uint_eq(rti_pss_carry(&never, 77 * PAGE), 77 * PAGE);
	ck_assert_uint_eq(rti_pss_carry(&never, 0), 0);
	ck_assert_uint_eq(rti_pss_carry(&torn, 100 * PAGE), 100 * PAGE);
	ck_assert_uint_eq(rti_pss_carry(&torn, 0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pss_budget");
	TCase *limits = suite_case(suite, "budget"), *carrying = suite_case(suite, "carry");

	tcase_add_checked_fixture(limits, set_up, NULL);
	tcase_add_loop_test(limits, random_tree_never_spends_more_than_it_earned, 0, 28);
	tcase_add_test(limits, reads_that_cost_more_than_predicted_are_paid_back);
	tcase_add_test(limits, read_that_costs_more_than_the_savings_gets_its_turn);
	tcase_add_loop_test(limits, members_that_all_run_each_get_a_turn, 0, 20);
	tcase_add_test(limits, members_that_all_run_use_the_share);
	tcase_add_test(limits, first_sample_of_ordinary_tree_reads_all_members);
	tcase_add_test(limits, first_sample_of_large_tree_stops_at_the_savings);
	tcase_add_test(limits, member_that_has_not_changed_is_read_every_ten_seconds);
	tcase_add_test(limits, member_held_up_for_too_long_is_not_read);
	tcase_add_loop_test(limits, budget_without_limit_reads_all_members, 0, 2);
	tcase_add_loop_test(limits, prediction_after_reads_matches_their_cost_per_page, 0, 4);
	tcase_add_test(limits, prediction_after_reads_of_small_processes_is_unchanged);
	tcase_add_test(limits, prediction_for_larger_rss_is_higher);
	tcase_add_test(limits, clock_that_goes_back_earns_nothing);
	tcase_add_loop_test(carrying, pss_carried_forward_stays_between_zero_and_rss, 0, 4);
	tcase_add_test(carrying, pss_never_read_is_reported_as_rss);
	return suite_run(suite);
}
