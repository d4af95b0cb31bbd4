/* SPDX-License-Identifier: MIT */
/* Numbers as decimal text. */
#include "util/decimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

START_TEST(decimal_of_any_length_equals_printf_output)
{
	static const uint64_t numbers[] = { 0, 9, 10, 4194304, UINT32_MAX, UINT64_MAX };
	char text[RTI_DECIMAL_MAX], expected[RTI_DECIMAL_MAX];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		snprintf(expected, sizeof(expected), "%" PRIu64, numbers[i]);
		ck_assert_ptr_eq(rti_decimal(text, numbers[i]), text + strlen(expected));
		ck_assert_str_eq(text, expected);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("decimal");
	TCase *tests = suite_case(suite, "decimal");

	tcase_add_test(tests, decimal_of_any_length_equals_printf_output);
	return suite_run(suite);
}
