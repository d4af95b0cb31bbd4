/* SPDX-License-Identifier: MIT */
/* The ledger against a known truth: hand-made cases, and random histories of simulated process
 * trees. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cpu_bounds.h"
#include "suite.h"
#include "tree/ledger.h"

#define TICK_NS 10000000u
#define MOST 12
#define HISTORIES 20000
#define STEPS 60
#define CPUS 2

/* One simulated process, as the kernel would account for it. */
struct process {
	int is_alive, parent, is_known, has_exits;
	uint64_t self[RTI_COUNTERS], children[RTI_COUNTERS];
	struct rti_account account;
};

struct world {
	struct process p[MOST];
	uint64_t truth[RTI_COUNTERS]; /* of all that ever ran in the tree */
	uint64_t unseen;              /* CPU time that no reading and no account can tell */
	uint64_t exits;               /* each may cost the ledger up to a tick per mode */
	uint64_t strangers_ns;        /* CPU time of others in the same cgroup */
	/* by how much the cgroup's account lags behind those who run */
	uint64_t lag_ns;
	struct rti_ledger ledger;
	unsigned seed;
};

static unsigned pick(struct world *w, unsigned below)
{
	w->seed = w->seed * 1103515245u + 12345u;
	return (w->seed >> 8) % below;
}

static void work(struct world *w, struct process *p, uint64_t ns)
{
	uint64_t used[RTI_COUNTERS] = {
		[RTI_CPU_USER] = ns,
		[RTI_CPU_SYSTEM] = ns / 3,
		[RTI_MINOR_FAULTS] = 1 + ns % 7,
		[RTI_MAJOR_FAULTS] = ns % 2,
		[RTI_READ_BYTES] = ns % 4096,
		[RTI_WRITE_BYTES] = ns % 512,
	};

	for (int i = 0; i < RTI_COUNTERS; i++) {
		p->self[i] += used[i];
		w->truth[i] += used[i];
	}
}

static void begin(struct world *w, unsigned seed)
{
	*w = (struct world){ .seed = seed };
	w->p[0] = (struct process){ .is_alive = 1, .parent = -1, .is_known = 1 };
	work(w, &w->p[0], 1000);
}

static void fork_one(struct world *w, int parent)
{
	for (int i = 1; i < MOST; i++) {
		if (w->p[i].is_alive || w->p[i].is_known)
			continue;
		w->p[i] = (struct process){ .is_alive = 1, .parent = parent };
		work(w, &w->p[i], 1 + pick(w, 40000000));
		return;
	}
}

/* What the ledger is told of a process: CPU clock exact, reaped CPU in whole ticks, I/O with the
 * reaped folded in. */
static void read_process(struct process *p)
{
	for (int i = 0; i < RTI_COUNTERS; i++) {
		p->account.self[i] = p->self[i];
		p->account.children[i] = i < RTI_READ_BYTES ? p->children[i] : 0;
	}
	p->account.children[RTI_CPU_USER] -= p->children[RTI_CPU_USER] % TICK_NS;
	p->account.children[RTI_CPU_SYSTEM] -= p->children[RTI_CPU_SYSTEM] % TICK_NS;
	p->account.has_io = 1;
	p->is_known = 1;
}

static uint64_t cpu(const uint64_t counters[RTI_COUNTERS])
{
	return counters[RTI_CPU_USER] + counters[RTI_CPU_SYSTEM];
}

/* The kernel's side of a death: the parent waits, or the account is lost (auto-reaped, or reaped
 * outside the tree). */
