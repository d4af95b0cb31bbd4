/* SPDX-License-Identifier: MIT */
/* Arrays that grow. */
#include "util/array.h"

#include <stdint.h>
#include <stdlib.h>

#include "suite.h"

START_TEST(array_that_grows_keeps_its_elements)
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

START_TEST(array_with_room_stays_where_it_is)
{
	size_t capacity = 0;
	int *numbers = rti_array_grow(NULL, &capacity, 5, sizeof(*numbers));
	size_t first = capacity;

	ck_assert_ptr_eq(rti_array_grow(numbers, &capacity, first, sizeof(*numbers)), numbers);
	ck_assert_uint_eq(capacity, first);
	free(numbers);
}
END_TEST

START_TEST(array_past_the_address_space_is_left_as_it_is)
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
	TCase *cases = suite_case(suite, "grow");

	tcase_add_test(cases, array_that_grows_keeps_its_elements);
	tcase_add_test(cases, array_with_room_stays_where_it_is);
	tcase_add_test(cases, array_past_the_address_space_is_left_as_it_is);
	return suite_run(suite);
}
