/* SPDX-License-Identifier: MIT */
/* Random histories of a simulated kernel, sampled by the real tree sampler through injected file
 * calls. Processes and threads start, exec, exit, and are reaped, adopted, orphaned or auto-reaped,
 * and pids are reused, between any two file calls of one sample. The true totals, which the
 * simulation knows, judge every sample and the CPU bounds at the end.
 *
 * RTRACK_HISTORIES and RTRACK_FIRST_HISTORY select histories by number. E.g.: to repeat history 17
 * alone, set the first to 1 and the second to 17. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/cpu_bounds.h"
#include "os/cpu_time.h"
#include "simulated_tree.h"
#include "suite.h"
#include "tree/tree_inside.h"

#define HISTORIES 7000
#define SAMPLES 12
#define US 1000u /* resolution of the kernel's exact accounts */

struct history {
	unsigned number;
	struct rt_tracker *tracker;
	struct rti_shared_stats shared;
	struct rt_metrics m; /* last sample */
	bool is_false_alarm; /* a sample reported a loss where nothing was lost */
};

static uint64_t sum_cpu(const struct rt_metrics *m)
{
	return m->cpu_user_ns + m->cpu_system_ns;
}

/* Does not assert what holds: libcheck writes a line for each assertion, which takes longer than a
 * history. */
static void check_history(const struct history *h, bool holds, const char *violation)
{
	if (holds)
		return;
	ck_abort_msg("history %u: %s: %" PRIu64 " of %" PRIu64 " ns, %" PRIu64 " of %" PRIu64
	             " faults, %" PRIu64 " of %" PRIu64 " bytes, reasons %x",
	             h->number, violation, sum_cpu(&h->m), sim.cpu_ns, h->m.minor_faults,
	             sim.faults, h->m.write_bytes, sim.written, h->m.reasons);
}

static void begin_history(struct history *h, unsigned number, const struct sim_rules *rules)
{
	const struct rt_opts opts = {
		.size = sizeof(opts),
		.flags = RT_OPT_NO_PROCESS_EVENTS,
		.want = RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_IO | RT_HAS_PROCESSES |
		        RT_HAS_PEAK_RSS | RT_HAS_RSS,
	};

	*h = (struct history){ .number = number };
	sim_begin(number, rules);
	check_history(h, rti_tracker_new(&h->tracker, SIM_ROOT, &opts, &sim_files) == 0,
	              "no tracker");
	assume_nothing_unseen(h->tracker);
	sim_set_clocks(h->tracker);
	sim_attach_command(h->tracker, rules, &h->shared, NULL, NULL);
}

/* Takes a sample. No total may exceed the true one, and none may fall. */
static int take_sample(struct history *h)
{
	const struct rt_metrics last = h->m;
	int err = rt_sample(h->tracker, &h->m, sizeof(h->m));

	sim_use_overhead(sim_pick(2000));
	check_history(h, sum_cpu(&h->m) <= sim.cpu_ns, "CPU time exceeds the true total");
	check_history(h, h->m.minor_faults <= sim.faults, "faults exceed the true total");
	check_history(h, h->m.write_bytes <= sim.written, "bytes exceed the true total");
	check_history(
	    h, h->m.cpu_user_ns >= last.cpu_user_ns && h->m.cpu_system_ns >= last.cpu_system_ns,
	    "CPU time fell");
	check_history(h, h->m.minor_faults >= last.minor_faults, "faults fell");
	check_history(h, h->m.write_bytes >= last.write_bytes, "bytes fell");
	return err;
}

/* Half of the histories have peak polls between their samples. */
static void let_time_pass(struct history *h)
{
	for (unsigned events = sim_pick(20); events > 0; events--) {
		sim_step();
		if (h->number % 2 && h->m.size && sim_pick(6) == 0)
			rt_tracker_glance(h->tracker);
	}
}

static void run_and_sample_tree(struct history *h)
{
	for (int i = 0; i < SAMPLES; i++) {
		let_time_pass(h);
		check_history(h, take_sample(h) == 0, "no sample");
	}
}

/* Runs the simulation until no member but the root is left. */
static void end_members(struct history *h)
{
	sim.is_ending = true;
	while (sim_count_members() > 0) {
		sim_step();
		if (sim_pick(40) == 0)
			take_sample(h);
	}
}

/* Ends the root as rt_command_wait() does with a child of the caller: the last sample finds a
 * zombie, which is then waited for. */
static void finish_child(struct history *h)
{
	sim.is_ending = true;
	sim_stop(SIM_ROOT);
	take_sample(h);
	sim_end(SIM_ROOT);
	rti_tree_account_root_exit(h->tracker->tree, SIM_ROOT, NULL, 0);
	take_sample(h);
}

/* What getrusage(RUSAGE_CHILDREN) returns in the supervisor. */
static struct rt_rusage get_supervisor_account(void)
{
	const struct sim_process *supervisor = sim_find(SIM_ROOT, NULL);

