/* SPDX-License-Identifier: MIT */
/* rt_diff: what happened between two samples. Pure arithmetic. */
#include <errno.h>
#include <stdbool.h>

#include <rtrack/rtrack.h>

#include "api/struct_size.h"
#include "util/arith.h"

#define TICKS_PER_SECOND 100u /* USER_HZ of every architecture that this library supports */
#define TICK_NS (1000000000u / TICKS_PER_SECOND)
#define SHORT_TICKS 90u /* 100 are a hundredth: an interval of 1 s may be a little short */
#define BLOCK 512u      /* bytes: the unit of ru_inblock */

static const struct counter {
	uint64_t has;
	size_t in_metrics, in_delta;
} counters[] = {
#define DIFFERENCE(field, bit)                                                                     \
	{ bit, offsetof(struct rt_metrics, field), offsetof(struct rt_delta, field) },
#include "api/fields.def"
};

static uint64_t counter_of(const struct rt_metrics *m, const struct counter *c)
{
	return *(const uint64_t *)(const void *)((const char *)m + c->in_metrics);
}

/* Whether a sample ends before a counter. E.g.: a program with the header of 0.2 takes a sample
 * with a later library, which sets RT_HAS_IO_CALLS, and writes it to a file. */
static bool is_cut_off(const struct rt_metrics *m, const struct counter *c)
{
	return m->size < c->in_metrics + sizeof(uint64_t);
}

/* A counter that went backwards, or that a sample does not have, takes its whole domain out, since
 * the other counters of the domain are as doubtful. */
static void subtract_counters(const struct rt_metrics *from, const struct rt_metrics *to,
                              struct rt_delta *out)
{
	uint64_t known = out->valid | out->partial | out->estimated, lost = 0;

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		const struct counter *c = &counters[i];

		if (is_cut_off(from, c) || is_cut_off(to, c) ||
		    counter_of(to, c) < counter_of(from, c))
			lost |= c->has;
	}
	if (lost & RT_HAS_PROCESSES_SEEN)
		lost |= RT_HAS_PROCESSES; /* where programs of before 0.3 look */
	known &= ~lost;
	out->valid &= known;
	out->partial &= known;
	out->estimated &= known;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (known & counters[i].has)
			*(uint64_t *)(void *)((char *)out + counters[i].in_delta) =
			    counter_of(to, &counters[i]) - counter_of(from, &counters[i]);
	}
}

/* Each sample is rounded, not the difference, so that consecutive differences add up. E.g.: two of
 * 300 bytes each make one block of 512. */
static uint64_t units_between(uint64_t from, uint64_t to, uint64_t unit)
{
	return to / unit - from / unit;
}

static void set_cpu(const struct rt_metrics *from, const struct rt_metrics *to,
                    struct rt_delta *out)
{
	uint64_t cpus = rti_max(from->cpus_online, to->cpus_online);

	out->ticks_per_second = TICKS_PER_SECOND;
	if (!((out->valid | out->partial | out->estimated) & RT_HAS_CPU))
		return;
	out->cpu_user_ticks = units_between(from->cpu_user_ns, to->cpu_user_ns, TICK_NS);
	out->cpu_system_ticks = units_between(from->cpu_system_ns, to->cpu_system_ns, TICK_NS);
	if (out->interval_ns == 0)
		return;
	out->cores_used =
	    (double)(out->cpu_user_ns + out->cpu_system_ns) / (double)out->interval_ns;
	/* A tick that came late counts in the interval after it. */
	if (to->kind == RT_KIND_SYSTEM && cpus && out->cores_used > (double)cpus)
		out->cores_used = (double)cpus;
	out->valid |= RT_HAS_RATE;
}

static void set_blocks(const struct rt_metrics *from, const struct rt_metrics *to,
                       struct rt_delta *out)
{
	bool is_cgroup = to->kind == RT_KIND_CGROUP;
	uint64_t has = is_cgroup ? RT_HAS_CGROUP_IO : RT_HAS_IO;

	if (!((out->valid | out->partial | out->estimated) & has))
		return;
	out->rusage.ru_inblock =
	    (int64_t)units_between(is_cgroup ? from->cgroup_read_bytes : from->read_bytes,
	                           is_cgroup ? to->cgroup_read_bytes : to->read_bytes, BLOCK);
	out->rusage.ru_oublock =
	    (int64_t)units_between(is_cgroup ? from->cgroup_write_bytes : from->write_bytes,
	                           is_cgroup ? to->cgroup_write_bytes : to->write_bytes, BLOCK);
}

static void set_rusage(const struct rt_metrics *from, const struct rt_metrics *to,
                       struct rt_delta *out)
{
	out->rusage = (struct rt_rusage){
		.ru_utime = (double)out->cpu_user_ns / 1e9,
		.ru_stime = (double)out->cpu_system_ns / 1e9,
		.ru_maxrss = to->rusage.ru_maxrss,
		.ru_minflt = (int64_t)out->minor_faults,
		.ru_majflt = (int64_t)out->major_faults,
		.ru_nvcsw = (int64_t)out->voluntary_switches,
		.ru_nivcsw = (int64_t)out->involuntary_switches,
	};
	set_blocks(from, to, out);
}

