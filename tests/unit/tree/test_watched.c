/* SPDX-License-Identifier: MIT */
/* How often members of a watched tree have their turn though they do not run. */
#include "suite.h"

#include "tree/watched.h"

#define SECOND UINT64_C(1000000000)

START_TEST(members_have_their_turn_every_4_s_but_no_more_than_1000_in_a_second)
{
	static const struct {
		size_t members;
		uint64_t all_ns; /* until each of them was looked at */
	} cases[] = { { 1, 4 * SECOND },       { 16, 4 * SECOND },   { 1000, 4 * SECOND },
		      { 4000, 4 * SECOND },    { 8000, 8 * SECOND }, { 20000, 20 * SECOND },
		      { 100000, 100 * SECOND } };
	uint64_t all_ns = cases[_i].members * rti_watched_turn_ns(cases[_i].members);

	/* One more look in 4 s than there are members, so that each has one for certain. */
	ck_assert_uint_le(all_ns, cases[_i].all_ns);
	ck_assert_uint_ge(all_ns, cases[_i].all_ns / 2);
	ck_assert_uint_ge(rti_watched_turn_ns(cases[_i].members), SECOND / 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watched");
	TCase *tcase = suite_case(suite, "turns");

	tcase_add_loop_test(
	    tcase, members_have_their_turn_every_4_s_but_no_more_than_1000_in_a_second, 0, 7);
	return suite_run(suite);
}
