/* SPDX-License-Identifier: MIT */
/* Trackers: new, sample, free. */
#include "api/tracker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/kind.h"
#include "api/opts_error.h"
#include "api/struct_size.h"
#include "collect/domains.h"
#include "util/arith.h"

#define MOST_FILES 65536u
#define MANY_FILES 4096u /* a process with so many descriptors can spare half of them */
#define QUICK_NS 100000u

/* The id differs from that of any other tracker: one made at another time, by another thread, or
 * by another process. Samples of different trackers may meet in rt_diff(). */
static uint64_t make_id(const struct rt_tracker *t)
{
	struct rti_now now;
	uint64_t id;

	t->platform.now(&now);
	id = now.realtime_ns ^ (uint64_t)(uintptr_t)t << 20 ^
	     (uint64_t)(uint32_t)t->platform.getpid() << 44;
	id = (id ^ id >> 31) * UINT64_C(0x9E3779B97F4A7C15);
	return id ^ id >> 29;
}

static int copy_opts(struct rt_opts *out, uint32_t kind, const struct rt_opts *in)
{
	int err;

	*out = (struct rt_opts){ .size = sizeof(*out) };
	if (!in)
		return 0;
	err = rti_struct_copy_in(out, sizeof(*out), in, RTI_OPTS_V1);
	if (err == -E2BIG) { /* it has the fields that we know, and more */
		memcpy(out, in, sizeof(*out));
		return err;
	}
	if (err == 0 && (out->flags & ~rti_kind_flags(kind) || rti_flags_are_opposed(out->flags) ||
	                 out->reserved || out->reserved_2 || out->want & ~rti_known_domains()))
		err = -EINVAL;
	if (err == 0 && (out->flags & (RT_OPT_SESSION | RT_OPT_NO_CHILDREN)) ==
	                    (RT_OPT_SESSION | RT_OPT_NO_CHILDREN))
		err = -EINVAL;
	return err;
}

int rti_tracker_check_opts(const struct rt_opts *opts, struct rt_opts *known)
{
	int err = copy_opts(known, RT_KIND_PID, opts);

	return err == 0 && known->flags & RT_OPT_SESSION ? -EINVAL : err;
}

static uint32_t files_max(const struct rt_tracker *t, const struct rt_opts *opts)
{
	uint32_t limit = t->platform.fd_limit(), share = limit / (limit >= MANY_FILES ? 2 : 4);

	if (opts->max_fds)
		return opts->max_fds;
	return share < MOST_FILES ? share : MOST_FILES;
}

static void free_subject(struct rt_tracker *t)
{
	if (t->tree)
		rti_tree_free(t->tree);
	if (t->kind == RT_KIND_SYSTEM)
		rti_system_free(&t->system, &t->ctx);
	else if (t->kind == RT_KIND_CGROUP)
		rti_cgroup_tracker_free(t->cgroup);
	if (t->own_limits)
		rti_own_limits_free(t->own_limits, &t->ctx);
	free(t->own_limits);
	free(t->cgroup);
}

static int init_cgroup(struct rt_tracker *t, const char *name, const struct rti_tree_opts *opts)
{
	int err;

	t->cgroup = calloc(1, sizeof(*t->cgroup));
	if (!t->cgroup)
		return -ENOMEM;
	err = rti_cgroup_tracker_init(t->cgroup, &t->ctx, name, opts);
	if (err < 0)
		free(t->cgroup);
	return err;
}

/* The processes of the system form a tree without a root. */
static int init_list(struct rt_tracker *t, const struct rti_tree_opts *opts, uint64_t want)
{
	uint64_t of_rows = rti_pid_domains().all;
	struct rti_tree_opts tree_opts = *opts;
	int err = rti_context_check_pids(&t->procfs, &t->platform);

	tree_opts.want = want ? want & (of_rows | RT_HAS_PSS | RT_HAS_USS)
	                      : rti_kind_default_domains(RT_KIND_PID) & of_rows;
	tree_opts.want |= RT_HAS_PROCESSES;
	tree_opts.list = rti_tree_list_all;
	tree_opts.list_arg = &t->ctx;
	return err < 0 ? err : rti_tree_new(&t->tree, &t->ctx, &tree_opts);
}

static int init_own_limits(struct rt_tracker *t)
{
	int err;

	t->own_limits = calloc(1, sizeof(*t->own_limits));
	err = t->own_limits ? rti_own_limits_init(t->own_limits, &t->ctx, t->want) : -ENOMEM;
	if (err < 0) {
		free(t->own_limits);
		t->own_limits = NULL;
	}
	return err;
}

