/* SPDX-License-Identifier: MIT */
/* What the parts of the plug-in have in common: an iterator that the kernel refuses, and the offset
 * of a clock. */
#include "bpf/program.h"

#include <errno.h>
#include <stdarg.h>

#include "suite.h"

#define MS 1000000
#define SECOND (1000 * MS)

long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
	(void)number;
	errno = EPERM;
	return -1;
}

START_TEST(iterator_that_the_kernel_refuses_has_its_error)
{
	ck_assert_int_eq(rti_program_iterate(-1), -EPERM);
	ck_assert_int_eq(rti_program_run(-1), -EPERM);
}
END_TEST

/* The clock of the kernel was read between two reads of the caller's. */
START_TEST(offset_of_a_clock_is_that_of_a_time_namespace_alone)
{
	static const struct {
		uint64_t before_ns, kernel_ns, after_ns;
		int64_t offset_ns;
	} cases[] = {
		{ SECOND, SECOND + 100, SECOND + 200, 0 },
		{ SECOND, SECOND, SECOND, 0 },
		{ SECOND, SECOND + MS, SECOND, 0 },                /* it was corrected */
		{ SECOND + MS, SECOND, SECOND + 2 * MS, 0 },       /* likewise */
		{ SECOND, SECOND + 1, SECOND + 5ull * SECOND, 0 }, /* we were stopped */
		{ 9ull * SECOND, SECOND, 9ull * SECOND + 200, 8ll * SECOND + 100 },
		{ SECOND, 9ull * SECOND, SECOND + 200, -8ll * SECOND + 100 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_int_eq(rti_program_clock_offset_ns(cases[i].before_ns, cases[i].kernel_ns,
		                                             cases[i].after_ns),
		                 cases[i].offset_ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("program");
	TCase *tcase = suite_case(suite, "program");

	tcase_add_test(tcase, iterator_that_the_kernel_refuses_has_its_error);
	tcase_add_test(tcase, offset_of_a_clock_is_that_of_a_time_namespace_alone);
	return suite_run(suite);
}
