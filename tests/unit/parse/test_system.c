/* SPDX-License-Identifier: MIT */
/* Parsers of the files of the whole machine: stat, meminfo, loadavg, pressure. */
#include "exact.h"

#include <errno.h>
#include <stdio.h>

#include "parse/parse.h"
#include "suite.h"

#define CPUS_KEPT 8

struct cpus {
	uint32_t id[CPUS_KEPT];
	struct rti_cpu_ticks ticks[CPUS_KEPT];
	uint64_t user_sum;
	unsigned count, stop_at;
};

static int add_cpu(void *arg, uint32_t cpu, const struct rti_cpu_ticks *ticks)
{
	struct cpus *cpus = arg;

	if (cpus->count < CPUS_KEPT) {
		cpus->id[cpus->count] = cpu;
		cpus->ticks[cpus->count] = *ticks;
	}
	cpus->user_sum += ticks->user;
	return ++cpus->count == cpus->stop_at ? 77 : 0;
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

START_TEST(stat_takes_every_figure)
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

START_TEST(stat_takes_short_lines_of_old_kernels)
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

START_TEST(stat_takes_long_lines_of_new_kernels)
{
	struct cpus cpus = { 0 };
	struct rti_stat st;

	ck_assert_int_eq(
	    parse_stat_text("cpu  1 2 3 4 5 6 7 8 9 10 11 12\nfuture 1\n" COUNTERS, &st, &cpus), 0);
	ck_assert_uint_eq(st.total.guest_nice, 10);
	ck_assert_uint_eq(cpus.count, 0);
}
END_TEST

START_TEST(stat_takes_sparse_cpus_by_id)
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

START_TEST(stat_takes_5000_cpus_and_a_very_long_line)
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

START_TEST(stat_stops_when_told)
{
	struct cpus cpus = { .stop_at = 2 };
	struct rti_stat st;

	ck_assert_int_eq(
	    parse_stat_text("cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu1 1 2 3 4\ncpu2 1 2 3 4\n", &st, &cpus),
	    77);
	ck_assert_uint_eq(cpus.count, 2);
}
END_TEST

START_TEST(stat_without_callback)
{
	struct exact copy = exact("cpu  1 2 3 4\ncpu0 1 2 3 4\n" COUNTERS);
	struct rti_stat st;

	ck_assert_int_eq(rti_parse_stat(copy.data, copy.len, &st, NULL, NULL), 0);
}
END_TEST

/* All say 1 to 6. */
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

START_TEST(stat_takes_counters_that_another_kernel_writes)
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

START_TEST(stat_finds_keys_at_the_start_of_lines_only)
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

START_TEST(stat_goes_by_the_last_line_of_all_cpus)
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

START_TEST(stat_tells_when_a_counter_is_missing)
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

START_TEST(stat_refuses)
{
	struct cpus cpus = { 0 };
	struct rti_stat st;

	ck_assert_int_eq(parse_stat_text(bad_stats[_i], &st, &cpus), -EBADMSG);
}
END_TEST

static int parse_meminfo_text(const char *text, struct rti_meminfo *out)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_meminfo(copy.data, copy.len, out);
}

/* The order of the kernel, with lines that nobody asks for, and one figure for each key. */
static const char meminfo_text[] = "MemTotal:       100 kB\nMemFree:         101 kB\nMemAvailable: "
				   "   102 kB\nBuffers:         103 kB\n"
				   "Cached:          104 kB\nSwapCached:      105 kB\nActive:      "
				   "    106 kB\nInactive:        107 kB\n"
				   "Active(anon):    108 kB\nInactive(anon):  109 "
				   "kB\nActive(file):    110 kB\nInactive(file):  111 kB\n"
				   "Unevictable:       1 kB\nMlocked:           1 kB\nSwapTotal:   "
				   "    112 kB\nSwapFree:        113 kB\n"
				   "Zswap:             1 kB\nDirty:             1 kB\nWriteback:   "
				   "      1 kB\nAnonPages:       114 kB\n"
				   "Mapped:          115 kB\nShmem:           116 "
				   "kB\nKReclaimable:      1 kB\nSlab:              1 kB\n"
				   "SReclaimable:    117 kB\nSUnreclaim:      118 kB\nKernelStack: "
				   "      1 kB\nShmemHugePages:    1 kB\n"
				   "HugePages_Total:   1\nDirectMap4k:       1 kB\n";

