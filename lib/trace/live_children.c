/* SPDX-License-Identifier: MIT */
/* What the descendants of a process that were not waited for yet have used.
 *
 * The usage of a process moves to its parent's account when it is waited for. If that happens while
 * the descendants are read, it is counted twice, or not at all. So all are looked at twice: if the
 * same processes are there with the same accounts of children, none was waited for in between. Any
 * process has page faults, so the account of faults shows it. */
#include "trace/live_children.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "api/rusage.h"
#include "collect/descendants.h"
#include "collect/pid_once.h"
#include "os/thread/one_call.h"

#define ATTEMPTS_MAX 3

#define OF_CPU (RTI_RUSAGE_BIT(ru_utime) | RTI_RUSAGE_BIT(ru_stime))

/* For the children that a process has waited for, the kernel shows CPU time in whole ticks, and
 * none of the other figures here. */
#define LESS_OF_REAPED                                                                             \
	(OF_CPU | RTI_RUSAGE_BIT(ru_maxrss) | RTI_RUSAGE_BIT(ru_nvcsw) | RTI_RUSAGE_BIT(ru_nivcsw))

#define DOMAINS (RT_HAS_CPU | RT_HAS_FAULTS | RT_HAS_IO | RT_HAS_PEAK_RSS | RT_HAS_CTXSW)

/* The account of children of one process. */
struct account {
	uint64_t start_ticks, minor_faults, major_faults;
};

struct reader {
	struct rti_one_call call;
	struct rti_descendants descendants;
	struct account *accounts; /* one for each */
	uint64_t cpu_user_ns, cpu_system_ns, read_bytes, write_bytes;
	struct rt_rusage sum;
	uint32_t known, partial;
};

static struct account account_of(const struct rti_pid_stat *stat)
{
	return (struct account){ stat->starttime, stat->cminflt, stat->cmajflt };
}

static bool is_same(struct account a, struct account b)
{
	return a.start_ticks == b.start_ticks && a.minor_faults == b.minor_faults &&
	       a.major_faults == b.major_faults;
}

static void clear_unknown(struct reader *r, const struct rti_pid_once *once)
{
	uint64_t has = once->figures.valid;

	if (!(has & RT_HAS_CPU))
		r->known &= ~OF_CPU;
	if (!(has & RT_HAS_FAULTS))
		r->known &= ~(RTI_RUSAGE_BIT(ru_minflt) | RTI_RUSAGE_BIT(ru_majflt));
	if (!(has & RT_HAS_IO))
		r->known &= ~(RTI_RUSAGE_BIT(ru_inblock) | RTI_RUSAGE_BIT(ru_oublock));
	/* A zombie has no memory any more, so its peak is unknown. */
	if (!(has & RT_HAS_PEAK_RSS) || !once->figures.row.peak_rss_bytes)
		r->known &= ~RTI_RUSAGE_BIT(ru_maxrss);
	if (!(has & RT_HAS_CTXSW))
		r->known &= ~(RTI_RUSAGE_BIT(ru_nvcsw) | RTI_RUSAGE_BIT(ru_nivcsw));
}

static void add_process(struct reader *r, const struct rti_pid_once *once)
{
	const struct rti_figures *f = &once->figures;
	const struct rti_pid_stat *stat = &once->stat;
	bool has_waited = stat->cminflt || stat->cmajflt || stat->cutime || stat->cstime;
	int64_t peak_kib = (int64_t)(f->row.peak_rss_bytes / 1024);

	r->cpu_user_ns += f->self[RTI_CPU_USER] + f->children[RTI_CPU_USER];
	r->cpu_system_ns += f->self[RTI_CPU_SYSTEM] + f->children[RTI_CPU_SYSTEM];
	r->read_bytes += f->self[RTI_READ_BYTES];
	r->write_bytes += f->self[RTI_WRITE_BYTES];
	r->sum.ru_minflt += (int64_t)(f->self[RTI_MINOR_FAULTS] + stat->cminflt);
	r->sum.ru_majflt += (int64_t)(f->self[RTI_MAJOR_FAULTS] + stat->cmajflt);
	r->sum.ru_nvcsw += (int64_t)f->self[RTI_VOLUNTARY];
	r->sum.ru_nivcsw += (int64_t)f->self[RTI_INVOLUNTARY];
	if (peak_kib > r->sum.ru_maxrss)
		r->sum.ru_maxrss = peak_kib;
	clear_unknown(r, once);
	/* Without a CPU clock, the process's own time is in whole ticks, too. The peak of memory
	 * that a process had before an exec also counts for RUSAGE_CHILDREN; VmHWM forgets it. */
	if (has_waited)
		r->partial |= LESS_OF_REAPED;
	if (!once->has_clock)
		r->partial |= OF_CPU;
	if (!(stat->flags & RTI_PF_FORKNOEXEC))
		r->partial |= RTI_RUSAGE_BIT(ru_maxrss);
}

