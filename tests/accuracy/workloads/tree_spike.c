/* SPDX-License-Identifier: MIT */
/* tree_spike MIB CHILDREN MS: each child fills memory, and when all have done so, they hold it
 * for a moment. */
#include "work.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t size;
static int filled[2], held[2];

static void hold(int ms)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char byte = 0;

	if (memory == MAP_FAILED)
		_exit(1);
	memset(memory, 1, size);
	if (write(filled[1], &byte, 1) != 1 || read(held[0], &byte, 1) != 1)
		_exit(1);
	sleep_ms(ms);
}

int main(int argc, char **argv)
{
	int children = get_number(argc, argv, 2, 4), ms = get_number(argc, argv, 3, 20);
	uint64_t base = read_resident_bytes();
	pid_t pids[16];
	char bytes[16] = { 0 };

	size = (uint64_t)get_number(argc, argv, 1, 60) * MIB;
	if (children < 1 || children > 16 || pipe(filled) < 0 || pipe(held) < 0)
		skip_with_errno("pipe");
	sleep_ms(150);
	for (int i = 0; i < children; i++)
		pids[i] = start_child(hold, ms);
	for (int i = 0; i < children; i++) {
		if (read(filled[0], bytes, 1) != 1)
			skip_with_errno("read");
	}
	if (write(held[1], bytes, (size_t)children) != children)
		skip_with_errno("write");
	for (int i = 0; i < children; i++)
		wait_for(pids[i]);
	sleep_ms(150);
	report_value("peak_tree_bytes", base + (uint64_t)children * size);
	return 0;
}
