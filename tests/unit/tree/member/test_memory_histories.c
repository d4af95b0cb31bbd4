/* SPDX-License-Identifier: MIT */
/* The memory model in random histories of processes that fork, write, grow, shrink, execute
 * programs and end. */
#include "simulated_pages.h"
#include "suite.h"

static int pick_alive(void)
{
	int i = (int)pages_random(PAGES_PROCESSES);

	for (int n = 0; n < PAGES_PROCESSES; n++, i = (i + 1) % PAGES_PROCESSES) {
		if (world.p[i].is_alive)
			return i;
	}
	pages_start(0, 100);
	return 0;
}

/* A free place with a higher number than the parent, or -1. */
static int pick_free(int parent)
{
	for (int i = parent + 1; i < PAGES_PROCESSES; i++) {
		if (!world.p[i].is_alive && !world.p[i].is_known)
			return i;
	}
	return -1;
}

static void do_something(void)
{
	int i = pick_alive(), child = pick_free(i);
	size_t pages = pages_random(200);

	switch (pages_random(12)) {
	case 0:
	case 1:
		if (child >= 0)
			pages_fork(i, child);
		break;
	case 2:
		pages_end(i);
		break;
	case 3:
		pages_execute(i, pages);
		break;
	case 4:
		pages_release(i, pages);
		break;
	case 5:
	case 6:
		pages_grow(i, pages);
		break;
	default:
		pages_write(i, pages_random(400), pages);
	}
}

/* Looks after each step, as when little happens between two samples. */
START_TEST(bounds_hold_the_truth_in_random_histories)
{
	for (unsigned history = 0; history < suite_share(50); history++) {
		pages_tear_down();
		pages_set_up();
		world.seed = (unsigned)_i * 1000 + history;
		pages_start(0, 400);
		for (int step = 0; step < 60; step++) {
			do_something();
			pages_look();
			pages_check_bounds();
		}
	}
}
END_TEST

/* Some processes are found after much has happened, and some never. */
START_TEST(bounds_hold_the_truth_when_members_are_found_late)
{
	for (unsigned history = 0; history < suite_share(50); history++) {
		pages_tear_down();
		pages_set_up();
		world.seed = (unsigned)_i * 1000 + history;
		pages_start(0, 400);
		for (int step = 0; step < 40; step++) {
			for (unsigned n = pages_random(8); n > 0; n--)
				do_something();
			pages_look();
			pages_check_bounds();
		}
	}
}
END_TEST

/* The pools that the model was made for: children are forked, copy and grow, and end. */
START_TEST(estimate_of_a_forking_pool_is_close_to_the_truth)
{
	uint64_t truth;

	world.seed = (unsigned)_i + 1;
	pages_start(0, 3000);
	pages_look();
	for (int step = 0; step < 200; step++) {
		int i = 1 + (int)pages_random(PAGES_PROCESSES - 1);

		if (!world.p[i].is_alive && !world.p[i].is_known)
			pages_fork(0, i);
		else if (pages_random(4) == 0)
			pages_end(i);
		else if (world.p[i].is_alive && pages_random(2))
			pages_write(i, pages_random(2000), pages_random(200));
		else if (world.p[i].is_alive)
			pages_grow(i, pages_random(100));
		pages_look();
		truth = pages_count();
		ck_assert_uint_ge(world.sums.anon_pages, truth - truth / 10);
		ck_assert_uint_le(world.sums.anon_pages, truth + truth / 10);
	}
}
END_TEST

START_TEST(links_of_members_are_those_of_living_processes)
{
	for (unsigned history = 0; history < suite_share(200); history++) {
		pages_tear_down();
		pages_set_up();
		world.seed = (unsigned)_i * 1000 + history;
		pages_start(0, 100);
		for (int step = 0; step < 40; step++) {
			uint32_t forked = 0, linked = 0;

			do_something();
			pages_look();
			for (size_t i = 0; i < world.table.count; i++) {
				const struct rti_memory_part *m = &world.table.members[i].memory;
				const struct rti_member *parent =
				    m->parent ? rti_member_find(&world.table, m->parent) : NULL;

				ck_assert(!m->parent || (parent && parent->memory.is_present));
				ck_assert(m->is_present || (!m->parent && !m->forked));
				linked += m->parent != 0;
				forked += m->forked;
			}
			ck_assert_uint_eq(linked, forked);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory_histories");
	TCase *histories = suite_case(suite, "histories");

	tcase_add_checked_fixture(histories, pages_set_up, pages_tear_down);
	tcase_add_loop_test(histories, bounds_hold_the_truth_in_random_histories, 0, 20);
	tcase_add_loop_test(histories, bounds_hold_the_truth_when_members_are_found_late, 0, 20);
	tcase_add_loop_test(histories, estimate_of_a_forking_pool_is_close_to_the_truth, 0, 20);
	tcase_add_loop_test(histories, links_of_members_are_those_of_living_processes, 0, 20);
	return suite_run(suite);
}
