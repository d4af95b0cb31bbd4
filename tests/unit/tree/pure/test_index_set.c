/* SPDX-License-Identifier: MIT */
/* A set of indexes into an array. */
#include "tree/pure/index_set.h"

#include "suite.h"

#define SIZE 200

static const size_t members[] = { 0, 1, 63, 64, 127, 130, 199 };
#define MEMBERS (sizeof(members) / sizeof(members[0]))

static struct rti_index_set set;

static void set_up(void)
{
	set = (struct rti_index_set){ 0 };
	ck_assert_int_eq(rti_index_set_reserve(&set, SIZE), 0);
	for (size_t i = 0; i < MEMBERS; i++)
		rti_index_set_add(&set, members[i]);
}

static void tear_down(void)
{
	rti_index_set_free(&set);
}

START_TEST(indexes_are_found_upwards_in_their_order)
{
	size_t found = 0;

	for (size_t i = SIZE_MAX; (i = rti_index_set_next(&set, i + 1)) != SIZE_MAX; found++)
		ck_assert_uint_eq(i, members[found]);
	ck_assert_uint_eq(found, MEMBERS);
}
END_TEST

START_TEST(indexes_are_found_downwards_in_their_order)
{
	size_t left = MEMBERS;

	for (size_t i = SIZE_MAX; (i = rti_index_set_previous(&set, i)) != SIZE_MAX;)
		ck_assert_uint_eq(i, members[--left]);
	ck_assert_uint_eq(left, 0);
}
END_TEST

START_TEST(indexes_beyond_the_set_are_none)
{
	ck_assert_uint_eq(rti_index_set_next(&set, 10 * SIZE), SIZE_MAX);
	ck_assert(!rti_index_set_has(&set, 10 * SIZE));
	rti_index_set_clear(&set);
	ck_assert_uint_eq(rti_index_set_next(&set, 0), SIZE_MAX);
}
END_TEST

START_TEST(index_that_is_added_twice_counts_once)
{
	rti_index_set_add(&set, 64);
	ck_assert_uint_eq(set.count, MEMBERS);

	rti_index_set_remove(&set, 64);
	rti_index_set_remove(&set, 64);
	rti_index_set_remove(&set, 65);

	ck_assert_uint_eq(set.count, MEMBERS - 1);
	ck_assert(!rti_index_set_has(&set, 64));
	ck_assert_uint_eq(rti_index_set_next(&set, 64), 127);
}
END_TEST

START_TEST(set_keeps_its_indexes_when_it_grows)
{
	ck_assert(!rti_index_set_has(&set, SIZE * SIZE));
	ck_assert_int_eq(rti_index_set_reserve(&set, 10 * SIZE), 0);

	ck_assert_uint_eq(set.count, MEMBERS);
	ck_assert(rti_index_set_has(&set, 199));
	ck_assert_uint_eq(rti_index_set_next(&set, SIZE), SIZE_MAX);
}
END_TEST

START_TEST(cleared_set_has_none)
{
	rti_index_set_clear(&set);

	ck_assert_uint_eq(set.count, 0);
	ck_assert_uint_eq(rti_index_set_next(&set, 0), SIZE_MAX);
	ck_assert_uint_eq(rti_index_set_previous(&set, SIZE), SIZE_MAX);
	rti_index_set_add(&set, 5);
	ck_assert_uint_eq(rti_index_set_next(&set, 0), 5);
	ck_assert_uint_eq(rti_index_set_next(&set, 6), SIZE_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("index set");
	TCase *tests = suite_case(suite, "index set");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, indexes_are_found_upwards_in_their_order);
	tcase_add_test(tests, indexes_are_found_downwards_in_their_order);
	tcase_add_test(tests, indexes_beyond_the_set_are_none);
	tcase_add_test(tests, index_that_is_added_twice_counts_once);
	tcase_add_test(tests, set_keeps_its_indexes_when_it_grows);
	tcase_add_test(tests, cleared_set_has_none);
	return suite_run(suite);
}
