/* SPDX-License-Identifier: MIT */
/* How often members of a watched tree have their turn though they do not run, how often all
 * threads of the system are searched, and when a watch is tried at all. */
#include "fixture.h"
#include "suite.h"
#include "tree/state/state.h"
#include "tree/watch/watched.h"

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

static int read_no_clock(int32_t pid, struct rti_cpu_clock *out)
{
	(void)pid;
	(void)out;
	return 0;
}

#define OTHER_LINES "intr 1\nctxt 20\nprocesses 3\nprocs_running 1\nprocs_blocked 0\n"
#define SYSTEM_STAT "cpu 1 2 3 4\n" OTHER_LINES

/* Whether it pays depends on the context switches of the system. */
static const struct try_case {
	const char *stat; /* of the system; NULL: it cannot be read */
	bool is_foreign, is_alone, may_have_reader, is_tried;
} tries[] = {
	{ .stat = SYSTEM_STAT, .is_tried = true },
	{ .stat = SYSTEM_STAT, .is_foreign = true },
	{ .stat = SYSTEM_STAT, .is_alone = true },
	{ .stat = SYSTEM_STAT, .may_have_reader = true },
	{ .stat = NULL },
	{ .stat = "cpu x\n" OTHER_LINES },
	{ .stat = "cpu 1 2 3 4\n" },
};

/* This program has no plug-in beside it, so that a watch that is tried cannot be had. */
START_TEST(watch_is_tried_where_its_cost_is_known)
{
	const struct try_case *c = &tries[_i];
	const struct rti_strategy always = { .worth = 1 };
	const struct rti_platform platform = { .cpu_clock = c->is_foreign ? NULL : read_no_clock };
	struct rti_buf buf = { 0 };
	struct rti_procfs procfs;
	const struct rti_context ctx = { .procfs = &procfs, .platform = &platform, .buf = &buf };
	struct rti_tree tree = { .ctx = &ctx,
		                 .discovery = { .is_followed = !c->is_alone },
		                 .batch_reader = { .is_unavailable = !c->may_have_reader },
		                 .watched = RTI_WATCHED_INIT };
	struct fixture root;

	fixture_new(&root);
	fixture_mkdir(&root, "proc");
	if (c->stat)
		fixture_write(&root, "proc/stat", c->stat);
	ck_assert_int_eq(rti_procfs_open(&procfs, root.root, &rti_procfs_linux), 0);
	tree.watched.choice = (struct rti_watch_choice){ .open = &always, .switches = 10 };

	ck_assert(!rti_watched_begin(&tree));

	ck_assert_int_eq(tree.watched.is_unavailable, c->is_tried);
	rti_watched_free(&tree.watched, tree.ctx);
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	fixture_free(&root);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("watched");
	TCase *tcase = suite_case(suite, "turns");

	tcase_add_loop_test(
	    tcase, members_have_their_turn_every_10_s_but_no_more_than_400_in_a_second, 0, 7);
	tcase_add_test(tcase, search_is_made_every_16_s_but_takes_at_most_a_4000th_of_a_cpu);
	tcase_add_loop_test(tcase, watch_is_tried_where_its_cost_is_known, 0,
	                    sizeof(tries) / sizeof(tries[0]));
	return suite_run(suite);
}