static int read_all(struct reader *r)
{
	struct rti_pid_once once;
	int err;

	r->accounts = calloc(r->descendants.count + 1, sizeof(*r->accounts));
	if (!r->accounts)
		return -ENOMEM;
	for (size_t i = 0; i < r->descendants.count; i++) {
		err = rti_pid_once_read(&r->call.ctx, r->descendants.pids[i], DOMAINS, &once);
		if (err < 0)
			return err;
		r->accounts[i] = account_of(&once.stat);
		add_process(r, &once);
	}
	return 0;
}

/* Returns true if the root still has the account that the kernel has reported, and its descendants
 * have the accounts that were read. */
static bool is_unchanged(struct reader *r, int32_t root, const struct rt_rusage *reported)
{
	const struct rti_context *ctx = &r->call.ctx;
	struct rti_descendants again;
	struct rti_pid_once once;
	bool is_same_list;

	if (rti_pid_once_read(ctx, root, RT_HAS_FAULTS, &once) < 0 ||
	    once.stat.cminflt != (uint64_t)reported->ru_minflt ||
	    once.stat.cmajflt != (uint64_t)reported->ru_majflt ||
	    rti_descendants_list(ctx, root, &again) < 0)
		return false;
	is_same_list = again.count == r->descendants.count;
	for (size_t i = 0; is_same_list && i < again.count; i++)
		is_same_list = again.pids[i] == r->descendants.pids[i] &&
		               rti_pid_once_read(ctx, again.pids[i], RT_HAS_FAULTS, &once) == 0 &&
		               is_same(account_of(&once.stat), r->accounts[i]);
	free(again.pids);
	return is_same_list;
}

/* Returns true if what was read belongs to what the kernel has reported. */
static bool try_once(struct reader *r, int32_t root, const struct rt_rusage *reported)
{
	bool is_good;

	r->descendants = (struct rti_descendants){ 0 };
	r->accounts = NULL;
	r->sum = (struct rt_rusage){ 0 };
	r->cpu_user_ns = r->cpu_system_ns = r->read_bytes = r->write_bytes = 0;
	r->known = RTI_RUSAGE_ALL;
	r->partial = 0;
	is_good = rti_descendants_list(&r->call.ctx, root, &r->descendants) == 0 &&
	          read_all(r) == 0 && is_unchanged(r, root, reported);
	free(r->descendants.pids);
	free(r->accounts);
	return is_good;
}

bool rti_live_children_read(int32_t pid, const struct rt_rusage *reported,
                            struct rti_live_children *out)
{
	struct reader r;
	uint64_t begun_at_ns = 0;
	bool is_good = false;

	*out = (struct rti_live_children){ 0 };
	if (pid <= 0 || rti_one_call_begin(&r.call, RT_OPT_IO_WITH_REAPED) < 0)
		return false;
	for (int i = 0; !is_good && i < ATTEMPTS_MAX; i++) {
		begun_at_ns = r.call.platform.monotonic_ns();
		is_good = try_once(&r, pid, reported);
	}
	rti_one_call_end(&r.call, 0);
	if (!is_good)
		return false;
	out->usage = r.sum;
	out->usage.ru_utime = (double)r.cpu_user_ns / 1e9;
	out->usage.ru_stime = (double)r.cpu_system_ns / 1e9;
	out->usage.ru_inblock = (int64_t)(r.read_bytes / 512);
	out->usage.ru_oublock = (int64_t)(r.write_bytes / 512);
	out->valid = r.known & ~r.partial;
	out->partial = r.known & r.partial;
	out->at_ns = begun_at_ns;
	return true;
}
