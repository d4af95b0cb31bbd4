/* SPDX-License-Identifier: MIT */
/* Simulated processes of which the test knows every page. */
#include "simulated_pages.h"

#include <stdlib.h>
#include <string.h>

#include "os/context.h"
#include "suite.h"

struct pages_world world;

static const struct rti_context no_files;

void pages_set_up(void)
{
	memset(&world, 0, sizeof(world));
	world.copied = 1;
	ck_assert_int_eq(rti_member_table_init(&world.table, 0), 0);
}

void pages_tear_down(void)
{
	rti_member_table_free(&world.table, &no_files);
}

unsigned pages_random(unsigned limit)
{
	world.seed = world.seed * 1664525u + 1013904223u;
	return (unsigned)((uint64_t)(world.seed >> 8) * limit >> 24);
}

/* --- What processes do. --- */

void pages_grow(int i, size_t pages)
{
	struct pages_process *p = &world.p[i];

	for (; pages > 0 && p->count < PAGES_OF_ONE; pages--) {
		p->pages[p->count++] = ++world.last_page;
		p->faults++;
	}
}

/* The oldest pages are freed first, since these are inherited. */
void pages_release(int i, size_t pages)
{
	struct pages_process *p = &world.p[i];

	if (pages > p->count)
		pages = p->count;
	p->count -= pages;
	memmove(p->pages, p->pages + pages, p->count * sizeof(p->pages[0]));
}

void pages_execute(int i, size_t pages)
{
	struct pages_process *p = &world.p[i];

	p->count = 0;
	p->is_forked = false;
	p->stack = ++world.last_stack;
	pages_grow(i, pages);
}

void pages_start(int i, size_t pages)
{
	world.p[i] = (struct pages_process){ .is_alive = true, .parent = -1, .shared_pages = 1 };
	pages_execute(i, pages);
}

void pages_fork(int parent, int child)
{
	world.p[child] = world.p[parent];
	world.p[child].parent = parent;
	world.p[child].is_forked = true;
	world.p[child].is_known = false;
	world.p[child].faults = 0;
	world.p[child].forked_at = world.looks;
}

static bool is_shared(int i, uint32_t page)
{
	for (int other = 0; other < PAGES_PROCESSES; other++) {
		const struct pages_process *p = &world.p[other];

		for (size_t n = 0; other != i && p->is_alive && n < p->count; n++) {
			if (p->pages[n] == page)
				return true;
		}
	}
	return false;
}

/* A write to a page: a copy if it is shared. If the other side has copied it, the page is just made
 * writable. Each is a fault. */
void pages_write(int i, size_t first, size_t pages)
{
	struct pages_process *p = &world.p[i];

	for (size_t n = first; n < first + pages && n < p->count; n++) {
		p->faults++;
		if (is_shared(i, p->pages[n]))
			p->pages[n] = ++world.last_page;
	}
}

void pages_end(int i)
{
	world.p[i].is_alive = false;
	world.p[i].count = 0;
	for (int child = 0; child < PAGES_PROCESSES; child++) {
		if (world.p[child].parent == i)
			world.p[child].parent = -1;
	}
}

static int compare_pages(const void *a, const void *b)
{
	uint32_t page = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return page < other ? -1 : page > other;
}

/* Returns how many pages all processes have together. */
uint64_t pages_count(void)
{
	static uint32_t pages[PAGES_PROCESSES * PAGES_OF_ONE];
	uint64_t count = 0, different = 0;

	for (int i = 0; i < PAGES_PROCESSES; i++) {
		memcpy(pages + count, world.p[i].pages, world.p[i].count * sizeof(pages[0]));
		count += world.p[i].is_alive ? world.p[i].count : 0;
	}
	qsort(pages, count, sizeof(pages[0]), compare_pages);
	for (uint64_t n = 0; n < count; n++)
		different += n == 0 || pages[n] != pages[n - 1];
	return different;
}

/* --- What the library sees. --- */

struct rti_member *pages_member(int i)
{
	return i < 0 ? NULL : rti_member_find(&world.table, FIRST_PID + i);
}

struct rti_memory_look pages_look_at(int i)
{
	const struct pages_process *p = &world.p[i];

	return (struct rti_memory_look){
		.rss_pages = p->count + p->shared_pages,
		.shared_pages = p->shared_pages,
		.size_pages = 10000,
		.faults = p->faults,
		.stack = p->stack,
		.is_forked = p->is_forked,
	};
}

/* A fork keeps the address of the stack, an exec draws a new one. */
static bool is_relative(int i, const struct rti_member *other)
{
	return other && other->memory.is_present && other->memory.look.stack == world.p[i].stack;
}

/* The parent, else any other member that has the memory of the same exec. */
static struct rti_member *find_relative(int i)
{
	struct rti_member *parent = pages_member(world.p[i].parent);

	if (is_relative(i, parent))
		return parent;
	for (size_t n = 0; n < world.table.count; n++) {
		struct rti_member *other = &world.table.members[n];

		if (other != pages_member(i) && is_relative(i, other))
			return other;
	}
	return NULL;
}

void pages_join(int i, const struct rti_memory_look *look)
{
	const struct rti_pid_stat stat = { .pid = FIRST_PID + i, .has_starttime = true };
	struct rti_memory_look first = *look;
	struct rti_member *parent;

	if (!pages_member(i))
		ck_assert_int_eq(rti_member_table_add_take(&world.table, &no_files, &stat, NULL),
		                 0);
	parent = look->is_forked ? find_relative(i) : NULL;
	first.is_late = world.looks > world.p[i].forked_at + 1 ||
	                (parent && parent->pid != FIRST_PID + world.p[i].parent);
	rti_memory_join(&pages_member(i)->memory, &first, parent);
	world.p[i].is_known = true;
}

static void leave(int i)
{
	rti_memory_leave(&world.table, pages_member(i));
}

static void forget(int i)
{
	leave(i);
	pages_member(i)->end.has_exited = true;
	rti_member_table_remove_exited(&world.table, &no_files);
	world.p[i].is_known = false;
}

static void look_once(int i)
{
	const struct rti_memory_look look = pages_look_at(i);
	struct rti_memory_part *memory;

	if (!world.p[i].is_alive) {
		if (pages_member(i))
			forget(i);
		return;
	}
	if (pages_member(i) && !world.p[i].is_known)
		forget(i); /* another process has got its pid */
	if (!pages_member(i)) {
		pages_join(i, &look);
		return;
	}
	memory = &pages_member(i)->memory;
	if (memory->look.stack != look.stack) {
		leave(i);
		pages_join(i, &look);
	} else {
		rti_memory_update(memory, &look, world.copied);
	}
}

/* Look at all processes, parents first: a child has a higher number. */
void pages_look(void)
{
	world.looks++;
	for (int i = 0; i < PAGES_PROCESSES; i++)
		look_once(i);
	rti_memory_sum(&world.table, &world.sums);
}

void pages_check_bounds(void)
{
	ck_assert_uint_le(world.sums.anon_pages_min, pages_count());
	ck_assert_uint_le(world.sums.anon_pages_min, world.sums.anon_pages);
	ck_assert_uint_ge(world.sums.anon_pages_max, pages_count());
	ck_assert_uint_ge(world.sums.anon_pages_max, world.sums.anon_pages);
}
