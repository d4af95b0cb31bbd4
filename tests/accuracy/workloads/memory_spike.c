/* SPDX-License-Identifier: MIT */
/* memory_spike MIB MS [huge]: the process holds that much memory for that long. */
#include "memory.h"
#include "work.h"

#include <sys/mman.h>

int main(int argc, char **argv)
{
	uint64_t size = (uint64_t)get_number(argc, argv, 1, 300) * MIB, resident;
	char *memory;

	sleep_ms(120);
	memory = argc > 3 ? fill_huge_memory(size) : fill_memory(size);
	sleep_ms(get_number(argc, argv, 2, 80));
	resident = read_resident_bytes();
	munmap(memory, size);
	sleep_ms(120);
	report_own_peak(size, resident);
	report_range("peak_footprint_bytes", size, resident + PROCESS_SLACK_BYTES);
	report_usage();
	return 0;
}
