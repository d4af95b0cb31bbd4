/* SPDX-License-Identifier: MIT */
#include "cost_fixture.h"
#include "tree/tree_inside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct cost_fixture fix;

static void set_up(void)
{
	fix.tracker = NULL;
	fix.family.count = 0;
}

static void tear_down(void)
{
	rt_tracker_free(fix.tracker);
	family_end(&fix.family);
}

TCase *add_cost_case(Suite *suite, const char *name)
{
	TCase *tcase = suite_case(suite, name);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	return tcase;
}

bool has_children_files(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	return access(path, F_OK) == 0;
}

void start_family(size_t count)
{
	family_start(&fix.family, count);
	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(family_tell(&fix.family, i, FAMILY_GROW, 8), 0);
		ck_assert_int_eq(family_tell(&fix.family, i, FAMILY_SHRINK, 8), 0);
		ck_assert_int_eq(family_tell(&fix.family, i, FAMILY_MAP, 1), 0);
	}
}

void make_tracker(uint32_t flags, uint64_t want, uint32_t share)
{
	const struct rt_opts opts = { .size = sizeof(opts),
		                      .flags = flags | RT_OPT_NO_PROCESS_EVENTS,
		                      .want = want,
		                      .max_fds = 1024,
		                      .pss_share = share };

	ck_assert_int_eq(rti_tracker_new(&fix.tracker, fix.family.member[0].pid, &opts, &meter_ops),
	                 0);
	assume_nothing_unseen(fix.tracker);
	meter_attach(fix.tracker);
}

void track_family(uint32_t flags, uint64_t want, uint32_t share)
{
	make_tracker(flags, want, share);
	for (int i = 0; i < 3; i++) {
		meter_pass(PSS_REFRESH);
		meter_see_fork();
		take_sample();
	}
}

void start_and_track_family(size_t count, uint32_t flags, uint64_t want, uint32_t share)
{
	start_family(count);
	track_family(flags, want, share);
}

void take_sample(void)
{
	int err;

	meter_start();
	err = rt_sample(fix.tracker, &fix.m, sizeof(fix.m));
	meter_stop();
	ck_assert_int_eq(err, 0);
}

static void poll_peak(void)
{
	int err;

	meter_start();
	err = rt_tracker_glance(fix.tracker);
	meter_stop();
	ck_assert_int_eq(err, 0);
}

/* A member that has answered runs for a moment more: its figures would be read again. */
void run_member(size_t member)
{
	ck_assert_int_eq(family_tell(&fix.family, member, FAMILY_RUN, 2), 0);
	family_await_sleep(&fix.family, member);
	meter_see_run(fix.family.member[member].pid);
}

void run_all(void)
{
	for (size_t i = 0; i < fix.family.count; i++) {
		if (fix.family.member[i].pid)
			run_member(i);
	}
}

void write_some(void)
{
	ck_assert_int_eq(family_tell(&fix.family, 0, FAMILY_WRITE, 10), 10);
	family_await_sleep(&fix.family, 0);
	meter_see_run(fix.family.member[0].pid);
}

void refresh_all(void)
{
	run_all();
	meter_pass(SELDOM);
	meter_see_fork();
	take_sample();
	run_all();
	take_sample();
}

void report_cost(const char *situation)
{
	printf("# %-42s opens %3u  reads %3u  readdirs %2u  others %u  clocks %3u  times %2u  "
	       "allocations %u | %s%s%s\n",
	       situation, meter.opens, meter.reads, meter.lists, meter.looks, meter.clocks,
	       meter.times, meter.allocations, meter_files(), *meter.twice ? " | twice: " : "",
	       meter.twice);
	fflush(stdout);
}

void check_cost(const char *situation, struct cost expected)
{
	report_cost(situation);
	ck_assert_str_eq(meter_files(), expected.files);
	ck_assert_uint_eq(meter.opens, expected.opens);
	ck_assert_uint_eq(meter.reads, expected.reads);
	ck_assert_uint_eq(meter.lists, expected.lists);
	ck_assert_uint_eq(meter.clocks, expected.clocks);
	ck_assert_uint_eq(meter.times, expected.times);
	ck_assert_uint_eq(meter.looks, 0);
	ck_assert_uint_eq(meter.allocations, 0);
	if (expected.twice)
		ck_assert_ptr_nonnull(strstr(meter.twice, expected.twice));
	else
		ck_assert_str_eq(meter.twice, "");
}

void check_sample_after(uint64_t ms, const char *situation, struct cost expected)
{
	meter_pass(ms);
	take_sample();
	check_cost(situation, expected);
}

void check_peak_poll_after(uint64_t ms, const char *situation, struct cost expected)
{
	meter_pass(ms);
	poll_peak();
	check_cost(situation, expected);
}
