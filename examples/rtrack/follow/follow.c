/* SPDX-License-Identifier: MIT */
/* A tracker with three of its samples: the first, the previous and the last. */
#include "follow.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#include "figures.h"
#include "text/message.h"

#define CPUS_MAX 8192 /* CONFIG_NR_CPUS of the largest kernels */

/* Returns the sample that could have been taken when the command was started. All its clocks are
 * set back from the first sample by the monotonic time that has passed since the start. */
static struct rt_metrics zero_sample(const struct rt_metrics *first, uint64_t start_ns)
{
	uint64_t passed = first->monotonic_ns > start_ns ? first->monotonic_ns - start_ns : 0;
	struct rt_metrics zero = { .size = first->size,
		                   .kind = first->kind,
		                   .tracker_id = first->tracker_id };

	zero.valid = UINT64_MAX;
	zero.monotonic_ns = first->monotonic_ns - passed;
	zero.boottime_ns = first->boottime_ns - passed;
	zero.realtime_ns = first->realtime_ns - passed;
	zero.cpu_resolution_ns = first->cpu_resolution_ns;
	return zero;
}

struct rt_opts follow_tracker_opts(const struct options *options, uint32_t kind, uint64_t want)
{
	struct rt_opts opts = { .size = sizeof(opts), .want = want };

	if (kind == RT_KIND_PID)
		opts.flags = options->no_children ? RT_OPT_NO_CHILDREN : RT_OPT_PROCESS_EVENTS;

	if (options->pss == PSS_EXACT)
		opts.pss_share = opts.pss_hold_us = UINT32_MAX;
	else if (options->pss == PSS_OFF)
		opts.flags |= RT_OPT_NO_MEMORY_READS;
	return opts;
}

void follow_start_from_zero(struct follow *f, struct rt_tracker *tracker, int64_t interval_ns,
                            int64_t start_ns)
{
	*f = (struct follow){ .tracker = tracker, .interval_ns = interval_ns };
	f->base.monotonic_ns = (uint64_t)start_ns;
}

static void note_gpus(struct follow *f)
{
	if (f->now.gpu_memory_bytes > f->gpu_memory_peak_bytes)
		f->gpu_memory_peak_bytes = f->now.gpu_memory_bytes;
	if (f->now.gpus > f->gpus_most)
		f->gpus_most = f->now.gpus;
}

static void note_peaks(struct follow *f)
{
	const struct rt_metrics *m = &f->now;
	const struct marks marks = metrics_marks(m);

	if (is_known(marks, RT_HAS_PEAK_FOOTPRINT)) {
		f->peak_marks = marks_replaced(f->peak_marks, marks, RT_HAS_PEAK_FOOTPRINT);
		f->peak_tree_bytes = m->peak_tree_bytes;
		f->peak_tree_low_bytes = m->peak_footprint_low_bytes;
	}
	if (is_known(marks, RT_HAS_PEAK_NEEDED)) {
		f->peak_marks = marks_replaced(f->peak_marks, marks, RT_HAS_PEAK_NEEDED);
		f->peak_needed_bytes = m->peak_needed_bytes;
	}
	if (is_known(marks, RT_HAS_CGROUP_MEMORY) &&
	    m->cgroup_memory_bytes > f->cgroup_memory_peak_bytes)
		f->cgroup_memory_peak_bytes = m->cgroup_memory_bytes;
	if (m->footprint_bytes >= f->largest.footprint_bytes)
		f->largest = *m;
	if (is_known(marks, RT_HAS_PEAK_RSS)) {
		f->peak_marks = marks_replaced(f->peak_marks, marks, RT_HAS_PEAK_RSS);
		f->peak_rss_bytes = m->peak_rss_bytes;
	}
}

int follow_start(struct follow *f, struct rt_tracker *tracker, int64_t interval_ns)
{
	int err;

	*f = (struct follow){ .tracker = tracker, .interval_ns = interval_ns };
	err = rt_sample(tracker, &f->base, sizeof(f->base));
	f->now = f->base;
	note_gpus(f);
	note_peaks(f);
	f->samples = 1;
	f->members_skipped = f->base.members_skipped;
	f->has_ended = err == -ESRCH;
	return f->has_ended ? 0 : err;
}

bool follow_memory(const struct follow *f, uint64_t *bytes)
{
	const struct rt_metrics *m = &f->now;
	bool is_system = m->kind == RT_KIND_SYSTEM;

	*bytes = is_system ? m->memory_used_bytes : m->footprint_bytes;
	return is_known(metrics_marks(m), is_system ? RT_HAS_MEMORY_AVAILABLE : RT_HAS_FOOTPRINT);
}

/* Leave out the rate of an interval that is much shorter than requested, which is mostly the last
 * one. All the CPU time of a child may be accounted in the millisecond in which it is waited for.
 * E.g.: a child that used 0.5 s is waited for in an interval of 1 ms: 500 cores. */
