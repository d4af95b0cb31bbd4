/* SPDX-License-Identifier: MIT */
/* getrusage(2) for the caller, and the same sixteen fields for any live process. */
#include "api/rusage.h"

#include <errno.h>
#include <sys/resource.h>

#include "collect/pid_once.h"
#include "os/thread/one_call.h"

#define ALWAYS_ZERO                                                                                \
	(RTI_RUSAGE_BIT(ru_ixrss) | RTI_RUSAGE_BIT(ru_idrss) | RTI_RUSAGE_BIT(ru_isrss) |          \
	 RTI_RUSAGE_BIT(ru_nswap) | RTI_RUSAGE_BIT(ru_msgsnd) | RTI_RUSAGE_BIT(ru_msgrcv) |        \
	 RTI_RUSAGE_BIT(ru_nsignals))

static double seconds(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

void rti_rusage_from_kernel(const struct rusage *in, struct rt_rusage *out)
{
	*out = (struct rt_rusage){
		.ru_utime = seconds(&in->ru_utime),
		.ru_stime = seconds(&in->ru_stime),
		.ru_maxrss = in->ru_maxrss,
		.ru_ixrss = in->ru_ixrss,
		.ru_idrss = in->ru_idrss,
		.ru_isrss = in->ru_isrss,
		.ru_minflt = in->ru_minflt,
		.ru_majflt = in->ru_majflt,
		.ru_nswap = in->ru_nswap,
		.ru_inblock = in->ru_inblock,
		.ru_oublock = in->ru_oublock,
		.ru_msgsnd = in->ru_msgsnd,
		.ru_msgrcv = in->ru_msgrcv,
		.ru_nsignals = in->ru_nsignals,
		.ru_nvcsw = in->ru_nvcsw,
		.ru_nivcsw = in->ru_nivcsw,
	};
}

int rt_getrusage(int who, struct rt_rusage *out)
{
	struct rusage usage;

	if (!out)
		return -EFAULT;
	if (who != RT_RUSAGE_SELF && who != RT_RUSAGE_CHILDREN && who != RT_RUSAGE_THREAD)
		return -EINVAL;
	if (getrusage(who, &usage) < 0)
		return -errno;
	rti_rusage_from_kernel(&usage, out);
	return 0;
}

static void set_fields(const struct rti_figures *f, struct rt_rusage *out, uint32_t *valid)
{
	if (f->valid & RT_HAS_CPU) {
		out->ru_utime = (double)f->self[RTI_CPU_USER] / 1e9;
		out->ru_stime = (double)f->self[RTI_CPU_SYSTEM] / 1e9;
		*valid |= RTI_RUSAGE_BIT(ru_utime) | RTI_RUSAGE_BIT(ru_stime);
	}
	if (f->valid & RT_HAS_FAULTS) {
		out->ru_minflt = (int64_t)f->self[RTI_MINOR_FAULTS];
		out->ru_majflt = (int64_t)f->self[RTI_MAJOR_FAULTS];
		*valid |= RTI_RUSAGE_BIT(ru_minflt) | RTI_RUSAGE_BIT(ru_majflt);
	}
	if (f->valid & RT_HAS_PEAK_RSS && f->row.peak_rss_bytes) {
		out->ru_maxrss = (int64_t)(f->row.peak_rss_bytes / 1024);
		*valid |= RTI_RUSAGE_BIT(ru_maxrss);
	}
	out->ru_nvcsw = (int64_t)f->self[RTI_VOLUNTARY];
	out->ru_nivcsw = (int64_t)f->self[RTI_INVOLUNTARY];
	if (f->valid & RT_HAS_CTXSW)
		*valid |= RTI_RUSAGE_BIT(ru_nvcsw) | RTI_RUSAGE_BIT(ru_nivcsw);
	out->ru_inblock = (int64_t)(f->self[RTI_READ_BYTES] / 512);
	out->ru_oublock = (int64_t)(f->self[RTI_WRITE_BYTES] / 512);
	if (f->valid & RT_HAS_IO)
		*valid |= RTI_RUSAGE_BIT(ru_inblock) | RTI_RUSAGE_BIT(ru_oublock);
}

/* The domains that the sixteen fields come from. */
#define RUSAGE_DOMAINS (RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO | RT_HAS_FAULTS | RT_HAS_CTXSW)

int rti_pid_rusage(const struct rti_context *ctx, int32_t pid, struct rt_rusage *out,
                   uint32_t *valid)
{
	struct rti_pid_once once;
	int err = rti_pid_once_read(ctx, pid, RUSAGE_DOMAINS, &once);

	if (err < 0)
		return err;
	*out = (struct rt_rusage){ 0 };
	*valid = ALWAYS_ZERO;
	set_fields(&once.figures, out, valid);
	return 0;
}

/* The caller may ask the kernel for its own figures, also for those of threads that have exited.
 * Only the peak of its memory may be from before its last exec. */
static int read_own(const struct rti_context *ctx, int32_t pid, struct rt_rusage *out,
                    uint32_t *valid)
{
	struct rti_pid_once once;
	struct rt_rusage own;
	int err = rti_pid_once_read(ctx, pid, RT_HAS_PEAK_RSS, &once);

	if (err == 0)
		err = rt_getrusage(RT_RUSAGE_SELF, &own);
	if (err < 0)
		return err;
	own.ru_maxrss = (int64_t)(once.figures.row.peak_rss_bytes / 1024);
	*out = own;
	*valid = RTI_RUSAGE_ALL & ~(own.ru_maxrss ? 0 : RTI_RUSAGE_BIT(ru_maxrss));
	return 0;
}

int rt_pid_getrusage(int32_t pid, struct rt_rusage *out, uint32_t *valid)
{
	struct rti_one_call call;
	int err;

	if (!out || !valid)
		return -EFAULT;
	if (pid <= 0)
		return -EINVAL;
	err = rti_one_call_begin(&call, RT_OPT_NO_CHILDREN);
	if (err < 0)
		return err;
	err = pid == call.ctx.own_pid ? read_own(&call.ctx, pid, out, valid)
	                              : rti_pid_rusage(&call.ctx, pid, out, valid);
	return rti_one_call_end(&call, err);
}
