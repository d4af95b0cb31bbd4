/* SPDX-License-Identifier: MIT */
/* direct_write MIB: a child writes that much, with O_DIRECT, to a file in the current directory. */
#include "direct_io.h"
#include "work.h"

static int fd;

static void write_file(int blocks)
{
	write_directly(fd, blocks);
}

int main(int argc, char **argv)
{
	int blocks = get_number(argc, argv, 1, 200);

	fd = open_direct_file();
	wait_for(start_child(write_file, blocks));
	close_direct_file(fd, blocks);
	report_value("write_bytes", (uint64_t)blocks * MIB);
	report_usage();
	return 0;
}
