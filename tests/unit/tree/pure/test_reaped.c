/* SPDX-License-Identifier: MIT */
/* What a caller that is its own supervisor has reaped, as figures. */
#include "tree/pure/reaped.h"

#include "collect/collector.h"
#include "suite.h"

#define IO (RT_HAS_IO | RT_HAS_IO_CALLS)

/* E.g.: io of a child that was reaped is refused, since it has executed a set-user-ID program. */
START_TEST(io_that_could_not_be_read_of_some_is_a_lower_bound)
{
	const struct rti_reaped reaped = {
		.counters = { [RTI_CPU_USER] = 7, [RTI_VOLUNTARY] = 8, [RTI_READ_BYTES] = 9 },
		.has_unread_io = _i == 1,
	};
	struct rti_figures figures = { .valid = RT_HAS_CPU | IO };

	rti_reaped_keep(&reaped, &figures);

	ck_assert_uint_eq(figures.valid, _i == 1 ? RT_HAS_CPU : RT_HAS_CPU | IO);
	ck_assert_uint_eq(figures.partial, _i == 1 ? IO : 0);
	ck_assert_uint_eq(figures.children[RTI_CPU_USER], 7);
	ck_assert_uint_eq(figures.children[RTI_VOLUNTARY], 0);
	ck_assert_uint_eq(figures.self[RTI_READ_BYTES], 9);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reaped");
	TCase *tcase = suite_case(suite, "figures");

	tcase_add_loop_test(tcase, io_that_could_not_be_read_of_some_is_a_lower_bound, 0, 2);
	return suite_run(suite);
}