START_TEST(meminfo_takes_every_key)
{
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text(meminfo_text, &mem), 0);
	ck_assert_uint_eq(mem.has, (UINT32_C(1) << RTI_MEM_KEYS) - 1);
	for (unsigned key = 0; key < RTI_MEM_KEYS; key++)
		ck_assert_uint_eq(mem.kib[key], 100 + key);
}
END_TEST

START_TEST(meminfo_takes_any_order)
{
	struct rti_meminfo mem;

	ck_assert_int_eq(
	    parse_meminfo_text("SUnreclaim: 3 kB\nMemFree: 2 kB\nMemTotal: 1 kB", &mem), 0);
	ck_assert_uint_eq(mem.has, 1u << RTI_MEM_TOTAL | 1u << RTI_MEM_FREE |
	                               1u << RTI_MEM_SLAB_UNRECLAIMABLE);
	ck_assert_uint_eq(mem.kib[RTI_MEM_TOTAL], 1);
	ck_assert_uint_eq(mem.kib[RTI_MEM_FREE], 2);
	ck_assert_uint_eq(mem.kib[RTI_MEM_SLAB_UNRECLAIMABLE], 3);
}
END_TEST

START_TEST(meminfo_tells_keys_apart_that_begin_alike)
{
	static const char text[] =
	    "Active(anon): 3 kB\nActive: 1 kB\nMemTotals: 9 kB\nMemTotal: 7 kB\n"
	    "Active(file): 4 kB\nInactive: 2 kB\nInactive(an: 9 kB\nMemFree: 6 kB\nActive(anon)";
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text(text, &mem), 0);
	ck_assert_uint_eq(mem.has, 1u << RTI_MEM_TOTAL | 1u << RTI_MEM_FREE | 1u << RTI_MEM_ACTIVE |
	                               1u << RTI_MEM_INACTIVE | 1u << RTI_MEM_ACTIVE_ANON |
	                               1u << RTI_MEM_ACTIVE_FILE);
	ck_assert_uint_eq(mem.kib[RTI_MEM_ACTIVE], 1);
	ck_assert_uint_eq(mem.kib[RTI_MEM_INACTIVE], 2);
	ck_assert_uint_eq(mem.kib[RTI_MEM_ACTIVE_ANON], 3);
	ck_assert_uint_eq(mem.kib[RTI_MEM_ACTIVE_FILE], 4);
	ck_assert_uint_eq(mem.kib[RTI_MEM_TOTAL], 7);
}
END_TEST

/* It looks no further than to where it has every key. */
START_TEST(meminfo_takes_the_last_of_a_key_until_all_are_there)
{
	char text[sizeof(meminfo_text) + 64];
	struct rti_meminfo mem;

	snprintf(text, sizeof(text), "MemFree: 9 kB\n%sMemTotal: 9 kB\n", meminfo_text);
	ck_assert_int_eq(parse_meminfo_text(text, &mem), 0);
	ck_assert_uint_eq(mem.kib[RTI_MEM_FREE], 101);
	ck_assert_uint_eq(mem.kib[RTI_MEM_TOTAL], 100);
}
END_TEST

START_TEST(meminfo_without_available)
{
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text(
			     "MemTotal: 9 kB\nMemFree: 8 kB\nBuffers: 7 kB\nCached: 6 kB\n", &mem),
	                 0);
	ck_assert(!(mem.has & 1u << RTI_MEM_AVAILABLE));
	ck_assert_uint_eq(mem.kib[RTI_MEM_CACHED], 6);
}
END_TEST