	return (struct rt_rusage){
		.ru_utime = (double)(supervisor->reaped_user_ns / US) / 1e6,
		.ru_stime = (double)(supervisor->reaped_system_ns / US) / 1e6,
		.ru_minflt = (int64_t)supervisor->reaped_faults,
	};
}

/* Applies the account of the supervisor as rt_command_wait() does. */
static void finish_supervised(struct history *h)
{
	for (int i = 0; i < 2; i++) {
		const struct rt_rusage reaped = get_supervisor_account();

		sim_pass_time();
		rti_tree_apply_final_rusage(h->tracker->tree, &reaped, 0);
		if (take_sample(h) == -ESRCH)
			break;
	}
}

static bool is_covered_by_cgroup(const struct history *h)
{
	struct rti_tree_facts facts;

	rti_tree_get_facts(h->tracker->tree, &facts);
	return facts.is_covered_by_cgroup;
}

/* The true CPU time is within the bounds. Where they claim that nothing was missed, no more was
 * missed than they allow. */
static void check_bounds(const struct history *h)
{
	uint64_t low_ns = sum_cpu(&h->m), lag_ns = sim_group_lag_ns();
	const struct rti_cpu_bounds_known known = {
		.low_ns = low_ns,
		.growth_ns = rti_cpu_bounds_growth(sim.baseline_ns, sim_group_account_ns()),
		.overhead_ns = sim.overhead_ns,
		.lag_ns = SIM_CPUS * SIM_TICK_NS,
		.is_covered_by_cgroup = sim.rules.has_cgroup && is_covered_by_cgroup(h),
		.is_running = h->m.processes > 0,
	};
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	check_history(h, b.low_ns <= sim.cpu_ns, "the true CPU time is below the bounds");
	check_history(h,
	              b.high_ns == UINT64_MAX ||
	                  b.high_ns + (known.is_covered_by_cgroup ? US : 0) >= sim.cpu_ns,
	              "the true CPU time is above the bounds");
	check_history(h,
	              b.is_unverified || b.high_ns == UINT64_MAX ||
	                  sim.cpu_ns <= low_ns + low_ns / 100 + RTI_TICK_MAX_NS + lag_ns,
	              "CPU time is missing and not reported");
}

static void check_complete(const struct history *h, uint64_t cpu_resolution_ns)
{
	check_history(h, h->m.minor_faults == sim.faults, "faults are missing");
	check_history(h, h->m.write_bytes == sim.written, "bytes are missing");
	check_history(h, sum_cpu(&h->m) + cpu_resolution_ns >= sim.cpu_ns, "CPU time is missing");
}

static unsigned count_histories(void)
{
	const char *number = getenv("RTRACK_HISTORIES");

	return number ? (unsigned)atoi(number) : suite_share(HISTORIES);
}

static unsigned get_first_history(void)
{
	const char *first = getenv("RTRACK_FIRST_HISTORY");

	return first ? (unsigned)atoi(first) : 1;
}

/* Varies the files of /proc, so that all ways to discover children are used. */
static struct sim_rules vary_files(struct sim_rules rules, unsigned number)
{
	rules.has_children = number % 4 != 0;
	rules.has_last_pid_file = number % 3 != 0;
	return rules;
}

/* Runs all histories. finish() ends and judges each of them. Returns how many had a false alarm. */
static unsigned run_histories(const struct sim_rules *rules, void (*finish)(struct history *h))
{
	unsigned first = get_first_history(), false_alarms = 0;

	for (unsigned number = first; number < first + count_histories(); number++) {
		const struct sim_rules varied = vary_files(*rules, number);
		struct history h;

		begin_history(&h, number, &varied);
		run_and_sample_tree(&h);
		finish(&h);
		check_bounds(&h);
		false_alarms += h.is_false_alarm;
		rt_tracker_free(h.tracker);
	}
	return false_alarms;
}

/* No simulated time passes any more, so that all that is still there can be read. */
static void finish_with_stopped_tree(struct history *h)
{
	sim.events_per_mille = 0;
	/* The first sample finds that a member has exited. The second finds which process has
	 * reused its pid. */
	for (int i = 0; i < 2; i++)
		take_sample(h);
	check_complete(h, 2 * SIM_TICK_NS * SIM_PROCESSES_MAX);
}

static void finish_with_ended_tree(struct history *h)
{
	end_members(h);
	finish_child(h);
	check_complete(h, 2 * SIM_TICK_NS);
}

static void finish_waited_tree(struct history *h)
{
	if (h->number % 2)
		finish_with_stopped_tree(h);
	else
		finish_with_ended_tree(h);
	check_history(h, !(h->m.reasons & ~RT_REASON_CLOCK_TICKS),
	              "reasons are reported, but nothing is missing");
	check_history(h, !(h->m.valid & RT_HAS_CPU) || sum_cpu(&h->m) / 100 * 101 >= sim.cpu_ns,
	              "more than a hundredth of a complete CPU time is missing");
	check_history(h, !sim.has_lost_account, "the rules let no account be lost");
}

