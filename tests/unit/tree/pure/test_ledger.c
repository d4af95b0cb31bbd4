/* SPDX-License-Identifier: MIT */
/* The ledger: hand-made cases, and random histories of simulated process trees with a known
 * total. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cpu_bounds.h"
#include "suite.h"
#include "tree/pure/ledger.h"

#define TICK_NS 10000000u
#define PROCESSES_MAX 12
#define HISTORIES 20000
#define STEPS 60
#define CPUS 2

/* One simulated process, as the kernel accounts for it. */
struct process {
	int parent; /* -1: none in the tree */
	bool is_alive, is_known, is_exit_accounted;
	uint64_t self[RTI_COUNTERS], children[RTI_COUNTERS];
	struct rti_account account;
};

struct world {
	struct process p[PROCESSES_MAX];
	uint64_t true_total[RTI_COUNTERS]; /* of all processes that ever ran in the tree */
	uint64_t unseen_ns;                /* CPU time that no read and no account shows */
	uint64_t exits;                    /* each may lose up to a tick per mode */
	uint64_t unrelated_ns;             /* CPU time of unrelated processes in the same cgroup */
	/* CPU time not yet in the account of the cgroup */
	uint64_t lag_ns;
	struct rti_ledger ledger;
	unsigned seed;
};

static unsigned pick_random(struct world *w, unsigned below)
{
	w->seed = w->seed * 1103515245u + 12345u;
	return (w->seed >> 8) % below;
}

static void use_cpu(struct world *w, struct process *p, uint64_t ns)
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
		w->true_total[i] += used[i];
	}
}

static void begin_world(struct world *w, unsigned seed)
{
	*w = (struct world){ .seed = seed };
	w->p[0] = (struct process){ .is_alive = true, .parent = -1, .is_known = true };
	use_cpu(w, &w->p[0], 1000);
}

static void fork_process(struct world *w, int parent)
{
	for (int i = 1; i < PROCESSES_MAX; i++) {
		if (w->p[i].is_alive || w->p[i].is_known)
			continue;
		w->p[i] = (struct process){ .is_alive = true, .parent = parent };
		use_cpu(w, &w->p[i], 1 + pick_random(w, 40000000));
		return;
	}
}

/* What a sample reads of a process: an exact CPU clock, reaped CPU time in whole ticks, and I/O
 * that includes reaped children. */
static void read_process(struct process *p)
{
	for (int i = 0; i < RTI_COUNTERS; i++) {
		p->account.self[i] = p->self[i];
		p->account.children[i] = i < RTI_READ_BYTES ? p->children[i] : 0;
	}
	p->account.children[RTI_CPU_USER] -= p->children[RTI_CPU_USER] % TICK_NS;
	p->account.children[RTI_CPU_SYSTEM] -= p->children[RTI_CPU_SYSTEM] % TICK_NS;
	p->account.has_io = true;
	p->is_known = true;
}

static uint64_t sum_cpu(const uint64_t counters[RTI_COUNTERS])
{
	return counters[RTI_CPU_USER] + counters[RTI_CPU_SYSTEM];
}

/* How the kernel accounts for an exit: the parent waits for it, or the account is lost. It is lost
 * if the kernel reaps the process by itself, or a process outside the tree reaps it. */
static void exit_process(struct world *w, int index, bool is_waited)
{
	struct process *p = &w->p[index], *parent = p->parent >= 0 ? &w->p[p->parent] : NULL;

	p->is_alive = false;
	for (int i = 1; i < PROCESSES_MAX; i++) {
		if (w->p[i].is_alive && w->p[i].parent == index)
			w->p[i].parent = -1;
	}
	if (is_waited && parent && parent->is_alive) {
		for (int i = 0; i < RTI_READ_BYTES; i++)
			parent->children[i] += p->self[i] + p->children[i];
		for (int i = RTI_READ_BYTES; i < RTI_COUNTERS; i++)
			parent->self[i] += p->self[i];
		return;
	}
	w->unseen_ns += sum_cpu(p->self) + sum_cpu(p->children) -
	                (p->is_known ? sum_cpu(p->account.self) + sum_cpu(p->account.children) : 0);
}

/* If all ancestors up to a living one exited in the same sample, the usage of the process may be in
 * the account of any of them. */
