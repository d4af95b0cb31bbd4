/* SPDX-License-Identifier: MIT */
/* The CPU collector beside 64 CPUs that go offline and come back.
 *
 * The kernel shows the idle time of a CPU that is online by its exact clock, and that of one that
 * is offline by ticks, which an idle CPU mostly does without (Linux, fs/proc/stat.c,
 * get_idle_time()).
 * So the first line falls by hours when a CPU goes, and jumps when it comes back. */
#include "collect/collector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "sampler.h"
#include "suite.h"

#define CPUS 64

extern const struct rti_sys_collector rti_sys_cpu;

static struct {
	struct fixture f;
	struct sampler s;
	uint64_t random;
	struct {
		bool is_online;
		uint64_t user, idle, idle_by_ticks; /* in clock ticks */
	} cpu[CPUS];
	uint64_t user, idle; /* of all, in this step */
	struct rt_cpu before[CPUS];
	size_t count; /* of before */
} fix;

static uint64_t choose(uint64_t below)
{
	fix.random ^= fix.random << 13;
	fix.random ^= fix.random >> 7;
	fix.random ^= fix.random << 17;
	return fix.random % below;
}

static void set_up(void)
{
	memset(&fix, 0, sizeof(fix));
	fixture_new(&fix.f);
	sampler_open(&fix.s, &rti_sys_cpu, fix.f.root);
	for (int i = 0; i < CPUS; i++) {
		fix.cpu[i].is_online = true;
		fix.cpu[i].user = 1000 + (uint64_t)i;
		fix.cpu[i].idle = 360000;
		fix.cpu[i].idle_by_ticks = 36000;
	}
}

static void tear_down(void)
{
	sampler_close(&fix.s);
	fixture_free(&fix.f);
}

static void run_cpus(void)
{
	fix.user = fix.idle = 0;
	for (int i = 0; i < CPUS; i++) {
		uint64_t user = choose(6), idle = choose(6);

		if (!fix.cpu[i].is_online)
			continue;
		fix.cpu[i].user += user;
		fix.cpu[i].idle += idle;
		fix.cpu[i].idle_by_ticks += idle / 5;
		fix.user += user;
		fix.idle += idle;
	}
}

static uint64_t shown_idle(int i)
{
	return fix.cpu[i].is_online ? fix.cpu[i].idle : fix.cpu[i].idle_by_ticks;
}

static void sample(void)
{
	char text[CPUS * 64];
	uint64_t user = 0, idle = 0;
	size_t len = 0;

	for (int i = 0; i < CPUS; i++) {
		user += fix.cpu[i].user;
		idle += shown_idle(i);
		if (fix.cpu[i].is_online)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			                        "cpu%d %" PRIu64 " 0 0 %" PRIu64 " 0 0 0 0 0 0\n",
			                        i, fix.cpu[i].user, shown_idle(i));
	}
	fixture_printf(&fix.f, "proc/stat",
	               "cpu  %" PRIu64 " 0 0 %" PRIu64 " 0 0 0 0 0 0\n%sintr 9 1\nctxt 9\n"
	               "processes 9\nprocs_running 1\nprocs_blocked 0\n",
	               user, idle, text);
	sampler_take(&fix.s);
}

static uint64_t ticks(uint64_t ns)
{
	return ns / fix.s.platform.tick_ns;
}

static const struct rt_cpu *find_row(const struct rt_cpu *rows, size_t count, uint32_t id)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].id == id)
			return &rows[i];
	return NULL;
}

/* The rows of CPUs that were in the sample before, too. Returns how many were exact in both. */
static unsigned check_rows(const uint64_t *idle_before)
{
	size_t count;
	const struct rt_cpu *row = sampler_rows(&fix.s, &count);
	unsigned exact = 0;

	for (size_t i = 0; i < count; i++) {
		const struct rt_cpu *before = find_row(fix.before, fix.count, row[i].id);
		uint64_t idle = fix.cpu[row[i].id].idle - idle_before[row[i].id], reported;

		if (!before)
			continue;
		reported = ticks(row[i].idle_ns - before->idle_ns);
		ck_assert_uint_le(reported, idle);
		if (row[i].valid & before->valid) {
			ck_assert_uint_eq(reported, idle);
			exact++;
		}
	}
	memcpy(fix.before, row, count * sizeof(*row));
	fix.count = count;
	return exact;
}

START_TEST(cpu_that_goes_and_comes_back_does_not_bring_its_idle_time_along)
{
	uint64_t idle;

	sample();
	idle = fix.s.out.cpu_mode_idle_ns;
	ck_assert_uint_eq(fix.s.out.valid, RT_HAS_CPU | RT_HAS_CPU_MODES | RT_HAS_ACTIVITY);
	for (int step = 0; step < 2; step++) {
		fix.cpu[5].is_online = step == 1;
		sample();
		ck_assert_uint_eq(fix.s.out.partial, RT_HAS_CPU_MODES);
		ck_assert_uint_eq(fix.s.out.cpu_mode_idle_ns, idle);
		sample();
		ck_assert_uint_eq(fix.s.out.partial, 0);
	}
	fix.cpu[7].idle += 3;
	sample();
	ck_assert_uint_eq(fix.s.out.partial, 0);
	ck_assert_uint_eq(ticks(fix.s.out.cpu_mode_idle_ns - idle), 3);
}
END_TEST

