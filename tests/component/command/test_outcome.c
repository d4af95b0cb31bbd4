/* SPDX-License-Identifier: MIT */
/* What an outcome claims to know. A real program runs; what its samples and its cgroup say is the
 * test's, and so is what the figures are found to lack. */
#include <errno.h>

#include <rtrack/rtrack.h>

#include "command/completeness.h"
#include "command/handle.h"
#include "os/cgroup/cgroup.h"
#include "suite.h"
#include "tree/tree.h"

#define MIB UINT64_C(1048576)

/* What all samples and accounts say. */
static struct {
	uint64_t lacking;   /* RT_HAS_ bits that no sample has */
	uint64_t estimated; /* RT_HAS_ bits */
	uint64_t peak_rss_bytes, peak_tree_bytes, peak_tree_low_bytes;
	struct rti_footprint parts; /* of the peak */
	bool has_other_child, is_alive_peak_unknown;
	uint64_t cgroup_cpu_ns;
	uint32_t left;    /* RTI_CGROUP_ bits */
	int memory_error; /* -errno of the cgroup's peak of memory */
	bool is_io_whole;
	bool is_populated;
	bool is_cpu_short;
	uint64_t unseen_peak; /* peaks of the tree: no sample saw any memory */
	bool is_repeated;     /* a process maps pages several times */
	bool is_counted;      /* by BPF programs */
	unsigned outgrown;    /* so many accounts of the supervisor lack something */
	unsigned unseen;      /* so many times the supervisor has a child that the sample has not */
} says;

static unsigned looks; /* at the end of a command */

static struct rti_cgroup group;
static struct rti_completeness_known known;

int __real_rti_tracker_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size);
int __wrap_rti_tracker_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size);
void __real_rti_tree_get_facts(const struct rti_tree *tree, struct rti_tree_facts *out);
void __wrap_rti_tree_get_facts(const struct rti_tree *tree, struct rti_tree_facts *out);
struct rti_cgroup *__wrap_rti_tree_cgroup(struct rti_tree *tree);
int __wrap_rti_cgroup_read_io(const struct rti_cgroup *cgroup, const struct rti_context *ctx,
                              uint64_t *read_bytes, uint64_t *write_bytes, bool *is_whole);
int __wrap_rti_cgroup_read_memory_peak(const struct rti_cgroup *cgroup,
                                       const struct rti_context *ctx, uint64_t *bytes);
bool __wrap_rti_cgroup_is_populated(const struct rti_cgroup *cgroup, const struct rti_context *ctx,
                                    bool may_have_left_v2);
struct rti_completeness __wrap_rti_completeness(const struct rti_completeness_known *all);
bool __wrap_rti_command_account_is_whole(const struct rti_command_account *account);
int __real_rti_supervisor_receive_account(struct rti_supervisor *s, uint64_t timeout_ns);
int __wrap_rti_supervisor_receive_account(struct rti_supervisor *s, uint64_t timeout_ns);
bool __real_rti_tree_is_final_account_current(const struct rti_tree *tree);
bool __wrap_rti_tree_is_final_account_current(const struct rti_tree *tree);

int __wrap_rti_tracker_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size)
{
	int err = __real_rti_tracker_sample(t, out, out_size);

	out->valid |= RT_HAS_CPU | RT_HAS_PEAK_RSS;
	out->partial = (out->partial | RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED) & ~out->valid;
	out->valid &= ~says.lacking;
	out->estimated = says.estimated;
	out->partial &= ~(says.estimated | says.unseen_peak);
	out->reasons = 0;
	out->peak_rss_bytes = says.peak_rss_bytes;
	out->peak_footprint_bytes = out->peak_tree_bytes = says.peak_tree_bytes;
	out->peak_footprint_low_bytes = says.peak_tree_low_bytes;
	out->peak_needed_bytes = says.peak_tree_bytes / 2;
	out->peak_needed_low_bytes = says.peak_tree_low_bytes / 2;
	return err;
}

void __wrap_rti_tree_get_facts(const struct rti_tree *tree, struct rti_tree_facts *out)
{
	__real_rti_tree_get_facts(tree, out);
	out->running = 0;
	out->sees_every_fork = true;
	out->has_other_child = says.has_other_child;
	out->knows_alive_peak = !says.is_alive_peak_unknown;
	out->alive_peak = 2;
	out->is_covered_by_cgroup = true;
	out->cgroup_cpu_ns = says.cgroup_cpu_ns;
	out->is_rss_counted_once = !says.is_repeated;
	out->footprint_parts = says.parts;
}

