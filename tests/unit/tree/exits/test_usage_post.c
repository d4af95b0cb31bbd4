/* SPDX-License-Identifier: MIT */
/* What a peak poll adds to the account of a member. */
#include "tree/exits/usage_post.h"

#include "bpf/batch/batch.h"
#include "fixture.h"
#include "suite.h"
#include "tree/state/state.h"

#define MS UINT64_C(1000000)

static struct rti_procfs procfs;
static struct rti_buf buf;
static struct rti_platform platform;
static const struct rti_context ctx = { .procfs = &procfs, .platform = &platform, .buf = &buf };
static const struct rti_batch_row row = { .minflt = 70, .majflt = 7 };
static struct rti_tree tree;
static struct rti_member member;

/* Its account has 5 ms of CPU time and 50 faults, and its clock stands at 9 ms. */
static void set_up(void)
{
	tree = (struct rti_tree){ .ctx = &ctx, .wanted = RT_HAS_CPU };
	member = (struct rti_member){
		.pid = 100,
		.clock = { .now = { .total_ns = 9 * MS, .user_part_ns = 1, .both_parts_ns = 1 },
		           .is_known = true },
		.read = { .account_at = 1 },
		.account = { .self = { [RTI_CPU_USER] = 5 * MS, [RTI_MINOR_FAULTS] = 50 } },
	};
}

static uint64_t cpu_ns(void)
{
	return member.account.self[RTI_CPU_USER] + member.account.self[RTI_CPU_SYSTEM];
}

/* A row has the start time: it is of the member. */
START_TEST(row_raises_cpu_time_and_faults)
{
	member.clock.row = &row;
	rti_post_usage(&tree, &member);
	ck_assert_uint_eq(cpu_ns(), 9 * MS);
	ck_assert_uint_eq(member.account.self[RTI_MINOR_FAULTS], 70);
	ck_assert_uint_eq(member.account.self[RTI_MAJOR_FAULTS], 7);
}
END_TEST

/* RSS was read alone in this poll, which has no faults. It proves the member once. */
START_TEST(clock_of_a_member_that_was_proven_raises_cpu_time_alone)
{
	member.values.is_proven = true;
	rti_post_usage(&tree, &member);
	ck_assert_uint_eq(cpu_ns(), 9 * MS);
	ck_assert_uint_eq(member.account.self[RTI_MINOR_FAULTS], 50);
	ck_assert(!member.values.is_proven);
}
END_TEST

/* No other file of the process is there: its stat cannot be read. */
START_TEST(clock_of_a_member_with_a_statm_that_can_be_read_on_raises_cpu_time)
{
	static const char *const texts[] = { "9 9 9 9 0 9 0\n", "" };
	struct fixture root;

	fixture_new(&root);
	fixture_write(&root, "proc/100/statm", texts[_i]);
	ck_assert_int_eq(rti_procfs_open(&procfs, root.root, &rti_procfs_linux), 0);
	rti_platform_init(&platform, false);
	tree.rows.are_kept = true;
	member.files.stat.fd = member.files.schedstat.fd = member.files.statm.fd = -1;
	ck_assert_int_eq(rti_procfs_open_file(&procfs, RTI_PROC, "100/statm", &member.files.statm),
	                 0);
	rti_post_usage(&tree, &member);
	ck_assert_uint_eq(cpu_ns(), _i == 0 ? 9 * MS : 5 * MS);
	rti_procfs_close_file(&procfs, &member.files.statm);
	rti_procfs_close(&procfs);
	rti_buf_free(&buf);
	fixture_free(&root);
}
END_TEST

START_TEST(nothing_is_raised_by_what_is_not_wanted_or_not_known)
{
	member.clock.row = &row;
	if (_i == 0)
		tree.wanted = RT_HAS_RSS;
	else if (_i == 1)
		tree.supervised.pid = member.pid;
	else if (_i == 2)
		member.clock.is_known = false;
	else
		member.clock.now.total_ns = 5 * MS;
	rti_post_usage(&tree, &member);
	ck_assert_uint_eq(cpu_ns(), 5 * MS);
	ck_assert_uint_eq(member.account.self[RTI_MINOR_FAULTS], 50);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage_post");
	TCase *tcase = suite_case(suite, "accounts");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, row_raises_cpu_time_and_faults);
	tcase_add_test(tcase, clock_of_a_member_that_was_proven_raises_cpu_time_alone);
	tcase_add_loop_test(
	    tcase, clock_of_a_member_with_a_statm_that_can_be_read_on_raises_cpu_time, 0, 2);
	tcase_add_loop_test(tcase, nothing_is_raised_by_what_is_not_wanted_or_not_known, 0, 4);
	return suite_run(suite);
}
