/* SPDX-License-Identifier: MIT */
/* Random histories of a simulated kernel, sampled by the real tree sampler through injected file
 * calls. Processes and threads come and go, exec, are reaped, adopted, orphaned or auto-reaped,
 * and pids are given away again, at any instant between two file calls of one sample. The known
 * truth judges every sample, and the bracket at the end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/tracker.h"
#include "command/cpu_bounds.h"
#include "os/cpu_time.h"
#include "simulated_kernel.h"
#include "suite.h"
#include "tree/state.h"

#define HISTORIES 14000
#define SAMPLES 12
#define US 1000u /* what the kernel's own exact accounts are cut to */

struct history {
	unsigned number;
	struct rt_tracker *tracker;
	struct rt_metrics m; /* last sample */
};

static uint64_t cpu_ns(const struct rt_metrics *m)
{
	return m->cpu_user_ns + m->cpu_system_ns;
}

/* libcheck writes a line for each assertion that holds, which takes longer than the history. */
static void give_up(const struct history *h, const char *what)
{
	ck_abort_msg("history %u: %s: %" PRIu64 " of %" PRIu64 " ns, %" PRIu64 " of %" PRIu64
	             " faults, %" PRIu64 " of %" PRIu64 " bytes, reasons %x",
	             h->number, what, cpu_ns(&h->m), sim.cpu_ns, h->m.minor_faults, sim.faults,
	             h->m.write_bytes, sim.written, h->m.reasons);
}

static void check(const struct history *h, int is_so, const char *what)
{
	if (!is_so)
		give_up(h, what);
}

static void begin(struct history *h, unsigned number, const struct sim_rules *rules)
{
	const struct rt_opts opts = {
		.size = sizeof(opts),
		.want = RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_IO | RT_HAS_PROCESSES | RT_HAS_PEAK_RSS,
	};
	static struct rti_shared_stats shared;
	struct rti_fork_tracker no_events = RTI_FORK_TRACKER_INIT;
	struct rti_cgroup cgroup = RTI_CGROUP_INIT;
	struct rti_tree_command command = { .cgroup = &cgroup, .fork_tracker = &no_events };
	struct rti_platform *platform;

	sim_begin(number, rules);
	shared = (struct rti_shared_stats){ .own_io = { [3] = sim_find(SIM_ROOT, NULL)->written } };
	*h = (struct history){ .number = number };
	check(h, rti_tracker_new(&h->tracker, SIM_ROOT, &opts, &sim_files) == 0, "no tracker");
	platform = &h->tracker->platform;
	platform->tick_ns = SIM_TICK_NS;
	platform->cpu_clock = sim_cpu_clock;
	platform->now = sim_now;
	platform->thread_cpu_ns = sim_thread_cpu_ns;
	if (rules->has_file)
		snprintf(cgroup.path, sizeof(cgroup.path), "/%s", SIM_LEAF);
	command.supervisor_pid = rules->is_kept ? SIM_ROOT : 0;
	command.shared = rules->is_kept ? &shared : NULL;
	rti_tree_attach_command(h->tracker->tree, &command);
}

/* Whatever is known, it is no more than there was, and no less than before. */
static int sample(struct history *h)
{
	const struct rt_metrics last = h->m;
	int err = rt_sample(h->tracker, &h->m, sizeof(h->m));

	sim_spend(sim_pick(2000));
	check(h, cpu_ns(&h->m) <= sim.cpu_ns, "more CPU time than there was");
	check(h, h->m.minor_faults <= sim.faults, "more faults than there were");
	check(h, h->m.write_bytes <= sim.written, "more bytes than there were");
	check(h, h->m.cpu_user_ns >= last.cpu_user_ns && h->m.cpu_system_ns >= last.cpu_system_ns,
	      "CPU time fell");
	check(h, h->m.minor_faults >= last.minor_faults, "faults fell");
	check(h, h->m.write_bytes >= last.write_bytes, "bytes fell");
	return err;
}

static void live_and_be_sampled(struct history *h)
{
	for (int i = 0; i < SAMPLES; i++) {
		for (unsigned events = sim_pick(20); events > 0; events--)
			sim_happen();
		check(h, sample(h) == 0, "no sample");
	}
}