static int init_system(struct rt_tracker *t, const struct rti_tree_opts *opts, uint64_t want)
{
	int err = rti_system_init(&t->system, &t->ctx, t->want);

	if (err < 0)
		return err;
	if (t->ctx.flags & RT_OPT_OWN_LIMITS)
		err = init_own_limits(t);
	if (err == 0 && t->ctx.flags & RT_OPT_LIST_PROCESSES)
		err = init_list(t, opts, want);
	if (err < 0)
		free_subject(t);
	return err;
}

static int init_subject(struct rt_tracker *t, const struct rti_subject *subject,
                        const struct rt_opts *opts)
{
	struct rti_tree_opts tree_opts = { .pids = subject->pids,
		                           .pid_count = subject->count,
		                           .want = t->want,
		                           .reads_pss = opts->want & (RT_HAS_PSS | RT_HAS_USS) ||
		                                        opts->flags & RT_OPT_PSS_READS,
		                           .files_max = files_max(t, opts),
		                           .pss_share = opts->pss_share,
		                           .pss_hold_us = opts->pss_hold_us };
	int err = 0;

	if (t->kind == RT_KIND_SYSTEM)
		return init_system(t, &tree_opts, opts->want);
	err = rti_context_check_pids(&t->procfs, &t->platform);
	if (err < 0)
		return err;
	return t->kind == RT_KIND_PID ? rti_tree_new(&t->tree, &t->ctx, &tree_opts)
	                              : init_cgroup(t, subject->name, &tree_opts);
}

/* Programs of before 0.3 do not know RT_HAS_PROCESSES_SEEN. */
static uint64_t choose_domains(uint32_t kind, const struct rt_opts *opts)
{
	uint64_t own = rti_own_limits_domains();
	uint64_t want = opts->want;

	if (!want)
		want = rti_kind_default_domains(kind) | (opts->flags & RT_OPT_OWN_LIMITS ? own : 0);
	if (kind == RT_KIND_SYSTEM && !(opts->flags & RT_OPT_OWN_LIMITS))
		want &= ~own;
	if (opts->flags & RT_OPT_LIST_PROCESSES)
		want |= RT_HAS_PROCESSES;
	if (kind != RT_KIND_SYSTEM && want & RT_HAS_PROCESSES)
		want |= RT_HAS_PROCESSES_SEEN;
	return want & rti_kind_domains(kind);
}

static int init(struct rt_tracker *t, const struct rti_subject *subject, const struct rt_opts *opts,
                const struct rti_procfs_ops *ops)
{
	int err = rti_procfs_open(&t->procfs, opts->root, ops);

	if (err < 0)
		return err;
	rti_context_platform(&t->procfs, &t->platform);
	t->ctx = (struct rti_context){ &t->procfs, &t->platform, &t->buf, opts->flags };
	t->kind = subject->kind;
	t->want = choose_domains(t->kind, opts);
	t->ctx.want = t->want;
	t->id = make_id(t);
	err = init_subject(t, subject, opts);
	if (err < 0) {
		rti_buf_free(&t->buf);
		rti_procfs_close(&t->procfs);
	}
	return err;
}

static int new_tracker(struct rt_tracker **out, const struct rti_subject *subject,
                       const struct rt_opts *known, const struct rti_procfs_ops *ops)
{
	struct rt_tracker *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	err = init(t, subject, known, ops);
	if (err < 0)
		free(t);
	else
		*out = t;
	return err;
}

/* Check all arguments first. */
static int make_tracker(struct rt_tracker **out, const struct rti_subject *subject,
                        const struct rt_opts *opts, const struct rti_procfs_ops *ops)
{
	struct rt_opts known;
	int err = copy_opts(&known, subject->kind, opts);

	if (out)
		*out = NULL;
	if (!out || (subject->kind == RT_KIND_CGROUP && !subject->name) ||
	    (subject->count > 0 && !subject->pids))
		err = -EFAULT;
	if (err == 0 && (rti_subject_has_bad_pid(subject) ||
	                 (subject->count > 1 && known.flags & RT_OPT_SESSION)))
		err = -EINVAL;
	if (err == 0)
		err = new_tracker(out, subject, &known, ops);
	if (err < 0)
		rti_opts_error_describe(&known, subject, err, ops);
	return err;
}

