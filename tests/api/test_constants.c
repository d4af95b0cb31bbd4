/* SPDX-License-Identifier: MIT */
/* rt_constant_get(). tests/consumers compares the constants with the header. */
#include <errno.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "arguments.h"
#include "suite.h"

START_TEST(constant_with_bad_arguments_is_refused)
{
	static const size_t bad[] = { 0, sizeof(struct rt_constant) - 1, SIZE_LIMIT + 1, SIZE_MAX };
	struct rt_constant constant;

	memset(&constant, FILLED, sizeof(constant));
	ck_assert_int_eq(rt_constant_get(0, NULL, sizeof(constant)), -EFAULT);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ck_assert_int_eq(rt_constant_get(0, &constant, bad[i]), -EINVAL);
	ck_assert_int_eq(rt_constant_get(UINT32_MAX, &constant, sizeof(constant)), -EINVAL);
	ck_assert(is_filled(&constant, sizeof(constant)));
}
END_TEST

START_TEST(constants_end_with_einval)
{
	struct rt_constant constant;
	uint32_t count = 0;

	while (rt_constant_get(count, &constant, sizeof(constant)) == 0) {
		ck_assert_int_eq(strncmp(constant.name, "RT_", 3), 0);
		count++;
	}
	ck_assert_uint_gt(count, 90);
	ck_assert_int_eq(rt_constant_get(count, &constant, sizeof(constant)), -EINVAL);
}
END_TEST

START_TEST(constant_has_name_value_group_and_text)
{
	struct rt_constant constant = { 0 };
	uint32_t index = 0;

	while (strcmp(constant.name, "RT_REASON_SIGCHLD_IGNORED") != 0)
		ck_assert_int_eq(rt_constant_get(index++, &constant, sizeof(constant)), 0);
	ck_assert_int_eq(constant.value, RT_REASON_SIGCHLD_IGNORED);
	ck_assert_uint_eq(constant.group, RT_CONSTANTS_REASON);
	ck_assert(strstr(constant.text, "SIGCHLD"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("constants");
	TCase *tests = suite_case(suite, "constants");

	tcase_add_test(tests, constant_with_bad_arguments_is_refused);
	tcase_add_test(tests, constants_end_with_einval);
	tcase_add_test(tests, constant_has_name_value_group_and_text);
	return suite_run(suite);
}
