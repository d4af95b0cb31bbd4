/* SPDX-License-Identifier: MIT */
/* The read plan of a member: a row for each line of the table in tree/state/read_policy.h, and rows
 * for the edges between the lines. */
#include "suite.h"

#include <rtrack/rtrack.h>

#include "tree/state/read_policy.h"

/* The domains of the cases. Each stands for one cadence. */
#define EACH RT_HAS_IO           /* read in each sample in which the process may have run */
#define WHILE_IDLE RT_HAS_RSS    /* the same, and may change while the process does not run */
#define SELDOM RT_HAS_CTXSW      /* read every 100 ms at most */
#define WITH_RSS RT_HAS_PEAK_RSS /* the same, and at a new peak of RSS */
#define ALL_SELDOM (SELDOM | WITH_RSS)
#define ALL (EACH | WHILE_IDLE | ALL_SELDOM)

/* Facts of a member that was read before and of which nothing is due. A case changes some. */
#define KNOWN .was_read = true, .wanted = ALL, .seldom = ALL_SELDOM, .with_rss = WITH_RSS

struct policy_case {
	const char *name;
	struct rti_read_facts facts;
	struct rti_read_plan plan;
};

/* Asserts every field of the plan. */
static void check_plan(const struct policy_case *c)
{
	struct rti_read_plan plan = rti_plan_read(&c->facts);

	ck_assert_msg(plan.is_unchanged == c->plan.is_unchanged, "%s: is_unchanged is %d", c->name,
	              plan.is_unchanged);
	ck_assert_msg(plan.stat_may_wait == c->plan.stat_may_wait, "%s: stat_may_wait is %d",
	              c->name, plan.stat_may_wait);
	ck_assert_msg(plan.domains == c->plan.domains, "%s: domains is %#llx, not %#llx", c->name,
	              (unsigned long long)plan.domains, (unsigned long long)c->plan.domains);
	ck_assert_msg(
	    plan.if_rss_rose == c->plan.if_rss_rose, "%s: if_rss_rose is %#llx, not %#llx", c->name,
	    (unsigned long long)plan.if_rss_rose, (unsigned long long)c->plan.if_rss_rose);
}

static const struct policy_case unchanged_cases[] = {
	{
	    .name = "all is known",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED },
	    .plan = { .is_unchanged = true },
	},
	{
	    .name = "all is known, and RSS is a second old",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .idle_due = WHILE_IDLE },
	    .plan = { .is_unchanged = true, .domains = WHILE_IDLE },
	},
	{
	    .name = "all is known, and 100 ms have passed",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .seldom_due = ALL_SELDOM,
	               .is_stat_due = true },
	    .plan = { .is_unchanged = true },
	},
	{
	    .name = "a wanted figure is in stat alone",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .needs_stat = true },
	    .plan = { .is_unchanged = true },
	},
	{
	    .name = "a part was put off, and is not yet due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .put_off = SELDOM },
	    .plan = { .is_unchanged = true },
	},
	{
	    .name = "a part was put off, and another is due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .put_off = SELDOM,
	               .seldom_due = WITH_RSS },
	    .plan = { .is_unchanged = true },
	},
	{
	    .name = "a part was put off, and is due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .put_off = SELDOM, .seldom_due = SELDOM,
	               .is_stat_due = true },
	    .plan = { .domains = EACH | WHILE_IDLE | SELDOM, .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "a part was put off, and is due, but stat is not",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .put_off = ALL_SELDOM,
	               .seldom_due = ALL_SELDOM },
	    .plan = { .stat_may_wait = true, .domains = ALL },
	},
	{
	    .name = "a part was put off and is due, and RSS is a second old",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .put_off = SELDOM, .seldom_due = SELDOM,
	               .is_stat_due = true, .idle_due = WHILE_IDLE },
	    .plan = { .domains = EACH | WHILE_IDLE | SELDOM, .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "a figure is missing",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .missing = EACH, .is_stat_due = true },
	    .plan = { .domains = EACH | WHILE_IDLE, .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "a figure is missing, and stat is not due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .missing = EACH },
	    .plan = { .stat_may_wait = true,
	              .domains = EACH | WHILE_IDLE,
	              .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "a figure that is read seldom is missing, and is due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .missing = SELDOM, .seldom_due = SELDOM,
	               .is_stat_due = true },
	    .plan = { .domains = EACH | WHILE_IDLE | SELDOM, .if_rss_rose = WITH_RSS },
	},
};

