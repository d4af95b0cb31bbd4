/* SPDX-License-Identifier: MIT */
/* What the exits of hand-made trees prove. */
#include "supervisor/wait_proof.h"

#include "os/platform.h"
#include "suite.h"
#include "util/descendant_set.h"

#define MS UINT64_C(1000000)
#define UNKNOWN UINT64_MAX
#define ROOT 100
#define PROGRAM 101
#define CHILD 102
#define STRANGER 999
#define CPUS 4

static struct {
	struct rti_shared_stats shared;
	struct rti_platform platform;
	uint64_t start_ns;
} fix;

static void begin(void)
{
	rti_platform_init(&fix.platform, false);
	rts_wait_proof_begin(&fix.shared, ROOT, CPUS);
	fix.start_ns = fix.platform.monotonic_ns();
}

static struct rti_process_event event_at(uint64_t ms, int32_t pid, int32_t ppid)
{
	return (struct rti_process_event){
		.pid = pid, .tid = pid, .ppid = ppid, .monotonic_ns = fix.start_ns + ms * MS
	};
}

static void fork_at(uint64_t ms, int32_t parent, int32_t child)
{
	struct rti_process_event event = event_at(ms, child, parent);

	rts_wait_proof_fork(&event);
}

static void exit_at(uint64_t ms, int32_t pid, int32_t reported_parent)
{
	struct rti_process_event event = event_at(ms, pid, reported_parent);

	rts_wait_proof_exit(&event, reported_parent != 0 && reported_parent != STRANGER);
}

static void start_thread_of(int32_t pid, bool is_alive)
{
	struct rti_process_event event = event_at(0, pid, PROGRAM);

	rts_wait_proof_thread(&event, is_alive);
}

/* Start times are rounded down to 0.1 ms. */
static void assert_unproven_ms(uint64_t ms)
{
	rts_wait_proof_publish(true);
	ck_assert_uint_ge(fix.shared.unproven_ns, ms * MS);
	ck_assert_uint_le(fix.shared.unproven_ns, ms * MS + MS);
}

static void assert_proven(void)
{
	rts_wait_proof_publish(true);
	ck_assert_uint_eq(fix.shared.unproven_ns, 0);
	ck_assert_uint_eq(fix.shared.unwaited_ns, 0);
}

START_TEST(nothing_is_known_before_it_is_published)
{
	begin();
	ck_assert_uint_eq(fix.shared.unproven_ns, UNKNOWN);
	ck_assert_uint_eq(fix.shared.unwaited_ns, UNKNOWN);
	ck_assert_uint_eq(fix.shared.threads, UNKNOWN);
}
END_TEST

START_TEST(exits_with_a_parent_are_proven)
{
	begin();
	fork_at(0, ROOT, PROGRAM);
	fork_at(1, PROGRAM, CHILD);
	exit_at(500, CHILD, PROGRAM);
	exit_at(600, PROGRAM, ROOT);
	assert_proven();
	ck_assert_uint_eq(fix.shared.threads, 0);
}
END_TEST

START_TEST(exit_without_a_parent_counts_for_its_lifetime)
{
	begin();
	fork_at(0, ROOT, PROGRAM);
	fork_at(10, PROGRAM, CHILD);
	exit_at(30, CHILD, 0);
	exit_at(40, PROGRAM, ROOT);
	assert_unproven_ms(20);
	ck_assert_uint_eq(fix.shared.unwaited_ns, fix.shared.unproven_ns);
}
END_TEST

/* Events of two CPUs may come in the wrong order. */
START_TEST(exit_before_its_fork_took_no_time)
{
	begin();
	fork_at(0, ROOT, PROGRAM);
	fork_at(10, PROGRAM, CHILD);
	exit_at(9, CHILD, 0);
	assert_proven();
}
END_TEST

START_TEST(exit_to_a_parent_outside_the_tree_counts)
{
	begin();
	fork_at(0, ROOT, PROGRAM);
	fork_at(10, PROGRAM, CHILD);
	exit_at(30, CHILD, STRANGER);
	assert_unproven_ms(20);
}
END_TEST

/* Its own children may have run on all CPUs. */
START_TEST(exit_of_a_parent_counts_for_all_cpus)
{
	begin();
	fork_at(0, ROOT, PROGRAM);
	fork_at(10, PROGRAM, CHILD);
	fork_at(11, CHILD, CHILD + 1);
	exit_at(20, CHILD + 1, CHILD);
	exit_at(30, CHILD, 0);
	rts_wait_proof_publish(true);
	ck_assert_uint_ge(fix.shared.unproven_ns, 20 * MS * CPUS);
}
END_TEST