static void die(struct world *w, int who, int is_waited)
{
	struct process *p = &w->p[who], *parent = p->parent >= 0 ? &w->p[p->parent] : NULL;

	p->is_alive = 0;
	for (int i = 1; i < MOST; i++) {
		if (w->p[i].is_alive && w->p[i].parent == who)
			w->p[i].parent = -1;
	}
	if (is_waited && parent && parent->is_alive) {
		for (int i = 0; i < RTI_READ_BYTES; i++)
			parent->children[i] += p->self[i] + p->children[i];
		for (int i = RTI_READ_BYTES; i < RTI_COUNTERS; i++)
			parent->self[i] += p->self[i];
		return;
	}
	w->unseen += cpu(p->self) + cpu(p->children) -
	             (p->is_known ? cpu(p->account.self) + cpu(p->account.children) : 0);
}

/* Whoever departed along with all its ancestors up to a living one may be in any of their
 * accounts. */
static void account_orphan_exit(struct world *w, int who)
{
	struct rti_account *holder = NULL;
	int holders = 0;

	for (int up = w->p[who].parent; up >= 0; up = w->p[up].parent) {
		if (!rti_ledger_may_hold(&w->ledger, &w->p[up].account, &w->p[who].account))
			continue;
		holder = &w->p[up].account;
		holders++;
	}
	if (holders == 0)
		rti_ledger_keep_last_seen(&w->ledger, &w->p[who].account);
	else if (holders == 1)
		rti_ledger_merge_into_reaper(&w->ledger, &w->p[who].account, holder);
}

/* As the tree sampler does it: children first, and what they are known to have used goes where
 * their parent goes. */
static void account_exit(struct world *w, int who)
{
	struct process *p = &w->p[who];

	if (p->is_alive || !p->is_known || p->has_exits)
		return;
	p->has_exits = 1;
	for (int i = 0; i < MOST; i++) {
		if (w->p[i].parent == who)
			account_exit(w, i);
	}
	if (p->parent >= 0 && w->p[p->parent].is_alive)
		rti_ledger_account_exit(&w->ledger, &p->account, &w->p[p->parent].account);
	else
		account_orphan_exit(w, who);
	w->exits++;
}

static void sample(struct world *w)
{
	uint64_t before = cpu(w->ledger.total), reads = w->ledger.total[RTI_READ_BYTES];

	for (int i = 0; i < MOST; i++) {
		if (w->p[i].is_alive)
			read_process(&w->p[i]);
	}
	for (int i = 0; i < MOST; i++)
		account_exit(w, i);
	for (int i = 0; i < MOST; i++) {
		if (!w->p[i].is_alive)
			w->p[i].is_known = 0;
	}
	rti_ledger_open(&w->ledger);
	for (int i = 0; i < MOST; i++) {
		if (w->p[i].is_alive)
			rti_ledger_add(&w->ledger, &w->p[i].account);
	}
	rti_ledger_close(&w->ledger);
	if (cpu(w->ledger.total) < before || w->ledger.total[RTI_READ_BYTES] < reads)
		ck_abort_msg("a total fell");
	w->strangers_ns += pick(w, 3) ? 0 : pick(w, 20000000);
	w->lag_ns = pick(w, 2) ? 0 : pick(w, CPUS * TICK_NS);
}

/* By the account of the cgroup that the world runs in. */
static struct rti_cpu_bounds bounds(const struct world *w)
{
	uint64_t used_ns = cpu(w->truth) + w->strangers_ns;
	const struct rti_cpu_bounds_known known = {
		.low_ns = cpu(w->ledger.total),
		.growth_ns = used_ns > w->lag_ns ? used_ns - w->lag_ns : 0,
		.lag_ns = CPUS * TICK_NS,
	};

	return rti_cpu_bounds(&known);
}

/* The truth is in the bracket. The total is below it by the ticks that the kernel does not show
 * and, unless the ledger says that somebody went unwaited for, by what ended before anybody saw
 * it. libcheck writes a line for each assertion that holds, which takes longer than a history. */