int rti_tracker_new(struct rt_tracker **out, int32_t pid, const struct rt_opts *opts,
                    const struct rti_procfs_ops *ops)
{
	struct rti_subject subject = { .kind = RT_KIND_SYSTEM };

	if (pid)
		subject = (struct rti_subject){ RT_KIND_PID, pid, &pid, 1, NULL };

	return make_tracker(out, &subject, opts, ops);
}

int rt_pid_tracker_new(struct rt_tracker **out, int32_t pid, const struct rt_opts *opts)
{
	return rt_pids_tracker_new(out, &pid, 1, opts);
}

int rt_pids_tracker_new(struct rt_tracker **out, const int32_t *pids, size_t count,
                        const struct rt_opts *opts)
{
	struct rti_subject subject = { .kind = RT_KIND_PID,
		                       .pid = pids && count ? pids[0] : 0,
		                       .pids = pids,
		                       .count = count };

	return make_tracker(out, &subject, opts, &rti_procfs_linux);
}

int rt_system_tracker_new(struct rt_tracker **out, const struct rt_opts *opts)
{
	struct rti_subject subject = { .kind = RT_KIND_SYSTEM };

	return make_tracker(out, &subject, opts, &rti_procfs_linux);
}

int rti_cgroup_tracker_new(struct rt_tracker **out, const char *name, const struct rt_opts *opts,
                           const struct rti_procfs_ops *ops)
{
	struct rti_subject subject = { .kind = RT_KIND_CGROUP, .name = name };

	return make_tracker(out, &subject, opts, ops);
}

int rt_cgroup_tracker_new(struct rt_tracker **out, const char *name, const struct rt_opts *opts)
{
	return rti_cgroup_tracker_new(out, name, opts, &rti_procfs_linux);
}

/* What has a recorder is freed with that. */
void rt_tracker_free(struct rt_tracker *t)
{
	if (!t || t->recorder_pid)
		return;
	free_subject(t);
	rti_buf_free(&t->buf);
	rti_procfs_close(&t->procfs);
	free(t);
}

/* Of a cgroup, storage I/O is in an account of its own. */
static void set_rusage(struct rt_metrics *m)
{
	bool is_cgroup = m->kind == RT_KIND_CGROUP;
	uint64_t read_bytes = is_cgroup ? m->cgroup_read_bytes : m->read_bytes;
	uint64_t write_bytes = is_cgroup ? m->cgroup_write_bytes : m->write_bytes;

	m->rusage.ru_utime = (double)m->cpu_user_ns / 1e9;
	m->rusage.ru_stime = (double)m->cpu_system_ns / 1e9;
	m->rusage.ru_maxrss = (int64_t)(m->peak_rss_bytes / 1024);
	m->rusage.ru_minflt = (int64_t)m->minor_faults;
	m->rusage.ru_majflt = (int64_t)m->major_faults;
	m->rusage.ru_inblock = (int64_t)(read_bytes / 512);
	m->rusage.ru_oublock = (int64_t)(write_bytes / 512);
	m->rusage.ru_nvcsw = (int64_t)m->voluntary_switches;
	m->rusage.ru_nivcsw = (int64_t)m->involuntary_switches;
}

/* The time of a sample is that of its CPU time. An account of the whole tree is read after all
 * members, which may take as long as the interval.
 * E.g.: a storm of forks; with the time of its start, a sample has the CPU time of the next one. */
static void stamp(struct rt_metrics *m, const struct rti_now *started)
{
	uint64_t later_ns = rti_subtract_saturated(m->monotonic_ns, started->monotonic_ns);

	m->monotonic_ns = started->monotonic_ns + later_ns;
	m->boottime_ns = started->boottime_ns + later_ns;
	m->realtime_ns = started->realtime_ns + later_ns;
}

/* The clocks are read one after the other, and a process should not seem to start at another time
 * in each sample. So a small difference is kept out. */
static void note_boot(struct rt_tracker *t)
{
	uint64_t boot_ns = t->last.realtime_ns - t->last.boottime_ns;

	if (boot_ns - t->boot_ns + t->platform.tick_ns > 2 * t->platform.tick_ns)
		t->boot_ns = boot_ns;
}