static void account_orphan_exit(struct world *w, int index)
{
	struct rti_account *holder = NULL;
	int holders = 0;

	for (int up = w->p[index].parent; up >= 0; up = w->p[up].parent) {
		if (!rti_ledger_may_hold(&w->ledger, &w->p[up].account, &w->p[index].account))
			continue;
		holder = &w->p[up].account;
		holders++;
	}
	if (holders == 0)
		rti_ledger_keep_last_seen(&w->ledger, &w->p[index].account);
	else if (holders == 1)
		rti_ledger_merge_into_reaper(&w->p[index].account, holder);
}

/* In the order of the tree sampler: children first, since their usage goes where that of their
 * parent goes. */
static void account_exit(struct world *w, int index)
{
	struct process *p = &w->p[index];

	if (p->is_alive || !p->is_known || p->is_exit_accounted)
		return;
	p->is_exit_accounted = true;
	for (int i = 0; i < PROCESSES_MAX; i++) {
		if (w->p[i].parent == index)
			account_exit(w, i);
	}
	if (p->parent < 0 || !w->p[p->parent].is_alive)
		account_orphan_exit(w, index);
	else if (!rti_ledger_account_exit(&w->ledger, &p->account, &w->p[p->parent].account))
		rti_ledger_keep_last_seen(&w->ledger, &p->account);
	w->exits++;
}

static void sample_world(struct world *w)
{
	uint64_t before = sum_cpu(w->ledger.total), reads = w->ledger.total[RTI_READ_BYTES];

	for (int i = 0; i < PROCESSES_MAX; i++) {
		if (w->p[i].is_alive)
			read_process(&w->p[i]);
	}
	for (int i = 0; i < PROCESSES_MAX; i++)
		account_exit(w, i);
	for (int i = 0; i < PROCESSES_MAX; i++) {
		if (!w->p[i].is_alive)
			w->p[i].is_known = false;
	}
	rti_ledger_open(&w->ledger);
	for (int i = 0; i < PROCESSES_MAX; i++) {
		if (w->p[i].is_alive)
			rti_ledger_add(&w->ledger, &w->p[i].account);
	}
	rti_ledger_close(&w->ledger);
	if (sum_cpu(w->ledger.total) < before || w->ledger.total[RTI_READ_BYTES] < reads)
		ck_abort_msg("a total fell");
	w->unrelated_ns += pick_random(w, 3) ? 0 : pick_random(w, 20000000);
	w->lag_ns = pick_random(w, 2) ? 0 : pick_random(w, CPUS * TICK_NS);
}

/* From the account of the cgroup that the simulated tree runs in. */
static struct rti_cpu_bounds compute_bounds(const struct world *w)
{
	uint64_t used_ns = sum_cpu(w->true_total) + w->unrelated_ns;
	const struct rti_cpu_bounds_known known = {
		.low_ns = sum_cpu(w->ledger.total),
		.growth_ns = used_ns > w->lag_ns ? used_ns - w->lag_ns : 0,
		.lag_ns = CPUS * TICK_NS,
	};

	return rti_cpu_bounds(&known);
}

/* The true CPU time is within the bounds. The total is below it by the ticks that the kernel does
 * not show. Unless the ledger reports an unwaited process, it is also below by what exited unseen.
 * Does not assert what holds: libcheck writes a line for each assertion, which takes longer than a
 * history. */
static void check_bounds(const struct world *w)
{
	uint64_t total = sum_cpu(w->ledger.total),
		 shortage = w->unseen_ns + 2 * TICK_NS * (PROCESSES_MAX + w->exits);
	struct rti_cpu_bounds b = compute_bounds(w);

	if (b.low_ns > sum_cpu(w->true_total) || b.high_ns < sum_cpu(w->true_total))
		ck_abort_msg("the true CPU time is outside the bounds");
	if (!b.is_unverified && total + total / 100 + TICK_NS + w->lag_ns < sum_cpu(w->true_total))
		ck_abort_msg("CPU time is missing and not reported");
	if (!w->ledger.has_unwaited && total + shortage < sum_cpu(w->true_total))
		ck_abort_msg("more is missing than exited unseen");
	if (w->ledger.total[RTI_READ_BYTES] > w->true_total[RTI_READ_BYTES] ||
	    w->ledger.total[RTI_MINOR_FAULTS] > w->true_total[RTI_MINOR_FAULTS])
		ck_abort_msg("the total exceeds the true total");
}

