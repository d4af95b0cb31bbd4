/* SPDX-License-Identifier: MIT */
/* What pays in a tree: each decision on both sides of its threshold. And when the kernel is to
 * watch a tree: what that costs at each switch of the system, against what a sample saves. */
#include "suite.h"

#include "tree/pure/strategy.h"

#define SECOND UINT64_C(1000000000)
#define BOOT_SWITCHES UINT64_C(1000000000) /* by the first sample */
#define SAMPLES 200

/* The least that pays, in a tree of the fewest members. */
static const struct {
	enum rti_strategy_name name;
	size_t members;
	uint64_t saved, cost;
} thresholds[] = {
	/* 3000 members were read from files, and 25,000 clocks. */
	{ RTI_READ_BATCHES, 10, 3000 * RTI_TEXT_READ_NS + 25000 * RTI_CLOCK_NS, RTI_LOAD_BATCH_NS },
	{ RTI_WATCH, 256, 500000, 1000000 },
	{ RTI_WATCH, 256, 1, 1 },
	{ RTI_KEEP_WATCH, 128, 125000, 1000000 },
	{ RTI_KEEP_WATCH, 128, 125001, 1000001 },
	/* A search of 4 ms or less comes every 16 s, one of 30 ms every 120 s. */
	{ RTI_SEARCH_THREADS, 0, 16 * SECOND, 0 },
	{ RTI_SEARCH_THREADS, 0, 16 * SECOND, 4000000 },
	{ RTI_SEARCH_THREADS, 0, 120 * SECOND, 30000000 },
	{ RTI_LOOK_IN_TURN, 0, 2500000, RTI_LOOK_NS },
	{ RTI_CHECK_CGROUP, 0, 10000000, RTI_CGROUP_LOOK_NS },
	/* 400 threads, or 200 other processes. */
	{ RTI_SCAN_PROC, 0, 400 * RTI_FILE_NS, 200 * RTI_FILE_NS },
	{ RTI_SCAN_PROC, 0, 64 * RTI_FILE_NS, 0 },
	/* 1024 descriptors are enough for 170 members. */
	{ RTI_KEEP_SELDOM_FILES, 0, 1020, 170 },
	{ RTI_KEEP_SELDOM_FILES, 0, 1026, 171 },
	{ RTI_READ_PART, 0, 20000000, 4000 * RTI_LOOK_NS },
	/* A cost that is too large to count. */
	{ RTI_SEARCH_THREADS, 0, UINT64_MAX, UINT64_MAX },
};

START_TEST(decision_pays_from_its_threshold_on)
{
	const struct rti_strategy *strategy = &rti_strategies[thresholds[_i].name];
	size_t members = thresholds[_i].members;
	uint64_t saved = thresholds[_i].saved, cost = thresholds[_i].cost;

	ck_assert_uint_eq(rti_pays_from(strategy, cost), saved);
	ck_assert(rti_pays(strategy, members, saved, cost));
	ck_assert(!rti_pays(strategy, members, saved - 1, cost));
	ck_assert(!members || !rti_pays(strategy, members - 1, saved, cost));
}
END_TEST

START_TEST(each_decision_has_a_threshold_in_the_test)
{
	bool has[RTI_STRATEGIES] = { false };

	for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++)
		has[thresholds[i].name] = true;
	for (size_t i = 0; i < RTI_STRATEGIES; i++)
		ck_assert_msg(has[i] && rti_strategies[i].worth > 0, "%zu", i);
}
END_TEST

/* A tree, and the machine that it runs on. */
struct scene {
	size_t members, ran; /* ran: how many of them run between two samples */
	uint64_t interval_ns;
	uint64_t look_ns;  /* what a look at a member costs */
	uint64_t switches; /* in each second, of all programs */
};

static struct rti_watch_choice begin_choice(void)
{
	return (struct rti_watch_choice)RTI_WATCH_CHOICE_INIT;
}

/* Takes samples. Returns after how many there is a watch; 0: there is none. */
static int watch_opens_after(const struct scene *scene)
{
	struct rti_watch_choice choice = begin_choice();
	uint64_t switches = BOOT_SWITCHES;

	for (int i = 1; i <= SAMPLES; i++) {
		switches += scene->switches * scene->interval_ns / SECOND;
		if (rti_watch_choice_is_due(&choice, scene->members) &&
		    rti_watch_choice_opens(&choice, scene->members, switches))
			return i;
		rti_watch_choice_count(&choice, scene->members, scene->ran,
		                       scene->members * scene->look_ns);
	}
	return 0;
}

/* The same with a watch. Returns after how many samples it is closed; 0: it is not. */
static int watch_closes_after(const struct scene *scene)
{
	struct rti_watch_choice choice = begin_choice();
	uint64_t switches = 0;

	choice.look_ns = scene->look_ns;
	for (int i = 1; i <= SAMPLES; i++) {
		switches += scene->switches * scene->interval_ns / SECOND;
		rti_watch_choice_count_saved(&choice, scene->members - scene->ran);
		if (rti_watch_choice_closes(&choice, scene->members, switches))
			return i;
	}
	return 0;
}

