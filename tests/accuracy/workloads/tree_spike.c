/* SPDX-License-Identifier: MIT */
/* tree_spike MIB CHILDREN MS: children fill memory of their own, and when all have done so they
 * hold it for a moment. */
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
	nap(ms);
}

int main(int argc, char **argv)
{
	int children = number(argc, argv, 2, 4), ms = number(argc, argv, 3, 20);
	uint64_t base = resident_bytes();
	pid_t pids[16];
	char bytes[16] = { 0 };

	size = (uint64_t)number(argc, argv, 1, 60) * MIB;
	if (children < 1 || children > 16 || pipe(filled) < 0 || pipe(held) < 0)
		cannot("pipe");
	nap(150);
	for (int i = 0; i < children; i++)
		pids[i] = start_child(hold, ms);
	for (int i = 0; i < children; i++) {
		if (read(filled[0], bytes, 1) != 1)
			cannot("read");
	}
	if (write(held[1], bytes, (size_t)children) != children)
		cannot("write");
	for (int i = 0; i < children; i++)
		wait_for(pids[i]);
	nap(150);
	tell("peak_tree_bytes", base + (uint64_t)children * size);
	return 0;
}