START_TEST(meminfo_without_space)
{
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text("MemTotal:123 kB\nMemFree:45kB\nCached:0\n", &mem), 0);
	ck_assert_uint_eq(mem.kib[RTI_MEM_TOTAL], 123);
	ck_assert_uint_eq(mem.kib[RTI_MEM_FREE], 45);
	ck_assert(mem.has & 1u << RTI_MEM_CACHED);
}
END_TEST

START_TEST(meminfo_does_not_take_unreadable_for_zero)
{
	static const char text[] =
	    "MemTotal: 9 kB\nMemFree: 8 kB\nBuffers: kB\nCached: -1 kB\nShmem\n";
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text(text, &mem), 0);
	ck_assert_uint_eq(mem.has, 1u << RTI_MEM_TOTAL | 1u << RTI_MEM_FREE);
}
END_TEST

static const char *const bad_meminfos[] = {
	"",
	"\n",
	"MemTotal: 1 kB\n",
	"MemFree: 1 kB\n",
	"MemTotal 1 kB\nMemFree 1 kB\n",
	"MemTotal: x\nMemFree: 1 kB\n",
	"xMemTotal: 1 kB\nMemFree: 1 kB\n",
	":::::\n:\n",
};

START_TEST(meminfo_refuses)
{
	struct rti_meminfo mem;

	ck_assert_int_eq(parse_meminfo_text(bad_meminfos[_i], &mem), -EBADMSG);
}
END_TEST

static int parse_loadavg_text(const char *text, struct rti_loadavg *out)
{
	struct exact copy = exact(text);

	return rti_parse_loadavg(copy.data, copy.len, out);
}

START_TEST(loadavg_takes_all)
{
	struct rti_loadavg load;

	ck_assert_int_eq(parse_loadavg_text("0.06 1.10 123.99 2/345 12345\n", &load), 0);
	ck_assert_double_eq(load.load_1m, 0.06);
	ck_assert_double_eq(load.load_5m, 1.10);
	ck_assert_double_eq(load.load_15m, 123.99);
	ck_assert_uint_eq(load.running, 2);
	ck_assert_uint_eq(load.threads, 345);
	ck_assert_uint_eq(load.last_pid, 12345);
}
END_TEST

static const char *const bad_loadavgs[] = {
	"",
	"0.06",
	"0.06 0.1 0.2",
	"0.06 0.1 0.2 2",
	"0.06 0.1 0.2 2/",
	"0.06 0.1 0.2 2/3",
	"0.06 0.1 0.2 /3 4",
	"a 0.1 0.2 2/3 4",
	"0,06 0,10 0,20 2/3 4",
	"nan nan nan 1/2 3",
};

START_TEST(loadavg_refuses)
{
	struct rti_loadavg load;

	ck_assert_int_eq(parse_loadavg_text(bad_loadavgs[_i], &load), -EBADMSG);
}
END_TEST

static int parse_pressure_text(const char *text, struct rti_pressure *out)
{
	struct exact copy = exact(text);

	memset(out, 0x55, sizeof(*out));
	return rti_parse_pressure(copy.data, copy.len, out);
}

START_TEST(pressure_takes_both_lines)
{
	struct rti_pressure psi;

	ck_assert_int_eq(
	    parse_pressure_text("some avg10=0.54 avg60=0.23 avg300=0.37 total=5630450\n"
	                        "full avg10=0.54 avg60=0.23 avg300=0.36 total=5391811\n",
	                        &psi),
	    0);
	ck_assert_uint_eq(psi.some_us, 5630450);
	ck_assert(psi.has_full);
	ck_assert_uint_eq(psi.full_us, 5391811);
}
END_TEST

