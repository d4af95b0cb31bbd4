/* SPDX-License-Identifier: MIT */
/* The census, on hand-made cases and against random histories of which the truth is known. */
#include <stdlib.h>

#include "suite.h"
#include "util/descendant_set.h"

#define ROOT 100
#define STRANGER 999

static struct rti_descendant_set *descendants;

static void begin(void)
{
	descendants = calloc(1, sizeof(*descendants));
	ck_assert_ptr_nonnull(descendants);
	rti_descendant_set_add(descendants, ROOT);
}

static void end(void)
{
	free(descendants);
}

static void expect(uint64_t count, uint64_t alive, uint64_t alive_peak)
{
	ck_assert_uint_eq(descendants->count, count);
	ck_assert_uint_eq(descendants->alive, alive);
	ck_assert_uint_eq(descendants->alive_peak, alive_peak);
}

START_TEST(children_and_theirs_are_counted_however_short_their_lives)
{
	expect(1, 1, 1);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, ROOT, 101), 1);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, 101, 102), 1);
	expect(3, 3, 3);
	rti_descendant_set_exit(descendants, 101);
	ck_assert_int_eq(rti_descendant_set_is_alive(descendants, 101), 0);
	ck_assert_int_eq(rti_descendant_set_has(descendants, 101), 1);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, 102, 103), 1); /* an orphan's child */
	rti_descendant_set_exit(descendants, 102);
	rti_descendant_set_exit(descendants, 103);
	expect(4, 1, 3);
}
END_TEST

START_TEST(strangers_are_not)
{
	ck_assert_int_eq(rti_descendant_set_fork(descendants, STRANGER, 101), 0);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, 101, 102), 0);
	rti_descendant_set_exec(descendants, 101);
	rti_descendant_set_exit(descendants, 101);
	ck_assert_int_eq(rti_descendant_set_has(descendants, 101), 0);
	ck_assert_int_eq(rti_descendant_set_is_alive(descendants, 101), 0);
	expect(1, 1, 1);
}
END_TEST

START_TEST(a_number_given_to_a_stranger_is_his)
{
	rti_descendant_set_fork(descendants, ROOT, 101);
	rti_descendant_set_exit(descendants, 101);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, STRANGER, 101), 0);
	ck_assert_int_eq(rti_descendant_set_has(descendants, 101), 0);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, 101, 102), 0);
	rti_descendant_set_exec(descendants, 101);
	expect(2, 1, 2);
	rti_descendant_set_exit(descendants, 101);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, ROOT, 101), 1); /* and ours again */
	expect(3, 2, 2);
}
END_TEST

START_TEST(a_stranger_s_fork_ends_whoever_had_the_number)
{
	rti_descendant_set_fork(descendants, ROOT, 101);
	rti_descendant_set_fork(descendants, STRANGER, 101);
	expect(2, 1, 2);
	rti_descendant_set_exit(descendants, 101); /* the stranger's own */
	expect(2, 1, 2);
}
END_TEST

START_TEST(a_number_given_away_within_the_tree_counts_again)
{
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(rti_descendant_set_fork(descendants, ROOT, 101), 1);
		rti_descendant_set_exit(descendants, 101);
	}
	expect(11, 1, 2);
}
END_TEST

START_TEST(threads_that_outlive_the_first_fork_on)
{
	rti_descendant_set_fork(descendants, ROOT, 101);
	rti_descendant_set_exit(descendants, 101);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, 101, 102), 1);
	expect(3, 2, 2);
}
END_TEST

/* The first thread ends, then the process goes on under its number, then it ends. */
START_TEST(an_exec_by_another_thread_is_the_same_process)
{
	rti_descendant_set_fork(descendants, ROOT, 101);
	rti_descendant_set_exit(descendants, 101);
	rti_descendant_set_exec(descendants, 101);
	ck_assert_int_eq(rti_descendant_set_is_alive(descendants, 101), 1);
	expect(2, 2, 2);
	rti_descendant_set_exit(descendants, 101);
	rti_descendant_set_exit(descendants, 101);
	expect(2, 1, 2);
}
END_TEST

START_TEST(who_joins_before_his_fork_is_told_counts_once)
{
	rti_descendant_set_add(descendants, 101);
	rti_descendant_set_add(descendants, 101);
	expect(2, 2, 2);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, ROOT, 101), 1);
	expect(2, 2, 2);
	rti_descendant_set_exit(descendants, 101);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, ROOT, 101), 1);
	expect(3, 2, 2);
}
END_TEST