static void check_bracket(const struct world *w)
{
	uint64_t total = cpu(w->ledger.total),
		 shortage = w->unseen + 2 * TICK_NS * (MOST + w->exits);
	struct rti_cpu_bounds b = bounds(w);

	if (b.low_ns > cpu(w->truth) || b.high_ns < cpu(w->truth))
		ck_abort_msg("the truth is outside the bracket");
	if (!b.is_unverified && total + total / 100 + TICK_NS + w->lag_ns < cpu(w->truth))
		ck_abort_msg("much was missed without notice");
	if (!w->ledger.has_unwaited && total + shortage < cpu(w->truth))
		ck_abort_msg("more is missing than went unseen");
	if (w->ledger.total[RTI_READ_BYTES] > w->truth[RTI_READ_BYTES] ||
	    w->ledger.total[RTI_MINOR_FAULTS] > w->truth[RTI_MINOR_FAULTS])
		ck_abort_msg("more than there was");
}

static void live_one_step(struct world *w)
{
	int who;

	do
		who = (int)pick(w, MOST);
	while (!w->p[who].is_alive);
	switch (pick(w, 5)) {
	case 0:
	case 1:
		fork_one(w, who);
		break;
	case 2:
		work(w, &w->p[who], pick(w, 25000000));
		break;
	case 3:
		/* A grandparent that waits while the parent is gone is not in this world. */
		if (who != 0 && w->p[who].parent >= 0)
			die(w, who, 1);
		break;
	default:
		sample(w);
		check_bracket(w);
	}
}

static unsigned histories(void)
{
	const char *percent = getenv("RTRACK_HISTORIES_PERCENT");

	return percent ? HISTORIES * (unsigned)atoi(percent) / 100 : HISTORIES;
}

START_TEST(waited_histories_are_exact_but_for_ticks)
{
	static struct world w;

	for (unsigned seed = 1; seed <= histories(); seed++) {
		begin(&w, seed);
		for (int step = 0; step < STEPS; step++)
			live_one_step(&w);
		sample(&w);
		check_bracket(&w);
		/* All deaths were waited for, so faults and I/O, which have no ticks, are exact. */
		if (w.unseen == 0 && !w.ledger.has_unwaited &&
		    (w.ledger.total[RTI_MINOR_FAULTS] != w.truth[RTI_MINOR_FAULTS] ||
		     w.ledger.total[RTI_READ_BYTES] != w.truth[RTI_READ_BYTES]))
			ck_abort_msg("history %u is not exact", seed);
	}
}
END_TEST

START_TEST(lost_accounts_never_make_the_total_fall_or_count_twice)
{
	static struct world w;

	for (unsigned seed = 1; seed <= histories(); seed++) {
		begin(&w, seed ^ 0x5a5a5a);
		for (int step = 0; step < STEPS; step++) {
			int who = 1 + (int)pick(&w, MOST - 1);

			live_one_step(&w);
			if (w.p[who].is_alive && pick(&w, 6) == 0)
				die(&w, who, 0);
		}
		sample(&w);
		check_bracket(&w);
	}
}
END_TEST

static void one_sample(struct rti_ledger *ledger, struct rti_account *a, struct rti_account *b)
{
	rti_ledger_open(ledger);
	rti_ledger_add(ledger, a);
	if (b)
		rti_ledger_add(ledger, b);
	rti_ledger_close(ledger);
}

START_TEST(a_reaped_child_is_not_counted_twice)
{
	struct rti_account parent = { .self = { 5000, 0, 10 }, .has_io = 1 };
	struct rti_account child = { .self = { 25400000, 0, 100 }, .has_io = 1 };
	struct rti_ledger ledger = { 0 };

	child.self[RTI_READ_BYTES] = 4096;
	one_sample(&ledger, &parent, &child);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 25405000);
	/* It ended at 25.9 ms: the parent shows two ticks, which is less than what was seen. */
	parent.children[RTI_CPU_USER] = 20000000;
	parent.children[RTI_MINOR_FAULTS] = 103;
	parent.self[RTI_READ_BYTES] = 4096;
	rti_ledger_account_exit(&ledger, &child, &parent);
	ck_assert_int_eq(ledger.has_unwaited, 0);
	one_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 25405000);
	ck_assert_uint_eq(ledger.total[RTI_MINOR_FAULTS], 113);
	ck_assert_uint_eq(ledger.total[RTI_READ_BYTES], 4096);
}
END_TEST

