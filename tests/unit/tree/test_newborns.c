/* SPDX-License-Identifier: MIT */
/* The pids that were given out between two scans: their order, their number, and when they are not
 * known. */
#include "fixture.h"
#include "suite.h"

#include "tree/newborns.h"

#define SECOND UINT64_C(1000000000)
#define PID_MAX 1000

static int32_t seen[PID_MAX];
static size_t seen_count;

static bool is_even(int32_t pid)
{
	return pid % 2 == 0;
}

static int note(void *arg, int32_t pid)
{
	seen[seen_count++] = pid;
	return pid == *(const int32_t *)arg;
}

static struct rti_newborn_mark mark(uint64_t last_pid, uint64_t forks)
{
	return (struct rti_newborn_mark){ .last_pid = last_pid, .forks = forks };
}

static bool find(uint64_t from, uint64_t to, uint64_t forks, struct rti_pid_range *out)
{
	struct rti_newborn_mark before = mark(from, 5000), now = mark(to, 5000 + forks);

	return rti_newborns_find_range(&before, &now, PID_MAX, out);
}

static int look(const struct rti_pid_range *range, int32_t stop_at, struct rti_newborns *newborns)
{
	const struct rti_platform platform = { .is_process = is_even };
	const struct rti_context ctx = { .platform = &platform };

	seen_count = 0;
	return rti_newborns_look(newborns, &ctx, range, note, &stop_at);
}

START_TEST(pids_behind_the_first_mark_up_to_the_second_are_looked_at)
{
	struct rti_newborns newborns = RTI_NEWBORNS_INIT;
	struct rti_pid_range range;

	ck_assert(find(100, 105, 5, &range));
	ck_assert_uint_eq(rti_pid_range_count(&range), 5);
	ck_assert_int_eq(look(&range, 0, &newborns), 0);
	ck_assert_uint_eq(seen_count, 2);
	ck_assert_int_eq(seen[0], 102);
	ck_assert_int_eq(seen[1], 104);
}
END_TEST

START_TEST(pids_that_begin_again_are_looked_at_in_the_order_of_the_forks)
{
	struct rti_newborns newborns = RTI_NEWBORNS_INIT;
	struct rti_pid_range range;

	ck_assert(find(996, 4, 7, &range));
	ck_assert_uint_eq(rti_pid_range_count(&range), 7);
	ck_assert_int_eq(look(&range, 0, &newborns), 0);
	ck_assert_uint_eq(seen_count, 3);
	ck_assert_int_eq(seen[0], 998);
	ck_assert_int_eq(seen[1], 2);
	ck_assert_int_eq(seen[2], 4);
}
END_TEST

/* E.g.: the limit was lowered to a thousand while pids stood above. */
START_TEST(pids_above_a_limit_that_was_lowered_are_left_out)
{
	struct rti_pid_range range;

	ck_assert(find(PID_MAX + 200, 5, 7, &range));
	ck_assert_uint_eq(rti_pid_range_count(&range), 5);
}
END_TEST

START_TEST(no_new_pid_is_an_empty_range)
{
	struct rti_pid_range range;

	ck_assert(find(100, 100, 0, &range));
	ck_assert_uint_eq(rti_pid_range_count(&range), 0);
}
END_TEST

START_TEST(range_is_not_known_if_pids_may_have_been_given_out_twice)
{
	struct rti_pid_range range;

	ck_assert(find(100, 105, PID_MAX / 2 - 1, &range));
	ck_assert(!find(100, 105, PID_MAX / 2, &range));
	ck_assert(!find(100, 105, PID_MAX + 5, &range));
}
END_TEST

START_TEST(range_is_not_known_without_both_marks_and_the_limit)
{
	struct rti_newborn_mark before = mark(100, 5), now = mark(105, 10);
	struct rti_pid_range range;

	ck_assert(!find(0, 105, 5, &range));
	ck_assert(!find(100, 0, 5, &range));
	ck_assert(!rti_newborns_find_range(&before, &now, 0, &range));
	ck_assert(!rti_newborns_find_range(&now, &before, PID_MAX, &range));
}
END_TEST

START_TEST(process_that_cannot_be_looked_at_ends_all_looks)
{
	struct rti_newborns newborns = RTI_NEWBORNS_INIT;
	struct rti_pid_range range;

	ck_assert(find(100, 110, 10, &range));
	ck_assert_int_ne(look(&range, 104, &newborns), 0);
	ck_assert_uint_eq(seen_count, 2);
	ck_assert(newborns.has_hidden);
}
END_TEST

/* A scan now and then: the range goes back two scans, and 250 ms at least. */
START_TEST(range_begins_two_scans_and_a_quarter_of_a_second_ago)
{
	static const struct {
		uint64_t at_ms, before;
	} scans[] = {
		{ 1000, 0 }, { 1100, 1 }, { 1200, 1 }, { 1340, 1 }, { 1360, 2 }, { 2360, 5 },
	};
	struct rti_newborns newborns = RTI_NEWBORNS_INIT;

	for (size_t i = 0; i < sizeof(scans) / sizeof(scans[0]); i++) {
		newborns.now = mark(i + 1, 0);
		newborns.now.at_ns = scans[i].at_ms * 1000000;
		rti_newborns_end(&newborns);
		ck_assert_uint_eq(newborns.before.last_pid, scans[i].before);
	}
}
END_TEST