struct rti_cgroup *__wrap_rti_tree_cgroup(struct rti_tree *tree)
{
	(void)tree;
	group = (struct rti_cgroup)RTI_CGROUP_INIT;
	group.left = says.left;
	return &group;
}

int __wrap_rti_cgroup_read_io(const struct rti_cgroup *cgroup, const struct rti_context *ctx,
                              uint64_t *read_bytes, uint64_t *write_bytes, bool *is_whole)
{
	(void)cgroup;
	(void)ctx;
	*read_bytes = 5;
	*write_bytes = 6;
	*is_whole = says.is_io_whole;
	return 0;
}

int __wrap_rti_cgroup_read_memory_peak(const struct rti_cgroup *cgroup,
                                       const struct rti_context *ctx, uint64_t *bytes)
{
	(void)cgroup;
	(void)ctx;
	if (says.memory_error == 0)
		*bytes = 7 * MIB;
	return says.memory_error;
}

bool __wrap_rti_cgroup_is_populated(const struct rti_cgroup *cgroup, const struct rti_context *ctx,
                                    bool may_have_left_v2)
{
	(void)cgroup;
	(void)ctx;
	(void)may_have_left_v2;
	return says.is_populated;
}

/* Whatever else runs on this machine. */
struct rti_completeness __wrap_rti_completeness(const struct rti_completeness_known *all)
{
	known = *all;
	return (struct rti_completeness){ .member_reasons = all->reasons,
		                          .is_member_short = all->reasons != 0,
		                          .reasons = all->reasons,
		                          .is_cpu_short = says.is_cpu_short,
		                          .low_ns = all->total_ns,
		                          .high_ns = all->total_ns };
}

bool __wrap_rti_command_account_is_whole(const struct rti_command_account *account)
{
	(void)account;
	return says.is_counted;
}

bool __wrap_rti_tree_is_final_account_current(const struct rti_tree *tree)
{
	bool has_all = __real_rti_tree_is_final_account_current(tree);

	return ++looks > says.outgrown && has_all;
}

int __wrap_rti_supervisor_receive_account(struct rti_supervisor *s, uint64_t timeout_ns)
{
	int err = __real_rti_supervisor_receive_account(s, timeout_ns);

	ck_assert_uint_eq(s->accounted.has_children, 0);
	s->accounted.has_children = looks < says.unseen;
	return err;
}

static void set_up(void)
{
	says.peak_rss_bytes = 4 * MIB;
	says.peak_tree_bytes = 6 * MIB;
	says.is_io_whole = true;
}

/* Run a program to its end. method: RT_ACCOUNTING_ value that the outcome is made for. */
static struct rt_command *run_with(uint32_t method, struct rt_outcome *outcome)
{
	static const char *const argv[] = { "true", NULL };
	const struct rt_command_opts opts = { .size = sizeof(opts),
		                              .accounting = method == RT_ACCOUNTING_CGROUP
		                                                ? RT_ACCOUNTING_WAIT
		                                                : method,
		                              .flags = RT_COMMAND_LIST_PROCESSES,
		                              .argv = argv };
	struct rt_command *command;

	ck_assert_int_eq(rt_command_start(&command, &opts), 0);
	command->accounting = method;
	ck_assert_int_eq(rt_command_wait(command, -1, outcome, sizeof(*outcome)), 0);
	return command;
}

static struct rt_outcome run(void)
{
	struct rt_outcome outcome;

	rt_command_free(run_with(RT_ACCOUNTING_POLL, &outcome));
	return outcome;
}

static const struct {
	uint64_t rss, tree, low; /* peaks, in MiB */
	uint64_t lacking;
	bool is_alive_peak_unknown;
	uint64_t high; /* in MiB; 0: there is no bound */
	bool is_holder_missing;
} peaks[] = {
	{ 4, 6, 0, 0, false, 8, false },
	/* what was read may be above the peaks by which it is bounded: by pages that no peak has */
	{ 4, 9, 0, 0, false, 9, false },
	/* two processes of at most 4 MiB did not hold 20 */
	{ 4, 20, 20, 0, false, 0, true },
	/* without one of both factors there is no bound, and nothing to contradict */
	{ 4, 20, 20, RT_HAS_PEAK_RSS, false, 0, false },
	{ 4, 20, 20, 0, true, 0, false },
};

