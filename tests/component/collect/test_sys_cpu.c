/* SPDX-License-Identifier: MIT */
/* The CPU collector: /proc/stat of fixtures, and the running system. */
#include "collect/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"

extern const struct rti_sys_collector rti_sys_cpu;

#define TICK UINT64_C(10000000)
#define ALL (RT_HAS_CPU | RT_HAS_CPU_MODES | RT_HAS_ACTIVITY)
#define REST                                                                                       \
	"intr 5000 1 2 3\nctxt 600\nbtime 1700000000\nprocesses 70\nprocs_running "                \
	"3\nprocs_blocked 2\n"

static struct fixture f;
static struct sampler s;

static void set_up(void)
{
	fixture_new(&f);
	sampler_open(&s, &rti_sys_cpu, f.root);
}

static void tear_down(void)
{
	sampler_close(&s);
	fixture_free(&f);
}

START_TEST(stat_with_two_cpus_yields_all_figures)
{
	const struct rt_cpu *row;
	size_t count;

	/* guest 30 is part of user 100, and guest_nice 4 part of nice 20 */
	fixture_write(&f, "proc/stat",
	              "cpu  100 20 50 1000 40 6 7 8 30 4\n"
	              "cpu0 60 12 30 600 25 4 3 5 18 3\n"
	              "cpu1 40 8 20 400 15 2 4 3 12 1\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, ALL);
	ck_assert_uint_eq(s.out.partial, 0);
	ck_assert_uint_eq(s.out.cpu_user_ns, 120 * TICK);
	ck_assert_uint_eq(s.out.cpu_system_ns, 63 * TICK);
	ck_assert_uint_eq(s.out.cpu_resolution_ns, TICK);
	ck_assert_double_eq_tol(s.out.rusage.ru_utime, 1.2, 1e-12);
	ck_assert_double_eq_tol(s.out.rusage.ru_stime, 0.63, 1e-12);
	ck_assert_uint_eq(s.out.cpu_mode_user_ns, 70 * TICK);
	ck_assert_uint_eq(s.out.cpu_mode_nice_ns, 16 * TICK);
	ck_assert_uint_eq(s.out.cpu_mode_system_ns, 50 * TICK);
	ck_assert_uint_eq(s.out.cpu_mode_idle_ns, 1000 * TICK);
	ck_assert_uint_eq(s.out.cpu_mode_iowait_ns, 40 * TICK);
	ck_assert_uint_eq(s.out.cpu_mode_irq_ns, 6 * TICK);
	ck_assert_uint_eq(s.out.cpu_mode_softirq_ns, 7 * TICK);
	ck_assert_uint_eq(s.out.cpu_mode_steal_ns, 8 * TICK);
	ck_assert_uint_eq(s.out.cpu_mode_guest_ns, 30 * TICK);
	ck_assert_uint_eq(s.out.cpu_mode_guest_nice_ns, 4 * TICK);
	ck_assert_uint_eq(s.out.cpus_online, 2);
	ck_assert_uint_eq(s.out.processes_running, 3);
	ck_assert_uint_eq(s.out.processes_blocked, 2);
	ck_assert_uint_eq(s.out.forks, 70);
	ck_assert_uint_eq(s.out.context_switches, 600);
	ck_assert_uint_eq(s.out.interrupts, 5000);

	row = sampler_rows(&s, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(row[1].size, sizeof(*row));
	ck_assert_uint_eq(row[1].id, 1);
	ck_assert_uint_eq(row[1].user_ns, 28 * TICK);
	ck_assert_uint_eq(row[1].nice_ns, 7 * TICK);
	ck_assert_uint_eq(row[1].system_ns, 20 * TICK);
	ck_assert_uint_eq(row[1].idle_ns, 400 * TICK);
	ck_assert_uint_eq(row[1].iowait_ns, 15 * TICK);
	ck_assert_uint_eq(row[1].irq_ns, 2 * TICK);
	ck_assert_uint_eq(row[1].softirq_ns, 4 * TICK);
	ck_assert_uint_eq(row[1].steal_ns, 3 * TICK);
	ck_assert_uint_eq(row[1].guest_ns, 12 * TICK);
	ck_assert_uint_eq(row[1].guest_nice_ns, 1 * TICK);
}
END_TEST

START_TEST(guest_time_ahead_of_user_time_is_clamped)
{
	fixture_write(&f, "proc/stat",
	              "cpu  10 0 0 0 0 0 0 0 12 0\ncpu0 10 0 0 0 0 0 0 0 12 0\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.cpu_mode_user_ns, 0);
	ck_assert_uint_eq(s.out.cpu_mode_guest_ns, 12 * TICK);
	ck_assert_uint_eq(s.out.cpu_user_ns, 10 * TICK);
}
END_TEST

START_TEST(idle_time_that_steps_back_is_held)
{
	static const struct {
		int idle, iowait, steal, held_idle, held_iowait, held_steal;
	} steps[] = {
		{ 9000, 500, 30, 9000, 500, 30 },
		{ 8990, 498, 29, 9000, 500, 30 },
		{ 9005, 499, 31, 9005, 500, 31 },
		{ 9006, 501, 31, 9006, 501, 31 },
	};
	const struct rt_cpu *row;
	size_t count;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int idle = steps[i].idle, iowait = steps[i].iowait, steal = steps[i].steal;

		fixture_printf(&f, "proc/stat",
		               "cpu  1 1 1 %d %d 0 0 %d 0 0\ncpu0 1 1 1 %d %d 0 0 %d 0 0\n" REST,
		               idle, iowait, steal, idle, iowait, steal);
		ck_assert_int_eq(sampler_take(&s), 0);
		ck_assert_uint_eq(s.out.valid, ALL);
		ck_assert_uint_eq(s.out.cpu_mode_idle_ns, (uint64_t)steps[i].held_idle * TICK);
		ck_assert_uint_eq(s.out.cpu_mode_iowait_ns, (uint64_t)steps[i].held_iowait * TICK);
		ck_assert_uint_eq(s.out.cpu_mode_steal_ns, (uint64_t)steps[i].held_steal * TICK);
		row = sampler_rows(&s, &count);
		ck_assert_uint_eq(row[0].idle_ns, (uint64_t)steps[i].held_idle * TICK);
		ck_assert_uint_eq(row[0].iowait_ns, (uint64_t)steps[i].held_iowait * TICK);
		ck_assert_uint_eq(row[0].steal_ns, (uint64_t)steps[i].held_steal * TICK);
	}
}
END_TEST

START_TEST(idle_time_that_falls_far_makes_modes_partial)
{
	fixture_write(&f, "proc/stat",
	              "cpu  100 0 10 90000 0 0 0 0 0 0\ncpu0 100 0 10 90000 0 0 0 0 0 0\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);

	fixture_write(&f, "proc/stat",
	              "cpu  101 0 11 50 0 0 0 0 0 0\ncpu0 101 0 11 50 0 0 0 0 0 0\n" REST);
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid, RT_HAS_CPU | RT_HAS_ACTIVITY);
	ck_assert_uint_eq(s.out.partial, RT_HAS_CPU_MODES);
	ck_assert_uint_eq(s.out.cpu_mode_idle_ns, 90000 * TICK);

	fixture_write(&f, "proc/stat",
	              "cpu  101 0 11 55 0 0 0 0 0 0\ncpu0 101 0 11 55 0 0 0 0 0 0\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.cpu_mode_idle_ns, 90005 * TICK);
}
END_TEST

static void expect_ids(size_t expected, const uint32_t *ids, const uint64_t *idle)
{
	const struct rt_cpu *row;
	size_t count;

	row = sampler_rows(&s, &count);
	ck_assert_uint_eq(count, expected);
	ck_assert_uint_eq(s.out.cpus_online, expected);
	for (size_t i = 0; i < expected; i++) {
		ck_assert_uint_eq(row[i].id, ids[i]);
		ck_assert_uint_eq(row[i].idle_ns, idle[i] * TICK);
	}
}

START_TEST(cpus_that_come_and_go_are_matched_by_id)
{
	fixture_write(&f, "proc/stat",
	              "cpu  0 0 0 600 0 0 0 0 0 0\n"
	              "cpu0 0 0 0 100 0 0 0 0 0 0\n"
	              "cpu4 0 0 0 200 0 0 0 0 0 0\n"
	              "cpu9 0 0 0 300 0 0 0 0 0 0\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);
	expect_ids(3, (uint32_t[]){ 0, 4, 9 }, (uint64_t[]){ 100, 200, 300 });

	/* CPU 4 goes offline, 2 and 12 are hot-added */
	fixture_write(&f, "proc/stat",
	              "cpu  0 0 0 605 0 0 0 0 0 0\n"
	              "cpu0 0 0 0 101 0 0 0 0 0 0\n"
	              "cpu2 0 0 0 1 0 0 0 0 0 0\n"
	              "cpu9 0 0 0 302 0 0 0 0 0 0\n"
	              "cpu12 0 0 0 3 0 0 0 0 0 0\n" REST);
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	expect_ids(4, (uint32_t[]){ 0, 2, 9, 12 }, (uint64_t[]){ 101, 1, 302, 3 });
	ck_assert_uint_eq(s.out.partial, RT_HAS_CPU_MODES);
	ck_assert_uint_eq(s.out.cpu_mode_idle_ns, 600 * TICK);

	/* CPU 4 returns with another value, which it goes on from */
	fixture_write(&f, "proc/stat",
	              "cpu  0 0 0 606 0 0 0 0 0 0\n"
	              "cpu4 0 0 0 190 0 0 0 0 0 0\n" REST);
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	expect_ids(1, (uint32_t[]){ 4 }, (uint64_t[]){ 200 });
}
END_TEST

/* The line of interrupts is longer than any initial buffer. */
START_TEST(stat_with_two_thousand_cpus_is_read_whole)
{
	enum { CPUS = 2000, INTERRUPTS = 40000 };
	char *text = malloc(CPUS * 64 + INTERRUPTS * 2 + 1000), *at = text;
	const struct rt_cpu *row;
	size_t count;

	at += sprintf(at, "cpu  %d 0 0 0 0 0 0 0 0 0\n", CPUS * 5);
	for (int i = 0; i < CPUS; i++)
		at += sprintf(at, "cpu%d 5 0 0 %d 0 0 0 0 0 0\n", i, i);
	at += sprintf(at, "intr 77");
	for (int i = 0; i < INTERRUPTS; i++)
		at += sprintf(at, " 0");
	sprintf(at,
	        "\nctxt 600\nbtime 1700000000\nprocesses 70\nprocs_running 3\nprocs_blocked 2\n");
	fixture_write(&f, "proc/stat", text);
	free(text);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(sampler_take(&s), 0);
		ck_assert_uint_eq(s.out.valid, ALL);
		row = sampler_rows(&s, &count);
		ck_assert_uint_eq(count, CPUS);
		ck_assert_uint_eq(row[CPUS - 1].id, CPUS - 1);
		ck_assert_uint_eq(row[CPUS - 1].idle_ns, (CPUS - 1) * TICK);
		ck_assert_uint_eq(s.out.cpu_user_ns, CPUS * 5 * TICK);
		ck_assert_uint_eq(s.out.interrupts, 77);
		ck_assert_uint_eq(s.out.forks, 70);
	}
}
END_TEST

START_TEST(stat_with_four_columns_is_enough)
{
	fixture_write(&f, "proc/stat", "cpu  10 2 5 100\ncpu0 10 2 5 100\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.cpu_system_ns, 5 * TICK);
	ck_assert_uint_eq(s.out.cpu_mode_steal_ns, 0);
}
END_TEST

START_TEST(stat_without_activity_lines_lacks_their_bit)
{
	fixture_write(&f, "proc/stat",
	              "cpu  10 2 5 100 0 0 0 0 0 0\ncpu0 10 2 5 100 0 0 0 0 0 0\n");
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid, RT_HAS_CPU | RT_HAS_CPU_MODES);
	ck_assert_uint_eq(s.out.partial, 0);
}
END_TEST

/* Of an emulated kernel: a CPU was busy or idle all the time. */
START_TEST(stat_of_zeros_has_no_figure)
{
	const struct rt_cpu *row;
	size_t count;

	fixture_write(&f, "proc/stat",
	              "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n"
	              "intr 0\nctxt 0\nbtime 1700000000\nprocesses 0\nprocs_running 0\n"
	              "procs_blocked 0\n");
	ck_assert_int_eq(sampler_take(&s), -EOPNOTSUPP);
	ck_assert_uint_eq(s.out.valid | s.out.partial | s.out.estimated, 0);
	row = sampler_rows(&s, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(row->valid | row->partial | row->estimated, 0);
}
END_TEST

static const char *const activities[] = {
	"intr 0\nctxt 600\nbtime 1700000000\nprocesses 70\nprocs_running 3\nprocs_blocked 2\n",
	"intr 50\nctxt 0\nbtime 1700000000\nprocesses 70\nprocs_running 3\nprocs_blocked 2\n",
	"intr 50\nctxt 600\nbtime 1700000000\nprocesses 0\nprocs_running 3\nprocs_blocked 2\n",
	"intr 50\nctxt 600\nbtime 1700000000\nprocesses 70\nprocs_running 0\nprocs_blocked 2\n",
};

START_TEST(activity_that_stands_at_0_is_a_lower_bound)
{
	fixture_printf(&f, "proc/stat", "cpu  1 0 0 0\ncpu0 1 0 0 0\n%s", activities[_i]);
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid, RT_HAS_CPU | RT_HAS_CPU_MODES);
	ck_assert_uint_eq(s.out.partial, RT_HAS_ACTIVITY);
}
END_TEST

/* Two CPUs. Each step: the ticks that pass, by how much the modes of both grow, and whether they
 * are then known. */
START_TEST(modes_that_grow_by_less_than_half_of_the_time_are_unknown)
{
	static const struct {
		unsigned ticks, growth;
		bool is_known;
	} steps[] = {
		{ 9, 0, true }, /* too short to say */
		{ 100, 209, true }, { 100, 100, true }, { 100, 99, false },
		{ 5, 0, false }, /* as before */
		{ 200, 400, true }, { 1000, 0, false }, { 10, 20, true },
	};
	unsigned idle = 1000;

	s.procfs.is_foreign = false; /* as if it was this system */
	s.at_ns = 1000 * TICK;
	for (size_t i = 0; i <= sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t known = RT_HAS_CPU | RT_HAS_CPU_MODES;

		if (i > 0) {
			s.at_ns += steps[i - 1].ticks * TICK;
			idle += steps[i - 1].growth;
			known = steps[i - 1].is_known ? known : 0;
		}
		fixture_printf(&f, "proc/stat", "cpu  10 0 5 %u\ncpu0 5 0 3 1\ncpu1 5 0 2 1\n" REST,
		               idle);
		sampler_take(&s);
		ck_assert_msg(((s.out.valid | s.out.partial) & (RT_HAS_CPU | RT_HAS_CPU_MODES)) ==
		                  known,
		              "step %zu", i);
		ck_assert_uint_ne(s.out.valid & RT_HAS_ACTIVITY, 0);
	}
}
END_TEST

/* An hour at a suspend: what is idle after it counts at once. */
START_TEST(idle_time_goes_on_after_a_fall)
{
	fixture_write(&f, "proc/stat", "cpu  10 0 5 6221847\ncpu0 1 0 1 1\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);
	fixture_write(&f, "proc/stat", "cpu  10 0 5 5873386\ncpu0 1 0 1 1\n" REST);
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.partial, RT_HAS_CPU_MODES);
	fixture_write(&f, "proc/stat", "cpu  10 0 5 5973386\ncpu0 1 0 1 1\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.cpu_mode_idle_ns, (6221847 + 100000) * TICK);
}
END_TEST

START_TEST(row_of_a_cpu_with_falling_time_is_a_lower_bound)
{
	const struct rt_cpu *row;
	size_t count;

	fixture_write(&f, "proc/stat", "cpu  10 0 5 9000\ncpu0 5 0 3 4000\ncpu1 5 0 2 5000\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);
	fixture_write(&f, "proc/stat", "cpu  10 0 5 9000\ncpu0 5 0 3 4000\ncpu1 5 0 2 1000\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);
	row = sampler_rows(&s, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(row[0].valid, RT_HAS_CPU_MODES);
	ck_assert_uint_eq(row[1].valid, 0);
	ck_assert_uint_eq(row[1].partial, RT_HAS_CPU_MODES);
	ck_assert_uint_eq(row[1].idle_ns, 5000 * TICK);
}
END_TEST

/* 4096 CPUs in 60 days. */
START_TEST(time_above_64_bits_of_ns_is_a_lower_bound)
{
	fixture_write(&f, "proc/stat", "cpu  10 0 5 2123366400000\ncpu0 1 0 1 1\n" REST);
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid, RT_HAS_CPU | RT_HAS_ACTIVITY);
	ck_assert_uint_eq(s.out.partial, RT_HAS_CPU_MODES);
	ck_assert_uint_eq(s.out.cpu_mode_idle_ns, UINT64_MAX);
}
END_TEST

START_TEST(stat_missing_fails_with_enoent)
{
	size_t count = 9;

	ck_assert_int_eq(sampler_take(&s), -ENOENT);
	ck_assert_uint_eq(s.out.valid | s.out.partial, 0);
	ck_assert_ptr_null(sampler_rows(&s, &count));
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(stat_malformed_fails_and_recovers)
{
	static const char nothing[4096];

	fixture_write_bytes(&f, "proc/stat", nothing, sizeof(nothing));
	ck_assert_int_eq(sampler_take(&s), -EBADMSG);
	ck_assert_uint_eq(s.out.valid | s.out.partial, 0);

	/* the next sample recovers */
	fixture_write(&f, "proc/stat",
	              "cpu  10 2 5 100 0 0 0 0 0 0\ncpu0 10 2 5 100 0 0 0 0 0 0\n" REST);
	ck_assert_int_eq(sampler_take(&s), 0);
	ck_assert_uint_eq(s.out.valid, ALL);
}
END_TEST

static uint64_t sum_of_modes(const struct rt_metrics *m)
{
	return m->cpu_mode_user_ns + m->cpu_mode_nice_ns + m->cpu_mode_system_ns +
	       m->cpu_mode_idle_ns + m->cpu_mode_iowait_ns + m->cpu_mode_irq_ns +
	       m->cpu_mode_softirq_ns + m->cpu_mode_steal_ns + m->cpu_mode_guest_ns +
	       m->cpu_mode_guest_nice_ns;
}

/* Every CPU is in some mode all the time, so the modes add up to the elapsed time. */
START_TEST(live_cpu_modes_add_up_to_the_elapsed_time)
{
	struct sampler live;
	struct rti_now outer_from, from, to, outer_to;
	uint64_t before, at_least, at_most, spent;

	sampler_open(&live, &rti_sys_cpu, NULL);
	live.platform.tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	live.platform.now(&outer_from);
	ck_assert_int_eq(sampler_take(&live), 0);
	ck_assert_uint_eq(live.out.valid, ALL);
	ck_assert_uint_eq(live.out.cpus_online, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));

	live.platform.now(&from);
	before = sum_of_modes(&live.out);
	usleep(500000);
	live.platform.now(&to);
	sampler_take(&live);
	live.platform.now(&outer_to);
	at_least = (to.monotonic_ns - from.monotonic_ns) * live.out.cpus_online;
	at_most = (outer_to.monotonic_ns - outer_from.monotonic_ns) * live.out.cpus_online;
	spent = sum_of_modes(&live.out) - before;
	ck_assert_uint_ge(spent, at_least / 2);
	ck_assert_uint_le(spent, at_most * 2);
	sampler_close(&live);
}
END_TEST

START_TEST(live_forks_raise_the_fork_count)
{
	struct sampler live;
	uint64_t before;

	sampler_open(&live, &rti_sys_cpu, NULL);
	ck_assert_int_eq(sampler_take(&live), 0);

	before = live.out.forks;
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	}
	ck_assert_int_eq(sampler_take(&live), 0);
	ck_assert_uint_ge(live.out.forks, before + 10);
	ck_assert_uint_ge(live.out.processes_running, 1);
	sampler_close(&live);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_cpu");
	TCase *fixtures = suite_case(suite, "fixtures"), *live = suite_case(suite, "live");

	tcase_add_checked_fixture(fixtures, set_up, tear_down);
	tcase_add_test(fixtures, stat_with_two_cpus_yields_all_figures);
	tcase_add_test(fixtures, guest_time_ahead_of_user_time_is_clamped);
	tcase_add_test(fixtures, idle_time_that_steps_back_is_held);
	tcase_add_test(fixtures, idle_time_that_falls_far_makes_modes_partial);
	tcase_add_test(fixtures, cpus_that_come_and_go_are_matched_by_id);
	tcase_add_test(fixtures, stat_with_two_thousand_cpus_is_read_whole);
	tcase_add_test(fixtures, stat_with_four_columns_is_enough);
	tcase_add_test(fixtures, stat_without_activity_lines_lacks_their_bit);
	tcase_add_test(fixtures, stat_of_zeros_has_no_figure);
	tcase_add_loop_test(fixtures, activity_that_stands_at_0_is_a_lower_bound, 0,
	                    sizeof(activities) / sizeof(activities[0]));
	tcase_add_test(fixtures, modes_that_grow_by_less_than_half_of_the_time_are_unknown);
	tcase_add_test(fixtures, idle_time_goes_on_after_a_fall);
	tcase_add_test(fixtures, row_of_a_cpu_with_falling_time_is_a_lower_bound);
	tcase_add_test(fixtures, time_above_64_bits_of_ns_is_a_lower_bound);
	tcase_add_test(fixtures, stat_missing_fails_with_enoent);
	tcase_add_test(fixtures, stat_malformed_fails_and_recovers);
	tcase_add_test(live, live_cpu_modes_add_up_to_the_elapsed_time);
	tcase_add_test(live, live_forks_raise_the_fork_count);
	return suite_run(suite);
}
