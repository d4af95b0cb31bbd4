/* SPDX-License-Identifier: MIT */
/* waver MS: alternates between user and system time, faster than the clock ticks. The kernel looks
 * at ticks to split the two. So the split differs from one read to the next, while the sum is
 * exact. */
#include "work.h"

#include <fcntl.h>
#include <unistd.h>

#define PIECE_US 250

static char buffer[1 << 16];

static void use_kernel(int fd)
{
	for (int i = 0; i < 64; i++) {
		if (pread(fd, buffer, sizeof(buffer), 0) < 0)
			skip_with_errno("/dev/zero");
	}
}

int main(int argc, char **argv)
{
	int pieces = get_number(argc, argv, 1, 400) * 1000 / (2 * PIECE_US);
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		skip_with_errno("/dev/zero");
	while (pieces--) {
		burn_us(PIECE_US);
		use_kernel(fd);
	}
	return 0;
}
