/* SPDX-License-Identifier: MIT */
/* The budget of PSS: what it may cost over time, that everybody gets a turn, and what is said in
 * between. */
#include "suite.h"

#include "tree/pss_budget.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)
#define MIB (UINT64_C(1) << 20)
#define PAGE 4096
#define MOST_MEMBERS 200
#define SAVED (100 * MS) /* to begin with, and at most */
#define NO_LIMIT 1000

/* A process as the budget sees it, and when its turn was. */
struct process {
	struct rti_pss pss;
	uint64_t rss_bytes, clock_ns;
	uint64_t longest_ns; /* between two readings */
	unsigned readings;
};

static struct process process[MOST_MEMBERS];
static struct rti_pss_budget budget;
static uint64_t now_ns, spent_ns, random_state;

static uint64_t random_below(uint64_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 33) % limit;
}

static void set_up(void)
{
	now_ns = 1000 * SECOND;
	spent_ns = 0;
	random_state = 1;
	for (size_t i = 0; i < MOST_MEMBERS; i++)
		process[i] = (struct process){ 0 };
}

static void begin(uint32_t share, uint32_t hold_us)
{
	rti_pss_init(&budget, share, hold_us);
	rti_pss_save(&budget, now_ns);
}

static void read_pss(struct process *p, uint64_t cost_ns)
{
	uint64_t last_ns = p->pss.read_ns;

	if (last_ns && now_ns - last_ns > p->longest_ns)
		p->longest_ns = now_ns - last_ns;
	rti_pss_spend(&budget, p->rss_bytes, cost_ns);
	spent_ns += cost_ns;
	p->pss = (struct rti_pss){ p->rss_bytes / 2, p->rss_bytes, p->clock_ns, now_ns };
	p->readings++;
}

/* One sample, in which a reading costs this percentage of what it is expected to. */
static void sample(size_t members, unsigned percent)
{
	rti_pss_save(&budget, now_ns);
	rti_pss_begin(&budget);
	for (size_t i = 0; i < members; i++) {
		struct process *p = &process[i];

		if (rti_pss_is_due(&budget, &p->pss, p->rss_bytes, p->clock_ns))
			read_pss(p, rti_pss_predict(&budget, p->rss_bytes) * percent / 100);
	}
}

static void have_all_run(size_t members)
{
	for (size_t i = 0; i < members; i++)
		process[i].clock_ns += MS;
}

static void make_random_members(size_t members)
{
	for (size_t i = 0; i < members; i++)
		process[i].rss_bytes =
		    random_below(4) ? random_below(10 * MIB) : random_below(800 * MIB);
}

static void change_some(size_t members)
{
	for (size_t i = 0; i < members; i++) {
		if (random_below(3) == 0)
			process[i].clock_ns += random_below(10 * MS) + 1;
		if (random_below(50) == 0)
			process[i].rss_bytes = random_below(100 * MIB);
	}
}

/* Two hours of a random tree: at no time has more been spent than was saved and earned by then. */
START_TEST(what_is_spent_was_earned)
{
	static const uint32_t shares[] = { 1, 5, 10, 37, 100, 500, 999 };
	uint32_t share = shares[_i % 7];
	uint64_t began_ns, most_ns;
	size_t members;

	random_state = (uint64_t)_i + 7;
	members = 1 + random_below(MOST_MEMBERS);
	make_random_members(members);
	began_ns = now_ns;
	begin(share, 0);
	while (now_ns - began_ns < 2 * HOUR) {
		change_some(members);
		sample(members, 100 - (unsigned)random_below(60));
		most_ns = SAVED + (now_ns - began_ns) / 1000 * share;
		ck_assert_uint_le(spent_ns, most_ns);
		now_ns += (10 + random_below(2000)) * MS;
	}
	ck_assert_uint_gt(spent_ns, 0);
}
END_TEST

/* Processes of many mappings and few pages cost what nobody foresees, each time: 30 times as
 * much. */
START_TEST(what_was_not_foreseen_is_paid_for)
{
	uint64_t began_ns = now_ns;

	for (size_t i = 0; i < 10; i++)
		process[i].rss_bytes = MIB;
	begin(10, 0);
	while (now_ns - began_ns < HOUR) {
		have_all_run(10);
		sample(10, 3000);
		ck_assert_uint_le(spent_ns, SAVED + (now_ns - began_ns) / 100 + 10 * MS);
		now_ns += 10 * MS;
	}
	ck_assert_uint_ge(spent_ns, HOUR / 100 * 9 / 10);
}
END_TEST

/* Where more is allowed than is saved up for the first sample. */
START_TEST(the_longest_reading_allowed_gets_its_turn)
{
	process[0].rss_bytes = 20000 * MIB; /* 220 ms */
	begin(10, 500000);
	for (int i = 0; i < 1000; i++) {
		have_all_run(1);
		sample(1, 100);
		now_ns += SECOND;
	}
	ck_assert_uint_gt(process[0].readings, 20);
}
END_TEST