/* Until nobody is left but the root. */
static void end_tree(struct history *h)
{
	sim.is_ending = 1;
	while (sim_members() > 0) {
		sim_happen();
		if (sim_pick(40) == 0)
			sample(h);
	}
}

/* As rt_command_wait() does it with a child of its own: the last sample finds a zombie, which is
 * then waited for. */
static void finish_child(struct history *h)
{
	sim.is_ending = 1;
	sim_stop(SIM_ROOT);
	sample(h);
	sim_end(SIM_ROOT);
	rti_tree_account_root_exit(h->tracker->tree, SIM_ROOT, NULL);
	sample(h);
}

/* What getrusage(RUSAGE_CHILDREN) tells the keeper. */
static struct rt_rusage keeper_account(void)
{
	const struct sim_process *supervisor = sim_find(SIM_ROOT, NULL);

	return (struct rt_rusage){
		.ru_utime = (double)(supervisor->reaped_user_ns / US) / 1e6,
		.ru_stime = (double)(supervisor->reaped_system_ns / US) / 1e6,
		.ru_minflt = (int64_t)supervisor->reaped_faults,
	};
}

/* As rt_command_wait() does it with a supervisor. */
static void finish_kept(struct history *h)
{
	for (int looks = 0; looks < 2; looks++) {
		const struct rt_rusage reaped = keeper_account();

		sim_go_on();
		rti_tree_apply_final_rusage(h->tracker->tree, &reaped, 0);
		if (sample(h) == -ESRCH)
			break;
	}
}

/* The truth is never outside, and where the bracket says that nothing was missed, no more can
 * have been than it allows. */
static void judge(const struct history *h)
{
	uint64_t low_ns = cpu_ns(&h->m), lag_ns = sim_group_lag_ns();
	int is_covered_by_cgroup =
	    sim.rules.has_file && h->tracker->tree->ledger.is_covered_by_cgroup;
	const struct rti_cpu_bounds_known known = {
		.low_ns = low_ns,
		.growth_ns = rti_cpu_bounds_growth(sim.baseline_ns, sim_group_account_ns()),
		.overhead_ns = sim.overhead_ns,
		.lag_ns = SIM_CPUS * SIM_TICK_NS,
		.is_covered_by_cgroup = is_covered_by_cgroup,
		.is_running = h->m.processes > 0,
	};
	struct rti_cpu_bounds b = rti_cpu_bounds(&known);

	check(h, b.low_ns <= sim.cpu_ns, "the truth is below the bracket");
	check(h,
	      b.high_ns == UINT64_MAX || b.high_ns + (is_covered_by_cgroup ? US : 0) >= sim.cpu_ns,
	      "the truth is above the bracket");
	check(h,
	      b.is_unverified || b.high_ns == UINT64_MAX ||
	          sim.cpu_ns <= low_ns + low_ns / 100 + RTI_TICK_MAX_NS + lag_ns,
	      "much was missed without notice");
}

static void judge_complete(const struct history *h, uint64_t cpu_resolution_ns)
{
	check(h, h->m.minor_faults == sim.faults, "faults are missing");
	check(h, h->m.write_bytes == sim.written, "bytes are missing");
	check(h, cpu_ns(&h->m) + cpu_resolution_ns >= sim.cpu_ns, "CPU time is missing");
}

static unsigned histories(void)
{
	const char *wanted = getenv("RTRACK_HISTORIES"),
		   *percent = getenv("RTRACK_HISTORIES_PERCENT");

	if (wanted)
		return (unsigned)atoi(wanted);
	return percent ? HISTORIES * (unsigned)atoi(percent) / 100 : HISTORIES;
}

static unsigned first_history(void)
{
	const char *first = getenv("RTRACK_FIRST_HISTORY");

	return first ? (unsigned)atoi(first) : 1;
}

/* Both ways to find children. */
static struct sim_rules vary(struct sim_rules rules, unsigned number)
{
	rules.has_children = number % 4 != 0;
	rules.last_pid_source = number % 3 != 0;
	return rules;
}