START_TEST(pressure_without_full)
{
	struct rti_pressure psi;

	ck_assert_int_eq(
	    parse_pressure_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=7", &psi), 0);
	ck_assert_uint_eq(psi.some_us, 7);
	ck_assert(!psi.has_full);
	ck_assert_uint_eq(psi.full_us, 0);
	ck_assert_int_eq(parse_pressure_text("some total=8\nfull avg10=0.00\n", &psi), 0);
	ck_assert(!psi.has_full);
	ck_assert_int_eq(parse_pressure_text("some total=8\nfull total=9\nsome x\nfull x\n", &psi),
	                 0);
	/* a figure and the mark that it was there go together */
	ck_assert(psi.has_full && psi.full_us == 9);
}
END_TEST

static const char *const bad_pressures[] = {
	"",
	"some",
	"some avg10=0.00\n",
	"some total=\n",
	"some total=-1\n",
	"full avg10=0.00 total=5\n",
	"some\ttotal=5\n",
};

START_TEST(pressure_refuses)
{
	struct rti_pressure psi;

	ck_assert_int_eq(parse_pressure_text(bad_pressures[_i], &psi), -EBADMSG);
}
END_TEST

START_TEST(nul_bytes_are_refused)
{
	struct exact zeros = exact_bytes((const char[4096]){ 0 }, 4096);
	struct rti_loadavg load;
	struct rti_meminfo mem;
	struct rti_pressure psi;
	struct rti_stat st;

	ck_assert_int_eq(rti_parse_stat(zeros.data, zeros.len, &st, NULL, NULL), -EBADMSG);
	ck_assert_int_eq(rti_parse_meminfo(zeros.data, zeros.len, &mem), -EBADMSG);
	ck_assert_int_eq(rti_parse_loadavg(zeros.data, zeros.len, &load), -EBADMSG);
	ck_assert_int_eq(rti_parse_pressure(zeros.data, zeros.len, &psi), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_system");
	TCase *stat = suite_case(suite, "stat"), *meminfo = suite_case(suite, "meminfo");
	TCase *loadavg = suite_case(suite, "loadavg"), *pressure = suite_case(suite, "pressure");

	tcase_add_test(stat, stat_takes_every_figure);
	tcase_add_test(stat, stat_takes_short_lines_of_old_kernels);
	tcase_add_test(stat, stat_takes_long_lines_of_new_kernels);
	tcase_add_test(stat, stat_takes_sparse_cpus_by_id);
	tcase_add_test(stat, stat_takes_5000_cpus_and_a_very_long_line);
	tcase_add_test(stat, stat_stops_when_told);
	tcase_add_test(stat, stat_without_callback);
	tcase_add_loop_test(stat, stat_takes_counters_that_another_kernel_writes, 0,
	                    sizeof(odd_counters) / sizeof(odd_counters[0]));
	tcase_add_test(stat, stat_finds_keys_at_the_start_of_lines_only);
	tcase_add_test(stat, stat_goes_by_the_last_line_of_all_cpus);
	tcase_add_loop_test(stat, stat_tells_when_a_counter_is_missing, 0,
	                    sizeof(without_a_counter) / sizeof(without_a_counter[0]));
	tcase_add_loop_test(stat, stat_refuses, 0, sizeof(bad_stats) / sizeof(bad_stats[0]));
	tcase_add_test(stat, nul_bytes_are_refused);
	tcase_add_test(meminfo, meminfo_takes_every_key);
	tcase_add_test(meminfo, meminfo_takes_any_order);
	tcase_add_test(meminfo, meminfo_tells_keys_apart_that_begin_alike);
	tcase_add_test(meminfo, meminfo_takes_the_last_of_a_key_until_all_are_there);
	tcase_add_test(meminfo, meminfo_without_available);
	tcase_add_test(meminfo, meminfo_without_space);
	tcase_add_test(meminfo, meminfo_does_not_take_unreadable_for_zero);
	tcase_add_loop_test(meminfo, meminfo_refuses, 0,
	                    sizeof(bad_meminfos) / sizeof(bad_meminfos[0]));
	tcase_add_test(loadavg, loadavg_takes_all);
	tcase_add_loop_test(loadavg, loadavg_refuses, 0,
	                    sizeof(bad_loadavgs) / sizeof(bad_loadavgs[0]));
	tcase_add_test(pressure, pressure_takes_both_lines);
	tcase_add_test(pressure, pressure_without_full);
	tcase_add_loop_test(pressure, pressure_refuses, 0,
	                    sizeof(bad_pressures) / sizeof(bad_pressures[0]));
	return suite_run(suite);
}
