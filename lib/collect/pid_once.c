/* SPDX-License-Identifier: MIT */
/* The figures of one process, each file of it read once. */
#include "collect/pid_once.h"

#include <errno.h>

#include "collect/pid_mm.h"
#include "collect/pid_stat.h"
#include "collect/thread_sum.h"
#include "os/pid_file.h"

#define OF_STAT (RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_THREADS)
#define NEED_STAT (OF_STAT | RT_HAS_IDS | RT_HAS_OPEN_FDS)
#define OF_IO (RT_HAS_IO | RT_HAS_IO_CALLS)
#define OF_STATM (RT_HAS_RSS | RT_HAS_VIRTUAL)
#define OF_ROLLUP (RT_HAS_PSS | RT_HAS_USS)
#define OF_STATUS (RT_HAS_PEAK_RSS | RT_HAS_IDS)
#define OF_MEMORY (OF_STATM | OF_ROLLUP | RT_HAS_PEAK_RSS)

/* The file that is opened first and read last. */
enum anchor { ANCHOR_NONE, ANCHOR_STATM, ANCHOR_STATUS, ANCHOR_STAT, ANCHOR_IO };

static const char *const anchor_files[] = {
	[ANCHOR_STATM] = "statm",
	[ANCHOR_STATUS] = "status",
	[ANCHOR_STAT] = "stat",
	[ANCHOR_IO] = "io",
};

struct once {
	const struct rti_context *ctx;
	uint64_t want;
	enum anchor anchor;
	struct rti_file file; /* of the anchor */
	bool is_proven;       /* the anchor was read after all other files */
	bool is_leader;       /* a file has shown that pid is no thread of another process */
	bool has_stat;
	int shortage; /* -errno */
	int pss_error;
	struct rti_cpu_clock clock;
	struct rti_target target;
	struct rti_pid_once *out;
};

/* A shortage is an error of the caller's process, and ends the call. Any other error only clears
 * the bit of a figure. */
static void note_error(struct once *once, int err)
{
	if (rti_is_out_of_files(err) || err == -ENOMEM)
		once->shortage = err;
}

/* Files that all users may read come first. smaps_rollup cannot be an anchor: after an exec it
 * shows the address space from before. If io is one and it is refused, at most one file is left. */
static enum anchor choose_anchor(uint64_t want)
{
	if (want & OF_STATM)
		return ANCHOR_STATM;
	if (want & (OF_STATUS | RT_HAS_CTXSW))
		return ANCHOR_STATUS;
	if (want & NEED_STAT)
		return ANCHOR_STAT;
	return want & OF_IO ? ANCHOR_IO : ANCHOR_NONE;
}

static int open_anchor(struct once *once)
{
	int err;

	if (once->anchor == ANCHOR_NONE)
		return 0;
	err =
	    rti_pid_file_open(once->ctx, once->target.pid, anchor_files[once->anchor], &once->file);
	if (err == -EACCES && once->anchor == ANCHOR_IO) {
		once->anchor = ANCHOR_NONE;
		once->want &= ~OF_IO;
		return 0;
	}
	if (err == -ENOENT || err == -ESRCH)
		return rti_pid_file_is_hidden(once->ctx, once->target.pid) ? -EACCES : -ESRCH;
	/* hidepid=1 lists the processes of other users, and refuses all of their files. */
	return err == -EPERM ? -EACCES : err;
}

static struct rti_file *file_of(struct once *once, enum anchor anchor)
{
	return once->anchor == anchor ? &once->file : NULL;
}

/* Run the collectors of these domains. Returns the error of the last one that failed, or 0. */
static int collect(struct once *once, uint64_t has)
{
	int err, last = 0;

	for (size_t i = 0; i < rti_pid_collector_count; i++) {
		const struct rti_pid_collector *collector = rti_pid_collectors[i];

		if (!(collector->provides & has))
			continue;
		err = collector->collect(once->ctx, &once->target, &once->out->figures);
		note_error(once, err);
		last = err < 0 ? err : last;
	}
	return last;
}

