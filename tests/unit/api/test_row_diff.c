/* SPDX-License-Identifier: MIT */
/* rt_row_diff(): differences of rows, their marks, and refusals. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "suite.h"

/* Two rows of one process, and their difference once it is taken. */
static struct {
	struct rt_process from, to, delta;
} pair;

static void set_up(void)
{
	pair.from = (struct rt_process){
		.size = sizeof(pair.from),
		.pid = 42,
		.ppid = 7,
		.state = 'R',
		.start_ticks = 1000,
		.comm = "cc1",
		.valid = RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO | RT_HAS_CTXSW,
		.cpu_user_ns = 100,
		.cpu_system_ns = 30,
		.rss_bytes = 4096,
		.read_bytes = 512,
		.write_bytes = 10,
		.voluntary_switches = 3,
	};
	pair.to = pair.from;
	pair.to.state = 'S';
	pair.to.ppid = 1;
	pair.to.cpu_user_ns += 70;
	pair.to.cpu_system_ns += 5;
	pair.to.rss_bytes = 1024;
	pair.to.read_bytes += 1024;
	pair.to.voluntary_switches += 9;
}

static int take_diff(void)
{
	memset(&pair.delta, 0xff, sizeof(pair.delta));
	return rt_row_diff(RT_STRUCT_PROCESS, &pair.from, &pair.to, &pair.delta,
	                   sizeof(pair.delta));
}

START_TEST(diff_of_rows_has_counters_subtracted_and_the_rest_of_the_later_row)
{
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.size, sizeof(pair.delta));
	ck_assert_int_eq(pair.delta.pid, 42);
	ck_assert_int_eq(pair.delta.ppid, 1);
	ck_assert_uint_eq(pair.delta.state, 'S');
	ck_assert_str_eq(pair.delta.comm, "cc1");
	ck_assert_uint_eq(pair.delta.start_ticks, 1000);
	ck_assert_uint_eq(pair.delta.cpu_user_ns, 70);
	ck_assert_uint_eq(pair.delta.cpu_system_ns, 5);
	ck_assert_uint_eq(pair.delta.rss_bytes, 1024);
	ck_assert_uint_eq(pair.delta.read_bytes, 1024);
	ck_assert_uint_eq(pair.delta.write_bytes, 0);
	ck_assert_uint_eq(pair.delta.voluntary_switches, 9);
	ck_assert_uint_eq(pair.delta.valid, pair.to.valid);
	ck_assert_uint_eq(pair.delta.partial | pair.delta.estimated, 0);
}
END_TEST

START_TEST(diff_of_rows_may_be_written_over_one_of_them)
{
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_int_eq(
	    rt_row_diff(RT_STRUCT_PROCESS, &pair.from, &pair.to, &pair.to, sizeof(pair.to)), 0);
	ck_assert_mem_eq(&pair.to, &pair.delta, sizeof(pair.to));
}
END_TEST

/* Each row is in one mask, and the difference of a counter in another one. */
START_TEST(diff_of_rows_is_as_sure_as_their_counters_allow)
{
	static const struct {
		uint64_t from[3], to[3], delta[3]; /* valid, partial, estimated */
	} cases[] = {
		{ { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 } },
		{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 1, 0 } },
		{ { 0, 1, 0 }, { 1, 0, 0 }, { 0, 0, 1 } },
		{ { 0, 1, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
		{ { 1, 0, 0 }, { 0, 0, 1 }, { 0, 0, 1 } },
		{ { 0, 0, 1 }, { 1, 0, 0 }, { 0, 0, 1 } },
		{ { 0, 0, 0 }, { 1, 0, 0 }, { 0, 0, 0 } },
		{ { 1, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } },
	};
	const uint64_t cpu = RT_HAS_CPU;

	pair.from.valid = cases[_i].from[0] * cpu;
	pair.from.partial = cases[_i].from[1] * cpu;
	pair.from.estimated = cases[_i].from[2] * cpu;
	pair.to.valid = cases[_i].to[0] * cpu;
	pair.to.partial = cases[_i].to[1] * cpu;
	pair.to.estimated = cases[_i].to[2] * cpu;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.valid, cases[_i].delta[0] * cpu);
	ck_assert_uint_eq(pair.delta.partial, cases[_i].delta[1] * cpu);
	ck_assert_uint_eq(pair.delta.estimated, cases[_i].delta[2] * cpu);
	ck_assert_uint_eq(pair.delta.cpu_user_ns, RT_IS_KNOWN(&pair.delta, cpu) ? 70 : 0);
}
END_TEST

