/* SPDX-License-Identifier: MIT */
/* What stands behind an obstacle, by its error and by the state of the tree. */
#include <errno.h>
#include <string.h>

#include "os/procfs.h"
#include "os/protocol/supervisor_protocol.h"
#include "suite.h"
#include "tree/state/state.h"
#include "tree/tree.h"

#define PID 100

/* What access(2) returns for stat of the process, and for a file of the caller itself; and what the
 * CPU clock of the process does. */
static int stat_access, own_access, clock_error;

static int fake_access(int dirfd, const char *path)
{
	(void)dirfd;
	if (strncmp(path, "self/", 5) == 0)
		return own_access;
	ck_assert_str_eq(path, "100/stat");
	return stat_access;
}

static int fake_clock(int32_t pid, struct rti_cpu_clock *out)
{
	(void)out;
	ck_assert_int_eq(pid, PID);
	return clock_error;
}

static const struct rti_procfs_ops ops = { .access = fake_access };
static struct rti_procfs procfs = { .ops = &ops, .fd = { 0, 0, 0 } };
static const struct rti_platform platform = { .cpu_clock = fake_clock };
static const struct rti_context ctx = { .procfs = &procfs, .platform = &platform };
static struct rti_tree tree;
static struct rt_metrics last;
static struct rti_shared_stats shared;

static void set_up(void)
{
	memset(&tree, 0, sizeof(tree));
	memset(&last, 0, sizeof(last));
	memset(&shared, 0, sizeof(shared));
	stat_access = own_access = clock_error = 0;
	tree.ctx = &ctx;
	tree.domains.counters = RT_HAS_CPU | RT_HAS_IO | RT_HAS_FAULTS | RT_HAS_CTXSW;
}

static struct rti_explanation explain(uint64_t has)
{
	struct rti_explanation out;

	rti_tree_explain(&tree, &last, has, &out);
	return out;
}

/* Note an error that this many members have met. */
static void note(uint64_t has, int error, int32_t pid, unsigned members)
{
	rti_status_note_at(&tree.obstacles.status, has, error, pid);
	for (unsigned i = 0; i < members; i++)
		rti_status_count(&tree.obstacles.status, has);
}

static const struct {
	uint64_t has;
	int error;
	int32_t pid;
	unsigned members;
	int stat_access, clock_error, own_access;
	enum rti_cause cause;
} errors[] = {
	{ RT_HAS_RSS, -EIO, PID, 1, 0, 0, 0, RTI_CAUSE_READ },
	{ RT_HAS_PSS, -EBUSY, PID, 1, 0, 0, 0, RTI_CAUSE_MEMORY_CHANGED },
	{ RT_HAS_IO, -EACCES, PID, 1, 0, 0, 0, RTI_CAUSE_READ },
	{ RT_HAS_IO, -EACCES, 0, 1, -EACCES, 0, 0, RTI_CAUSE_READ },
	{ RT_HAS_IO, -EACCES, PID, 1, -EACCES, 0, 0, RTI_CAUSE_HIDDEN },
	{ RT_HAS_IO, -EPERM, PID, 1, -EPERM, 0, 0, RTI_CAUSE_HIDDEN },
	{ RT_HAS_IO, -EACCES, PID, 1, -ENOENT, 0, 0, RTI_CAUSE_HIDDEN },
	{ RT_HAS_IO, -EACCES, PID, 1, -ENOENT, -ESRCH, 0, RTI_CAUSE_READ },
	{ RT_HAS_RSS, -ENOENT, PID, 1, 0, 0, 0, RTI_CAUSE_ENDED },
	{ RT_HAS_RSS, -ENOENT, PID, 0, 0, 0, 0, RTI_CAUSE_NO_FIGURE },
	{ RT_HAS_RSS, -ENOENT, PID, 1, 0, 0, -ENOENT, RTI_CAUSE_NO_FIGURE },
	{ RT_HAS_RSS, -EOPNOTSUPP, PID, 1, 0, 0, 0, RTI_CAUSE_KERNEL_THREAD },
	{ RT_HAS_RSS, -ESRCH, PID, 1, 0, 0, 0, RTI_CAUSE_ENDED },
	{ RT_HAS_CTXSW, -ENODATA, PID, 1, 0, 0, 0, RTI_CAUSE_THREAD_ENDED },
	{ RT_HAS_CTXSW, -ENODATA, PID, 0, 0, 0, 0, RTI_CAUSE_ENDED },
	{ RT_HAS_CTXSW, -EOPNOTSUPP, PID, 1, 0, 0, 0, RTI_CAUSE_NO_FIGURE },
	{ RT_HAS_IO_CALLS, -EOPNOTSUPP, PID, 1, 0, 0, 0, RTI_CAUSE_NO_FIGURE },
	{ RT_HAS_IO_CALLS, -ENOENT, PID, 1, 0, 0, 0, RTI_CAUSE_NO_FIGURE },
	{ RT_HAS_CTXSW, -ENOENT, PID, 1, 0, 0, 0, RTI_CAUSE_ENDED },
	{ RT_HAS_GPU, -EACCES, PID, 1, 0, 0, 0, RTI_CAUSE_READ },
	{ RT_HAS_GPU, -EPERM, PID, 1, -EPERM, 0, 0, RTI_CAUSE_HIDDEN },
	{ RT_HAS_GPU, -EMFILE, PID, 1, 0, 0, 0, RTI_CAUSE_READ },
	{ RT_HAS_GPU, -EIO, PID, 1, 0, 0, 0, RTI_CAUSE_GPU },
	{ RT_HAS_GPU, -EACCES, 0, 0, 0, 0, 0, RTI_CAUSE_GPU },
	{ RT_HAS_GPU_MEMORY, -EOPNOTSUPP, PID, 1, 0, 0, 0, RTI_CAUSE_GPU },
};

