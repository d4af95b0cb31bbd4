/* SPDX-License-Identifier: MIT */
/* Reads the files of one process, by name or through a cached descriptor. */
#include "os/pid_file.h"

#include <errno.h>
#include <string.h>

#include "os/procfs.h"

enum rti_file_format rti_pid_file_format(const char *file)
{
	static const struct {
		const char *file;
		enum rti_file_format format;
	} formats[] = {
		{ "statm", RTI_ONE_LINE },      { "io", RTI_SEVEN_LINES },
		{ "stat", RTI_ONE_LINE },       { "smaps_rollup", RTI_SMAPS_LINES },
		{ "status", RTI_STATUS_LINES }, { "schedstat", RTI_ONE_LINE },
		{ "smaps", RTI_SEQ_FILE },
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(file, formats[i].file) == 0)
			return formats[i].format;
	return RTI_SINGLE_RECORD;
}

int rti_pid_file_read(const struct rti_context *ctx, int32_t pid, const char *file,
                      struct rti_file *cached)
{
	enum rti_file_format format = rti_pid_file_format(file);
	/* An open file needs no path. */
	int err = cached ? rti_procfs_read_if_open(ctx->procfs, format, cached, ctx->buf) : -EBADF;
	struct rti_path path;

	if (err != -EBADF)
		return err;
	path = rti_pid_path(pid, file);
	if (cached)
		return rti_procfs_read_cached(ctx->procfs, RTI_PROC, path.text, format, cached,
		                              ctx->buf);
	return rti_procfs_read(ctx->procfs, RTI_PROC, path.text, format, ctx->buf);
}

int rti_pid_file_open(const struct rti_context *ctx, int32_t pid, const char *file,
                      struct rti_file *out)
{
	return rti_procfs_open_file(ctx->procfs, RTI_PROC, rti_pid_path(pid, file).text, out);
}

/* False once it was reaped, and if the pids are not ours. */
static bool has_clock(const struct rti_context *ctx, int32_t pid)
{
	struct rti_cpu_clock clock = { 0 };

	return ctx->platform->cpu_clock && ctx->platform->cpu_clock(pid, &clock) == 0;
}

bool rti_pid_was_reaped(const struct rti_context *ctx, int32_t pid)
{
	return ctx->platform->cpu_clock && !has_clock(ctx, pid);
}

/* /proc may hide the processes of other users (hidepid), while the CPU clock of a process
 * answers every caller. A process that is being reaped leaves /proc a moment before its clock
 * disappears. So a process is hidden only if its clock is there before and after. */
bool rti_pid_file_is_hidden(const struct rti_context *ctx, int32_t pid)
{
	return has_clock(ctx, pid) &&
	       rti_procfs_access(ctx->procfs, RTI_PROC, rti_pid_path(pid, "stat").text) ==
	           -ENOENT &&
	       has_clock(ctx, pid);
}