/* The parent's ticks say less than the child was seen to use: what comes on top of that must not
 * vanish in between. */
START_TEST(what_is_used_after_a_reaping_comes_on_top_of_what_was_seen)
{
	struct rti_account parent = { .self = { 5000, 0, 10 }, .has_io = 1 };
	struct rti_account child = { .self = { 25400000, 0, 100 }, .has_io = 1 };
	struct rti_ledger ledger = { 0 };

	one_sample(&ledger, &parent, &child);
	parent.children[RTI_CPU_USER] = 20000000;
	parent.children[RTI_MINOR_FAULTS] = 103;
	parent.self[RTI_CPU_USER] += 1000;
	rti_ledger_account_exit(&ledger, &child, &parent);
	one_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 25406000);
	parent.self[RTI_CPU_USER] += 1000;
	one_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 25407000);
}
END_TEST

START_TEST(an_auto_reaped_child_stays_in_the_total)
{
	struct rti_account parent = { .self = { 5000, 0, 10 }, .has_io = 1 };
	struct rti_account child = { .self = { 25400000, 0, 100 }, .has_io = 1 };
	struct rti_ledger ledger = { 0 };

	child.self[RTI_WRITE_BYTES] = 512;
	one_sample(&ledger, &parent, &child);
	rti_ledger_account_exit(&ledger, &child, &parent);
	one_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 25405000);
	ck_assert_uint_eq(ledger.total[RTI_WRITE_BYTES], 512);
	ck_assert_int_eq(ledger.has_unwaited, 1);
}
END_TEST

START_TEST(reaped_io_stays_when_the_reaper_hides_its_own)
{
	struct rti_account parent = { .self = { 0, 0, 10 },
		                      .children = { 0, 0, 100 },
		                      .has_io = 0 };
	struct rti_account child = { .self = { 1, 1, 100 }, .has_io = 1 };
	struct rti_ledger ledger = { 0 };

	child.self[RTI_READ_BYTES] = 8192;
	rti_ledger_account_exit(&ledger, &child, &parent);
	one_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_READ_BYTES], 8192);
}
END_TEST

START_TEST(an_orphan_is_held_by_whoever_grew_by_as_much)
{
	struct rti_account grown = { .children = { 0, 0, 109 }, .closed_faults = 10 };
	struct rti_account exited = { .self = { 0, 0, 60, 9 },
		                      .children = { 0, 0, 30 },
		                      .floor = { 0, 0, 70 } };
	const struct rti_ledger ledger = { 0 }, alone = { .self_only = 1 };

	ck_assert_int_eq(rti_ledger_may_hold(&ledger, &grown, &exited), 1);
	ck_assert_int_eq(rti_ledger_may_hold(&alone, &grown, &exited), 0);
	grown.closed_faults++;
	ck_assert_int_eq(rti_ledger_may_hold(&ledger, &grown, &exited), 0);
}
END_TEST

START_TEST(growth_explains_departures_only_once)
{
	struct rti_account grown = { .children = { 0, 0, 100 }, .closed_faults = 10 };

	ck_assert_uint_eq(rti_ledger_attribute(&grown, 60), 60);
	ck_assert_uint_eq(rti_ledger_attribute(&grown, 60), 30);
	ck_assert_uint_eq(rti_ledger_attribute(&grown, 60), 0);
}
END_TEST

