/* SPDX-License-Identifier: MIT */
/* getrusage(2) for the caller, and the same sixteen fields for any live process. */
#include "api/rusage.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "collect/collector.h"
#include "collect/pid_stat.h"

#define FIELD(name) (1u << (offsetof(struct rt_rusage, name) / 8))

#define ALWAYS_ZERO                                                                                \
	(FIELD(ru_ixrss) | FIELD(ru_idrss) | FIELD(ru_isrss) | FIELD(ru_nswap) |                   \
	 FIELD(ru_msgsnd) | FIELD(ru_msgrcv) | FIELD(ru_nsignals))

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
		*valid |= FIELD(ru_utime) | FIELD(ru_stime);
	}
	if (f->valid & RT_HAS_FAULTS) {
		out->ru_minflt = (int64_t)f->self[RTI_MINOR_FAULTS];
		out->ru_majflt = (int64_t)f->self[RTI_MAJOR_FAULTS];
		*valid |= FIELD(ru_minflt) | FIELD(ru_majflt);
	}
	if (f->valid & RT_HAS_PEAK_RSS && f->row.peak_rss_bytes) {
		out->ru_maxrss = (int64_t)(f->row.peak_rss_bytes / 1024);
		*valid |= FIELD(ru_maxrss);
	}
	out->ru_nvcsw = (int64_t)f->self[RTI_VOLUNTARY];
	out->ru_nivcsw = (int64_t)f->self[RTI_INVOLUNTARY];
	if (f->valid & RT_HAS_CTXSW)
		*valid |= FIELD(ru_nvcsw) | FIELD(ru_nivcsw);
	out->ru_inblock = (int64_t)(f->self[RTI_READ_BYTES] / 512);
	out->ru_oublock = (int64_t)(f->self[RTI_WRITE_BYTES] / 512);
	if (f->valid & RT_HAS_IO)
		*valid |= FIELD(ru_inblock) | FIELD(ru_oublock);
}

/* A shortage is an error of the caller's process; a refusal only clears bits. */
static bool is_shortage(int err)
{
	return rti_is_out_of_files(err) || err == -ENOMEM;
}

/* The domains that the sixteen fields come from. */
#define RUSAGE_DOMAINS (RT_HAS_CPU | RT_HAS_PEAK_RSS | RT_HAS_IO | RT_HAS_FAULTS | RT_HAS_CTXSW)

static int collect_all(const struct rti_context *ctx, const struct rti_pid_stat *stat,
                       struct rti_figures *figures)
{
	struct rti_cpu_clock clock = { 0 };
	bool has_clock =
	    ctx->platform->cpu_clock && ctx->platform->cpu_clock(stat->pid, &clock) == 0;
	const struct rti_target target = { .pid = stat->pid,
		                           .stat = stat,
		                           .clock = has_clock ? &clock : NULL };

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_pid_collector *collector = rti_pid_collectors[i];
		int err;

		if (!(collector->provides & RUSAGE_DOMAINS))
			continue;
		err = collector->collect(ctx, &target, figures);
		if (is_shortage(err))
			return err;
	}
	return 0;
}

int rti_pid_rusage(const struct rti_context *ctx, int32_t pid, struct rt_rusage *out,
                   uint32_t *valid)
{
	struct rti_figures figures = { 0 };
	struct rti_pid_stat before, after;
	int err = rti_pid_stat_read(ctx, pid, NULL, &before);

	if (err == 0 && !rti_pid_stat_is_leader(ctx, &before))
		err = -ESRCH;
	if (err == 0)
		err = collect_all(ctx, &before, &figures);
	/* It was the same process all along if it still is. */
	if (err == 0)
		err = rti_pid_stat_read(ctx, pid, NULL, &after);
	if (err == 0 && !rti_pid_stat_is_same(&before, &after))
		err = -ESRCH;
	if (err < 0)
		return err;
	*out = (struct rt_rusage){ 0 };
	*valid = ALWAYS_ZERO;
	set_fields(&figures, out, valid);
	return 0;
}

int rt_pid_getrusage(int32_t pid, struct rt_rusage *out, uint32_t *valid)
{
	struct rti_procfs procfs;
	struct rti_buf buf = { 0 };
	struct rti_platform platform;
	struct rti_context ctx = { &procfs, &platform, &buf, RT_OPT_NO_CHILDREN };
	int err;

	if (!out || !valid)
		return -EFAULT;
	if (pid <= 0)
		return -EINVAL;
	err = rti_procfs_open(&procfs, NULL, &rti_procfs_linux);
	if (err < 0)
		return err;
	rti_context_platform(&procfs, &platform);
	err = rti_context_check_pids(&procfs, &platform);
	if (err == 0)
		err = rti_pid_rusage(&ctx, pid, out, valid);
	rti_buf_free(&buf);
	rti_procfs_close(&procfs);
	return err;
}
