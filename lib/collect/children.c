/* SPDX-License-Identifier: MIT */
/* The children of one process, from the `children` files of its threads. */
#include "collect/children.h"

#include <errno.h>

#include "os/procfs.h"
#include "parse/parse.h"
#include "util/visit.h"

struct list {
	const struct rti_context *ctx;
	int32_t pid;
	struct rti_buf *buf;
	int (*each)(void *arg, int32_t child);
	void *arg;
	uint32_t threads;
	int err; /* of the first file that could not be read */
};

static int list_thread(void *arg, const char *name)
{
	struct list *list = arg;
	int32_t tid = rti_path_number(name);
	int err;

	if (tid == 0)
		return RTI_CONTINUE;
	list->threads++;
	err = rti_procfs_read(list->ctx->procfs, RTI_PROC,
	                      rti_task_path(list->pid, tid, "children").text, RTI_SEQ_FILE,
	                      list->buf);
	if (err == 0)
		return rti_parse_children(list->buf->data, list->buf->len, list->each, list->arg);
	if (err != -ENOENT && err != -ESRCH && list->err == 0)
		list->err = err;
	return RTI_CONTINUE;
}

int rti_children_list(const struct rti_context *ctx, int32_t pid, struct rti_buf *buf,
                      int (*each)(void *arg, int32_t child), void *arg, uint32_t *threads)
{
	struct list list = { .ctx = ctx, .pid = pid, .buf = buf, .each = each, .arg = arg };
	int err = rti_procfs_list(ctx->procfs, RTI_PROC, rti_pid_path(pid, "task").text,
	                          list_thread, &list);

	*threads = list.threads;
	return err ? err : list.err;
}
