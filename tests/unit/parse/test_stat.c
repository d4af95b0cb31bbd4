/* SPDX-License-Identifier: MIT */
/* Parser of /proc/stat. */
#include "exact.h"

#include <errno.h>
#include <stdio.h>

#include "parse/parse.h"
#include "suite.h"

#define CPUS_MAX 8
#define STOP 77 /* a result that no parser returns by itself */

/* What the calls report. The first CPUS_MAX are kept. The call with the number stop_at returns
 * STOP. */
struct cpus {
	uint32_t id[CPUS_MAX];
	struct rti_cpu_ticks ticks[CPUS_MAX];
	uint64_t user_sum;
	unsigned count, stop_at;
};

static int add_cpu(void *arg, uint32_t cpu, const struct rti_cpu_ticks *ticks)
{
	struct cpus *cpus = arg;

	if (cpus->count < CPUS_MAX) {
		cpus->id[cpus->count] = cpu;
		cpus->ticks[cpus->count] = *ticks;
	}
	cpus->user_sum += ticks->user;
	return ++cpus->count == cpus->stop_at ? STOP : 0;
}

static int parse_stat_text(const char *text, struct rti_stat *out, struct cpus *cpus)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_stat(copy.data, copy.len, out, add_cpu, cpus);
}

#define COUNTERS                                                                                   \
	"intr 311 0 0 5\nctxt 222\nbtime 1700000000\nprocesses 444\nprocs_running "                \
	"5\nprocs_blocked 6\nsoftirq 7 8\n"

START_TEST(stat_with_all_lines_parses_each_figure)
{
	static const char text[] =
	    "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 11 12 13 14 15 16 17 18 19 20\n" COUNTERS;
	struct cpus cpus = { 0 };
	struct rti_stat st;

	ck_assert_int_eq(parse_stat_text(text, &st, &cpus), 0);
	ck_assert_mem_eq(&st.total, (&(struct rti_cpu_ticks){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }),
	                 sizeof(st.total));
	ck_assert_uint_eq(st.total.guest_nice, 10);
	ck_assert_uint_eq(cpus.count, 1);
	ck_assert_uint_eq(cpus.id[0], 0);
	ck_assert_uint_eq(cpus.ticks[0].user, 11);
	ck_assert_uint_eq(cpus.ticks[0].guest_nice, 20);
	ck_assert_uint_eq(st.interrupts, 311);
	ck_assert_uint_eq(st.context_switches, 222);
	ck_assert_uint_eq(st.forks, 444);
	ck_assert_uint_eq(st.procs_running, 5);
	ck_assert_uint_eq(st.procs_blocked, 6);
	ck_assert(st.has_procs);
}
END_TEST

START_TEST(stat_with_short_cpu_lines_of_old_kernels_leaves_the_rest_zero)
{
	struct cpus cpus = { 0 };
	struct rti_stat st;

	ck_assert_int_eq(parse_stat_text("cpu 1 2 3 4\ncpu3 5 6 7 8 9\n", &st, &cpus), 0);
	ck_assert_mem_eq(&st.total, (&(struct rti_cpu_ticks){ 1, 2, 3, 4 }), sizeof(st.total));
	ck_assert_mem_eq(&cpus.ticks[0], (&(struct rti_cpu_ticks){ 5, 6, 7, 8, 9 }),
	                 sizeof(st.total));
	ck_assert_uint_eq(cpus.id[0], 3);
	ck_assert(!st.has_procs);
}
END_TEST

START_TEST(stat_with_extra_columns_ignores_them)
{
	struct cpus cpus = { 0 };
	struct rti_stat st;

	ck_assert_int_eq(
	    parse_stat_text("cpu  1 2 3 4 5 6 7 8 9 10 11 12\nfuture 1\n" COUNTERS, &st, &cpus), 0);
	ck_assert_uint_eq(st.total.guest_nice, 10);
	ck_assert_uint_eq(cpus.count, 0);
}
END_TEST

START_TEST(stat_with_sparse_cpus_reports_their_ids)
{
	struct cpus cpus = { 0 };
	struct rti_stat st;

	ck_assert_int_eq(
	    parse_stat_text("cpu  1 2 3 4\ncpu1 1 0 0 0\ncpu7 2 0 0 0\ncpu4095 3 0 0 0\n", &st,
	                    &cpus),
	    0);
	ck_assert_uint_eq(cpus.count, 3);
	ck_assert_uint_eq(cpus.id[0], 1);
	ck_assert_uint_eq(cpus.id[1], 7);
	ck_assert_uint_eq(cpus.id[2], 4095);
}
END_TEST