static void run_random_step(struct world *w)
{
	int index;

	do
		index = (int)pick_random(w, PROCESSES_MAX);
	while (!w->p[index].is_alive);
	switch (pick_random(w, 5)) {
	case 0:
	case 1:
		fork_process(w, index);
		break;
	case 2:
		use_cpu(w, &w->p[index], pick_random(w, 25000000));
		break;
	case 3:
		/* A grandparent that waits for a process after its parent exited is not
		 * simulated. */
		if (index != 0 && w->p[index].parent >= 0)
			exit_process(w, index, true);
		break;
	default:
		sample_world(w);
		check_bounds(w);
	}
}

START_TEST(history_with_all_exits_waited_for_is_exact_to_the_tick)
{
	struct world w;

	for (unsigned seed = 1; seed <= suite_share(HISTORIES); seed++) {
		begin_world(&w, seed);
		for (int step = 0; step < STEPS; step++)
			run_random_step(&w);
		sample_world(&w);
		check_bounds(&w);
		/* All exits were waited for. Faults and I/O have no ticks, so they are exact. */
		if (w.unseen_ns == 0 && !w.ledger.has_unwaited &&
		    (w.ledger.total[RTI_MINOR_FAULTS] != w.true_total[RTI_MINOR_FAULTS] ||
		     w.ledger.total[RTI_READ_BYTES] != w.true_total[RTI_READ_BYTES]))
			ck_abort_msg("history %u is not exact", seed);
	}
}
END_TEST

START_TEST(history_with_unwaited_exits_neither_falls_nor_counts_twice)
{
	struct world w;

	for (unsigned seed = 1; seed <= suite_share(HISTORIES); seed++) {
		begin_world(&w, seed ^ 0x5a5a5a);
		for (int step = 0; step < STEPS; step++) {
			int index = 1 + (int)pick_random(&w, PROCESSES_MAX - 1);

			run_random_step(&w);
			if (w.p[index].is_alive && pick_random(&w, 6) == 0)
				exit_process(&w, index, false);
		}
		sample_world(&w);
		check_bounds(&w);
	}
}
END_TEST

static void take_sample(struct rti_ledger *ledger, struct rti_account *a, struct rti_account *b)
{
	rti_ledger_open(ledger);
	rti_ledger_add(ledger, a);
	if (b)
		rti_ledger_add(ledger, b);
	rti_ledger_close(ledger);
}

START_TEST(child_reaped_by_its_parent_is_counted_once)
{
	struct rti_account parent = { .self = { 5000, 0, 10 }, .has_io = true };
	struct rti_account child = { .self = { 25400000, 0, 100 }, .has_io = true };
	struct rti_ledger ledger = { 0 };

	child.self[RTI_READ_BYTES] = 4096;
	take_sample(&ledger, &parent, &child);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 25405000);

	/* The child exits at 25.9 ms. The parent shows two ticks, less than was read of the
	 * child. */
	parent.children[RTI_CPU_USER] = 20000000;
	parent.children[RTI_MINOR_FAULTS] = 103;
	parent.self[RTI_READ_BYTES] = 4096;
	rti_ledger_account_exit(&ledger, &child, &parent);
	ck_assert(!ledger.has_unwaited);

	take_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 25405000);
	ck_assert_uint_eq(ledger.total[RTI_MINOR_FAULTS], 113);
	ck_assert_uint_eq(ledger.total[RTI_READ_BYTES], 4096);
}
END_TEST

/* The ticks of the parent show less than was read of the child. CPU time that the parent uses
 * afterwards must be added to the last read of the child. */
START_TEST(parent_running_after_a_reap_adds_to_the_last_total)
{
	struct rti_account parent = { .self = { 5000, 0, 10 }, .has_io = true };
	struct rti_account child = { .self = { 25400000, 0, 100 }, .has_io = true };
	struct rti_ledger ledger = { 0 };

	take_sample(&ledger, &parent, &child);
	parent.children[RTI_CPU_USER] = 20000000;
	parent.children[RTI_MINOR_FAULTS] = 103;
	parent.self[RTI_CPU_USER] += 1000;
	rti_ledger_account_exit(&ledger, &child, &parent);
	take_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 25406000);

	parent.self[RTI_CPU_USER] += 1000;
	take_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 25407000);
}
END_TEST

