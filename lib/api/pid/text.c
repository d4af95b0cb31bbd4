/* SPDX-License-Identifier: MIT */
/* A text of one process, without a handle. */
#include <errno.h>
#include <string.h>

#include <rtrack/rtrack.h>

#include "os/pid_file.h"
#include "os/thread/one_call.h"

#define PATH_ROOM 4096 /* of the kernel, for a path: fs/proc/base.c, do_proc_readlink() */

/* Each argument ends in NUL, and the text has them in between alone. */
static int read_command_line(const struct rti_context *ctx, int32_t pid)
{
	int err = rti_pid_file_read(ctx, pid, "cmdline", NULL);

	if (err == 0 && ctx->buf->len > 0 && ctx->buf->data[ctx->buf->len - 1] == '\0')
		ctx->buf->len--;
	return err;
}

static int read_cwd(const struct rti_context *ctx, int32_t pid)
{
	ssize_t len = rti_buf_reserve(ctx->buf, PATH_ROOM);

	if (len == 0)
		len = rti_procfs_readlink(ctx->procfs, RTI_PROC, rti_pid_path(pid, "cwd").text,
		                          ctx->buf->data, PATH_ROOM);
	if (len >= 0)
		ctx->buf->len = (size_t)len;
	return len < 0 ? (int)len : 0;
}

/* A zombie has no directory, which is an answer. */
static int read_text(const struct rti_context *ctx, int32_t pid, uint32_t text)
{
	int err;

	if (ctx->platform->is_process && !ctx->platform->is_process(pid))
		return -ESRCH;
	err = text == RT_TEXT_CWD ? read_cwd(ctx, pid) : read_command_line(ctx, pid);
	if (err != -ENOENT)
		return err == -EPERM ? -EACCES : err;
	ctx->buf->len = 0;
	if (rti_procfs_access(ctx->procfs, RTI_PROC, rti_pid_path(pid, "stat").text) == 0)
		return 0;
	return rti_pid_file_is_hidden(ctx, pid) ? -EACCES : -ESRCH;
}

int rt_pid_text(int32_t pid, uint32_t text, char *buffer, size_t *size)
{
	struct rti_one_call call;
	int err;

	if (!size || (!buffer && *size))
		return -EFAULT;
	if (pid <= 0 || (text != RT_TEXT_COMMAND_LINE && text != RT_TEXT_CWD))
		return -EINVAL;
	err = rti_one_call_begin(&call, 0);
	if (err < 0)
		return err;
	err = read_text(&call.ctx, pid, text);
	if (err == 0) {
		if (*size > 0 && call.buf.len > 0)
			memcpy(buffer, call.buf.data, *size < call.buf.len ? *size : call.buf.len);
		*size = call.buf.len;
	}
	return rti_one_call_end(&call, err);
}