START_TEST(cause_of_an_error_is_what_the_kernel_says)
{
	struct rti_explanation out;

	note(errors[_i].has, errors[_i].error, errors[_i].pid, errors[_i].members);
	stat_access = errors[_i].stat_access;
	clock_error = errors[_i].clock_error;
	own_access = errors[_i].own_access;
	out = explain(errors[_i].has);
	ck_assert_int_eq(out.error, errors[_i].error);
	ck_assert_int_eq(out.pid, errors[_i].pid);
	ck_assert_int_eq(out.cause, errors[_i].cause);
}
END_TEST

/* --- Of what no read failed for. --- */

enum state {
	NOTHING,
	ACCOUNT_LOST,
	ACCOUNT_BEHIND,
	ACCOUNT_UNREAD,
	UNWAITED,
	IGNORED,
	IN_TICKS,
	READS_SERVED,
	SKIPPED,
	SKIPPED_HIDDEN,
	SKIPPED_BEFORE, /* by an earlier scan */
	EVENTS_INTACT,
	EVENTS_LOST,
	EVENTS_LOST_SHARED,
	EVENTS_UNHEARD,
	EVENTS_UNHEARD_SHARED,
	ESTIMATED,
	IS_VALID
};

static const struct {
	uint64_t has;
	enum state state;
	enum rti_cause cause;
	int error;
} states[] = {
	{ RT_HAS_CPU, IS_VALID, RTI_CAUSE_NONE, 0 },
	{ RT_HAS_RSS, NOTHING, RTI_CAUSE_NONE, -ENODATA },
	{ RT_HAS_CPU, ACCOUNT_LOST, RTI_CAUSE_ACCOUNT_LOST, -ENODATA },
	{ RT_HAS_CPU, ACCOUNT_BEHIND, RTI_CAUSE_ACCOUNT_BEHIND, -ENODATA },
	{ RT_HAS_CPU, ACCOUNT_UNREAD, RTI_CAUSE_ACCOUNT_UNREAD, -EMFILE },
	{ RT_HAS_RSS, ACCOUNT_BEHIND, RTI_CAUSE_NONE, -ENODATA },
	{ RT_HAS_CPU, UNWAITED, RTI_CAUSE_UNWAITED, -ENODATA },
	{ RT_HAS_IO, IGNORED, RTI_CAUSE_SIGCHLD, -ENODATA },
	{ RT_HAS_IO, READS_SERVED, RTI_CAUSE_READS_SERVED, -ENODATA },
	{ RT_HAS_FAULTS, READS_SERVED, RTI_CAUSE_NONE, -ENODATA },
	{ RT_HAS_RSS, IGNORED, RTI_CAUSE_NONE, -ENODATA },
	{ RT_HAS_CPU, IN_TICKS, RTI_CAUSE_TICKS, -ENODATA },
	{ RT_HAS_FAULTS, IN_TICKS, RTI_CAUSE_NONE, -ENODATA },
	{ RT_HAS_PROCESSES_SEEN, UNWAITED, RTI_CAUSE_EVENTS_OFF, -ENODATA },
	{ RT_HAS_RSS, SKIPPED, RTI_CAUSE_SKIPPED, -EMFILE },
	{ RT_HAS_RSS, SKIPPED_HIDDEN, RTI_CAUSE_HIDDEN, -EACCES },
	{ RT_HAS_RSS, SKIPPED_BEFORE, RTI_CAUSE_NONE, -ENODATA },
	{ RT_HAS_CPU, SKIPPED_BEFORE, RTI_CAUSE_SKIPPED, -EMFILE },
	{ RT_HAS_CTXSW, NOTHING, RTI_CAUSE_UNREPORTED, -ENODATA },
	{ RT_HAS_PEAK_RSS, NOTHING, RTI_CAUSE_UNREPORTED, -ENODATA },
	{ RT_HAS_PROCESSES_SEEN, EVENTS_INTACT, RTI_CAUSE_EVENTS_LATE, -ENODATA },
	{ RT_HAS_PROCESSES_SEEN, EVENTS_LOST, RTI_CAUSE_EVENTS_LOST, -ENOBUFS },
	{ RT_HAS_PROCESSES_SEEN, EVENTS_LOST_SHARED, RTI_CAUSE_EVENTS_LOST, -ENOBUFS },
	{ RT_HAS_PROCESSES_SEEN, EVENTS_UNHEARD, RTI_CAUSE_EVENTS_UNHEARD, -EPERM },
	{ RT_HAS_PROCESSES_SEEN, EVENTS_UNHEARD_SHARED, RTI_CAUSE_EVENTS_UNHEARD, -EPERM },
	{ RT_HAS_PROCESSES_SEEN, NOTHING, RTI_CAUSE_EVENTS_OFF, -ENODATA },
	{ RT_HAS_GPU, NOTHING, RTI_CAUSE_GPU_CLOSED, -ENODATA },
	{ RT_HAS_GPU, ESTIMATED, RTI_CAUSE_GPU, -ENODATA },
	{ RT_HAS_GPU_MEMORY, NOTHING, RTI_CAUSE_GPU_SHARED, -ENODATA },
	{ RT_HAS_PSS, ESTIMATED, RTI_CAUSE_PSS_UNWANTED, -ENODATA },
	{ RT_HAS_FOOTPRINT, ESTIMATED, RTI_CAUSE_PAGES_SHARED, -ENODATA },
	{ RT_HAS_NEEDED, ESTIMATED, RTI_CAUSE_PAGES_SHARED, -ENODATA },
	{ RT_HAS_PEAK_FOOTPRINT, ESTIMATED, RTI_CAUSE_PAGES_SHARED, -ENODATA },
	{ RT_HAS_PEAK_FOOTPRINT, NOTHING, RTI_CAUSE_BETWEEN_SAMPLES, -ENODATA },
	{ RT_HAS_PEAK_NEEDED, ESTIMATED, RTI_CAUSE_PAGES_SHARED, -ENODATA },
	{ RT_HAS_PEAK_NEEDED, NOTHING, RTI_CAUSE_BETWEEN_SAMPLES, -ENODATA },
};