START_TEST(gauges_of_rows_are_as_sure_as_in_the_later_row)
{
	pair.from.valid &= ~RT_HAS_RSS;
	pair.to.valid &= ~RT_HAS_RSS;
	pair.to.estimated = RT_HAS_RSS;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_int_eq(RT_QUALITY(&pair.delta, RT_HAS_RSS), RT_QUALITY_ESTIMATE);
	ck_assert_uint_eq(pair.delta.rss_bytes, 1024);
}
END_TEST

START_TEST(counter_of_rows_that_went_backwards_takes_out_its_domain)
{
	pair.to.write_bytes = 9;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert(!RT_IS_KNOWN(&pair.delta, RT_HAS_IO));
	ck_assert_uint_eq(pair.delta.write_bytes, 0);
	ck_assert_uint_eq(pair.delta.read_bytes, 0);
	ck_assert_int_eq(RT_QUALITY(&pair.delta, RT_HAS_CPU), RT_QUALITY_EXACT);
}
END_TEST

/* E.g. 41.606131 ms of system time in one row, and 41.419419 ms in the next. */
START_TEST(part_of_the_cpu_time_that_falls_is_0_while_the_sum_rises)
{
	pair.to.cpu_system_ns = 27;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.valid, RT_HAS_CPU | RT_HAS_RSS | RT_HAS_IO | RT_HAS_CTXSW);
	ck_assert_uint_eq(pair.delta.cpu_user_ns, 67);
	ck_assert_uint_eq(pair.delta.cpu_system_ns, 0);

	pair.to.cpu_user_ns = 90;
	pair.to.cpu_system_ns = 45;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.cpu_user_ns, 0);
	ck_assert_uint_eq(pair.delta.cpu_system_ns, 5);

	pair.to.cpu_system_ns = 39;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert_uint_eq(pair.delta.valid, RT_HAS_RSS | RT_HAS_IO | RT_HAS_CTXSW);
}
END_TEST

/* E.g.: a row of 0.1 from a file. */
START_TEST(row_that_ends_before_a_counter_takes_out_its_domain)
{
	pair.from.size = offsetof(struct rt_process, read_calls);
	pair.to.valid |= RT_HAS_IO_CALLS;
	pair.from.valid |= RT_HAS_IO_CALLS;
	pair.to.read_calls = 17;
	ck_assert_int_eq(take_diff(), 0);
	ck_assert(!RT_IS_KNOWN(&pair.delta, RT_HAS_IO_CALLS));
	ck_assert_uint_eq(pair.delta.read_calls, 0);
	ck_assert_int_eq(RT_QUALITY(&pair.delta, RT_HAS_IO), RT_QUALITY_EXACT);
}
END_TEST

START_TEST(rows_of_different_items_are_refused)
{
	pair.to.start_ticks++;
	ck_assert_int_eq(take_diff(), -ESTALE);
	pair.to.start_ticks--;
	pair.to.pid++;
	ck_assert_int_eq(take_diff(), -ESTALE);
}
END_TEST

START_TEST(rows_without_masks_have_zero_for_a_counter_that_went_backwards)
{
	struct rt_disk from = { .size = sizeof(from), .name = "sda", .reads = 10, .writes = 5 },
		       to = from, delta;

	to.reads = 3;
	to.writes = 6;
	to.in_flight = 2;
	ck_assert_int_eq(rt_row_diff(RT_STRUCT_DISK, &from, &to, &delta, sizeof(delta)), 0);
	ck_assert_uint_eq(delta.reads, 0);
	ck_assert_uint_eq(delta.writes, 1);
	ck_assert_uint_eq(delta.in_flight, 2);
	strcpy(to.name, "sdb");
	ck_assert_int_eq(rt_row_diff(RT_STRUCT_DISK, &from, &to, &delta, sizeof(delta)), -ESTALE);
}
END_TEST