static int read_stat(struct once *once)
{
	const struct rti_context *ctx = once->ctx;
	struct rti_pid_stat *stat = &once->out->stat;
	int err = rti_pid_stat_read(ctx, once->target.pid, file_of(once, ANCHOR_STAT), stat);

	if (err < 0)
		return err;
	/* The kernel is releasing a process without threads: the rest of the line is 0. A mere
	 * zombie still counts as a thread. */
	if (stat->state == 'X' || stat->num_threads == 0 || !rti_pid_stat_is_leader(ctx, stat))
		return -ESRCH;
	once->has_stat = once->is_leader = true;
	once->is_proven |= once->anchor == ANCHOR_STAT;
	once->target.memory_tid = rti_pid_mm_thread(ctx, once->target.pid, stat);
	return 0;
}

/* Read the CPU clocks. If context switches are asked for, read schedstat before, to find out
 * whether the leader has all of them. The caller's own schedstat moves meanwhile. */
static void read_clock(struct once *once)
{
	const struct rti_context *ctx = once->ctx;
	int32_t pid = once->target.pid;
	uint64_t run_ns;
	bool has_run_time;

	if (!ctx->platform->cpu_clock || !(once->want & (RT_HAS_CPU | RT_HAS_CTXSW)))
		return;
	has_run_time = once->want & RT_HAS_CTXSW && once->out->stat.num_threads <= 1 &&
	               pid != ctx->own_pid &&
	               rti_thread_sum_read_leader_run_ns(ctx, &once->target, &run_ns) == 0;
	if (ctx->platform->cpu_clock(pid, &once->clock) < 0)
		return;
	once->target.clock = &once->clock;
	once->out->has_clock = true;
	once->target.is_leader_alone = has_run_time && run_ns == once->clock.total_ns;
}

/* A process that has exited holds no memory, which is an answer: 0 bytes. */
static void read_pss(struct once *once)
{
	struct rti_figures *figures = &once->out->figures;
	struct rti_smaps_rollup rollup = { 0 };

	once->pss_error = rti_pid_mm_read_rollup(once->ctx, &once->target, &rollup);
	note_error(once, once->pss_error);
	if (once->pss_error == -ESRCH && once->has_stat && rti_pid_stat_is_zombie(&once->out->stat))
		once->pss_error = 0;
	if (once->pss_error < 0)
		return;
	figures->row.pss_bytes = rollup.pss_kib * 1024;
	figures->row.pss_source = RT_PSS_READ;
	figures->row.uss_bytes = rollup.private_kib * 1024;
	figures->row.swap_bytes = rollup.swap_kib * 1024;
	figures->valid |= OF_ROLLUP;
}

/* The context switches are the leader's. If it has exited, VmHWM is another thread's. */
static void read_status(struct once *once)
{
	struct rti_figures *figures = &once->out->figures;
	struct rti_pid_status status;
	int err;

	if (once->want & RT_HAS_PEAK_RSS && once->target.memory_tid)
		collect(once, RT_HAS_PEAK_RSS);
	err =
	    rti_pid_file_read(once->ctx, once->target.pid, "status", file_of(once, ANCHOR_STATUS));
	if (err == 0)
		err = rti_parse_pid_status(once->ctx->buf->data, once->ctx->buf->len, &status);
	note_error(once, err);
	if (err < 0)
		return;
	once->is_proven |= once->anchor == ANCHOR_STATUS;
	once->is_leader |= status.has & RTI_STATUS_TGID && status.tgid == once->target.pid;
	if (once->target.is_leader_alone && status.has & RTI_STATUS_SWITCHES) {
		figures->self[RTI_VOLUNTARY] = status.voluntary_switches;
		figures->self[RTI_INVOLUNTARY] = status.involuntary_switches;
		figures->valid |= RT_HAS_CTXSW;
	}
	if (status.has & RTI_STATUS_UID && once->has_stat) {
		figures->row.uid = status.uid;
		figures->valid |= RT_HAS_IDS;
	}
	if (status.has & RTI_STATUS_HWM) {
		figures->row.peak_rss_bytes = status.vm_hwm_kib * 1024;
		figures->valid |= RT_HAS_PEAK_RSS;
	}
}

