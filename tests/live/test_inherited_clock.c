/* SPDX-License-Identifier: MIT */
/* RT_ACCOUNTING_WAIT_PERF: a CPU clock that all processes of the command inherit. */
#include <stdio.h>
#include <unistd.h>

#include <rtrack/rtrack.h>

#include "suite.h"
#include "workload.h"

#define MS UINT64_C(1000000)

static const struct workload_opts perf = { .accounting = RT_ACCOUNTING_WAIT_PERF };

/* The time that interrupts or a hypervisor have taken from all CPUs. The inherited clock counts
 * it, and the accounts of processes that were waited for do not. */
static uint64_t read_taken_ns(void)
{
	unsigned long long user, nice, system, idle, iowait, irq = 0, softirq = 0, steal = 0;
	FILE *file = fopen("/proc/stat", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice,
	                        &system, &idle, &iowait, &irq, &softirq, &steal),
	                 8);
	fclose(file);
	return (irq + softirq + steal) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t sum_recorded_ns(const struct record *record)
{
	uint64_t sum_ns = 0;

	for (unsigned i = 0; i < atomic_load(&record->process_count); i++)
		sum_ns += record->process[i].cpu_ns;
	return sum_ns;
}

/* No process waits for the children, so only the inherited clock has their CPU time. */
START_TEST(estimate_with_auto_reaped_children_has_their_cpu_time)
{
	uint64_t taken_ns = read_taken_ns(), work_ns;
	struct workload w;

	if (!start_workload(&w, "auto_reap", perf))
		return;
	finish_workload(&w);
	taken_ns = read_taken_ns() - taken_ns;
	work_ns = sum_recorded_ns(w.record);

	ck_assert_uint_ge(work_ns, WORKLOAD_AUTO_REAPED * WORKLOAD_AUTO_REAPED_NS);
	ck_assert_uint_eq(w.outcome.accounting, RT_ACCOUNTING_WAIT_PERF);
	ck_assert_uint_ne(w.outcome.reasons & RT_REASON_CLOCK_ABOVE, 0);
	ck_assert_uint_eq(w.outcome.complete, 0);
	ck_assert_uint_eq(w.outcome.valid & RT_HAS_CPU, 0);
	/* Peak polls see much of it, but never the end of a child. */
	ck_assert_uint_lt(w.outcome.cpu_low_ns, work_ns + taken_ns);
	ck_assert_uint_ge(w.outcome.cpu_estimate_ns, work_ns - work_ns / 20);
	ck_assert_uint_le(w.outcome.cpu_estimate_ns, work_ns + work_ns / 4 + taken_ns);
	ck_assert_uint_le(w.outcome.cpu_estimate_ns, w.outcome.cpu_high_ns);
	ck_assert_uint_ge(w.outcome.cpu_high_ns, work_ns);
	free_workload(&w);
}
END_TEST

/* In a tree of which every process was waited for, the clock may be above the account only by what
 * was taken from all CPUs. */
static void check_ordinary_outcome(const struct rt_outcome *outcome, uint64_t work_ns,
                                   uint64_t taken_ns)
{
	const uint32_t allowed = RT_REASON_UNVERIFIED | RT_REASON_CLOCK_ABOVE;

	ck_assert_uint_ge(work_ns, WORKLOAD_BURNERS * WORKLOAD_BURNER_NS);
	ck_assert_uint_ge(outcome->cpu_low_ns + 10 * MS, work_ns);
	ck_assert_uint_le(outcome->cpu_low_ns, outcome->cpu_estimate_ns);
	ck_assert_uint_le(outcome->cpu_estimate_ns, outcome->cpu_high_ns);
	ck_assert_uint_eq(outcome->reasons & ~allowed, 0);
	if (outcome->reasons & RT_REASON_CLOCK_ABOVE) {
		uint64_t above_ns = outcome->cpu_estimate_ns - outcome->cpu_low_ns;

		ck_assert_uint_gt(above_ns, 10 * MS);
		ck_assert_uint_le(above_ns, taken_ns + 40 * MS + outcome->cpu_low_ns / 20);
	}
	ck_assert_uint_eq(outcome->complete, outcome->reasons == 0);
}

START_TEST(estimate_with_waited_for_children_agrees_with_account)
{
	for (int i = 0; i < 3; i++) {
		uint64_t taken_ns = read_taken_ns();
		struct workload w;

		if (!start_workload(&w, "burn", perf))
			return;
		finish_workload(&w);
		taken_ns = read_taken_ns() - taken_ns;

		check_ordinary_outcome(&w.outcome, sum_recorded_ns(w.record), taken_ns);
		free_workload(&w);
	}
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("inherited_clock");
	TCase *clock = suite_case(suite, "clock");

	if (is_workload(argc))
		return run_as_workload(argv);
	tcase_add_test(clock, estimate_with_auto_reaped_children_has_their_cpu_time);
	tcase_add_test(clock, estimate_with_waited_for_children_agrees_with_account);
	return suite_run(suite);
}
