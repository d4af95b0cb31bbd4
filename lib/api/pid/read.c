/* SPDX-License-Identifier: MIT */
/* Some figures of one process, without a handle. */
#include <errno.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"
#include "collect/pid_once.h"
#include "collect/process_row.h"
#include "os/thread/one_call.h"

#define DEFAULT_WANT (RT_HAS_CPU | RT_HAS_RSS | RT_HAS_FAULTS | RT_HAS_THREADS)

/* The peak is read first, and RSS may grow past it meanwhile. E.g.: a program fills an array
 * between the two reads. */
static void raise_peak(struct rt_process *row)
{
	const uint64_t both = RT_HAS_RSS | RT_HAS_PEAK_RSS;

	if ((row->valid & both) == both && row->peak_rss_bytes < row->rss_bytes)
		row->peak_rss_bytes = row->rss_bytes;
}

static void set_row(const struct rti_pid_once *once, uint64_t want, struct rt_process *row)
{
	rti_process_row_set(&once->stat, &once->figures, row);
	row->valid &= want;
	raise_peak(row);
}

int rt_pid_read(int32_t pid, uint64_t want, struct rt_process *out, size_t out_size)
{
	struct rti_one_call call;
	struct rti_pid_once once;
	struct rt_process row;
	struct rti_now now;
	int err;

	if (!out)
		return -EFAULT;
	if (pid <= 0 || (want & ~RTI_PID_ONCE_HAS) ||
	    rti_struct_check_size(out_size, RTI_PROCESS_V1) < 0)
		return -EINVAL;
	if (!want)
		want = DEFAULT_WANT;
	/* `io` as it is: without its reaped children it would cost a file for each thread. */
	err = rti_one_call_begin(&call, RT_OPT_NO_CHILDREN | RT_OPT_IO_WITH_REAPED);
	if (err < 0)
		return err;
	err = rti_one_call_end(&call, rti_pid_once_read(&call.ctx, pid, want, &once));
	if (err < 0)
		return err;
	set_row(&once, want, &row);
	call.platform.now(&now);
	rti_process_row_set_start(now.realtime_ns - now.boottime_ns, call.platform.tick_ns, &row);
	rti_struct_copy_out(out, out_size, &row, sizeof(row));
	return 0;
}
