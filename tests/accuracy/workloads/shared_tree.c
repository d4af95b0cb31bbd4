/* SPDX-License-Identifier: MIT */
/* shared_tree MIB CHILDREN MS: children share the memory of their parent until they write to it.
 * Each child writes half of it. */
#include "work.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

static char *memory;
static uint64_t size;

static void write_half(int ms)
{
	memset(memory, 2, size / 2);
	sleep_ms(ms);
}

int main(int argc, char **argv)
{
	int children = get_number(argc, argv, 2, 3), ms = get_number(argc, argv, 3, 400);
	uint64_t base = read_resident_bytes();
	pid_t pids[16];

	size = (uint64_t)get_number(argc, argv, 1, 160) * MIB;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || children > 16)
		skip_with_errno("mmap");
	memset(memory, 1, size);
	for (int i = 0; i < children; i++)
		pids[i] = start_child(write_half, ms);
	for (int i = 0; i < children; i++)
		wait_for(pids[i]);
	report_value("peak_rss_bytes", base + size);
	report_value("peak_tree_bytes", base + size + (uint64_t)children * (size / 2));
	return 0;
}
