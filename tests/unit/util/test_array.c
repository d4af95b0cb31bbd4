/* SPDX-License-Identifier: MIT */
/* rti_array_grow(). */
#include "util/array.h"

#include <stdint.h>
#include <stdlib.h>

#include "suite.h"

START_TEST(array_grown_repeatedly_keeps_its_elements)
{
	size_t capacity = 0;
	int *numbers = NULL;

	for (int i = 0; i < 1000; i++) {
		int *grown = rti_array_grow(numbers, &capacity, (size_t)i + 1, sizeof(*grown));

		ck_assert_ptr_nonnull(grown);
		numbers = grown;
		numbers[i] = i;
		ck_assert_uint_gt(capacity, (size_t)i);
	}
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(numbers[i], i);
	free(numbers);
}
END_TEST

START_TEST(array_with_spare_capacity_is_not_moved)
{
	size_t capacity = 0;
	int *numbers = rti_array_grow(NULL, &capacity, 5, sizeof(*numbers));
	size_t first = capacity;

	ck_assert_ptr_eq(rti_array_grow(numbers, &capacity, first, sizeof(*numbers)), numbers);
	ck_assert_uint_eq(capacity, first);
	free(numbers);
}
END_TEST

/* Memory of the caller would not survive realloc(). */
START_TEST(array_that_is_full_but_large_enough_is_left_alone)
{
	int numbers[4];
	size_t capacity = 4;

	ck_assert_ptr_eq(rti_array_grow(numbers, &capacity, 4, sizeof(*numbers)), numbers);
	ck_assert_uint_eq(capacity, 4);
}
END_TEST

START_TEST(array_grown_past_size_max_is_left_unchanged)
{
	size_t capacity = 0;
	char *bytes = rti_array_grow(NULL, &capacity, 1, 1);
	size_t before = capacity;

	ck_assert_ptr_null(rti_array_grow(bytes, &capacity, SIZE_MAX, 1));
	ck_assert_uint_eq(capacity, before);
	bytes[before - 1] = 'x';
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("array");
	TCase *tests = suite_case(suite, "grow");

	tcase_add_test(tests, array_grown_repeatedly_keeps_its_elements);
	tcase_add_test(tests, array_with_spare_capacity_is_not_moved);
	tcase_add_test(tests, array_that_is_full_but_large_enough_is_left_alone);
	tcase_add_test(tests, array_grown_past_size_max_is_left_unchanged);
	return suite_run(suite);
}
