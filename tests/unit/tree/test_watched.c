/* SPDX-License-Identifier: MIT */
/* How often members of a watched tree have their turn though they do not run, and how often all
 * threads of the system are searched. */
#include "suite.h"

#include "tree/watched.h"

#define SECOND UINT64_C(1000000000)

START_TEST(members_have_their_turn_every_10_s_but_no_more_than_400_in_a_second)
{
	static const struct {
		size_t members;
		uint64_t all_ns; /* until each of them was looked at */
	} cases[] = { { 1, 10 * SECOND },      { 16, 10 * SECOND },   { 1000, 10 * SECOND },
		      { 4000, 10 * SECOND },   { 8000, 20 * SECOND }, { 20000, 50 * SECOND },
		      { 100000, 250 * SECOND } };
	uint64_t all_ns = cases[_i].members * rti_watched_turn_ns(cases[_i].members);

	/* One more look in 10 s than there are members, so that each has one for certain. */
	ck_assert_uint_le(all_ns, cases[_i].all_ns);
	ck_assert_uint_ge(all_ns, cases[_i].all_ns / 2);
	ck_assert_uint_ge(rti_watched_turn_ns(cases[_i].members), SECOND / 400);
}
END_TEST

START_TEST(search_is_made_every_16_s_but_takes_at_most_a_4000th_of_a_cpu)
{
	ck_assert_uint_eq(rti_watched_check_ns(0), 16 * SECOND);
	ck_assert_uint_eq(rti_watched_check_ns(SECOND / 250), 16 * SECOND);
	ck_assert_uint_eq(rti_watched_check_ns(SECOND / 40), 100 * SECOND);
	ck_assert_uint_eq(rti_watched_check_ns(UINT64_MAX / 2), UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watched");
	TCase *tcase = suite_case(suite, "turns");

	tcase_add_loop_test(
	    tcase, members_have_their_turn_every_10_s_but_no_more_than_400_in_a_second, 0, 7);
	tcase_add_test(tcase, search_is_made_every_16_s_but_takes_at_most_a_4000th_of_a_cpu);
	return suite_run(suite);
}