static void set_skipped(int error, bool is_new)
{
	tree.obstacles.skip_error = error;
	tree.obstacles.skip_pid = PID;
	tree.obstacles.has_skipped = is_new;
}

static void set_events(uint32_t events)
{
	shared.events = events;
	tree.supervised.shared = &shared;
	tree.discovery.events_error = -EPERM;
}

static void set_state(enum state state, uint64_t has)
{
	switch (state) {
	case NOTHING:
		break;
	case ACCOUNT_LOST:
	case ACCOUNT_BEHIND:
	case ACCOUNT_UNREAD:
		tree.kernel_account.has_counted = true;
		tree.kernel_account.has_lost = state == ACCOUNT_LOST;
		tree.kernel_account.error = state == ACCOUNT_UNREAD ? -EMFILE : 0;
		break;
	case UNWAITED:
		last.reasons = RT_REASON_UNWAITED;
		break;
	case IGNORED:
		last.reasons = RT_REASON_SIGCHLD_IGNORED;
		break;
	case IN_TICKS:
		last.reasons = RT_REASON_CLOCK_TICKS;
		break;
	case READS_SERVED:
		tree.served_reads.is_seen = true;
		break;
	case SKIPPED:
	case SKIPPED_BEFORE:
		set_skipped(-EMFILE, state == SKIPPED);
		break;
	case SKIPPED_HIDDEN:
		set_skipped(-EACCES, true);
		break;
	case EVENTS_INTACT:
		set_events(RTI_EVENTS_INTACT);
		break;
	case EVENTS_LOST_SHARED:
		set_events(RTI_EVENTS_LOST);
		break;
	case EVENTS_LOST:
		last.reasons = RT_REASON_EVENTS_LOST;
		break;
	case EVENTS_UNHEARD:
		last.reasons = RT_REASON_EVENTS_UNHEARD;
		tree.discovery.events_error = -EPERM;
		break;
	case EVENTS_UNHEARD_SHARED:
		set_events(RTI_EVENTS_UNAVAILABLE);
		break;
	case ESTIMATED:
		last.estimated = has;
		break;
	case IS_VALID:
		last.valid = has;
		break;
	}
}