START_TEST(process_with_threads_is_unproven_but_not_unwaited)
{
	begin();
	fork_at(0, ROOT, PROGRAM);
	fork_at(10, PROGRAM, CHILD);
	start_thread_of(CHILD, true);
	exit_at(30, CHILD, PROGRAM);
	rts_wait_proof_publish(true);
	ck_assert_uint_ge(fix.shared.unproven_ns, 20 * MS);
	ck_assert_uint_eq(fix.shared.unwaited_ns, 0);
	ck_assert_uint_eq(fix.shared.threads, 1);
}
END_TEST

START_TEST(thread_that_is_handled_after_the_exit_counts)
{
	begin();
	fork_at(0, ROOT, PROGRAM);
	fork_at(0, PROGRAM, CHILD);
	exit_at(0, CHILD, PROGRAM);
	assert_proven();
	while (fix.platform.monotonic_ns() < fix.start_ns + MS)
		;
	start_thread_of(CHILD, false);
	rts_wait_proof_publish(true);
	ck_assert_uint_gt(fix.shared.unproven_ns, 0);
}
END_TEST

START_TEST(program_with_threads_is_proven_since_the_supervisor_waits)
{
	begin();
	fork_at(0, ROOT, PROGRAM);
	start_thread_of(PROGRAM, true);
	exit_at(30, PROGRAM, ROOT);
	start_thread_of(PROGRAM, false);
	assert_proven();
	ck_assert_uint_eq(fix.shared.threads, 2);
}
END_TEST

START_TEST(reused_pid_has_no_threads_of_its_predecessor)
{
	begin();
	fork_at(0, ROOT, PROGRAM);
	fork_at(0, PROGRAM, CHILD);
	start_thread_of(CHILD, true);
	exit_at(0, CHILD, ROOT);
	fork_at(10, PROGRAM, CHILD);
	exit_at(20, CHILD, PROGRAM);
	assert_proven();
}
END_TEST

START_TEST(after_a_loss_or_without_all_exits_nothing_is_known)
{
	begin();
	fork_at(0, ROOT, PROGRAM);
	exit_at(30, PROGRAM, ROOT);
	rts_wait_proof_publish(false);
	ck_assert_uint_eq(fix.shared.unproven_ns, UNKNOWN);
	assert_proven();
	rts_wait_proof_give_up();
	rts_wait_proof_publish(true);
	ck_assert_uint_eq(fix.shared.unproven_ns, UNKNOWN);
	ck_assert_uint_eq(fix.shared.threads, UNKNOWN);
}
END_TEST

/* A fork with such a pid, of the parent or of the child, cannot be followed. */
START_TEST(fork_with_a_pid_out_of_range_proves_nothing)
{
	static const int32_t pids[][2] = {
		{ ROOT, RTI_PIDS_MAX }, { ROOT, 0 }, { RTI_PIDS_MAX, PROGRAM }, { -1, PROGRAM }
	};

	begin();
	fork_at(0, pids[_i][0], pids[_i][1]);
	rts_wait_proof_publish(true);
	ck_assert_uint_eq(fix.shared.unproven_ns, UNKNOWN);
}
END_TEST

START_TEST(thread_or_exit_with_a_pid_out_of_range_adds_no_time)
{
	static const int32_t pids[] = { 0, -1, RTI_PIDS_MAX };
	struct rti_process_event event;

	begin();
	event = event_at(30, pids[_i], 0);
	ck_assert(!rts_wait_proof_exit(&event, true));
	rts_wait_proof_thread(&event, false);
	assert_proven();
	ck_assert_uint_eq(fix.shared.threads, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wait_proof");
	TCase *tests = suite_case(suite, "wait_proof");

	tcase_add_test(tests, nothing_is_known_before_it_is_published);
	tcase_add_test(tests, exits_with_a_parent_are_proven);
	tcase_add_test(tests, exit_without_a_parent_counts_for_its_lifetime);
	tcase_add_test(tests, exit_before_its_fork_took_no_time);
	tcase_add_test(tests, exit_to_a_parent_outside_the_tree_counts);
	tcase_add_test(tests, exit_of_a_parent_counts_for_all_cpus);
	tcase_add_test(tests, process_with_threads_is_unproven_but_not_unwaited);
	tcase_add_test(tests, thread_that_is_handled_after_the_exit_counts);
	tcase_add_test(tests, program_with_threads_is_proven_since_the_supervisor_waits);
	tcase_add_test(tests, reused_pid_has_no_threads_of_its_predecessor);
	tcase_add_test(tests, after_a_loss_or_without_all_exits_nothing_is_known);
	tcase_add_loop_test(tests, fork_with_a_pid_out_of_range_proves_nothing, 0, 4);
	tcase_add_loop_test(tests, thread_or_exit_with_a_pid_out_of_range_adds_no_time, 0, 3);
	return suite_run(suite);
}