/* statm comes last, since it may be the anchor. */
static void read_memory(struct once *once)
{
	int err;

	if (once->want & OF_ROLLUP)
		read_pss(once);
	if (once->want & OF_STATUS || once->target.is_leader_alone)
		read_status(once);
	if (!(once->want & OF_STATM))
		return;
	err = collect(once, OF_STATM);
	once->is_proven |= err == 0 && !once->target.memory_tid;
}

static bool is_memory_missing(const struct once *once)
{
	const struct rti_figures *figures = &once->out->figures;

	return ((once->want & OF_STATM) && !figures->size_bytes) ||
	       ((once->want & RT_HAS_PEAK_RSS) && !(figures->valid & RT_HAS_PEAK_RSS)) ||
	       ((once->want & OF_ROLLUP) && once->pss_error == -ESRCH);
}

/* The figures of the anchor come last. */
static int read_files(struct once *once)
{
	int err = 0;

	if (once->want & NEED_STAT && once->anchor != ANCHOR_STAT)
		err = read_stat(once);
	if (err < 0)
		return err;
	read_clock(once);
	collect(once, once->want & RT_HAS_OPEN_FDS);
	if (once->want & OF_IO && once->anchor != ANCHOR_IO)
		collect(once, OF_IO);
	if (once->want & RT_HAS_CTXSW && !once->target.is_leader_alone)
		collect(once, RT_HAS_CTXSW);
	read_memory(once);
	/* A process without memory is a kernel thread, a zombie, or one that has lost its leader:
	 * stat shows which. An anchor that a failed read has closed must not be opened again: by
	 * now the pid may be another process's. */
	if (is_memory_missing(once) && !once->has_stat) {
		err = once->anchor != ANCHOR_NONE && once->file.fd < 0 ? -ESRCH : read_stat(once);
		if (err < 0)
			return err;
		once->is_proven = false;
		once->out->figures.valid &= ~OF_MEMORY;
		read_memory(once);
	}
	if (err == 0 && once->anchor == ANCHOR_STAT)
		err = read_stat(once);
	if (err == 0 && once->anchor == ANCHOR_IO) {
		int of_io = collect(once, OF_IO);

		/* The kernel finds the process before it asks whether the caller may. */
		once->is_proven = of_io == 0 || of_io == -EACCES;
	}
	return err;
}

/* A read that failed has closed the anchor. */
static int check_identity(struct once *once)
{
	const struct rti_context *ctx = once->ctx;
	int32_t pid = once->target.pid;

	if (once->anchor != ANCHOR_NONE && !once->is_proven &&
	    rti_procfs_read_if_open(ctx->procfs, RTI_SINGLE_RECORD, &once->file, ctx->buf) < 0)
		return -ESRCH;
	/* A kernel may also lack the file. */
	if (once->anchor == ANCHOR_NONE && once->pss_error == -ENOENT &&
	    rti_pid_file_is_hidden(ctx, pid))
		return -EACCES;
	if (!once->is_leader && ctx->platform->is_process && !ctx->platform->is_process(pid))
		return -ESRCH;
	return 0;
}

int rti_pid_once_read(const struct rti_context *ctx, int32_t pid, uint64_t want,
                      struct rti_pid_once *out)
{
	struct once once = {
		.ctx = ctx,
		.want = want,
		.anchor = choose_anchor(want),
		.file = RTI_FILE_INIT,
		.out = out,
	};
	int err;

	*out = (struct rti_pid_once){ .stat = { .pid = pid } };
	once.target = (struct rti_target){
		.pid = pid,
		.stat = &out->stat,
		.statm = file_of(&once, ANCHOR_STATM),
		.io = file_of(&once, ANCHOR_IO),
	};
	err = open_anchor(&once);
	if (err == 0)
		err = read_files(&once);
	if (once.shortage < 0) /* a missing figure does not show then that the process is gone */
		err = once.shortage;
	if (err == 0)
		err = check_identity(&once);
	rti_procfs_close_file(ctx->procfs, &once.file);
	if (err == 0)
		collect(&once, want & OF_STAT);
	return err;
}
