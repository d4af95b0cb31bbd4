/* SPDX-License-Identifier: MIT */
/* The files about the memory of a process, and which thread still has its address space. */
#include "collect/pid_mm.h"

#include <errno.h>

#include "os/pid_file.h"
#include "os/procfs.h"
#include "util/visit.h"

#define PF_KTHREAD 0x00200000u /* include/linux/sched.h */

struct thread_search {
	const struct rti_context *ctx;
	int32_t pid, found;
};

static int match_live_thread(void *arg, const char *name)
{
	struct thread_search *search = arg;
	const struct rti_context *ctx = search->ctx;
	int32_t tid = rti_path_number(name);
	struct rti_path path = rti_task_path(search->pid, tid, "stat");
	struct rti_pid_stat stat;

	if (tid == 0 || tid == search->pid)
		return RTI_CONTINUE;
	if (rti_procfs_read(ctx->procfs, RTI_PROC, path.text, RTI_ONE_LINE, ctx->buf) < 0 ||
	    rti_parse_pid_stat(ctx->buf->data, ctx->buf->len, &stat) < 0 || stat.state == 'Z')
		return RTI_CONTINUE;
	search->found = tid;
	return RTI_STOP;
}

int32_t rti_pid_mm_thread(const struct rti_context *ctx, int32_t pid,
                          const struct rti_pid_stat *stat)
{
	struct thread_search search = { ctx, pid, 0 };

	if (stat->state == 'Z' && stat->num_threads > 1)
		rti_procfs_list(ctx->procfs, RTI_PROC, rti_pid_path(pid, "task").text,
		                match_live_thread, &search);
	return search.found;
}

int rti_pid_mm_read(const struct rti_context *ctx, const struct rti_target *target,
                    const char *file, struct rti_file *cached)
{
	struct rti_path path;

	if (target->stat->flags & PF_KTHREAD)
		return -EOPNOTSUPP;
	if (!target->memory_tid)
		return rti_pid_file_read(ctx, target->pid, file, cached);
	path = rti_task_path(target->pid, target->memory_tid, file);
	return rti_procfs_read(ctx->procfs, RTI_PROC, path.text, rti_pid_file_format(file),
	                       ctx->buf);
}

int rti_pid_mm_read_statm(const struct rti_context *ctx, const struct rti_target *target,
                          struct rti_pid_statm *out)
{
	int err = rti_pid_mm_read(ctx, target, "statm", target->statm);

	return err < 0 ? err : rti_parse_pid_statm(ctx->buf->data, ctx->buf->len, out);
}

/* Opened each time: a cached descriptor would stay with the address space from before an exec. */
int rti_pid_mm_read_rollup(const struct rti_context *ctx, const struct rti_target *target,
                           struct rti_smaps_rollup *out)
{
	int err = rti_pid_mm_read(ctx, target, "smaps_rollup", NULL);

	if (err == 0 && ctx->buf->len == 0)
		err = -ESRCH; /* Linux 4.18 answers so for a zombie */
	return err < 0 ? err : rti_parse_smaps_rollup(ctx->buf->data, ctx->buf->len, out);
}
