/* SPDX-License-Identifier: MIT */
/* The I/O of the processes that a caller reaps. */
#include "supervisor/reaped_io.h"

#include <unistd.h>

#include "parse/parse.h"
#include "supervisor/proc_file.h"

/* Returns the length of the file, or 0. */
static size_t read_io(struct rti_shared_stats *shared, pid_t pid, uint64_t out[RTS_IO_COUNTERS])
{
	char text[512];
	ssize_t n = rts_read_pid_file(shared, pid, "io", text, sizeof(text));
	struct rti_pid_io io;

	if (n <= 0 || rti_parse_pid_io(text, (size_t)n, &io) < 0)
		return 0;
	out[0] = io.rchar;
	out[1] = io.wchar;
	out[2] = io.read_bytes;
	out[3] = io.write_bytes;
	out[4] = io.cancelled_write_bytes;
	out[5] = io.syscr;
	out[6] = io.syscw;
	return (size_t)n;
}

/* Without privileges the kernel shows no I/O of a process that has released its memory. Then what
 * this process's own account grows by while it reaps is the I/O of the zombie, unless other threads
 * run. */
void rts_reaped_io_before(struct rts_reaped_io *io, struct rti_shared_stats *shared, pid_t zombie)
{
	struct rti_pid_stat stat;
	char text[1024];
	ssize_t n;
	size_t len;

	io->is_of_self = false;
	io->is_of_zombie = read_io(shared, zombie, io->at_hand) > 0;
	if (io->is_of_zombie)
		return;
	n = rts_read_pid_file(shared, getpid(), "stat", text, sizeof(text));
	if (n <= 0 || rti_parse_pid_stat(text, (size_t)n, &stat) < 0 || stat.num_threads != 1)
		return;
	len = read_io(shared, getpid(), io->at_hand);
	io->is_of_self = len > 0;
	/* The text is from before the call that reads it. */
	io->at_hand[0] += len;
	io->at_hand[RTS_READ_CALLS] += len > 0;
}

void rts_reaped_io_after(struct rts_reaped_io *io, struct rti_shared_stats *shared, bool is_reaped)
{
	uint64_t now[RTS_IO_COUNTERS];

	if (!is_reaped)
		return;
	if (io->is_of_self && read_io(shared, getpid(), now) > 0) {
		for (int i = 0; i < RTS_IO_COUNTERS; i++)
			io->sum[i] += now[i] - io->at_hand[i];
	} else if (io->is_of_zombie) {
		for (int i = 0; i < RTS_IO_COUNTERS; i++)
			io->sum[i] += io->at_hand[i];
	} else {
		io->has_unread = true;
	}
}