START_TEST(peak_of_the_tree_is_bounded_by_those_of_its_processes)
{
	struct rt_outcome outcome;

	says.peak_rss_bytes = peaks[_i].rss * MIB;
	says.peak_tree_bytes = peaks[_i].tree * MIB;
	says.peak_tree_low_bytes = peaks[_i].low * MIB;
	says.lacking = peaks[_i].lacking;
	says.is_alive_peak_unknown = peaks[_i].is_alive_peak_unknown;
	outcome = run();
	ck_assert_uint_eq(outcome.peak_tree_bytes, peaks[_i].tree * MIB);
	ck_assert_uint_eq(outcome.peak_tree_high_bytes,
	                  peaks[_i].high ? peaks[_i].high * MIB : UINT64_MAX);
	ck_assert_uint_eq(outcome.reasons & RT_REASON_UNWAITED,
	                  peaks[_i].is_holder_missing ? RT_REASON_UNWAITED : 0);
}
END_TEST

/* Two processes of 4 MiB did not hold 20: one that no process waited for is missing. */
START_TEST(figures_of_members_are_lower_bounds_if_one_is_missing_unless_bpf_counted_all)
{
	struct rt_outcome outcome;

	says.peak_tree_low_bytes = 20 * MIB;
	says.is_counted = _i;
	outcome = run();
	ck_assert_int_eq((outcome.valid & RT_HAS_PEAK_RSS) != 0, _i);
	ck_assert_int_eq((outcome.partial & RT_HAS_PEAK_RSS) != 0, !_i);
}
END_TEST

/* The kernel knows the peak of the process all the same. A charge of the cgroup has page cache, and
 * lacks files that others have read. What a process maps several times is in its RSS as often. */
static const struct {
	uint64_t rss;
	bool is_repeated;
	uint64_t tree;
	uint32_t kind;
} unseen_cases[] = {
	{ 9, false, 9, RT_PEAK_FOOTPRINT },
	{ 9, true, 7, RT_PEAK_CGROUP },
	{ 0, false, 7, RT_PEAK_CGROUP },
};

START_TEST(peak_that_no_sample_saw_is_that_of_the_largest_process)
{
	struct rt_outcome outcome;
	bool is_raised = unseen_cases[_i].kind == RT_PEAK_FOOTPRINT;

	says.unseen_peak = RT_HAS_PEAK_FOOTPRINT | RT_HAS_PEAK_NEEDED;
	says.peak_rss_bytes = unseen_cases[_i].rss * MIB;
	says.is_repeated = unseen_cases[_i].is_repeated;
	says.lacking = unseen_cases[_i].rss ? 0 : RT_HAS_PEAK_RSS;
	says.peak_tree_bytes = 0;
	outcome = run();
	ck_assert_uint_eq(outcome.peak_tree_bytes, unseen_cases[_i].tree * MIB);
	ck_assert_uint_eq(outcome.peak_tree_low_bytes, 0);
	ck_assert_uint_eq(outcome.peak_tree_kind, unseen_cases[_i].kind);
	ck_assert_int_eq((outcome.partial & RT_HAS_PEAK_FOOTPRINT) != 0, is_raised);
	ck_assert_int_eq((outcome.estimated & RT_HAS_PEAK_FOOTPRINT) != 0, !is_raised);
	ck_assert(!RT_IS_KNOWN(&outcome, RT_HAS_PEAK_NEEDED));
}
END_TEST

/* The kernel knows of 9 MiB in one process. What that maps several times is in its RSS as often. */
START_TEST(peak_of_the_tree_is_at_least_that_of_its_largest_process)
{
	struct rt_outcome outcome;
	bool is_repeated = _i & 1, is_estimated = _i & 2, remains = is_estimated && is_repeated;

	says.peak_rss_bytes = 9 * MIB;
	says.is_repeated = is_repeated;
	says.peak_tree_low_bytes = 3 * MIB;
	says.estimated = is_estimated ? RT_HAS_PEAK_FOOTPRINT : 0;
	says.memory_error = -ENOENT;
	outcome = run();
	ck_assert_uint_eq(outcome.peak_tree_bytes, (is_repeated ? 6 : 9) * MIB);
	ck_assert_uint_eq(outcome.peak_tree_low_bytes, 3 * MIB);
	ck_assert_int_eq((outcome.estimated & RT_HAS_PEAK_FOOTPRINT) != 0, remains);
	ck_assert_int_eq((outcome.partial & RT_HAS_PEAK_FOOTPRINT) != 0, !remains);
	ck_assert_uint_eq(outcome.peak_tree_kind, RT_PEAK_FOOTPRINT);
}
END_TEST