START_TEST(child_reaped_without_account_stays_in_the_total)
{
	struct rti_account parent = { .self = { 5000, 0, 10 }, .has_io = true };
	struct rti_account child = { .self = { 25400000, 0, 100 }, .has_io = true };
	struct rti_ledger ledger = { 0 };

	child.self[RTI_WRITE_BYTES] = 512;
	take_sample(&ledger, &parent, &child);
	ck_assert(!rti_ledger_account_exit(&ledger, &child, &parent));
	rti_ledger_keep_last_seen(&ledger, &child);
	take_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 25405000);
	ck_assert_uint_eq(ledger.total[RTI_WRITE_BYTES], 512);
	ck_assert(ledger.has_unwaited);
}
END_TEST

/* Its parent waited for another child, which had more faults. */
START_TEST(child_with_more_cpu_time_than_its_parent_reaped_stays_in_the_total)
{
	struct rti_account parent = { .self = { 1000, 0, 10 }, .has_io = true };
	struct rti_account child = { .self = { 450000000, 0, 100 }, .has_io = true };
	struct rti_ledger ledger = { 0 };

	take_sample(&ledger, &parent, &child);
	parent.children[RTI_CPU_USER] = 10000000;
	parent.children[RTI_MINOR_FAULTS] = 9000;
	ck_assert(!rti_ledger_account_exit(&ledger, &child, &parent));
	rti_ledger_keep_last_seen(&ledger, &child);
	take_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 460001000);
	ck_assert(ledger.has_unwaited);
}
END_TEST

/* Either of them may be in the account of their parent, but not both. */
START_TEST(children_with_more_cpu_time_together_than_was_reaped_are_reported)
{
	struct rti_account parent = { .self = { 1000, 0, 10 }, .has_io = true };
	struct rti_account child = { .self = { 300000000, 0, 100 }, .has_io = true };
	struct rti_ledger ledger = { 0 };

	take_sample(&ledger, &parent, &child);
	parent.children[RTI_CPU_USER] = 400000000;
	parent.children[RTI_MINOR_FAULTS] = 9000;
	rti_ledger_account_exit(&ledger, &child, &parent);
	ck_assert(!ledger.has_unwaited);
	rti_ledger_account_exit(&ledger, &child, &parent);
	ck_assert(ledger.has_unwaited);
}
END_TEST

START_TEST(cpu_clock_that_was_read_later_raises_the_account)
{
	struct rti_account member = { .self = { 2000, 1000, 10 } };
	struct rti_ledger ledger = { 0 };

	rti_account_raise_cpu(&member, 1000, 1000);
	rti_account_raise_cpu(&member, 4000, 1500);
	take_sample(&ledger, &member, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 4000);
	ck_assert_uint_eq(sum_cpu(ledger.total), 5500);
}
END_TEST

START_TEST(child_io_under_reaper_with_hidden_io_stays_in_the_total)
{
	struct rti_account parent = { .self = { 0, 0, 10 },
		                      .children = { 0, 0, 100 },
		                      .has_io = false };
	struct rti_account child = { .self = { 1, 1, 100 }, .has_io = true };
	struct rti_ledger ledger = { 0 };

	child.self[RTI_READ_BYTES] = 8192;
	rti_ledger_account_exit(&ledger, &child, &parent);
	take_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_READ_BYTES], 8192);
}
END_TEST

/* Once it can be read, its own count has the I/O of the child. */
START_TEST(child_io_under_reaper_that_is_readable_later_is_counted_once)
{
	const struct rti_counter_range io = { RTI_READ_BYTES, 1 };
	struct rti_account parent = { .self = { 0, 0, 10 }, .children = { 0, 0, 100 } };
	struct rti_account child = { .self = { 1, 1, 100 }, .has_io = true };
	uint64_t own[RTI_COUNTERS] = { [RTI_READ_BYTES] = 8192 + 512 };
	struct rti_ledger ledger = { 0 };

	child.self[RTI_READ_BYTES] = 8192;
	ck_assert(rti_ledger_account_exit(&ledger, &child, &parent));
	take_sample(&ledger, &parent, NULL);
	rti_account_raise(&parent, io, own);
	rti_account_note_io(&parent);
	take_sample(&ledger, &parent, NULL);
	ck_assert_uint_eq(ledger.total[RTI_READ_BYTES], 8192 + 512);
}
END_TEST