/* struct rt_cpu of 0.1 ends before its masks. */
START_TEST(rows_of_before_their_masks_are_subtracted_all_the_same)
{
	struct rt_cpu from = { .size = offsetof(struct rt_cpu, valid), .id = 3, .user_ns = 10 },
		      to = from, delta;

	to.user_ns = 25;
	ck_assert_int_eq(
	    rt_row_diff(RT_STRUCT_CPU, &from, &to, &delta, offsetof(struct rt_cpu, valid)), 0);
	ck_assert_uint_eq(delta.size, offsetof(struct rt_cpu, valid));
	ck_assert_uint_eq(delta.user_ns, 15);
}
END_TEST

/* Of each list: the row minus itself has no counter, and all else. */
START_TEST(every_list_has_differences)
{
	static const uint32_t ids[] = { RT_STRUCT_PROCESS,    RT_STRUCT_CPU,        RT_STRUCT_DISK,
		                        RT_STRUCT_FILESYSTEM, RT_STRUCT_NETWORK,    RT_STRUCT_ZPOOL,
		                        RT_STRUCT_GPU,        RT_STRUCT_GPU_PROCESS };
	_Alignas(8) unsigned char row[4096], delta[4096];
	uint32_t size = rt_field_struct_size(ids[_i]);
	struct rt_field field;

	memset(row, 1, sizeof(row));
	memcpy(row, &size, sizeof(size));
	ck_assert_int_eq(rt_row_diff(ids[_i], row, row, delta, size), 0);
	for (uint32_t i = 0; i < rt_field_count(ids[_i]); i++) {
		ck_assert_int_eq(rt_field_get(ids[_i], i, &field, sizeof(field)), 0);
		if (field.role == RT_FIELD_COUNTER)
			ck_assert_uint_eq(*(uint64_t *)(void *)(delta + field.offset), 0);
		else if (field.role == RT_FIELD_GAUGE)
			ck_assert_mem_eq(delta + field.offset, row + field.offset, field.length);
	}
}
END_TEST

START_TEST(bad_arguments_of_a_difference_of_rows_are_refused)
{
	size_t size = sizeof(pair.delta);

	ck_assert_int_eq(rt_row_diff(RT_STRUCT_PROCESS, NULL, &pair.to, &pair.delta, size),
	                 -EFAULT);
	ck_assert_int_eq(rt_row_diff(RT_STRUCT_PROCESS, &pair.from, NULL, &pair.delta, size),
	                 -EFAULT);
	ck_assert_int_eq(rt_row_diff(RT_STRUCT_PROCESS, &pair.from, &pair.to, NULL, size), -EFAULT);
	ck_assert_int_eq(rt_row_diff(RT_STRUCT_METRICS, &pair.from, &pair.to, &pair.delta, size),
	                 -EINVAL);
	ck_assert_int_eq(rt_row_diff(0, &pair.from, &pair.to, &pair.delta, size), -EINVAL);
	ck_assert_int_eq(rt_row_diff(RT_STRUCT_PROCESS, &pair.from, &pair.to, &pair.delta, 8),
	                 -EINVAL);
	pair.to.size = 8;
	ck_assert_int_eq(take_diff(), -EINVAL);
	pair.to.size = sizeof(pair.to);
	pair.from.size = 8;
	ck_assert_int_eq(take_diff(), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("row_diff");
	TCase *rows = suite_case(suite, "rows");

	tcase_add_checked_fixture(rows, set_up, NULL);
	tcase_add_test(rows, diff_of_rows_has_counters_subtracted_and_the_rest_of_the_later_row);
	tcase_add_test(rows, diff_of_rows_may_be_written_over_one_of_them);
	tcase_add_loop_test(rows, diff_of_rows_is_as_sure_as_their_counters_allow, 0, 8);
	tcase_add_test(rows, gauges_of_rows_are_as_sure_as_in_the_later_row);
	tcase_add_test(rows, counter_of_rows_that_went_backwards_takes_out_its_domain);
	tcase_add_test(rows, part_of_the_cpu_time_that_falls_is_0_while_the_sum_rises);
	tcase_add_test(rows, row_that_ends_before_a_counter_takes_out_its_domain);
	tcase_add_test(rows, rows_of_different_items_are_refused);
	tcase_add_test(rows, rows_without_masks_have_zero_for_a_counter_that_went_backwards);
	tcase_add_test(rows, rows_of_before_their_masks_are_subtracted_all_the_same);
	tcase_add_loop_test(rows, every_list_has_differences, 0, 8);
	tcase_add_test(rows, bad_arguments_of_a_difference_of_rows_are_refused);

	return suite_run(suite);
}
