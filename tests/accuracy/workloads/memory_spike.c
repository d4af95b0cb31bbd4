/* SPDX-License-Identifier: MIT */
/* memory_spike MIB MS: that much memory, held that long. */
#include "work.h"

#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	uint64_t size = (uint64_t)number(argc, argv, 1, 300) * MIB, base = resident_bytes();
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		cannot("mmap");
	nap(120);
	memset(memory, 1, size);
	nap(number(argc, argv, 2, 80));
	munmap(memory, size);
	nap(120);
	tell("peak_rss_bytes", base + size);
	return 0;
}
