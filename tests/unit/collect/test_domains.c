/* SPDX-License-Identifier: MIT */
/* The masks of domains, of a registry of this test: since this file defines it, the linker leaves
 * that of the library out. */
#include "collect/domains.h"
#include "suite.h"

#define WITH_ALL (UINT64_C(1) << 5)
#define WITH_NONE (UINT64_C(1) << 7)

static void keep_nothing(struct rti_figures *out, const struct rti_shared_stats *shared)
{
	(void)out;
	(void)shared;
}

static const struct rti_pid_collector with_all = {
	.provides = WITH_ALL,
	.needs = WITH_NONE,
	.cadence = RTI_TEN_HZ,
	.after_stat = true,
	.changes_while_idle = true,
	.rises_with_rss = true,
	.is_often_partial = true,
	.folds_children = true,
	.counters = { RTI_CPU_USER, 1 },
	.keep_children_share = keep_nothing,
};
static const struct rti_pid_collector with_none = { .provides = WITH_NONE };

const struct rti_pid_collector *const rti_pid_collectors[] = { &with_none, &with_all };
const size_t rti_pid_collector_count = 2;

START_TEST(mask_has_the_domains_of_the_collectors_that_say_so_and_no_other_bit)
{
	const struct rti_pid_domains domains = rti_pid_domains();

	ck_assert_uint_eq(domains.all, WITH_ALL | WITH_NONE);
	ck_assert_uint_eq(domains.seldom, WITH_ALL);
	ck_assert_uint_eq(domains.while_idle, WITH_ALL);
	ck_assert_uint_eq(domains.with_rss, WITH_ALL);
	ck_assert_uint_eq(domains.often_partial, WITH_ALL);
	ck_assert_uint_eq(domains.folds_children, WITH_ALL);
	ck_assert_uint_eq(domains.after_stat, WITH_ALL);
	ck_assert_uint_eq(domains.of_supervisor, WITH_ALL);
	ck_assert_uint_eq(domains.counters, WITH_ALL);
}
END_TEST

START_TEST(domain_is_read_with_what_it_needs)
{
	ck_assert_uint_eq(rti_pid_domains_needed(WITH_ALL), WITH_ALL | WITH_NONE);
	ck_assert_uint_eq(rti_pid_domains_needed(WITH_NONE), WITH_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("domains");
	TCase *tcase = suite_case(suite, "domains");

	tcase_add_test(tcase, mask_has_the_domains_of_the_collectors_that_say_so_and_no_other_bit);
	tcase_add_test(tcase, domain_is_read_with_what_it_needs);
	return suite_run(suite);
}