START_TEST(each_member_has_its_turn_within_16_seconds)
{
	struct rti_newborns newborns = RTI_NEWBORNS_INIT;
	size_t turns = 0;

	ck_assert_uint_eq(rti_newborns_take_turns(&newborns, 100, SECOND), 0);
	for (uint64_t tenth = 1; tenth <= 160; tenth++)
		turns += rti_newborns_take_turns(&newborns, 100, SECOND + tenth * SECOND / 10);
	ck_assert_uint_eq(turns, 100);
	ck_assert_uint_eq(rti_newborns_take_turns(&newborns, 100, 100 * SECOND), 100);
}
END_TEST

START_TEST(no_member_has_a_turn_where_there_is_none)
{
	struct rti_newborns newborns = RTI_NEWBORNS_INIT;

	ck_assert_uint_eq(rti_newborns_take_turns(&newborns, 0, SECOND), 0);
	ck_assert_uint_eq(rti_newborns_take_turns(&newborns, 0, 2 * SECOND), 0);
	ck_assert_uint_eq(rti_newborns_take_turns(&newborns, 0, 100 * SECOND), 0);
}
END_TEST

#define OTHER_LINES "intr 1\nctxt 2\nprocesses 5005\nprocs_running 1\nprocs_blocked 0\n"
#define SYSTEM_STAT "cpu 1 2 3 4\n" OTHER_LINES

/* What the system shows, and whether newborns are known then. */
static const struct system_case {
	const char *stat, *pid_max;
	uint64_t last_pid;
	bool is_foreign, has_hidden, is_known;
} systems[] = {
	{ .stat = SYSTEM_STAT, .pid_max = "1000\n", .last_pid = 105, .is_known = true },
	{ .stat = SYSTEM_STAT, .pid_max = "1000\n", .last_pid = 105, .is_foreign = true },
	{ .stat = SYSTEM_STAT, .pid_max = "1000\n", .last_pid = 105, .has_hidden = true },
	{ .stat = SYSTEM_STAT, .pid_max = "1000\n", .last_pid = 0 },
	{ .stat = NULL, .pid_max = "1000\n", .last_pid = 105 },
	{ .stat = "cpu x\n" OTHER_LINES, .pid_max = "1000\n", .last_pid = 105 },
	{ .stat = "cpu 1 2 3 4\n", .pid_max = "1000\n", .last_pid = 105 },
	{ .stat = SYSTEM_STAT, .pid_max = NULL, .last_pid = 105 },
	{ .stat = SYSTEM_STAT, .pid_max = "many\n", .last_pid = 105 },
};

START_TEST(newborns_are_known_only_by_the_pids_and_forks_of_the_system)
{
	const struct system_case *c = &systems[_i];
	const struct rti_platform platform = { .is_process = c->is_foreign ? NULL : is_even };
	struct rti_newborns newborns = RTI_NEWBORNS_INIT;
	struct rti_buf buf = { 0 };
	struct rti_pid_range range;
	struct rti_procfs procfs;
	const struct rti_context ctx = { .procfs = &procfs, .platform = &platform, .buf = &buf };
	struct fixture root;

	fixture_new(&root);
	if (c->stat)
		fixture_write(&root, "proc/stat", c->stat);
	if (c->pid_max)
		fixture_write(&root, "proc/sys/kernel/pid_max", c->pid_max);
	fixture_mkdir(&root, "proc");
	ck_assert_int_eq(rti_procfs_open(&procfs, root.root, &rti_procfs_linux), 0);
	newborns.before = mark(100, 5000);
	newborns.has_hidden = c->has_hidden;

	ck_assert_int_eq(rti_newborns_begin(&newborns, &ctx, c->last_pid, SECOND, &range),
	                 c->is_known);
	if (c->is_known)
		ck_assert_uint_eq(rti_pid_range_count(&range), 5);

	rti_newborns_free(&newborns, &ctx);
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	fixture_free(&root);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tree/newborns");
	TCase *cases = suite_case(suite, "newborns");

	tcase_add_test(cases, pids_behind_the_first_mark_up_to_the_second_are_looked_at);
	tcase_add_test(cases, pids_that_begin_again_are_looked_at_in_the_order_of_the_forks);
	tcase_add_test(cases, pids_above_a_limit_that_was_lowered_are_left_out);
	tcase_add_test(cases, no_new_pid_is_an_empty_range);
	tcase_add_test(cases, range_is_not_known_if_pids_may_have_been_given_out_twice);
	tcase_add_test(cases, range_is_not_known_without_both_marks_and_the_limit);
	tcase_add_test(cases, process_that_cannot_be_looked_at_ends_all_looks);
	tcase_add_test(cases, range_begins_two_scans_and_a_quarter_of_a_second_ago);
	tcase_add_test(cases, each_member_has_its_turn_within_16_seconds);
	tcase_add_test(cases, no_member_has_a_turn_where_there_is_none);
	tcase_add_loop_test(cases, newborns_are_known_only_by_the_pids_and_forks_of_the_system, 0,
	                    sizeof(systems) / sizeof(systems[0]));
	return suite_run(suite);
}