START_TEST(numbers_that_no_process_can_have_are_nobody)
{
	static const int32_t odd[] = {
		0, -1, INT32_MIN, RTI_PIDS_MAX, RTI_PIDS_MAX + 1, INT32_MAX
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		rti_descendant_set_add(descendants, odd[i]);
		rti_descendant_set_exec(descendants, odd[i]);
		rti_descendant_set_exit(descendants, odd[i]);
		ck_assert_int_eq(rti_descendant_set_fork(descendants, odd[i], 101), 0);
		ck_assert_int_eq(rti_descendant_set_has(descendants, odd[i]), 0);
		ck_assert_int_eq(rti_descendant_set_is_alive(descendants, odd[i]), 0);
	}
	expect(1, 1, 1);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, ROOT, RTI_PIDS_MAX - 1), 1);
	ck_assert_int_eq(rti_descendant_set_fork(descendants, ROOT, 1), 1);
	expect(3, 3, 3);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		rti_descendant_set_fork(descendants, ROOT, odd[i]);
		ck_assert_int_eq(rti_descendant_set_has(descendants, odd[i]), 0);
	}
	ck_assert_uint_eq(descendants->alive, 3);
}
END_TEST

#define HISTORIES 20000
#define STEPS 80
#define MOST 24 /* processes at a time */
#define QUEUE 16

/* The world as it is; the census hears of it later, in order. */
struct process {
	int32_t pid; /* 0: the place is free */
	int is_member, has_leader, is_told;
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
	struct process p[MOST]; /* the first is the root, the second a stranger */
	struct event queue[QUEUE];
	size_t head, count;
	uint64_t members, alive; /* that ever were; that are */
	uint64_t most_told;      /* alive at a time, as far as was told */
	unsigned seed, seed_of_all;
};

static unsigned pick(struct world *w, unsigned below)
{
	w->seed = w->seed * 1103515245u + 12345u;
	return (w->seed >> 8) % below;
}

static struct process *find(struct world *w, int32_t pid)
{
	for (int i = 0; i < MOST; i++) {
		if (w->p[i].pid == pid)
			return &w->p[i];
	}
	return NULL;
}

static void note_most(struct world *w)
{
	if (descendants->alive > w->most_told)
		w->most_told = descendants->alive;
}

static void tell_one(struct world *w)
{
	struct event e = w->queue[w->head];
	struct process *p = find(w, e.pid);

	w->head = (w->head + 1) % QUEUE;
	w->count--;
	if (e.kind == FORK)
		rti_descendant_set_fork(descendants, e.parent, e.pid);
	else if (e.kind == EXEC)
		rti_descendant_set_exec(descendants, e.pid);
	else
		rti_descendant_set_exit(descendants, e.pid);
	note_most(w);
	if (p && e.kind == FORK)
		p->is_told = 1;
}

static void put(struct world *w, struct event e)
{
	if (w->count == QUEUE)
		tell_one(w);
	w->queue[(w->head + w->count++) % QUEUE] = e;
}

static void fork_one(struct world *w, const struct process *parent)
{
	int32_t pid = numbers[pick(w, NUMBERS)];
	struct process *place = find(w, 0);

	if (!place || find(w, pid))
		return;
	*place = (struct process){ .pid = pid, .is_member = parent->is_member, .has_leader = 1 };
	w->members += (uint64_t)parent->is_member;
	w->alive += (uint64_t)parent->is_member;
	put(w, (struct event){ FORK, pid, parent->pid });
}

static void end_leader(struct world *w, struct process *p)
{
	if (!p->has_leader)
		return;
	p->has_leader = 0;
	w->alive -= (uint64_t)p->is_member;
	put(w, (struct event){ EXIT, p->pid, 0 });
}

/* By the leader, or by another thread, whether the leader has ended before or is ended by that. */
static void exec_one(struct world *w, struct process *p)
{
	if (pick(w, 2))
		end_leader(w, p);
	w->alive += (uint64_t)(p->is_member && !p->has_leader);
	p->has_leader = 1;
	put(w, (struct event){ EXEC, p->pid, 0 });
}

