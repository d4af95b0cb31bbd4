/* SPDX-License-Identifier: MIT */
/* /proc/PID/stat of a process, and what it proves about the identity of the process. */
#include "collect/pid_stat.h"

#include <errno.h>

#include "os/pid_file.h"

int rti_pid_stat_read(const struct rti_context *ctx, int32_t pid, struct rti_file *cached,
                      struct rti_pid_stat *out)
{
	bool was_open = cached && cached->fd >= 0;
	int err = rti_pid_file_read(ctx, pid, "stat", cached);

	/* The process of the descriptor is gone, even if the pid has been reused. */
	if (err == -ESRCH && was_open)
		return err;
	if (err == 0 && ctx->buf->len == 0)
		/* a cached descriptor of a process that has exited may read as empty */
		err = -ESRCH;
	if (err == 0)
		err = rti_parse_pid_stat(ctx->buf->data, ctx->buf->len, out);
	if (err == -ENOENT || err == -ESRCH)
		err = rti_pid_file_is_hidden(ctx, pid) ? -EACCES : -ESRCH;
	/* hidepid=1 lists the process, and refuses all of its files */
	return err == -EPERM ? -EACCES : err;
}

/* A parent that has turned into 0 belongs to a process that the kernel is releasing: its usage has
 * already been added to its reaper, and the rest of such a line is 0 as well. */
bool rti_pid_stat_is_same(const struct rti_pid_stat *before, const struct rti_pid_stat *now)
{
	if (now->ppid == 0 && before->ppid != 0)
		return false;
	return !now->has_starttime || !before->has_starttime || now->starttime == before->starttime;
}

bool rti_pid_stat_is_leader(const struct rti_context *ctx, const struct rti_pid_stat *stat)
{
	struct rti_pid_status status;
	int err;

	if (stat->has_signals)
		return stat->exit_signal >= 0;
	err = rti_pid_file_read(ctx, stat->pid, "status", NULL);
	if (err == 0)
		err = rti_parse_pid_status(ctx->buf->data, ctx->buf->len, &status);
	return err < 0 || !(status.has & RTI_STATUS_TGID) || status.tgid == stat->pid;
}

bool rti_pid_stat_is_zombie(const struct rti_pid_stat *stat)
{
	return (stat->state == 'Z' || stat->state == 'X') && stat->num_threads <= 1;
}
