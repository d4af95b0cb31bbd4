/* SPDX-License-Identifier: MIT */
/* Sums over the live threads of a process, for figures that the kernel only reports per thread. */
#include "collect/thread_sum.h"

#include <errno.h>

#include "collect/pid_stat.h"
#include "os/cpu_time.h"
#include "os/pid_file.h"
#include "os/procfs.h"
#include "parse/scan.h"
#include "util/arith.h"
#include "util/visit.h"

struct threads {
	const struct rti_context *ctx;
	int32_t pid;
	unsigned want;
	struct rti_thread_sum *out;
	uint64_t faults, run_ns;
	uint64_t late_run_ns; /* run time that schedstat may not show yet */
	bool has_run_time;    /* run_ns and the CPU clock of the process are known */
	bool has_vanished;    /* a thread exited while the sum was made */
};

static int read_task(const struct threads *t, int32_t tid, const char *file)
{
	return rti_procfs_read(t->ctx->procfs, RTI_PROC, rti_task_path(t->pid, tid, file).text,
	                       rti_pid_file_format(file), t->ctx->buf);
}

static int add_status(struct threads *t, int32_t tid)
{
	struct rti_pid_status status;
	int err = read_task(t, tid, "status");

	if (err == 0)
		err = rti_parse_pid_status(t->ctx->buf->data, t->ctx->buf->len, &status);
	if (err == 0 && !(status.has & RTI_STATUS_SWITCHES))
		err = -EOPNOTSUPP; /* not -ENOENT, which is a thread that has exited */
	if (err < 0)
		return err;
	t->out->voluntary += status.voluntary_switches;
	t->out->involuntary += status.involuntary_switches;
	return 0;
}

static int add_io(struct threads *t, int32_t tid)
{
	struct rti_pid_io io;
	int err = read_task(t, tid, "io");

	if (err == 0)
		err = rti_parse_pid_io(t->ctx->buf->data, t->ctx->buf->len, &io);
	if (err < 0)
		return err;
	t->out->io.rchar += io.rchar;
	t->out->io.wchar += io.wchar;
	t->out->io.read_bytes += io.read_bytes;
	t->out->io.write_bytes += io.write_bytes;
	t->out->io.cancelled_write_bytes += io.cancelled_write_bytes;
	t->out->io.syscr += io.syscr;
	t->out->io.syscw += io.syscw;
	t->out->io.has_calls = io.has_calls;
	return 0;
}

static int add_stat(struct threads *t, int32_t tid)
{
	struct rti_pid_stat stat;
	int err = read_task(t, tid, "stat");

	if (err == 0)
		err = rti_parse_pid_stat(t->ctx->buf->data, t->ctx->buf->len, &stat);
	if (err < 0)
		return err;
	t->faults += stat.minflt + stat.majflt;
	if (stat.state == 'R')
		t->late_run_ns += RTI_TICK_MAX_NS; /* schedstat is updated at ticks */
	return 0;
}

/* Not every kernel has schedstat. Without it, faults alone decide whether the sum is complete. */
static void add_schedstat(struct threads *t, int32_t tid)
{
	struct rti_scan scan;
	uint64_t ns;

	if (!t->has_run_time)
		return;
	t->has_run_time = read_task(t, tid, "schedstat") == 0;
	scan = rti_scan(t->ctx->buf->data, t->ctx->buf->len);
	if (t->has_run_time && rti_scan_u64(&scan, &ns))
		t->run_ns += ns;
	else
		t->has_run_time = false;
}

static int add_thread(void *arg, const char *name)
{
	struct threads *t = arg;
	int32_t tid = rti_path_number(name);
	int err = 0;

	if (tid == 0)
		return RTI_CONTINUE;
	if (t->want & RTI_THREAD_SUM_SWITCHES)
		err = add_status(t, tid);
	if (err == 0 && (t->want & RTI_THREAD_SUM_IO))
		err = add_io(t, tid);
	if (err == 0)
		err = add_stat(t, tid);
	if (err == -ESRCH || err == -ENOENT) {
		t->has_vanished = true;
		return RTI_CONTINUE;
	}
	if (err < 0)
		return err;
	add_schedstat(t, tid);
	return RTI_CONTINUE;
}

int rti_thread_sum_read(const struct rti_context *ctx, int32_t pid, unsigned want,
                        struct rti_thread_sum *out)
{
	struct threads t = { .ctx = ctx, .pid = pid, .want = want, .out = out };
	struct rti_cpu_clock clock = { 0 };
	struct rti_pid_stat stat;
	int err = rti_pid_stat_read(ctx, pid, NULL, &stat);

	*out = (struct rti_thread_sum){ 0 };
	if (err < 0)
		return err;
	/* Read the totals before the threads. Both only grow, so a sum that falls short misses a
	 * thread. */
	t.has_run_time = ctx->platform->cpu_clock && ctx->platform->cpu_clock(pid, &clock) == 0;
	err =
	    rti_procfs_list(ctx->procfs, RTI_PROC, rti_pid_path(pid, "task").text, add_thread, &t);
	if (err < 0)
		return err == -ENOENT ? -ESRCH : err;
	out->ended_run_ns = clock.total_ns;
	if (t.has_run_time)
		out->ended_run_ns =
		    rti_subtract_saturated(clock.total_ns, t.run_ns + t.late_run_ns);
	out->is_complete = !t.has_vanished && t.faults >= stat.minflt + stat.majflt &&
	                   (!t.has_run_time || out->ended_run_ns == 0);
	return 0;
}

int rti_thread_sum_read_leader_run_ns(const struct rti_context *ctx,
                                      const struct rti_target *target, uint64_t *run_ns)
{
	int err = rti_pid_file_read(ctx, target->pid, "schedstat", target->schedstat);
	struct rti_scan scan;

	if (err < 0)
		return err;
	scan = rti_scan(ctx->buf->data, ctx->buf->len);
	return rti_scan_u64(&scan, run_ns) ? 0 : -EBADMSG;
}

bool rti_thread_sum_is_leader_alone(const struct rti_context *ctx, const struct rti_target *target)
{
	struct rti_cpu_clock clock = *target->clock;
	uint64_t run_ns;

	return rti_thread_sum_read_leader_run_ns(ctx, target, &run_ns) == 0 &&
	       ctx->platform->cpu_clock(target->pid, &clock) == 0 && clock.total_ns == run_ns;
}

int rti_thread_sum_read_leader_io(const struct rti_context *ctx, const struct rti_target *target,
                                  struct rti_thread_sum *out)
{
	struct threads t = { .ctx = ctx, .pid = target->pid, .out = out };
	int err;

	*out = (struct rti_thread_sum){ 0 };
	err = add_io(&t, target->pid);
	if (err == 0)
		err = add_stat(&t, target->pid);
	out->is_complete = t.faults >= target->stat->minflt + target->stat->majflt;
	return err;
}