START_TEST(cause_without_an_error_is_the_state_of_the_tree)
{
	struct rti_explanation out;

	set_state(states[_i].state, states[_i].has);
	out = explain(states[_i].has);
	ck_assert_int_eq(out.cause, states[_i].cause);
	ck_assert_int_eq(out.error, states[_i].error);
}
END_TEST

/* --- The peak of the tree depends on other figures. --- */

START_TEST(peak_of_the_tree_has_the_cause_of_what_it_lacks)
{
	note(RT_HAS_RSS, -EMFILE, PID, 1);
	ck_assert_int_eq(explain(RT_HAS_PEAK_FOOTPRINT).error, -EMFILE);
	last.estimated = RT_HAS_PEAK_FOOTPRINT;
	ck_assert_int_eq(explain(RT_HAS_PEAK_FOOTPRINT).error, -ENODATA);
	note(RT_HAS_FOOTPRINT, -EBUSY, PID, 1);
	ck_assert_int_eq(explain(RT_HAS_PEAK_FOOTPRINT).cause, RTI_CAUSE_MEMORY_CHANGED);
	last.estimated = RT_HAS_PEAK_NEEDED;
	ck_assert_int_eq(explain(RT_HAS_PEAK_NEEDED).cause, RTI_CAUSE_PAGES_SHARED);
	note(RT_HAS_NEEDED, -EBUSY, PID, 1);
	ck_assert_int_eq(explain(RT_HAS_PEAK_NEEDED).cause, RTI_CAUSE_MEMORY_CHANGED);
	last.estimated = 0;
	last.partial = RT_HAS_PEAK_FOOTPRINT;
	ck_assert_int_eq(explain(RT_HAS_PEAK_FOOTPRINT).cause, RTI_CAUSE_BETWEEN_SAMPLES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("explain");
	TCase *tests = suite_case(suite, "causes");

	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_loop_test(tests, cause_of_an_error_is_what_the_kernel_says, 0,
	                    sizeof(errors) / sizeof(errors[0]));
	tcase_add_loop_test(tests, cause_without_an_error_is_the_state_of_the_tree, 0,
	                    sizeof(states) / sizeof(states[0]));
	tcase_add_test(tests, peak_of_the_tree_has_the_cause_of_what_it_lacks);
	return suite_run(suite);
}