/* As many CPUs are online as before, and they are others. */
START_TEST(cpus_that_take_turns_make_modes_partial)
{
	uint64_t idle;

	fix.cpu[5].is_online = false;
	sample();
	idle = fix.s.out.cpu_mode_idle_ns;
	fix.cpu[5].is_online = true;
	fix.cpu[6].is_online = false;
	fix.cpu[6].idle += 40; /* it falls by less than the other jumps */
	sample();
	ck_assert_uint_eq(fix.s.out.partial, RT_HAS_CPU_MODES);
	ck_assert_uint_eq(fix.s.out.cpu_mode_idle_ns, idle);
}
END_TEST

START_TEST(sample_that_fails_changes_nothing)
{
	sample();
	fixture_write(&fix.f, "proc/stat", "cpu  1 0 0 1\ncpu0 1 0 0 1\ncpu99 1 0\n");
	ck_assert_int_eq(sampler_take(&fix.s), -EBADMSG);
	fix.cpu[0].idle += 3;
	sample();
	ck_assert_uint_eq(fix.s.out.partial & ~(uint64_t)RT_HAS_CPU_MODES, 0);
	ck_assert_uint_eq(fix.s.out.cpus_online, CPUS);
	sample();
	ck_assert_uint_eq(fix.s.out.partial, 0);
}
END_TEST

START_TEST(row_of_a_cpu_that_comes_back_is_a_lower_bound)
{
	const struct rt_cpu *row;
	uint64_t idle;
	size_t count;

	sample();
	row = find_row(sampler_rows(&fix.s, &count), CPUS, 5);
	idle = row->idle_ns;
	fix.cpu[5].is_online = false;
	sample();
	sampler_rows(&fix.s, &count);
	ck_assert_uint_eq(count, CPUS - 1);
	fix.cpu[5].is_online = true;
	fix.cpu[5].idle += 90000;
	fix.cpu[5].user += 4;
	sample();
	row = find_row(sampler_rows(&fix.s, &count), CPUS, 5);
	ck_assert_uint_eq(row->partial, RT_HAS_CPU_MODES);
	ck_assert_uint_eq(row->valid, 0);
	ck_assert_uint_eq(row->idle_ns, idle);
	ck_assert_uint_eq(ticks(row->user_ns), 1009);
	row = find_row(sampler_rows(&fix.s, &count), CPUS, 6);
	ck_assert_uint_eq(row->valid, RT_HAS_CPU_MODES);
}
END_TEST

START_TEST(histories_are_exact_or_marked)
{
	uint64_t user = 0, idle = 0, was_valid = 0, idle_before[CPUS];
	unsigned exact = 0, lower = 0, rows = 0;

	fix.random = 88172645463325252 + (uint64_t)_i * 7919;
	for (int step = 0; step < 200; step++) {
		for (int i = 0; i < CPUS; i++)
			idle_before[i] = fix.cpu[i].idle;
		run_cpus();
		for (uint64_t i = choose(2) ? choose(8) : 0; i > 0; i--) {
			uint64_t which = choose(CPUS - 1) + 1; /* the first never goes */

			fix.cpu[which].is_online = !fix.cpu[which].is_online;
		}
		sample();
		if (step > 0) {
			uint64_t reported = ticks(fix.s.out.cpu_mode_idle_ns) - idle;

			ck_assert_uint_eq(ticks(fix.s.out.cpu_user_ns) - user, fix.user);
			ck_assert_uint_ne(fix.s.out.valid & RT_HAS_CPU, 0);
			ck_assert_uint_le(reported, fix.idle);
			if (fix.s.out.valid & was_valid & RT_HAS_CPU_MODES)
				ck_assert_uint_eq(reported, fix.idle);
			exact += (fix.s.out.valid & RT_HAS_CPU_MODES) != 0;
			lower += (fix.s.out.partial & RT_HAS_CPU_MODES) != 0;
		}
		rows += check_rows(idle_before);
		was_valid = fix.s.out.valid;
		user = ticks(fix.s.out.cpu_user_ns);
		idle = ticks(fix.s.out.cpu_mode_idle_ns);
	}
	ck_assert_uint_gt(exact, 20);
	ck_assert_uint_gt(lower, 20);
	ck_assert_uint_gt(rows, 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sys_cpu_hotplug");
	TCase *cpus = suite_case(suite, "cpus");

	tcase_add_checked_fixture(cpus, set_up, tear_down);
	tcase_add_test(cpus, cpu_that_goes_and_comes_back_does_not_bring_its_idle_time_along);
	tcase_add_test(cpus, cpus_that_take_turns_make_modes_partial);
	tcase_add_test(cpus, sample_that_fails_changes_nothing);
	tcase_add_test(cpus, row_of_a_cpu_that_comes_back_is_a_lower_bound);
	tcase_add_loop_test(cpus, histories_are_exact_or_marked, 0, 3);
	return suite_run(suite);
}
