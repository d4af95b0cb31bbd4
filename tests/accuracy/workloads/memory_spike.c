/* SPDX-License-Identifier: MIT */
/* memory_spike MIB MS: the process holds that much memory for that long. */
#include "work.h"

#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	uint64_t size = (uint64_t)get_number(argc, argv, 1, 300) * MIB,
		 base = read_resident_bytes();
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		skip_with_errno("mmap");
	sleep_ms(120);
	memset(memory, 1, size);
	sleep_ms(get_number(argc, argv, 2, 80));
	munmap(memory, size);
	sleep_ms(120);
	report_value("peak_rss_bytes", base + size);
	return 0;
}