static const struct policy_case moved_cases[] = {
	{
	    .name = "nothing else is due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_MOVED },
	    .plan = { .stat_may_wait = true,
	              .domains = EACH | WHILE_IDLE,
	              .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "a wanted figure is in stat alone",
	    .facts = { KNOWN, .clock = RTI_CLOCK_MOVED, .needs_stat = true },
	    .plan = { .domains = EACH | WHILE_IDLE, .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "stat is due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_MOVED, .is_stat_due = true },
	    .plan = { .domains = EACH | WHILE_IDLE, .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "one of two seldom domains is due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_MOVED, .seldom_due = SELDOM },
	    .plan = { .stat_may_wait = true,
	              .domains = EACH | WHILE_IDLE | SELDOM,
	              .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "the peak of RSS is due anyway",
	    .facts = { KNOWN, .clock = RTI_CLOCK_MOVED, .seldom_due = WITH_RSS },
	    .plan = { .stat_may_wait = true, .domains = EACH | WHILE_IDLE | WITH_RSS },
	},
	{
	    .name = "all seldom domains are due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_MOVED, .seldom_due = ALL_SELDOM,
	               .is_stat_due = true },
	    .plan = { .domains = ALL },
	},
	{
	    .name = "a seldom domain is put off again",
	    .facts = { KNOWN, .clock = RTI_CLOCK_MOVED, .put_off = SELDOM },
	    .plan = { .stat_may_wait = true,
	              .domains = EACH | WHILE_IDLE,
	              .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "RSS is a second old",
	    .facts = { KNOWN, .clock = RTI_CLOCK_MOVED, .idle_due = WHILE_IDLE },
	    .plan = { .stat_may_wait = true,
	              .domains = EACH | WHILE_IDLE,
	              .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "the peak of RSS is not wanted",
	    .facts = { .clock = RTI_CLOCK_MOVED,
	               .was_read = true,
	               .wanted = EACH | SELDOM,
	               .seldom = SELDOM },
	    .plan = { .stat_may_wait = true, .domains = EACH },
	},
};

static const struct policy_case unknown_cases[] = {
	{
	    .name = "nothing else is due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNKNOWN },
	    .plan = { .domains = EACH | WHILE_IDLE, .if_rss_rose = WITH_RSS },
	},
	{
	    .name = "all seldom domains are due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNKNOWN, .seldom_due = ALL_SELDOM },
	    .plan = { .domains = ALL },
	},
	{
	    .name = "a part was put off, and is not yet due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNKNOWN, .put_off = SELDOM },
	    .plan = { .domains = EACH | WHILE_IDLE, .if_rss_rose = WITH_RSS },
	},
};

/* A member that was never read has no stamps, so all that is read seldom is due, and all that is
 * wanted is missing. */
#define NEVER_READ                                                                                 \
	.wanted = ALL, .seldom = ALL_SELDOM, .seldom_due = ALL_SELDOM, .missing = ALL,             \
	.idle_due = WHILE_IDLE, .with_rss = WITH_RSS, .is_stat_due = true

static const struct policy_case never_read_cases[] = {
	{
	    .name = "clock unknown",
	    .facts = { NEVER_READ, .clock = RTI_CLOCK_UNKNOWN },
	    .plan = { .domains = ALL },
	},
	{
	    .name = "clock at 0, as that of a process that has not run yet",
	    .facts = { NEVER_READ, .clock = RTI_CLOCK_UNCHANGED },
	    .plan = { .domains = ALL },
	},
	{
	    .name = "clock moved",
	    .facts = { NEVER_READ, .clock = RTI_CLOCK_MOVED },
	    .plan = { .domains = ALL },
	},
	{
	    .name = "nothing is missing and no stat is due",
	    .facts = { .clock = RTI_CLOCK_UNCHANGED, .wanted = ALL, .seldom = ALL_SELDOM },
	    .plan = { .domains = EACH | WHILE_IDLE },
	},
	{
	    .name = "clock moved and no stat is due",
	    .facts = { .clock = RTI_CLOCK_MOVED, .wanted = EACH },
	    .plan = { .domains = EACH },
	},
};

static const struct policy_case final_cases[] = {
	{
	    .name = "clock unchanged, and all is known",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNCHANGED, .is_final = true },
	    .plan = { .domains = ALL },
	},
	{
	    .name = "clock moved, and nothing is due",
	    .facts = { KNOWN, .clock = RTI_CLOCK_MOVED, .is_final = true },
	    .plan = { .domains = ALL },
	},
	{
	    .name = "clock unknown",
	    .facts = { KNOWN, .clock = RTI_CLOCK_UNKNOWN, .is_final = true },
	    .plan = { .domains = ALL },
	},
	{
	    .name = "never read",
	    .facts = { NEVER_READ, .clock = RTI_CLOCK_UNKNOWN, .is_final = true },
	    .plan = { .domains = ALL },
	},
};

#define CASES(cases) ((int)(sizeof(cases) / sizeof((cases)[0])))

START_TEST(unchanged_clock_yields_a_plan_for_what_is_due)
{
	check_plan(&unchanged_cases[_i]);
}
END_TEST

START_TEST(moved_clock_yields_a_plan_for_each_sample)
{
	check_plan(&moved_cases[_i]);
}
END_TEST

START_TEST(unknown_clock_yields_a_plan_with_stat)
{
	check_plan(&unknown_cases[_i]);
}
END_TEST

START_TEST(member_never_read_yields_a_plan_for_everything_due)
{
	check_plan(&never_read_cases[_i]);
}
END_TEST

START_TEST(final_sample_yields_a_plan_for_everything)
{
	check_plan(&final_cases[_i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("read policy");
	TCase *tcase = suite_case(suite, "read policy");

	tcase_add_loop_test(tcase, unchanged_clock_yields_a_plan_for_what_is_due, 0,
	                    CASES(unchanged_cases));
	tcase_add_loop_test(tcase, moved_clock_yields_a_plan_for_each_sample, 0,
	                    CASES(moved_cases));
	tcase_add_loop_test(tcase, unknown_clock_yields_a_plan_with_stat, 0, CASES(unknown_cases));
	tcase_add_loop_test(tcase, member_never_read_yields_a_plan_for_everything_due, 0,
	                    CASES(never_read_cases));
	tcase_add_loop_test(tcase, final_sample_yields_a_plan_for_everything, 0,
	                    CASES(final_cases));
	return suite_run(suite);
}