static uint64_t known_domains(const struct rt_metrics *m)
{
	return m->valid | m->partial | m->estimated;
}

/* The samples of older libraries have the count of all processes under the bit of those that are
 * there, whether it is a lower bound or not. */
static void mark_processes_seen(struct rt_metrics *m)
{
	if (m->kind == RT_KIND_PID && known_domains(m) & RT_HAS_PROCESSES &&
	    !(known_domains(m) & RT_HAS_PROCESSES_SEEN))
		m->partial |= RT_HAS_PROCESSES_SEEN;
}

static uint64_t domains_of_counters(void)
{
	uint64_t all = 0;

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		all |= counters[i].has;
	return all;
}

/* A difference is as doubtful as the more doubtful of its samples. If the earlier one is a lower
 * bound, what it lacked may be in the later one: the difference may be too high. Unless it is known
 * that this never comes.
 * E.g.: a child has used 80 ms that no file shows until its parent waits for it. */
static void set_masks(const struct rt_metrics *from, const struct rt_metrics *to,
                      struct rt_delta *out)
{
	uint64_t known = known_domains(from) & known_domains(to);
	uint64_t may_be_late =
	    from->partial & domains_of_counters() & ~(from->since_valid | from->since_partial);

	out->valid = (from->valid | from->since_valid) & (to->valid | to->since_valid);
	out->estimated = known & (from->estimated | to->estimated | may_be_late);
	out->partial = known & ~out->valid & ~out->estimated;
}

/* A total that is complete may lack a hundredth, since times in clock ticks come late. That may be
 * more than a hundredth of the difference. */
static void mark_late_cpu(const struct rt_metrics *from, const struct rt_metrics *to,
                          struct rt_delta *out)
{
	uint64_t hundredth_ns = (out->cpu_user_ns + out->cpu_system_ns) / 100;

	if (!((out->valid | out->partial) & RT_HAS_CPU))
		return;
	if (from->cpu_late_ns > hundredth_ns) {
		out->estimated |= RT_HAS_CPU;
		out->partial &= ~(uint64_t)RT_HAS_CPU;
	} else if (to->cpu_late_ns > hundredth_ns) {
		out->partial |= RT_HAS_CPU;
	} else {
		return;
	}
	out->valid &= ~(uint64_t)RT_HAS_CPU;
}

/* The kernel counts a tick of each CPU at a time. Over less than 90 ticks, that is more than a
 * hundredth of the interval. */
static void mark_short_interval(const struct rt_metrics *to, struct rt_delta *out)
{
	const uint64_t ticks = RT_HAS_CPU | RT_HAS_CPU_MODES;

	if (to->kind != RT_KIND_SYSTEM || out->interval_ns >= SHORT_TICKS * to->cpu_resolution_ns)
		return;
	out->estimated |= (out->valid | out->partial) & ticks;
	out->valid &= ~ticks;
	out->partial &= ~ticks;
}

static int subtract(const struct rt_metrics *from, const struct rt_metrics *to,
                    struct rt_delta *out)
{
	uint64_t with_suspend = to->boottime_ns - from->boottime_ns;

	if (from->kind != to->kind || from->tracker_id != to->tracker_id)
		return -ESTALE;
	if (to->monotonic_ns < from->monotonic_ns)
		return -EINVAL;
	*out = (struct rt_delta){
		.size = sizeof(*out),
		.kind = to->kind,
		.interval_ns = to->monotonic_ns - from->monotonic_ns,
	};
	set_masks(from, to, out);
	if (with_suspend > out->interval_ns && to->boottime_ns > from->boottime_ns)
		out->suspended_ns = with_suspend - out->interval_ns;
	if (to->self_cpu_ns > from->self_cpu_ns)
		out->self_cpu_ns = to->self_cpu_ns - from->self_cpu_ns;
	subtract_counters(from, to, out);
	mark_late_cpu(from, to, out);
	mark_short_interval(to, out);
	set_cpu(from, to, out);
	set_rusage(from, to, out);
	return 0;
}

int rt_diff(const struct rt_metrics *from, const struct rt_metrics *to, struct rt_delta *out,
            size_t out_size)
{
	struct rt_metrics from_now, to_now;
	struct rt_delta delta;
	int err;

	if (!from || !to || !out)
		return -EFAULT;
	if (rti_struct_check_size(out_size, RTI_DELTA_V1) < 0 ||
	    rti_struct_copy_sample_in(&from_now, sizeof(from_now), from, RTI_METRICS_V1) < 0 ||
	    rti_struct_copy_sample_in(&to_now, sizeof(to_now), to, RTI_METRICS_V1) < 0)
		return -EINVAL;
	mark_processes_seen(&from_now);
	mark_processes_seen(&to_now);
	err = subtract(&from_now, &to_now, &delta);
	if (err == 0)
		rti_struct_copy_out(out, out_size, &delta, sizeof(delta));
	return err;
}