START_TEST(parts_of_the_peak_are_those_of_the_largest_footprint)
{
	struct rt_outcome outcome;

	says.parts =
	    (struct rti_footprint){ .anon = 1, .shmem = 2, .file = 3, .hugetlb = 4, .swap = 5 };
	says.peak_tree_low_bytes = 5 * MIB;
	outcome = run();
	ck_assert_uint_eq(outcome.footprint_anon_bytes, 1);
	ck_assert_uint_eq(outcome.footprint_shmem_bytes, 2);
	ck_assert_uint_eq(outcome.footprint_file_bytes, 3);
	ck_assert_uint_eq(outcome.footprint_hugetlb_bytes, 4);
	ck_assert_uint_eq(outcome.footprint_swap_bytes, 5);
	ck_assert_uint_eq(outcome.peak_needed_bytes, 3 * MIB);
	ck_assert_uint_eq(outcome.peak_needed_low_bytes, 5 * MIB / 2);
	ck_assert_uint_ge(outcome.peak_needed_high_bytes, outcome.peak_needed_bytes);
	/* Huge pages are in no peak of a process. */
	ck_assert_uint_eq(outcome.peak_tree_high_bytes, UINT64_MAX);
}
END_TEST

/* E.g.: a process of the tree was adopted by the caller, which is no supervisor. */
START_TEST(count_of_processes_is_a_lower_bound_if_another_child_came)
{
	struct rt_outcome outcome;

	says.has_other_child = _i;
	outcome = run();
	ck_assert_uint_eq(outcome.valid & RT_HAS_PROCESSES, _i ? 0 : RT_HAS_PROCESSES);
	ck_assert_uint_eq(outcome.partial & RT_HAS_PROCESSES, _i ? RT_HAS_PROCESSES : 0);
}
END_TEST

/* Of a device that is gone, or of a process that has left, the I/O is missing. */
START_TEST(io_of_the_cgroup_is_a_lower_bound_unless_it_is_whole)
{
	static const struct {
		bool is_whole;
		uint32_t left;
	} cases[] = { { true, RTI_CGROUP_MEMORY }, { true, RTI_CGROUP_IO }, { false, 0 } };
	struct rt_outcome outcome;

	says.is_io_whole = cases[_i].is_whole;
	says.left = cases[_i].left;
	outcome = run();
	ck_assert_uint_eq(outcome.valid & RT_HAS_CGROUP_IO, _i == 0 ? RT_HAS_CGROUP_IO : 0);
	ck_assert_uint_eq(outcome.partial & RT_HAS_CGROUP_IO, _i == 0 ? 0 : RT_HAS_CGROUP_IO);
	ck_assert_uint_eq(outcome.cgroup_read_bytes, 5);
	ck_assert_uint_eq(outcome.cgroup_write_bytes, 6);
}
END_TEST

START_TEST(memory_of_the_cgroup_is_a_lower_bound_if_a_process_has_left_and_unknown_if_not_read)
{
	static const struct {
		int error;
		uint32_t left;
		bool is_valid, is_partial;
	} cases[] = { { 0, RTI_CGROUP_IO, true, false },
		      { 0, RTI_CGROUP_MEMORY, false, true },
		      { -ENOENT, 0, false, false } };
	struct rt_outcome outcome;

	says.memory_error = cases[_i].error;
	says.left = cases[_i].left;
	outcome = run();
	ck_assert_int_eq((outcome.valid & RT_HAS_CGROUP_MEMORY) != 0, cases[_i].is_valid);
	ck_assert_int_eq((outcome.partial & RT_HAS_CGROUP_MEMORY) != 0, cases[_i].is_partial);
	ck_assert_uint_eq(outcome.cgroup_memory_peak_bytes, cases[_i].error ? 0 : 7 * MIB);
}
END_TEST

