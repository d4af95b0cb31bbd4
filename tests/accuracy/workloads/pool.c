/* SPDX-License-Identifier: MIT */
/* pool MIB CHILDREN MS HOW [huge]: a forking pool. The parent fills memory, in huge pages if that
 * is asked for, and its children share it for a while. HOW:
 *   share   the children only sleep
 *   write   each writes to half of it, which copies that half
 *   deep    each has a child, and that one writes to a quarter of it
 *   add     each fills as much memory of its own
 * The memory of the tree is known while the parent is alone, and while all children hold theirs. */
#include "holders.h"
#include "memory.h"
#include "work.h"

#include <stdbool.h>
#include <string.h>

/* How long the parent is alone. */
#define ALONE_MS 400

static char *memory;
static uint64_t size;
static int children;
static bool is_deep;
static uint64_t written, added; /* by each process that writes or adds */

static void write_and_hold(int holder)
{
	memset(memory, 2, written);
	if (added)
		fill_memory(added);
	hold(holder, written + added);
}

static void run_child(int holder)
{
	pid_t below;

	if (!is_deep) {
		write_and_hold(holder);
		return;
	}
	below = start_child(write_and_hold, holder + children);
	hold(holder, 0);
	wait_for(below);
}

static void choose(const char *how)
{
	is_deep = strcmp(how, "deep") == 0;
	written = strcmp(how, "write") == 0 ? size / 2 : is_deep ? size / 4 : 0;
	added = strcmp(how, "add") == 0 ? size : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int main(int argc, char **argv)
{
	uint64_t base = read_resident_bytes(), begin, known, own;
	pid_t pids[64];

	size = (uint64_t)get_number(argc, argv, 1, 200) * MIB;
	children = get_number(argc, argv, 2, 12);
	choose(argc > 4 ? argv[4] : "share");
	if (children > 64)
		return 2;
	prepare_holders(is_deep ? 2 * children : children);
	memory = argc > 5 ? fill_huge_memory(size) : fill_memory(size);
	begin = now_ns();
	sleep_ms(ALONE_MS);
	report_phase(begin, size, size + base + PROCESS_SLACK_BYTES);
	for (int i = 0; i < children; i++)
		pids[i] = start_child(run_child, i);
	await_holders();
	begin = now_ns();
	sleep_ms(get_number(argc, argv, 3, 800));
	known = size + (uint64_t)children * (written + added);
	report_phase(begin, known, known + sum_overhead(base));
	own = read_resident_bytes();
	release_holders();
	for (int i = 0; i < children; i++)
		wait_for(pids[i]);
	report_own_peak(size, larger(own, largest_holder()));
	report_range("peak_footprint_bytes", known, known + sum_overhead(base));
	report_usage();
	return 0;
}
