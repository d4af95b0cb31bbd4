/* SPDX-License-Identifier: MIT */
/* Where the memory of a process is told. */
#include "memory_file.h"

#include <errno.h>

#include "path.h"

#define PF_KTHREAD 0x00200000u /* include/linux/sched.h */

int rti_memory_read(const struct rti_context *ctx, const struct rti_target *who, const char *leaf,
                    struct rti_file *kept)
{
	struct rti_path path = rti_pid_path(who->pid, leaf);

	if (who->stat->flags & PF_KTHREAD)
		return -EOPNOTSUPP;
	if (who->memory_tid)
		path = rti_task_path(who->pid, who->memory_tid, leaf);
	else if (kept)
		return rti_source_reread(ctx->source, RTI_PROC, path.text, RTI_WHOLE, kept, ctx->buf);
	return rti_source_read(ctx->source, RTI_PROC, path.text, RTI_WHOLE, ctx->buf);
}