START_TEST(orphan_may_be_in_the_account_that_grew_by_as_much)
{
	struct rti_account grown = { .children = { 0, 0, 109 }, .closed_faults = 10 };
	struct rti_account exited = { .self = { 0, 0, 60, 9 },
		                      .children = { 0, 0, 30 },
		                      .floor = { 0, 0, 70 } };
	const struct rti_ledger ledger = { 0 }, alone = { .self_only = true };

	ck_assert(rti_ledger_may_hold(&ledger, &grown, &exited));
	ck_assert(!rti_ledger_may_hold(&alone, &grown, &exited));
	grown.closed_faults++;
	ck_assert(!rti_ledger_may_hold(&ledger, &grown, &exited));
}
END_TEST

START_TEST(growth_attributed_once_is_not_attributed_again)
{
	struct rti_account grown = { .children = { 0, 0, 100 }, .closed_faults = 10 };
	struct rti_evidence first = { 60, 0 }, second = { 60, 0 };

	ck_assert(rti_ledger_attribute(&grown, &first));
	ck_assert(!rti_ledger_attribute(&grown, &second));
	ck_assert_uint_eq(second.faults, 30);
}
END_TEST

START_TEST(cpu_split_that_shifts_lets_neither_part_fall)
{
	struct rti_account member = { .self = { 600, 400 } };
	struct rti_ledger ledger = { 0 };

	take_sample(&ledger, &member, NULL);
	member.self[RTI_CPU_USER] = 300;
	member.self[RTI_CPU_SYSTEM] = 900;
	take_sample(&ledger, &member, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 600);
	ck_assert_uint_eq(ledger.total[RTI_CPU_SYSTEM], 600);

	member.self[RTI_CPU_USER] = 1100;
	member.self[RTI_CPU_SYSTEM] = 200;
	take_sample(&ledger, &member, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 700);
	ck_assert_uint_eq(ledger.total[RTI_CPU_SYSTEM], 600);
}
END_TEST

START_TEST(self_only_ledger_excludes_reaped_children)
{
	struct rti_account member = { .self = { 600, 400 }, .children = { 50000000, 0, 77 } };
	struct rti_ledger ledger = { .self_only = true };

	take_sample(&ledger, &member, NULL);
	ck_assert_uint_eq(sum_cpu(ledger.total), 1000);
	ck_assert_uint_eq(ledger.total[RTI_MINOR_FAULTS], 0);

	rti_ledger_keep_last_seen(&ledger, &member);
	rti_ledger_open(&ledger);
	rti_ledger_close(&ledger);
	ck_assert_uint_eq(sum_cpu(ledger.total), 1000);
}
END_TEST

START_TEST(children_account_that_is_exact_replaces_the_rounded_one)
{
	struct rti_account reaper = { .children = { 20000000, 10000000, 90 },
		                      .floor = { 0, 0, 0, 0, 3, 1 } };
	const uint64_t exact[RTI_COUNTERS] = { 27000000, 14000000, 100, 0, 40, 9 };
	const uint64_t stale[RTI_COUNTERS] = { 1000000, 1000000, 1 };
	struct rti_ledger ledger = { 0 };

	rti_ledger_raise_children(&reaper, exact);
	rti_ledger_raise_children(&reaper, stale);
	take_sample(&ledger, &reaper, NULL);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 27000000);
	ck_assert_uint_eq(ledger.total[RTI_CPU_SYSTEM], 14000000);
	ck_assert_uint_eq(ledger.total[RTI_MINOR_FAULTS], 100);
	ck_assert_uint_eq(ledger.total[RTI_VOLUNTARY], 40);
}
END_TEST

/* The split of a process wavers between the last read and the wait, while the sum is exact. */
/* getrusage(2) cuts each of the two times to the microsecond, and BPF programs read nanoseconds. */
START_TEST(exact_account_covers_what_was_read_but_for_what_was_cut)
{
	static const struct {
		uint64_t user_ns, system_ns, faults;
		bool is_covered;
	} reads[] = {
		{ 5000, 7000, 10, true },  { 5999, 7999, 10, true }, { 6000, 8001, 10, false },
		{ 5000, 7000, 11, false }, { 4000, 7999, 10, true },
	};
	const uint64_t exact[RTI_COUNTERS] = { [RTI_CPU_USER] = 5000,
		                               [RTI_CPU_SYSTEM] = 7000,
		                               [RTI_MINOR_FAULTS] = 8,
		                               [RTI_MAJOR_FAULTS] = 2 };
	struct rti_account account = { .children = { [RTI_CPU_USER] = reads[_i].user_ns,
		                                     [RTI_CPU_SYSTEM] = reads[_i].system_ns,
		                                     [RTI_MINOR_FAULTS] = reads[_i].faults } };

	ck_assert_int_eq(rti_ledger_is_covered_by(&account, exact), reads[_i].is_covered);
}
END_TEST

