/* SPDX-License-Identifier: MIT */
/* Members that end, or give memory back, while others are looked at: no moment has had what all of
 * them showed. */
#include "pool_fixture.h"

#include <errno.h>

#define SLOW_NS (20 * MS)

static uint64_t look_ns; /* how long the look at a member takes, during which another one changes */

/* Two children that share nothing. */
static void track_children(void)
{
	write_pool(2);
	for (int i = 1; i <= 2; i++) {
		make_process(i, false);
		set_pages(i, ANON, FILES, 1);
		write_process(i);
	}
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS, .max_fds = 1 });
}

/* What happens to the child that was looked at first, while the other one is looked at. */

static void end(int child)
{
	fake_process_remove(&fix.root, 100 + child);
	end_cpu_clock(child);
}

static void shrink(int child)
{
	set_pages(child, 100, FILES, 1);
	run_and_write(child);
}

/* Without its CPU clock: so no process does. */
static void shrink_without_running(int child)
{
	set_pages(child, 100, FILES, 1);
	write_process(child);
}

static void hide(int child)
{
	faults_on_open(child == 1 ? "101/statm" : "102/statm", -EACCES);
}

static void stay(int child)
{
	(void)child;
}

static const struct {
	void (*change)(int child);
	uint64_t anon; /* pages that it has afterwards, as far as is known */
} changes[] = {
	{ end, 0 },
	{ shrink, 100 },
	{ hide, ANON },
	{ stay, ANON },
	{ shrink_without_running, ANON }, /* it is not looked at: that would take long */
};

#define CHANGES (int)(sizeof(changes) / sizeof(changes[0]))

static struct event {
	int change, child;
} event;

static void happen(void *arg)
{
	const struct event *of = arg;

	changes[of->change].change(of->child);
	fix.now_ns += look_ns;
}

/* A sample looks at the youngest member first, and a peak poll at the oldest. */
static void change_in_sample(int change)
{
	event = (struct event){ change, 2 };
	faults_before_open("101/statm", happen, &event);
}

static void change_in_poll(int change)
{
	event = (struct event){ change, 1 };
	faults_before_open("102/statm", happen, &event);
}

static void check_peak(const struct rt_metrics *m, uint64_t anon)
{
	ck_assert_uint_ge(m->peak_footprint_bytes, pages_to_bytes(anon));
	ck_assert_uint_le(m->peak_footprint_bytes, pages_to_bytes(anon + 3 * FILES));
	ck_assert_uint_ge(m->footprint_low_bytes, pages_to_bytes(anon));
	ck_assert_uint_le(m->footprint_low_bytes, pages_to_bytes(anon + FILES));
}

START_TEST(peak_has_what_members_have_after_a_long_look)
{
	struct rt_metrics m;

	track_children();
	look_ns = SLOW_NS;
	change_in_sample(_i);
	m = take_sample_after(0);

	check_peak(&m, 2 * ANON + changes[_i].anon);
}
END_TEST

/* The clock says that nothing can have changed. So no member is looked at twice. */
START_TEST(members_are_looked_at_once_if_that_is_quick)
{
	struct rt_metrics m;

	track_children();
	look_ns = MS / 2;
	change_in_sample(0);
	m = take_sample_after(0);

	check_peak(&m, 3 * ANON);
}
END_TEST

/* The clock of a process that runs lags by up to a tick, which is 10 ms at most. */
START_TEST(process_is_looked_at_again_though_its_clock_stands_if_less_than_a_tick_has_passed)
{
	struct rt_metrics m;

	track_children();
	look_ns = 5 * MS;
	change_in_sample(CHANGES - 1);
	m = take_sample_after(0);

	check_peak(&m, 2 * ANON + 100);
}
END_TEST

/* The root has none, as a zombie. */
START_TEST(peak_has_what_the_only_member_with_memory_had_before_it_ended)
{
	struct rt_metrics m;

	write_pool(1);
	set_pages(0, 0, 0, 1);
	write_process(0);
	make_process(1, false);
	set_pages(1, ANON, FILES, 1);
	write_process(1);
	track_tree((struct rt_opts){ .flags = RT_OPT_NO_MEMORY_READS, .max_fds = 1 });
	look_ns = SLOW_NS;
	event = (struct event){ 0, 1 };
	faults_before_open("100/statm", happen, &event);
	m = take_sample_after(0);

	ck_assert_uint_ge(m.peak_footprint_bytes, pages_to_bytes(ANON));
	ck_assert_uint_le(m.peak_footprint_bytes, pages_to_bytes(ANON + FILES));
}
END_TEST

START_TEST(peak_poll_has_what_members_have_after_a_long_look)
{
	const uint64_t anon = 3 * ANON + changes[_i].anon;
	struct rt_metrics m;

	track_children();
	shrink(2);
	take_sample_after(0);
	set_pages(2, 2 * ANON, FILES, 1);
	for (int i = 0; i <= 2; i++)
		run_and_write(i);
	fix.now_ns += SECOND;
	look_ns = SLOW_NS;
	change_in_poll(_i);
	ck_assert_int_eq(rt_tracker_glance(fix.tracker), 0);
	m = take_sample_after(SECOND);

	ck_assert_uint_ge(m.peak_footprint_bytes, pages_to_bytes(anon));
	ck_assert_uint_le(m.peak_footprint_bytes, pages_to_bytes(anon + 3 * FILES));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_confirm");
	TCase *looks = add_member_case(suite, "looks");

	tcase_add_loop_test(looks, peak_has_what_members_have_after_a_long_look, 0, CHANGES);
	tcase_add_test(looks, members_are_looked_at_once_if_that_is_quick);
	tcase_add_test(
	    looks,
	    process_is_looked_at_again_though_its_clock_stands_if_less_than_a_tick_has_passed);
	tcase_add_test(looks, peak_has_what_the_only_member_with_memory_had_before_it_ended);
	tcase_add_loop_test(looks, peak_poll_has_what_members_have_after_a_long_look, 0, CHANGES);
	return suite_run(suite);
}
