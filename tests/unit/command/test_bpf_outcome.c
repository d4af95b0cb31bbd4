/* SPDX-License-Identifier: MIT */
/* What the totals of BPF programs make of an outcome that the samples have filled. */
#include "command/bpf_outcome.h"

#include "suite.h"

#define CPU_NS 7000000

/* The samples know of no process that runs on, unless the case says so. */
static const struct {
	struct rti_account_totals totals;
	uint64_t valid, partial; /* by the samples */
	uint32_t left_running;   /* likewise */
	uint64_t valid_then, partial_then;
	uint32_t left_running_then, reasons_then;
} cases[] = {
	/* all is counted */
	{ { .is_whole = true, .processes = 3, .alive_peak = 2 },
	  0,
	  RT_HAS_CPU | RT_HAS_PROCESSES,
	  0,
	  RT_HAS_CPU | RT_HAS_PROCESSES | RT_HAS_PROCESSES_PEAK,
	  0,
	  0,
	  0 },
	/* no sample has any CPU time: what is not known is not marked */
	{ { .is_whole = true, .processes = 3, .alive_peak = 2 },
	  0,
	  RT_HAS_PROCESSES,
	  0,
	  RT_HAS_PROCESSES | RT_HAS_PROCESSES_PEAK,
	  0,
	  0,
	  0 },
	/* some threads run on: which ones the samples may not know */
	{ { .is_whole = true, .running = 4, .processes = 3, .rowless = 1 },
	  RT_HAS_CPU,
	  RT_HAS_PROCESSES,
	  0,
	  RT_HAS_PROCESSES,
	  RT_HAS_CPU,
	  1,
	  RT_REASON_LEFT_RUNNING },
	{ { .is_whole = true, .running = 4, .processes = 3, .rowless = 1 },
	  RT_HAS_CPU,
	  RT_HAS_PROCESSES,
	  2,
	  RT_HAS_PROCESSES,
	  RT_HAS_CPU,
	  2,
	  RT_REASON_LEFT_RUNNING },
	/* the account lacks threads: the other ones are lower bounds */
	{ { .running = 1 },
	  RT_HAS_CPU,
	  RT_HAS_PROCESSES,
	  0,
	  0,
	  RT_HAS_CPU | RT_HAS_PROCESSES,
	  0,
	  RT_REASON_EVENTS_LOST },
	{ { .missed = 1, .processes = 3, .alive_peak = 2 },
	  RT_HAS_CPU,
	  RT_HAS_PROCESSES,
	  0,
	  RT_HAS_PROCESSES | RT_HAS_PROCESSES_PEAK,
	  RT_HAS_CPU,
	  0,
	  RT_REASON_EVENTS_LOST },
	/* and of some processes nothing is known */
	{ { .is_whole = true, .unmarked = 1, .processes = 3, .alive_peak = 2 },
	  0,
	  RT_HAS_PROCESSES,
	  0,
	  0,
	  RT_HAS_PROCESSES,
	  0,
	  RT_REASON_EVENTS_LOST },
};

#define CASES (int)(sizeof(cases) / sizeof(cases[0]))

/* Never read: that there are programs is enough. */
static char programs;

START_TEST(outcome_is_marked_as_far_as_the_account_is_whole)
{
	struct rt_command command = { .account = { .programs = (void *)&programs } };
	struct rt_outcome out = { .valid = cases[_i].valid,
		                  .partial = cases[_i].partial,
		                  .left_running = cases[_i].left_running,
		                  .cpu_user_ns = CPU_NS,
		                  .complete = 1 };

	command.account.totals = cases[_i].totals;
	rti_bpf_outcome_set(&command, &out);

	ck_assert_uint_eq(out.valid, cases[_i].valid_then);
	ck_assert_uint_eq(out.partial, cases[_i].partial_then);
	ck_assert_uint_eq(out.left_running, cases[_i].left_running_then);
	ck_assert_uint_eq(out.reasons, cases[_i].reasons_then);
	ck_assert_int_eq(out.complete, cases[_i].reasons_then == 0);
	if (cases[_i].reasons_then != RT_REASON_EVENTS_LOST)
		ck_assert_uint_eq(out.cpu_high_ns, cases[_i].totals.running ? UINT64_MAX : CPU_NS);
}
END_TEST

START_TEST(outcome_without_programs_stays_as_it_is)
{
	const struct rt_command command = { 0 };
	const struct rt_outcome before = { .valid = RT_HAS_CPU, .complete = 1 };
	struct rt_outcome out = before;

	rti_bpf_outcome_set(&command, &out);
	ck_assert_mem_eq(&out, &before, sizeof(out));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bpf_outcome");
	TCase *marks = suite_case(suite, "marks");

	tcase_add_loop_test(marks, outcome_is_marked_as_far_as_the_account_is_whole, 0, CASES);
	tcase_add_test(marks, outcome_without_programs_stays_as_it_is);
	return suite_run(suite);
}
