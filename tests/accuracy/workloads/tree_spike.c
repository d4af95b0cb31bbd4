/* SPDX-License-Identifier: MIT */
/* tree_spike MIB CHILDREN MS: each child fills memory, and when all have done so, they hold it
 * for a moment. */
#include "holders.h"
#include "memory.h"
#include "work.h"

static uint64_t size;

static void fill_and_hold(int holder)
{
	fill_memory(size);
	hold(holder, size);
}

int main(int argc, char **argv)
{
	int children = get_number(argc, argv, 2, 4);
	uint64_t base = read_resident_bytes(), known;
	pid_t pids[16];

	size = (uint64_t)get_number(argc, argv, 1, 60) * MIB;
	if (children < 1 || children > 16)
		return 2;
	prepare_holders(children);
	sleep_ms(150);
	for (int i = 0; i < children; i++)
		pids[i] = start_child(fill_and_hold, i);
	await_holders();
	sleep_ms(get_number(argc, argv, 3, 20));
	release_holders();
	for (int i = 0; i < children; i++)
		wait_for(pids[i]);
	sleep_ms(150);
	known = (uint64_t)children * size;
	report_own_peak(size, largest_holder());
	report_range("peak_footprint_bytes", known, known + sum_overhead(base));
	report_usage();
	return 0;
}