static const struct {
	struct scene scene;
	bool opens, closes;
} cases[] = {
	/* 19,000 looks are worth far more than what the switches cost. */
	{ { 20000, 1000, SECOND, 500, 5000 }, true, false },
	{ { 20000, 1000, SECOND, 500, 80000 }, true, false },
	{ { 20000, 1000, SECOND, 500, 1000000 }, false, true },
	{ { 1000, 50, SECOND / 10, 500, 20000 }, true, false },
	{ { 1000, 50, SECOND, 500, 2000 }, true, false },
	/* Neither opened, nor closed if it is there: it does not waver. */
	{ { 1000, 50, SECOND, 500, 10000 }, false, false },
	{ { 1000, 50, SECOND, 500, 100000 }, false, true },
	/* The busier the machine, the more a look costs. */
	{ { 1000, 50, SECOND / 10, 2000, 100000 }, true, false },
	{ { 1000, 50, SECOND / 100, 200, 300000 }, false, false },
	/* Members that run are looked at in any case. */
	{ { 1000, 1000, SECOND / 10, 500, 5000 }, false, true },
	{ { 20000, 20000, SECOND, 500, 50000 }, false, true },
	/* A small tree costs little. */
	{ { 255, 0, SECOND / 100, 500, 100 }, false, false },
	{ { 127, 0, SECOND / 100, 500, 100 }, false, true },
};

START_TEST(watch_is_there_where_it_costs_less_than_it_saves)
{
	ck_assert_int_eq(watch_opens_after(&cases[_i].scene) > 0, cases[_i].opens);
	ck_assert_int_eq(watch_closes_after(&cases[_i].scene) > 0, cases[_i].closes);
}
END_TEST

/* Two samples show how many looks there are, and two more how many switches meanwhile. */
START_TEST(large_tree_is_watched_from_the_fifth_sample_on)
{
	const struct scene scene = { 20000, 1000, SECOND, 500, 5000 };

	ck_assert_int_eq(watch_opens_after(&scene), 5);
}
END_TEST

/* What a look costs is not known of those that are saved: it is taken to be what it was before. */
START_TEST(watch_ends_by_what_looks_have_cost_before)
{
	struct rti_watch_choice choice = begin_choice();

	rti_watch_choice_count(&choice, 50000, 0, 50000 * UINT64_C(800));
	ck_assert(!rti_watch_choice_opens(&choice, 1000, 1));
	rti_watch_choice_begin(&choice, 0);
	rti_watch_choice_count_saved(&choice, 50000);
	ck_assert(!rti_watch_choice_closes(&choice, 1000, 8 * 4 * 50000));
	rti_watch_choice_count_saved(&choice, 50000);
	ck_assert(rti_watch_choice_closes(&choice, 1000, 2 * 8 * 4 * 50000 + 1));
}
END_TEST

/* E.g.: 1000 looks of 20 ns in a loop, and then a sample each second. */
START_TEST(watch_that_begins_in_a_loop_stays_at_a_slower_pace)
{
	struct rti_watch_choice choice = begin_choice();

	rti_watch_choice_count(&choice, 50000, 0, 50000 * UINT64_C(20));
	ck_assert(!rti_watch_choice_opens(&choice, 1000, 1));
	rti_watch_choice_begin(&choice, 0);
	rti_watch_choice_count_saved(&choice, 10000);
	ck_assert(!rti_watch_choice_closes(&choice, 1000, 50000));
}
END_TEST

/* E.g.: /proc/stat cannot be read, or it is another one than before. */
START_TEST(watch_without_a_count_of_switches_is_not_opened)
{
	struct rti_watch_choice choice = begin_choice();

	ck_assert(!rti_watch_choice_opens(&choice, 1000, 0));
	rti_watch_choice_count(&choice, 100000, 0, SECOND);
	ck_assert(!rti_watch_choice_opens(&choice, 1000, 5000));
	rti_watch_choice_count(&choice, 100000, 0, SECOND);
	ck_assert(!rti_watch_choice_opens(&choice, 1000, 4000));
	rti_watch_choice_count(&choice, 100000, 0, SECOND);
	ck_assert(rti_watch_choice_opens(&choice, 1000, 5000));
}
END_TEST

/* A decision needs as many looks as the one before, and no other tree. */
START_TEST(each_decision_counts_looks_anew)
{
	struct rti_watch_choice choice = begin_choice();
	const size_t members_min = choice.open->members_min;
	const uint64_t switches = _i == 0 ? 0 : 1;

	rti_watch_choice_count(&choice, 100000, 0, 1);
	ck_assert(rti_watch_choice_is_due(&choice, members_min));
	rti_watch_choice_opens(&choice, 1000, switches);
	ck_assert(!rti_watch_choice_is_due(&choice, 100000));

	rti_watch_choice_count(&choice, 100000, 0, 1);
	rti_watch_choice_begin(&choice, switches);
	ck_assert(!rti_watch_choice_is_due(&choice, 100000));
	rti_watch_choice_count(&choice, 100000, 0, 1);
	ck_assert(!rti_watch_choice_is_due(&choice, members_min - 1));
	ck_assert(rti_watch_choice_is_due(&choice, members_min));
}
END_TEST

START_TEST(system_without_a_switch_is_watched)
{
	const struct scene scene = { 1000, 0, SECOND, 500, 0 };

	ck_assert_int_gt(watch_opens_after(&scene), 0);
	ck_assert_int_eq(watch_closes_after(&scene), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("strategy");
	TCase *tcase = suite_case(suite, "watch"), *table = suite_case(suite, "table");

	tcase_add_loop_test(table, decision_pays_from_its_threshold_on, 0,
	                    sizeof(thresholds) / sizeof(thresholds[0]));
	tcase_add_test(table, each_decision_has_a_threshold_in_the_test);
	tcase_add_loop_test(tcase, watch_is_there_where_it_costs_less_than_it_saves, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, large_tree_is_watched_from_the_fifth_sample_on);
	tcase_add_test(tcase, watch_ends_by_what_looks_have_cost_before);
	tcase_add_test(tcase, watch_that_begins_in_a_loop_stays_at_a_slower_pace);
	tcase_add_test(tcase, watch_without_a_count_of_switches_is_not_opened);
	tcase_add_loop_test(tcase, each_decision_counts_looks_anew, 0, 2);
	tcase_add_test(tcase, system_without_a_switch_is_watched);
	return suite_run(suite);
}