START_TEST(stat_with_5000_cpus_and_long_intr_line_parses)
{
	size_t size = 5000 * 64 + 100 * 1024 + 1024, len = 0;
	char *text = malloc(size);
	struct cpus cpus = { 0 };
	struct rti_stat st;

	len += (size_t)snprintf(text + len, size - len, "cpu  1 2 3 4\n");
	for (unsigned cpu = 0; cpu < 5000; cpu++)
		len += (size_t)snprintf(text + len, size - len, "cpu%u %u 1 1 1 1 1 1 1 1 1\n", cpu,
		                        cpu);
	len += (size_t)snprintf(text + len, size - len, "intr 99");
	for (unsigned i = 0; i < 50 * 1024; i++)
		len += (size_t)snprintf(text + len, size - len, " 0");
	snprintf(text + len, size - len,
	         "\nctxt 7\nbtime 8\nprocesses 9\nprocs_running 10\nprocs_blocked 11");
	ck_assert_int_eq(parse_stat_text(text, &st, &cpus), 0);
	ck_assert_uint_eq(cpus.count, 5000);
	ck_assert_uint_eq(cpus.user_sum, 4999 * 5000 / 2);
	ck_assert_uint_eq(st.interrupts, 99);
	ck_assert_uint_eq(st.context_switches, 7);
	ck_assert_uint_eq(st.procs_blocked, 11);
	ck_assert(st.has_procs);
	free(text);
}
END_TEST

START_TEST(stat_with_callback_that_stops_returns_its_result)
{
	struct cpus cpus = { .stop_at = 2 };
	struct rti_stat st;

	ck_assert_int_eq(
	    parse_stat_text("cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu1 1 2 3 4\ncpu2 1 2 3 4\n", &st, &cpus),
	    STOP);
	ck_assert_uint_eq(cpus.count, 2);
}
END_TEST

START_TEST(stat_without_callback_parses)
{
	struct exact copy = exact("cpu  1 2 3 4\ncpu0 1 2 3 4\n" COUNTERS);
	struct rti_stat st;

	ck_assert_int_eq(rti_parse_stat(copy.data, copy.len, &st, NULL, NULL), 0);
}
END_TEST

/* The six values are 1 to 6 in each of these. */
static const char *const odd_counters[] = {
	"cpu  1 2 3 4\nprocs_blocked 6\nprocs_running 5\nprocesses 4\nbtime 3\nctxt 2\nintr 1 9 "
	"9\n",
	"intr 1\nctxt 2\ncpu  1 2 3 4\nbtime 3\ncpu0 1 2 3 4\nprocesses 4\nprocs_running "
	"5\nprocs_blocked 6",
	"cpu  1 2 3 4\nintr 1\npage 9 9\nctxt 2\nswap 9 9\nbtime 3\nprocesses 4\n\nprocs_running "
	"5\nprocs_blocked 6\n",
	"cpu  1 2 3 4\nintr 1\nctxt 2\nctxt_more 9\nbtime 3\nprocesses 4\nprocs 9\nprocs_running "
	"5\nprocs_blocked 6\n",
	"cpu  1 2 3 4\nintr 9\nctxt 2\nbtime 3\nprocesses 4\nprocs_running 5\nprocs_blocked "
	"6\nintr 1\nctxt x\n",
};

START_TEST(stat_with_other_order_or_keys_parses)
{
	struct cpus cpus = { 0 };
	struct rti_stat st;

	ck_assert_int_eq(parse_stat_text(odd_counters[_i], &st, &cpus), 0);
	ck_assert(st.has_procs);
	ck_assert_uint_eq(st.total.idle, 4);
	ck_assert_uint_eq(st.interrupts, 1);
	ck_assert_uint_eq(st.context_switches, 2);
	ck_assert_uint_eq(st.forks, 4);
	ck_assert_uint_eq(st.procs_running, 5);
	ck_assert_uint_eq(st.procs_blocked, 6);
}
END_TEST

START_TEST(stat_with_keys_inside_lines_ignores_them)
{
	struct cpus cpus = { 0 };
	struct rti_stat st;

	ck_assert_int_eq(
	    parse_stat_text(COUNTERS "cpu  1 2 3 4intr 9\ncpu0 1 2 3 4cpu1 1 2 3 4\n", &st, &cpus),
	    0);
	ck_assert_uint_eq(st.interrupts, 311);
	ck_assert_uint_eq(cpus.count, 1);
}
END_TEST

