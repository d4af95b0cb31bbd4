/* SPDX-License-Identifier: MIT */
/* The descendant set: hand-made cases, and random histories with a known outcome. */
#include <stdlib.h>

#include "suite.h"
#include "util/descendant_set.h"

#define ROOT 100
#define UNRELATED 999

static struct rti_descendant_set *descendants;

static void set_up(void)
{
	descendants = calloc(1, sizeof(*descendants));
	ck_assert_ptr_nonnull(descendants);
	rti_descendant_set_add(descendants, ROOT);
}

static void tear_down(void)
{
	free(descendants);
}

static void expect_counts(uint64_t count, uint64_t alive, uint64_t alive_peak)
{
	ck_assert_uint_eq(descendants->count, count);
	ck_assert_uint_eq(descendants->alive, alive);
	ck_assert_uint_eq(descendants->alive_peak, alive_peak);
}

START_TEST(descendants_with_short_lifetimes_are_all_counted)
{
	expect_counts(1, 1, 1);
	ck_assert(rti_descendant_set_fork(descendants, ROOT, 101));
	ck_assert(rti_descendant_set_fork(descendants, 101, 102));
	expect_counts(3, 3, 3);

	rti_descendant_set_exit(descendants, 101);
	ck_assert(!rti_descendant_set_is_alive(descendants, 101));
	ck_assert(rti_descendant_set_has(descendants, 101));
	ck_assert(rti_descendant_set_fork(descendants, 102, 103)); /* a child of an orphan */

	rti_descendant_set_exit(descendants, 102);
	rti_descendant_set_exit(descendants, 103);
	expect_counts(4, 1, 3);
}
END_TEST

START_TEST(fork_by_unrelated_process_is_not_counted)
{
	ck_assert(!rti_descendant_set_fork(descendants, UNRELATED, 101));
	ck_assert(!rti_descendant_set_fork(descendants, 101, 102));

	rti_descendant_set_exec(descendants, 101);
	rti_descendant_set_exit(descendants, 101);
	ck_assert(!rti_descendant_set_has(descendants, 101));
	ck_assert(!rti_descendant_set_is_alive(descendants, 101));
	expect_counts(1, 1, 1);
}
END_TEST

START_TEST(pid_reused_by_unrelated_process_leaves_the_set)
{
	rti_descendant_set_fork(descendants, ROOT, 101);
	rti_descendant_set_exit(descendants, 101);
	ck_assert(!rti_descendant_set_fork(descendants, UNRELATED, 101));
	ck_assert(!rti_descendant_set_has(descendants, 101));
	ck_assert(!rti_descendant_set_fork(descendants, 101, 102));

	rti_descendant_set_exec(descendants, 101);
	expect_counts(2, 1, 2);

	rti_descendant_set_exit(descendants, 101);
	ck_assert(rti_descendant_set_fork(descendants, ROOT, 101)); /* in the tree again */
	expect_counts(3, 2, 2);
}
END_TEST

START_TEST(fork_by_unrelated_process_ends_previous_process_with_that_pid)
{
	rti_descendant_set_fork(descendants, ROOT, 101);
	rti_descendant_set_fork(descendants, UNRELATED, 101);
	expect_counts(2, 1, 2);
	rti_descendant_set_exit(descendants, 101); /* this ends the unrelated process */
	expect_counts(2, 1, 2);
}
END_TEST

START_TEST(pid_reused_within_the_tree_is_counted_again)
{
	for (int i = 0; i < 10; i++) {
		ck_assert(rti_descendant_set_fork(descendants, ROOT, 101));
		rti_descendant_set_exit(descendants, 101);
	}
	expect_counts(11, 1, 2);
}
END_TEST

START_TEST(fork_after_leader_exit_is_counted)
{
	rti_descendant_set_fork(descendants, ROOT, 101);
	rti_descendant_set_exit(descendants, 101);
	ck_assert(rti_descendant_set_fork(descendants, 101, 102));
	expect_counts(3, 2, 2);
}
END_TEST

/* The leader exits. Another thread calls exec and takes over the pid. Then the process exits. */
START_TEST(exec_by_non_leader_thread_keeps_the_process)
{
	rti_descendant_set_fork(descendants, ROOT, 101);
	rti_descendant_set_exit(descendants, 101);
	rti_descendant_set_exec(descendants, 101);
	ck_assert(rti_descendant_set_is_alive(descendants, 101));
	expect_counts(2, 2, 2);

	rti_descendant_set_exit(descendants, 101);
	rti_descendant_set_exit(descendants, 101);
	expect_counts(2, 1, 2);
}
END_TEST

