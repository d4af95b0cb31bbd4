/* SPDX-License-Identifier: MIT */
/* Where the memory of a process is told. */
#include "collect/pid_mm.h"

#include <errno.h>

#include "os/procfs_path.h"
#include "os/pid_file.h"

#define PF_KTHREAD 0x00200000u /* include/linux/sched.h */

int rti_pid_mm_read(const struct rti_context *ctx, const struct rti_target *target, const char *file,
                    struct rti_file *cached)
{
	struct rti_path path;

	if (target->stat->flags & PF_KTHREAD)
		return -EOPNOTSUPP;
	if (!target->memory_tid)
		return rti_pid_file_read(ctx, target->pid, file, cached);
	path = rti_task_path(target->pid, target->memory_tid, file);
	return rti_procfs_read(ctx->procfs, RTI_PROC, path.text, RTI_SINGLE_RECORD, ctx->buf);
}
