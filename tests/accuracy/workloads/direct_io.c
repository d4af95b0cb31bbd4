/* SPDX-License-Identifier: MIT */
#include "direct_io.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "work.h"

int open_direct_file(void)
{
	char name[] = "direct_io.XXXXXX";
	int fd = mkostemp(name, O_DIRECT | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		skip_with_errno("this file system has no direct I/O");
	unlink(name);
	if (fstatfs(fd, &fs) < 0 || fs.f_type == TMPFS_MAGIC)
		skip("this file system keeps its files in memory");
	return fd;
}

/* Direct I/O needs an aligned buffer. */
static void *map_block(void)
{
	void *block = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		_exit(1);
	memset(block, 'x', MIB);
	return block;
}

void write_directly(int fd, int mib)
{
	void *block = map_block();

	while (mib--) {
		if (write(fd, block, MIB) != (ssize_t)MIB)
			_exit(1);
	}
	munmap(block, MIB);
}

void read_directly(int fd, int mib)
{
	void *block = map_block();

	for (int i = 0; i < mib; i++) {
		if (pread(fd, block, MIB, (off_t)((uint64_t)i * MIB)) != (ssize_t)MIB)
			_exit(1);
	}
	munmap(block, MIB);
}

void close_direct_file(int fd, int mib)
{
	if (lseek(fd, 0, SEEK_END) != (off_t)((uint64_t)mib * MIB))
		skip("the file cannot be written");
	close(fd);
}