/* Those that fork and exit all the time may be missed by every sample. */
START_TEST(cgroup_with_processes_that_no_sample_has_is_left_running)
{
	struct rt_outcome outcome;

	says.is_populated = _i;
	outcome = run();
	ck_assert_uint_eq(outcome.left_running, (unsigned)_i);
	ck_assert_int_eq(known.is_running, _i);
}
END_TEST

START_TEST(cpu_time_that_ended_threads_may_lack_is_a_lower_bound)
{
	struct rt_outcome outcome;

	says.is_cpu_short = _i;
	outcome = run();
	ck_assert_int_eq(outcome.complete, 1);
	ck_assert_int_eq((outcome.valid & RT_HAS_CPU) != 0, !_i);
	ck_assert_int_eq((outcome.partial & RT_HAS_CPU) != 0, _i);
}
END_TEST

/* The supervisor may reap a process between its account and the sample. */
START_TEST(end_is_looked_at_again_until_the_supervisor_has_reaped_no_more)
{
	static const unsigned cases[][2] = { { 0, 1 }, { 1, 2 }, { 9, 3 } };
	struct rt_outcome outcome;

	says.outgrown = cases[_i][0];
	rt_command_free(run_with(RT_ACCOUNTING_WAIT, &outcome));
	ck_assert_uint_eq(looks, cases[_i][1]);
}
END_TEST

/* E.g.: an orphan moved to the supervisor behind a scan, and no pid was allocated since. Process
 * events do not prove that it was waited for. */
START_TEST(child_of_the_supervisor_that_no_sample_has_is_looked_for_and_left_running)
{
	static const unsigned cases[][3] = { { 0, 1, 0 }, { 1, 2, 0 }, { 2, 3, 0 }, { 3, 3, 1 } };
	struct rt_outcome outcome;

	says.unseen = cases[_i][0];
	rt_command_free(run_with(RT_ACCOUNTING_WAIT, &outcome));
	ck_assert_uint_eq(looks, cases[_i][1]);
	ck_assert_uint_eq(outcome.left_running, cases[_i][2]);
	ck_assert_int_eq(known.is_running, cases[_i][2] != 0);
}
END_TEST

/* An account that was not read proves nothing. */
START_TEST(cgroup_without_an_account_covers_nothing)
{
	struct rt_outcome outcome;

	says.cgroup_cpu_ns = (uint64_t)_i;
	rt_command_free(run_with(RT_ACCOUNTING_CGROUP, &outcome));
	ck_assert_int_eq(known.is_covered_by_cgroup, _i);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outcome");
	TCase *marks = suite_case(suite, "marks");

	tcase_add_checked_fixture(marks, set_up, NULL);
	tcase_add_loop_test(marks, peak_of_the_tree_is_bounded_by_those_of_its_processes, 0,
	                    sizeof(peaks) / sizeof(peaks[0]));
	tcase_add_loop_test(
	    marks, figures_of_members_are_lower_bounds_if_one_is_missing_unless_bpf_counted_all, 0,
	    2);
	tcase_add_loop_test(marks, peak_of_the_tree_is_at_least_that_of_its_largest_process, 0, 4);
	tcase_add_loop_test(marks, peak_that_no_sample_saw_is_that_of_the_largest_process, 0,
	                    sizeof(unseen_cases) / sizeof(unseen_cases[0]));
	tcase_add_test(marks, parts_of_the_peak_are_those_of_the_largest_footprint);
	tcase_add_loop_test(marks, count_of_processes_is_a_lower_bound_if_another_child_came, 0, 2);
	tcase_add_loop_test(marks, io_of_the_cgroup_is_a_lower_bound_unless_it_is_whole, 0, 3);
	tcase_add_loop_test(
	    marks,
	    memory_of_the_cgroup_is_a_lower_bound_if_a_process_has_left_and_unknown_if_not_read, 0,
	    3);
	tcase_add_loop_test(marks, end_is_looked_at_again_until_the_supervisor_has_reaped_no_more,
	                    0, 3);
	tcase_add_loop_test(
	    marks, child_of_the_supervisor_that_no_sample_has_is_looked_for_and_left_running, 0, 4);
	tcase_add_loop_test(marks, cgroup_with_processes_that_no_sample_has_is_left_running, 0, 2);
	tcase_add_loop_test(marks, cpu_time_that_ended_threads_may_lack_is_a_lower_bound, 0, 2);
	tcase_add_loop_test(marks, cgroup_without_an_account_covers_nothing, 0, 2);
	return suite_run(suite);
}