START_TEST(stat_with_two_total_lines_uses_the_last)
{
	struct cpus cpus = { 0 };
	struct rti_stat st;

	ck_assert_int_eq(parse_stat_text("cpu  1 2 3 4\ncpu  5 6 7 8\n", &st, &cpus), 0);
	ck_assert_uint_eq(st.total.user, 5);
	ck_assert_int_eq(parse_stat_text("cpu  1 2 3 4\ncpu  5\n", &st, &cpus), -EBADMSG);
}
END_TEST

static const char *const without_a_counter[] = {
	"ctxt 2\nbtime 3\nprocesses 4\nprocs_running 5\nprocs_blocked 6\n",
	"intr 1\nbtime 3\nprocesses 4\nprocs_running 5\nprocs_blocked 6\n",
	"intr 1\nctxt 2\nbtime 3\nprocs_running 5\nprocs_blocked 6\n",
	"intr 1\nctxt 2\nbtime 3\nprocesses 4\nprocs_blocked 6\n",
	"intr 1\nctxt 2\nbtime 3\nprocesses 4\nprocs_running 5\n",
	"intr 1\nctxt 2\nbtime 3\nprocesses 4\nprocs_running 5\nprocs_blocked x\n",
};

START_TEST(stat_without_a_counter_has_no_procs)
{
	struct cpus cpus = { 0 };
	struct rti_stat st;
	char text[256];

	snprintf(text, sizeof(text), "cpu  1 2 3 4\n%s", without_a_counter[_i]);
	ck_assert_int_eq(parse_stat_text(text, &st, &cpus), 0);
	ck_assert(!st.has_procs);
}
END_TEST

static const char *const bad_stats[] = {
	"",
	"\n",
	COUNTERS,
	"cpu",
	"cpu ",
	"cpu  1 2 3",
	"cpu  x",
	"cpu0 1 2 3 4\n",
	"cpu  1 2 3 4\ncpu0 1 2 3\n",
	"cpu  1 2 3 4\ncpux 1 2 3 4\n",
	"cpu  1 2 3 4\ncpu99999999999 1 2 3 4\n",
	"cpu  -1 2 3 4\n",
	"cpu  1 2 3\n4\n",
	"cpu  1 2 3 4\ncpu\n0 1 2 3 4\n",
	"cpu  1 2 3 4\ncpu",
	"cpu\n",
};

START_TEST(stat_malformed_is_refused)
{
	struct cpus cpus = { 0 };
	struct rti_stat st;

	ck_assert_int_eq(parse_stat_text(bad_stats[_i], &st, &cpus), -EBADMSG);
}
END_TEST

START_TEST(stat_of_nul_bytes_is_refused)
{
	struct exact zeros = exact_zeros(4096);
	struct rti_stat st;

	ck_assert_int_eq(rti_parse_stat(zeros.data, zeros.len, &st, NULL, NULL), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_stat");
	TCase *tests = suite_case(suite, "stat");

	tcase_add_test(tests, stat_with_all_lines_parses_each_figure);
	tcase_add_test(tests, stat_with_short_cpu_lines_of_old_kernels_leaves_the_rest_zero);
	tcase_add_test(tests, stat_with_extra_columns_ignores_them);
	tcase_add_test(tests, stat_with_sparse_cpus_reports_their_ids);
	tcase_add_test(tests, stat_with_5000_cpus_and_long_intr_line_parses);
	tcase_add_test(tests, stat_with_callback_that_stops_returns_its_result);
	tcase_add_test(tests, stat_without_callback_parses);
	tcase_add_loop_test(tests, stat_with_other_order_or_keys_parses, 0,
	                    sizeof(odd_counters) / sizeof(odd_counters[0]));
	tcase_add_test(tests, stat_with_keys_inside_lines_ignores_them);
	tcase_add_test(tests, stat_with_two_total_lines_uses_the_last);
	tcase_add_loop_test(tests, stat_without_a_counter_has_no_procs, 0,
	                    sizeof(without_a_counter) / sizeof(without_a_counter[0]));
	tcase_add_loop_test(tests, stat_malformed_is_refused, 0,
	                    sizeof(bad_stats) / sizeof(bad_stats[0]));
	tcase_add_test(tests, stat_of_nul_bytes_is_refused);
	return suite_run(suite);
}
