/* SPDX-License-Identifier: MIT */
/* The context of a call without a handle, which reads a few files of the running system once. */
#include "os/thread/one_call.h"

#include <errno.h>

/* A proc of another pid namespace shows other processes under the same pids, and none of their
 * files tells. Each call checks that anew: setns(2) and mount(2) change it, and the library has no
 * global state. /proc/self is the cheapest proof, a readlink(2) that opens nothing: 0.3 us. */
int rti_one_call_begin(struct rti_one_call *call, uint32_t flags)
{
	rti_procfs_use_names(&call->procfs, &rti_procfs_linux);
	rti_platform_init(&call->platform, false);
	call->buf = (struct rti_buf){ 0 };
	call->ctx = (struct rti_context){
		.procfs = &call->procfs,
		.platform = &call->platform,
		.buf = &call->buf,
		.flags = flags,
		.own_pid = call->platform.getpid(),
	};
	return rti_context_is_own_proc(&call->procfs, call->ctx.own_pid) ? 0 : -EXDEV;
}

/* If proc is not mounted, /proc is an empty directory. Then every process looks as if it had
 * exited, or as if it was hidden. */
int rti_one_call_end(struct rti_one_call *call, int err)
{
	rti_buf_free(&call->buf);
	if ((err == -ESRCH || err == -EACCES) &&
	    rti_procfs_access(&call->procfs, RTI_PROC, "self") < 0 &&
	    rti_procfs_access(&call->procfs, RTI_PROC, "stat") < 0)
		return -ENOENT;
	return err;
}