/* All run all the time, and the share does for none of them each time: each is read again and
 * again. */
START_TEST(everybody_gets_a_turn)
{
	uint64_t round_ns = 0, until_ns;
	size_t members;

	random_state = (uint64_t)_i + 99;
	members = 2 + random_below(60);
	make_random_members(members);
	for (size_t i = 0; i < members; i++)
		/* at a share of 10 in 1000 */
		round_ns += (15000 + process[i].rss_bytes / PAGE * 43) * 100;
	begin(10, 0);
	until_ns = now_ns + 20 * round_ns + 100 * SECOND;
	while (now_ns < until_ns) {
		have_all_run(members);
		sample(members, 100);
		now_ns += 100 * MS;
	}
	for (size_t i = 0; i < members; i++) {
		ck_assert_uint_gt(process[i].readings, 8);
		ck_assert_uint_le(process[i].longest_ns, 3 * round_ns + SECOND);
	}
}
END_TEST

START_TEST(the_share_is_used)
{
	for (size_t i = 0; i < 50; i++)
		process[i].rss_bytes = 20 * MIB;
	begin(10, 0);
	for (int i = 0; i < 36000; i++) { /* an hour */
		have_all_run(50);
		sample(50, 100);
		now_ns += 100 * MS;
	}
	ck_assert_uint_ge(spent_ns, HOUR / 100 * 8 / 10);
}
END_TEST

START_TEST(the_first_sample_reads_an_ordinary_tree)
{
	for (size_t i = 0; i < 100; i++)
		process[i].rss_bytes = 20 * MIB;
	begin(0, 0);
	sample(40, 100); /* 40 times 235 us */
	for (size_t i = 0; i < 40; i++)
		ck_assert_uint_eq(process[i].readings, 1);
	ck_assert_uint_lt(spent_ns, SAVED);
}
END_TEST

START_TEST(the_first_sample_does_not_read_everything)
{
	for (size_t i = 0; i < 100; i++)
		process[i].rss_bytes = 200 * MIB;
	begin(0, 0);
	sample(100, 100); /* 100 times 2.2 ms */
	ck_assert_uint_gt(spent_ns, SAVED / 2);
	ck_assert_uint_le(spent_ns, SAVED);
}
END_TEST

START_TEST(who_has_not_changed_is_not_read)
{
	process[0].rss_bytes = 10 * MIB;
	begin(500, 0);
	sample(1, 100);
	for (int s = 1; s < 10; s++) {
		now_ns += SECOND;
		sample(1, 100);
		ck_assert_uint_eq(process[0].readings, 1);
	}
	now_ns += SECOND;
	sample(1, 100); /* sharing changes without its doing */
	ck_assert_uint_eq(process[0].readings, 2);
	now_ns += SECOND;
	process[0].clock_ns++;
	sample(1, 100);
	ck_assert_uint_eq(process[0].readings, 3);
	now_ns += SECOND;
	process[0].rss_bytes -= PAGE;
	sample(1, 100);
	ck_assert_uint_eq(process[0].readings, 4);
}
END_TEST

START_TEST(nobody_is_held_up_for_too_long)
{
	process[0].rss_bytes = 5000 * MIB; /* 55 ms */
	process[1].rss_bytes = 2 * MIB;
	for (uint32_t share = 10; share <= NO_LIMIT; share += NO_LIMIT - 10) {
		begin(share, 0);
		for (int i = 0; i < 1000; i++) {
			have_all_run(2);
			sample(2, 100);
			now_ns += SECOND;
		}
		ck_assert_uint_eq(process[0].readings, 0);
		ck_assert_uint_gt(process[1].readings, 900);
		process[1].readings = 0;
	}
	begin(NO_LIMIT, 100000);
	sample(1, 100);
	ck_assert_uint_eq(process[0].readings, 1);
	begin(NO_LIMIT, 20);
	ck_assert_int_eq(rti_pss_is_due(&budget, &process[1].pss, 2 * MIB, 0), 0);
	ck_assert_int_eq(rti_pss_is_due(&budget, &process[2].pss, 100 * PAGE, 0), 1);
}
END_TEST

START_TEST(without_a_limit_all_are_read)
{
	for (size_t i = 0; i < MOST_MEMBERS; i++)
		process[i].rss_bytes = 100 * MIB;
	begin(_i ? UINT32_MAX : NO_LIMIT, 0);
	for (unsigned round = 1; round <= 5; round++) {
		sample(MOST_MEMBERS, 100);
		for (size_t i = 0; i < MOST_MEMBERS; i++)
			ck_assert_uint_eq(process[i].readings, round);
	}
}
END_TEST