START_TEST(process_added_before_its_fork_event_is_counted_once)
{
	rti_descendant_set_add(descendants, 101);
	rti_descendant_set_add(descendants, 101);
	expect_counts(2, 2, 2);
	ck_assert(rti_descendant_set_fork(descendants, ROOT, 101));
	expect_counts(2, 2, 2);

	rti_descendant_set_exit(descendants, 101);
	ck_assert(rti_descendant_set_fork(descendants, ROOT, 101));
	expect_counts(3, 2, 2);
}
END_TEST

START_TEST(pid_out_of_range_is_ignored)
{
	static const int32_t odd[] = {
		0, -1, INT32_MIN, RTI_PIDS_MAX, RTI_PIDS_MAX + 1, INT32_MAX
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		rti_descendant_set_add(descendants, odd[i]);
		rti_descendant_set_exec(descendants, odd[i]);
		rti_descendant_set_exit(descendants, odd[i]);
		ck_assert(!rti_descendant_set_fork(descendants, odd[i], 101));
		ck_assert(!rti_descendant_set_has(descendants, odd[i]));
		ck_assert(!rti_descendant_set_is_alive(descendants, odd[i]));
	}
	expect_counts(1, 1, 1);
	ck_assert(rti_descendant_set_fork(descendants, ROOT, RTI_PIDS_MAX - 1));
	ck_assert(rti_descendant_set_fork(descendants, ROOT, 1));
	expect_counts(3, 3, 3);

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		ck_assert(!rti_descendant_set_fork(descendants, ROOT, odd[i]));
		ck_assert(!rti_descendant_set_has(descendants, odd[i]));
	}
	ck_assert_uint_eq(descendants->alive, 3);
}
END_TEST

#define HISTORIES 20000
#define STEPS 80
#define PROCESSES_MAX 24 /* at a time */
#define QUEUE 16

/* The true state. The set receives the events later, in order. */
struct process {
	int32_t pid; /* 0: a free slot */
	bool is_member, has_leader, is_fork_delivered;
};

struct event {
	enum { FORK, EXEC, EXIT } kind;
	int32_t pid, parent;
};

static const int32_t numbers[] = { 1,      2,       3,       62,      63,
	                           64,     65,      127,     128,     4095,
	                           32767,  32768,   65535,   65536,   131071,
	                           262143, 1000000, 2097151, 4194302, RTI_PIDS_MAX - 1 };
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

struct world {
	struct process p[PROCESSES_MAX]; /* [0] is the root, [1] is unrelated */
	struct event queue[QUEUE];
	size_t head, count;
	uint64_t members, alive; /* members so far, and alive */
	uint64_t alive_peak;     /* most members alive according to the delivered events */
	unsigned seed, seed_of_all;
};

static unsigned pick_random(struct world *w, unsigned below)
{
	w->seed = w->seed * 1103515245u + 12345u;
	return (w->seed >> 8) % below;
}

static struct process *find_process(struct world *w, int32_t pid)
{
	for (int i = 0; i < PROCESSES_MAX; i++) {
		if (w->p[i].pid == pid)
			return &w->p[i];
	}
	return NULL;
}

static void note_peak(struct world *w)
{
	if (descendants->alive > w->alive_peak)
		w->alive_peak = descendants->alive;
}

static void deliver_event(struct world *w)
{
	struct event e = w->queue[w->head];
	struct process *p = find_process(w, e.pid);

	w->head = (w->head + 1) % QUEUE;
	w->count--;
	if (e.kind == FORK)
		rti_descendant_set_fork(descendants, e.parent, e.pid);
	else if (e.kind == EXEC)
		rti_descendant_set_exec(descendants, e.pid);
	else
		rti_descendant_set_exit(descendants, e.pid);
	note_peak(w);
	if (p && e.kind == FORK)
		p->is_fork_delivered = true;
}

static void queue_event(struct world *w, struct event e)
{
	if (w->count == QUEUE)
		deliver_event(w);
	w->queue[(w->head + w->count++) % QUEUE] = e;
}

static void fork_process(struct world *w, const struct process *parent)
{
	int32_t pid = numbers[pick_random(w, NUMBERS)];
	struct process *place = find_process(w, 0);

	if (!place || find_process(w, pid))
		return;
	*place = (struct process){ .pid = pid, .is_member = parent->is_member, .has_leader = true };
	w->members += (uint64_t)parent->is_member;
	w->alive += (uint64_t)parent->is_member;
	queue_event(w, (struct event){ FORK, pid, parent->pid });
}

static void exit_leader(struct world *w, struct process *p)
{
	if (!p->has_leader)
		return;
	p->has_leader = false;
	w->alive -= (uint64_t)p->is_member;
	queue_event(w, (struct event){ EXIT, p->pid, 0 });
}

/* Exec by the leader or by another thread. The leader may have exited before, or the exec ends
 * it. */
static void exec_process(struct world *w, struct process *p)
{
	if (pick_random(w, 2))
		exit_leader(w, p);
	w->alive += (uint64_t)(p->is_member && !p->has_leader);
	p->has_leader = true;
	queue_event(w, (struct event){ EXEC, p->pid, 0 });
}

