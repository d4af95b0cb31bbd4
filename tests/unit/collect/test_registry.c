/* SPDX-License-Identifier: MIT */
/* The table of collectors: each counter and each domain belongs to one of them. */
#include <stdlib.h>

#include "collect/collector.h"
#include "suite.h"

START_TEST(each_counter_has_one_collector)
{
	unsigned owners[RTI_COUNTERS] = { 0 };

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_counter_range *range = &rti_pid_collectors[i]->counters;

		ck_assert_uint_le(range->first + range->count, RTI_COUNTERS);
		for (unsigned k = 0; k < range->count; k++)
			owners[range->first + k]++;
	}
	for (size_t i = 0; i < RTI_COUNTERS; i++)
		ck_assert_msg(owners[i] == 1, "counter %zu has %u collectors", i, owners[i]);
}
END_TEST

START_TEST(no_domain_has_two_collectors)
{
	uint64_t of_processes = 0, of_system = 0;

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		ck_assert_uint_eq(of_processes & rti_pid_collectors[i]->provides, 0);
		of_processes |= rti_pid_collectors[i]->provides;
	}
	for (size_t i = 0; i < rti_sys_collector_count; i++) {
		ck_assert_uint_eq(of_system & rti_sys_collectors[i]->provides, 0);
		of_system |= rti_sys_collectors[i]->provides;
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("registry");
	TCase *tcase = suite_case(suite, "registry");

	tcase_add_test(tcase, each_counter_has_one_collector);
	tcase_add_test(tcase, no_domain_has_two_collectors);
	return suite_run(suite);
}
