/* SPDX-License-Identifier: MIT */
/* non_dumpable MIB WRITTEN_MIB MS: the process and its child are not dumpable, so that only root
 * may read their `io` and `smaps_rollup`. The child writes to a file, past the page cache, and
 * holds memory for a while. */
#include "direct_io.h"
#include "memory.h"
#include "work.h"

#include <sys/prctl.h>

static int fd, written_mib;
static uint64_t size;

static void write_and_hold(int ms)
{
	write_directly(fd, written_mib);
	fill_memory(size);
	sleep_ms(ms);
}

int main(int argc, char **argv)
{
	int ms = get_number(argc, argv, 3, 400);
	uint64_t base = read_resident_bytes();

	size = (uint64_t)get_number(argc, argv, 1, 60) * MIB;
	written_mib = get_number(argc, argv, 2, 8);
	fd = open_direct_file();
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		skip_with_errno("prctl");
	sleep_ms(ms / 2);
	wait_for(start_child(write_and_hold, ms));
	close_direct_file(fd, written_mib);
	report_value("write_bytes", (uint64_t)written_mib * MIB);
	/* The child cannot measure itself. Its base is that of its parent, or less. */
	report_range("peak_rss_bytes", size, size + base + PROCESS_SLACK_BYTES);
	report_range("peak_footprint_bytes", size, size + base + 2 * PROCESS_SLACK_BYTES);
	report_usage();
	return 0;
}