static void add_to_history(struct follow *f)
{
	uint64_t memory;
	bool is_short = f->delta.interval_ns < (uint64_t)f->interval_ns / 4 && f->cores.used > 0;

	if (!is_short && is_known(delta_marks(&f->delta), RT_HAS_CPU | RT_HAS_RATE)) {
		history_add(&f->cores, f->delta.cores_used);
		f->is_cores_uncertain |= !(f->delta.valid & RT_HAS_CPU);
		if (!(f->delta.estimated & RT_HAS_CPU) && f->delta.cores_used > f->cores_peak_least)
			f->cores_peak_least = f->delta.cores_used;
	}
	if (follow_memory(f, &memory) && memory > 0)
		history_add(&f->memory, (double)memory);
}

/* Returns the number of CPUs that a process may run on; 0: unknown. */
static double count_allowed(pid_t pid)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	double count = 0;

	if (set && sched_getaffinity(pid, size, set) == 0)
		count = CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return count;
}

/* The process may have ended by the time of an estimate, so this is called at the start, too. */
static void look_up_allowed(struct follow *f)
{
	double allowed = f->pid > 0 ? count_allowed(f->pid) : 0;

	if (allowed > f->cpus_allowed)
		f->cpus_allowed = allowed;
}

/* What a process started may run on more CPUs than it. So its affinity limits estimates alone. */
static double cpus_for_estimate(struct follow *f)
{
	look_up_allowed(f);
	return f->cpus_allowed >= 1 && f->cpus_allowed < f->cpus ? f->cpus_allowed : f->cpus;
}

uint64_t follow_cpus(const struct follow *f)
{
	const struct rt_metrics *m = &f->now;
	long cpus;

	if (m->kind == RT_KIND_SYSTEM && is_known(metrics_marks(m), RT_HAS_CPU_MODES) &&
	    m->cpus_online > 0)
		return m->cpus_online;
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	return cpus > 0 ? (uint64_t)cpus : 0;
}

/* The kernel reports some CPU time late, e.g. that of a child when it is waited for. So a short
 * interval may seem to have more than all CPUs have: then its time is an estimate, and all were
 * busy at most. Up to a hundredth may come from clocks that are read one after the other. */
static void limit_to_cpus(struct follow *f)
{
	struct rt_delta *d = &f->delta;
	double cpus;

	if (!is_known(delta_marks(d), RT_HAS_CPU | RT_HAS_RATE) || d->cores_used <= 1)
		return;
	if (f->cpus == 0)
		f->cpus = (double)follow_cpus(f);
	cpus = d->estimated & RT_HAS_CPU ? cpus_for_estimate(f) : f->cpus;
	if (cpus < 1 || d->cores_used <= cpus)
		return;
	if (d->cores_used > 1.01 * cpus) {
		d->valid &= ~RT_HAS_CPU;
		d->partial &= ~RT_HAS_CPU;
		d->estimated |= RT_HAS_CPU;
	}
	d->cores_used = cpus;
}

static void report_failure(struct follow *f, int err)
{
	if (!f->has_failed && f->cgroup)
		warn("cannot take a sample of cgroup %s: %s", f->cgroup, error_words(err));
	else if (!f->has_failed && f->pid > 0)
		warn("cannot take a sample of process %d: %s", (int)f->pid, error_words(err));
	else if (!f->has_failed)
		warn("cannot take a sample of the system: %s", error_words(err));
	f->has_failed = true;
}

/* The summary has these from the outcome, and the other counters from the last sample. */
static void set_counters(struct rt_metrics *m, const struct rt_outcome *o)
{
	const struct marks marks = { o->valid, o->partial, o->estimated };

	if (is_known(marks, RT_HAS_CPU)) {
		m->cpu_user_ns = o->cpu_user_ns;
		m->cpu_system_ns = o->cpu_system_ns;
		m->rusage.ru_utime = o->rusage.ru_utime;
		m->rusage.ru_stime = o->rusage.ru_stime;
	}
	if (is_known(marks, RT_HAS_IO)) {
		m->read_bytes = o->read_bytes;
		m->write_bytes = o->write_bytes;
		m->rusage.ru_inblock = o->rusage.ru_inblock;
		m->rusage.ru_oublock = o->rusage.ru_oublock;
	}
}

int follow_sample(struct follow *f)
{
	struct rt_metrics next;
	int err;

	if (f->cpus_allowed == 0)
		look_up_allowed(f);
	err = rt_sample(f->tracker, &next, sizeof(next));
	if (err < 0 && err != -ESRCH) {
		report_failure(f, err);
		return err;
	}
	if (f->outcome)
		set_counters(&next, f->outcome);
	if (f->samples == 0) {
		f->base = zero_sample(&next, f->base.monotonic_ns);
		f->now = f->base;
	}
	f->has_ended = err == -ESRCH;
	f->before = f->now;
	f->now = next;
	f->partial |= f->samples > 0 ? next.partial : 0;
	f->estimated |= f->samples > 0 ? next.estimated : 0;
	f->samples++;
	if (next.members_skipped > f->members_skipped)
		f->members_skipped = next.members_skipped;
	err = rt_diff(&f->before, &f->now, &f->delta, sizeof(f->delta));
	limit_to_cpus(f);
	add_to_history(f);
	note_gpus(f);
	note_peaks(f);
	return err;
}