/* A search finds somebody of whom nothing is known: his number is new, or was a stranger's. */
static void find_one(struct world *w, const struct process *p)
{
	if (!p->is_member || !p->has_leader || p->is_told ||
	    rti_descendant_set_has(descendants, p->pid))
		return;
	/* and nobody who had it before is still to be told of */
	for (size_t i = 0; i < w->count; i++) {
		const struct event *e = &w->queue[(w->head + i) % QUEUE];

		if (e->pid == p->pid &&
		    (e->kind != FORK || !find(w, e->parent) || !find(w, e->parent)->is_member))
			return;
	}
	rti_descendant_set_add(descendants, p->pid);
	note_most(w);
}

static void step(struct world *w)
{
	struct process *p = &w->p[pick(w, MOST)];

	if (!p->pid || pick(w, 4) == 0) {
		if (w->count)
			tell_one(w);
		return;
	}
	switch (pick(w, 8)) {
	case 0:
		exec_one(w, p);
		break;
	case 1:
		end_leader(w, p); /* its other threads go on */
		break;
	case 2:
	case 3:
		if (p - w->p < 2)
			break;
		end_leader(w, p);
		p->pid = 0;
		break;
	case 4:
		find_one(w, p);
		break;
	default:
		fork_one(w, p);
	}
}

/* All of a census is a megabyte. */
static void forget_all(void)
{
	descendants->count = descendants->alive = descendants->alive_peak = 0;
	descendants->is_member[ROOT / 64] = descendants->is_alive[ROOT / 64] = 0;
	for (int i = 0; i < NUMBERS; i++)
		descendants->is_member[numbers[i] / 64] = descendants->is_alive[numbers[i] / 64] =
		    0;
}

/* One assertion costs more than a whole comparison. */
static int is_right(struct world *w)
{
	uint64_t alive = (uint64_t)rti_descendant_set_is_alive(descendants, ROOT);

	for (int i = 0; i < MOST; i++) {
		const struct process *p = &w->p[i];

		if (p->pid && (rti_descendant_set_has(descendants, p->pid) != p->is_member ||
		               rti_descendant_set_is_alive(descendants, p->pid) !=
		                   (p->is_member && p->has_leader)))
			return 0;
	}
	for (int i = 0; i < NUMBERS; i++)
		alive += (uint64_t)rti_descendant_set_is_alive(descendants, numbers[i]);
	return alive == w->alive && descendants->alive == alive &&
	       descendants->count == w->members && descendants->alive_peak == w->most_told;
}

static void live_through(struct world *w)
{
	int is_right_so_far = 1;

	for (int i = 0; i < STEPS; i++) {
		step(w);
		if (w->count == 0)
			is_right_so_far &= is_right(w);
	}
	while (w->count)
		tell_one(w);
	ck_assert_msg(is_right_so_far && is_right(w), "history %u", w->seed_of_all);
}

START_TEST(any_history_is_counted_right_once_it_is_told)
{
	for (unsigned seed = 1; seed <= HISTORIES; seed++) {
		struct world w = {
			.members = 1, .alive = 1, .most_told = 1, .seed = seed, .seed_of_all = seed
		};

		w.p[0] =
		    (struct process){ .pid = ROOT, .is_member = 1, .has_leader = 1, .is_told = 1 };
		w.p[1] = (struct process){ .pid = STRANGER, .has_leader = 1, .is_told = 1 };
		forget_all();
		rti_descendant_set_add(descendants, ROOT);
		live_through(&w);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("census");
	TCase *cases = suite_case(suite, "cases"), *histories = suite_case(suite, "histories");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_checked_fixture(histories, begin, end);
	tcase_add_test(cases, children_and_theirs_are_counted_however_short_their_lives);
	tcase_add_test(cases, strangers_are_not);
	tcase_add_test(cases, a_number_given_to_a_stranger_is_his);
	tcase_add_test(cases, a_stranger_s_fork_ends_whoever_had_the_number);
	tcase_add_test(cases, a_number_given_away_within_the_tree_counts_again);
	tcase_add_test(cases, threads_that_outlive_the_first_fork_on);
	tcase_add_test(cases, an_exec_by_another_thread_is_the_same_process);
	tcase_add_test(cases, who_joins_before_his_fork_is_told_counts_once);
	tcase_add_test(cases, numbers_that_no_process_can_have_are_nobody);
	tcase_add_test(histories, any_history_is_counted_right_once_it_is_told);
	return suite_run(suite);
}
