/* SPDX-License-Identifier: MIT */
/* direct_write MIB: a child writes that much, with O_DIRECT, to a file in the current directory. */
#include "work.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fd;

static void write_blocks(int blocks)
{
	void *block;

	if (posix_memalign(&block, 4096, MIB) != 0)
		_exit(1);
	memset(block, 'x', MIB);
	while (blocks--) {
		if (write(fd, block, MIB) != (ssize_t)MIB)
			_exit(1);
	}
}

int main(int argc, char **argv)
{
	int blocks = get_number(argc, argv, 1, 200);
	char name[] = "direct_write.XXXXXX";

	fd = mkostemp(name, O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		skip_with_errno("this file system has no direct writes");
	unlink(name);
	wait_for(start_child(write_blocks, blocks));
	if (lseek(fd, 0, SEEK_END) != (off_t)((uint64_t)blocks * MIB))
		skip("the file cannot be written");
	report_value("write_bytes", (uint64_t)blocks * MIB);
	return 0;
}