START_TEST(totals_of_tree_with_every_process_waited_for_are_complete)
{
	const struct sim_rules rules = { 0 };

	run_histories(&rules, finish_waited_tree);
}
END_TEST

/* I/O that could not be read is exact all the same if a readable process has reaped its owner. */
static void finish_tree_with_hidden_io(struct history *h)
{
	bool is_hidden;

	end_members(h);
	is_hidden = sim_find(SIM_ROOT, NULL)->hides_io;
	finish_child(h);
	check_history(h, h->m.minor_faults == sim.faults, "faults are missing");
	check_history(h, !(h->m.reasons & ~RT_REASON_CLOCK_TICKS),
	              "reasons are reported, but nothing is missing");
	check_history(h, !(h->m.valid & RT_HAS_IO) || h->m.write_bytes == sim.written,
	              "bytes are missing and not marked");
	check_history(h, h->m.valid & RT_HAS_IO || is_hidden,
	              "bytes are marked, but all were read");
}

START_TEST(bytes_of_tree_with_unreadable_io_are_exact_or_marked)
{
	const struct sim_rules rules = { .may_hide_io = true };

	run_histories(&rules, finish_tree_with_hidden_io);
}
END_TEST

static void finish_unwaited_tree(struct history *h)
{
	if (h->number % 2)
		end_members(h);
	finish_child(h);
	if (h->m.reasons == 0 && !sim.has_lost_account)
		check_complete(h, 2 * SIM_TICK_NS);
}

START_TEST(totals_of_tree_with_lost_accounts_are_lower_bounds_with_a_reason)
{
	const struct sim_rules rules = { .may_orphan = true,
		                         .may_ignore = true,
		                         .may_adopt = true };

	run_histories(&rules, finish_unwaited_tree);
}
END_TEST

/* If several processes may have adopted and reaped a member, the sampler now and then reports it as
 * unwaited before it finds the account that holds it. That is a false alarm. */
static void finish_supervised_tree(struct history *h)
{
	end_members(h);
	finish_supervised(h);
	check_complete(h, 2 * US);
	check_history(h, (h->m.reasons & ~RT_REASON_UNWAITED) == 0,
	              "reasons are reported, but nothing is missing");
	h->is_false_alarm = h->m.reasons != 0;
	check_history(h, !sim.has_lost_account, "the rules let no account be lost");
}

START_TEST(totals_of_ended_tree_below_supervisor_are_exact)
{
	const struct sim_rules rules = { .is_supervised = true,
		                         .may_orphan = true,
		                         .may_adopt = true };
	unsigned false_alarms;

	false_alarms = run_histories(&rules, finish_supervised_tree);

	ck_assert_uint_le(false_alarms, 1 + count_histories() / 1000);
}
END_TEST

static void finish_program_alone(struct history *h)
{
	sim_end(SIM_PROGRAM);
	finish_supervised(h);
}

START_TEST(cpu_bounds_with_processes_left_below_supervisor_hold_the_true_time)
{
	const struct sim_rules rules = {
		.is_supervised = true, .may_orphan = true, .may_ignore = true, .may_adopt = true
	};

	run_histories(&rules, finish_program_alone);
}
END_TEST

static void finish_tree_in_cgroup(struct history *h)
{
	end_members(h);
	finish_supervised(h);
	check_history(h, is_covered_by_cgroup(h), "the total is not covered by the cgroup");
	check_history(h, sum_cpu(&h->m) + US >= sim.cpu_ns, "CPU time is missing");
}

START_TEST(cpu_time_of_tree_in_a_cgroup_is_exact_with_unwaited_processes)
{
	const struct sim_rules rules = { .is_supervised = true,
		                         .has_cgroup = true,
		                         .may_orphan = true,
		                         .may_ignore = true,
		                         .may_adopt = true };

	run_histories(&rules, finish_tree_in_cgroup);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("histories");
	TCase *tcase = suite_case(suite, "histories");

	printf("# %u histories each\n", count_histories());
	fflush(stdout);
	tcase_set_timeout(tcase, 1000);
	tcase_add_test(tcase, totals_of_tree_with_every_process_waited_for_are_complete);
	tcase_add_test(tcase, bytes_of_tree_with_unreadable_io_are_exact_or_marked);
	tcase_add_test(tcase, totals_of_tree_with_lost_accounts_are_lower_bounds_with_a_reason);
	tcase_add_test(tcase, totals_of_ended_tree_below_supervisor_are_exact);
	tcase_add_test(tcase, cpu_bounds_with_processes_left_below_supervisor_hold_the_true_time);
	tcase_add_test(tcase, cpu_time_of_tree_in_a_cgroup_is_exact_with_unwaited_processes);
	return suite_run(suite);
}