static void replay(const struct sim_rules *rules, void (*live)(struct history *h))
{
	unsigned first = first_history();

	for (unsigned number = first; number < first + histories(); number++) {
		const struct sim_rules varied = vary(*rules, number);
		struct history h;

		begin(&h, number, &varied);
		live_and_be_sampled(&h);
		live(&h);
		judge(&h);
		rt_tracker_free(h.tracker);
	}
}

static void all_are_waited_for(struct history *h)
{
	/* the world stands still, and all that is still there is there to be read */
	if (h->number % 2) {
		sim.events_per_mille = 0;
		/* who has the pid of a former member shows when that one is gone */
		for (int i = 0; i < 2; i++)
			sample(h);
		judge_complete(h, 2 * SIM_TICK_NS * SIM_MOST);
	} else {
		end_tree(h);
		finish_child(h);
		judge_complete(h, 2 * SIM_TICK_NS);
	}
	check(h, h->m.reasons == 0, "reasons, where nothing is missing");
	check(h, !sim.has_lost_events, "not this world");
}

START_TEST(where_all_are_waited_for_nothing_is_missing)
{
	replay(&(struct sim_rules){ 0 }, all_are_waited_for);
}
END_TEST

static void accounts_are_lost(struct history *h)
{
	if (h->number % 2)
		end_tree(h);
	finish_child(h);
	if (h->m.reasons == 0 && !sim.has_lost_events)
		judge_complete(h, 2 * SIM_TICK_NS);
}

START_TEST(where_accounts_are_lost_the_total_is_a_lower_bound_and_says_so)
{
	replay(&(struct sim_rules){ .may_orphan = 1, .may_ignore = 1, .may_adopt = 1 },
	       accounts_are_lost);
}
END_TEST

/* Who of several has adopted and reaped whom is now and then taken for a loss until it is
 * settled. */
static unsigned false_alarms;

static void all_end_below_a_keeper(struct history *h)
{
	end_tree(h);
	finish_kept(h);
	judge_complete(h, 2 * US);
	check(h, (h->m.reasons & ~RT_REASON_UNWAITED) == 0, "reasons, where nothing is missing");
	false_alarms += h->m.reasons != 0;
	check(h, !sim.has_lost_events, "not this world");
}

START_TEST(where_a_keeper_has_reaped_all_the_total_is_exact)
{
	replay(&(struct sim_rules){ .is_kept = 1, .may_orphan = 1, .may_adopt = 1 },
	       all_end_below_a_keeper);
	ck_assert_uint_le(false_alarms, 1 + histories() / 1000);
}
END_TEST

static void some_run_on(struct history *h)
{
	sim_end(SIM_PROGRAM);
	finish_kept(h);
}

START_TEST(where_some_run_on_below_a_keeper_the_bracket_holds)
{
	replay(
	    &(struct sim_rules){ .is_kept = 1, .may_orphan = 1, .may_ignore = 1, .may_adopt = 1 },
	    some_run_on);
}
END_TEST

static void all_end_in_a_leaf(struct history *h)
{
	end_tree(h);
	finish_kept(h);
	check(h, h->tracker->tree->ledger.is_covered_by_cgroup, "the leaf does not claim it");
	check(h, cpu_ns(&h->m) + US >= sim.cpu_ns, "CPU time is missing");
}

START_TEST(where_the_tree_has_a_cgroup_its_cpu_time_is_exact_whoever_waits)
{
	replay(
	    &(struct sim_rules){
		.is_kept = 1, .has_file = 1, .may_orphan = 1, .may_ignore = 1, .may_adopt = 1 },
	    all_end_in_a_leaf);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("histories");
	TCase *tcase = suite_case(suite, "histories");

	printf("# %u histories each\n", histories());
	fflush(stdout);
	tcase_set_timeout(tcase, 1000);
	tcase_add_test(tcase, where_all_are_waited_for_nothing_is_missing);
	tcase_add_test(tcase, where_accounts_are_lost_the_total_is_a_lower_bound_and_says_so);
	tcase_add_test(tcase, where_a_keeper_has_reaped_all_the_total_is_exact);
	tcase_add_test(tcase, where_some_run_on_below_a_keeper_the_bracket_holds);
	tcase_add_test(tcase, where_the_tree_has_a_cgroup_its_cpu_time_is_exact_whoever_waits);
	return suite_run(suite);
}
