/* SPDX-License-Identifier: MIT */
/* A plug-in that says on stderr that the library wants to use it, and cannot be used. VERSION and
 * ROW_SIZE are what it says of itself. */
#include <errno.h>
#include <unistd.h>

#include "bpf/batch/batch.h"

extern const struct rti_batch_ops rti_bpf_batch __attribute__((visibility("default")));

static int open_reader(void **out)
{
	ssize_t n = write(STDERR_FILENO, "opened\n", 7);

	*out = NULL;
	return n < 0 ? -EIO : -EOPNOTSUPP;
}

const struct rti_batch_ops rti_bpf_batch = {
	.version = VERSION,
	.row_size = ROW_SIZE,
	.open = open_reader,
};