START_TEST(a_wavering_split_lets_neither_part_fall)
{
	struct rti_account member = { .self = { 600, 400 } };
	struct rti_ledger ledger = { 0 };

	one_sample(&ledger, &member, NULL);
	member.self[RTI_CPU_USER] = 300;
	member.self[RTI_CPU_SYSTEM] = 900;
	one_sample(&ledger, &member, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 600);
	ck_assert_uint_eq(ledger.total[RTI_CPU_SYSTEM], 600);
	member.self[RTI_CPU_USER] = 1100;
	member.self[RTI_CPU_SYSTEM] = 200;
	one_sample(&ledger, &member, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 700);
	ck_assert_uint_eq(ledger.total[RTI_CPU_SYSTEM], 600);
}
END_TEST

START_TEST(alone_means_without_what_was_reaped)
{
	struct rti_account member = { .self = { 600, 400 }, .children = { 50000000, 0, 77 } };
	struct rti_ledger ledger = { .self_only = 1 };

	one_sample(&ledger, &member, NULL);
	ck_assert_uint_eq(cpu(ledger.total), 1000);
	ck_assert_uint_eq(ledger.total[RTI_MINOR_FAULTS], 0);
	rti_ledger_keep_last_seen(&ledger, &member);
	rti_ledger_open(&ledger);
	rti_ledger_close(&ledger);
	ck_assert_uint_eq(cpu(ledger.total), 1000);
}
END_TEST

START_TEST(an_exact_account_of_the_reaped_is_taken)
{
	struct rti_account reaper = { .children = { 20000000, 10000000, 90 },
		                      .floor = { 0, 0, 0, 0, 3, 1 } };
	const uint64_t exact[RTI_COUNTERS] = { 27000000, 14000000, 100, 0, 40, 9 };
	const uint64_t stale[RTI_COUNTERS] = { 1000000, 1000000, 1 };
	struct rti_ledger ledger = { 0 };

	rti_ledger_raise_children(&reaper, exact);
	rti_ledger_raise_children(&reaper, stale);
	one_sample(&ledger, &reaper, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 27000000);
	ck_assert_uint_eq(ledger.total[RTI_CPU_SYSTEM], 14000000);
	ck_assert_uint_eq(ledger.total[RTI_MINOR_FAULTS], 100);
	ck_assert_uint_eq(ledger.total[RTI_VOLUNTARY], 40);
}
END_TEST

START_TEST(a_member_that_was_waited_for_is_retained_and_not_lost)
{
	struct rti_account root = { .self = { 1000, 500, 10, 0, 3, 1 },
		                    .children = { 20000000, 0, 90 } };
	struct rti_ledger ledger = { 0 };

	rti_ledger_keep_final(&ledger, &root);
	rti_ledger_open(&ledger);
	rti_ledger_close(&ledger);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 20001000);
	ck_assert_int_eq(ledger.has_unwaited, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ledger");
	TCase *random = suite_case(suite, "random histories"), *cases = suite_case(suite, "cases");

	printf("# %u histories each\n", histories());
	fflush(stdout);
	tcase_add_test(random, waited_histories_are_exact_but_for_ticks);
	tcase_add_test(random, lost_accounts_never_make_the_total_fall_or_count_twice);
	tcase_add_test(cases, a_reaped_child_is_not_counted_twice);
	tcase_add_test(cases, what_is_used_after_a_reaping_comes_on_top_of_what_was_seen);
	tcase_add_test(cases, an_auto_reaped_child_stays_in_the_total);
	tcase_add_test(cases, reaped_io_stays_when_the_reaper_hides_its_own);
	tcase_add_test(cases, an_orphan_is_held_by_whoever_grew_by_as_much);
	tcase_add_test(cases, growth_explains_departures_only_once);
	tcase_add_test(cases, a_wavering_split_lets_neither_part_fall);
	tcase_add_test(cases, alone_means_without_what_was_reaped);
	tcase_add_test(cases, an_exact_account_of_the_reaped_is_taken);
	tcase_add_test(cases, a_member_that_was_waited_for_is_retained_and_not_lost);
	return suite_run(suite);
}