/* A scan finds a process that the set does not have: its pid is new, or was that of an unrelated
 * process. */
static void add_by_scan(struct world *w, const struct process *p)
{
	if (!p->is_member || !p->has_leader || p->is_fork_delivered ||
	    rti_descendant_set_has(descendants, p->pid))
		return;
	/* Not while an event of a previous process with that pid is queued. */
	for (size_t i = 0; i < w->count; i++) {
		const struct event *e = &w->queue[(w->head + i) % QUEUE];

		if (e->pid == p->pid && (e->kind != FORK || !find_process(w, e->parent) ||
		                         !find_process(w, e->parent)->is_member))
			return;
	}
	rti_descendant_set_add(descendants, p->pid);
	note_peak(w);
}

static void do_random_step(struct world *w)
{
	struct process *p = &w->p[pick_random(w, PROCESSES_MAX)];

	if (!p->pid || pick_random(w, 4) == 0) {
		if (w->count)
			deliver_event(w);
		return;
	}
	switch (pick_random(w, 8)) {
	case 0:
		exec_process(w, p);
		break;
	case 1:
		exit_leader(w, p); /* its other threads keep running */
		break;
	case 2:
	case 3:
		if (p - w->p < 2)
			break;
		exit_leader(w, p);
		p->pid = 0;
		break;
	case 4:
		add_by_scan(w, p);
		break;
	default:
		fork_process(w, p);
	}
}

/* Clears only the pids in use, since the whole set takes a megabyte. */
static void clear_set(void)
{
	descendants->count = descendants->alive = descendants->alive_peak = 0;
	descendants->is_member[ROOT / 64] = descendants->is_alive[ROOT / 64] = 0;
	for (int i = 0; i < NUMBERS; i++)
		descendants->is_member[numbers[i] / 64] = descendants->is_alive[numbers[i] / 64] =
		    0;
}

/* Returns the outcome instead of asserting it: one assertion costs more than a whole comparison. */
static bool matches_truth(struct world *w)
{
	uint64_t alive = (uint64_t)rti_descendant_set_is_alive(descendants, ROOT);

	for (int i = 0; i < PROCESSES_MAX; i++) {
		const struct process *p = &w->p[i];

		if (p->pid && (rti_descendant_set_has(descendants, p->pid) != p->is_member ||
		               rti_descendant_set_is_alive(descendants, p->pid) !=
		                   (p->is_member && p->has_leader)))
			return false;
	}
	for (int i = 0; i < NUMBERS; i++)
		alive += (uint64_t)rti_descendant_set_is_alive(descendants, numbers[i]);
	return alive == w->alive && descendants->alive == alive &&
	       descendants->count == w->members && descendants->alive_peak == w->alive_peak;
}

static void run_history(struct world *w)
{
	bool has_matched = true;

	for (int i = 0; i < STEPS; i++) {
		do_random_step(w);
		if (w->count == 0)
			has_matched &= matches_truth(w);
	}
	while (w->count)
		deliver_event(w);
	ck_assert_msg(has_matched && matches_truth(w), "history %u", w->seed_of_all);
}

START_TEST(random_history_after_its_last_event_has_true_counts)
{
	for (unsigned seed = 1; seed <= HISTORIES; seed++) {
		struct world w = {
			.members = 1, .alive = 1, .alive_peak = 1, .seed = seed, .seed_of_all = seed
		};

		w.p[0] = (struct process){ .pid = ROOT,
			                   .is_member = true,
			                   .has_leader = true,
			                   .is_fork_delivered = true };
		w.p[1] = (struct process){ .pid = UNRELATED,
			                   .has_leader = true,
			                   .is_fork_delivered = true };
		clear_set();
		rti_descendant_set_add(descendants, ROOT);
		run_history(&w);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("descendant_set");
	TCase *cases = suite_case(suite, "cases"), *histories = suite_case(suite, "histories");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_checked_fixture(histories, set_up, tear_down);
	tcase_add_test(cases, descendants_with_short_lifetimes_are_all_counted);
	tcase_add_test(cases, fork_by_unrelated_process_is_not_counted);
	tcase_add_test(cases, pid_reused_by_unrelated_process_leaves_the_set);
	tcase_add_test(cases, fork_by_unrelated_process_ends_previous_process_with_that_pid);
	tcase_add_test(cases, pid_reused_within_the_tree_is_counted_again);
	tcase_add_test(cases, fork_after_leader_exit_is_counted);
	tcase_add_test(cases, exec_by_non_leader_thread_keeps_the_process);
	tcase_add_test(cases, process_added_before_its_fork_event_is_counted_once);
	tcase_add_test(cases, pid_out_of_range_is_ignored);
	tcase_add_test(histories, random_history_after_its_last_event_has_true_counts);
	return suite_run(suite);
}
