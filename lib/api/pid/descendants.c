/* SPDX-License-Identifier: MIT */
/* The descendants of a process, without a handle. */
#include <errno.h>
#include <stdlib.h>

#include <rtrack/rtrack.h>

#include "collect/descendants.h"
#include "os/thread/one_call.h"

int rt_pid_descendants(int32_t pid, int32_t *pids, size_t *count)
{
	struct rti_descendants found = { 0 };
	struct rti_one_call call;
	size_t room;
	int err;

	if (!count || (!pids && *count))
		return -EFAULT;
	if (pid <= 0)
		return -EINVAL;
	err = rti_one_call_begin(&call, 0);
	if (err < 0)
		return err;
	err = rti_one_call_end(&call, rti_descendants_list(&call.ctx, pid, &found));
	if (err < 0)
		return err;
	room = *count;
	*count = found.count;
	for (size_t i = 0; i < found.count && i < room; i++)
		pids[i] = found.pids[i];
	free(found.pids);
	return 0;
}