/* Sample the list of processes. The figures of the system are its own. */
static void measure_list(struct rt_tracker *t, uint64_t now_ns, struct rt_metrics *m)
{
	struct rt_metrics of_rows = { .monotonic_ns = now_ns };

	rti_tree_sample(t->tree, now_ns, &of_rows);
	m->members_skipped = of_rows.members_skipped;
	m->members_unreadable = of_rows.members_unreadable;
	if (of_rows.valid & RT_HAS_PROCESSES)
		return;
	m->partial |= m->valid & RT_HAS_PROCESSES;
	m->valid &= ~(uint64_t)RT_HAS_PROCESSES;
}

static int measure(struct rt_tracker *t, struct rt_metrics *m)
{
	struct rti_now now;
	int err = 0;

	t->platform.now(&now);
	*m = (struct rt_metrics){ .monotonic_ns = now.monotonic_ns };
	if (t->kind == RT_KIND_PID)
		err = rti_tree_sample(t->tree, now.monotonic_ns, m);
	else if (t->kind == RT_KIND_CGROUP)
		err = rti_cgroup_tracker_sample(t->cgroup, now.monotonic_ns, m);
	else
		rti_system_sample(&t->system, &t->ctx, t->want, m);
	if (t->own_limits)
		rti_own_limits_sample(t->own_limits, &t->ctx, m);
	if (t->kind == RT_KIND_SYSTEM && t->tree)
		measure_list(t, now.monotonic_ns, m);
	m->size = sizeof(*m);
	m->kind = t->kind;
	if (t->kind != RT_KIND_SYSTEM)
		set_rusage(m);
	m->tracker_id = t->id;
	stamp(m, &now);
	return err;
}

/* Reading the CPU clock twice adds up to a tenth to the cost of a quick sample, so the monotonic
 * clock stands in for it there. */
uint64_t rti_tracker_cost_clock_ns(const struct rt_tracker *t)
{
	return t->is_quick ? t->platform.monotonic_ns() : t->platform.thread_cpu_ns();
}

/* If the last sample was quick and this one is not, it may have waited for a CPU. That wait is no
 * cost, so this sample counts as a quick one. The next one is measured by the CPU clock. */
void rti_tracker_charge_since(struct rt_tracker *t, uint64_t started_ns)
{
	uint64_t cost_ns = rti_tracker_cost_clock_ns(t) - started_ns;
	bool was_quick = t->is_quick;

	t->is_quick = cost_ns <= QUICK_NS;
	t->self_cpu_ns += was_quick && !t->is_quick ? QUICK_NS : cost_ns;
}

int rti_tracker_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size)
{
	uint64_t started_ns;
	int err;

	rti_lock_take(t->lock);
	started_ns = rti_tracker_cost_clock_ns(t);
	t->before_boottime_ns = t->last.boottime_ns;
	err = measure(t, &t->last);
	note_boot(t);
	rti_tracker_charge_since(t, started_ns);
	t->last.self_cpu_ns = t->self_cpu_ns;
	t->samples++;
	rti_struct_copy_out(out, out_size, &t->last, sizeof(t->last));
	rti_lock_release(t->lock);
	return err;
}

int rt_sample(struct rt_tracker *t, struct rt_metrics *out, size_t out_size)
{
	int err;

	if (!t || !out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_METRICS_V1) < 0)
		return -EINVAL;
	err = rti_tracker_check_recorder(t);
	return err < 0 ? err : rti_tracker_sample(t, out, out_size);
}

static int poll_peak(struct rt_tracker *t)
{
	uint64_t started_ns;

	if (!t->samples)
		return -ENODATA;
	started_ns = rti_tracker_cost_clock_ns(t);
	rti_tree_poll_peak(t->tree);
	rti_tracker_charge_since(t, started_ns);
	return 0;
}

int rt_tracker_glance(struct rt_tracker *t)
{
	int err;

	if (!t)
		return -EFAULT;
	if (t->kind != RT_KIND_PID || !(t->want & RT_HAS_RSS))
		return -EOPNOTSUPP;
	err = rti_tracker_take(t);
	if (err < 0)
		return err;
	err = poll_peak(t);
	rti_lock_release(t->lock);
	return err;
}

int rt_tracker_read_memory(struct rt_tracker *t)
{
	int err;

	if (!t)
		return -EFAULT;
	if (t->kind == RT_KIND_SYSTEM || !(t->want & RTI_HAS_OF_MEMORY))
		return -EOPNOTSUPP;
	err = rti_tracker_take(t);
	if (err < 0)
		return err;
	rti_tree_read_memory(rti_tracker_tree(t));
	rti_lock_release(t->lock);
	return 0;
}