START_TEST(account_with_another_split_of_the_same_sum_adds_nothing)
{
	struct rti_account root = { .self = { 6000000, 2000000, 90 } };
	const uint64_t waited[RTI_COUNTERS] = { 3000000, 5000000, 90 };
	struct rti_ledger ledger = { 0 };

	rti_ledger_raise_to_sum(&root, waited);
	rti_ledger_keep_final(&ledger, &root);
	rti_ledger_open(&ledger);
	rti_ledger_close(&ledger);
	ck_assert_uint_eq(sum_cpu(ledger.total), 8000000);
	ck_assert_uint_eq(ledger.total[RTI_MINOR_FAULTS], 90);
}
END_TEST

START_TEST(account_of_a_member_and_its_children_raises_the_total_to_it)
{
	struct rti_account root = { .self = { 6000000, 2000000, 90 },
		                    .children = { 10000000, 0, 50 } };
	const uint64_t waited[RTI_COUNTERS] = { 15000000, 12000000, 145 };
	struct rti_ledger ledger = { 0 };

	rti_ledger_raise_to_sum(&root, waited);
	rti_ledger_keep_final(&ledger, &root);
	rti_ledger_open(&ledger);
	rti_ledger_close(&ledger);
	ck_assert_uint_eq(sum_cpu(ledger.total), 27000000);
	ck_assert_uint_eq(ledger.total[RTI_MINOR_FAULTS], 145);
}
END_TEST

START_TEST(member_waited_for_by_the_caller_stays_in_the_total)
{
	struct rti_account root = { .self = { 1000, 500, 10, 0, 3, 1 },
		                    .children = { 20000000, 0, 90 } };
	struct rti_ledger ledger = { 0 };

	rti_ledger_keep_final(&ledger, &root);
	rti_ledger_open(&ledger);
	rti_ledger_close(&ledger);
	ck_assert_uint_eq(ledger.total[RTI_CPU_USER], 20001000);
	ck_assert(!ledger.has_unwaited);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ledger");
	TCase *random_trees = suite_case(suite, "random histories"),
	      *cases = suite_case(suite, "cases");

	printf("# %u histories each\n", suite_share(HISTORIES));
	fflush(stdout);
	tcase_add_test(random_trees, history_with_all_exits_waited_for_is_exact_to_the_tick);
	tcase_add_test(random_trees, history_with_unwaited_exits_neither_falls_nor_counts_twice);
	tcase_add_test(cases, child_reaped_by_its_parent_is_counted_once);
	tcase_add_test(cases, parent_running_after_a_reap_adds_to_the_last_total);
	tcase_add_test(cases, child_reaped_without_account_stays_in_the_total);
	tcase_add_test(cases, child_with_more_cpu_time_than_its_parent_reaped_stays_in_the_total);
	tcase_add_test(cases, children_with_more_cpu_time_together_than_was_reaped_are_reported);
	tcase_add_test(cases, cpu_clock_that_was_read_later_raises_the_account);
	tcase_add_test(cases, child_io_under_reaper_with_hidden_io_stays_in_the_total);
	tcase_add_test(cases, child_io_under_reaper_that_is_readable_later_is_counted_once);
	tcase_add_test(cases, orphan_may_be_in_the_account_that_grew_by_as_much);
	tcase_add_test(cases, growth_attributed_once_is_not_attributed_again);
	tcase_add_test(cases, cpu_split_that_shifts_lets_neither_part_fall);
	tcase_add_test(cases, self_only_ledger_excludes_reaped_children);
	tcase_add_test(cases, children_account_that_is_exact_replaces_the_rounded_one);
	tcase_add_loop_test(cases, exact_account_covers_what_was_read_but_for_what_was_cut, 0, 5);
	tcase_add_test(cases, account_with_another_split_of_the_same_sum_adds_nothing);
	tcase_add_test(cases, account_of_a_member_and_its_children_raises_the_total_to_it);
	tcase_add_test(cases, member_waited_for_by_the_caller_stays_in_the_total);
	return suite_run(suite);
}