START_TEST(what_a_page_costs_is_learnt)
{
	static const uint64_t ns[] = { 5, 43, 300, 2000 };
	uint64_t cost_ns = 15000 + 100 * MIB / PAGE * ns[_i], predicted_ns;

	begin(10, 0);
	for (int i = 0; i < 30; i++)
		rti_pss_spend(&budget, 100 * MIB, cost_ns);
	predicted_ns = rti_pss_predict(&budget, 100 * MIB);
	ck_assert_uint_le(predicted_ns, cost_ns + cost_ns / 20);
	ck_assert_uint_ge(predicted_ns, cost_ns - cost_ns / 20);
}
END_TEST

/* What they cost tells of their mappings, not of their pages. */
START_TEST(small_processes_teach_nothing)
{
	uint64_t before_ns;

	begin(10, 0);
	before_ns = rti_pss_predict(&budget, 500 * MIB);
	rti_pss_spend(&budget, MIB, 5 * MS);
	rti_pss_spend(&budget, 0, 5 * MS);
	rti_pss_spend(&budget, 500 * MIB, 0);
	ck_assert_uint_eq(rti_pss_predict(&budget, 500 * MIB), before_ns);
}
END_TEST

START_TEST(larger_costs_more)
{
	begin(10, 0);
	for (uint64_t rss = 0; rss < 100 * MIB; rss += PAGE * 100)
		ck_assert_uint_lt(rti_pss_predict(&budget, rss),
		                  rti_pss_predict(&budget, rss + PAGE * 100));
	ck_assert_uint_gt(rti_pss_predict(&budget, 0), 0);
}
END_TEST

START_TEST(time_that_goes_back_earns_nothing)
{
	begin(10, 0);
	rti_pss_spend(&budget, 0, 60 * MS);
	ck_assert_int_eq((int64_t)budget.saved_ns, (int64_t)(40 * MS));
	rti_pss_save(&budget, now_ns - SECOND);
	ck_assert_int_eq((int64_t)budget.saved_ns, (int64_t)(40 * MS));
	rti_pss_save(&budget, now_ns);
	ck_assert_int_eq((int64_t)budget.saved_ns, (int64_t)(50 * MS));
	rti_pss_save(&budget, now_ns + HOUR);
	ck_assert_int_eq((int64_t)budget.saved_ns, (int64_t)SAVED);
}
END_TEST

START_TEST(carried_on_it_stays_between_nothing_and_rss)
{
	random_state = (uint64_t)_i + 5;
	for (int i = 0; i < 100000; i++) {
		uint64_t then = random_below(1000) * PAGE, now = random_below(1000) * PAGE;
		struct rti_pss pss = { then ? random_below(then) : 0, then, 1, 1 };
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

START_TEST(rss_stands_in_where_nothing_was_read)
{
	/* more than RSS: read a moment later */
	struct rti_pss never = { 0 }, torn = { 900 * PAGE, 100 * PAGE, 0, 5 };

	ck_assert_uint_eq(rti_pss_carry(&never, 77 * PAGE), 77 * PAGE);
	ck_assert_uint_eq(rti_pss_carry(&never, 0), 0);
	ck_assert_uint_eq(rti_pss_carry(&torn, 100 * PAGE), 100 * PAGE);
	ck_assert_uint_eq(rti_pss_carry(&torn, 0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pss");
	TCase *limits = suite_case(suite, "budget"), *carrying = suite_case(suite, "carry");

	tcase_add_checked_fixture(limits, set_up, NULL);
	tcase_add_loop_test(limits, what_is_spent_was_earned, 0, 28);
	tcase_add_test(limits, what_was_not_foreseen_is_paid_for);
	tcase_add_test(limits, the_longest_reading_allowed_gets_its_turn);
	tcase_add_loop_test(limits, everybody_gets_a_turn, 0, 20);
	tcase_add_test(limits, the_share_is_used);
	tcase_add_test(limits, the_first_sample_reads_an_ordinary_tree);
	tcase_add_test(limits, the_first_sample_does_not_read_everything);
	tcase_add_test(limits, who_has_not_changed_is_not_read);
	tcase_add_test(limits, nobody_is_held_up_for_too_long);
	tcase_add_loop_test(limits, without_a_limit_all_are_read, 0, 2);
	tcase_add_loop_test(limits, what_a_page_costs_is_learnt, 0, 4);
	tcase_add_test(limits, small_processes_teach_nothing);
	tcase_add_test(limits, larger_costs_more);
	tcase_add_test(limits, time_that_goes_back_earns_nothing);
	tcase_add_loop_test(carrying, carried_on_it_stays_between_nothing_and_rss, 0, 4);
	tcase_add_test(carrying, rss_stands_in_where_nothing_was_read);
	return suite_run(suite);
}
