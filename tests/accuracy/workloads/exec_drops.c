/* SPDX-License-Identifier: MIT */
/* exec_drops MIB MS: the process holds that much memory for that long, and then executes itself,
 * which drops it. The peak is that of the process: an exec does not begin a new one. */
#include "memory.h"
#include "work.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char again[] = "again", *arguments[] = { argv[0], again, NULL };
	uint64_t size, resident;

	if (argc > 1 && strcmp(argv[1], again) == 0) {
		sleep_ms(150);
		report_usage();
		return 0;
	}
	size = (uint64_t)get_number(argc, argv, 1, 200) * MIB;
	fill_memory(size);
	sleep_ms(get_number(argc, argv, 2, 80));
	resident = read_resident_bytes();
	report_own_peak(size, resident);
	report_range("peak_footprint_bytes", size, resident + PROCESS_SLACK_BYTES);
	execv("/proc/self/exe", arguments);
	skip_with_errno("execv");
}
