/* SPDX-License-Identifier: MIT */
/* All processes of the system as members of a tree. */
#include "tree/member/member_list.h"

#include "os/context.h"
#include "os/procfs.h"
#include "util/visit.h"

struct proc_list {
	int (*each)(void *each_arg, int32_t pid);
	void *each_arg;
};

static int pass_pid(void *arg, const char *name)
{
	const struct proc_list *list = arg;
	int32_t pid = rti_path_number(name);

	return pid > 0 ? list->each(list->each_arg, pid) : RTI_CONTINUE;
}

int rti_tree_list_all(void *arg, int (*each)(void *each_arg, int32_t pid), void *each_arg)
{
	const struct rti_context *ctx = arg;
	struct proc_list list = { each, each_arg };

	return rti_procfs_list_dirs(ctx->procfs, RTI_PROC, pass_pid, &list);
}
